"""Chooses the Python interpreter to examine, says why, and has the probe describe it."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence

import msgspec

from envdoctor.facts import child
from envdoctor.facts.remembered import Remembered
from envdoctor.model.facts import Observed, Target, seen, unseen
from envdoctor.model.text import without_secrets

_PROBE = Path(__file__).with_name("probe.py")
# Compiled once for each Python, into the cache that an import of the probe would use: that takes a
# fifth of its time. Where the file cannot be read (what was named may start its Python elsewhere,
# in a container), its text is on standard input. Of other modules nothing is ever written.
_START = """
import sys
try:
    from _frozen_importlib_external import SourceFileLoader
    sys.dont_write_bytecode = False
    code = SourceFileLoader("__main__", sys.argv[1]).get_code("__main__")
except (ImportError, OSError):
    code = sys.stdin.read()
sys.dont_write_bytecode = True
exec(code)
"""
_NO_PYTHON = "is no Python, or none that can be started"
_MAX_OUTPUT = 16 << 20  # bytes; 5000 distributions are about 3 MiB

# Where installers of conda put it, if no variable tells.
_CONDA_ROOTS = (
    *("~/miniconda3", "~/anaconda3", "~/miniforge3", "~/mambaforge", "~/micromamba"),
    *("/opt/conda", "/opt/miniconda3", "/opt/miniforge3", "/opt/anaconda3"),
)
# Where people and virtualenvwrapper keep virtual environments.
_VIRTUALENV_FOLDERS = (
    *("~/.virtualenvs", "~/.venvs", "~/venvs", "~/envs"),
    *("~/.local/share/virtualenvs", "~/.cache/pypoetry/virtualenvs"),
)


class TargetError(Exception):
    """No interpreter can be chosen; the message is one sentence for the user."""


class Choice(NamedTuple):
    """The interpreter to examine: its absolute path, not resolved, and why it was chosen."""

    path: str
    why: str


def choose(python: Optional[str], env: Optional[str], environ: Mapping[str, str]) -> Choice:
    """Choose the interpreter to examine.

    The order: `python`, a path; `env`, an environment's name or folder; the variables VIRTUAL_ENV
    and CONDA_PREFIX; then python3 and python on PATH. All but the first two pass over the
    environment that envdoctor itself runs in; `why` tells what was passed over. Raises
    TargetError if what was asked for does not exist or nothing is left.
    """
    if python is not None:
        return Choice(_named_python(python, environ), "--python")
    if env is not None:
        return Choice(*_named_environment(env, environ))
    passed_over: List[str] = []
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = environ.get(variable)
        if not prefix:
            continue
        path = _python_of(Path(prefix).absolute())
        if path is None:
            passed_over.append(f"{variable} is {prefix}, {_lack(Path(prefix))}")
        elif _is_own(path):
            passed_over.append(f"{variable} is envdoctor's own environment")
        else:
            typed = next((other for other in _pythons(environ) if not _is_own(other)), None)
            if typed is not None and _identity(typed) != _identity(path):
                passed_over.append(f"on PATH comes another, {typed}")
            return Choice(str(path), _because(variable, passed_over))
    for path in _pythons(environ):
        if not _is_own(path):
            return Choice(str(path), _because(f"{path.name} on PATH", passed_over))
        passed_over.append(f"{path} is envdoctor's own")
    raise TargetError(
        _because("no Python to examine was found", passed_over)
        + "; name one with --python PATH or --env NAME"
    )


def observe(
    choice: Choice, providers: Callable[[], Mapping[str, Sequence[str]]], timeout: float = 20
) -> Observed[Target]:
    """Describe the environment of the chosen interpreter, whose origin is why it was chosen.

    `providers` gives the packages whose modules are looked for, also where no metadata names them:
    {module: canonical names of the packages that bring it}. Runs the probe in that interpreter for
    at most `timeout` seconds, unless what it would say is known from before. Unknown, with the
    reason, if the interpreter cannot run it or does not answer as it should.
    """
    remembered = Remembered(choice.path)
    known = remembered.answer()
    if known is not None:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _chosen(msgspec.json.decode(known, type=Target), choice)
    argv = [
        choice.path,
        "-I",
        "-S",
        "-B",
        "-c",
        _START,
        str(_PROBE),
        "--paths",
        msgspec.json.encode(providers()).decode(),
    ]
    done = child.run(argv, timeout, _MAX_OUTPUT, stdin=_PROBE.read_bytes())
    if done.failure:
        failure = _failure(done)
        if done.status is not None and not _is_python(choice.path, timeout):
            # another program's words about the probe's options would say nothing
            named = "py" in Path(choice.path).name.lower()
            failure = f"{_NO_PYTHON}: {failure}" if named else "is no Python"
        return unseen(f"{choice.path} ({choice.why}): {failure}")
    answer, _, looked_at = done.stdout.partition(b"\0")
    try:
        target = msgspec.json.decode(answer, type=Target)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = f"gave no readable answer: {error}"
        if not _is_python(choice.path, timeout):
            named = "py" in Path(choice.path).name.lower()
            problem = f"{_NO_PYTHON}; it {problem}" if named else "is no Python"
        return unseen(f"{choice.path} ({choice.why}): {problem}")
    remembered.keep(answer, looked_at.split(b"\0") if looked_at else [])
    return _chosen(target, choice)


def _chosen(target: Target, choice: Choice) -> Observed[Target]:
    why = choice.why
    if _same_file(target.prefix, sys.prefix):
        why += "; envdoctor itself runs in this environment"
    return seen(target, why)


def _is_python(path: str, timeout: float) -> bool:
    """Whether a program that did not run the probe names a Python's version all the same."""
    done = child.run([path, "-V"], min(timeout, 5), 10_000)
    return any(text.lstrip().startswith(b"Python ") for text in (done.stdout, done.stderr))


