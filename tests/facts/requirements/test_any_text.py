"""Whatever a file holds: facts, or one line that names the file; never a crash, never a hang."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, List

import pytest
from endless import must_end
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from envdoctor.facts.requirements import RequirementsError, read
from envdoctor.facts.snapshot import dump
from envdoctor.model.facts import Facts, seen

NAMES = ["r.txt", "environment.yml", "pyproject.toml", "uv.lock", "poetry.lock", "Pipfile.lock"]
# Pieces of real files: what they make together gets past the parsers' front doors.
PIECES = st.sampled_from(
    [
        "numpy",
        "torch",
        "mmcv_full",
        "==",
        ">=",
        "<=",
        "~=",
        "===",
        "!=",
        ",",
        "<",
        ">",
        "1.2.3",
        "1.9.1+cu111",
        "2.*",
        "*",
        "[extra]",
        ";",
        "#",
        "\\",
        "@",
        "::",
        "-r\n",
        "",
        "",
        "",
        "-c",
        "-e",
        "-f",
        "-i",
        "--hash=sha256:0",
        "--extra-index-url",
        "--find-links",
        "--pre",
        "--unknown",
        "${X}",
        "$(",
        "git+https://h/r\n",
        "",
        "",
        "",
        "https://h/x-1-py3-none-any.whl",
        "file:///etc/passwd",
        "x.whl",
        "./x",
        "..",
        "/",
        "~",
        "#egg=a",
        "@v1.2.3",
        "r.txt",
        "b.txt\n",
        "",
        "",
        "",
        "python_version",
        "<",
        '"3.8"',
        "and",
        "or",
        "not",
        "in",
        "extra",
        "==",
        "'x'",
        "platform_machine",
        "dependencies:",
        "-",
        "pip:",
        "python=3.8\n",
        "",
        "",
        "",
        "pytorch=2.0.1=py3.8_cuda11.8",
        "channels:",
        "&",
        "*a",
        "!!python/object",
        "{}",
        "[]",
        "[project]",
        "[tool.poetry]\n",
        "",
        "",
        "",
        "[[package]]",
        "[tool.poetry.dependencies]",
        "[project.optional-dependencies]",
        "name",
        "version",
        "=",
        '"numpy"',
        '"1.2"\n',
        "",
        "",
        "",
        "requires-python",
        "dependencies",
        "=",
        "source",
        "=",
        "{",
        "git",
        "=",
        "}",
        "markers",
        "default",
        "_meta",
        "{",
        "}",
        ":",
        '"default"',
        "null",
        "true\n",
        "",
        "",
        "",
        "0x1",
        "1e999",
        "99999999999999999999",
        "^1",
        "~2",
        "||",
        "∀",
        "\ufeff",
        "\u202e",
        "\x1b[31m",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(PIECES, st.just("\n"), st.just(" "), st.text(max_size=3)), max_size=60).map(
        "".join
    ),
    st.lists(st.one_of(PIECES, st.just("\n")), max_size=60).map(" ".join),
)


def check(name: str, data: bytes, python: Any = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            Path(name).write_bytes(data)
            try:
                with must_end():
                    target = read([name], python, "x86_64")
            except RequirementsError as error:
                said = str(error)
                assert "\n" not in said
                assert "\x1b" not in said
                assert said.startswith((f"{name}:", "b.txt:"))
                assert len(said) < 1000
            else:
                assert target.asked is not None
                dump(Facts(target=seen(target, "files")))
        finally:
            os.chdir(before)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(NAMES), TEXTS, st.sampled_from([None, "3.8", "3.12.1"]))
@example("r.txt", "x==" + "9" * 5000, None)
@example("r.txt", "x; " + "(" * 3000 + "python_version<'3'" + ")" * 3000, None)
@example("pyproject.toml", '[tool.poetry.dependencies]\nx = "^' + "9" * 5000 + '"', None)
@example("environment.yml", "a: &a [x]\ndependencies: *a", None)
def test_text(name: str, text: str, python: Any) -> None:
    check(name, text.encode("utf-8", "replace"), python)


@settings(max_examples=100)
@given(st.sampled_from(NAMES), st.binary(max_size=300))
def test_bytes(name: str, data: bytes) -> None:
    check(name, data)


BOMB = ["a: &a0 [x, x]"] + [f"b{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
LONG: List[Any] = [
    ("r.txt", "x" * 900_000),
    ("r.txt", " " * 900_000 + "#"),
    ("r.txt", "x " * 400_000),
    ("r.txt", "\\\n" * 400_000),
    ("r.txt", "".join(f"x{n}\n" for n in range(19_000))),
    ("r.txt", "".join(f"x{n}\n" for n in range(21_000))),
    ("r.txt", "".join(f"x=={n}\n" for n in range(19_000))),
    ("r.txt", "-" * 900_000),
    ("r.txt", "--a" * 300_000),
    ("r.txt", "x @ " + "a/" * 400_000),
    ("r.txt", "git+https://" + "@" * 900_000),
    ("r.txt", "x==1" + ",>1" * 3_000),
    ("r.txt", "x; " + "os_name=='a' or " * 600 + "os_name=='b'"),
    ("r.txt", "#egg=" * 100_000),
    ("environment.yml", "\n".join([*BOMB, "dependencies: *a59"])),
    ("environment.yml", "dependencies:\n" + "".join(f"- x{n}\n" for n in range(20_000))),
    ("environment.yml", "dependencies:\n- " + "=" * 190_000),
    ("environment.yml", "dependencies:\n- " + "a " * 90_000),
    (
        "pyproject.toml",
        "[project]\ndependencies = [" + "".join(f'"x{n}",' for n in range(19_000)) + "]",
    ),
    (
        "pyproject.toml",
        "[project]\ndependencies = [" + "".join(f'"\\u0078{n}",\n' for n in range(19_000)) + "]",
    ),
    ("pyproject.toml", "[project]\n" + "a.b" * 1000 + "=1"),
    ("pyproject.toml", '[project]\nrequires-python = "' + ">=3," * 200_000 + '"'),
    ("uv.lock", '[[package]]\nname = "x"\nversion = "1"\n' * 15_000),
    ("Pipfile.lock", '{"default": {' + '"a": {}, ' * 15_000 + '"b": {}}}'),
]


@pytest.mark.parametrize(("name", "text"), LONG, ids=[f"{n}-{t[:12]!r}" for n, t in LONG])
def test_length_costs_no_more_than_its_reading(name: str, text: str) -> None:
    check(name, text.encode())


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.txt")
    with pytest.raises(RequirementsError, match="not a regular file"):
        read([str(tmp_path / "r.txt")])
