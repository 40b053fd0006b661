"""Runs a command as if we were not there: what it reads, prints and is told passes through us.

Where standard input and output are the user's terminal, the command gets a terminal of its own, and
keys and output pass between both. Where only its output is shown there, that alone is a terminal to
the command, which stays in the job that it was started in; else there are pipes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import time
from typing import Dict, List, NamedTuple, Optional, Sequence

from envdoctor.actions import terminal
from envdoctor.actions.arriving import PASSED_ON, Arrived, Signals, is_descendant
from envdoctor.actions.recording import Recording
from envdoctor.actions.starting import Ended, NotStartedError, Session, changed, start
from envdoctor.actions.terminal import Terminal

_IN, _OUT, _ERR = 0, 1, 2
_CHUNK = 1 << 16
#: What can be written to a pipe at once that is ready for any of it.
_AT_ONCE = select.PIPE_BUF
# Seconds: how long we wait for what comes after the command has ended, from something that it left
# running, or from a terminal, whose two sides are not quite in step; and for how long at most.
_QUIET, _LAST = 0.2, 2.0
# How often we look whether we have come to the foreground, in seconds.
_LOOK = 0.25
# What is shown before we stop is looked for so often, in seconds.
_STEP = 0.02
# What is read at most of what something prints that the command left running.
_MOST_AFTER = 4 << 20
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


class Outcome(NamedTuple):
    """What became of a command that ran."""

    code: int  # what a shell would say: its exit status, or 128 and the signal that ended it
    is_ended_by_somebody: bool  # it was interrupted, told to end, or nobody read it any longer
    is_mid_line: bool  # what was last shown where errors go does not end a line


def pass_through(argv: Sequence[str], recording: Recording) -> Outcome:
    """Run `argv` on our standard streams, and record what it prints.

    Call it in a process that has one thread. Raises NotStartedError, and OSError where there are no
    processes or descriptors to be had.
    """
    with Signals() as signals, contextlib.ExitStack() as stack:
        passage = _start(argv, signals, recording, stack)
        signals.listen()
        try:
            return passage.run()
        finally:
            passage.put_back()


class _Stream:
    """What the command prints on one of our descriptors."""

    def __init__(
        self, name: str, source: int, sinks: int, is_terminal: bool, ends_lines: bool = False
    ) -> None:
        self.name = name
        self.source: Optional[int] = source
        self.sink = sinks
        self.is_terminal = is_terminal
        self.ends_lines = ends_lines  # as a terminal does, with a carriage return
        self.unwritten = memoryview(b"")
        self.last = b"\n"
        self.is_unread = False  # nobody reads what we write

    def read(self) -> bytes:
        """What can be read now; b"" at the end, and then there is no source."""
        if self.source is None:
            return b""
        try:
            data = os.read(self.source, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            if error.errno != errno.EIO:  # of a terminal whose other side is closed
                raise
            data = b""
        if not data:
            self.close()
            return b""
        self.last = data[-1:]
        if not self.is_unread:
            # While the user's terminal is not raw, as in the background, it ends lines itself.
            is_twice = self.ends_lines and terminal.adds_returns(self.sink)
            shown = data.replace(b"\r\n", b"\n") if is_twice else data
            self.unwritten = memoryview(shown)
        return data

    def write(self) -> None:
        """Pass on as much as can be without waiting."""
        try:
            done = os.write(self.sink, self.unwritten[: _CHUNK if self.is_terminal else _AT_ONCE])
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.unwritten = memoryview(b"")
            self.is_unread = True
            if not self.is_terminal:
                self.close()  # so that the command is told, as we were
            return
        self.unwritten = self.unwritten[done:]

    def close(self) -> None:
        """Read no more."""
        if self.source is not None and not self.is_terminal:
            os.close(self.source)
        self.source = None


class _Keys:
    """What is typed, on its way to the command's terminal."""

    def __init__(self, user: Terminal, ours: int) -> None:
        self.user = user
        self.ours = ours
        self.unwritten = b""
        self.is_open = True
        self.interrupts = False  # what was typed last asks to end the command

    def read(self) -> None:
        """Take what was typed."""
        try:
            data = os.read(self.user.descriptor, _CHUNK)
        except OSError:
            data = b""
        self.is_open = bool(data)
        if data:
            self.interrupts = terminal.interrupts(self.ours, data)
            self.unwritten = data

    def write(self) -> None:
        """Pass on as much as can be without waiting."""
        try:
            done = os.write(self.ours, self.unwritten)
        except BlockingIOError:
            return
        except OSError:
            self.is_open, done = False, len(self.unwritten)
        self.unwritten = self.unwritten[done:]


