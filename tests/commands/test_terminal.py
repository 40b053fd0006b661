"""The real command: in a terminal, in a pipe, interrupted, out of time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import pytest

COMMAND = [sys.executable, "-m", "envdoctor"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def environ(home: Path, **more: str) -> Dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "TERM": "xterm-256color", **more}


def in_terminal(
    arguments: List[str], env: Dict[str, str], columns: int = 80, progress: bool = False
) -> Tuple[int, str]:
    """The exit code and what a terminal of that width shows, with progress only if asked for."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave if progress else subprocess.DEVNULL,
        env=env,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            break  # Linux's way to say that the other side is closed
        shown += chunk
    os.close(master)
    return process.wait(60), shown.decode("utf-8").replace("\r\n", "\n")


def in_pipe(arguments: List[str], env: Dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "words", [["check"], ["resolve", "torch==2.4.1"], ["resolve", "torch==1.9", "torch==2.0"]]
)
def test_colour_is_for_terminals(words: List[str], snapshot: str, tmp_path: Path) -> None:
    arguments = [*words, "--facts", snapshot]
    piped = in_pipe(arguments, environ(tmp_path))
    plain = untimed(piped.stdout.decode())
    assert b"\x1b" not in piped.stdout
    assert piped.stderr == b""
    for setting in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        code, shown = in_terminal(arguments, environ(tmp_path, **setting))
        assert (code, untimed(shown)) == (piped.returncode, plain)
    for setting in ({}, {"NO_COLOR": ""}):
        code, shown = in_terminal(arguments, environ(tmp_path, **setting))
        assert COLOUR.search(shown)
        assert untimed(COLOUR.sub("", shown)) == plain


def untimed(text: str) -> str:
    return re.sub(r"\(\d+\.\d s\)", "(0.0 s)", text)


def test_text_is_as_wide_as_the_terminal(snapshot: str, tmp_path: Path) -> None:
    _, narrow = in_terminal(["--facts", snapshot], environ(tmp_path, NO_COLOR="1"), columns=50)
    _, wide = in_terminal(["--facts", snapshot], environ(tmp_path), columns=300)
    assert "\x1b" not in narrow
    assert COLOUR.search(wide)
    wide = COLOUR.sub("", wide)
    assert len(narrow.splitlines()) > len(wide.splitlines())
    assert max(len(line) for line in wide.splitlines() if not line.startswith("Next")) <= 100


def test_a_file_has_no_colour(snapshot: str, tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    in_terminal(["check", "--facts", snapshot, "-o", str(path)], environ(tmp_path))
    assert "\x1b" not in path.read_text()


BUFFERS = [{}, {"PYTHONUNBUFFERED": "1"}]  # where an answer is refused: at the end, or at once


@pytest.mark.parametrize("setting", BUFFERS)
def test_a_reader_that_goes_away_is_no_fault(
    snapshot: str, tmp_path: Path, setting: Dict[str, str]
) -> None:
    for arguments in (["check", "--facts", snapshot], ["facts", "--facts", snapshot], ["--help"]):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=write,
            stderr=subprocess.PIPE,
            env=environ(tmp_path, **setting),
        )
        os.close(write)
        _, complaint = process.communicate(timeout=60)
        assert complaint == b""
        assert process.returncode in (0, 1)


ANSWERS = [
    ["--facts", "SNAPSHOT"],
    ["check", "--facts", "SNAPSHOT"],
    ["check", "--list-rules"],
    ["facts", "--facts", "SNAPSHOT"],
    ["explain", "ED101"],
    ["--version"],
    ["--help"],
    ["check", "-h"],
]


