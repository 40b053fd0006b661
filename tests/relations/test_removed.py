"""Interfaces that releases no longer have: the tables are whole, and judged as they say."""

from __future__ import annotations

import re
from typing import Any, Dict, List

import pytest

from envdoctor.knowledge.load import load
from envdoctor.model.facts import Distribution, Facts, Target, seen
from envdoctor.model.interface import FLAG, HEADER, IDENTIFIER, KINDS, METHOD, PATTERN, SYNTAX
from envdoctor.relations.observe import observe
from envdoctor.relations.removed import (
    ADDED,
    KEPT,
    TABLES,
    Removed,
    RemovedInterfaces,
    Undecided,
    described,
    interfaces,
)
from envdoctor.rules.page import pages

KNOWLEDGE = load()
_TABLES = [table for table in KNOWLEDGE.tables.values() if table.name.startswith(TABLES)]
KEYS = [str(key) for table in _TABLES for key in table.rows]
ROWS: Dict[str, Dict[str, Any]] = {
    str(key): row for table in _TABLES for key, row in table.rows.items()
}
_KEPT = {str(key) for table in _TABLES if table.name.startswith(KEPT) for key in table.rows}
_ADDED = {str(key) for table in _TABLES if table.name.startswith(ADDED) for key in table.rows}


def test_no_name_has_two_rows() -> None:
    assert len(KEYS) == len(set(KEYS)), {key for key in KEYS if KEYS.count(key) > 1}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_whole(name: str) -> None:
    row = ROWS[name]
    where = f"matrices/platform/: {name}"
    assert row["kind"] in KINDS, f"{where}: kind: is one of {', '.join(KINDS)}"
    known = {
        "python",
        "build.toolkit",
        *KNOWLEDGE.packages,
        *(f"module.{m}" for m in KNOWLEDGE.providers),
    }
    assert row["of"] in known, f"{where}: of: no component is called {row['of']}"
    assert row.get("instead", "").isascii(), f"{where}: instead: is code, the same everywhere"
    if name in _KEPT:
        assert set(row) <= {"kind", "of", "instead"}, f"{where}: of what is kept, no more is said"
        return
    when = {"gone", "since", "standard"} & set(row)
    wanted = {"since"} if name in _ADDED else {"standard"} if row["kind"] == FLAG else {"gone"}
    assert when == wanted, f"{where}: says {', '.join(sorted(wanted))}"
    assert "back" not in row or row["gone"] < row["back"], f"{where}: back: comes after gone:"
    assert ("pattern" in row) == (row["kind"] == PATTERN), f"{where}: pattern: is of patterns"
    assert "made_by" not in row or row["kind"] == METHOD, f"{where}: made_by: is of methods"
    if name not in _ADDED:
        assert row["instead"] or row["kind"] == IDENTIFIER, f"{where}: instead: says what to write"
    finding = next((p for p in pages().values() if p.name == row["finding"]), None)
    assert finding is not None, f"{where}: finding: no page has that name"
    assert finding.is_rule, f"{where}: finding: its page has no rule that tells of projects"


def test_what_is_kept_is_not_told() -> None:
    one = RemovedInterfaces(KNOWLEDGE, observe(Facts(), KNOWLEDGE))
    for name in _KEPT:
        assert one.judge(name) is None, name
        folders = [n for n, row in ROWS.items() if row["kind"] == HEADER and n.endswith("/")]
        assert not any(name.startswith(folder) for folder in folders), name


def test_the_notations_of_python_are_known() -> None:
    from envdoctor.facts.project.syntax import hint

    assert all(hint(name) for name, row in ROWS.items() if row["kind"] == SYNTAX)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("torch._six", ["torch._six"]),
        ("torch._six.inf", ["torch._six"]),
        ("torch.fft", ["torch.fft()"]),
        ("torch.load", ["torch.load", "torch.load(weights_only=...)", "torch.load(mmap=...)"]),
        ("transformers.TFBertModel", ["transformers.TF[A-Z]*"]),
        ("transformers.BertModel", []),
        ("AT_ASSERT", ["AT_ASSERT"]),
        ("no.such.name", []),
    ],
)
def test_rows_speak_of_a_name(name: str, rows: List[str]) -> None:
    assert sorted(one.name for one in described(KNOWLEDGE, name)) == sorted(rows)


