from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import List, Tuple

import pytest

from envdoctor.actions import process
from envdoctor.actions.process import Ended, Mask, run, shown

PYTHON = [sys.executable, "-I", "-S"]


def python(code: str, limit: float = 30, **options: object) -> Ended:
    return run([*PYTHON, "-c", code], limit, **options)  # type: ignore[arg-type]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(answer, tries: int = 300) -> bool:
    for _ in range(tries):
        if answer():
            return True
        time.sleep(0.02)
    return False


def test_output_and_status() -> None:
    done = python("import sys; print('out'); print('err', file=sys.stderr)")
    assert done == Ended(0, "out\n", "err\n", "")
    done = python("print('so far'); raise SystemExit(3)")
    assert done == Ended(3, "so far\n", "", "exit status 3")
    assert python("import os; os.kill(os.getpid(), 9)").failure == "crashed with signal 9"


def test_lines_are_told_as_they_come() -> None:
    told: List[Tuple[str, str]] = []
    code = "import sys; sys.stdout.write('10%\\r50%\\r100%\\n\\nlast'); sys.stderr.write('e\\n')"
    python(code, tell=lambda *line: told.append(line))
    assert [line for stream, line in told if stream == "out"] == ["10%", "50%", "100%", "last"]
    assert [line for stream, line in told if stream == "err"] == ["e"]


def test_a_line_without_end_is_told_in_pieces() -> None:
    told: List[str] = []
    python("print('x' * 100_000)", tell=lambda _, line: told.append(line))
    assert max(map(len, told)) <= 16384
    assert "".join(told).startswith("x" * 16384)


def test_what_is_very_much_is_kept_at_its_ends() -> None:
    done = python("for n in range(100_000): print(n)", most=1000)
    assert done.cut
    assert done.out.startswith("0\n1\n2\n")
    assert done.out.endswith("99998\n99999\n")
    assert "[...]" in done.out
    assert len(done.out) < 200_000
    assert done.failure == ""


def test_secrets_are_masked_where_they_are_told_and_returned() -> None:
    told: List[str] = []
    code = "print('at https://anna:s3cret@host/x and s3cret'); print('hf_abcdefghijkl')"
    done = python(code, secrets=["s3cret"], tell=lambda _, line: told.append(line))
    for text in (done.out, "\n".join(told)):
        assert "s3cret" not in text
        assert "anna" not in text
        assert "hf_abcdefghijkl" not in text
        assert "https://host/x" in text


def test_a_longer_secret_is_masked_whole() -> None:
    assert Mask(["ab", "abcd", ""])("abcd ab") == "*** ***"
    assert shown(["pip", "-i", "https://u:p@h/s", "a b"]) == "pip -i https://h/s 'a b'"


def test_input_and_environment_and_folder(tmp_path: Path) -> None:
    big = b"x" * 300_000
    code = "import os, sys; print(len(sys.stdin.read()), os.environ.get('A'), os.getcwd())"
    done = python(code, stdin=big, env={"A": "b"}, cwd=str(tmp_path))
    assert done.out == f"300000 b {tmp_path}\n"
    assert python("import sys; print(repr(sys.stdin.read()))").out == "''\n"


@pytest.mark.parametrize(
    ("argv", "failure"),
    [
        (["no-such-command-of-envdoctor"], "no such command"),
        (["/"], "not executable (permission denied)"),
        (["a\0b"], "not a command: embedded null byte"),
    ],
)
def test_what_does_not_start(argv: List[str], failure: str) -> None:
    assert run(argv, 5) == Ended(None, "", "", failure)


def test_a_folder_that_is_not_there() -> None:
    assert run(["true"], 5, cwd="/no/such/folder").failure == "/no/such/folder is no folder"


#: Starts a child of its own that writes its number and never ends, and waits for it.
_PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
child.wait()
"""


def test_a_limit_ends_the_whole_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", 2.0)
    done = python(_PARENT, limit=1.5)
    assert done.status is None
    assert done.failure == "took longer than 1.5 s"
    assert wait_until(lambda: not is_running(int(done.out)))


def test_who_ignores_to_be_asked_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    code = (
        "import signal, time; signal.signal(15, signal.SIG_IGN)\n"
        "print('here', flush=True); time.sleep(600)"
    )
    assert python(code, limit=1.5) == Ended(None, "here\n", "", "took longer than 1.5 s")


def test_what_outlives_the_command_does_not_hold_it() -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid)"
    )
    done = python(code)
    assert done.failure == ""
    assert wait_until(lambda: not is_running(int(done.out)))


_RUNS = """
import sys
from envdoctor.actions.process import run
run([sys.executable, "-I", "-S", "-c", {code!r}], 600, tell=lambda _, line: print(line, flush=True))
"""


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGHUP, 128 + signal.SIGHUP),
        (signal.SIGINT, None),
    ],
)
def test_who_ends_us_ends_the_child_and_its_group(number: int, status: object) -> None:
    us = subprocess.Popen(
        [sys.executable, "-c", _RUNS.format(code=_PARENT)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=str(Path(__file__).parent.parent.parent),
    )
    assert us.stdout is not None
    child = int(us.stdout.readline())
    assert is_running(child)
    os.kill(us.pid, number)
    _, err = us.communicate(timeout=60)
    if status is None:
        assert "KeyboardInterrupt" in err
        assert us.returncode in (1, -signal.SIGINT)
    else:
        assert us.returncode == status
    assert wait_until(lambda: not is_running(child))


def test_signals_are_as_before_afterwards() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    python("pass")
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before
