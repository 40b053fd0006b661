"""Signals that arrive while a command runs, with who sent them."""

from __future__ import annotations

import os
import signal
import struct
import threading
from pathlib import Path
from types import TracebackType
from typing import List, NamedTuple, Optional, Set, Type

#: Those that are passed on to the command.
PASSED_ON = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGTSTP,
    signal.SIGCONT,
)
_WAITED_FOR = (*PASSED_ON, signal.SIGWINCH, signal.SIGCHLD)
# Of a terminal whose foreground is another's: what we do to it is to go on, or to fail.
_BLOCKED = (*_WAITED_FOR, signal.SIGTTIN, signal.SIGTTOU)
_ONE = struct.Struct("iiq")
# Generations of processes that are looked at, for a loop has no end.
_MOST_ANCESTORS = 100


class Arrived(NamedTuple):
    """A signal that was sent to this process."""

    number: int
    is_sent: bool  # by a process; else the kernel's: of a terminal's key, for instance
    sender: int


class Signals:
    """Within it, signals end nobody: they are taken as they come. Its descriptor tells of them.

    Threads that run already may still be given them, so there are to be none.
    """

    def __init__(self) -> None:
        self.before: Set[int] = set()  # what was blocked before, which a command is to get
        self._read, self._write = os.pipe()
        self._is_over = False
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Signals:
        self.before = set(signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED))
        # Who ignores it is never told how a child ended.
        self._child = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.set_blocking(self._read, False)
        return self

    def listen(self) -> None:
        """From here on they are heard. A process that has threads should not fork."""
        self._thread.start()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self._thread.is_alive():
            self._is_over = True
            os.kill(os.getpid(), signal.SIGCHLD)
            self._thread.join()
        signal.signal(signal.SIGCHLD, self._child)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        """The descriptor from which something can be read once a signal is there."""
        return self._read

    def take(self) -> List[Arrived]:
        """Those that have arrived since."""
        try:
            data = os.read(self._read, 100 * _ONE.size)
        except BlockingIOError:
            return []
        return [
            Arrived(number, code <= 0, sender) for number, code, sender in _ONE.iter_unpack(data)
        ]

    def _listen(self) -> None:
        while not self._is_over:
            found = signal.sigwaitinfo(_WAITED_FOR)
            os.write(self._write, _ONE.pack(found.si_signo, found.si_code, found.si_pid))


def is_descendant(process: int, of: int) -> bool:
    """Whether a process was started by another one or by what that started, and is there yet."""
    for _ in range(_MOST_ANCESTORS):
        if process == of:
            return True
        try:
            stat = Path(f"/proc/{process}/stat").read_bytes()
        except OSError:
            return False
        process = int(stat.rpartition(b")")[2].split()[1])  # the name may hold anything
    return False
