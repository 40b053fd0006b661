"""A terminal with somebody in front of it: what is typed, and what is shown."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import struct
import termios
import time
from typing import Dict, List, Optional

_PATIENCE = 60.0


class UserTerminal:
    """A process in a session of its own, whose terminal is in our hands."""

    def __init__(
        self, argv: List[str], env: Dict[str, str], rows: int = 24, columns: int = 80
    ) -> None:
        self.shown = b""
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvpe(argv[0], argv, env)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def until(self, text: str, after: int = 0) -> int:
        """Wait until a text is shown behind a place; the place behind it."""
        deadline = time.monotonic() + _PATIENCE
        while self.shown.find(text.encode(), after) < 0:
            assert self._read(deadline), f"{text!r} is not shown: {self.shown[after:]!r}"
        return self.shown.find(text.encode(), after) + len(text.encode())

    def end(self) -> int:
        """Wait until nothing is shown any more; the exit code, negative for a signal."""
        while self._read(time.monotonic() + _PATIENCE):
            pass
        os.close(self.descriptor)
        _, status = os.waitpid(self.process, 0)
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def modes(self) -> List[object]:
        return termios.tcgetattr(self.descriptor)[:4]

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select(
            [self.descriptor], [], [], max(0.0, deadline - time.monotonic())
        )
        assert ready, f"it hangs: {self.shown!r}"
        try:
            data: Optional[bytes] = os.read(self.descriptor, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = None  # Linux's way to say that the other side is closed
        self.shown += data or b""
        return bool(data)
