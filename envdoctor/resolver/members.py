"""The components of a stack as they are told: versions, origins, how to install them."""

from __future__ import annotations

import shlex
from typing import Dict, Iterator, List, Sequence, Tuple, Union

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Absent, Build, Unknown, Value
from envdoctor.model.resolution import HOST, Member
from envdoctor.relations.components import PYTHON
from envdoctor.relations.explained import plain
from envdoctor.relations.observe import is_source
from envdoctor.relations.plan import requirement_arguments
from envdoctor.relations.tell import label
from envdoctor.resolver.images import IMAGE
from envdoctor.resolver.solver import Found
from envdoctor.resolver.space import Space

_PAGES = ("-f", "--find-links", "-i", "--index-url", "--extra-index-url")
#: Attributes that say how to have a build, or what the stack says already.
_LEFT_OUT = ("install", "requires_python", "origin")


def members(found: Found, space: Space) -> Tuple[Member, ...]:
    """The members of a stack in the order in which they are installed."""
    patches = _patches(found, space)
    names = sorted(found.builds, key=lambda name: _rank(found.builds[name], space))
    return tuple(_member(found.builds[name], space, patches.get(name, ())) for name in names)


def _rank(build: Build, space: Space) -> Tuple[int, int]:
    """What is compiled comes after what it is compiled against; pins keep their order."""
    name = build.component
    package = space.knowledge.packages.get(name)
    pinned = list(space.pins)
    place = pinned.index(name) if name in pinned else len(pinned)
    if name in (IMAGE, PYTHON):
        return (int(name == PYTHON), 0)
    if package is not None and package.is_framework:
        return (2, place)
    is_tree = any(pin.tree for pin in space.pins.get(name, ()))
    return (3 + int(is_source(build)) + int(is_tree), place)


def _member(build: Build, space: Space, patches: Tuple[str, ...]) -> Member:
    name = build.component
    pins = space.pins.get(name, ())
    tree = next((pin.tree for pin in pins if pin.tree), "")
    pinned = any(pin.specifier or pin.variant for pin in pins)
    version = label(build, space.knowledge)
    if name == PYTHON:
        origin = "host" if space.world.target == HOST else "index"
        return Member(name, version, origin=origin, pinned=pinned, entry=build.entry)
    if name == IMAGE:
        return Member(name, version, _variant(build), origin="image", entry=build.entry)
    arguments = () if tree else tuple(_arguments(build))
    return Member(
        component=name,
        version=version,
        variant=_variant(build),
        origin="source" if is_source(build) or tree else "index",
        url=_page(arguments),
        requirement=next((a for a in arguments if not a.startswith("-")), ""),
        arguments=arguments,
        pinned=pinned,
        patches=patches,
        tree=tree,
        entry=build.entry,
    )


def _arguments(build: Build) -> Iterator[str]:
    """What follows `pip install`; of sources that nothing is said of, that they are to be built."""
    stated = requirement_arguments(build)
    if stated is not None:
        yield from shlex.split(stated)
        return
    yield f"{build.component}=={build.version}"
    if is_source(build):
        yield from ("--no-binary", build.component, "--no-cache-dir")
        if build.attributes.get("compiles") == "cuda" or build.attributes.get("imports"):
            yield "--no-build-isolation"


def _page(arguments: Sequence[str]) -> str:
    for option, value in zip(arguments, arguments[1:]):
        if option in _PAGES:
            return value
    return next((a.partition(" @ ")[2].strip() for a in arguments if " @ " in a), "")


def _variant(build: Build) -> Dict[str, Union[str, int, bool, List[str]]]:
    return {
        name: plain(value)
        for name, value in build.attributes.items()
        if name not in _LEFT_OUT and not isinstance(value, (Unknown, Absent))
    }


def _patches(found: Found, space: Space) -> Dict[str, Tuple[str, ...]]:
    """{component: the patches that its sources need}."""
    owners: Dict[str, List[str]] = {}
    for related in space.related:
        patch = related.bound.relation.waiver
        if patch in found.patches and patch not in owners.setdefault(related.bound.owner, []):
            owners[related.bound.owner].append(patch)
    return {name: tuple(sorted(names)) for name, names in owners.items()}


def told(value: Value, knowledge: Knowledge) -> str:
    """A build's version as people write it."""
    return label(value, knowledge) if isinstance(value, Build) else str(value)


def capabilities(gpus: Value) -> Tuple[str, ...]:
    """The compute capabilities of devices, each once: "9.0"."""
    found = []
    for gpu in gpus if isinstance(gpus, tuple) else ():
        capability = gpu.attributes.get("cc")
        if isinstance(capability, Version):
            found.append(str(capability))
    return tuple(dict.fromkeys(found))
