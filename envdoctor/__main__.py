"""Starts the command line."""

from __future__ import annotations

import sys
from typing import NoReturn

#: What a shell reports of a command that SIGINT ended.
INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command that the process's arguments name, and exit with its code."""
    try:
        # Imported here so that Ctrl-C is caught while modules load, too.
        from envdoctor.commands.cli import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
