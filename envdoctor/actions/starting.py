"""Starts a command as a shell does: on given descriptors, or in a terminal of its own."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import struct
import termios
from pathlib import Path
from typing import List, NamedTuple, Optional, Sequence, Set, Tuple, Union

# What a shell says of a command that it cannot start.
_NOT_FOUND, _NOT_RUN = 127, 126
# As much of a file tells whether it is a text.
_BEGINNING = 80
_NUMBER = struct.Struct("i")
_REPORT = struct.Struct("ii")
# Python ignores these; a command does not expect that.
_PYTHONS = tuple(
    getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ") if hasattr(signal, name)
)


class NotStartedError(Exception):
    """A command that could not be started; `code` is what a shell would exit with."""

    def __init__(self, command: str, number: int) -> None:
        is_missing = number in (errno.ENOENT, errno.ENOTDIR)
        reason = "no such command" if is_missing else os.strerror(number).lower()
        super().__init__(f"{command or repr(command)}: {reason}")
        self.code = _NOT_FOUND if is_missing else _NOT_RUN


class Ended(NamedTuple):
    """How a process ended: by itself with a status, or by a signal."""

    status: int
    signal: int = 0

    @property
    def code(self) -> int:
        """What a shell makes of it."""
        return 128 + self.signal if self.signal else self.status


def start(argv: Sequence[str], streams: Tuple[int, int, int], unblocked: Set[int]) -> int:
    """Start `argv`, looked for on PATH, as a child with these standard streams; return its number.

    It belongs to our process group. `unblocked` are the signals that remain blocked in it. Raises
    NotStartedError.
    """
    child, number = _fork(argv, streams, unblocked, None)
    if number:
        raise NotStartedError(argv[0], number)
    return child


class Session:
    """A command that has a terminal of its own, in which it stops and goes on as in a shell.

    Between it and us stands a keeper, the leader of that terminal's session: a command without one
    in its session could not be stopped by a key. The keeper stops when the command stops, and ends
    when it ends.
    """

    def __init__(
        self,
        argv: Sequence[str],
        terminal: int,
        streams: Tuple[int, int, int],
        unblocked: Set[int],
        closed: Sequence[int],
    ) -> None:
        """Start it on `terminal`, the command's side; `closed` are of no use to it.

        Raises NotStartedError.
        """
        self._reports, write = os.pipe()
        self.keeper = os.fork()
        if self.keeper == 0:
            with contextlib.suppress(BaseException):
                for descriptor in (self._reports, *closed):
                    os.close(descriptor)
                _keep(argv, terminal, streams, unblocked, write)
            os._exit(1)
        os.close(write)
        told = _read(self._reports, _REPORT.size)
        self.command, number = _REPORT.unpack(told) if told else (0, errno.EIO)
        if number:
            os.close(self._reports)
            os.waitpid(self.keeper, 0)
            raise NotStartedError(argv[0], number)

    def ended(self) -> Optional[Ended]:
        """How the command ended, once the keeper has; None before. Call it once."""
        told = _read(self._reports, _REPORT.size)
        os.close(self._reports)
        return Ended(*_REPORT.unpack(told)) if told else None


def changed(child: int) -> Union[Ended, bool]:
    """What has become of a child: how it ended, or whether it was stopped."""
    found, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
    if found == 0:
        return False
    return True if os.WIFSTOPPED(status) else _ended(status)


def _ended(status: int) -> Ended:
    if os.WIFSIGNALED(status):
        return Ended(0, os.WTERMSIG(status))
    return Ended(os.WEXITSTATUS(status))


def _fork(
    argv: Sequence[str],
    streams: Tuple[int, int, int],
    unblocked: Set[int],
    terminal: Optional[int],
) -> Tuple[int, int]:
    """A child that runs `argv`, and 0; or 0 and the number of the error that forbids it.

    With a terminal the child is the foreground of it.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        number = errno.EIO
        try:
            if terminal is not None:
                os.setpgid(0, 0)
                os.tcsetpgrp(terminal, os.getpid())
            for place, descriptor in enumerate(streams):
                os.dup2(descriptor, place)
            for one in _PYTHONS:
                signal.signal(one, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            number = _become(argv)
        except OSError as error:
            number = error.errno or errno.EIO
        finally:
            with contextlib.suppress(BaseException):
                os.write(write, _NUMBER.pack(number))
            os._exit(_NOT_FOUND)
    os.close(write)
    told = _read(read, _NUMBER.size)
    os.close(read)
    if told:
        os.waitpid(child, 0)
        return 0, int(_NUMBER.unpack(told)[0])
    return child, 0


def _become(argv: Sequence[str]) -> int:
    """Turn this process into `argv`; return the number of the error that forbids it."""
    if not argv[0]:  # a folder of PATH is not meant
        return errno.ENOENT
    try:
        os.execvp(argv[0], list(argv))  # noqa: S606 - no shell is wanted
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            return error.errno or errno.EIO
    # A script that does not name what runs it: a shell's, as execvp of the C library has it.
    path = argv[0] if "/" in argv[0] else shutil.which(argv[0]) or argv[0]
    if _is_binary(path):
        return errno.ENOEXEC
    return os.execv("/bin/sh", ["/bin/sh", path, *argv[1:]])  # noqa: S606


def _is_binary(path: str) -> bool:
    """Whether a file is no text, and so no script: its first line tells, as it does to bash."""
    try:
        with Path(path).open("rb") as stream:
            first = stream.read(_BEGINNING).split(b"\n", 1)[0]
    except OSError:  # the shell says why
        return False
    return b"\0" in first or first.startswith(b"\x7fELF")


def _keep(
    argv: Sequence[str],
    terminal: int,
    streams: Tuple[int, int, int],
    unblocked: Set[int],
    reports: int,
) -> None:
    """Be the keeper: start the command, stop and go on as it does, tell how it ended, and end."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    command, number = _fork(argv, streams, unblocked, terminal)
    os.write(reports, _REPORT.pack(command, number))
    if number:
        return
    for descriptor in {*streams, 0, 1, 2} - {terminal}:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    with contextlib.suppress(OSError):
        os.setpgid(command, command)
    while True:
        _, status = os.waitpid(command, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        foreground = 0
        with contextlib.suppress(OSError):  # it is hung up
            foreground = os.tcgetpgrp(terminal)
        os.kill(os.getpid(), signal.SIGSTOP)
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal, foreground)
        with contextlib.suppress(OSError):
            os.killpg(command, signal.SIGCONT)
    # What the command left running is not to be hung up on when its session's leader ends.
    with contextlib.suppress(OSError):
        os.tcsetpgrp(terminal, os.getpgrp())
    os.write(reports, _REPORT.pack(*_ended(status)))
    os._exit(0)


def _read(descriptor: int, size: int) -> bytes:
    """As many bytes; fewer where it ends before."""
    parts: List[bytes] = []
    while size > 0:
        data = os.read(descriptor, size)
        if not data:
            return b""
        parts.append(data)
        size -= len(data)
    return b"".join(parts)
