"""`envdoctor run`: the command runs as it would without us, in pipes and in a terminal."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from user_terminal import UserTerminal

RUN = [sys.executable, "-m", "envdoctor", "run", "--no-facts", "--"]
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def env(tmp_path: Path) -> Dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "TERM": "xterm",
        "PYTHONPATH": str(ROOT),
        "PS1": "$ ",
    }


def shell(script: str, *options: str) -> List[str]:
    return [*RUN[:-1], *options, "--", "sh", "-c", script]


def piped(argv: List[str], env: Dict[str, str], **more: Any) -> subprocess.CompletedProcess[bytes]:
    more.setdefault("input", b"")
    return subprocess.run(argv, env=env, capture_output=True, timeout=60, check=False, **more)


# --- in pipes ----------------------------------------------------------------------------------


def test_a_command_that_succeeds_is_all_that_is_seen(env: Dict[str, str]) -> None:
    done = piped(shell("cat; echo out; printf err >&2"), env, input=b"in\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"in\nout\n", b"err")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 1", 1),
        ("exit 77", 77),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("kill -SEGV $$", 139),
    ],
)
def test_its_code_is_ours(script: str, code: int, env: Dict[str, str]) -> None:
    done = piped(shell(f"echo out; {script}"), env)
    assert (done.returncode, done.stdout) == (code, b"out\n")


def test_what_cannot_be_run_is_told_as_shells_do(env: Dict[str, str], tmp_path: Path) -> None:
    done = piped([*RUN, "no-such-command", "x"], env)
    assert (done.returncode, done.stdout) == (127, b"")
    assert done.stderr == b"envdoctor: no-such-command: no such command\n"
    done = piped([*RUN, str(tmp_path / "gone")], env)
    assert (done.returncode, done.stdout) == (127, b"")
    done = piped([*RUN, ""], env)
    assert (done.returncode, done.stdout) == (127, b"")
    assert done.stderr == b"envdoctor: '': no such command\n"
    (tmp_path / "text").write_text("echo")
    done = piped([*RUN, str(tmp_path / "text")], env)
    assert (done.returncode, done.stdout) == (126, b"")
    assert done.stderr.endswith(b"text: permission denied\n")


def test_a_script_that_names_no_interpreter_is_a_shells(
    env: Dict[str, str], tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text('echo "$1"; exit 4\n')
    script.chmod(0o755)
    done = piped([*RUN, str(script), "a b"], env)
    assert (done.returncode, done.stdout) == (4, b"a b\n")


@pytest.mark.parametrize("content", [b"\x7fELF\x02", b"\x7fELF\ntext", b"MZ\x90\0\n", b"\0\n"])
def test_a_binary_of_another_system_is_no_shells(
    content: bytes, env: Dict[str, str], tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.write_bytes(content)
    program.chmod(0o755)
    done = piped([*RUN, str(program)], env)
    assert (done.returncode, done.stdout) == (126, b"")
    assert done.stderr.endswith(b"program: exec format error\n")
    assert done.stderr.count(b"\n") == 1


def test_options_of_the_command_are_its_own(env: Dict[str, str]) -> None:
    done = piped([*RUN[:-1], "echo", "-n", "--lang", "--", "-h"], env)
    assert (done.returncode, done.stdout) == (0, b"--lang -- -h")
    done = piped(RUN, env)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"name a command" in done.stderr


def test_every_byte_passes(env: Dict[str, str]) -> None:
    script = (
        "import os; d = bytes(range(256)) * 20000\n"
        "while d: d = d[os.write(1, d):]\n"
        "os.write(2, bytes(range(255, -1, -1)))"
    )
    done = piped([*RUN, sys.executable, "-c", script], env)
    assert done.stdout == bytes(range(256)) * 20000
    assert done.stderr == bytes(range(255, -1, -1))


def test_much_output_needs_little_memory(env: Dict[str, str]) -> None:
    script = "head -c 400000000 /dev/zero; grep VmHWM /proc/$PPID/status >&2"
    process = subprocess.Popen(
        shell(script), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    size = 0
    digest = hashlib.sha256()
    while True:
        data = process.stdout.read(1 << 20)
        if not data:
            break
        size += len(data)
        digest.update(data)
    kilobytes = int(process.stderr.read().split()[1])
    process.stderr.close()
    process.stdout.close()
    assert (process.wait(60), size) == (0, 400_000_000)
    assert kilobytes < 100_000


@pytest.mark.parametrize("script", ["yes; exit 3", "yes | cat; exit 3"])
def test_a_reader_that_goes_away_ends_the_command(script: str, env: Dict[str, str]) -> None:
    joined = " ".join([*RUN, "sh", "-c", f"'{script}'"])
    done = piped(["bash", "-c", f"{joined} | head -1; echo ${{PIPESTATUS[0]}}"], env)
    assert done.stdout.splitlines()[0] == b"y"
    assert done.stdout.splitlines()[1] in (b"3", b"141")


def test_the_command_reads_what_we_are_given(env: Dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a\nb\n")
    # what the command leaves unread is the next one's, as without us
    joined = " ".join([*RUN, "sh", "-c", "'read x; echo got $x'"])
    done = piped(["sh", "-c", f"{{ {joined}; cat; }} <{tmp_path}/in"], env)
    assert done.stdout == b"got a\nb\n"


def test_descriptors_are_passed_on(env: Dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a\n")
    joined = " ".join([*RUN, "sh", "-c", "'cat <&7'"])
    done = piped(["sh", "-c", f"{joined} 7<{tmp_path}/in"], env)
    assert done.stdout == b"a\n"


@pytest.mark.parametrize("where", [">&-", "2>&-", "<&-", "<&- >&- 2>&-", ">/dev/full"])
def test_closed_streams_are_no_reason_to_fail(where: str, env: Dict[str, str]) -> None:
    joined = " ".join([*RUN, "sh", "-c", "'exit 5'"])
    done = piped(["sh", "-c", f"{joined} {where}"], env)
    assert done.returncode == 5


def test_what_is_left_running_is_not_waited_for(env: Dict[str, str], tmp_path: Path) -> None:
    done = piped(shell(f"(sleep 300 & echo $! >{tmp_path}/pid); echo out"), env)
    assert (done.returncode, done.stdout) == (0, b"out\n")
    left = int((tmp_path / "pid").read_text())
    os.kill(left, signal.SIGKILL)  # it has outlived the command, as it would without us


def test_what_goes_on_printing_does_not_hold_us(env: Dict[str, str], tmp_path: Path) -> None:
    done = piped(shell(f"(yes & echo $! >{tmp_path}/pid); exit 6"), env)
    assert done.returncode == 6


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT", "USR1"])
def test_signals_are_passed_on(name: str, env: Dict[str, str]) -> None:
    script = f'trap "echo {name}; exit 9" {name}; echo ready; while :; do sleep 0.05; done'
    number = getattr(signal, f"SIG{name}")
    before = signal.signal(number, signal.SIG_DFL)  # a shell cannot trap what it inherits ignored
    try:
        process = subprocess.Popen(
            shell(script), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    finally:
        signal.signal(number, before)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (9, f"{name}\n".encode())


def test_one_that_is_told_to_end_is_not_judged(env: Dict[str, str]) -> None:
    process = subprocess.Popen(
        shell("echo ready; exec sleep 300"), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.terminate()
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 143


def test_what_its_own_group_is_told_comes_once(env: Dict[str, str]) -> None:
    """A script that ends all of its job: `kill 0`."""
    script = 'trap "echo once; trap - TERM; exit 8" TERM; kill -TERM 0'
    done = piped(shell(script), env, start_new_session=True)
    assert (done.returncode, done.stdout) == (8, b"once\n")


def test_ignored_signals_stay_ignored(env: Dict[str, str]) -> None:
    joined = " ".join([*RUN, "sh", "-c", "'kill -HUP $$; echo on'"])
    done = piped(["sh", "-c", f"trap '' HUP; {joined}"], env)
    assert (done.returncode, done.stdout) == (0, b"on\n")


def test_who_ignores_children_is_told_how_one_ended(env: Dict[str, str]) -> None:
    start = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
    start += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    done = piped([sys.executable, "-c", start, *shell("exit 3")[1:]], env)
    assert done.returncode == 3


def test_python_s_own_ignored_signals_are_not_the_command_s(env: Dict[str, str]) -> None:
    ours = Path("/proc/self/status").read_text().partition("SigIgn:")[2].split()[0]
    python_s = 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1
    c_library_s = 1 << 31 | 1 << 32  # its own two, which posix_spawn ignores in every child
    done = piped(shell("grep -E 'SigIgn|SigBlk' /proc/self/status"), env)
    blocked, ignored = (int(mask, 16) for mask in done.stdout.split()[1::2])
    assert blocked == 0
    assert ignored & ~c_library_s == int(ours, 16) & ~python_s & ~c_library_s


def test_all_that_it_prints_is_written_to_a_file(env: Dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("older")
    done = piped(shell("echo a; echo b >&2; printf c", "--log", str(path)), env)
    assert (done.stdout, done.stderr) == (b"a\nc", b"b\n")
    assert sorted(path.read_bytes().split(b"\n")) == [b"a", b"b", b"c"]
    done = piped(shell("echo ran", "--log", str(tmp_path)), env)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr == f"envdoctor: cannot write {tmp_path}: is a directory\n".encode()
    done = piped(shell("echo a", "--log", "/dev/full"), env)
    assert (done.returncode, done.stdout) == (0, b"a\n")
    assert done.stderr == b"envdoctor: cannot write all of /dev/full: no space left on device\n"


# --- in a terminal -----------------------------------------------------------------------------


def test_it_has_a_terminal_where_we_have_one(env: Dict[str, str]) -> None:
    script = "test -t 0 && test -t 1 && test -t 2 && tty; stty size; exit 5"
    user = UserTerminal(shell(script), env, rows=33, columns=77)
    assert user.end() == 5
    name, size, *_ = user.shown.split(b"\r\n")
    assert name.startswith(b"/dev/")
    assert size == b"33 77"


def test_its_terminal_follows_ours(env: Dict[str, str]) -> None:
    script = 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done'
    user = UserTerminal(shell(script), env)
    place = user.until("ready")
    user.resize(30, 99)
    user.until("30 99", place)
    user.type("\x03")
    assert user.end() == 130


def test_it_is_read_and_ended_by_keys(env: Dict[str, str]) -> None:
    user = UserTerminal(shell("echo ready; cat"), env)
    user.until("ready\r\n")
    user.type("hello\n")
    user.until("hello\r\nhello")
    user.type("\x04")
    assert user.end() == 0
    assert user.shown == b"ready\r\nhello\r\nhello\r\n"


def test_an_interrupted_one_is_not_judged(env: Dict[str, str]) -> None:
    script = "trap 'echo; exit 1' INT; echo ready; while :; do sleep 0.05; done"
    user = UserTerminal(shell(script), env)
    user.until("ready")
    user.type("\x03")
    assert user.end() == 1
    assert b"envdoctor" not in user.shown


def test_modes_that_it_sets_are_of_its_own_terminal(env: Dict[str, str]) -> None:
    script = "import getpass; print(getpass.getpass() + '!')"
    user = UserTerminal([*RUN, sys.executable, "-c", script], env)
    before = user.modes()
    user.until("Password: ")
    user.type("secret\n")
    assert user.end() == 0
    assert user.shown == b"Password: \r\nsecret!\r\n"
    assert before  # see the next test for what is left behind


def test_the_terminal_is_as_it_was(env: Dict[str, str]) -> None:
    joined = " ".join([*RUN, "sh", "-c", "'stty -echo raw; exit 3'"])
    script = f"stty -g; {joined}; echo code $?; stty -g"
    user = UserTerminal(["sh", "-c", script], env)
    assert user.end() == 0
    before, *_, after = user.shown.decode().split()
    assert "code 3" in user.shown.decode()
    assert before == after


def test_it_stops_and_goes_on_in_a_shell(env: Dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import time\nprint('go', flush=True)\ntime.sleep(1)\nraise SystemExit('done')\n"
    )
    command = " ".join([*RUN, sys.executable, str(program)])
    user = UserTerminal(["bash", "--norc", "--noprofile", "-i"], env)
    user.until("$ ")
    user.type("stty -g\n")
    place = user.until("\n", user.until("stty -g"))
    end = user.until("\r\n", place)
    modes = user.shown[place:end].split()[-1].decode()
    for again in ("fg", "bg"):
        place = user.until("$ ", end)
        user.type(f'{command} sh -c \'echo g""o; sleep 1; echo do""ne; exit 3\'\n')
        place = user.until("go\r\n", place)
        user.type("\x1a")
        place = user.until("$ ", user.until("Stopped", place))
        user.type("stty -g\n")
        place = user.until("$ ", user.until(modes, place))
        user.type(f"{again}\n")
        end = place = user.until("done", place)
    user.type('wait %%; echo co""de $?\n')
    user.until("$ ", user.until("code 1", place))
    user.type("exit\n")
    user.end()


def test_keys_reach_it_once_it_is_in_the_foreground(env: Dict[str, str]) -> None:
    command = " ".join(RUN)
    user = UserTerminal(["bash", "--norc", "--noprofile", "-i"], env)
    user.until("$ ")
    user.type(f'{command} sh -c \'read x; echo re""ad $x; read x; echo re""ad $x\' &\n')
    place = user.until("$ ", user.until("[1]"))
    user.type("fg\n")
    place = user.until("\n", user.until("fg", place))
    user.type("one\n")
    place = user.until("read one", place)
    user.type("two\n")
    user.until("$ ", user.until("read two", place))
    user.type("exit\n")
    user.end()


def test_only_its_output_is_shown_in_a_terminal(env: Dict[str, str]) -> None:
    joined = " ".join([*RUN, "sh", "-c", "'cat; test -t 1 && stty size <&1; echo err >&2'"])
    user = UserTerminal(["sh", "-c", f"echo in | {joined}"], env, rows=20, columns=70)
    assert user.end() == 0
    assert user.shown == b"in\r\n20 70\r\nerr\r\n"


def test_keys_end_it_whose_input_is_none(env: Dict[str, str]) -> None:
    joined = " ".join([*RUN, "sh", "-c", "'echo ready; exec sleep 300'"])
    user = UserTerminal(["sh", "-c", f"{joined} </dev/null; echo code $?"], env)
    user.until("ready")
    user.type("\x03")
    user.end()
    assert b"envdoctor" not in user.shown


def test_its_errors_may_go_elsewhere(env: Dict[str, str], tmp_path: Path) -> None:
    joined = " ".join([*RUN, "sh", "-c", "'echo out; echo err >&2; test -t 2'"])
    user = UserTerminal(["sh", "-c", f"{joined} 2>{tmp_path}/err"], env)
    assert user.end() == 1
    assert user.shown == b"out\r\n"
    assert (tmp_path / "err").read_bytes().startswith(b"err\n")


def test_a_terminal_that_is_closed_hangs_it_up(env: Dict[str, str], tmp_path: Path) -> None:
    script = f"trap 'echo hup >{tmp_path}/told; exit' HUP; echo ready; while :; do sleep 0.05; done"
    user = UserTerminal(shell(script), env)
    user.until("ready")
    os.close(user.descriptor)
    os.waitpid(user.process, 0)
    deadline = time.monotonic() + 30
    while not (tmp_path / "told").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (tmp_path / "told").exists()


def test_a_terminal_that_is_closed_hangs_up_what_the_command_started(
    env: Dict[str, str], tmp_path: Path
) -> None:
    script = f"echo ready; sh -c 'echo $$ >{tmp_path}/child; exec sleep 300'; true"
    user = UserTerminal(shell(script), env)
    user.until("ready")
    child = tmp_path / "child"
    assert within(30, lambda: child.exists() and child.read_text().endswith("\n"))
    process = int(child.read_text())
    os.close(user.descriptor)
    os.waitpid(user.process, 0)
    assert within(30, lambda: not is_running(process))


def test_one_that_is_told_to_hang_up_keeps_its_terminal(env: Dict[str, str]) -> None:
    script = "trap 'echo told' HUP; echo ready; read x; echo got $x"
    user = UserTerminal(shell(script), env)
    place = user.until("ready")
    os.kill(user.process, signal.SIGHUP)
    user.type("a\n")
    user.until("told", place)
    user.end()


def test_in_the_background_lines_end_once(env: Dict[str, str]) -> None:
    command = " ".join(RUN)
    user = UserTerminal(["bash", "--norc", "--noprofile", "-i"], env)
    user.until("$ ")
    user.type(f'{command} sh -c \'echo o""ne; echo t""wo; sleep 1\' & wait\n')
    place = user.until("two\r", user.until("one\r\n"))
    user.until("$ ", place)
    user.type("exit\n")
    user.end()
    assert b"\r\r" not in user.shown


def test_the_answer_does_not_overwrite_the_log(env: Dict[str, str], tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    done = piped([*RUN[:-1], "--log", log, "-o", str(tmp_path / "." / "log"), "--", "true"], env)
    assert done.returncode == 2
    assert b"-o and --log name one file" in done.stderr
    assert not (tmp_path / "log").exists()


def is_running(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] != b"Z"


def within(seconds: float, answer: Callable[[], bool]) -> bool:
    """Whether something comes true in time."""
    deadline = time.monotonic() + seconds
    while not answer() and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer()
