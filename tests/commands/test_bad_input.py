"""The real command on what is broken, hostile or not there: one clear line, the right exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import pytest

from envdoctor.model.text import without_secrets

COMMAND = [sys.executable, "-m", "envdoctor"]
Done = Tuple[int, str, str]


def call(arguments: List[str], home: Path, **more: Any) -> Done:
    """The exit code, stdout and stderr of a command line, none of which holds a traceback."""
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(home), **more.pop("environ", {})}
    done = subprocess.run(
        [*more.pop("before", ()), *COMMAND, *arguments],
        env={key: value for key, value in environ.items() if value is not None},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        **more,
    )
    told = (done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
    assert "Traceback" not in "".join(told)
    return (done.returncode, *told)


# --- interpreters ----------------------------------------------------------------------------

TOKEN = "ghp_" + "a1B2" * 9
PYTHONS: Dict[str, Tuple[Optional[str], str]] = {
    "missing": (None, "does not exist"),
    "a text": ("just a text\n", "exec format error"),
    "of no interpreter": ("#!/nowhere/python3\n", "does not exist"),
    "silent": ("#!/bin/sh\n", "is no Python, or none that can be started"),
    "that fails": ("#!/bin/sh\nexit 7\n", "exit status 7"),
    "that crashes": ("#!/bin/sh\nkill -9 $$\n", "crashed with signal 9"),
    "that prints rubbish": ("#!/bin/sh\necho '{]'\n", "it gave no readable answer"),
    "that prints JSON of its own": ("#!/bin/sh\necho '{\"a\": 1}'\n", "no readable answer"),
    "that prints without end": ("#!/bin/sh\nexec cat /dev/zero\n", "printed more than"),
}


@pytest.mark.parametrize("kind", PYTHONS)
def test_what_is_no_interpreter(kind: str, tmp_path: Path) -> None:
    content, says = PYTHONS[kind]
    path = tmp_path / "python"
    if content is not None:
        path.write_text(content)
        path.chmod(0o755)
    code, out, err = call(["check", "--python", str(path)], tmp_path)
    assert code == 3
    first, *more = err.splitlines()
    assert first.startswith("envdoctor: ")
    assert str(path) in first
    assert says in first
    assert more in ([], ["  Name one: envdoctor check --python PATH"])
    assert "\x00" not in out + err


def test_what_is_not_executable(tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\n")
    for named, says in ((path, "is not executable"), (tmp_path, "is a folder; try --env")):
        code, out, err = call(["check", "--python", str(named)], tmp_path)
        assert (code, out, err.count("\n")) == (3, "", 1)
        assert says in err


def test_secrets_that_an_interpreter_prints_are_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "python"
    said = f"Error: {TOKEN} https://ann:secret@host/x API_TOKEN=hidden password: hidden"
    path.write_text(f"#!/bin/sh\necho '{said}'\necho '{said}' >&2\nexit 3\n")
    path.chmod(0o755)
    for form in ("text", "json"):
        code, out, err = call(["check", "--python", str(path), "--format", form], tmp_path)
        assert code == 3
        assert "exit status 3: Error: ghp_... https://host/x" in " ".join((out + err).split())
        for secret in (TOKEN, "ann:", "secret@", "hidden"):
            assert secret not in out + err


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("https://ann:pw@host/simple", "https://host/simple"),
        (f"x {TOKEN}", "x ghp_..."),
        ("HF_TOKEN='abc' and more", "HF_TOKEN='...' and more"),
        ("Authorization: Bearer abc.def", "Authorization: ..."),
        ("tokenizers: 0.19.1, secretstorage 3.3", "tokenizers: 0.19.1, secretstorage 3.3"),
        ("ModuleNotFoundError: No module named 'token'", None),
        ("KeyError: 'password'", None),
        ("https://github.com/a/b@v1", None),
    ],
)
def test_what_looks_like_a_secret(text: str, left: Optional[str]) -> None:
    assert without_secrets(text) == (text if left is None else left)


# --- environments ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    venv.create(str(folder), symlinks=True, with_pip=False)
    return folder


def site(environment: Path) -> Path:
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def distribution(folder: Path, name: str, version: str, *requires: str) -> Path:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {one}" for one in requires]
    (info / "METADATA").write_text("\n".join([*lines, "", ""]))
    (info / "RECORD").write_text(f"{name}/__init__.py,,\n{info.name}/METADATA,,\n")
    (folder / name).mkdir()
    (folder / name / "__init__.py").touch()
    return info


def damage(info: Path, kind: str) -> None:
    """Breaks what the name says."""
    file, _, how = kind.partition(" ")
    path = info / file
    if path.exists():
        path.unlink()
    if how == "noise":
        path.write_bytes(bytes(range(256)) * 200)
    elif how == "folder":
        path.mkdir()
    elif how == "pipe":
        os.mkfifo(str(path))
    elif how == "loop":
        path.symlink_to(path)
    elif how == "huge":
        with path.open("wb") as stream:
            stream.truncate(1 << 30)
    elif how == "empty":
        path.touch()


DAMAGES = [
    f"{file} {how}"
    for file in ("METADATA", "RECORD", "direct_url.json", "WHEEL", "INSTALLER", "top_level.txt")
    for how in ("noise", "folder", "pipe", "loop", "huge", "empty", "gone")
]


def test_what_is_broken_in_an_environment_costs_nothing_else(
    environment: Path, tmp_path: Path
) -> None:
    """Every file of metadata in every state, beside a healthy one that lacks what it needs."""
    folder = site(environment)
    for number, kind in enumerate(DAMAGES):
        damage(distribution(folder, f"broken{number}", "1.0"), kind)
    distribution(folder, "healthy", "1.0", "not-there>=2")
    loop = folder / "loop"
    loop.mkdir()
    (loop / "again").symlink_to(loop)
    (folder / "circle.pth").symlink_to("circle.pth")
    for name in (b"caf\xe9.py", b"caf\xe9.pth", b"\xff\xfe-1.0.dist-info"):
        path = folder / os.fsdecode(name)
        if path.suffix == ".dist-info":
            path.mkdir()
        else:
            path.write_bytes(b"# \xff\n")
    python = str(environment / "bin" / "python")
    code, out, err = call(["check", "--python", python, "--format", "json"], tmp_path)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert "healthy" in [
        f["component"].split()[0] for f in told["findings"] if f["code"] == "ED203"
    ]
    assert [one for one in told["skipped"] if one["failed"]] == []
    code, out, err = call(["check", "--python", python], tmp_path)
    assert (code, err) == (0, "")
    code, out, err = call(["facts", "--python", python], tmp_path)
    assert (code, err) == (0, "")
    facts = json.loads(out)["target"]["value"]
    names = {one["name"] for one in facts["distributions"]}
    assert "healthy" in names
    assert len(names) > len(DAMAGES) / 2


def test_five_thousand_distributions(tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(str(environment), symlinks=True, with_pip=False)
    folder = site(environment)
    for number in range(5000):
        distribution(folder, f"package{number}", "1.0", f"package{number + 1}>=1")
    python = str(environment / "bin" / "python")
    code, out, err = call(["check", "--python", python, "--format", "json"], tmp_path)
    assert (code, err) == (0, "")
    (found,) = json.loads(out)["findings"][:1]
    assert (found["code"], found["component"]) == ("ED203", "package4999 1.0")


# --- snapshots -------------------------------------------------------------------------------


def snapshots(folder: Path) -> Dict[str, Tuple[Path, str]]:
    pipe, huge = folder / "pipe", folder / "huge"
    os.mkfifo(str(pipe))
    with huge.open("wb") as stream:
        stream.truncate(1 << 30)
    found = {
        "missing": (folder / "gone", "cannot be read: no such file or directory"),
        "folder": (folder, "cannot be read: is a directory"),
        "device": (Path("/dev/zero"), "cannot be read: it is neither a file nor a pipe"),
        "pipe": (pipe, "is no snapshot of `envdoctor facts`"),
        "huge": (huge, "is larger than 5 MB, which no snapshot is"),
    }
    texts: Dict[str, Tuple[bytes, str]] = {
        "truncated": (b'{"schema_version": 1, "machine": {"os"', "is no snapshot"),
        "newer": (b'{"schema_version": 2}', "has schema version 2; this envdoctor reads 1"),
        "deep": (b'{"schema_version": 1, "machine": ' + b"[" * 200_000, "is no snapshot"),
        "of numbers": (b'{"schema_version": 1, "taken": 1e999}', "is no snapshot"),
        "unknown": (b'{"schema_version": 1, "machines": {}}', "is no snapshot"),
        "no text": (b'{"schema_version": 1, "taken": "\xff"}', "is no snapshot"),
    }
    for name, (content, says) in texts.items():
        path = folder / name.replace(" ", "-")
        path.write_bytes(content)
        found[name] = (path, says)
    return found


def test_snapshots_that_cannot_be_read(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    for name, (path, says) in snapshots(tmp_path).items():
        for command in (["check"], [], ["facts"]):
            ended = envdoctor(*command, "--facts", str(path))
            assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1), name
            assert ended.err.startswith(f"envdoctor: {path}: {says}"), name
            assert len(ended.err) < 600, name


# --- places ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environ",
    [
        {"HOME": None},
        {"HOME": ""},
        {"HOME": "/dev/null/nowhere"},
        {"HOME": "/proc", "XDG_CACHE_HOME": "/proc/cache"},
        {"XDG_CACHE_HOME": "/dev/null"},
        {"PATH": None},
        {"HOME": "\udcff", "USER": "\udcff"},
    ],
    ids=str,
)
def test_no_home_no_cache_no_path(environ: Dict[str, Any], snapshot: str, tmp_path: Path) -> None:
    for command in (["check"], []):
        code, out, err = call([*command, "--facts", snapshot], tmp_path, environ=environ)
        assert (code, err) == (0, "")
        assert "Ruled out" in out or "Verdict" in out


def in_namespace(script: str) -> List[str]:
    """What starts a command in a file system of its own, which `script` has changed."""
    return [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        f'{script}; exec "$@"',
        "-",
    ]


def test_without_proc(tmp_path: Path) -> None:
    """Where the system lets nobody have a file system of its own, roots of tests stand for it."""
    before = in_namespace("mount -t tmpfs none /proc || exit 99")
    try:
        tried = subprocess.run([*before, "true"], capture_output=True, timeout=60, check=False)
    except OSError:
        pytest.skip("there is no unshare")
    if tried.returncode:
        pytest.skip("no file system of its own is allowed here")
    python = ["--python", sys.executable]
    code, out, err = call(["check", *python, "--format", "json"], tmp_path, before=before)
    assert code in (0, 1)
    assert err == ""
    told = json.loads(out)
    assert told["target"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert [one for one in told["skipped"] if one["failed"]] == []


def test_a_file_system_that_takes_nothing(snapshot: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".cache").mkdir(parents=True)
    (home / ".cache").chmod(0o500)
    home.chmod(0o500)
    code, _, err = call(["check", "--facts", snapshot], home)
    assert (code, err) == (0, "")
    code, out, err = call(["check", "--facts", snapshot, "-o", "/proc/report.txt"], home)
    assert (code, out) == (3, "")
    assert err.startswith("envdoctor: cannot write /proc/report.txt: ")
    assert err.count("\n") == 1
