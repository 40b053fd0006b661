"""What is remembered is what would be read now; whatever changes it is noticed."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Callable, Dict, List

import pytest
from fake_environment import Environment, interpreters

from envdoctor.cache import store, unchanged
from envdoctor.facts import child, remembered, target
from envdoctor.facts.host import Host
from envdoctor.facts.target import Choice
from envdoctor.knowledge.load import load
from envdoctor.model.facts import Target

pytestmark = pytest.mark.remembering

PROBE = Path(target.__file__).with_name("probe.py")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(unchanged, "SETTLED_NS", -(10**15))  # the files of a test are all new
    return tmp_path / "cache" / "envdoctor"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> List[str]:
    """The children that were started."""
    found: List[str] = []
    run = child.run

    def noted(argv, *arguments, **named):
        found.append(argv[0])
        return run(argv, *arguments, **named)

    monkeypatch.setattr(child, "run", noted)
    return found


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    made = Environment(tmp_path / "venv")
    made.add("alpha", "1.0", {"alpha/__init__.py": "", "alpha/part.py": "x = 1"}, ["beta>=1"])
    made.add("beta", "1.0", {"beta.py": ""})
    made.write({"paths.pth": f"{tmp_path / 'added'}\n"})
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return made


def observe(python: str) -> Target:
    observed = target.observe(Choice(python, "--python"), lambda: load().providers)
    assert observed.value is not None, observed.unknown
    return observed.value


def in_place(path: Path, old: str, new: str) -> None:
    """Change a file so that neither its size nor the times that a program can set tell it."""
    assert len(old) == len(new)
    status = path.stat()
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def link_to_another(venv: Environment) -> None:
    others = [one.values[0] for one in interpreters() if not one.id.startswith("3.11")]
    link = Path(venv.python)
    link.unlink()
    if not others:
        pytest.skip("no other Python is installed")
    link.symlink_to(next(one for one in others if one != os.path.realpath(sys.executable)))


def add_command(venv: Environment) -> None:
    venv.write({"bin/pip": "#!/gone/python\n"}, venv.folder)
    (venv.folder / "bin" / "pip").chmod(0o755)


def elsewhere(up: Path, patch: pytest.MonkeyPatch) -> None:
    """Go where what PYTHONPATH names from the current folder is another folder."""
    (up / "there" / "ahead").mkdir(parents=True)
    (up / "there" / "ahead" / "beta.py").write_text("")
    patch.chdir(up / "there")


# What happens to an environment between two checks, in a folder `up` that holds all of it.
CHANGES: Dict[str, Callable[[Environment, Path, pytest.MonkeyPatch], object]] = {
    "installed": lambda venv, *_: venv.add("gamma", "3.0", {"gamma.py": ""}),
    "removed": lambda venv, *_: shutil.rmtree(venv.site / "beta-1.0.dist-info"),
    "metadata": lambda venv, *_: in_place(
        venv.site / "alpha-1.0.dist-info" / "METADATA", "beta>=1", "beta>=2"
    ),
    "record": lambda venv, *_: in_place(
        venv.site / "alpha-1.0.dist-info" / "RECORD", "part.py", "gone.py"
    ),
    "a file is lost": lambda venv, *_: (venv.site / "alpha" / "part.py").unlink(),
    "a folder is lost": lambda venv, *_: shutil.rmtree(venv.site / "alpha"),
    "a path more": lambda venv, *_: venv.write({"more.pth": "/usr/lib\n"}),
    "a folder of a path": lambda venv, up, _: venv.write({"delta.py": ""}, up / "added"),
    "system packages": lambda venv, *_: in_place(
        venv.folder / "pyvenv.cfg", "packages = false", "packages = true "
    ),
    "a variable": lambda _, up, patch: patch.setenv("PYTHONPATH", str(up / "ahead")),
    "a variable's folder": lambda venv, up, _: venv.write({"beta.py": "x"}, up / "ahead"),
    "another folder, with a relative variable": lambda _, up, patch: elsewhere(up, patch),
    "a setting": lambda *those: those[2].setenv("CUDA_HOME", "/opt/cuda"),
    "the user's packages": lambda venv, up, _: venv.write(
        {"x.pth": ""},
        up / "home" / ".local" / "lib" / f"python3.{sys.version_info[1]}" / "site-packages",
    ),
    "another interpreter": lambda venv, *_: link_to_another(venv),
    "a command": lambda venv, *_: add_command(venv),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(
    venv: Environment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: List[str],
    change: str,
) -> None:
    monkeypatch.setenv("PATH", f"{venv.folder}/bin:{os.environ['PATH']}")
    if change == "a variable's folder":
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "ahead"))
    if "relative" in change:
        monkeypatch.setenv("PYTHONPATH", "ahead")
    if change == "the user's packages":
        in_place(venv.folder / "pyvenv.cfg", "packages = false", "packages = true ")
    before = observe(venv.python)
    assert observe(venv.python) == before
    assert started == [venv.python]  # once, though it was observed twice
    CHANGES[change](venv, tmp_path, monkeypatch)
    after = observe(venv.python)
    monkeypatch.setattr(store, "read", lambda _: None)
    assert after == observe(venv.python)
    assert after != before


@pytest.mark.parametrize("python", interpreters())
def test_every_python_tells_what_it_looked_at(
    tmp_path: Path, python: str, started: List[str]
) -> None:
    venv = Environment(tmp_path / "venv", python)
    info = venv.add("alpha", "1.0", {"alpha.py": ""})
    assert observe(venv.python) == observe(venv.python)
    assert started == [venv.python]
    in_place(info / "METADATA", "Version: 1.0", "Version: 2.0")
    assert [one.version for one in observe(venv.python).distributions] == ["2.0"]
    (venv.site / "alpha.py").unlink()
    assert [len(one.missing) for one in observe(venv.python).distributions] == [1]


def test_what_changed_just_now_may_change_again_unseen(
    venv: Environment, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setattr(unchanged, "SETTLED_NS", 2_000_000_000)
    observe(venv.python)
    assert not list(cache.glob("target-*"))


def test_a_script_that_starts_a_python_is_asked_each_time(
    venv: Environment, tmp_path: Path, started: List[str]
) -> None:
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nexec "{venv.python}" "$@"\n')
    script.chmod(0o755)
    assert observe(str(script)) == observe(str(script))
    assert started == [str(script)] * 2


def test_a_program_that_starts_a_python_is_asked_each_time(
    venv: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As the shims of version managers do, whose choice may depend on any file.
    shim = tmp_path / "python"
    shutil.copy("/bin/true", shim)
    chosen = []
    run = child.run

    def start(argv, *arguments, **named):
        chosen.append(venv.python)
        return run([venv.python, *argv[1:]], *arguments, **named)

    monkeypatch.setattr(child, "run", start)
    assert remembered.is_program(str(shim))
    assert observe(str(shim)) == observe(str(shim))
    assert len(chosen) == 2


@pytest.mark.parametrize("change", ["gone", "come"])
def test_what_changes_while_it_is_looked_at_is_not_kept(
    venv: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path, change: str
) -> None:
    run = child.run

    def changed(*arguments, **named):
        done = run(*arguments, **named)
        if change == "gone":
            (venv.site / "alpha" / "part.py").unlink()
        else:  # its times are those of before
            (tmp_path / "other").rename(tmp_path / "added")
        return done

    monkeypatch.setattr(child, "run", changed)
    (tmp_path / "other").mkdir()
    observe(venv.python)
    assert not list(cache.glob("target-*"))


def test_names_that_are_no_text(
    venv: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: List[str]
) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    Path(folder).mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NAMED", folder)
    assert observe(venv.python) == observe(venv.python)
    assert started == [venv.python]
    venv.folder.rename(folder + "/venv")
    python = folder + "/venv/bin/python"
    assert observe(python) == observe(python)
    assert started == [venv.python, python]


def test_who_may_read_other_files_asks_anew(
    venv: Environment, monkeypatch: pytest.MonkeyPatch, started: List[str]
) -> None:
    observe(venv.python)
    monkeypatch.setattr(os, "getgroups", lambda: [4711])
    observe(venv.python)
    assert started == [venv.python] * 2


def test_libraries_of_the_interpreter_are_looked_at(venv: Environment) -> None:
    done = child.run([venv.python, "-I", "-S", str(PROBE), "--paths"], 20, 1 << 24)
    program, *others = [path[1:] for path in done.stdout.split(b"\0")[1:]]
    assert Path(os.fsdecode(program)).samefile(venv.python)
    lines = Path("/proc/self/maps").read_text().splitlines()
    ours = {Path(line.split(None, 5)[5]) for line in lines if "/" in line}
    libc = {os.fsencode(path) for path in ours if re.match(r"libc[.-]|ld-musl", path.name)}
    assert libc
    assert libc <= set(others)


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x95\x90\xc4\x00\xc4\x00\x90\xc4\x00"])
def test_what_lies_in_the_cache_is_no_authority(
    venv: Environment, cache: Path, started: List[str], content: bytes
) -> None:
    before = observe(venv.python)
    (entry,) = cache.glob("target-*")
    store.write(entry.name, content, "target-", 5)
    assert observe(venv.python) == before
    assert started == [venv.python] * 2


def test_another_envdoctor_asks_anew(
    venv: Environment, monkeypatch: pytest.MonkeyPatch, started: List[str]
) -> None:
    observe(venv.python)
    monkeypatch.setattr(unchanged, "own_state", lambda: b"another")
    observe(venv.python)
    assert started == [venv.python] * 2


def test_no_value_of_a_variable_is_kept(
    venv: Environment, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cr3t-value")
    observe(venv.python)
    (entry,) = cache.glob("target-*")
    assert b"s3cr3t-value" not in entry.read_bytes()
    assert entry.stat().st_mode & 0o077 == 0


def test_the_oldest_entries_go(tmp_path: Path, cache: Path) -> None:
    for number in range(6):
        store.write(f"x-{number}", b"", "x-", 3)
        os.utime(cache / f"x-{number}", (number, number))
    assert sorted(path.name for path in cache.iterdir()) == ["x-2", "x-3", "x-4", "x-5"]


def test_a_folder_in_the_way_stays(cache: Path) -> None:
    for name in ("x-old", "x-new"):
        (cache / name).mkdir(parents=True)
    store.write("x-1", b"content", "x-", 1)
    assert store.read("x-1") == b"content"


@pytest.mark.parametrize("place", ["entry", "folder"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_what_others_may_write_to_counts_for_nothing(cache: Path, place: str, mode: int) -> None:
    store.write("x-1", b"content", "x-", 1)
    assert store.read("x-1") == b"content"
    assert cache.stat().st_mode & 0o777 == 0o700
    changed = cache if place == "folder" else cache / "x-1"
    changed.chmod(changed.stat().st_mode | mode)
    assert store.read("x-1") is None


def test_what_others_wrote_counts_for_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write("x-1", b"content", "x-", 1)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert store.read("x-1") is None
    store.write("x-2", b"content", "x-", 1)
    assert [path.name for path in cache.iterdir()] == ["x-1"]


def test_a_link_on_the_way_that_leads_elsewhere_since_just_now(tmp_path: Path) -> None:
    (tmp_path / "real" / "inside").mkdir(parents=True)
    (tmp_path / "real" / "inside" / "file").write_text("")
    before = (tmp_path / "real" / "inside" / "file").stat().st_ctime_ns
    path = os.fsencode(tmp_path / "link" / "inside" / "file")
    (tmp_path / "link").symlink_to("real")
    now = os.lstat(tmp_path / "link").st_ctime_ns
    assert unchanged.state([path], now) is not None
    while now == before:  # the clock of the file system has long ticks
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("real")
        now = os.lstat(tmp_path / "link").st_ctime_ns
    assert unchanged.state([path], now - 1) is None


def test_a_path_that_cannot_be_looked_at_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    paths = [os.fsencode(tmp_path / "circle" / "file"), os.fsencode(tmp_path / ("n" * 300))]
    before = unchanged.state(paths)
    assert before is not None
    (tmp_path / "circle").unlink()
    assert unchanged.state(paths) != before


def test_a_reading_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    asked: List[str] = []

    def read() -> str:
        asked.append("")
        return file.read_text()

    def once() -> str:
        return Host().read_once("text", str(file), read)

    assert (once(), once(), len(asked)) == ("one", "one", 1)
    in_place(file, "one", "two")
    assert (once(), once(), len(asked)) == ("two", "two", 2)
    file.unlink()
    file.symlink_to("other")
    (tmp_path / "other").write_text("three")
    assert (once(), once(), len(asked)) == ("three", "three", 3)
    in_place(tmp_path / "other", "three", "seven")
    assert (once(), once(), len(asked)) == ("seven", "seven", 4)
    # Of a described machine nothing is remembered: its paths are other files each time.
    assert Host(root=str(tmp_path)).read_once("text", str(file), read) == "seven"
    assert len(asked) == 5


def test_another_envdoctor_reads_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    assert Host().read_once("text", str(tmp_path / "file"), lambda: "one") == "one"
    assert Host().read_once("text", str(tmp_path / "file"), lambda: "two") == "one"
    monkeypatch.setattr(unchanged, "own_state", lambda: b"another")
    assert Host().read_once("text", str(tmp_path / "file"), lambda: "two") == "two"


def test_readings_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "_MAX_READINGS", 2)
    (tmp_path / "file").write_text("")
    asked: List[str] = []
    for question in "abcacb":
        Host().read_once(question, str(tmp_path / "file"), lambda: asked.append("") or "answer")
    assert len(asked) == 5  # of a, b, c the last two are kept


def test_where_a_check_is_called_makes_no_difference(
    venv: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: List[str]
) -> None:
    observe(venv.python)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLDPWD", str(tmp_path / "here"))
    monkeypatch.setenv("SHLVL", "7")
    observe(venv.python)
    assert started == [venv.python]