def test_interfaces_are_what_the_tables_hold() -> None:
    found = {one.name: one for one in interfaces(KNOWLEDGE)}
    assert set(found) == set(ROWS)
    assert found["torch.load"].without == "weights_only"
    assert found["numpy.int"] == ("numpy.int", "python", "", "", "", "", False)
    assert found["torch.utils.data.DataLoader.next"].made_by == "iter"
    assert found["AT_ASSERT"].is_kept
    assert all(re.compile(one.pattern) for one in found.values())


def judged(name: str, installed: List[str], python: str = "3.11.4") -> Any:
    distributions = []
    for one in installed:
        project, _, version = one.partition(" ")
        distributions.append(Distribution(project, version, f"/s/{project}.dist-info", "/s"))
    target = Target("/env/bin/python", python, path=("/s",), distributions=tuple(distributions))
    facts = Facts(target=seen(target, "--python"))
    return RemovedInterfaces(KNOWLEDGE, observe(facts, KNOWLEDGE)).judge(name)


@pytest.mark.parametrize(
    ("name", "installed", "build"),
    [
        ("numpy.bool", "numpy 1.23.5", None),
        ("numpy.bool", "numpy 1.24.0", "numpy 1.24.0"),
        ("numpy.bool", "numpy 2.0.0", None),
        ("numpy.int", "numpy 2.2.6", "numpy 2.2.6"),
        ("numpy.in1d", "numpy 2.2.6", None),
        ("numpy.in1d", "numpy 2.4.6", "numpy 2.4.6"),
        ("numpy.float_", "numpy 1.26.4", None),
        ("numpy.float_", "numpy 2.0.2", "numpy 2.0.2"),
        ("torch._six", "torch 1.13.1", None),
        ("torch._six", "torch 2.0.1", "torch 2.0.1"),
        ("torch._six.container_abcs", "torch 1.8.1", None),
        ("torch._six.container_abcs", "torch 1.9.1+cu111", "torch 1.9.1+cu111"),
        ("THC/THC.h", "torch 1.10.2", None),
        ("THC/THC.h", "torch 1.11.0", "torch 1.11.0"),
        ("AT_DISPATCH_*(x.type(), ...)", "torch 2.5.1", None),
        ("AT_DISPATCH_*(x.type(), ...)", "torch 2.6.0", "torch 2.6.0"),
        ("-std=c++14", "torch 2.0.1", None),
        ("-std=c++14", "torch 2.1.2", "torch 2.1.2"),
        ("-std=c++17", "torch 2.4.1", None),
        ("-std=c++17", "torch 2.14.1", "torch 2.14.1"),
        ("--local_rank", "torch 1.13.1", None),
        ("--local_rank", "torch 2.0.0", "torch 2.0.0"),
        ("pkg_resources", "setuptools 81.0.0", None),
        ("pkg_resources", "setuptools 82.0.1", "setuptools 82.0.1"),
        # within 70.0 to 70.3 only, and again where the module around it is gone
        ("pkg_resources.packaging", "setuptools 69.5.1", None),
        ("pkg_resources.packaging", "setuptools 70.0.0", "setuptools 70.0.0"),
        ("pkg_resources.packaging", "setuptools 71.1.0", None),
        ("pkg_resources.packaging", "setuptools 82.0.1", "setuptools 82.0.1"),
        ("mmcv.runner", "mmcv-full 1.7.1", None),
        ("mmcv.runner", "mmcv 2.1.0", "mmcv 2.1.0"),
        ("mmcv.runner", "mmcv-lite 2.1.0", "mmcv-lite 2.1.0"),
        ("transformers.AdamW", "transformers 4.49.0", None),
        ("transformers.AdamW", "transformers 4.51.3", "transformers 4.51.3"),
        ("torch.set_deterministic", "torch 1.9.1+cu111", None),
        ("torch.set_deterministic", "torch 1.10.0", "torch 1.10.0"),
        ("torch.optim.lr_scheduler", "torch 2.6.0", None),
        ("torch.optim.lr_scheduler", "torch 2.7.0", "torch 2.7.0"),
        ("THCUNN/", "torch 1.9.1", None),
        ("THCUNN/", "torch 1.10.0", "torch 1.10.0"),
        ("AT_CHECK", "torch 1.5.0", "torch 1.5.0"),
        ("torch.fft()", "torch 1.7.1", None),
        ("torch.fft()", "torch 1.8.0", "torch 1.8.0"),
        ("torch.stft", "torch 1.13.1", None),
        ("torch.stft", "torch 2.0.0", "torch 2.0.0"),
        ("torch.inference_mode", "torch 1.8.1", "torch 1.8.1"),
        ("torch.inference_mode", "torch 1.9.1+cu111", None),
        ("torch.load(weights_only=...)", "torch 1.12.1", "torch 1.12.1"),
        ("torch.load(weights_only=...)", "torch 1.13.1", None),
        ("numpy.exceptions", "numpy 1.24.4", "numpy 1.24.4"),
        ("numpy.exceptions.AxisError", "numpy 1.26.4", None),
        ("numpy.ndarray.tostring", "numpy 2.2.6", None),
        ("numpy.ndarray.tostring", "numpy 2.3.0", "numpy 2.3.0"),
        ("transformers.utils.cached_path", "transformers 4.21.3", None),
        ("transformers.utils.cached_path", "transformers 4.22.0", "transformers 4.22.0"),
        ("transformers.HybridCache", "transformers 5.0.0rc0", None),
        ("transformers.HybridCache", "transformers 5.0.0", "transformers 5.0.0"),
        ("transformers.TF[A-Z]*", "transformers 4.57.6", None),
        ("transformers.TF[A-Z]*", "transformers 5.0.0", "transformers 5.0.0"),
        ("transformers.utils.is_torch_tpu_available", "transformers 4.51.0", "transformers 4.51.0"),
        ("transformers.utils.is_torch_tpu_available", "transformers 5.9.0", None),
        ("transformers.tokenization_utils_fast", "transformers 5.0.0", None),
        ("PIL.Image.ANTIALIAS", "pillow 9.5.0", None),
        ("PIL.Image.ANTIALIAS", "pillow 10.0.0", "pillow 10.0.0"),
        ("setuptools.sandbox", "setuptools 79.0.1", None),
        ("setuptools.sandbox", "setuptools 80.9.0", "setuptools 80.9.0"),
        ("mmcv.utils.is_str", "mmcv 2.1.0", "mmcv 2.1.0"),
        ("xml.etree.cElementTree", "torch 2.4.1", None),
        ("numpy.int", "torch 2.4.1", None),
        ("no.such.interface", "torch 2.4.1", None),
    ],
)
def test_a_build_has_it_or_not(name: str, installed: str, build: str) -> None:
    found = judged(name, [installed])
    assert (found.build if isinstance(found, Removed) else found) == build


