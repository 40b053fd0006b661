"""The order of installation, and from where each part comes."""

from __future__ import annotations

from typing import List

import pytest
from lock_stacks import (
    CU118,
    FLASH_ATTENTION,
    MAPTR,
    MAPTR_OFFLINE,
    PATCHED,
    given,
    member,
    python,
    resolution,
    sdist,
    wheel,
)

from envdoctor.model.resolution import Artefact, Bound, Member, Resolution
from envdoctor.resolver.lock.requirements import body_of, joined
from envdoctor.resolver.lock.steps import Step, installation
from envdoctor.resolver.lock.written import LockError


def said(step: Step) -> str:
    """A step as a line: what it installs, from where, and how."""
    words = [package.requirement for package in step.packages]
    words += [f"({package.requirement})" for package in step.present]
    words += [f"from {step.index_url} alone"] if step.index_url else []
    words += [f"from {page}" for page in step.pages]
    words += [f"wheel of {name}" for name in step.only_binary]
    words += [f"sources of {name}" for name in step.no_binary]
    words += ["no cache"] if step.no_cache else []
    words += ["not isolated"] if not step.isolated else []
    words += ["no deps"] if step.no_deps else []
    return " ".join([*words, *(f"{name}={value}" for name, value in step.variables)])


def order(answer: Resolution) -> List[str]:
    return [said(step) for step in installation(answer).steps]


TORCH_OF_ITS_INDEX = "torch==2.0.1+cu118"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--index-url", CU118),
        ("-i", CU118),
        (f"--index-url={CU118}",),
        ("--extra-index-url", CU118),  # as projects write it: beside PyPI it could serve anything
    ],
)
def test_a_project_index_is_asked_for_its_project_alone(arguments: List[str]) -> None:
    stack = resolution(member(TORCH_OF_ITS_INDEX, *arguments), member("mmdet==2.28.2"))
    assert order(stack) == [
        f"torch==2.0.1+cu118 from {CU118} alone no deps",
        "mmdet==2.28.2 (torch==2.0.1+cu118)",
    ]


def test_what_a_build_looks_at_comes_before_it() -> None:
    """flash-attn stands first here, and imports torch and packaging when it is built."""
    attention = member(
        "flash-attn==2.5.6",
        "--no-build-isolation",
        "--no-cache-dir",
        variant={"imports": ["packaging", "torch"]},
    )
    stack = resolution(attention, member("torch==2.1.2"), member("transformers==4.36.0"))
    assert order(stack) == [
        "torch==2.1.2",
        "packaging setuptools wheel",
        "flash-attn==2.5.6 no cache not isolated",
        "transformers==4.36.0",
    ]


def test_maptr() -> None:
    page = "from https://download.pytorch.org/whl/torch_stable.html"
    mmcv = "from https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html"
    own = [
        f"torch==1.9.1+cu111 torchvision==0.10.1+cu111 {page} no deps",
        f"mmcv-full==1.4.0 {mmcv} wheel of mmcv-full no cache no deps",
    ]
    variables = "FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=8.0"
    pure = "torchaudio==0.9.1 mmdet==2.14.0 mmsegmentation==0.14.1"
    assert order(MAPTR) == [
        *own,
        f"{pure} numba==0.48.0 numpy==1.19.5 no deps",
        "setuptools wheel",
        f"./mmdetection3d no cache not isolated no deps {variables}",
    ]
    assert order(MAPTR_OFFLINE) == [
        *own,
        f"{pure} (torch==1.9.1+cu111) (torchvision==0.10.1+cu111) (mmcv-full==1.4.0)",
        "setuptools wheel",
        f"./mmdetection3d no cache not isolated no deps {variables}",
    ]
    assert installation(MAPTR).constraints == ()
    assert "numpy<1.24" in installation(MAPTR_OFFLINE).constraints


def test_sources_of_pypi_have_no_hash_of_a_wheel_elsewhere() -> None:
    """The installer saw mmcv-full's sources; the stack has a wheel of another page."""
    found = {package.name: package for package in installation(MAPTR).packages}
    assert found["mmcv-full"].hashes == ()
    assert found["mmdet"].hashes != ()


