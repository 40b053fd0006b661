"""Makes unusual environments and holds what `envdoctor check` says against what imports do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from environments import Checked, bare, check
from wheels import Wheel, write

_PIP_SETTINGS = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}


class Odd(NamedTuple):
    """An environment as somebody works in it."""

    python: str
    environ: Mapping[str, str] = {}


class Place:
    """A folder of its own for one case, and what makes environments in it."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        self.folder = folder
        self.python = python  # of which environments are made

    def venv(self, name: str = "env") -> Path:
        """A virtual environment without pip."""
        shutil.copytree(bare(self.python), self.folder / name, symlinks=True)
        return self.folder / name

    def standalone(self, name: str = "prefix") -> Path:
        """An interpreter with a prefix of its own, as conda has them, and nothing installed."""
        code = (
            "import os, sys; b = getattr(sys, '_base_executable', sys.executable);"
            "print(os.path.realpath(b)); print(os.path.dirname(os.__file__))"
        )
        base, library = map(Path, says(self.python, code).splitlines())
        prefix = self.folder / name
        (prefix / "bin").mkdir(parents=True)
        shutil.copy2(base, prefix / "bin" / library.name)
        (prefix / "bin" / "python").symlink_to(library.name)
        (prefix / "bin" / "python3").symlink_to(library.name)
        packages = prefix / "lib" / library.name
        packages.mkdir(parents=True)
        for path in library.iterdir():
            if path.name not in ("site-packages", "dist-packages", "EXTERNALLY-MANAGED"):
                (packages / path.name).symlink_to(path)
        (packages / "site-packages").mkdir()
        return prefix

    def above(self, base: Path, name: str = "env") -> Path:
        """A virtual environment that sees the packages of an interpreter."""
        env = self.folder / name
        command = [str(base / "bin" / "python"), "-m", "venv", "--without-pip"]
        subprocess.run([*command, "--system-site-packages", str(env)], check=True, timeout=60)
        return env

    def wheels(self, *wheels: Wheel) -> List[str]:
        """These wheels as files."""
        return [str(write(self.folder / "wheels", wheel)) for wheel in wheels]

    def install(self, prefix: Path, *wheels: Wheel, options: Iterable[str] = ()) -> None:
        """Have pip install wheels into an environment, with nothing that they require."""
        arguments = ["install", "--no-index", "--no-deps", *options, *self.wheels(*wheels)]
        if self.python == sys.executable:
            pip(prefix, *arguments)
        else:  # the pip of an old Python does not run on a new one
            pip(None, *arguments, "--target", str(site(prefix)))


def pip(prefix: Optional[Path], *arguments: str, environ: Mapping[str, str] = {}) -> None:
    """Run the pip of the tests for an environment; for none where it only fills a folder."""
    whose = ["--python", str(prefix / "bin" / "python")] if prefix else []
    command = [sys.executable, "-m", "pip", *whose, "-q", *arguments]
    done = subprocess.run(
        command,
        env={**os.environ, **_PIP_SETTINGS, **environ},
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


def says(python: str, code: str, environ: Mapping[str, str] = {}) -> str:
    """What an interpreter prints."""
    done = subprocess.run(
        [python, "-c", code],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
    )
    return done.stdout.decode().strip()


def site(prefix: Path) -> Path:
    """Where pip puts packages of an environment."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(says(str(prefix / "bin" / "python"), code))


def at(prefix: Path, **environ: str) -> Odd:
    """An environment whose commands come first, with these variables set."""
    path = f"{prefix / 'bin'}{os.pathsep}{os.defpath}"
    return Odd(str(prefix / "bin" / "python"), {"PATH": path, **environ})


# --- the comparison -------------------------------------------------------------------------------


class Case(NamedTuple):
    """An environment, what is imported there, and what is to come of it."""

    title: str
    make: Callable[[Place], Odd]
    imports: Tuple[str, ...]  # statements, each carried out in a process of its own
    fails: Mapping[str, str] = {}  # those of them that fail, with a part of what they say
    told: Tuple[str, ...] = ()  # errors and warnings: "error finding-name component"
    python: str = ""  # the series of its Python; that of the tests if not given


Maker = Callable[[Place], Odd]


def case_of(cases: List[Case]) -> Callable[..., Callable[[Maker], Maker]]:
    """A decorator that adds a case to the list: the function below it makes the environment."""

    def case(
        title: str,
        *imports: str,
        fails: Mapping[str, str] = {},
        told: Tuple[str, ...] = (),
        python: str = "",
    ) -> Callable[[Maker], Maker]:
        def add(make: Maker) -> Maker:
            cases.append(Case(title, make, imports, fails, told, python))
            return make

        return add

    return case


def failures(odd: Odd, statements: Iterable[str], folder: Path) -> Dict[str, str]:
    """Those of the statements that fail in the environment, and the end of what they print."""
    failed = {}
    for statement in statements:
        done = subprocess.run(
            [odd.python, "-c", statement],
            cwd=folder,
            env={"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", **odd.environ},
            capture_output=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            text = done.stderr.decode()[-4000:].strip()
            failed[statement] = text or f"exit status {done.returncode}"
    return failed


def told(checked: Checked) -> List[str]:
    """The errors and warnings, in order of their texts."""
    return sorted(
        f"{f['severity']} {f['name']} {f['component']}"
        for f in checked.findings("error", "warning")
    )


def judge(case: Case, place: Place) -> None:
    """Make the environment; fail where imports and findings are not as the case has them.

    That a case whose imports all succeed expects no finding, and one with a failure at least one,
    holds by its form.
    """
    assert bool(case.fails) == bool(case.told), "a finding exactly where something fails"
    odd = case.make(place)
    empty = place.folder / "empty"
    empty.mkdir()
    failed = failures(odd, case.imports, empty)
    assert sorted(failed) == sorted(case.fails), json.dumps(failed, indent=1)
    for statement, text in case.fails.items():
        assert text in failed[statement], failed[statement]
    checked = check("--python", odd.python, environ={"HOME": str(empty), **odd.environ})
    summaries = [f["summary"] for f in checked.report["findings"]]
    assert told(checked) == sorted(case.told), json.dumps(summaries, indent=1)