def test_of_python_and_what_setuptools_brings() -> None:
    assert judged("imp", [], "3.11.4") is None
    assert judged("imp", [], "3.12.0").build == "Python 3.12.0"
    assert judged("distutils", ["setuptools 69.5.1"], "3.12.0") is None
    assert judged("distutils", [], "3.12.0").build == "Python 3.12.0"
    assert judged("cgi.escape", [], "3.9.1").name == "cgi.escape"
    assert judged("list[...]", [], "3.8.18").build == "Python 3.8.18"
    assert judged("list[...]", [], "3.9.1") is None
    assert judged("asyncio.Queue(loop=...)", [], "3.10.4").build == "Python 3.10.4"


def test_what_is_not_known_is_not_decided() -> None:
    unknown = RemovedInterfaces(KNOWLEDGE, observe(Facts(), KNOWLEDGE)).judge("numpy.int")
    assert isinstance(unknown, Undecided)
    assert isinstance(judged("torch._six", ["torch 2.0.0.dev20230115"]), Undecided)


def test_a_removal_says_where_it_is_known_from() -> None:
    found = judged("numpy.int", ["numpy 1.26.4"])
    assert found.text("instead") == "int"
    assert found.text("back") == ""
    assert found.citation.basis == "measured"
    assert "asked for the names" in found.citation.source
