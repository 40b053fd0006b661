"""`--lock`: a stack as files that installers take, written where the user says."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import List, Optional, Tuple

from envdoctor.commands.errors import Failure
from envdoctor.commands.output import write
from envdoctor.model.resolution import Resolution
from envdoctor.model.text import clean

REQUIREMENTS, PYLOCK, SCRIPT = "requirements", "pylock", "script"
FORMS = (REQUIREMENTS, PYLOCK, SCRIPT)
_PYLOCK = "pylock.toml"
_SCRIPT = "install.sh"


class Locked:
    """A stack in one form: the files that it takes, not yet written."""

    def __init__(self, resolution: Resolution, form: str) -> None:
        """Raises Failure for a stack that cannot be said in that form."""
        self.form = form
        self.files = _files(resolution, form)

    def write(self, output: Optional[str]) -> Tuple[str, ...]:
        """Write the files; return the paths, none for stdout. Raises Failure.

        A folder takes them under their own names, and so many as there are; a file takes one.
        """
        if output is None or output == "-":
            self._expect_one()
            write(self.files[0][1])
            return ()
        path = Path(output)
        if path.is_dir() or output.endswith("/"):
            _make(path)
            return tuple(self._put(path / name, text) for name, text in self.files)
        self._expect_one()
        if self.form == PYLOCK and not _is_lock_name(path.name):
            raise Failure(
                f"{clean(output)}: installers take no file of that name for a lock",
                "Call it pylock.toml or pylock.NAME.toml.",
            )
        return (self._put(path, self.files[0][1]),)

    def _put(self, path: Path, text: str) -> str:
        write(text, str(path))
        if self.form == SCRIPT and path.is_file():
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def _expect_one(self) -> None:
        if len(self.files) > 1:
            names = ", ".join(name for name, _ in self.files)
            raise Failure(
                f"this stack takes {len(self.files)} files: {names}", "Name a folder: -o FOLDER/"
            )


def _files(resolution: Resolution, form: str) -> List[Tuple[str, str]]:
    from envdoctor.resolver.lock.pylock import pylock
    from envdoctor.resolver.lock.requirements import requirements
    from envdoctor.resolver.lock.script import script
    from envdoctor.resolver.lock.written import LockError

    try:
        if form == PYLOCK:
            return [(_PYLOCK, pylock(resolution))]
        if form == SCRIPT:
            return [(_SCRIPT, script(resolution))]
        return [(file.name, file.text) for file in requirements(resolution)]
    except LockError as error:
        raise Failure(f"--lock {form}: {clean(str(error), 1_000)}") from None


def _is_lock_name(name: str) -> bool:
    from envdoctor.resolver.lock.pylock import is_file_name

    return is_file_name(name)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot write {clean(str(folder))}: {error.strerror or error}") from None
