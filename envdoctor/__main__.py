"""Starts the command line."""

# ruff: noqa: PTH109, PTH118, PTH120
# Without pathlib: before the search path is in order, what was not imported may be the patient's.

from __future__ import annotations

import contextlib
import gc
import os
import sys

#: What a shell reports of a command that SIGINT ended.
INTERRUPTED = 130


#: Of what is made until an answer is there next to nothing is garbage: to look for it every 700
#: objects takes a twentieth of a warm check.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000


def main() -> None:
    """Run the command that the process's arguments name, and exit with its code."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        _leave_the_patient()
        # Imported here so that Ctrl-C is caught while modules load, too.
        from envdoctor.commands.cli import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def _leave_the_patient() -> None:
    """Import nothing that PYTHONPATH, the current folder or the user's site hold for others.

    The variable stays, for it is the patient's. Folders of envdoctor or of its interpreter that
    are named so go last, where an interpreter has them.
    """
    if sys.flags.isolated:
        return
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = os.sep

    def place(folder: str) -> str:
        return os.path.normpath(os.path.join(here, folder))

    site = sys.modules.get("site")  # none with -S
    user = getattr(site, "USER_SITE", None) or ""
    standard = os.path.dirname(os.__file__)
    own = os.path.dirname(os.path.dirname(place(__file__)))
    kept = {own, user, standard, os.path.join(standard, "lib-dynload")}
    kept.update(getattr(site, "getsitepackages", list)())
    named = {here, os.path.dirname(place(sys.argv[0]))}
    if not sys.flags.ignore_environment:
        named.update(map(place, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    if own != user:
        named.add(user)
    last = [folder for folder in sys.path if place(folder) in named & kept]
    sys.path[:] = [folder for folder in sys.path if place(folder) not in named] + last


def start() -> None:
    """As `main`, in a process that is nobody else's: it ends at once.

    What Python takes apart at its end is a tenth of a warm check. Nothing here is left to it: what
    is written is flushed, children are waited for, temporary files are removed where they are made.
    """
    code = INTERRUPTED
    with contextlib.suppress(KeyboardInterrupt):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
            sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    start()
