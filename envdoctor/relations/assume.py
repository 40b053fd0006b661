"""`--assume KEY=VALUE`: facts in which a component is replaced.

The component is replaced whole. Facts that follow from it are computed anew where the matrices
allow, else unknown; all are marked as assumed.
"""

from __future__ import annotations

import difflib
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, TypeVar, Union

import msgspec
from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Value
from envdoctor.model.facts import (
    Compiler,
    Facts,
    Gpu,
    Linking,
    Machine,
    Observed,
    Target,
    Toolkit,
)
from envdoctor.model.text import clean
from envdoctor.model.versions import compute_capability, try_parse
from envdoctor.relations.devices import lookup
from envdoctor.relations.drivers import serves

T = TypeVar("T")

replace = msgspec.structs.replace


class AssumeError(ValueError):
    """An assumption that cannot be understood; the message says what is expected."""


class Assumption(NamedTuple):
    """A setting, "gpu=a100", and what it stands in: a variable, a line of a file."""

    setting: str
    by: str


def assume(facts: Facts, settings: Sequence[Union[str, Assumption]], knowledge: Knowledge) -> Facts:
    """`facts` with each "key=value" of `settings` put in place, in order.

    Raises AssumeError.
    """
    for one in settings:
        setting, by = one if isinstance(one, Assumption) else (one, "")
        try:
            changed = _with(facts, setting, knowledge)
        except AssumeError as error:
            raise AssumeError(f"{by}: {error}" if by else str(error)) from None
        facts = _named(changed, facts, by) if by else changed
    return facts


def _with(facts: Facts, setting: str, knowledge: Knowledge) -> Facts:
    key, sign, value = setting.partition("=")
    change = _KEYS.get(key.strip())
    if change is None or not sign or not value.strip():
        known = ", ".join(_KEYS)
        raise AssumeError(f"{clean(setting)!r}: KEY=VALUE is expected, KEY one of {known}")
    return change(facts, value.strip(), knowledge)


def _named(facts: Facts, before: Facts, by: str) -> Facts:
    """The facts, those of them that were just assumed with what said so."""

    def named(fact: Any, old: Any) -> Any:
        if isinstance(fact, Observed) and fact.assumed and fact.known and fact is not old:
            return replace(fact, origin=f"{_ASSUMED} ({by})")
        return fact

    def each(record: Any, old: Any) -> Any:
        fields = record.__struct_fields__
        return replace(record, **{f: named(getattr(record, f), getattr(old, f)) for f in fields})

    return replace(
        facts,
        machine=each(facts.machine, before.machine),
        accelerator=each(facts.accelerator, before.accelerator),
        tools=each(facts.tools, before.tools),
        target=named(facts.target, before.target),
    )


_ASSUMED = "assumed"


def _assumed(value: T) -> Observed[T]:
    return Observed(value=value, origin=_ASSUMED, assumed=True)


def _unknown(reason: str) -> Observed[T]:
    return Observed(unknown=reason, assumed=True)


def _version(key: str, text: str) -> Version:
    version = try_parse(text)
    if version is None or not text.isascii():
        raise AssumeError(f"{key}={clean(text)}: a version is expected")
    return version


def _gpu(facts: Facts, value: str, knowledge: Knowledge) -> Facts:
    gpus = tuple(_device(name.strip(), knowledge) for name in value.split(","))
    accelerator = facts.accelerator
    driver = accelerator.driver
    vendor: Observed[str] = _assumed("nvidia")
    if accelerator.vendor.value != "nvidia":
        # what served the other vendor's cards, or none, serves none of these
        gone = "a GPU is assumed; what driver serves it was not said"
        driver = driver if driver.assumed else _unknown(gone)
        served = accelerator.serves if accelerator.serves.assumed else _unknown(gone)
        accelerator = replace(accelerator, driver=driver, serves=served, served=_unknown(gone))
    return replace(facts, accelerator=replace(accelerator, vendor=vendor, gpus=_assumed(gpus)))


def _device(name: str, knowledge: Knowledge) -> Gpu:
    device = lookup(name, knowledge)
    if device is not None:
        label, capability = device.row.get("product"), device.row.get("cc")
        return Gpu(
            name=str(label or device.id),
            compute_capability=None if capability is None else str(capability),
        )
    try:
        capability = compute_capability(name)
    except ValueError:
        known = [str(key) for key in knowledge.tables["gpu"].rows]
        if name == "help":
            raise AssumeError(
                f"gpu is an architecture like sm_90 or one of {', '.join(known)}"
            ) from None
        near = difflib.get_close_matches(name.lower(), known, n=5, cutoff=0.5)
        nearest = f"; nearest: {', '.join(near)}" if near else ""
        raise AssumeError(
            f"gpu={clean(name)}: neither a known GPU nor an architecture like sm_90{nearest}"
            " (all: --gpu help)"
        ) from None
    return Gpu(name=name, compute_capability=capability)


#: Majors below it are a CUDA's: what a driver serves is printed beside its own version.
_OLDEST_DRIVER = 100


