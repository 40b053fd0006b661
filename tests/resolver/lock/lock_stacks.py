"""Stacks as the resolver answers them, whose locks are compared with files.

Hashes are made up so that an eye sees whose they are: numpy's is a row of n's number.
"""

from __future__ import annotations

import string
from typing import Dict

from envdoctor.model.resolution import Artefact, Bound, Member, Override, Relaxed, Resolution

TORCH_PAGE = "https://download.pytorch.org/whl/torch_stable.html"
MMCV_PAGE = "https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html"
CU118 = "https://download.pytorch.org/whl/cu118"
FILES = "https://files.example/packages"


def digest(name: str) -> str:
    """A hash for examples: the place of a name's first letter in the alphabet, repeated."""
    return f"{string.ascii_lowercase.index(name[0].lower()):02d}" * 32


def member(said: str, *arguments: str, **more: object) -> Member:
    """The member for "torch==1.9.1+cu111" with what follows it in `pip install`."""
    name, _, version = said.partition("==")
    url = next((one for one in arguments if "://" in one), "")
    fields: Dict[str, object] = {
        "requirement": said,
        "arguments": (said, *arguments),
        "origin": "index",
        "url": url,
        **more,
    }
    return Member(name, version, **fields)  # type: ignore[arg-type]


def wheel(name: str, version: str, tag: str = "py3-none-any", **more: object) -> Artefact:
    """A wheel as an installer found it on PyPI."""
    file = f"{name.replace('-', '_')}-{version}-{tag}.whl".replace("+", "%2B")
    fields: Dict[str, object] = {
        "url": f"{FILES}/{file}",
        "hashes": {"sha256": digest(name)},
        **more,
    }
    return Artefact(name, version, **fields)  # type: ignore[arg-type]


def sdist(name: str, version: str) -> Artefact:
    """Sources as an installer found them on PyPI."""
    return Artefact(
        name,
        version,
        url=f"{FILES}/{name.replace('-', '_')}-{version}.tar.gz",
        hashes={"sha256": digest(name)},
        sdist=True,
    )


def resolution(*stack: Member, **more: object) -> Resolution:
    """An answer with such a stack."""
    fields: Dict[str, object] = {"stack": stack, "asked": ("an example",), **more}
    return Resolution("resolve", "0.1.0", "2026-11-30", "solved", **fields)  # type: ignore[arg-type]


def python(version: str) -> Member:
    return Member("python", version)


def given(component: str, version: str, origin: str = "image") -> Member:
    return Member(component, version, origin=origin)


_MAPTR = (
    given("host.driver", "535.129.03", "host"),
    given("image", "nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04"),
    given("build.toolkit", "11.1"),
    python("3.8"),
    member("torch==1.9.1+cu111", "-f", TORCH_PAGE),
    member("torchvision==0.10.1+cu111", "-f", TORCH_PAGE),
    member("torchaudio==0.9.1"),
    member("mmcv-full==1.4.0", "--only-binary", "mmcv-full", "--no-cache-dir", "-f", MMCV_PAGE),
    member("mmdet==2.14.0"),
    member("mmsegmentation==0.14.1"),
    Member(
        "mmdet3d",
        "0.17.2",
        {"origin": "source", "compiles": "cuda", "imports": ["torch"]},
        origin="source",
        tree="mmdetection3d",
    ),
)
_MAPTR_FIELDS: Dict[str, object] = {
    "asked": ("MapTR",),
    "machine": ("GPU a100", "driver 535.129.03"),
    "architectures": ("8.0",),
}
_CONTRADICTIONS = (
    Override(
        (
            "shapely==1.8.5.post1 (requirement.txt:1)",
            "Shapely<=1.8.5 (metadata of nuscenes-devkit 1.1.10)",
        )
    ),
)
#: The authors' stack; what else it needs was asked of PyPI, and no other index.
MAPTR = resolution(
    *_MAPTR,
    **_MAPTR_FIELDS,
    tree=(
        wheel("torchaudio", "0.9.1", "cp38-cp38-manylinux1_x86_64"),
        wheel("mmdet", "2.14.0"),
        wheel("mmsegmentation", "0.14.1"),
        wheel("numpy", "1.19.5", "cp38-cp38-manylinux2010_x86_64"),
        wheel("numba", "0.48.0", "cp38-cp38-manylinux1_x86_64"),
        sdist("mmcv-full", "1.4.0"),  # what PyPI has of it, and nobody wants
    ),
    overrides=_CONTRADICTIONS,
)
#: The same where nothing could be asked.
MAPTR_OFFLINE = resolution(
    *_MAPTR, **_MAPTR_FIELDS, constraints=(Bound("numpy", "<1.24"),), overrides=_CONTRADICTIONS
)

#: Everything is on PyPI, and all of it was asked for.
PYPI = resolution(
    python("3.11"),
    member("torch==2.4.1"),
    member("transformers==4.45.2"),
    machine=("GPU h100", "driver 550.54.15"),
    rest=("einops",),
    tree=(
        wheel("torch", "2.4.1", "cp311-cp311-manylinux1_x86_64"),
        wheel("transformers", "4.45.2"),
        wheel("einops", "0.8.0"),
        wheel("numpy", "1.26.4", "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64"),
    ),
)

#: torch of its own index, whose files were seen, and flash-attn, which looks at torch.
FLASH_ATTENTION = resolution(
    given("build.toolkit", "11.8", "host"),
    python("3.10"),
    member("torch==2.1.2+cu118", "--index-url", CU118),
    member(
        "flash-attn==2.5.6",
        "--no-build-isolation",
        "--no-cache-dir",
        variant={"origin": "wheel", "torch": "2.1", "imports": ["packaging", "torch"]},
    ),
    machine=("GPU a100",),
    architectures=("8.0",),
    target="venv",
    tree=(
        wheel(
            "torch",
            "2.1.2+cu118",
            "cp310-cp310-linux_x86_64",
            url=f"{CU118}/torch-2.1.2%2Bcu118-cp310-cp310-linux_x86_64.whl",
            index=CU118,
        ),
        wheel("numpy", "1.26.4", "cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64"),
        wheel("einops", "0.8.0"),
        sdist("flash-attn", "2.5.6"),
    ),
)

#: What MapTR needs on a newer card: sources that are patched, compiled for two GPUs.
PATCHED = resolution(
    Member(
        "image",
        "nvidia/cuda:11.8.0-cudnn8-devel-ubuntu20.04",
        {"toolkit": "11.8.0", "gcc": "9.4"},
        origin="image",
    ),
    python("3.8"),
    member("torch==2.0.0+cu118", "--index-url", CU118),
    Member(
        "mmcv-full",
        "1.4.0",
        {"origin": "source", "compiles": "cuda", "imports": ["pkg_resources"], "job_memory": 2048},
        origin="source",
        requirement="mmcv-full==1.4.0",
        patches=("mmcv-thc", "mmcv-cxx17"),
    ),
    member("mmdet==2.14.0"),
    machine=("GPU h100,a100",),
    architectures=("9.0", "8.0"),
    constraints=(
        Bound("numpy", "<1.24"),
        Bound("build.setuptools", "<82"),
        Bound("host.glibc", ">=2.17"),
    ),
    relaxed=(Relaxed("torch ==1.9.1 (cuda 11.1)", "2.0.0+cu118"),),
    assumptions=("glibc is 2.28 or newer",),
)

STACKS: Dict[str, Resolution] = {
    "maptr": MAPTR,
    "maptr_offline": MAPTR_OFFLINE,
    "pypi": PYPI,
    "flash_attention": FLASH_ATTENTION,
    "patched": PATCHED,
}