def test_a_file_that_is_known_is_named() -> None:
    file = f"{CU118}/torch-2.1.2%2Bcu118-cp310-cp310-linux_x86_64.whl"
    steps = installation(FLASH_ATTENTION).steps
    assert steps[0].packages[0].requirement == f"torch @ {file}"
    assert (steps[0].index_url, steps[0].pages) == ("", ())
    assert steps[0].packages[0].verified.startswith(f"torch @ {file}#sha256=1919")


def test_sources_that_are_compiled() -> None:
    """Each GPU of the machine is compiled for, oldest first, with the toolkit of the stack."""
    build = installation(PATCHED).steps[3]
    assert said(build) == (
        "mmcv-full==1.4.0 sources of mmcv-full no cache not isolated"
        " FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=8.0;9.0"
    )
    assert (build.toolkit, build.job_memory) == ("11.8.0", 2048)
    assert build.packages[0].patches == ("mmcv-thc", "mmcv-cxx17")
    assert order(PATCHED)[2] == "setuptools<82 wheel"


def test_sources_that_look_at_nothing_are_as_others() -> None:
    stack = resolution(
        Member("pycocotools", "2.0.7", {"origin": "source", "compiles": "c"}, origin="source"),
        member("mmdet==3.0.0"),
    )
    assert order(stack) == ["pycocotools==2.0.7 mmdet==3.0.0 sources of pycocotools"]


def test_a_file_that_the_matrices_name() -> None:
    """Its dependencies come with the rest, as those of a project's own index do."""
    url = "https://example.org/own-1.0%2Bcu118-cp310-cp310-linux_x86_64.whl"
    own = Member("own", "1.0+cu118", requirement=f"own @ {url}", arguments=(f"own @ {url}",))
    assert order(resolution(own, member("numpy==1.26.4"))) == [
        f"own @ {url} no deps",
        "numpy==1.26.4 (own @ https://example.org/own-1.0%2Bcu118-cp310-cp310-linux_x86_64.whl)",
    ]
    assert body_of(joined(installation(resolution(own)))[0]) == [f"own @ {url}"]


def test_builds_that_need_each_other_are_apart() -> None:
    def source(name: str, *imports: str) -> Member:
        variant = {"origin": "source", "imports": list(imports)}
        return Member(name, "1.0", variant, origin="source", requirement=f"{name}==1.0")

    stack = resolution(
        member("torch==2.0.1"),
        source("first", "torch"),
        source("second", "torch"),
        source("third", "torch", "second"),
    )
    how = "no cache not isolated"
    assert order(stack) == [
        "torch==2.0.1",
        "setuptools wheel",
        f"first==1.0 second==1.0 sources of first sources of second {how}",
        f"third==1.0 sources of third {how}",
    ]


def test_what_the_machine_and_the_image_have_is_not_installed() -> None:
    stack = resolution(
        given("host.driver", "535.129.03", "host"),
        given("image", "nvcr.io/nvidia/pytorch:24.05-py3"),
        given("torch", "2.4.0a0+07cecf4168.nv24.05"),
        python("3.10"),
        member("mmengine==0.10.4"),
    )
    assert order(stack) == ["mmengine==0.10.4"]
    assert [one.component for one in installation(stack).given] == ["host.driver", "image", "torch"]
    assert installation(stack).python == "3.10"


def test_what_builds_ask_of_tools() -> None:
    stack = resolution(
        Member(
            "lap", "0.4.0", {"origin": "source", "imports": ["numpy", "cython"]}, origin="source"
        ),
        Member("build.setuptools", "59.5.0", requirement="setuptools==59.5.0"),
        constraints=(Bound("build.cython", "<3"), Bound("build.gcc", "<12")),
    )
    assert order(stack)[0] == "cython<3 numpy setuptools==59.5.0 wheel"
    assert installation(stack).constraints == ("lap==0.4.0",)


