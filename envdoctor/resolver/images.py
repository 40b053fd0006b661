"""Images to build a stack on, as builds: what each sets of the machine and of compiling."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Tuple

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import ABSENT, Build, Value
from envdoctor.model.versions import parse

IMAGE = "image"

#: {component: the attribute of an image that sets it}.
SETS: Dict[str, str] = {
    "host.os": "os",
    "host.glibc": "glibc",
    "host.libstdcxx": "libstdcxx",
    "build.toolkit": "toolkit",
    "build.gcc": "gcc",
    "build.cudnn": "cudnn",
}

#: The systems of the tags in the table base_image.
_UBUNTU = "ubuntu:"
_TAG = "nvidia/cuda:{release}-{cudnn}-devel-ubuntu{ubuntu}"
#: The word in a tag that names no number: cuDNN 9.
_PLAIN_CUDNN = "9"


def images(knowledge: Knowledge) -> Tuple[Build, ...]:
    """Every base image that the matrices know, from the oldest to the newest.

    First one for each Ubuntu without a toolkit, on which nothing is compiled for a GPU; then those
    of NVIDIA with a CUDA toolkit, a compiler and cuDNN.
    """
    return (*_plain(knowledge), *_with_toolkit(knowledge))


def _plain(knowledge: Knowledge) -> Iterator[Build]:
    for name in _systems(knowledge):
        attributes: Dict[str, Value] = {**_system(name, knowledge), "name": name}
        attributes.update(toolkit=ABSENT, cudnn=ABSENT)
        yield Build(IMAGE, None, attributes, label=name, entry="table/distribution")


def _with_toolkit(knowledge: Knowledge) -> Iterator[Build]:
    known = _systems(knowledge)
    for release, row in knowledge.tables["base_image"].rows.items():
        word = str(row["cudnn"])
        if not isinstance(release, Version):
            continue
        cudnn = parse(re.sub(r"\D", "", word) or _PLAIN_CUDNN)
        for ubuntu in _tags(row["ubuntu"]):
            system = f"{_UBUNTU}{ubuntu}"
            if system not in known:
                continue
            name = _TAG.format(release=release, cudnn=word, ubuntu=ubuntu)
            attributes: Dict[str, Value] = {**_system(system, knowledge), "name": name}
            attributes.update(toolkit=release, cudnn=cudnn)
            yield Build(IMAGE, release, attributes, label=name, entry="table/base_image")


def _systems(knowledge: Knowledge) -> List[str]:
    """The systems of NVIDIA's images, as far as it is known what they hold."""
    rows = knowledge.tables["base_image"].rows.values()
    used = {f"{_UBUNTU}{tag}" for row in rows for tag in _tags(row["ubuntu"])}
    return [str(name) for name in knowledge.tables["distribution"].rows if name in used]


def _tags(cell: Value) -> Tuple[str, ...]:
    return cell if isinstance(cell, tuple) else ()


def _system(name: str, knowledge: Knowledge) -> Dict[str, Value]:
    row = knowledge.tables["distribution"].rows[name]
    return {
        "os": name,
        "glibc": row["glibc"],
        "libstdcxx": row["glibcxx"],
        "gcc": row["gcc"],
    }
