"""What metadata shows of where a build was made."""

from __future__ import annotations

from typing import Any, Dict, List, Set, Tuple

import pytest

from envdoctor.knowledge.load import load
from envdoctor.model.facts import Distribution, Facts, Target, seen
from envdoctor.rules.check import check

SITE = "/env/lib/python3.11/site-packages"


def found(tags: Tuple[str, ...], folder: str = "dist-info", installer: str = "") -> Set[str]:
    pandas = Distribution(
        name="pandas",
        version="2.2.1",
        path=f"{SITE}/pandas-2.2.1.{folder}",
        search_entry=SITE,
        tags=tags,
        installer=installer,
    )
    numpy = Distribution(
        name="numpy", version="2.2.6", path=f"{SITE}/numpy-2.2.6.dist-info", search_entry=SITE
    )
    target = Target(
        python="/env/bin/python", version="3.11.7", path=(SITE,), distributions=(pandas, numpy)
    )
    return {f.name for f in check(Facts(target=seen(target, "test")), load()).findings}


@pytest.mark.parametrize(
    ("tags", "folder", "installer", "compiled_for_numpy_1"),
    [
        (
            ("cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux2014_x86_64"),
            "",
            "pip",
            True,
        ),
        (("cp311-cp311-musllinux_1_1_x86_64",), "", "pip", False),  # not tried
        ((), "", "", True),  # metadata without a WHEEL file
        # compiled here, for the numpy that is here
        (("cp311-cp311-linux_x86_64",), "", "pip", False),
        ((), "egg-info", "", False),
        ((), "", "conda", False),
    ],
)
def test_who_compiled_a_package_is_read_from_its_tags(
    tags: Tuple[str, ...], folder: str, installer: str, compiled_for_numpy_1: bool
) -> None:
    names = found(tags, folder or "dist-info", installer)
    assert ("numpy2-abi" in names) == compiled_for_numpy_1


