"""Which devices CUDA enumerates: CUDA_VISIBLE_DEVICES and the rules for MIG instances."""

from __future__ import annotations

import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

from envdoctor.model.facts import Gpu

# Since R570 a process sees one compute instance of every GPU instance, and GPUs without MIG beside
# them; before, a single instance and nothing else (NVIDIA MIG User Guide, "CUDA Device
# Enumeration").
_SEVERAL_INSTANCES_SINCE = 570


class Instance(NamedTuple):
    """A compute instance of a GPU that is in MIG mode."""

    profile: str  # "1g.10gb", "1c.3g.40gb"
    memory_mib: Optional[int] = None
    uuid: str = ""
    gpu_instance: Optional[int] = None
    compute_instance: Optional[int] = None


class Device(NamedTuple):
    """A GPU as the driver lists it. The UUIDs are for matching only; no fact carries them."""

    name: str
    compute_capability: Optional[str] = None
    memory_mib: Optional[int] = None
    uuid: str = ""
    mig: bool = False
    instances: Tuple[Instance, ...] = ()


# The position of a device and, for one of its instances, of that. GPUs may lack a UUID.
_Unit = Tuple[int, Optional[int]]


def enumerate_devices(
    devices: Sequence[Device], visible: Optional[str], driver: str = ""
) -> Tuple[Gpu, ...]:
    """The devices that CUDA of driver `driver` shows to a process, in its order.

    `visible` is CUDA_VISIBLE_DEVICES, None where it is not set.
    """
    every: List[_Unit] = [(number, None) for number in range(len(devices))]
    units: List[_Unit] = []
    for number, place in every if visible is None else _select(devices, visible):
        if place is None and devices[number].mig:
            units += [(number, place) for place in range(len(devices[number].instances))]
        else:
            units.append((number, place))
    major = re.match(r"\d{1,9}", driver)
    if major and int(major[0]) >= _SEVERAL_INSTANCES_SINCE:
        units = _one_per_gpu_instance(devices, units)
    else:
        units = [unit for unit in units if unit[1] is not None][:1] or units
    return tuple(_gpu(devices[number], place) for number, place in units)


def _select(devices: Sequence[Device], visible: str) -> List[_Unit]:
    """What the entries name, up to the first that names nothing; none if one is repeated."""
    units: List[_Unit] = []
    for entry in visible.split(","):
        unit = _named(devices, entry.strip())
        if unit is None:
            break
        if unit in units:
            return []
        units.append(unit)
    return units


def _named(devices: Sequence[Device], entry: str) -> Optional[_Unit]:
    if entry.startswith("MIG-"):
        for number, device in enumerate(devices):
            for place, instance in enumerate(device.instances):
                # R450 and R460 name an instance by its GPU and the numbers of both instances.
                numbers = f"{instance.gpu_instance}/{instance.compute_instance}"
                if entry in (instance.uuid, f"MIG-{device.uuid}/{numbers}"):
                    return number, place
        return None
    if entry.startswith("GPU-"):
        matches = [n for n, device in enumerate(devices) if device.uuid.startswith(entry)]
        return (matches[0], None) if len(matches) == 1 else None
    index = re.match(r"[+-]?\d{1,18}(?!\d)", entry)  # as strtol reads it: what follows is ignored
    if index and 0 <= int(index[0]) < len(devices):
        return int(index[0]), None
    return None


def _one_per_gpu_instance(devices: Sequence[Device], units: Sequence[_Unit]) -> List[_Unit]:
    kept: List[_Unit] = []
    used = set()
    for number, place in units:
        if place is not None:
            gpu_instance = devices[number].instances[place].gpu_instance
            if gpu_instance is not None and (number, gpu_instance) in used:
                continue
            used.add((number, gpu_instance))
        kept.append((number, place))
    return kept


def _gpu(device: Device, place: Optional[int]) -> Gpu:
    memory, profile = device.memory_mib, None
    if place is not None:
        memory, profile = device.instances[place].memory_mib, device.instances[place].profile
    return Gpu(device.name, device.compute_capability, memory, profile)
