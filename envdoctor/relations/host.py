"""Facts of the machine as components: the driver and what it serves, GPUs, the system."""

from __future__ import annotations

from collections import Counter
from typing import Dict, Iterator, Mapping, Optional

import msgspec
from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.facts import Accelerator, Facts, Gpu, Observed, seen
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import parse, try_parse
from envdoctor.relations.components import DOTTED
from envdoctor.relations.devices import family_of, lookup
from envdoctor.relations.drivers import of_branch, serves
from envdoctor.relations.judge import Domain

#: How torch reads a variable that switches something on.
_SWITCHED_ON = ("1", "y", "yes", "true")


def observe_host(
    facts: Facts,
    knowledge: Knowledge,
    domains: Dict[str, Domain],
    evidence: Dict[str, Evidence],
) -> None:
    """Fill in what is known of the machine's components, with the evidence for each."""
    machine, accelerator = facts.machine, facts.accelerator
    texts: Dict[str, Observed[str]] = {
        "host.driver": accelerator.driver,
        "host.serves": accelerator.serves,
        "host.glibc": machine.glibc,
        "host.libstdcxx": machine.libstdcxx,
        "host.os": machine.os,
        "host.architecture": machine.architecture,
        "host.accelerator": accelerator.vendor,
    }
    for component, observed in texts.items():
        what = DOTTED[component]
        value: Value = Unknown(observed.unknown or f"the {what} is unknown")
        if observed.value is not None:
            version = try_parse(observed.value)
            value = observed.value if version is None else version
            evidence[component] = Evidence(what, observed.value, observed.origin)
        domains[component] = (value,)
    _derive_served(facts, knowledge, domains, evidence)
    _derive_driver(facts, knowledge, domains)
    _heed_served(facts, domains, evidence)
    _put_drives(facts, domains, evidence)
    domains["host.wsl"] = (bool(machine.wsl.value),)
    domains["host.jetson"] = (machine.jetson.value or "",)
    environ = facts.target.value.environ if facts.target.value is not None else {}
    domains["host.variables"] = (tuple(_variables(environ)),)
    torch = facts.target.value.torch if facts.target.value is not None else None
    mended = torch is not None and torch.distutils.value is False
    domains["host.patched"] = (("torch.utils.tensorboard",) if mended else (),)
    domains["host.gpu"] = (_gpus(accelerator, knowledge, evidence),)


def _variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Names of those that are switched on; with = of those that are set, and with their value."""
    for name, value in environ.items():
        if value.lower() in _SWITCHED_ON:
            yield name
        yield from (f"{name}=", f"{name}={value}")


def _derive_served(
    facts: Facts,
    knowledge: Knowledge,
    domains: Dict[str, Domain],
    evidence: Dict[str, Evidence],
) -> None:
    """Where nobody could be asked what the driver serves, its branch says it."""
    if isinstance(domains["host.serves"][0], Version):
        return
    served = _of_branch(facts, domains["host.driver"][0], knowledge)
    if served is not None:
        domains["host.serves"] = (parse(served),)
        evidence["host.serves"] = Evidence(DOTTED["host.serves"], served, "the driver's branch")


def _of_branch(facts: Facts, driver: object, knowledge: Knowledge) -> Optional[str]:
    """What a driver serves by its number.

    Not with a cuda-compat libcuda ahead of the driver's, and not for Windows' and Jetson's own
    numbers.
    """
    apart = facts.machine.wsl.value or facts.machine.jetson.value
    if not isinstance(driver, Version) or apart or facts.accelerator.compat.known:
        return None
    return serves(driver, knowledge)


def with_served(facts: Facts, knowledge: Knowledge) -> Facts:
    """Facts in which the driver's branch says what it serves, where nobody could be asked."""
    accelerator = facts.accelerator
    driver = try_parse(accelerator.driver.value or "")
    if accelerator.serves.known or accelerator.vendor.value != "nvidia":
        return facts
    served = _of_branch(facts, driver, knowledge)
    if served is None:
        return facts
    known = seen(served, accelerator.driver.origin)
    accelerator = msgspec.structs.replace(accelerator, serves=known)
    return msgspec.structs.replace(facts, accelerator=accelerator)


def _heed_served(facts: Facts, domains: Dict[str, Domain], evidence: Dict[str, Evidence]) -> None:
    """What works is served, whatever the driver's number says."""
    served = facts.accelerator.served
    known, least = domains["host.serves"][0], try_parse(served.value or "")
    if least is None or (isinstance(known, Version) and known >= least):
        return
    if not isinstance(known, Version) and facts.accelerator.driver.known:
        return  # a number that no branch tells: WSL's, a Jetson's
    domains["host.serves"] = (least,)
    evidence["host.serves"] = Evidence(DOTTED["host.serves"], str(least), served.origin)


def _derive_driver(facts: Facts, knowledge: Knowledge, domains: Dict[str, Domain]) -> None:
    """Where libcuda said what it serves and the driver's number is unknown, its branch is known.

    Everything newer that a relation asks for is of a newer branch, so its oldest release will do.
    """
    told = facts.accelerator.serves
    if isinstance(domains["host.driver"][0], Version) or told.value is None or told.assumed:
        return
    oldest = of_branch(told.value, knowledge)
    if oldest is not None:
        domains["host.driver"] = (oldest,)


def _put_drives(facts: Facts, domains: Dict[str, Domain], evidence: Dict[str, Evidence]) -> None:
    """The driver that was assumed together with GPUs; else it is absent.

    What a driver enumerates it drives, and nobody puts a card that is assumed into this machine
    without a driver for it. Numbers of Windows and Jetson are their own.
    """
    accelerator, machine = facts.accelerator, facts.machine
    driver = domains["host.driver"][0]
    together = accelerator.driver.assumed and accelerator.gpus.assumed
    apart = machine.wsl.value or machine.jetson.value
    is_known = isinstance(driver, Version) and together and not apart
    domains["host.drives"] = (driver if is_known else ABSENT,)
    if is_known:
        evidence["host.drives"] = evidence["host.driver"]


def _gpus(accelerator: Accelerator, knowledge: Knowledge, evidence: Dict[str, Evidence]) -> Value:
    gpus = accelerator.gpus
    if gpus.value is None:
        return Unknown(gpus.unknown or "the GPU is unknown")
    if not gpus.value:
        return Unknown("there is no GPU here")
    names = Counter(f"{g.name} ({_capability(g, knowledge) or '?'})" for g in gpus.value)
    texts = (f"{count}x {name}" if count > 1 else name for name, count in names.items())
    evidence["host.gpu"] = Evidence("GPU", ", ".join(texts), gpus.origin)
    return tuple(gpu_build(gpu, knowledge) for gpu in gpus.value)


def gpu_build(gpu: Gpu, knowledge: Knowledge) -> Build:
    """A device as a build of host.gpu."""
    attributes: Dict[str, Value] = {"name": gpu.name, "family": family_of(gpu.name, knowledge)}
    version = try_parse(_capability(gpu, knowledge))
    attributes["cc"] = version or Unknown(f"compute capability of {gpu.name}")
    return Build("host.gpu", None, attributes, label=gpu.name)


def _capability(gpu: Gpu, knowledge: Knowledge) -> str:
    """What the device said of itself; where nobody asked it, what devices of its name have."""
    if gpu.compute_capability is not None:
        return gpu.compute_capability
    device = lookup(gpu.name, knowledge)
    return "" if device is None else str(device.row.get("cc", ""))
