"""What binaries say decides which build an installed package is."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import pytest

from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.build import Build
from envdoctor.model.facts import (
    Binary,
    Distribution,
    Facts,
    LinkedBuild,
    Linking,
    Target,
    TorchFiles,
    seen,
)
from envdoctor.relations.observe import observe
from envdoctor.rules.check import check


@pytest.fixture(scope="session")
def knowledge() -> Knowledge:
    return load()


def facts(
    linked: Optional[LinkedBuild],
    torch: str = "1.13.1+cu117",
    cuda: str = "11.7",
    abi: int = 0,
    version: str = "1.7.1",
    cause: str = "",
) -> Facts:
    found: Tuple[Binary, ...] = ()
    if cause:
        found = (
            Binary("/e/x.so", "missing-symbols", distribution="mmcv-full", cause=cause, torch=True),
        )
    linking = Linking(1, found, {"mmcv-full": linked} if linked is not None else {})
    site = "/env/lib/python3.8/site-packages"
    target = Target(
        python="/env/bin/python",
        version="3.8.18",
        path=(site,),
        distributions=(
            Distribution("torch", torch, f"{site}/torch-1.dist-info", site, modules=("torch",)),
            Distribution("mmcv-full", version, f"{site}/m.dist-info", site, modules=("mmcv",)),
        ),
        torch=TorchFiles(f"{site}/torch", seen(torch, ""), seen(cuda, ""), abi=seen(abi, "")),
        linking=seen(linking, "/env/bin/python"),
    )
    return Facts(target=seen(target, "--python"))


def builds(made: Facts, knowledge: Knowledge) -> List[Tuple[str, str, Any]]:
    domain = observe(made, knowledge).domains["mmcv-full"]
    read = [b.attributes for b in domain if isinstance(b, Build) and "torch" in b.attributes]
    return sorted({(str(a["torch"]), str(a["cuda"]), a.get("abi")) for a in read})


def told(made: Facts, knowledge: Knowledge) -> List[str]:
    report = check(made, knowledge)
    return [f"{f.severity} {f.name}" for f in report.findings if f.component.startswith("mmcv")]


def test_without_binaries_any_build_may_be_there(knowledge: Knowledge) -> None:
    series = {torch for torch, _, _ in builds(facts(None), knowledge)}
    assert {"1.8", "1.13"} <= series


@pytest.mark.parametrize(
    ("runtime", "majors"), [("11.0", {"11"}), ("10.2", {"10"}), ("10.1", {"10"})]
)
def test_the_runtime_that_is_needed(runtime: str, majors: object, knowledge: Knowledge) -> None:
    made = facts(LinkedBuild(cuda=runtime, loads=False))
    assert {cuda.partition(".")[0] for _, cuda, _ in builds(made, knowledge)} == majors


def test_what_loads_is_for_the_torch_that_is_here(knowledge: Knowledge) -> None:
    made = facts(LinkedBuild(cuda="11.0", abi=0, loads=True))
    assert {torch for torch, _, _ in builds(made, knowledge)} == {"1.13"}
    assert told(made, knowledge) == []


def test_what_loads_beside_a_torch_that_no_build_is_for_is_no_error(knowledge: Knowledge) -> None:
    """Compiled here, or a wheel that fits by luck: the loader has the last word."""
    made = facts(LinkedBuild(cuda="12", abi=1, loads=True), "2.4.1+cu121", "12.1", 1)
    assert told(made, knowledge) == []
    unread = facts(None, "2.4.1+cu121", "12.1", 1)
    assert told(unread, knowledge) == ["error torch-abi-mismatch"]  # by its version alone


def test_what_does_not_load_was_built_for_another_torch(knowledge: Knowledge) -> None:
    linked = LinkedBuild(cuda="11.0", abi=0, loads=False)
    made = facts(linked, cause="torch-abi-mismatch")
    assert "1.13" not in {torch for torch, _, _ in builds(made, knowledge)}
    assert told(made, knowledge) == ["error torch-abi-mismatch"]


def test_what_fails_for_another_reason_says_nothing_of_torch(knowledge: Knowledge) -> None:
    made = facts(LinkedBuild(cuda="11.0", loads=False), cause="libstdcxx-too-old")
    assert "1.13" in {torch for torch, _, _ in builds(made, knowledge)}


def test_an_abi_that_no_wheel_has(knowledge: Knowledge) -> None:
    assert builds(facts(LinkedBuild(cuda="11.0", abi=1, loads=False)), knowledge) == []  # sources
