"""What loading all matrices costs: CPU time, without what was decoded before and with it.

python -m benchmarks.matrices [--runs 15]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Dict, List

_LOAD = """
import time
from envdoctor.knowledge.load import load
started = time.process_time()
knowledge = load()
loaded = time.process_time()
builds = sum(len(package.builds()) for package in knowledge.packages.values())
print((loaded - started) * 1000, (time.process_time() - loaded) * 1000, builds)
"""


def measure(environment: Dict[str, str]) -> List[float]:
    """Milliseconds of CPU that one process loads, and expands every build; and their number."""
    said = subprocess.run(
        [sys.executable, "-c", _LOAD], env=environment, capture_output=True, text=True, check=True
    ).stdout
    return [float(part) for part in said.split()]


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        measure(environment)
        warm = [measure(environment) for _ in range(runs)]
    cold = [measure({**os.environ, "ENVDOCTOR_NO_CACHE": "1"}) for _ in range(runs)]
    for name, measured in (("cold", cold), ("warm", warm)):
        load, builds = (statistics.median(run[n] for run in measured) for n in (0, 1))
        number = measured[0][2]
        print(f"{name}: {load:.0f} ms CPU to load; {builds:.0f} ms more for {number:.0f} builds")


if __name__ == "__main__":
    main()
