"""What a resolve costs, with interpreter start: CPU time and memory of each model, GPU and driver.

python -m benchmarks.resolve [--models maptr,qcnet] [--sample 4] [--uv]

With `--uv`, beside it what `uv pip compile` takes for the part of a profile that it can express:
its pins and lines of PyPI, without the builds that PyPI does not serve.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence

from envdoctor.knowledge.load import load
from envdoctor.knowledge.profiles import load_profile

MODELS = ("maptr", "sparsedrive", "qcnet", "gaussianformer", "petrv2")
GPUS = ("v100", "t4", "rtx3090", "a100", "rtx4090", "l40s", "h100", "h200", "rtx5090")
DRIVERS = ("450.80.02", "470.57.02", "535.129.03", "580.65.06")
BARS = "bars: 1 s, 100 MB"


class Cost(NamedTuple):
    """What one process took."""

    cell: str
    cpu: float  # seconds
    megabytes: float


def measure(command: Sequence[str], cell: str, environment: Dict[str, str]) -> Cost:
    """Run a command to its end, its output thrown away."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, usage = os.wait4(process.pid, 0)
    return Cost(cell, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def of_model(model: str, sample: int, environment: Dict[str, str]) -> List[Cost]:
    """One cost for each cell, or for every `sample`-th."""
    cells = list(itertools.product(GPUS, DRIVERS))[::sample]
    found = []
    for gpu, driver in cells:
        command = [sys.executable, "-m", "envdoctor", "resolve", model, "--target", "image"]
        command += ["--gpu", gpu, "--driver", driver, "--format", "json"]
        found.append(measure(command, f"{gpu} {driver}", environment))
    return found


def expressible(model: str) -> List[str]:
    """What uv can be told of a profile: pins that PyPI serves as they are, and its lines."""
    profile, knowledge = load_profile(model), load()
    lines = [line.line for line in profile.requirements]
    for name, pin in profile.pins.items():
        package = knowledge.packages.get(name)
        if package is not None and package.pypi is not None and not pin.tree:
            lines.append(f"{name}{pin.version}")
    return lines


def by_uv(uv: str, model: str) -> str:
    """The wall time of uv for it, with what it fetched before in its cache."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "requirements.in"
        asked.write_text("\n".join(expressible(model)) + "\n", encoding="utf-8")
        command = [uv, "pip", "compile", "--python-version", "3.8", "--quiet", str(asked)]
        command += ["--output-file", str(Path(folder) / "out.txt")]
        status = subprocess.run(command, capture_output=True, check=False).returncode
        started = time.perf_counter()
        subprocess.run(command, capture_output=True, check=False)
        seconds = time.perf_counter() - started
    said = "" if status == 0 else ", which finds no solution or builds sources"
    return f"uv pip compile: {seconds:.2f} s{said}"


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--sample", type=int, default=1, help="of the cells every so many")
    parser.add_argument("--uv", action="store_true")
    options = parser.parse_args()
    uv = shutil.which("uv") if options.uv else None
    print(BARS)
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        for model in options.models.split(","):
            of_model(model, len(GPUS) * len(DRIVERS), environment)  # fills the cache
            costs = of_model(model, options.sample, environment)
            worst = max(costs, key=lambda cost: cost.cpu)
            median = statistics.median(cost.cpu for cost in costs)
            memory = max(cost.megabytes for cost in costs)
            print(
                f"{model}: {len(costs)} cells, median {median:.2f} s CPU, worst {worst.cpu:.2f} s"
                f" ({worst.cell}), at most {memory:.0f} MB"
            )
            if uv is not None:
                print(f"  {by_uv(uv, model)}")


if __name__ == "__main__":
    main()
