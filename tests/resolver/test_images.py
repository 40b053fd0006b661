"""The base images: what each sets of the machine and of compiling."""

from __future__ import annotations

from typing import Dict

from packaging.version import Version

from envdoctor.knowledge.load import load
from envdoctor.model.build import ABSENT, Build
from envdoctor.model.facts import Facts
from envdoctor.model.resolution import IMAGE
from envdoctor.relations.assume import assume
from envdoctor.relations.components import DOTTED
from envdoctor.relations.judge import Relations
from envdoctor.relations.observe import observe
from envdoctor.resolver.images import SETS, images
from envdoctor.resolver.request import Pin, Request
from envdoctor.resolver.solver import Solver
from envdoctor.resolver.space import Space
from envdoctor.resolver.world import World

KNOWLEDGE = load()
IMAGES: Dict[str, Build] = {build.label: build for build in images(KNOWLEDGE)}


def test_an_image_of_nvidia() -> None:
    image = IMAGES["nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04"]
    assert image.version == Version("11.1.1")
    assert image.attributes == {
        "name": "nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04",
        "os": "ubuntu:20.04",
        "glibc": Version("2.31"),
        "libstdcxx": Version("3.4.28"),
        "gcc": Version("9.4"),
        "toolkit": Version("11.1.1"),
        "cudnn": Version("8"),
    }


def test_the_word_of_newer_tags_is_cudnn_9() -> None:
    image = IMAGES["nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04"]
    assert image.attributes["cudnn"] == Version("9")
    assert IMAGES["nvidia/cuda:12.3.2-cudnn9-devel-ubuntu22.04"].attributes["cudnn"] == Version("9")


def test_a_plain_image_has_no_toolkit() -> None:
    image = IMAGES["ubuntu:22.04"]
    assert image.version is None
    assert image.attributes["toolkit"] is ABSENT
    assert image.attributes["glibc"] == Version("2.35")


def test_what_there_is() -> None:
    plain = [label for label in IMAGES if label.startswith("ubuntu:")]
    assert plain == [
        f"ubuntu:{release}" for release in ("16.04", "18.04", "20.04", "22.04", "24.04")
    ]
    rows = KNOWLEDGE.tables["base_image"].rows.values()
    number = sum(len(row["ubuntu"]) for row in rows if isinstance(row["ubuntu"], tuple))
    assert len(IMAGES) == len(plain) + number


def test_each_image_sets_components_of_the_language() -> None:
    assert set(SETS) <= set(DOTTED)
    for image in IMAGES.values():
        assert set(SETS.values()) | {"name"} == set(image.attributes)


def test_values_are_those_that_are_observed() -> None:
    facts = assume(Facts(), ["os=ubuntu:20.04"], KNOWLEDGE)
    domains = observe(facts, KNOWLEDGE).domains
    image = IMAGES["ubuntu:20.04"]
    for component in ("host.os", "host.glibc", "host.libstdcxx"):
        assert domains[component] == (image.attributes[SETS[component]],)


def test_what_brings_no_cuda_needs_an_image_with_it() -> None:
    """Paddle's wheels up to 2.6 load CUDA and cuDNN of the system; torch's bring theirs."""
    facts = assume(Facts(), ["gpu=a100", "driver=535.129.03"], KNOWLEDGE)
    found = {}
    for name, version in (("paddlepaddle-gpu", "==2.6.2.post117"), ("torch", "==2.1.2")):
        request = Request(name, (Pin(name, version),), target=IMAGE)
        best = Solver(Space(request, World(facts, KNOWLEDGE, IMAGE), Relations(KNOWLEDGE))).best()
        assert best is not None
        found[name] = best.builds["image"].attributes["toolkit"]
    assert str(found["paddlepaddle-gpu"]).startswith("11.7")
    assert found["torch"] is ABSENT
