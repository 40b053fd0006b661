"""No rule fails on facts that strangers wrote, and none looks at what it does not name."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_cases import small_knowledge

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.facts import (
    Accelerator,
    Command,
    CondaPackage,
    Distribution,
    Facts,
    Gpu,
    Machine,
    Observed,
    Target,
    TorchFiles,
)
from envdoctor.relations.observe import observe
from envdoctor.rules.page import pages
from envdoctor.rules.rule import Context

NAMES = [
    "torch",
    "numpy",
    "mmcv",
    "mmcv-full",
    "opencv-python",
    "~orch",
    "Foo.Bar",
    "",
    "nvidia-nccl-cu12",
]
VERSIONS = ["1.0", "2.4.1+cu121", "2.0.0rc1", "unknown", "", "1!2.0.post1", "2.4.0a0+git1.nv24.05"]
TEXTS = st.one_of(st.text(max_size=12), st.sampled_from(["/a", "/env/lib", "..", "\x1b[31m", "=="]))
REQUIRES = [
    "numpy>=1.0",
    "numpy<1.0",
    "foo (>=1.*)",
    "torch @ https://x.example/t.whl ; os_name == 'posix'",
    "bar ; python_version < 'x'",
    "numpy===1.0",
    "nvidia-nccl-cu12==2.0",
    "]][[",
]
TAGS = [
    "cp38-cp38-manylinux1_x86_64",
    "py3-none-any",
    "a.b-c.d-e.f",
    "--",
    "cp38-cp38-manylinux_9_9",
]


def some(items: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.one_of(st.sampled_from(items), TEXTS), max_size=4).map(tuple)


def one(items: list[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(items), TEXTS)


def observed(values: st.SearchStrategy[object]) -> st.SearchStrategy[Observed[object]]:
    return st.one_of(
        st.just(Observed(unknown="not told")),
        st.builds(Observed, value=values, origin=one(["NVML", "device node /dev/nvidia0"])),
    )


DISTRIBUTIONS = st.builds(
    Distribution,
    name=one(NAMES),
    version=one(VERSIONS),
    path=TEXTS,
    search_entry=TEXTS,
    installer=one(["pip", "conda", ""]),
    tags=some(TAGS),
    editable=TEXTS,
    requires_python=one([">=3.9", "<3", ">=3.5.*", "nonsense"]),
    requires=some(REQUIRES),
    modules=some(["torch", "cv2"]),
    missing=some(["torch/__init__.py", "cv2/a.so.1"]),
    shadowed_by=TEXTS,
)
TARGETS = st.builds(
    Target,
    python=TEXTS,
    version=one(["3.8.18", "3.13.0", "3", ""]),
    implementation=one(["cpython", "pypy"]),
    soabi=one(["cpython-38-x86_64-linux-gnu", "cpython-313t-aarch64-linux-gnu"]),
    prefix=TEXTS,
    path=some(["/env/lib"]),
    user_site=TEXTS,
    environ=st.dictionaries(one(["PYTHONPATH", "CUDA_VISIBLE_DEVICES"]), TEXTS, max_size=2),
    distributions=st.lists(DISTRIBUTIONS, max_size=6).map(tuple),
    conda=st.lists(
        st.builds(CondaPackage, name=one(["mkl", "pytorch"]), version=one(VERSIONS), build=TEXTS),
        max_size=3,
    ).map(tuple),
    commands=st.lists(
        st.builds(Command, name=one(["python", "pip", "ninja"]), path=TEXTS, interpreter=TEXTS),
        max_size=3,
    ).map(tuple),
    torch=st.one_of(
        st.none(),
        st.builds(
            TorchFiles,
            path=TEXTS,
            version=observed(one(VERSIONS)),
            cuda=observed(one(["cpu", "12.1"])),
            hip=observed(TEXTS),
        ),
    ),
)
FACTS = st.builds(
    Facts,
    machine=st.builds(
        Machine,
        architecture=observed(one(["x86_64", "aarch64"])),
        glibc=observed(one(["2.17", "2.31", "none"])),
        container=observed(one(["docker", "none"])),
        jetson=observed(TEXTS),
    ),
    accelerator=st.builds(
        Accelerator,
        vendor=observed(one(["nvidia", "amd", "none"])),
        gpus=observed(st.lists(st.builds(Gpu, name=TEXTS), max_size=2).map(tuple)),
        driver=observed(one(["535.129.03"])),
        kernel_module=observed(one(["535.129.03", "470.57.02"])),
        serves=observed(one(["12.2", "11.4"])),
    ),
    target=st.builds(Observed, value=TARGETS, origin=one(["--python", "VIRTUAL_ENV"])),
)
RULES = [page for page in pages().values() if page.module]


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    return small_knowledge(tmp_path_factory.mktemp("matrices"))


@given(facts=FACTS)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_rule_fails(facts: Facts, knowledge: Knowledge) -> None:
    nobody = observe(Facts(), knowledge)
    context = Context(facts, knowledge, nobody)
    for page in RULES:
        if all(_known(facts, name) for name in page.facts):
            module = importlib.import_module(f"envdoctor.rules.{page.module}")
            for fault in module.examine(context):
                texts = page.words["en"]
                for name in ("summary", "why", "fix"):
                    template = texts.get(f"{name}_{fault.words}", texts[name])
                    assert set(re.findall(r"\{(\w+)\}", template)) <= set(fault.fields)


def _known(facts: Facts, name: str) -> bool:
    value: object = facts
    for part in name.split("."):
        value = getattr(value, part)
        if isinstance(value, Observed):
            value = value.value
    return value is not None


def test_the_rules_are_found() -> None:
    folder = Path(importlib.import_module("envdoctor.rules").__file__ or "").parent
    assert {page.module for page in RULES} == {path.stem for path in folder.glob("ED*.py")}
