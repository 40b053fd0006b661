"""What metadata shows of where a build was made."""

from __future__ import annotations

from typing import Dict, Set, Tuple

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
