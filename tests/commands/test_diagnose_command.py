"""`envdoctor diagnose`, and what `envdoctor run` says of a command that failed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

import jsonschema
import pytest
from user_terminal import UserTerminal

import envdoctor as package
import envdoctor.report

SCHEMAS = Path(envdoctor.report.__file__).resolve().parent / "schemas"
ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = [sys.executable, "-m", "envdoctor"]
PROOF = "ops/psamask.cu:5:10: fatal error: THC/THC.h: No such file or directory"
LOG = f"""\
Building wheels for collected packages: mmcv-full
  building 'mmcv._ext' extension
{PROOF}
    5 | #include <THC/THC.h>
compilation terminated.
ninja: build stopped: subcommand failed.
"""
HARMLESS = "Collecting six\nSuccessfully installed six-1.16.0\n"
BUG = """\
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    1 / 0
ZeroDivisionError: division by zero
"""


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "build.log"
    path.write_text(LOG)
    return str(path)


@pytest.fixture
def env(tmp_path: Path) -> Dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "TERM": "xterm",
        "PYTHONPATH": str(ROOT),
        "ENVDOCTOR_LANG": "en",
    }


def typed(
    arguments: List[str], env: Dict[str, str], **more: Any
) -> subprocess.CompletedProcess[bytes]:
    more.setdefault("stdin", subprocess.DEVNULL)
    if "input" in more:
        del more["stdin"]
    return subprocess.run(
        [*COMMAND, *arguments], env=env, capture_output=True, timeout=60, check=False, **more
    )


# --- diagnose ----------------------------------------------------------------------------------


def test_the_root_cause_is_told_first(envdoctor: Callable[..., Any], log: str) -> None:
    ended = envdoctor("diagnose", log)
    assert (ended.code, ended.err) == (1, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("Root cause  ED501 thc-headers-removed")
    assert f"  > 3  {PROOF}" in lines
    assert "    4      5 | #include <THC/THC.h>" in lines


@pytest.mark.parametrize("text", [HARMLESS, BUG, "", "\0\xff\n" * 100])
def test_where_nothing_of_the_environment_is_seen_it_says_so(
    text: str, envdoctor: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "log"
    path.write_bytes(text.encode("latin-1"))
    ended = envdoctor("diagnose", str(path))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("No cause in the environment is seen.\n")


@pytest.mark.parametrize("arguments", [["diagnose"], ["diagnose", "-"]])
def test_it_reads_standard_input(arguments: List[str], env: Dict[str, str]) -> None:
    done = typed(arguments, env, input=LOG.encode())
    assert (done.returncode, done.stderr) == (1, b"")
    assert PROOF.encode() in done.stdout


def test_a_terminal_is_no_log(env: Dict[str, str]) -> None:
    user = UserTerminal([*COMMAND, "diagnose"], env)
    assert user.end() == 2
    assert b"name a log, or pipe one" in user.shown


def test_several_logs_are_judged_together(
    envdoctor: Callable[..., Any], log: str, tmp_path: Path
) -> None:
    other = tmp_path / "node1.log"
    other.write_text(HARMLESS)
    ended = envdoctor("diagnose", str(other), log, log, "--format", "json")
    data = json.loads(ended.out)
    assert [one["name"] for one in data["logs"]] == [str(other), log]
    assert data["causes"][0]["evidence"][0]["log"] == log
    assert data["causes"][0]["evidence"][0]["before"] == [
        "Building wheels for collected packages: mmcv-full",
        "  building 'mmcv._ext' extension",
    ]
    assert f"{log}:3" in envdoctor("diagnose", str(other), log).out


@pytest.mark.parametrize(
    "more", [[], ["--lang", "zh"], ["--all", "-v"], ["--gpu", "h100"], ["--facts", "SNAPSHOT"]]
)
def test_programs_are_told_by_a_schema(
    more: List[str], envdoctor: Callable[..., Any], log: str, snapshot: str
) -> None:
    more = [snapshot if word == "SNAPSHOT" else word for word in more]
    ended = envdoctor("diagnose", log, "--format", "json", *more)
    data = json.loads(ended.out)
    shipped = json.loads((SCHEMAS / "diagnose.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)
    assert (ended.code, data["command"]) == (1, "diagnose")
    assert data["causes"][0]["id"] == "thc-headers-removed"
    assert data["language"] == ("zh" if "zh" in more else "en")


def test_what_ways_out_are_for_is_told(
    envdoctor: Callable[..., Any], log: str, snapshot: str
) -> None:
    def told(*more: str) -> str:
        return " ".join(envdoctor("diagnose", log, *more).out.split())

    assert "Ways out are for" not in told()
    assert told("--facts", snapshot).endswith(f"Ways out are for {snapshot}.")
    assert told("--gpu", "h100").endswith("Ways out are for gpu=h100.")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["/gone.log"], 3, "envdoctor: /gone.log: cannot be read: no such file or directory\n"),
        (["/"], 3, "envdoctor: / is a folder\n  Name the files of it that are logs.\n"),
        (["/gone", "--here", "--facts", "f"], 2, "--here and --facts exclude each other"),
        (["a", "--assume", "gpu=nonsense"], 3, "envdoctor: a: cannot be read"),
        (["-", "--facts", "-"], 2, "the log and --facts cannot both be standard input"),
        ([str(n) for n in range(65)], 2, "64 logs are as many as are read together"),
    ],
)
def test_what_cannot_be_read_is_told(
    arguments: List[str], code: int, said: str, envdoctor: Callable[..., Any]
) -> None:
    ended = envdoctor("diagnose", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err


def test_a_wrong_assumption_is_wrong_usage(envdoctor: Callable[..., Any], log: str) -> None:
    assert envdoctor("diagnose", log, "--gpu", "nonsense").code == 2


def test_an_answer_goes_to_a_file(envdoctor: Callable[..., Any], log: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    ended = envdoctor("diagnose", log, "--format", "json", "-o", str(path))
    assert (ended.code, ended.out) == (1, "")
    assert json.loads(path.read_text())["causes"]


def test_an_answer_does_not_overwrite_its_log(
    envdoctor: Callable[..., Any], log: str, tmp_path: Path
) -> None:
    before = Path(log).read_bytes()
    (tmp_path / "link").symlink_to(log)
    for name in (log, str(tmp_path / "link")):
        done = envdoctor("diagnose", log, "-o", name)
        assert done.code == 2
        assert "-o names the log itself" in done.err
    assert Path(log).read_bytes() == before


def test_closed_standard_input_is_told(env: Dict[str, str]) -> None:
    command = f"{sys.executable} -m envdoctor diagnose - <&-"
    done = subprocess.run(
        ["sh", "-c", command], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "standard input is closed" in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_can_be_recognized_is_listed(envdoctor: Callable[..., Any]) -> None:
    from envdoctor.knowledge.failures import failures

    data = json.loads(envdoctor("diagnose", "--list-causes", "--format", "json").out)
    shipped = json.loads((SCHEMAS / "list-causes.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)
    assert {one["cause"] for one in data["causes"]} == set(failures())
    assert all(one["title"] for one in data["causes"])
    text = envdoctor("diagnose", "--list-causes").out
    assert "ED501 thc-headers-removed (build)\n" in text


def test_quiet_is_one_line(envdoctor: Callable[..., Any], log: str) -> None:
    (line,) = envdoctor("diagnose", log, "-q").out.splitlines()
    assert line.startswith("ED501 thc-headers-removed  0.9")


def test_a_packed_log_is_read(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "build.log.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    ended = envdoctor("diagnose", str(path))
    assert ended.code == 1
    assert PROOF in ended.out


def test_nothing_of_a_log_is_obeyed_by_a_terminal(
    envdoctor: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "log"
    path.write_text("\x1b]0;x\x07\x1b[31m" + LOG.replace("5 |", "\x1b[2J\x9b5 |") + "\x1b[?1049h")
    told = envdoctor("diagnose", str(path), "-v").out
    assert [c for c in told if not (c.isprintable() or c == "\n")] == []
    assert PROOF in told


def test_it_can_be_called_from_python(log: str) -> None:
    found = package.diagnose(log)
    assert found.causes[0].id == "thc-headers-removed"
    assert package.diagnose([log, io.BytesIO(HARMLESS.encode())]).logs[1].name == "#2"
    assert package.diagnose(io.BytesIO(BUG.encode()), language="zh").causes == ()
    with pytest.raises(ValueError, match="language is one of"):
        package.diagnose(log, language="fr")
    with pytest.raises(FileNotFoundError):
        package.diagnose("/gone.log")


def test_a_cause_without_a_page_is_explained(envdoctor: Callable[..., Any]) -> None:
    from envdoctor.knowledge.failures import failures
    from envdoctor.rules.page import pages

    named = {page.name for page in pages().values()}
    shipped = json.loads((SCHEMAS / "explain-cause.json").read_text(encoding="utf-8"))
    for cause, failure in failures().items():
        ended = envdoctor("explain", cause)
        assert (ended.code, ended.err) == (0, "")
        if cause in named:
            continue
        assert ended.out.startswith(f"{cause}  ({failure.family})\n")
        data = json.loads(envdoctor("explain", cause, "--format", "json").out)
        jsonschema.Draft202012Validator(shipped).validate(data)
        assert envdoctor("explain", cause, "--lang", "zh").out != ended.out


# --- run ---------------------------------------------------------------------------------------


def script(tmp_path: Path, text: str, code: int = 1) -> List[str]:
    (tmp_path / "said").write_text(text)
    return ["sh", "-c", f"cat {tmp_path}/said; exit {code}"]


def test_why_a_command_failed_is_told_on_stderr(env: Dict[str, str], tmp_path: Path) -> None:
    done = typed(["run", "--no-facts", "--", *script(tmp_path, LOG, 7)], env)
    assert (done.returncode, done.stdout.decode()) == (7, LOG)
    lines = done.stderr.decode().splitlines()
    assert lines[0] == "envdoctor: the command failed with 7"
    assert lines[1].startswith("Root cause  ED501 thc-headers-removed")
    assert f"  > 3  {PROOF}" in lines


def test_where_nothing_is_seen_the_way_on_is_told(env: Dict[str, str], tmp_path: Path) -> None:
    done = typed(["run", "--no-facts", "--", *script(tmp_path, BUG)], env)
    assert done.returncode == 1
    assert done.stderr.startswith(
        b"envdoctor: the command failed with 1; no cause in the environment is seen\n"
    )
    done = typed(["run", "--no-facts", "--", "sh", "-c", "kill -9 $$"], env)
    assert done.returncode == 137
    assert b"envdoctor: SIGKILL ended the command (137)" in done.stderr
    assert b"dmesg | tail" in done.stderr


def test_this_environment_is_looked_at(env: Dict[str, str], tmp_path: Path) -> None:
    done = typed(["run", "--", *script(tmp_path, LOG)], env)
    assert done.returncode == 1
    assert b"Ways out are for this machine." in done.stderr
    # also where there is none
    shell = f"/bin/cat {tmp_path}/said; exit 1"
    done = typed(["run", "--", "/bin/sh", "-c", shell], {**env, "PATH": ""})
    assert done.returncode == 1
    assert b"thc-headers-removed" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_diagnosis_for_programs_goes_to_a_file(env: Dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "diagnosis.json"
    options = ["--no-facts", "--format", "json", "-o", str(path)]
    done = typed(["run", *options, "--", *script(tmp_path, LOG, 3)], env)
    assert (done.returncode, done.stderr) == (3, b"")
    data = json.loads(path.read_text())
    shipped = json.loads((SCHEMAS / "diagnose.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)
    assert (data["command"], data["exit_code"]) == ("run", 3)
    done = typed(["run", "--no-facts", "-o", "/gone/x", "--", *script(tmp_path, LOG, 3)], env)
    assert done.returncode == 3
    assert done.stderr == b"envdoctor: cannot write /gone/x: No such file or directory\n"


def test_a_diagnosis_begins_a_line(env: Dict[str, str], tmp_path: Path) -> None:
    command = ["run", "--no-facts", "--", "sh", "-c", f"printf '{PROOF}' >&2; exit 1"]
    done = typed(command, env)
    assert done.stderr.decode().startswith(f"{PROOF}\nenvdoctor: the command failed with 1\n")
    user = UserTerminal([*COMMAND, *command], env)
    assert user.end() == 1
    assert user.shown.decode().startswith(f"{PROOF}\r\n\x1b[2menvdoctor: the command failed with 1")


def test_two_streams_are_read_line_by_line(env: Dict[str, str]) -> None:
    """Halves of lines of one stream are not mixed with those of the other."""
    shell = f"printf 'progress 1 '; printf '{PROOF}\\n' >&2; echo progress 2; exit 1"
    done = typed(["run", "--no-facts", "--format", "json", "--", "sh", "-c", shell], env)
    data = json.loads(done.stderr.partition(b"directory\n")[2])
    assert data["causes"][0]["evidence"][0]["text"] == PROOF


def test_of_much_output_the_beginning_and_the_end_are_read(
    env: Dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "said").write_text(LOG)
    shell = f"head -c 150000000 /dev/zero | tr '\\0' '\\n'; cat {tmp_path}/said; exit 1"
    with (tmp_path / "out").open("wb") as out:
        done = subprocess.run(
            [*COMMAND, "run", "--no-facts", "--", "sh", "-c", shell],
            env=env,
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=100,
            check=False,
        )
    assert done.returncode == 1
    assert b"fatal error: THC/THC.h: No such file" in done.stderr
    assert os.path.getsize(tmp_path / "out") == 150_000_000 + len(LOG)  # noqa: PTH202


def test_a_fault_of_ours_is_none_of_the_command(
    env: Dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        "import envdoctor.diagnosis as d, sys\n"
        "def fails(*_): raise RuntimeError('oh')\n"
        "d.diagnose = fails\n"
        "from envdoctor.commands.cli import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    argv = [sys.executable, str(broken), "run", "--no-facts", "--", "sh", "-c", "echo a; exit 9"]
    done = subprocess.run(argv, env=env, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (9, b"a\n")
    assert done.stderr.startswith(b"envdoctor: internal error: RuntimeError: oh")


def test_half_of_a_secret_is_not_told(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    secret = "S3cr3t" * 20
    for before in (360, 385, 6100, 6130):
        path.write_text(f"{'x' * before} https://ann:{secret}@h/ {'y ' * 3000}\n{PROOF}\n")
        ended = envdoctor("diagnose", str(path), "--format", "json")
        assert ended.code == 1
        assert "S3cr" not in ended.out
