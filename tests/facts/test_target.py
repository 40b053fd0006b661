from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from fake_environment import Environment, interpreters

from envdoctor.facts import target
from envdoctor.facts.target import Choice, TargetError, choose, observe
from envdoctor.knowledge.load import load


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def environment(folder: Path, kind: str = "pyvenv.cfg") -> str:
    """Make what looks like an environment; return the path of its interpreter."""
    folder.mkdir(parents=True)
    (folder / kind).touch()
    return str(program(folder / "bin" / "python"))


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The environment that envdoctor runs in: a virtual one whose bin has both names."""
    python = environment(tmp_path / "own")
    program(tmp_path / "own" / "bin" / "python3")
    monkeypatch.setattr(sys, "executable", python)
    return tmp_path / "own"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder; environments outside of it are not looked for."""
    monkeypatch.setattr(target, "_CONDA_ROOTS", ("~/miniconda3",))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def failure(python, env, environ) -> str:
    with pytest.raises(TargetError) as error:
        choose(python, env, environ)
    return str(error.value)


# --- the order --------------------------------------------------------------------------------


def test_order_of_what_is_asked(own, tmp_path, home):
    venv = environment(tmp_path / "venv")
    conda = environment(tmp_path / "conda", "conda-meta")
    named = environment(home / "envs" / "maptr")
    given = str(program(tmp_path / "given" / "python3.8"))
    on_path = str(program(tmp_path / "bin" / "python3"))
    environ = {
        "HOME": str(home),
        "PATH": f"{tmp_path}/own/bin:{tmp_path}/nowhere:{tmp_path}/bin",
        "CONDA_PREFIX": f"{tmp_path}/conda",
        "VIRTUAL_ENV": f"{tmp_path}/venv",
    }
    another = f"; on PATH comes another, {on_path}"
    assert choose(given, "maptr", environ) == Choice(given, "--python")
    assert choose(None, "maptr", environ) == Choice(named, "--env maptr")
    assert choose(None, None, environ) == Choice(venv, "VIRTUAL_ENV" + another)
    del environ["VIRTUAL_ENV"]
    assert choose(None, None, environ) == Choice(conda, "CONDA_PREFIX" + another)
    environ["CONDA_PREFIX"] = ""
    own_ones = f"{own}/bin/python3 is envdoctor's own"
    assert choose(None, None, environ) == Choice(on_path, f"python3 on PATH; {own_ones}")


def test_environment_whose_python_comes_first_on_path(own, tmp_path):
    python = environment(tmp_path / "venv")
    environ = {"VIRTUAL_ENV": f"{tmp_path}/venv", "PATH": f"{tmp_path}/venv/bin"}
    assert choose(None, None, environ) == Choice(python, "VIRTUAL_ENV")


def test_python3_comes_before_python(own, tmp_path):
    program(tmp_path / "a" / "python")
    python3 = program(tmp_path / "b" / "python3")
    environ = {"PATH": f"{tmp_path}/a:{tmp_path}/b"}
    assert choose(None, None, environ) == Choice(str(python3), "python3 on PATH")
    python3.chmod(0o644)
    assert choose(None, None, environ) == Choice(f"{tmp_path}/a/python", "python on PATH")


# --- never silently envdoctor's own -----------------------------------------------------------


def test_own_environment_that_is_activated_is_passed_over(own, tmp_path):
    other = program(tmp_path / "bin" / "python")
    environ = {"VIRTUAL_ENV": str(own), "PATH": f"{own}/bin:{tmp_path}/bin"}
    choice = choose(None, None, environ)
    assert choice.path == str(other)
    assert choice.why == (
        "python on PATH; VIRTUAL_ENV is envdoctor's own environment; "
        f"{own}/bin/python3 is envdoctor's own; {own}/bin/python is envdoctor's own"
    )


def test_own_environment_under_another_name_is_passed_over(own, tmp_path):
    (tmp_path / "link").symlink_to(own)
    assert failure(None, None, {"PATH": f"{tmp_path}/link/bin"}) == (
        "no Python to examine was found; "
        f"{tmp_path}/link/bin/python3 is envdoctor's own; "
        f"{tmp_path}/link/bin/python is envdoctor's own; "
        "name one with --python PATH or --env NAME"
    )


def test_base_interpreter_of_the_own_environment_is_another(own, tmp_path):
    base = program(tmp_path / "base" / "python3")
    own_python = own / "bin" / "python"
    own_python.unlink()
    own_python.symlink_to(base)
    assert choose(None, None, {"PATH": f"{base.parent}"}).path == str(base)


def test_own_interpreter_outside_of_virtual_environments(tmp_path, monkeypatch):
    python = program(tmp_path / "usr" / "python3.11")
    (tmp_path / "usr" / "python3").symlink_to(python)
    monkeypatch.setattr(sys, "executable", str(python))
    assert "python3 is envdoctor's own" in failure(None, None, {"PATH": f"{tmp_path}/usr"})
    venv = environment(tmp_path / "venv")
    Path(venv).unlink()
    Path(venv).symlink_to(python)
    environ = {"PATH": f"{tmp_path}/usr", "VIRTUAL_ENV": f"{tmp_path}/venv"}
    assert choose(None, None, environ) == Choice(venv, "VIRTUAL_ENV")