class _Passage:
    """Everything between us and the command, while it runs."""

    def __init__(
        self,
        signals: Signals,
        recording: Recording,
        streams: List[_Stream],
        child: int,
        session: Optional[Session],
        ours: Optional[int],
    ) -> None:
        self.signals = signals
        self.recording = recording
        self.streams = streams
        self.child = child  # the command, or its session's keeper
        self.session = session
        self.ours = ours  # our side of the command's terminal
        self.user = Terminal(_IN) if session is not None else None
        self.keys = _Keys(self.user, ours) if self.user is not None and ours is not None else None
        self.ended: Optional[Ended] = None
        self.is_told_to_end = False

    @property
    def command(self) -> int:
        return self.child if self.session is None else self.session.command

    def put_back(self) -> None:
        """The user's terminal as it was."""
        if self.user is not None:
            self.user.put_back()

    def run(self) -> Outcome:
        """Pass everything on until the command has ended and what it printed is shown."""
        self._foreground()
        self._look_at_child()
        quiet = last = 0.0
        read_since = 0
        while True:
            now = time.monotonic()
            has_ended = self.ended is not None
            seconds: Optional[float] = None
            is_waiting = False  # for what may come from something that is left running
            if has_ended:
                last = last or now + _LAST
                quiet = quiet or now + _QUIET
                is_writing = any(stream.unwritten for stream in self.streams)
                is_reading = any(stream.source is not None for stream in self.streams)
                if not is_writing and (not is_reading or read_since > _MOST_AFTER):
                    break
                is_waiting = not is_writing
                seconds = max(0.0, min(quiet, last) - now) if is_waiting else None
            passed = self._pass(self._wait(seconds))
            if has_ended:
                read_since += passed or 0
                now = time.monotonic()
                if passed is not None:
                    quiet = now + _QUIET
                elif is_waiting and now >= min(quiet, last):
                    break
            self._foreground()
        return self._outcome()

    def _outcome(self) -> Outcome:
        self.recording.finish()
        ended = self.ended or Ended(1)
        unread = any(stream.is_unread for stream in self.streams)
        by_somebody = (
            self.is_told_to_end
            or ended.signal in (signal.SIGINT, signal.SIGQUIT)
            or ended.code == 128 + signal.SIGINT
            or (self.keys is not None and self.keys.interrupts)
            or (unread and ended.signal == signal.SIGPIPE)
        )
        shown = [stream for stream in self.streams if stream.sink == _ERR or stream.is_terminal]
        return Outcome(ended.code, by_somebody, any(one.last != b"\n" for one in shown))

    def _foreground(self) -> None:
        """Pass keys on from when the terminal is ours."""
        if self.user is not None and not self.user.is_raw:
            self.user.make_raw()
            if self.user.is_raw and self.ours is not None:
                terminal.resize(self.ours, _OUT)

    def _wait(self, seconds: Optional[float]) -> Dict[int, int]:
        """What can be done now, by descriptor."""
        wanted: Dict[int, int] = {self.signals.fileno(): select.POLLIN}
        for stream in self.streams:
            if stream.unwritten:
                wanted[stream.sink] = wanted.get(stream.sink, 0) | select.POLLOUT
            elif stream.source is not None:
                wanted[stream.source] = wanted.get(stream.source, 0) | select.POLLIN
        keys = self.keys
        if keys is not None and keys.unwritten:
            wanted[keys.ours] = wanted.get(keys.ours, 0) | select.POLLOUT
        elif keys is not None and keys.is_open and keys.user.is_raw and self.ended is None:
            wanted[keys.user.descriptor] = wanted.get(keys.user.descriptor, 0) | select.POLLIN
        if self.user is not None and not self.user.is_raw and seconds is None:
            seconds = _LOOK
        poll = select.poll()
        for descriptor, mask in wanted.items():
            poll.register(descriptor, mask)
        milliseconds = None if seconds is None else max(0.0, 1000 * seconds) + 1
        return dict(poll.poll(milliseconds))

    def _pass(self, events: Dict[int, int]) -> Optional[int]:
        """Do what can be done; how much was read of the command, None if nothing passed."""
        passed: Optional[int] = None
        if self.signals.fileno() in events:
            for arrived in self.signals.take():
                self._heed(arrived)
        for stream in self.streams:
            if stream.unwritten:
                if stream.sink in events:
                    stream.write()
                    passed = passed or 0
            elif stream.source in events:
                data = stream.read()
                if data:
                    passed = (passed or 0) + len(data)
                    self.recording.feed(stream.name, data)
        keys = self.keys
        if keys is not None:
            if keys.unwritten and events.get(keys.ours, 0) & (select.POLLOUT | _GONE):
                keys.write()
            elif not keys.unwritten and keys.user.descriptor in events:
                keys.read()
        return passed

    def _heed(self, arrived: Arrived) -> None:
        number = arrived.number
        if number == signal.SIGCHLD:
            self._look_at_child()
        elif number == signal.SIGWINCH:
            if self.ours is not None:
                terminal.resize(self.ours, _OUT)
            if self.session is None:  # it may have looked before the size was there
                self._send(number)
        elif number in PASSED_ON and self.ended is None and arrived.sender != os.getpid():
            self._pass_on(arrived)

    def _pass_on(self, arrived: Arrived) -> None:
        number = arrived.number
        if number == signal.SIGCONT:
            # Where we were stopped ourselves; the command, in our group, was told as we were.
            if self.session is None and not arrived.is_sent:
                return
            self._go_on()
            return
        is_its_own = arrived.is_sent and is_descendant(arrived.sender, self.command)
        if is_its_own:  # it told its whole group, and us in it
            return
        if number != signal.SIGTSTP and number not in (signal.SIGUSR1, signal.SIGUSR2):
            self.is_told_to_end = True
        is_cut = number == signal.SIGHUP and (not arrived.is_sent or terminal.is_gone(_IN))
        if is_cut and self.session is not None:
            self._hang_up()
        elif arrived.is_sent or number == signal.SIGHUP:
            self._send(number)
        elif self.session is not None and self.ours is not None:
            # A key of the terminal while it was not raw: as the command's own terminal would.
            with contextlib.suppress(OSError):
                os.killpg(os.tcgetpgrp(self.ours), number)

    def _hang_up(self) -> None:
        """The user's terminal is gone, and so is the command's: all of its foreground is told."""
        if self.ours is None:
            return
        for stream in self.streams:
            if stream.is_terminal:
                data = stream.read()
                self.recording.feed(stream.name, data)
                stream.unwritten = memoryview(b"")
                stream.is_unread = True
                stream.close()
        self.keys = None
        group = foreground = 0
        with contextlib.suppress(OSError):
            foreground = os.tcgetpgrp(self.ours)
        with contextlib.suppress(OSError):
            group = os.getpgid(self.command)
        terminal.close_side(self.ours)
        self.ours = None
        for one in {group, foreground} - {0}:
            terminal.tell_group(one)

    def _send(self, number: int) -> None:
        if self.ended is None:
            with contextlib.suppress(OSError):
                os.kill(self.command, number)

    def _look_at_child(self) -> None:
        if self.ended is not None:
            return
        found = changed(self.child)
        if isinstance(found, Ended):
            self.ended = found
            if self.session is not None:
                self.ended = self.session.ended() or found
        elif found:
            self._stop()

    def _stop(self) -> None:
        """Stop as the command has, and our job with us; go on when we are told to."""
        if _is_orphaned():  # nobody would tell us
            self._go_on()
            return
        if self.session is not None:
            self._flush()
            self.put_back()
            with contextlib.suppress(OSError):
                os.kill(0, signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGSTOP)
        self._foreground()
        self._go_on()

    def _flush(self) -> None:
        """Show what the command printed before it stopped."""
        until = time.monotonic() + _QUIET
        while time.monotonic() < until:
            events = self._wait(_STEP)
            events.pop(self.signals.fileno(), None)
            self._pass(events)

    def _go_on(self) -> None:
        if self.ended is None:
            with contextlib.suppress(OSError):
                os.kill(self.child, signal.SIGCONT)


