"""CPU time of `envdoctor check` beside a bare interpreter start and torch's own collect_env.

Everything that is compared is measured in one run, in turns, so that a busy machine weighs on all
of it alike. CPU time is that of a command and of every child that it waited for, user and system.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from statistics import median
from typing import Dict, List, NamedTuple, Tuple

ROOT = Path(__file__).resolve().parent.parent

#: Files of a distribution, in turns: median 36 and mean 157, as counted over real environments.
SIZES = (6, 10, 16, 24, 32, 36, 48, 70, 130, 300, 1055)
TORCH = "2.13.0"
#: Files of that torch's wheel.
TORCH_SIZE = 12_248
#: Distributions that the matrices speak of, so that relations are evaluated.
KNOWN = {
    "torchvision": "0.28.0",
    "transformers": "4.57.3",
    "tokenizers": "0.22.1",
    "mmengine": "0.10.7",
}
#: The same check right after one distribution changed.
CHANGED = "check after a change"
#: Beside torch.
DISTRIBUTIONS = 150


class Cost(NamedTuple):
    """Seconds that one run of a command took."""

    cpu: float
    wall: float


def measure(command: List[str], environ: Dict[str, str], codes: Tuple[int, ...]) -> Cost:
    """Runs a command once; raises SystemExit if its exit code is not one of `codes`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=str(ROOT),
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in codes:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Cost(cpu, wall)


def add_distribution(site: Path, name: str, version: str, files: int, requires: List[str]) -> None:
    """Writes a package of empty modules and the metadata that pip would leave beside it."""
    module = name.replace("-", "_")
    package = site / module
    package.mkdir()
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    record = []
    for number in range(files):
        file = package / ("__init__.py" if number == 0 else f"module_{number}.py")
        file.touch()
        record.append(f"{module}/{file.name},sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0")
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata += ["Requires-Python: >=3.8", *(f"Requires-Dist: {one}" for one in requires)]
    texts = {
        "METADATA": "\n".join([*metadata, "", "A line of a description.\n" * 200]),
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "INSTALLER": "pip\n",
        "top_level.txt": module + "\n",
    }
    record += [f"{info.name}/{file},," for file in [*texts, "RECORD"]]
    texts["RECORD"] = "\n".join(record) + "\n"
    for file, text in texts.items():
        (info / file).write_text(text, encoding="utf-8")


def site_packages(environment: Path) -> Path:
    """The folder of an environment that holds its packages."""
    (site,) = environment.glob("lib/python3*/site-packages")
    return site


def install_torch(environment: Path) -> None:
    """Installs a real torch, and numpy, from pip's index.

    Raises OSError with pip's last line where that cannot be had.
    """
    venv.create(str(environment), symlinks=True, with_pip=True)
    print(f"installing torch {TORCH} ...", file=sys.stderr)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    done = subprocess.run(
        [*pip, "--only-binary", ":all:", f"torch=={TORCH}", "numpy"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise OSError((done.stderr.strip().splitlines() or ["pip failed"])[-1])


def imitate_torch(environment: Path) -> None:
    """Writes what can be read of a torch, without its libraries."""
    venv.create(str(environment), symlinks=True, with_pip=False)
    add_distribution(site_packages(environment), "torch", TORCH, TORCH_SIZE, [])
    (site_packages(environment) / "torch" / "version.py").write_text(
        f"__version__ = '{TORCH}+cpu'\ncuda = None\nhip = None\n", encoding="utf-8"
    )


def fill(environment: Path) -> None:
    """Adds made distributions until there are 150 beside torch."""
    site = site_packages(environment)
    count = DISTRIBUTIONS + 1 - len(KNOWN) - len(list(site.glob("*.dist-info")))
    versions = {**KNOWN, **{f"package-{number}": f"1.{number}" for number in range(count)}}
    earlier: List[str] = []
    for number, (name, version) in enumerate(versions.items()):
        requires = [f"{one}>={versions[one]}" for one in earlier[-3:]]
        requires += [f"package-absent>=1; extra == 'more-{name}'"]
        add_distribution(site, name, version, SIZES[number % len(SIZES)], requires)
        earlier.append(name)


def change(metadata: Path, turn: int) -> None:
    """Makes another release of a distribution, as an upgrade would."""
    text = metadata.read_text(encoding="utf-8")
    again = re.sub(r"(?m)^Version: .*$", f"Version: 1.{turn + 100}", text, count=1)
    metadata.write_text(again, encoding="utf-8")


def report(costs: Dict[str, List[Cost]], baseline: str) -> None:
    """Prints medians, and how many times the baseline's CPU time each of them is."""
    base = median(cost.cpu for cost in costs[baseline])
    print(
        f"{'median of ' + str(len(costs[baseline])) + ' runs':<26}{'CPU ms':>9}{'wall ms':>9}"
        f"{'ratio':>9}"
    )
    for name, list_of_costs in costs.items():
        cpu = median(cost.cpu for cost in list_of_costs)
        wall = median(cost.wall for cost in list_of_costs)
        print(f"{name:<26}{cpu * 1000:>9.0f}{wall * 1000:>9.0f}{cpu / base:>9.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="runs of each command")
    parser.add_argument(
        "--torch-python", metavar="PATH", help="examine this interpreter, which has torch"
    )
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="envdoctor-benchmark-") as folder:
        environment = Path(folder, "environment")
        python = options.torch_python or str(environment / "bin" / "python")
        imported = "torch.utils.collect_env"
        if not options.torch_python:
            try:
                install_torch(environment)
            except OSError as problem:
                shutil.rmtree(str(environment))
                imitate_torch(environment)
                imported = ""
                print(f"no collect_env, for torch {TORCH} could not be installed: {problem}")
            fill(environment)

        commands = {
            "interpreter start": ([sys.executable, "-c", ""], (0,)),
            "envdoctor check": (
                [
                    sys.executable,
                    "-m",
                    "envdoctor",
                    "check",
                    "--format",
                    "json",
                    "--python",
                    python,
                ],
                (0, 1),
            ),
        }
        if imported:
            commands[imported] = ([python, "-m", imported], (0,))
        environ = {
            name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ
        }
        environ["XDG_CACHE_HOME"] = str(Path(folder, "cache"))
        changed = None
        if not options.torch_python:
            commands[CHANGED] = commands["envdoctor check"]
            (changed,) = site_packages(environment).glob("package_0-*.dist-info/METADATA")
            time.sleep(3)  # what changed within two seconds is not taken as settled
        costs: Dict[str, List[Cost]] = {name: [] for name in commands}
        for turn in range(options.runs + 1):
            for name, (command, codes) in commands.items():
                if name == CHANGED and changed is not None:
                    change(changed, turn)
                cost = measure(command, environ, codes)
                if name == CHANGED:
                    time.sleep(2.5)
                    measure(command, environ, codes)
                # The first turn fills caches.
                if turn:
                    costs[name].append(cost)
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs")
    report(costs, "envdoctor check")


if __name__ == "__main__":
    main()
