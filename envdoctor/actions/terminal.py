"""The user's terminal while a command has another one that passes everything on."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import termios
import tty
from typing import Any, List, Optional, Tuple

_SIZE = "HHHH"  # rows, columns, and both in pixels
_INPUT, _LOCAL, _CHARACTERS = 0, 3, 6  # places in what tcgetattr returns
_OUTPUT = 1


class Terminal:
    """The terminal on a file descriptor of ours, which may be made raw, and is put back."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.is_raw = False
        self._before: Optional[List[Any]] = None

    def is_ours(self) -> bool:
        """Whether we are in the foreground: others may neither read it nor change its modes."""
        try:
            return os.tcgetpgrp(self.descriptor) == os.getpgrp()
        except OSError:  # it is gone, or not the one that controls us
            return False

    def make_raw(self) -> None:
        """Let every key through as it is; nothing where we are in the background."""
        if self.is_raw or not self.is_ours():
            return
        with contextlib.suppress(termios.error):
            self._before = termios.tcgetattr(self.descriptor)
            tty.setraw(self.descriptor, termios.TCSADRAIN)
            self.is_raw = True

    def put_back(self) -> None:
        """As it was before it was made raw."""
        if self.is_raw and self._before is not None:
            self.is_raw = False
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self._before)


def open_like(model: int, processes_output: bool) -> Tuple[int, int]:
    """A new pseudo-terminal, with the modes and the size of the terminal `model`.

    Without `processes_output` what is written to it passes as it is. Returns the descriptors of
    both sides, ours and the command's. Raises OSError where there are none to be had.
    """
    ours, theirs = os.openpty()
    with contextlib.suppress(termios.error):
        modes = termios.tcgetattr(model)
        if not processes_output:
            modes[_OUTPUT] &= ~termios.OPOST
        termios.tcsetattr(theirs, termios.TCSANOW, modes)
    resize(ours, model)
    return ours, theirs


def resize(ours: int, model: int) -> None:
    """Give a pseudo-terminal the size of a terminal; its processes are told so."""
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(model, termios.TIOCGWINSZ, struct.pack(_SIZE, 0, 0, 0, 0))
        fcntl.ioctl(ours, termios.TIOCSWINSZ, size)


def interrupts(ours: int, typed: bytes) -> bool:
    """Whether the last key that was typed asks to end what runs in a pseudo-terminal."""
    try:
        modes = termios.tcgetattr(ours)  # on Linux those of the other side
    except termios.error:
        return False
    keys = (modes[_CHARACTERS][termios.VINTR], modes[_CHARACTERS][termios.VQUIT])
    return bool(modes[_LOCAL] & termios.ISIG) and typed[-1:] in keys


def adds_returns(descriptor: int) -> bool:
    """Whether a terminal makes of the end of a line a carriage return and that end."""
    try:
        modes = termios.tcgetattr(descriptor)
    except termios.error:
        return False
    wanted = termios.OPOST | termios.ONLCR
    return bool(modes[_OUTPUT] & wanted == wanted)


def is_gone(descriptor: int) -> bool:
    """Whether a terminal was hung up: its window is closed, or its line is cut."""
    try:
        termios.tcgetattr(descriptor)
    except termios.error:
        return True
    return False


def close_side(ours: int) -> None:
    """Close our side of a pseudo-terminal, as when a window is closed; its number stays taken."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, ours, inheritable=False)
    os.close(nothing)


def tell_group(group: int) -> None:
    """Tell a process group that its terminal is gone; what is stopped goes on to hear it."""
    for number in (signal.SIGHUP, signal.SIGCONT):
        with contextlib.suppress(OSError):
            os.killpg(group, number)


def is_same(one: int, other: int) -> bool:
    """Whether two descriptors are of one terminal."""
    if not (os.isatty(one) and os.isatty(other)):
        return False
    return os.fstat(one).st_rdev == os.fstat(other).st_rdev
