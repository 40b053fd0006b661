"""How text is shown. Without rich, which JSON must not wait for."""

from __future__ import annotations

from typing import NamedTuple


class View(NamedTuple):
    """Where text is shown and how much of it. `home` is the folder written as ~ in places."""

    width: int = 80
    colour: bool = False
    verbose: bool = False
    quiet: bool = False
    notes: bool = False  # whether findings that are information are told
    home: str = ""

    def place(self, path: str) -> str:
        """A path for reading, not for commands: the home folder as ~."""
        home = self.home.rstrip("/")
        return "~" + path[len(home) :] if home and path.startswith(home + "/") else path
