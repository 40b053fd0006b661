"""Runs a command that people wait for: its output streams, and nothing of it outlives us."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from pathlib import Path
from types import FrameType
from typing import Callable, Deque, Dict, Iterator, Mapping, NamedTuple, Optional, Sequence

from envdoctor.facts.child import ending, has_ended, not_started, send
from envdoctor.model.text import without_secrets

_CHUNK = 65536
# How often an ended child is noticed whose pipes something else still holds, in seconds.
_POLL = 0.1
#: How long a child may take to end by itself once it was told to, in seconds.
GRACE = 5.0
# What is kept of each stream: its beginning and its end, in bytes.
_MOST = 4 * 2**20
# A line that does not end, as a broken progress bar prints it, is told in pieces.
_LONGEST_LINE = 16384
#: Signals that end us, and with us the child.
_ENDING = (signal.SIGTERM, signal.SIGHUP)

#: Is told each line of output, without secrets: the stream ("out", "err") and the line.
Tell = Callable[[str, str], None]


class Ended(NamedTuple):
    """What became of a command.

    `status` is its exit status, negative for the signal that ended it; None if it never started or
    was stopped by us. `failure` is empty exactly if it ended by itself with status 0, else a clause
    that says why not. `out` and `err` are what it printed; where that is very much, `cut` is true
    and the middle is left out.
    """

    status: Optional[int]
    out: str
    err: str
    failure: str
    cut: bool = False


class StoppedError(SystemExit):
    """A signal told us to end: the child was ended first. Left alone, it ends us as the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def run(
    argv: Sequence[str],
    limit: float,
    env: Optional[Mapping[str, str]] = None,
    cwd: str = "",
    stdin: bytes = b"",
    tell: Optional[Tell] = None,
    secrets: Sequence[str] = (),
    most: int = _MOST,
) -> Ended:
    """Run `argv` without a shell and return what became of it; never raises OSError.

    After `limit` seconds (0: never) its process group is asked to end, then killed. The same where
    Ctrl-C, SIGTERM or SIGHUP end us: the child and its group go first, then KeyboardInterrupt or
    StoppedError is raised. `env` replaces the environment. `secrets` are masked in what `tell` is
    told and in what is returned, as are logins in addresses.
    """
    masked = Mask(secrets)
    if cwd and not Path(cwd).is_dir():
        return Ended(None, "", "", f"{cwd} is no folder")
    with _raising():
        return _run(argv, limit, env, cwd, stdin, tell, masked, most)


def _run(
    argv: Sequence[str],
    limit: float,
    env: Optional[Mapping[str, str]],
    cwd: str,
    stdin: bytes,
    tell: Optional[Tell],
    masked: Mask,
    most: int,
) -> Ended:
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if env is None else dict(env),
            cwd=cwd or None,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ended(None, "", "", not_started(argv, error))
    streams = {name: _Stream(name, most, masked, tell) for name in ("out", "err")}
    try:
        late = not _converse(process, limit, stdin, streams)
        if late:
            _end(process, signal.SIGTERM)
            _drain(process, streams)
    except KeyboardInterrupt:
        _end(process, signal.SIGINT)
        raise
    except BaseException:
        _end(process, signal.SIGTERM)
        raise
    finally:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
    status = None if late else process.returncode
    return Ended(
        status=status,
        out=streams["out"].text(),
        err=streams["err"].text(),
        failure=f"took longer than {limit:g} s" if status is None else ending(status),
        cut=any(stream.cut for stream in streams.values()),
    )


def shown(argv: Sequence[str], secrets: Sequence[str] = ()) -> str:
    """A command as people would type it, without secrets."""
    return Mask(secrets)(" ".join(shlex.quote(word) for word in argv))