def _failure(done: child.Completed) -> str:
    """Return why the probe failed, with the most telling line of its last words."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if any("Unknown option: -I" in line for line in lines):
        return "it is Python 2; the probe needs Python 3.6 or newer"
    if any(line.startswith("SyntaxError") for line in lines):
        return "it is older than Python 3.6, which the probe needs"
    telling = [line for line in reversed(lines) if "rror" in line] or lines
    words = "".join(c for c in telling[0][:2000] if c.isprintable()).strip() if telling else ""
    words = without_secrets(words)[:200]
    return f"{done.failure}: {words}" if words else done.failure


def _because(reason: str, passed_over: Iterable[str]) -> str:
    return "; ".join([reason, *passed_over])


# --- named by the user ------------------------------------------------------------------------


def _named_python(python: str, environ: Mapping[str, str]) -> str:
    """Return the absolute path that --python names."""
    path = _expanded(python, environ)
    if path.is_dir():
        raise TargetError(f"--python takes an interpreter, but {path} is a folder; try --env")
    if not path.exists():
        hint = next(_on_path(python, environ), None) if "/" not in python else None
        tail = f"; PATH has {hint}" if hint else ""
        raise TargetError(f"--python takes a path, but {path} does not exist{tail}")
    if not os.access(path, os.X_OK):
        raise TargetError(f"--python names {path}, which is not executable")
    return str(path)


def _named_environment(env: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the interpreter of the environment that --env names, and the reason in words."""
    folder = _expanded(env, environ)
    if "/" in env or env in (".", ".."):
        if not folder.is_dir():
            raise TargetError(f"--env names {folder}, which is no folder")
        python = _python_of(folder)
        if python is None:
            raise TargetError(f"--env names {folder}, {_lack(folder)}")
        return str(python), f"--env {env}"
    known = _environments(environ)
    found = known.get(env, [])
    if not found and _python_of(folder):
        found = [folder]  # a folder here that is written without a slash
    if not found:
        import difflib

        nearest = difflib.get_close_matches(env, known, n=3)
        tail = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        raise TargetError(f"--env: no conda or virtual environment is named {env}{tail}")
    if len(found) > 1:
        raise TargetError(
            f"--env: {len(found)} environments are named {env}: {', '.join(map(str, found))}; "
            "give the folder instead"
        )
    python = _python_of(found[0])
    if python is None:
        raise TargetError(f"--env names {found[0]}, {_lack(found[0])}")
    return str(python), f"--env {env}"


def _environments(environ: Mapping[str, str]) -> Dict[str, List[Path]]:
    """Return the conda and virtual environments that can be named, by name."""
    found: Dict[str, List[Path]] = {}

    def add(name: str, prefix: Path) -> None:
        if _looks_like_environment(prefix):
            known = found.setdefault(name, [])
            if not any(_same_file(str(prefix), str(other)) for other in known):
                known.append(prefix)

    for root in _conda_roots(environ):
        add("base", root)
    for folder in _environment_folders(environ):
        for prefix in _subfolders(folder):
            add(prefix.name, prefix)
    for line in _lines(_expanded("~/.conda/environments.txt", environ)):
        add(Path(line).name, Path(line))
    return found


