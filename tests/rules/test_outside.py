"""What lies outside of the environment: told as the cause, and never mended by its pip."""

from __future__ import annotations

from typing import Any, Dict, List

import pytest
from rule_cases import facts_of, small_knowledge

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Facts
from envdoctor.model.finding import Finding
from envdoctor.relations.environment import place_outside
from envdoctor.rules.check import check

SITE = "/env/lib/python3.8/site-packages"
OTHER = "/other/lib/python3.8/site-packages"
SHADOWED = {"name": "numpy", "version": "1.26.4", "shadowed_by": "/home/u/lib"}
CP310 = ["cp310-cp310-manylinux2014_x86_64"]


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    return small_knowledge(tmp_path_factory.mktemp("matrices"))


def shadowed(entry: str, *installed: Any, **fields: Any) -> Facts:
    """Facts of an environment with an entry of PYTHONPATH before it."""
    target: Dict[str, Any] = {"environ": {"PYTHONPATH": entry}, "before": [entry], **fields}
    return facts_of({"target": {**target, "installed": list(installed)}})


def told(found: List[Finding]) -> List[str]:
    return [f"{f.severity} {f.code} {f.component}" for f in found]


def commands(found: List[Finding]) -> List[str]:
    return [command for f in found for fix in f.fixes for command in fix.commands]


def test_a_shadow_is_told_as_the_cause_with_what_it_causes(knowledge: Knowledge) -> None:
    examined = shadowed(
        "/p310",
        {"name": "numpy", "version": "1.26.4", "tags": CP310, "search_entry": "/p310"},
        {"name": "numpy", "version": "2.0.2", "shadowed_by": "/p310"},
        {"name": "aaa", "version": "1.0", "requires": ["numpy>=2"]},
    )
    found = list(check(examined, knowledge).findings)
    assert told(found) == ["error ED207 numpy 2.0.2"]
    assert commands(found) == ["unset PYTHONPATH"]
    assert found[0].why == (
        "PYTHONPATH comes before everything that is installed; "
        "without that folder there would be no ED202 numpy 1.26.4, ED204 numpy 1.26.4"
    )
    assert [e.fact for e in found[0].evidence] == [
        "numpy",
        "numpy",
        "ED202 numpy 1.26.4:",
        "ED204 numpy 1.26.4:",
    ]


def test_what_is_wrong_without_the_entry_too_stays(knowledge: Knowledge) -> None:
    """And its change is of the environment as it is then."""
    examined = shadowed(
        "/p310",
        {"name": "numpy", "version": "1.26.4", "tags": CP310, "search_entry": "/p310"},
        {"name": "numpy", "version": "2.0.2", "shadowed_by": "/p310"},
        {"name": "torch", "version": "2.4.1"},
        {"name": "torchvision", "version": "0.15.2"},
    )
    found = list(check(examined, knowledge).findings)
    assert told(found) == ["error ED207 numpy 2.0.2", "error ED302 torchvision 0.15.2"]
    # the change for torchvision is of its own
    assert all("numpy" not in command for command in commands(found))


def test_what_an_entry_alone_serves_is_needed(knowledge: Knowledge) -> None:
    """Without /cluster torch is not there: that entry is no cause, and its numpy is not pip's."""
    examined = shadowed(
        "/cluster",
        {"name": "torch", "version": "2.4.1", "search_entry": "/cluster"},
        {"name": "numpy", "version": "1.26.4", "tags": CP310, "search_entry": "/cluster"},
        {"name": "numpy", "version": "2.0.2", "shadowed_by": "/cluster"},
        {"name": "torchvision", "version": "0.15.2", "requires": ["torch"]},
    )
    found = list(check(examined, knowledge).findings)
    assert told(found) == [
        "error ED202 numpy 1.26.4",
        "error ED302 torchvision 0.15.2",
        "warning ED207 numpy 2.0.2",
    ]
    assert found[0].summary.endswith("; it comes from PYTHONPATH entry /cluster")
    assert found[0].fixes[0].summary == (
        "take PYTHONPATH entry /cluster off the search path, or mend it there"
    )
    assert not any("numpy" in command for command in commands(found))