@pytest.mark.parametrize(
    ("environ", "refused"),
    [
        ({}, True),
        ({"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}, False),
        ({"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "upb"}, True),
    ],
)
def test_the_value_of_a_variable_decides(environ: Dict[str, str], refused: bool) -> None:
    installed = tuple(
        Distribution(name=n, version=v, path=f"{SITE}/{n}-{v}.dist-info", search_entry=SITE)
        for n, v in [("onnx", "1.12.0"), ("protobuf", "4.25.8")]
    )
    target = Target(
        python="/env/bin/python",
        version="3.9.18",
        path=(SITE,),
        distributions=installed,
        environ=environ,
    )
    report = check(Facts(target=seen(target, "test")), load())
    assert ("protobuf-too-new" in {f.name for f in report.findings}) == refused


def told(*distributions: Distribution) -> List[Tuple[str, str]]:
    """The names of what is found, with the severities, in an environment of Python 3.10."""
    target = Target(
        python="/env/bin/python", version="3.10.13", path=(SITE,), distributions=distributions
    )
    report = check(Facts(target=seen(target, "test")), load())
    return [(f.severity, f.name) for f in report.findings if f.name in TOLD]


TOLD = ("torch-abi-mismatch", "cuda-runtime-major-mismatch", "dependency-conflict")


def installed(name: str, version: str, **more: Any) -> Distribution:
    path = f"{SITE}/{name}-{version}.dist-info"
    return Distribution(name=name, version=version, path=path, search_entry=SITE, **more)


@pytest.mark.parametrize(
    ("version", "tags", "expected"),
    [
        ("2.1.2+pt21cu118", ("cp310-cp310-linux_x86_64",), []),
        ("2.1.2+pt20cu118", ("cp310-cp310-linux_x86_64",), [("error", "torch-abi-mismatch")]),
        ("2.1.2+pt20cu118", (), [("error", "torch-abi-mismatch")]),
        ("2.1.2+pt21cu121", (), [("error", "cuda-runtime-major-mismatch")]),
        ("2.1.2", ("cp310-cp310-linux_x86_64",), []),  # compiled here
        # A wheel that no list names is one of the release all the same.
        ("2.1.2+pt19cu118", ("cp310-cp310-linux_x86_64",), [("error", "torch-abi-mismatch")]),
        ("2.0.9+cu121", ("cp310-cp310-linux_x86_64",), []),  # for which torch is not said
    ],
)
def test_a_local_version_says_what_a_wheel_is_for(
    version: str, tags: Tuple[str, ...], expected: List[Tuple[str, str]]
) -> None:
    scatter = installed("torch-scatter", version, tags=tags, installer="pip")
    assert told(installed("torch", "2.1.2+cu118"), scatter) == expected


@pytest.mark.parametrize(
    ("version", "pin", "tags", "expected"),
    [
        ("0.0.23.post1", "2.1.2", ("cp310-cp310-manylinux2014_x86_64",), []),
        # the torch that it was compiled for, told once: not as a conflict of metadata too
        ("0.0.28", "2.4.1", ("cp310-cp310-manylinux_2_28_x86_64",), ["torch-abi-mismatch"]),
        ("0.0.23", "2.1.1", ("cp310-cp310-manylinux2014_x86_64",), ["torch-abi-mismatch"]),
        # compiled here, for the torch that is here
        ("0.0.28+abcdef01.d20240901", "2.1.2", ("cp310-cp310-linux_x86_64",), []),
        ("0.0.99", "9.9.9", (), ["dependency-conflict"]),  # newer than the data
    ],
)
def test_xformers_is_told_once_of_its_torch(
    version: str, pin: str, tags: Tuple[str, ...], expected: List[str]
) -> None:
    xformers = installed("xformers", version, tags=tags, requires=(f"torch=={pin}",))
    found = told(installed("torch", "2.1.2+cu121"), installed("numpy", "1.26.4"), xformers)
    assert found == [("warning", name) for name in expected]


@pytest.mark.parametrize(
    ("name", "version", "python", "numpy", "platform", "expected"),
    [
        ("xtcocotools", "1.12", "3.8.18", "1.21.6", "manylinux2014_x86_64", True),
        ("xtcocotools", "1.12", "3.8.18", "1.22.4", "manylinux2014_x86_64", False),
        ("xtcocotools", "1.13", "3.10.13", "1.22.4", "manylinux2014_x86_64", True),
        ("xtcocotools", "1.14.3", "3.10.13", "1.22.4", "manylinux2014_x86_64", False),
        ("xtcocotools", "1.14.3", "3.8.18", "1.22.4", "manylinux2014_x86_64", True),
        ("xtcocotools", "1.14.3", "3.8.18", "1.22.4", "linux_x86_64", False),  # compiled here
        ("xtcocotools", "1.14.3", "3.7.16", "1.19.5", "manylinux2014_x86_64", True),
        ("lap", "0.5.12", "3.8.18", "1.22.4", "manylinux2014_x86_64", True),
        ("lap", "0.5.12", "3.8.18", "1.23.5", "manylinux2014_x86_64", False),
        ("lap", "0.5.12", "3.9.18", "1.19.5", "manylinux2014_x86_64", False),
        ("pycocotools", "2.0.7", "3.8.18", "1.17.5", "manylinux2014_x86_64", False),
    ],
)
def test_headers_of_a_newer_numpy(
    name: str, version: str, python: str, numpy: str, platform: str, expected: bool
) -> None:
    tag = "cp" + "".join(python.split(".")[:2])
    compiled = installed(name, version, tags=(f"{tag}-{tag}-{platform}",), installer="pip")
    target = Target(
        python="/env/bin/python",
        version=python,
        path=(SITE,),
        distributions=(compiled, installed("numpy", numpy)),
    )
    found = check(Facts(target=seen(target, "test")), load()).findings
    assert ("numpy-header-size-changed" in {f.name for f in found}) == expected