def test_own_environment_by_name_is_what_was_asked_for(own):
    assert choose(f"{own}/bin/python", None, {}).path == f"{own}/bin/python"
    assert choose(None, f"{own}", {}).path == f"{own}/bin/python"


def test_variable_that_points_to_nothing_is_told(own, tmp_path):
    python = program(tmp_path / "bin" / "python3")
    environ = {"VIRTUAL_ENV": "/nowhere/venv", "PATH": f"{tmp_path}/bin"}
    assert choose(None, None, environ) == Choice(
        str(python),
        "python3 on PATH; VIRTUAL_ENV is /nowhere/venv, which holds no bin/python that can be run",
    )
    assert failure(None, None, {**environ, "PATH": "/nowhere"}) == (
        "no Python to examine was found; "
        "VIRTUAL_ENV is /nowhere/venv, which holds no bin/python that can be run; "
        "name one with --python PATH or --env NAME"
    )


# --- --python ---------------------------------------------------------------------------------


def test_python_that_is_not_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = program(tmp_path / "bin" / "python3")
    (tmp_path / "text").touch()
    environ = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    assert failure("bin", None, environ) == (
        f"--python takes an interpreter, but {tmp_path}/bin is a folder; try --env"
    )
    assert failure("python3", None, environ) == (
        f"--python takes a path, but {tmp_path}/python3 does not exist; PATH has {found}"
    )
    assert failure("./python3", None, environ) == (
        f"--python takes a path, but {tmp_path}/python3 does not exist"
    )
    assert (
        failure("text", None, environ) == f"--python names {tmp_path}/text, which is not executable"
    )
    assert choose("~/bin/../bin/python3", None, environ).path == str(found)
    assert choose("bin/python3", None, {}).path == str(found)


# --- --env ------------------------------------------------------------------------------------


def test_places_where_environments_are_found_by_name(tmp_path, home):
    places = {
        "of-conda": tmp_path / "conda" / "envs" / "of-conda",
        "of-mamba": tmp_path / "mamba" / "envs" / "of-mamba",
        "of-variable": tmp_path / "more" / "of-variable",
        "of-condarc": home / "big disk" / "of-condarc",
        "of-record": tmp_path / "elsewhere" / "of-record",
        "of-miniconda": home / "miniconda3" / "envs" / "of-miniconda",
        "of-wrapper": tmp_path / "workon" / "of-wrapper",
        "of-home": home / ".virtualenvs" / "of-home",
        "of-pyenv": home / ".pyenv" / "versions" / "of-pyenv",
    }
    expected = {name: environment(folder, "conda-meta") for name, folder in places.items()}
    (tmp_path / "conda" / "conda-meta").mkdir()
    expected["base"] = str(program(tmp_path / "conda" / "bin" / "python"))
    (home / ".condarc").write_text(
        "channels:\n  - conda-forge\nenvs_dirs:\n  - '~/big disk'  # slow\nauto_activate_base: no\n"
        "pkgs_dirs:\n- /nowhere\n"
    )
    (home / ".conda").mkdir()
    (home / ".conda" / "environments.txt").write_text(f"{places['of-record']}\n/nowhere/gone\n")
    environ = {
        "HOME": str(home),
        "CONDA_EXE": str(tmp_path / "conda" / "bin" / "conda"),
        "MAMBA_ROOT_PREFIX": str(tmp_path / "mamba"),
        "CONDA_ENVS_PATH": f"/nowhere:{tmp_path}/more",
        "WORKON_HOME": str(tmp_path / "workon"),
    }
    for name, python in expected.items():
        assert choose(None, name, environ) == Choice(python, f"--env {name}")
    assert failure(None, "of-hom", environ).startswith(
        "--env: no conda or virtual environment is named of-hom; did you mean of-home"
    )
    assert failure(None, "gone", environ) == (
        "--env: no conda or virtual environment is named gone"
    )


def test_environment_given_as_a_folder(tmp_path, home, monkeypatch):
    monkeypatch.chdir(tmp_path)
    python = environment(tmp_path / "venv")
    environ = {"HOME": str(home)}
    for given in ("./venv", f"{tmp_path}/venv", "venv", "venv/"):
        assert choose(None, given, environ) == Choice(python, f"--env {given}")
    assert failure(None, "./nowhere", environ) == (
        f"--env names {tmp_path}/nowhere, which is no folder"
    )
    assert (
        failure(None, f"{home}", environ)
        == f"--env names {home}, which holds no bin/python that can be run"
    )


def test_name_of_two_environments(tmp_path, home):
    one = home / "envs" / "maptr"
    environment(one)
    environment(home / "venvs" / "maptr")
    assert failure(None, "maptr", {"HOME": str(home)}) == (
        f"--env: 2 environments are named maptr: {home}/venvs/maptr, {one}; give the folder instead"
    )


