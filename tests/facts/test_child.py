from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from envdoctor.facts.child import Completed, run


def python(code: str, *, timeout: float = 20, max_bytes: int = 10_000, **options) -> Completed:
    return run([sys.executable, "-I", "-S", "-c", code], timeout, max_bytes, **options)


def is_running(pid: int) -> bool:
    """Whether the process exists and is more than a zombie that nobody has reaped yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pid: int) -> bool:
    for _ in range(100):
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


def test_output_of_a_command_that_succeeds():
    done = python("import sys; print('out'); print('err', file=sys.stderr)")
    assert done == Completed(0, b"out\n", b"err\n", "")


def test_exit_status_is_a_failure_and_keeps_the_output():
    assert python("print('so far'); raise SystemExit(3)") == Completed(
        3, b"so far\n", b"", "exit status 3"
    )


def test_signal_is_a_crash():
    done = python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (done.status, done.failure) == (-signal.SIGSEGV, "crashed with signal 11")


@pytest.mark.parametrize(
    ("make", "failure"),
    [
        (lambda _: None, "no such command"),
        (lambda path: path.mkdir(), "not executable (permission denied)"),
        (lambda path: path.write_text("#!/bin/sh\n"), "not executable (permission denied)"),
        (
            lambda path: (path.write_text("#!/nowhere/python\n"), path.chmod(0o755)),
            "the interpreter that its first line or its header names does not exist",
        ),
        (
            lambda path: (path.write_bytes(b"\x7fELF\0\0\0\0"), path.chmod(0o755)),
            "not a program that this machine can execute (exec format error)",
        ),
    ],
)
def test_command_that_cannot_start(tmp_path, make, failure):
    command = tmp_path / "command"
    make(command)
    assert run([str(command)], 5, 100) == Completed(None, b"", b"", failure)


def test_argument_that_no_process_can_take():
    assert run([sys.executable, "a\0b"], 5, 100).failure == "not a command: embedded null byte"


def test_missing_command_is_looked_up_on_the_given_path(tmp_path):
    assert run(["sh", "-c", "true"], 5, 100, env={"PATH": str(tmp_path)}).failure == (
        "no such command"
    )


def test_environment_and_standard_input():
    code = "import os, sys; print(os.environ['A'], sys.stdin.read())"
    assert python(code, env={"A": "1"}, stdin=b"in").stdout == b"1 in\n"
    assert python("import sys; print(repr(sys.stdin.read()))").stdout == b"''\n"


def test_large_input_and_output_pass_without_deadlock():
    data = os.urandom(2_000_000)
    done = python(
        "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())",
        stdin=data,
        max_bytes=len(data),
    )
    assert done.failure == ""
    assert done.stdout == data


def test_child_that_does_not_read_its_input():
    assert python("print('done')", stdin=b"x" * 2_000_000).stdout == b"done\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_flood_is_cut_and_the_child_killed(stream):
    code = f"""
import os, sys
while True:
    os.write(sys.{stream}.fileno(), b"x" * 65536)
"""
    done = python(code, max_bytes=100_000)
    assert (done.status, done.failure) == (None, "printed more than 100000 bytes")
    assert getattr(done, stream) == b"x" * 100_000


def test_child_over_time_is_killed_with_its_descendants_though_it_ignores_sigterm():
    code = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    print(os.getpid(), flush=True)
else:
    print(os.getpid(), flush=True)
time.sleep(60)
"""
    start = time.monotonic()
    done = python(code, timeout=1)
    assert time.monotonic() - start < 40  # it would sleep 60
    assert (done.status, done.failure) == (None, "took longer than 1 s")
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2
    assert all(wait_until_gone(pid) for pid in pids)


def test_child_that_closes_its_pipes_is_still_timed():
    code = "import os, time; os.close(1); os.close(2); time.sleep(60)"
    assert python(code, timeout=0.5).failure == "took longer than 0.5 s"


def test_child_that_closes_its_pipes_may_still_succeed():
    assert python("import os, time; os.close(1); os.close(2); time.sleep(0.1)").status == 0


def test_grandchild_that_holds_the_pipe_is_not_waited_for():
    code = """
import os, time
pid = os.fork()
if not pid:
    time.sleep(60)
print("x" * 100_000)
print(pid)
"""
    start = time.monotonic()
    done = python(code, max_bytes=200_000)
    assert time.monotonic() - start < 40  # it would sleep 60
    assert (done.status, done.failure) == (0, "")
    assert done.stdout.startswith(b"x" * 100_000)
    assert wait_until_gone(int(done.stdout.split()[-1]))


def test_grandchild_in_a_session_of_its_own_is_not_waited_for():
    code = """
import os, time
pid = os.fork()
if not pid:
    os.setsid()
    time.sleep(60)
    os._exit(0)
print(pid)
"""
    done = python(code)
    pid = int(done.stdout)
    os.kill(pid, signal.SIGKILL)  # which fails where it is gone
    assert done == Completed(0, f"{pid}\n".encode(), b"", "")