def test_a_relation_of_what_is_served_from_elsewhere_moves_nothing_there(
    knowledge: Knowledge,
) -> None:
    examined = shadowed(
        "/cluster",
        {"name": "torch", "version": "2.4.1", "search_entry": "/cluster"},
        {"name": "torchvision", "version": "0.15.2", "search_entry": "/cluster"},
    )
    (found,) = check(examined, knowledge).findings
    assert found.fixes[0].commands == ()
    assert "torch 2.4.1 is served from PYTHONPATH entry /cluster" in found.fixes[0].summary


def test_another_environment_on_the_path(knowledge: Knowledge) -> None:
    """It shadows nothing, and all that is wrong comes with it."""
    examined = shadowed(
        OTHER,
        {"name": "torch", "version": "2.4.1"},
        {"name": "torchvision", "version": "0.15.2", "search_entry": OTHER},
        {
            "name": "mmdet",
            "version": "3.3.0",
            "search_entry": OTHER,
            "requires": ["terminaltables"],
        },
    )
    found = list(check(examined, knowledge).findings)
    assert {f.component for f in found if f.severity != "info"} == {
        "torchvision 0.15.2",
        "mmdet 3.3.0",
    }
    assert set(commands(found)) == {"unset PYTHONPATH"}


def test_a_source_tree_on_the_path_is_there_on_purpose(knowledge: Knowledge) -> None:
    tree = {
        "name": "mmdet", "version": "2.14.0", "installer": "", "requires": ["numpy<1.20"],
        "search_entry": "/repo/mmdet", "path": "/repo/mmdet/mmdet.egg-info",
    }  # fmt: skip
    examined = shadowed(
        "/repo/mmdet",
        tree,
        {"name": "mmdet", "version": "3.3.0", "shadowed_by": "/repo/mmdet"},
        {"name": "numpy", "version": "1.26.4"},
        {"name": "mmcv-full", "version": "1.4.0"},
    )
    found = list(check(examined, knowledge).findings)
    assert "warning ED204 numpy 1.26.4" in told(found)
    assert "warning ED207 mmdet 3.3.0" in told(found)


@pytest.mark.parametrize(
    ("entry", "target", "place"),
    [
        (SITE, {}, ""),
        ("/usr/local/lib/python3.8/dist-packages", {}, ""),  # of the base, below the environment
        ("/opt/p310", {}, "folder /opt/p310"),
        ("/opt/p310", {"PYTHONPATH": "/a:/opt/p310/"}, "PYTHONPATH entry /opt/p310"),
        (SITE, {"PYTHONPATH": SITE}, ""),
        ("/usr/lib/x", {"PYTHONPATH": "/usr/lib/x"}, "PYTHONPATH entry /usr/lib/x"),
        ("/env/envs/b/lib/x", {"PYTHONPATH": "/env/envs/b/lib/x"},
         "PYTHONPATH entry /env/envs/b/lib/x"),
        ("/home/u/lib", {"user_site": "/home/u/lib", "installed": [SHADOWED]},
         "user site /home/u/lib"),
        # of a Python in no environment, and where it only adds to one
        ("/home/u/lib",
         {"user_site": "/home/u/lib", "installed": [SHADOWED], "prefix": "/usr"}, ""),
        ("/home/u/lib", {"user_site": "/home/u/lib", "installed": ["numpy 1.26.4"]}, ""),
    ],
)  # fmt: skip
def test_what_is_outside(entry: str, target: Dict[str, Any], place: str) -> None:
    fields = dict(target)
    environ = {"PYTHONPATH": fields.pop("PYTHONPATH")} if "PYTHONPATH" in fields else {}
    examined = facts_of({"target": {**fields, "environ": environ}}).target.value
    assert examined is not None
    assert place_outside(examined, entry) == place