def test_one_environment_found_twice(tmp_path, home):
    python = environment(home / "envs" / "maptr")
    (home / "venvs").symlink_to(home / "envs")
    path = choose(None, "maptr", {"HOME": str(home)}).path
    assert os.path.realpath(path) == python


def test_environment_without_a_python(home):
    (home / "envs" / "r-only" / "conda-meta").mkdir(parents=True)
    assert failure(None, "r-only", {"HOME": str(home)}) == (
        f"--env names {home}/envs/r-only, which holds no bin/python that can be run"
    )


def test_environment_whose_base_python_is_gone(tmp_path, home):
    python = Path(environment(tmp_path / "venv"))
    python.unlink()
    python.symlink_to("/nowhere/python3.8")
    reason = "whose bin/python is a link to /nowhere/python3.8, which does not exist"
    assert failure(None, f"{tmp_path}/venv", {}) == f"--env names {tmp_path}/venv, {reason}"
    told = failure(None, None, {"VIRTUAL_ENV": f"{tmp_path}/venv", "PATH": "/nowhere"})
    assert f"VIRTUAL_ENV is {tmp_path}/venv, {reason}; " in told


# --- observing --------------------------------------------------------------------------------


@pytest.mark.parametrize("python", interpreters())
def test_every_python_is_observed(python, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    venv = Environment(tmp_path / "venv", python)
    venv.add("mmcv-full", "1.4.0", {"mmcv/__init__.py": ""})
    observed = observe(Choice(venv.python, "--env venv"), lambda: load().providers)
    assert (observed.unknown, observed.origin) == ("", "--env venv")
    assert observed.value.python == venv.python
    assert [one.name for one in observed.value.distributions] == ["mmcv-full"]
    assert str(Path(target.__file__).parents[2]) not in observed.value.path


def test_own_environment_is_told():
    observed = observe(Choice(sys.executable, "--python"), lambda: load().providers)
    assert observed.origin == "--python; envdoctor itself runs in this environment"


FAKES = {
    "missing": (None, "no such command"),
    "Python 2": (
        "echo 'Unknown option: -I' >&2; echo 'usage: python [option]' >&2; exit 2",
        "it is Python 2; the probe needs Python 3.6 or newer",
    ),
    "Python 3.5": (
        "echo '  File x' >&2; echo 'SyntaxError: invalid syntax' >&2; exit 1",
        "it is older than Python 3.6, which the probe needs",
    ),
    "broken": (
        "echo 'Fatal Python error: no codec' >&2; echo \"ModuleNotFoundError: encodings\" >&2;"
        "echo 'Current thread 0x1:' >&2; exit 1",
        "exit status 1: ModuleNotFoundError: encodings",
    ),
    "shim": (
        "echo 'pyenv: python3: command not found' >&2; echo '  3.8.18' >&2; exit 127",
        "exit status 127: pyenv: python3: command not found",
    ),
    "silent failure": ("exit 3", "exit status 3"),
    "crash": ("kill -SEGV $$", "crashed with signal 11"),
    "hang": ("exec sleep 60", "took longer than 0.5 s"),
    "garbage": ("echo hello", "gave no readable answer: JSON is malformed"),
    "bytes": ('printf \'{"python": "\\377"}\'', "gave no readable answer: "),
    "nothing": (":", "gave no readable answer: Input data was truncated"),
    "too little": ("echo '{}'", "gave no readable answer: Object missing required field `python`"),
    "unknown field": (
        'echo \'{"python": "x", "version": "3", "extra": 1}\'',
        "gave no readable answer: Object contains unknown field `extra`",
    ),
    "deep": (
        "printf '%0100000d' 0 | tr 0 '['",
        "gave no readable answer: ",
    ),
}


#: What a program has to say for itself where it is asked for its version.
VERSIONS = {
    "ls": ("echo \"invalid option -- 'V'\" >&2; exit 2", False),
    "echo": ('echo "$@"', False),
    "Python": ("echo Python 3.8.18", True),
    "Python 2": ("echo Python 2.7.18 >&2", True),
}


@pytest.mark.parametrize("case", VERSIONS)
def test_what_is_no_python_is_told_so(tmp_path, case):
    script, is_python = VERSIONS[case]
    path = tmp_path / "python"
    for ending in ("exit 1", "exit 0"):
        program(path, f'#!/bin/sh\n[ "$1" = -V ] || {ending}\n{script}\n')
        observed = observe(Choice(str(path), "--python"), lambda: load().providers)
        said = ": is no Python, or none that can be started" in observed.unknown
        assert said == (not is_python)


@pytest.mark.parametrize("case", FAKES)
def test_interpreter_that_cannot_be_observed(tmp_path, case):
    script, reason = FAKES[case]
    path = tmp_path / "python"
    if script is not None:
        program(path, f"#!/bin/sh\n{script}\n")
    observed = observe(
        Choice(str(path), "--python"),
        lambda: load().providers,
        timeout=0.5 if case == "hang" else 20,
    )
    assert observed.value is None
    assert observed.unknown.startswith(f"{path} (--python)")
    assert reason in observed.unknown
