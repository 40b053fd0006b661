"""Binaries that the loader would refuse, as findings."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import msgspec
import pytest
from rule_cases import facts_of, small_knowledge

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import Binary, Facts, Linking, Observed, seen, unseen
from envdoctor.model.finding import Finding, Report
from envdoctor.model.language import translate
from envdoctor.rules import linked
from envdoctor.rules.check import check
from envdoctor.rules.page import pages

SITE = "/env/lib/python3.8/site-packages"
replace = msgspec.structs.replace


@pytest.fixture(scope="session")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    return small_knowledge(tmp_path_factory.mktemp("matrices"))


def binary(**fields: Any) -> Binary:
    name = fields.setdefault("module", "mmcv._ext")
    fields.setdefault("distribution", "mmcv")
    fields.setdefault("path", f"{SITE}/{name.replace('.', '/')}.so")
    return msgspec.convert(fields, Binary)


ABI = {
    "outcome": "missing-symbols",
    "cause": "torch-abi-mismatch",
    "symbols": ["at::_ops::zeros()"],
    "count": 42,
    "torch": True,
}
LIBRARY = {"outcome": "missing-library", "cause": "shared-library-missing", "missing": "libx.so.1"}


def facts(*binaries: Binary, installed: Optional[List[Any]] = None, **more: Any) -> Facts:
    installed = installed or [
        {"name": "torch", "version": "2.4.1+cu121"},
        {"name": "detector", "version": "1.0"},
        {"name": "mmcv", "version": "2.1.0"},
        {"name": "needs", "version": "1.0", "requires": ["torch>=2"]},
        {"name": "extra", "version": "1.0", "requires": ["torch>=2 ; extra == 'ml'"]},
    ]
    made = facts_of({"case": "x", "target": {"installed": installed}})
    target = made.target.value
    assert target is not None
    linking: Observed[Linking] = seen(Linking(9, binaries, **more), "/env/bin/python")
    return replace(made, target=replace(made.target, value=replace(target, linking=linking)))


def of_binaries(report: Report) -> List[Finding]:
    names = {*linked.OWN, *linked.SHARED}
    return [finding for finding in report.findings if finding.name in names]


def told(report: Report) -> List[str]:
    return [f"{f.severity} {f.code} {f.component}" for f in of_binaries(report)]


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({**ABI, "distribution": "detector"}, "error"),  # the matrices know that it requires torch
        ({**ABI, "distribution": "needs"}, "error"),
        ({**ABI, "distribution": "extra"}, "info"),  # a part for torch that is optional
        ({**ABI, "distribution": "extra", "certain": True}, "error"),
        ({**LIBRARY, "distribution": "needs", "torch": True}, "info"),
        ({**LIBRARY, "distribution": "needs", "certain": True}, "error"),
        ({**LIBRARY, "distribution": "torch", "module": "torch._C"}, "error"),
        ({**ABI, "distribution": "", "module": "jit",
          "path": "/home/a/.cache/torch_extensions/py38_cu121/jit/jit.so"}, "info"),
    ],
)  # fmt: skip
def test_how_grave_it_is(fields: Dict[str, Any], severity: str, knowledge: Knowledge) -> None:
    (finding,) = of_binaries(check(facts(binary(**fields)), knowledge))
    assert finding.severity == severity


def test_a_wheel_may_bring_the_library_with_what_it_requires(knowledge: Knowledge) -> None:
    fields = {**LIBRARY, "distribution": "", "module": "x", "certain": True, "named": True}
    for path, severity in (
        ("/w/x-1-cp311-cp311-linux_x86_64.whl/x.so", "warning"),
        ("/w/x.so", "error"),
    ):
        (said,) = told(check(facts(binary(**fields, path=path)), knowledge))
        assert said.startswith(f"{severity} ED601 ")


def test_the_tree_that_is_named_is_there_for_torch(knowledge: Knowledge) -> None:
    one = binary(**{**ABI, "distribution": "", "module": "net.ops.x", "path": "/code/net/ops/x.so"})
    assert told(check(facts(one), knowledge)) == ["info ED412 net.ops.x"]
    named = replace(one, named=True)
    assert told(check(facts(named), knowledge)) == ["error ED412 net.ops.x"]


def test_what_is_in_a_wheel_is_told_of_the_wheel(knowledge: Knowledge) -> None:
    wheel = "/w/mmcv-2.1.0-cp38-cp38-manylinux1_x86_64.whl"
    every = [
        binary(**{**ABI, "cause": cause, "distribution": ""}, path=f"{wheel}/{name}.so", named=True)
        for name, cause in (("a", "torch-abi-mismatch"), ("b", "cuda-runtime-major-mismatch"))
    ]
    (finding,) = of_binaries(check(facts(*every), knowledge))
    assert (finding.component, finding.severity) == ("mmcv 2.1.0", "error")
    assert finding.verify == ("envdoctor explain ED412",)  # nothing can be loaded yet


def test_the_words(knowledge: Knowledge) -> None:
    one = binary(**{**ABI, "distribution": "needs", "module": "needs._ext"})
    (finding,) = of_binaries(check(facts(one), knowledge))
    assert finding.summary == (
        "loading needs._ext will fail: torch 2.4.1+cu121 lacks 42 of the C++ functions that it "
        "was compiled against"
    )
    assert finding.why.startswith("nothing that it loads defines at::_ops::zeros();")
    assert [(e.fact, e.value, e.origin) for e in finding.evidence][1] == (
        "undefined symbols", "at::_ops::zeros()", f"{SITE}/needs/_ext.so"
    )  # fmt: skip
    assert finding.verify == (
        "/env/bin/python -c 'import torch; torch.ops.load_library('\"'\"'"
        f"{SITE}/needs/_ext.so'\"'\"')'",
    )


def test_binaries_of_one_cause_are_told_together(knowledge: Knowledge) -> None:
    every = [binary(**LIBRARY, module=f"mmcv.m{number}", certain=True) for number in range(5)]
    other = binary(**{**LIBRARY, "cause": "undefined-symbol"}, certain=True)
    assert told(check(facts(*every, other), knowledge)) == [
        "error ED601 mmcv 2.1.0",
        "error ED603 mmcv 2.1.0",
    ]
    of_torch = [binary(**ABI), binary(**{**ABI, "cause": "cxx11-abi-mismatch"}, module="mmcv.b.c")]
    assert told(check(facts(*of_torch), knowledge)) == ["info ED412 mmcv 2.1.0"]


def test_what_a_relation_says_is_not_said_twice(knowledge: Knowledge) -> None:
    installed = [
        {"name": "torch", "version": "2.4.1+cu121"},
        {"name": "torchvision", "version": "0.15.2"},
    ]
    fields = {**ABI, "distribution": "torchvision", "module": "torchvision._C", "certain": True}
    report = check(facts(binary(**fields), installed=installed), knowledge)
    assert [(f.name, f.severity) for f in report.findings if "torchvision" in f.component] == [
        ("torch-torchvision-mismatch", "error")
    ]
    (finding,) = [f for f in report.findings if f.name == "torch-torchvision-mismatch"]
    assert finding.evidence[-1].fact == "undefined symbols"


def test_a_variable_is_cleared(knowledge: Knowledge) -> None:
    one = binary(
        outcome="missing-version",
        cause="symbol-version-missing",
        missing="X_2",
        instead="/old/libx.so.1",
        origin="LD_LIBRARY_PATH",
        certain=True,
    )
    made = facts(one)
    target = made.target.value
    assert target is not None
    target = replace(target, environ={"LD_LIBRARY_PATH": "/old:/other"})
    made = replace(made, target=replace(made.target, value=target))
    (finding,) = of_binaries(check(made, knowledge))
    assert finding.fixes[0].commands == ("export LD_LIBRARY_PATH=/other",)


def test_the_wheels_of_nvidia_that_are_gone_are_named(knowledge: Knowledge) -> None:
    installed = [
        {
            "name": "torch",
            "version": "2.4.1",
            "requires": [
                "nvidia-cudnn-cu12==9.1.0.70 ; platform_system == 'Linux'",
                "nvidia-nccl-cu12==2.20.5 ; platform_system == 'Linux'",
                "nvidia-nvtx-cu12==12.1 ; platform_system == 'Windows'",
                "filelock",
            ],
        },
        "nvidia-nccl-cu12 2.20.5",
    ]
    fields = {**LIBRARY, "distribution": "torch", "module": "torch._C"}
    report = check(facts(binary(**fields), installed=installed), knowledge)
    (finding,) = (f for f in report.findings if f.severity == "error")
    assert finding.name == "python-module-missing", "what is missing says why, and is told once"
    assert any(evidence.value == "libx.so.1" for evidence in finding.evidence)
    (command,) = finding.fixes[0].commands
    assert "nvidia-cudnn-cu12==9.1.0.70" in command


def test_what_was_not_read_is_skipped(knowledge: Knowledge) -> None:
    made = facts(undecided=("x._ext: libcuda.so.1 comes with the driver",))
    skipped = check(made, knowledge).skipped
    assert [s.reason for s in skipped if s.code == "binaries"] == [
        "x._ext: libcuda.so.1 comes with the driver"
    ]
    target = made.target.value
    assert target is not None
    target = replace(target, linking=unseen("binaries were not read (--no-deep)"))
    made = replace(made, target=replace(made.target, value=target))
    skipped = check(made, knowledge, "zh").skipped
    assert [s.reason for s in skipped if s.code == "binaries"] == [
        translate("zh", "binaries were not read (--no-deep)")
    ]


def test_facts_of_strangers_name_no_page(knowledge: Knowledge) -> None:
    assert of_binaries(check(facts(binary(**{**ABI, "cause": "no-gpu-here"})), knowledge)) == []


@pytest.mark.parametrize("name", [*linked.OWN, *linked.SHARED])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_has_words_for_it(name: str, language: str, knowledge: Knowledge) -> None:
    (page,) = [page for page in pages().values() if page.name == name]
    for fields in (ABI, LIBRARY, {**LIBRARY, "outcome": "missing-version"}):
        one = binary(**{**fields, "cause": name, "certain": True, "instead": "/a/libx.so.2"})
        (finding,) = of_binaries(check(facts(one), knowledge, language))
        assert (finding.code, finding.severity) == (page.code, "error")
        assert finding.summary
        assert finding.why
        assert finding.fixes[0].summary
        assert "{" not in finding.summary + finding.why + finding.fixes[0].summary


@pytest.mark.parametrize(
    ("fields", "summary"),
    [
        (
            {"outcome": "missing-symbols", "cause": "undefined-symbol", "symbols": ["area"]},
            "loading mmcv._ext will fail: nothing that is loaded with it defines area",
        ),
        (
            {
                "outcome": "missing-symbols",
                "cause": "undefined-symbol",
                "symbols": ["area"],
                "instead": "/opt/lib/libgeo.so.1",
                "origin": "LD_LIBRARY_PATH",
            },
            "loading mmcv._ext will fail: /opt/lib/libgeo.so.1, which is taken, lacks area",
        ),
        (
            {
                "outcome": "missing-symbols",
                "cause": "stale-torch-libraries",
                "distribution": "torch",
                "module": "torch._C",
                "symbols": ["at::zeros()"],
                "instead": "/opt/libtorch/lib/libc10.so",
                "origin": "LD_LIBRARY_PATH",
            },
            "import torch will fail: /opt/libtorch/lib/libc10.so, of another torch, is taken for"
            " its own library",
        ),
        (
            {
                "outcome": "other-python",
                "cause": "extension-of-another-python",
                "missing": ".cpython-38-x86_64-linux-gnu.so",
            },
            "import mmcv._ext will fail: its only file is of another Python",
        ),
    ],
)
def test_what_is_to_blame_is_in_the_summary(
    knowledge: Knowledge, fields: Dict[str, Any], summary: str
) -> None:
    found = of_binaries(check(facts(binary(**fields)), knowledge))
    assert [finding.summary for finding in found] == [summary]


@pytest.mark.parametrize(
    ("tag", "plain", "names"),
    [
        ("cp36-cp36m-manylinux2010_x86_64", ("detector",), []),
        ("cp36-cp36m-manylinux2010_x86_64", (), ["wheel-for-another-interpreter"]),
        ("cp36-cp36m-manylinux2014_aarch64", ("detector",), ["wheel-for-another-interpreter"]),
    ],
)
def test_a_wheel_of_libraries_alone_is_for_every_python(
    knowledge: Knowledge, tag: str, plain: Tuple[str, ...], names: List[str]
) -> None:
    installed = [{"name": "detector", "version": "1.0", "tags": [tag]}]
    report = check(facts(installed=installed, plain=plain), knowledge)
    assert [f.name for f in report.findings if f.component == "detector 1.0"] == names