class Mask:
    """Takes secrets out of text: those that it is given, and what looks like one."""

    def __init__(self, secrets: Sequence[str]) -> None:
        """Longer secrets are looked for first: one may hold another."""
        self._secrets = sorted({s for s in secrets if s}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without them."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return without_secrets(text)


class _Stream:
    """The beginning and the end of what a stream printed; lines are told as they come."""

    def __init__(self, name: str, most: int, masked: Mask, tell: Optional[Tell]) -> None:
        self.name = name
        self.masked = masked
        self.tell = tell
        self.cut = False
        self._most = most // 2
        self._head = bytearray()
        self._tail: Deque[bytes] = deque()
        self._size = 0
        self._line = b""

    def feed(self, data: bytes) -> None:
        room = self._most - len(self._head)
        self._head += data[:room]
        if data[room:]:
            self._tail.append(data[room:])
            self._size += len(data) - room
            while self._size - len(self._tail[0]) >= self._most:
                self._size -= len(self._tail.popleft())
                self.cut = True
        if self.tell is not None:
            # A carriage return ends a line, too: progress is written over itself.
            *lines, self._line = (self._line + data).replace(b"\r", b"\n").split(b"\n")
            for line in lines:
                self._say(line)
            if len(self._line) > _LONGEST_LINE:
                self._say(self._line)
                self._line = b""

    def close(self) -> None:
        self._say(self._line)
        self._line = b""

    def _say(self, line: bytes) -> None:
        if self.tell is not None and line.strip():
            self.tell(self.name, self.masked(line[:_LONGEST_LINE].decode("utf-8", "replace")))

    def text(self) -> str:
        """What is kept, masked line by line as it was told."""
        middle = b"\n[...]\n" if self.cut else b""
        return self.masked(
            (bytes(self._head) + middle + b"".join(self._tail)).decode("utf-8", "replace")
        )


def _converse(
    process: subprocess.Popen[bytes], limit: float, stdin: bytes, streams: Dict[str, _Stream]
) -> bool:
    """Feed and read the child until it has ended; False if it took too long."""
    deadline = time.monotonic() + limit if limit else float("inf")
    unsent = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for pipe, kind, name in (
            (process.stdout, selectors.EVENT_READ, "out"),
            (process.stderr, selectors.EVENT_READ, "err"),
            (process.stdin, selectors.EVENT_WRITE, ""),
        ):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, kind, name)
        while selector.get_map():
            left = deadline - time.monotonic()
            # Asked before reading: what an ended child wrote is in the pipes by now.
            ended = has_ended(process)
            events = selector.select(0 if ended else max(0.0, min(left, _POLL)))
            for key, _ in events:
                if key.data:
                    data = os.read(key.fd, _CHUNK)
                    streams[key.data].feed(data)
                    finished = not data
                else:
                    unsent = unsent[send(key.fd, unsent) :]
                    finished = not unsent
                if finished:
                    selector.unregister(key.fileobj)
                    if not key.data and process.stdin is not None:
                        with contextlib.suppress(OSError):
                            process.stdin.close()
            if ended and not any(key.data for key, _ in events):
                # What is still open is held by something that outlived the command.
                _signal(process, signal.SIGKILL)
                break
            if left <= 0:
                return False
    try:
        process.wait(max(0.0, deadline - time.monotonic()) if limit else None)
    except subprocess.TimeoutExpired:
        return False
    for stream in streams.values():
        stream.close()
    return True


def _drain(process: subprocess.Popen[bytes], streams: Dict[str, _Stream]) -> None:
    """Read what a child that was ended had written before."""
    for pipe, name in ((process.stdout, "out"), (process.stderr, "err")):
        with contextlib.suppress(OSError):
            while pipe is not None:
                data = os.read(pipe.fileno(), _CHUNK)
                if not data:
                    break
                streams[name].feed(data)
        streams[name].close()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, number)


def _end(process: subprocess.Popen[bytes], first: int) -> None:
    """End the child and its group: asked first, then killed. A second Ctrl-C kills at once."""
    if process.returncode is not None:
        return
    _signal(process, first)
    deadline = time.monotonic() + GRACE
    try:
        while not has_ended(process) and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        # Also where the command itself has ended: its children may not have.
        _signal(process, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)


@contextlib.contextmanager
def _raising() -> Iterator[None]:
    """Within, signals that would end us raise StoppedError. Only a main thread may ask for that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _frame: Optional[FrameType]) -> None:
        raise StoppedError(number)

    before = {}
    try:
        for number in _ENDING:
            # Who ignores a signal, as nohup does, goes on ignoring it.
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, stop)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
