"""The forms in which a stack is locked, by the names that users give."""

from __future__ import annotations

from typing import Tuple

from envdoctor.model.resolution import Resolution
from envdoctor.resolver.lock.pylock import FILE_NAME, pylock
from envdoctor.resolver.lock.requirements import requirements
from envdoctor.resolver.lock.script import script
from envdoctor.resolver.lock.written import File, LockError

REQUIREMENTS, PYLOCK, SCRIPT = "requirements", "pylock", "script"
FORMS = (REQUIREMENTS, PYLOCK, SCRIPT)
_SCRIPT = "install.sh"


def locked(resolution: Resolution, form: str) -> Tuple[File, ...]:
    """The files of a lock in one of `FORMS`, in the order in which they are used.

    Requirements may be several, whose names say their order and which name one another; of the
    other forms there is one file, whose name is a proposal. The same resolution gives the same
    bytes. Raises LockError where there is no stack, and for what the form cannot say.
    """
    if form == PYLOCK:
        return (File(FILE_NAME, pylock(resolution)),)
    if form == SCRIPT:
        return (File(_SCRIPT, script(resolution)),)
    if form == REQUIREMENTS:
        return requirements(resolution)
    raise ValueError(form)


__all__ = ["FORMS", "PYLOCK", "REQUIREMENTS", "SCRIPT", "File", "LockError", "locked"]