def _is_orphaned() -> bool:
    """Whether no shell is there that could tell us to go on."""
    parent = os.getppid()
    try:
        return parent <= 1 or os.getsid(parent) != os.getsid(0)
    except OSError:
        return True


def _start(
    argv: Sequence[str], signals: Signals, recording: Recording, stack: contextlib.ExitStack
) -> _Passage:
    """The command, started, and what stands between it and us."""

    def closing(descriptor: int) -> int:
        stack.callback(_close, descriptor)
        return descriptor

    shown = [number for number in (_OUT, _ERR) if os.isatty(number)]
    has_keys = terminal.is_same(_IN, _OUT)
    ours: Optional[int] = None
    theirs: Optional[int] = None
    if _OUT in shown:
        try:
            ours, theirs = terminal.open_like(_OUT, processes_output=has_keys)
        except OSError:  # a system without pseudo-terminals
            has_keys = False
        else:
            closing(ours)
            os.set_blocking(ours, False)
    streams: List[_Stream] = []
    given = {_IN: _IN, _OUT: _OUT, _ERR: _ERR}
    if theirs is not None and has_keys:
        given[_IN] = theirs
    written: List[int] = []
    for number in (_OUT, _ERR):
        if theirs is not None and ours is not None and number in shown:
            given[number] = theirs
            if not streams:  # both of them are one
                streams.append(_Stream("terminal", ours, _OUT, True, ends_lines=has_keys))
            continue
        read, write = os.pipe()
        os.set_blocking(read, False)
        streams.append(_Stream(str(number), read, number, is_terminal=False))
        written.append(write)
        given[number] = write
    on = (given[_IN], given[_OUT], given[_ERR])
    session: Optional[Session] = None
    try:
        if theirs is not None and has_keys:
            sources = [one.source for one in streams if one.source is not None]
            session = Session(argv, theirs, on, signals.before, sources)
            child = session.keeper
        else:
            child = start(argv, on, signals.before)
    finally:
        for descriptor in (*written, *([theirs] if theirs is not None else [])):
            os.close(descriptor)
    return _Passage(signals, recording, streams, child, session, ours)


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)


__all__ = ["NotStartedError", "Outcome", "pass_through"]