def redirected(
    arguments: List[str], where: str, env: Dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """What becomes of a command whose streams a shell redirects as `where` says."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {where}', "sh", *COMMAND, *arguments],
        env=env,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("setting", BUFFERS)
@pytest.mark.parametrize(
    ("where", "reason"),
    [(">/dev/full", b"No space left on device"), (">&-", b"Bad file descriptor")],
)
@pytest.mark.parametrize("arguments", ANSWERS, ids=" ".join)
def test_a_stdout_that_takes_nothing_is_told(
    snapshot: str,
    tmp_path: Path,
    arguments: List[str],
    where: str,
    reason: bytes,
    setting: Dict[str, str],
) -> None:
    arguments = [snapshot if word == "SNAPSHOT" else word for word in arguments]
    done = redirected(arguments, where, environ(tmp_path, **setting))
    assert done.stderr == b"envdoctor: cannot write to stdout: " + reason + b"\n"
    assert done.returncode == 3


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_where_nobody_reads_what_is_wrong_the_code_tells(tmp_path: Path, where: str) -> None:
    for arguments, code in ((["chekc"], 2), (["check", "--facts", "/gone"], 3)):
        done = redirected(arguments, where, environ(tmp_path))
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")
    path = tmp_path / "facts.json"
    done = redirected(["facts", "-o", str(path)], where, environ(tmp_path))
    assert (done.returncode, done.stdout) == (0, b"")
    assert json.loads(path.read_text())


def test_an_answer_in_a_file_needs_no_stdout(snapshot: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    arguments = ["check", "--facts", snapshot, "--format", "json", "-o", str(path)]
    done = redirected(arguments, "<&- >&- 2>&-", environ(tmp_path))
    assert done.returncode in (0, 1)
    assert json.loads(path.read_text())["command"] == "check"


@pytest.mark.parametrize(
    "setting",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}],
)
@pytest.mark.parametrize(
    "command", [[], ["check"], ["check", "--format", "json"], ["facts"]], ids=" ".join
)
def test_an_encoding_that_cannot_print_it(
    command: List[str], setting: Dict[str, str], snapshot: str, tmp_path: Path
) -> None:
    path = Path(snapshot)
    path.write_text(path.read_text().replace("maptr", "\u8bad\u7ec3"), encoding="utf-8")
    done = in_pipe([*command, "--facts", snapshot], environ(tmp_path, **setting))
    assert done.returncode in (0, 1)
    assert done.stderr == b""
    assert done.stdout.isascii()
    if "json" in command or "facts" in command:
        json.loads(done.stdout)


@pytest.fixture
def slow_python(tmp_path: Path) -> Iterator[Path]:
    """An interpreter that never answers; leaves its process's number behind."""
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\necho $$ >"{tmp_path}/started"\nexec sleep 300\n')
    path.chmod(0o755)
    yield path
    started = tmp_path / "started"
    assert started.exists(), "it was never started"
    deadline = time.monotonic() + 10
    while Path(f"/proc/{started.read_text().strip()}").exists():
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.05)


def test_out_of_time(slow_python: Path, tmp_path: Path) -> None:
    begun = time.monotonic()
    done = in_pipe(["check", "--python", str(slow_python), "--timeout", "1.5"], environ(tmp_path))
    assert time.monotonic() - begun < 100  # it would sleep 300
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"envdoctor: gave up after 1.5 s (--timeout)\n")


def test_a_search_ends_in_time(snapshot: str, tmp_path: Path) -> None:
    """Two models' requirements at once, which nothing satisfies: whatever is known by then."""
    stacks = Path(__file__).resolve().parent.parent / "stacks"
    files = [str(stacks / name) for name in ("maptr.txt", "gaussianformer.txt")]
    named = [word for file in files for word in ("--requirements", file)]
    arguments = ["resolve", *named, "--facts", snapshot, "--timeout", "1"]
    done = in_pipe(arguments, environ(tmp_path))
    assert done.returncode in (1, 3)
    assert (done.stdout == b"") == done.stderr.startswith(b"envdoctor: gave up after 1 s")
    assert b"Traceback" not in done.stderr


def test_too_short_a_time_is_told_alike(snapshot: str, tmp_path: Path) -> None:
    for _ in range(5):
        done = in_pipe(["check", "--facts", snapshot, "--timeout", "0.001"], environ(tmp_path))
        assert (done.returncode, done.stdout) == (3, b"")
        assert done.stderr.startswith(b"envdoctor: gave up after 0.001 s (--timeout)\n")


def test_ctrl_c(slow_python: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "check", "--python", str(slow_python)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ(tmp_path),
        # a shell starts what it runs in the background with this signal ignored, tests too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    for _ in range(3):  # Python loses one that rings in a finalizer; people press again
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            break
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


def test_waiting_people_are_told(slow_python: Path, tmp_path: Path) -> None:
    code, shown = in_terminal(
        ["check", "--python", str(slow_python), "--timeout", "2.5"],
        environ(tmp_path),
        progress=True,
    )
    assert code == 3
    assert shown.startswith("envdoctor: still working ...\n")