def _conda_roots(environ: Mapping[str, str]) -> Iterator[Path]:
    if environ.get("CONDA_EXE"):
        yield Path(environ["CONDA_EXE"]).parent.parent
    if environ.get("MAMBA_ROOT_PREFIX"):
        yield Path(environ["MAMBA_ROOT_PREFIX"])
    for root in _CONDA_ROOTS:
        yield _expanded(root, environ)


def _environment_folders(environ: Mapping[str, str]) -> Iterator[Path]:
    for root in _conda_roots(environ):
        yield root / "envs"
    for variable in ("CONDA_ENVS_PATH", "CONDA_ENVS_DIRS"):
        for folder in environ.get(variable, "").split(os.pathsep):
            if folder:
                yield _expanded(folder, environ)
    yield _expanded("~/.conda/envs", environ)
    for folder in _envs_dirs(_lines(_expanded("~/.condarc", environ))):
        yield _expanded(folder, environ)
    if environ.get("WORKON_HOME"):
        yield _expanded(environ["WORKON_HOME"], environ)
    for folder in _VIRTUALENV_FOLDERS:
        yield _expanded(folder, environ)
    yield _expanded(environ.get("PYENV_ROOT", "~/.pyenv"), environ) / "versions"


def _envs_dirs(lines: Iterable[str]) -> Iterator[str]:
    """Yield the items of `envs_dirs` of a .condarc, whose YAML is read as far as that needs."""
    inside = False
    for line in lines:
        key = re.match(r"(\w+)\s*:", line)
        if key:
            inside = key.group(1) == "envs_dirs"
        item = re.match(r"\s*-\s+(.+?)\s*(?:#.*)?$", line)
        if inside and item:
            yield item.group(1).strip("\"'")


# --- paths ------------------------------------------------------------------------------------


def _expanded(path: str, environ: Mapping[str, str]) -> Path:
    """Return `path` absolute, a leading ~ and variables replaced as `environ` has them."""
    home = environ.get("HOME")
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return Path(os.path.normpath(Path(path).expanduser().absolute()))


def _lines(path: Path) -> List[str]:
    """Return the lines of a small text file, none if it cannot be read."""
    try:
        if not path.is_file():
            return []
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(1 << 16).splitlines()
    except OSError:
        return []


def _subfolders(folder: Path) -> List[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _looks_like_environment(prefix: Path) -> bool:
    marks = ("conda-meta", "pyvenv.cfg", "bin/python", "bin/python3")
    return any((prefix / mark).exists() for mark in marks)


def _python_of(prefix: Path) -> Optional[Path]:
    """Return the interpreter of the environment in a folder, None if it has none."""
    for name in ("python", "python3"):
        path = prefix / "bin" / name
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def _lack(prefix: Path) -> str:
    """Return, as a clause, why a folder has no interpreter that can run."""
    python = prefix / "bin" / "python"
    if python.is_symlink() and not python.exists():
        return f"whose bin/python is a link to {os.readlink(python)}, which does not exist"
    return "which holds no bin/python that can be run"


def _pythons(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the interpreters on PATH, each once, in the order in which they are chosen."""
    seen_before = set()
    for name in ("python3", "python"):
        for path in _on_path(name, environ):
            if path not in seen_before:
                seen_before.add(path)
                yield path


def _on_path(name: str, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the executable files of a name on PATH, in its order."""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(folder or ".").absolute() / name
        if path.is_file() and os.access(path, os.X_OK):
            yield path


def _is_own(python: Path) -> bool:
    """Whether an interpreter is that of the environment which envdoctor runs in."""
    return _identity(python) == _identity(Path(sys.executable))


def _identity(python: Path) -> str:
    """Return what tells an interpreter's environment from others: its folder, or its program.

    A virtual environment's python is a link to another one's, so the folder comes first.
    """
    for folder in (python.parent, python.parent.parent):
        if (folder / "pyvenv.cfg").is_file():
            return os.path.realpath(folder)
    return os.path.realpath(python)


def _same_file(one: str, other: str) -> bool:
    return bool(one) and os.path.realpath(one) == os.path.realpath(other)
