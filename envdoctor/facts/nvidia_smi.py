"""Reads what `nvidia-smi` prints, of any release since R450."""

from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from envdoctor.facts.enumeration import Device, Instance
from envdoctor.model.text import number

# The older releases know neither compute_cap (before R510) nor MIG (before R450).
FIELDS: Tuple[str, ...] = (
    "uuid",
    "name",
    "memory.total",
    "driver_version",
    "compute_cap",
    "mig.mode.current",
)
OLD_FIELDS = FIELDS[:4]
FORMAT = "--format=csv,noheader,nounits"


class Listed(NamedTuple):
    """The GPUs of `--query-gpu`, without their MIG instances, and the driver's version."""

    devices: Tuple[Device, ...]
    driver: str


def read_query(text: str, fields: Tuple[str, ...]) -> Listed:
    """Read the lines of `--query-gpu` with these fields; lines of another form are passed over."""
    devices, driver = [], ""
    for line in text.splitlines():
        values = [value.strip() for value in line.split(", ")]
        if len(values) != len(fields):
            continue
        row = dict(zip(fields, values))
        # What cannot be told is "[N/A]", "[Not Supported]" or "N/A".
        capability = row.get("compute_cap", "")
        memory = row["memory.total"]
        driver = row["driver_version"] if row["driver_version"][:1].isdigit() else driver
        devices.append(
            Device(
                name=row["name"],
                compute_capability=capability if re.fullmatch(r"\d+\.\d+", capability) else None,
                memory_mib=number(memory),
                uuid=row["uuid"] if row["uuid"].startswith("GPU-") else "",
                mig=row.get("mig.mode.current") == "Enabled",
            )
        )
    return Listed(tuple(devices), driver)


def read_versions(text: str) -> Tuple[str, str]:
    """The driver and the CUDA version of `-q` or of the table; empty where not stated.

    Since R6xx they are called "KMD Version" and "CUDA UMD Version".
    """
    driver = re.search(r"(?:Driver|KMD) Version\s*: *(\d+(?:\.\d+)+)", text)
    cuda = re.search(r"CUDA (?:UMD )?Version\s*: *(\d+\.\d+)", text)
    return driver[1] if driver else "", cuda[1] if cuda else ""


def read_instances(listing: str, details: str) -> List[Tuple[Instance, ...]]:
    """The MIG instances of each GPU, from `-L` (profile, UUID) and `-q` (memory, numbers)."""
    numbers = _numbers(details)
    gpus: List[List[Instance]] = []
    for line in listing.splitlines():
        if re.match(r"GPU \d+:", line):
            gpus.append([])
        row = re.match(r"\s+MIG (\S+)\s+Device\s+(\d{1,9}): \(UUID: (MIG-[^)\s]+)\)", line)
        if row and gpus:
            own = numbers[len(gpus) - 1] if len(gpus) <= len(numbers) else {}
            known = own.get(int(row[2]), {})
            gpus[-1].append(
                Instance(
                    profile=row[1],
                    memory_mib=known.get("memory"),
                    uuid=row[3],
                    gpu_instance=known.get("GPU Instance ID"),
                    compute_instance=known.get("Compute Instance ID"),
                )
            )
    return [tuple(instances) for instances in gpus]


def _numbers(details: str) -> List[Dict[int, Dict[str, int]]]:
    """For each GPU of `-q`, by the instance's index: its memory in MiB and its numbers."""
    gpus: List[Dict[int, Dict[str, int]]] = []
    instance: Optional[Dict[str, int]] = None
    section = ""
    for line in details.splitlines():
        key, _, value = (part.strip() for part in line.partition(" : "))
        depth = len(line) - len(line.lstrip())
        if depth == 0 and line.startswith("GPU "):
            gpus.append({})
        if depth <= 4:
            instance = {} if key == "MIG Device" else None
        if instance is None or not gpus:
            continue
        if not value:
            section = key
        told = number(value.partition(" ")[0])
        if told is not None and key == "Index":
            gpus[-1][told] = instance
        elif told is not None and key == "Total" and section == "FB Memory Usage":
            instance["memory"] = told
        elif told is not None and key.endswith("Instance ID"):
            instance[key] = told
    return gpus
