"""What a user reads when something is wrong: one form, the right exit code, no traceback."""

from __future__ import annotations

import re
import signal
import sys
import time
from pathlib import Path
from typing import Any, Callable, List

import pytest

from envdoctor import __version__ as envdoctor_version
from envdoctor.__main__ import main
from envdoctor.knowledge.document import DocumentError


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "--fail-on", "fatal"], "fatal"),
        (["check", "--gpus", "a100"], "--gpu"),
        (["chekc"], "chekc"),
        (["check", "maptr"], "maptr"),
        *(
            (["check", "--timeout", seconds], "'--timeout'")
            for seconds in ("0", "-1", "1e-9", "nan", "inf", "-inf", "1e300", "86401", "x", "")
        ),
        (["check", "--driver", "12.4"], "the CUDA version that it serves"),
        (["check", "--python", "a", "--env", "b"], "--python and --env exclude each other"),
        (["check", "--env", "a", "--facts", "b"], "--env and --facts exclude each other"),
        (
            ["check", "--path", "a", "--requirements", "b"],
            "--path and --requirements exclude each other",
        ),
        (["check", "--facts", "a", "--facts", "b"], "--facts is given twice"),
        (["--python", "a", "--python", "a"], "--python is given twice"),
        (["check", "--gpu", "a100", "--gpu", "h100"], "--gpu is given twice"),
        (["check", "--write-baseline", "-"], "would both go to stdout"),
        (["--gpu", "a100", "check"], "--gpu belongs after the command: envdoctor check --gpu ..."),
        (["--verbose", "check"], "--verbose belongs after the command"),
        (["explain"], "WHAT..."),
        (["explain", "ED000"], "no finding and no package is called 'ED000'"),
    ],
)
def test_wrong_usage(envdoctor: Callable[..., Any], arguments: List[str], says: str) -> None:
    ended = envdoctor(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: envdoctor")
    assert says in ended.err


def test_another_program_is_told_as_no_python(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("check", "--python", "/bin/ls")
    assert ended.code == 3
    assert "/bin/ls (--python): is no Python\n" in ended.err
    assert "--paths" not in ended.out + ended.err


@pytest.mark.parametrize("seconds", ["86400", "3e2", "60"])
def test_a_time_that_suffices(envdoctor: Callable[..., Any], snapshot: str, seconds: str) -> None:
    ended = envdoctor("check", "--facts", snapshot, "--timeout", seconds)
    assert (ended.code, ended.err) == (0, "")
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


@pytest.mark.parametrize("setting", ["gpu", "gpu=", "gpus=a100", "gpu=rtx9999", "driver=new"])
def test_wrong_assumption(envdoctor: Callable[..., Any], snapshot: str, setting: str) -> None:
    ended = envdoctor("check", "--facts", snapshot, "--assume", setting)
    assert (ended.code, ended.out) == (2, "")
    assert setting in ended.err


def test_a_time_that_ends_in_a_finalizer(
    envdoctor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, snapshot: str
) -> None:
    class Slow:
        def __del__(self) -> None:
            while not rung:  # and then the exception is lost here
                time.sleep(0.01)

    rung: List[int] = []
    real = signal.signal

    def listen(number: int, handler: Any) -> Any:
        def heard(*arguments: Any) -> None:
            rung.append(number)
            handler(*arguments)

        return real(number, heard if callable(handler) else handler)

    def check(*_: Any) -> None:
        Slow()
        time.sleep(60)

    monkeypatch.setattr(signal, "signal", listen)
    monkeypatch.setattr("envdoctor.rules.check.check", check)
    begun = time.monotonic()
    ended = envdoctor("check", "--facts", snapshot, "--timeout", "2")
    assert time.monotonic() - begun < 30
    assert (ended.code, ended.out, len(rung)) == (3, "", 2)
    assert ended.err.startswith("envdoctor: gave up after 2 s (--timeout)\n")
    assert ended.err.count("\n") == 2


@pytest.mark.parametrize(
    ("name", "near"),
    [("rtx4900", "rtx-4090"), ("H10O", "h100"), ("a1001", "a100"), ("jetson", "jetson-nano")],
)
def test_an_unknown_gpu_has_near_ones(
    envdoctor: Callable[..., Any], snapshot: str, name: str, near: str
) -> None:
    ended = envdoctor("check", "--facts", snapshot, "--gpu", name)
    said = ended.err.splitlines()[-1]
    assert (ended.code, ended.out) == (2, "")
    assert f"gpu={name}: neither a known GPU" in said
    nearest, _, rest = said.partition("nearest: ")[2].partition(" (")
    assert near in nearest.split(", ")
    assert len(nearest.split(", ")) <= 5
    assert rest == "all: --gpu help)"


def test_all_gpus_can_be_listed(envdoctor: Callable[..., Any], snapshot: str) -> None:
    ended = envdoctor("check", "--facts", snapshot, "--gpu", "help")
    assert (ended.code, ended.err) == (0, "")
    head, _, rows = ended.out.partition("\n\n")
    assert "--gpu sm_90" in head
    known = re.findall(r"(\S+) \((\d+\.\d)\)", rows)
    assert len(known) > 100
    assert {("k80", "3.7"), ("a100", "8.0"), ("rtx-4090", "8.9"), ("thor", "11.0")} <= set(known)
    assert max(map(len, ended.out.splitlines())) <= 80
    assert len(rows.splitlines()) < len(known) / 2
    for again in (["--gpu", "help"], ["facts", "--assume", "gpu=help"]):
        assert envdoctor(*again) == ended
    assert "nearest" not in envdoctor("check", "--facts", snapshot, "--gpu", "#").err


@pytest.mark.parametrize("command", [[], ["check"], ["facts"]])
def test_unreadable_snapshots(
    envdoctor: Callable[..., Any], tmp_path: Path, command: List[str]
) -> None:
    path = tmp_path / "facts.json"
    for content in (None, b"", b"{", b'{"schema_version": 1, "machine": 7}', b"\xff\x00"):
        if content is not None:
            path.write_bytes(content)
        ended = envdoctor(*command, "--facts", str(path))
        assert (ended.code, ended.out) == (3, "")
        assert ended.err.startswith(f"envdoctor: {path}: ")
        assert ended.err.count("\n") == 1


def test_an_interpreter_that_is_not_there(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    ended = envdoctor("check", "--python", str(tmp_path / "python"))
    assert (ended.code, ended.out) == (3, "")
    assert "does not exist" in ended.err


def test_matrices_that_cannot_be_read(
    envdoctor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, snapshot: str
) -> None:
    def load() -> None:
        raise DocumentError("packages/torch.yaml:12: releases: Expected `array`")

    monkeypatch.setattr("envdoctor.knowledge.load.load", load)
    for arguments in (["check", "--facts", snapshot], ["--version"]):
        ended = envdoctor(*arguments)
        assert (ended.code, ended.out) == (3, "")
        assert ended.err == (
            "envdoctor: the matrices cannot be read: "
            "packages/torch.yaml:12: releases: Expected `array`\n"
        )


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_another_operating_system(
    envdoctor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    for command in ([], ["check"], ["facts"], ["run", "true"]):
        ended = envdoctor(*command)
        assert (ended.code, ended.out) == (3, "")
        assert system in ended.err
        assert ended.err.count("\n") == 1


def broken(*_: Any) -> None:
    raise KeyError("a\x1b[31mb")


def test_an_internal_error_is_a_sentence(
    envdoctor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, snapshot: str
) -> None:
    monkeypatch.setattr("envdoctor.rules.check.check", broken)
    ended = envdoctor("check", "--facts", snapshot)
    assert (ended.code, ended.out) == (3, "")
    first, second, *report = ended.err.splitlines()
    assert first.startswith("envdoctor: internal error: KeyError: ")
    assert "(envdoctor/rules/concluded.py:" in first
    assert "\x1b" not in ended.err
    assert "envdoctor facts -o facts.json" in second
    assert (report[0], report[-1]) == ("--- envdoctor report ---", "--- end ---")
    for command in ([], ["facts", "--gpu", "a100"]):
        monkeypatch.setattr("envdoctor.relations.assume.assume", broken)
        again = envdoctor(*command, "--facts", snapshot)
        assert again.code == 3
        assert "Traceback" in again.err
    chinese = envdoctor("check", "--facts", snapshot, "--lang", "zh").err.splitlines()
    assert "内部错误" in chinese[0]
    assert chinese[1].startswith("  请附上下面这几行")


def test_the_report_of_an_internal_error_can_be_pasted(
    envdoctor: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    snapshot: str,
    tmp_path: Path,
) -> None:
    home = tmp_path / "ann.smith"
    module = home / "site-packages" / "faulty.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "def check(*_):\n"
        "    secret = 'a local value'\n"
        "    raise OSError('https://ann:secret@host/simple?token=1 of /home/ann.smith/x')\n"
    )
    monkeypatch.syspath_prepend(str(module.parent))
    import faulty  # type: ignore[import-not-found]

    monkeypatch.setattr("envdoctor.rules.check.check", faulty.check)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USER", "ann.smith")
    monkeypatch.setenv("A_TOKEN", "of-a-variable")
    copied = home / "facts.json"
    copied.write_bytes(Path(snapshot).read_bytes())
    told = envdoctor("check", "--facts", str(copied), "--assume", "glibc=2.17").err
    report = told.partition("--- envdoctor report ---")[2]
    assert f"envdoctor {envdoctor_version}\n" in report
    assert f"Python {sys.version.split()[0]}" in report
    assert "click " in report
    assert "command: envdoctor check --facts ~/facts.json --assume glibc=2.17\n" in report
    assert re.search(r"^facts: [0-9a-f]{64}$", report, re.MULTILINE)
    assert 'File "~/site-packages/faulty.py", line 3, in check' in report
    assert "OSError: https://host/simple of ~/x" in report
    for personal in ("ann", "secret@", "token", "of-a-variable"):
        assert personal not in report
    as_it_is = envdoctor("check", "--facts", str(copied), "--verbose").err
    assert f'File "{module}", line 3' in as_it_is


def test_a_report_of_an_endless_recursion_is_short(
    envdoctor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, snapshot: str
) -> None:
    def check(*_: Any) -> None:
        try:
            other()
        except RecursionError as error:
            raise ValueError("x" * 100_000) from error

    def other() -> None:
        more()

    def more() -> None:
        other()

    monkeypatch.setattr("envdoctor.rules.check.check", check)
    ended = envdoctor("check", "--facts", snapshot)
    assert ended.code == 3
    assert len(ended.err.splitlines()) < 200
    assert max(map(len, ended.err.splitlines())) < 1000
    assert "RecursionError" in ended.err


def test_a_report_is_written_though_more_is_broken(
    envdoctor: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, snapshot: str
) -> None:
    monkeypatch.setattr("envdoctor.knowledge.load.load", broken)
    monkeypatch.setattr("envdoctor.facts.redact.redact_text", broken)
    ended = envdoctor("check", "--facts", snapshot)
    assert ended.code == 3
    assert ended.err.endswith("envdoctor 0.1.0\nKeyError\n--- end ---\n")


def test_an_interrupt_ends_with_its_code(
    monkeypatch: pytest.MonkeyPatch, snapshot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("envdoctor.rules.check.check", interrupted)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["envdoctor", "check", "--facts", snapshot])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().out == ""
