"""cuda-compat's libcuda is loaded on a GPU that it does not serve."""

from __future__ import annotations

import re
from typing import Iterator, Optional

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import try_parse
from envdoctor.relations.devices import family_of
from envdoctor.relations.drivers import serves
from envdoctor.rules.lookup import fix, observed
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report it of GeForce cards; what libcuda itself enumerated, it serves."""
    facts = context.facts
    accelerator, machine = facts.accelerator, facts.machine
    gpus = accelerator.gpus
    if machine.wsl.value or machine.jetson.known or gpus.assumed or accelerator.driver.assumed:
        return
    if accelerator.vendor.value != "nvidia" or gpus.origin.startswith("libcuda"):
        return
    cards = [gpu for gpu in gpus.value or () if _is_geforce(gpu.name, context.knowledge)]
    evidence = _by_file(context) or _by_number(context)
    if not cards or evidence is None:
        return
    yield Fault(
        component="cuda-compat",
        fields={"gpu": cards[0].name, "driver": accelerator.driver.value or ""},
        evidence=(observed("NVIDIA driver", accelerator.driver), evidence),
        fixes=fix(),
        verify=("nvidia-smi", "ldconfig -p | grep libcuda.so.1"),
    )


def _is_geforce(name: str, knowledge: Knowledge) -> bool:
    return "GeForce" in name or family_of(name, knowledge) == "consumer"


def _by_file(context: Context) -> Optional[Evidence]:
    """A libcuda of cuda-compat comes first, and is newer than the driver."""
    accelerator = context.facts.accelerator
    named = re.search(r"\.so\.(\d{3,}(?:\.\d+)+)$", accelerator.compat.value or "", re.ASCII)
    found = try_parse(named[1]) if named else None
    kernel = accelerator.kernel_module
    driver = try_parse((kernel.value if kernel.known else accelerator.driver.value) or "")
    if found is None or driver is None or found <= driver:
        return None
    return Evidence("libcuda.so.1", accelerator.compat.value or "", accelerator.compat.origin)


def _by_number(context: Context) -> Optional[Evidence]:
    """More is served than this branch of the driver does by itself."""
    accelerator = context.facts.accelerator
    if accelerator.served.known:
        return None  # CUDA works: within a major the number is no limit
    driver = try_parse(accelerator.driver.value or "")
    served = try_parse(accelerator.serves.value or "")
    table = context.knowledge.tables.get("branch")
    if driver is None or served is None or table is None or accelerator.serves.assumed:
        return None
    branches = {key.major for key in table.rows if isinstance(key, Version)}
    own = try_parse(serves(driver, context.knowledge) or "")
    if driver.major not in branches or own is None or served <= own:
        return None
    return Evidence("CUDA version that the driver serves", str(served), accelerator.serves.origin)
