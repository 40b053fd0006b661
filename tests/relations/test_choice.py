"""What pip would take of what requirement files leave open."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Optional

import pytest

from envdoctor.facts.requirements import read
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.build import Build, Unknown
from envdoctor.model.facts import Facts, Machine, seen
from envdoctor.relations.asked import observe_asked
from envdoctor.relations.choice import Choice, choose
from envdoctor.relations.judge import Relations
from envdoctor.relations.observe import Observation


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


class World:
    def __init__(
        self, text: str, python: Optional[str], knowledge: Knowledge, folder: Path
    ) -> None:
        path = folder / "r.txt"
        path.write_text(text)
        target = read([str(path)], python, "x86_64")
        facts = Facts(
            machine=Machine(architecture=seen("x86_64", "uname")), target=seen(target, "files")
        )
        assert target.asked is not None
        self.observed: Observation = observe_asked(facts, target, target.asked, knowledge)
        self.choice: Choice = choose(self.observed, target, Relations(knowledge))

    @property
    def taken(self) -> Dict[str, str]:
        """{name: version, and CUDA where the build has one}"""
        return {
            name: f"{build.label} {build.attributes.get('cuda', '')}".rstrip()
            for name, build in self.choice.taken.items()
        }


@pytest.mark.parametrize(
    ("text", "python", "taken"),
    [
        # the newest release with wheels for this Python
        ("numpy\n", "3.8", {"numpy": "1.24.4"}),
        ("numpy\n", "3.10", {"numpy": "2.2.6"}),
        ("numpy<2\n", "3.10", {"numpy": "1.26.4"}),
        ("numpy<1.20,>=1.18\n", "3.8", {"numpy": "1.19.5"}),
        # metadata: torchvision pins its torch, both ways
        (
            "torch\ntorchvision==0.17.2\n",
            "3.10",
            {"torch": "2.2.2 12.1", "torchvision": "0.17.2 12.1"},
        ),
        (
            "torchvision\ntorch==2.2.2\n",
            "3.10",
            {"torch": "2.2.2 12.1", "torchvision": "0.17.2 12.1"},
        ),
        # metadata: transformers bounds tokenizers
        ("transformers==4.30.2\ntokenizers\n", "3.10", {"tokenizers": "0.13.3"}),
        # of a release that is given, the build of PyPI, or of the index that is named
        ("torch==1.9.1\n", "3.8", {"torch": "1.9.1 10.2"}),
        ("torch==2.1.2\n", "3.10", {"torch": "2.1.2 12.1"}),
        (
            "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.1.2\n",
            "3.10",
            {"torch": "2.1.2 11.8"},
        ),
        (
            "--extra-index-url https://mirror/pytorch-wheels/cu118\ntorch==2.1.2\n",
            "3.10",
            {"torch": "2.1.2 11.8"},
        ),
        ("-i https://mirror/pypi/simple\ntorch==2.1.2\n", "3.10", {"torch": "2.1.2 12.1"}),
        # some index whose builds are not known
        ("--extra-index-url https://host/own\ntorch==2.1.2\n", "3.10", {}),
        # no wheel of mmcv-full is on PyPI; one is on the page that is named
        ("mmcv-full==1.7.1\n", "3.8", {"mmcv-full": "1.7.1"}),
        (
            "-f https://download.openmmlab.com/mmcv/dist/cu117/torch1.13.0/index.html\n"
            "mmcv-full==1.7.1\n",
            "3.8",
            {"mmcv-full": "1.7.1 11.7"},
        ),
        # what an environment has from the start is not exchanged
        ("setuptools\n", "3.10", {}),
    ],
)
def test_taken(
    text: str, python: str, taken: Dict[str, str], knowledge: Knowledge, tmp_path: Path
) -> None:
    assert World(text, python, knowledge, tmp_path).taken == taken


def test_sources_are_taken_where_no_wheel_is_offered(knowledge: Knowledge, tmp_path: Path) -> None:
    world = World("mmcv-full==1.7.1\n", "3.8", knowledge, tmp_path)
    assert world.choice.taken["mmcv-full"].attributes["origin"] == "source"


def test_where_the_files_do_not_say_it_python_is_the_newest_that_fits_the_pins(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    world = World("torch==2.2.2\nnumpy\n", None, knowledge, tmp_path)
    assert str(world.choice.python) == "python 3.12"
    assert isinstance(world.observed.domains["python"][0], Unknown)


def test_a_choice_that_metadata_may_hold_back_is_left_open(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    world = World("numba==0.58.1\nnumpy\n", "3.10", knowledge, tmp_path)
    assert "numpy" not in world.taken
    assert world.choice.reasons == ("which numpy pip takes depends on the metadata of numba",)
    # its newest release holds nothing back that matters
    assert World("numba\nnumpy\n", "3.10", knowledge, tmp_path).taken["numpy"] == "2.2.6"


def test_domains_of_what_is_open(knowledge: Knowledge, tmp_path: Path) -> None:
    world = World(
        "torch>=2.1,<2.3\nmmdet @ git+https://h/mmdet\nnumpy>=99\n", "3.10", knowledge, tmp_path
    )
    domains = world.observed.domains
    versions = {str(b.version) for b in domains["torch"] if isinstance(b, Build)}
    assert versions == {"2.1.0", "2.1.1", "2.1.2", "2.2.0", "2.2.1", "2.2.2"}
    for name, reason in {
        "mmdet": "r.txt:2 does not say which release of mmdet that is",
        "numpy": "no release of numpy that is known fits >=99",
        "torchvision": "the requirement files do not name it",
        "module.mmcv": "the requirement files do not name it",
    }.items():
        (value,) = domains[name]
        assert isinstance(value, Unknown)
        assert value.reason.endswith(reason)


def test_previews_as_pip_takes_them(knowledge: Knowledge, tmp_path: Path) -> None:
    def versions(text: str) -> set:
        world = World(text, "3.10", knowledge, tmp_path)
        return {str(b) for b in world.observed.domains["mmcv"]}

    assert not any("rc" in one for one in versions("mmcv>=1.7,<2.1\n"))
    assert any("rc" in one for one in versions("mmcv>=2.0.0rc1,<2.1\n"))
    assert any("rc" in one for one in versions("--pre\nmmcv>=1.7,<2.1\n"))


def test_a_wheel_in_the_folder_of_a_page_is_that_page_s(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    url = "https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/mmcv_full-1.4.0-cp38-cp38-manylinux1_x86_64.whl"
    world = World(f"{url}\n", "3.8", knowledge, tmp_path)
    (build,) = world.observed.domains["mmcv-full"]
    assert isinstance(build, Build)
    assert (str(build.attributes["torch"]), str(build.attributes["cuda"])) == ("1.9", "11.1")