def test_the_rest_of_the_tree() -> None:
    """What users asked for and no index has, is taken from where they say."""
    stack = resolution(
        member("torch==2.4.1"),
        rest=("einops>=0.6", "own @ git+https://github.com/a/own@1a2b3c", "-e ./tools", "NumPy<2"),
        tree=(wheel("torch", "2.4.1"), wheel("einops", "0.8.0"), wheel("numpy", "1.26.4")),
    )
    assert order(stack) == [
        "torch==2.4.1 own @ git+https://github.com/a/own@1a2b3c einops==0.8.0"
        " numpy==1.26.4 no deps",
        "./tools no deps",
    ]
    alone = resolution(
        member("torch==2.4.1"), rest=("einops>=0.6", 'tomli; python_version < "3.11"')
    )
    assert order(alone) == ['torch==2.4.1 einops>=0.6 tomli ; python_version < "3.11"']


def test_versions_beside_pages_are_compared_as_text() -> None:
    """A page lists 0.9.1+cpu as well: newer than 0.9.1, and taken for "==0.9.1"."""
    body = body_of(joined(installation(MAPTR))[0])
    assert "torchaudio===0.9.1" in body
    assert "torch==1.9.1+cu111" in body
    assert "mmcv-full==1.4.0" in body  # only the page has a wheel, whatever its local part


def test_an_index_is_named_by_the_page_of_its_project() -> None:
    stack = resolution(member(TORCH_OF_ITS_INDEX, "--index-url", CU118), member("mmdet==2.28.2"))
    (file,) = joined(installation(stack))
    assert body_of(file) == [
        f"--find-links {CU118}/torch/",
        "",
        "torch==2.0.1+cu118",
        "mmdet===2.28.2",
    ]


def test_a_version_that_pypi_may_have_too_is_asked_apart() -> None:
    paddle = "https://www.paddlepaddle.org.cn/packages/stable/cu118/"
    stack = resolution(member("paddlepaddle-gpu==2.6.1", "-i", paddle), member("visualdl==2.5.3"))
    first, second = joined(installation(stack))
    assert body_of(first) == [f"--index-url {paddle}", "", "paddlepaddle-gpu==2.6.1"]
    assert body_of(second) == ["visualdl==2.5.3", "paddlepaddle-gpu==2.6.1"]


def test_an_artefact_of_elsewhere_is_not_believed() -> None:
    """paddle's index was not asked: what PyPI has under that version is another file."""
    paddle = "https://www.paddlepaddle.org.cn/packages/stable/cu118/"
    tree = (wheel("paddlepaddle-gpu", "2.6.1"),)
    stack = resolution(member("paddlepaddle-gpu==2.6.1", "-i", paddle), tree=tree)
    (package,) = installation(stack).packages
    assert (package.url, package.hashes) == ("", ())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Resolution("resolve", "0", "d", "impossible"), "there is no stack to lock"),
        (Resolution("resolve", "0", "d", "solved"), "there is no stack to lock"),
        (
            resolution(Member("apex", "0.1", {"repository": "NVIDIA/apex"}, origin="source")),
            "apex 0.1 is on no index: its sources are at NVIDIA/apex, and which commit is meant is"
            " not known",
        ),
        (
            resolution(member("numpy==1.24.0"), tree=(wheel("numpy", "2.0.0"),)),
            "the installer took numpy 2.0.0, and numpy==1.24.0 was asked for",
        ),
        (
            resolution(member("a==1"), tree=(sdist("b", "1"), Artefact("B", "2"))),
            "b is locked twice",
        ),
        (
            resolution(member("torch==2.0.1", "--index-url", CU118, "-i", "https://b.example/x")),
            f"{CU118} and https://b.example/x are both named for one package",
        ),
        (
            resolution(member("torch==2.0.1", "--trusted-host", "a")),
            "torch: the option '--trusted-host' of its installation is not understood",
        ),
    ],
)
def test_what_is_refused(answer: Resolution, reason: str) -> None:
    with pytest.raises(LockError) as caught:
        installation(answer)
    assert str(caught.value) == reason
