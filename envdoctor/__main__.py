"""Starts the command line."""

# ruff: noqa: PTH109, PTH118, PTH120
# Without pathlib: before the search path is in order, what was not imported may be the patient's.

from __future__ import annotations

import os
import sys

#: What a shell reports of a command that SIGINT ended.
INTERRUPTED = 130


def main() -> None:
    """Run the command that the process's arguments name, and exit with its code."""
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


if __name__ == "__main__":
    main()