def _driver(facts: Facts, value: str, knowledge: Knowledge) -> Facts:
    version = _version("driver", value)
    if len(version.release) == 1:
        row = _row(knowledge, "branch", version)
        lowest = row.get("lowest")
        if lowest is None:
            known = ", ".join(str(key) for key in knowledge.tables["branch"].rows)
            raise AssumeError(f"driver={clean(value)}: no such branch is known ({known})")
        value = knowledge_text(knowledge, "branch", version, "lowest")
        version = _version("driver", value)
    if version.major < _OLDEST_DRIVER:
        raise AssumeError(
            f"driver={clean(value)}: no driver has such a number; nvidia-smi prints the driver's "
            "version beside the CUDA version that it serves"
        )
    served = serves(version, knowledge)
    accelerator = replace(
        facts.accelerator,
        driver=_assumed(value),
        kernel_module=_assumed(value),
        served=_unknown(f"driver {value} is assumed"),
        serves=_assumed(served) if served else _unknown(f"what driver {value} serves is unknown"),
        compat=_unknown("the driver is assumed"),
    )
    return replace(facts, accelerator=accelerator)


def _glibc(facts: Facts, value: str, knowledge: Knowledge) -> Facts:  # noqa: ARG001
    _version("glibc", value)
    facts = _unlinked(facts, f"glibc {value} is assumed, and binaries were linked with another")
    return replace(facts, machine=replace(facts.machine, glibc=_assumed(value)))


def _unlinked(facts: Facts, reason: str) -> Facts:
    """The facts without what the loader of this machine does, which is not the one assumed."""
    target = facts.target.value
    if target is None or not target.linking.known:
        return facts
    target = replace(target, linking=_unknown(reason))
    return replace(facts, target=replace(facts.target, value=target))


def _gcc(facts: Facts, value: str, knowledge: Knowledge) -> Facts:  # noqa: ARG001
    _version("gcc", value)
    compiler = Compiler(path="", family="gcc", version=value)
    return replace(facts, tools=replace(facts.tools, compiler=_assumed(compiler)))


def _toolkit(facts: Facts, value: str, knowledge: Knowledge) -> Facts:  # noqa: ARG001
    _version("toolkit", value)
    toolkit = Toolkit(path="", version=value, origin="assumed")
    tools = replace(facts.tools, toolkit=_assumed(toolkit), toolkits=(toolkit,))
    return replace(facts, tools=tools)


def _cudnn(facts: Facts, value: str, knowledge: Knowledge) -> Facts:  # noqa: ARG001
    _version("cudnn", value)
    return replace(facts, tools=replace(facts.tools, cudnn=_assumed(value)))


def _python(facts: Facts, value: str, knowledge: Knowledge) -> Facts:  # noqa: ARG001
    version = _version("python", value)
    if len(version.release) < 2 or version.major != 3:
        raise AssumeError(f"python={clean(value)}: a version like 3.8 is expected")
    target = facts.target.value or Target(python="", version=value)
    linking: Observed[Linking] = Observed()
    if target.linking.known or target.linking.unknown:
        linking = _unknown(f"Python {value} is assumed, and binaries were linked with another")
    target = replace(target, version=value, soabi="", free_threaded=False, linking=linking)
    return replace(facts, target=_assumed(target))


def _os(facts: Facts, value: str, knowledge: Knowledge) -> Facts:
    table = knowledge.tables["distribution"]
    # point releases (rocky:8.9) are the major one's
    row = table.rows.get(value) or table.rows.get(value.partition(".")[0])
    if row is None:
        raise AssumeError(f"os={clean(value)}: known are {', '.join(map(str, table.rows))}")

    def given(column: str) -> Observed[str]:
        cell = row.get(column) if row is not None else None
        return _unknown(f"{column} of {value} is unknown") if cell is None else _assumed(str(cell))

    machine: Machine = replace(
        facts.machine,
        os=_assumed(value),
        glibc=given("glibc"),
        libstdcxx=given("glibcxx"),
        own_libstdcxx=_unknown(f"which libstdc++ comes before that of {value} is not known"),
        libraries=_unknown(f"which libraries {value} has is not known"),
    )
    facts = _unlinked(facts, f"{value} is assumed, and binaries were linked with another glibc")
    gcc = row.get("gcc")
    compiler: Observed[Compiler] = _unknown(f"gcc of {value} is unknown")
    if gcc is not None:
        compiler = _assumed(Compiler(path="", family="gcc", version=str(gcc)))
    return replace(facts, machine=machine, tools=replace(facts.tools, compiler=compiler))


def _row(knowledge: Knowledge, table: str, key: Value) -> Dict[str, Value]:
    return knowledge.tables[table].rows.get(key, {})


def knowledge_text(knowledge: Knowledge, table: str, key: Value, column: str) -> str:
    """A cell as the matrix file writes it ("535.54.03", where the version would be 535.54.3)."""
    return knowledge.tables[table].texts[key][column]


_KEYS: Dict[str, Callable[[Facts, str, Knowledge], Facts]] = {
    "gpu": _gpu,
    "driver": _driver,
    "glibc": _glibc,
    "gcc": _gcc,
    "toolkit": _toolkit,
    "cudnn": _cudnn,
    "python": _python,
    "os": _os,
}


def keys() -> List[str]:
    """The keys that can be assumed."""
    return list(_KEYS)
