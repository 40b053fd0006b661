"""Runs a command in a child process that is bounded in time and in output."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import selectors
import signal
import subprocess
import time
from pathlib import Path
from typing import Mapping, NamedTuple, Optional, Sequence

_CHUNK = 65536
# How often an ended child is noticed whose pipes something else still holds, in seconds.
_POLL = 0.05
# How long a killed child may take to end: one that hangs in a driver call never does.
_GRACE = 1.0


class Completed(NamedTuple):
    """What became of a command.

    `status` is the exit status, negative for the signal that ended it, None if it never started
    or was stopped by us. `failure` is empty exactly if it ended by itself with status 0, else a
    clause that says why not: "no such command", "took longer than 5 s", "exit status 3".
    """

    status: Optional[int]
    stdout: bytes
    stderr: bytes
    failure: str


def run(
    argv: Sequence[str],
    timeout: float,
    max_bytes: int,
    env: Optional[Mapping[str, str]] = None,
    stdin: Optional[bytes] = None,
) -> Completed:
    """Run `argv` without a shell and return its output and what became of it; never raises OSError.

    It is given `timeout` seconds and `max_bytes` bytes on each of stdout and stderr; past either
    its whole process group is killed, and what was read so far is returned. `env` replaces the
    environment; without `stdin` the child reads an empty one. A command without a slash is looked
    up on this process's PATH, or on that of `env`.
    """
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if env is None else dict(env),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Completed(None, b"", b"", not_started(argv, error))
    with contextlib.suppress(OSError, ValueError):
        # Commands that only look must not leave a core file behind when they crash.
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
    out, err = bytearray(), bytearray()
    try:
        failure = _converse(process, timeout, max_bytes, stdin or b"", out, err)
        if failure:
            status = None
            if not _kill(process):
                failure += " and cannot be killed"
        else:
            status = process.returncode
            failure = ending(status)
    except BaseException:
        _kill(process)
        raise
    finally:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
    return Completed(status, bytes(out), bytes(err), failure)


def _converse(
    process: subprocess.Popen[bytes],
    timeout: float,
    max_bytes: int,
    stdin: bytes,
    out: bytearray,
    err: bytearray,
) -> str:
    """Feed and read the child until it is reaped (returns "") or has to be killed (says why)."""
    deadline = time.monotonic() + timeout
    late = f"took longer than {timeout:g} s"
    unsent = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for pipe, kind, taken in (
            (process.stdout, selectors.EVENT_READ, out),
            (process.stderr, selectors.EVENT_READ, err),
            (process.stdin, selectors.EVENT_WRITE, None),
        ):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, kind, taken)
        while selector.get_map():
            left = deadline - time.monotonic()
            # Asked before reading: what an ended child wrote is in the pipes by now.
            ended = has_ended(process)
            events = selector.select(0 if ended else max(0, min(left, _POLL)))
            for key, _ in events:
                if key.data is None:
                    unsent = unsent[send(key.fd, unsent) :]
                    finished = not unsent
                else:
                    chunk = os.read(key.fd, min(_CHUNK, max_bytes + 1 - len(key.data)))
                    key.data.extend(chunk)
                    finished = not chunk
                    if len(key.data) > max_bytes:
                        del key.data[max_bytes:]
                        return f"printed more than {max_bytes} bytes"
                if finished:
                    selector.unregister(key.fileobj)
                    if key.data is None and process.stdin is not None:
                        process.stdin.close()
            if ended and all(key.data is None for key, _ in events):
                # What is still open is held by a descendant that outlived the command.
                _kill(process)
                return ""
            if left <= 0:
                return late
    try:
        process.wait(max(0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return late
    return ""


def send(fd: int, data: memoryview) -> int:
    """Write what the pipe takes now; all counts as sent if nobody reads it any more."""
    try:
        return os.write(fd, data[:_CHUNK])
    except BlockingIOError:
        return 0
    except OSError:
        return len(data)


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the child has ended; it stays unreaped, so its group's number stays its own."""
    try:
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, options) is not None
    except ChildProcessError:
        return True


def _kill(process: subprocess.Popen[bytes]) -> bool:
    """Kill the child's process group and reap the child; return whether it has ended."""
    if process.returncode is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        return False
    return True


def ending(status: int) -> str:
    """A clause of how a child ended, from its exit status; empty for success."""
    if status < 0:
        return f"crashed with signal {-status}"
    return f"exit status {status}" if status else ""


def not_started(argv: Sequence[str], error: Exception) -> str:
    """A clause of why a command could not be started."""
    if not isinstance(error, OSError):
        return f"not a command: {error}"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        if argv and "/" in argv[0] and Path(argv[0]).exists():
            return "the interpreter that its first line or its header names does not exist"
        return "no such command"
    if error.errno == errno.ENOEXEC:
        return "not a program that this machine can execute (exec format error)"
    if error.errno in (errno.EACCES, errno.EISDIR):
        return "not executable (permission denied)"
    return (error.strerror or str(error)).lower()
