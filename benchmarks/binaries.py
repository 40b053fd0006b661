"""What reading binaries costs: CPU time and memory for each GB of shared objects.

python -m benchmarks.binaries ~/env/bin/python [MORE ...]
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path
from typing import Dict

from envdoctor.facts.host import Host
from envdoctor.facts.target import choose, observe
from envdoctor.knowledge.load import load
from envdoctor.linking.examine import examine
from envdoctor.linking.files import shared_objects


def measure(python: str) -> None:
    """Print one line for an environment."""
    providers = load().providers
    observed = observe(choose(python, None, os.environ), lambda: providers)
    target = observed.value
    if target is None:
        sys.exit(observed.unknown)
    sizes: Dict[Path, int] = {}
    for file in shared_objects(target):
        path = Path(file.path).resolve()
        if path.is_file():
            sizes[path] = path.stat().st_size
    gigabytes = sum(sizes.values()) / 1e9
    started, clock = time.process_time(), time.perf_counter()
    linking = examine(Host(), target)
    cpu, wall = time.process_time() - started, time.perf_counter() - clock
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    value = linking.value
    found = f"{value.files} simulated, {len(value.binaries)} fail" if value else linking.unknown
    print(
        f"{python}: {len(sizes)} files, {gigabytes:.2f} GB: {cpu:.2f} s CPU, {wall:.2f} s, "
        f"{cpu / max(gigabytes, 0.001):.2f} s/GB, {memory} MB; {found}"
    )


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        measure(argument)
