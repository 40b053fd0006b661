"""JSON for programs: the keys that are promised, the shipped schemas, odd text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Tuple

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_reports import ABI, MACHINES, NOTHING, NUMPY, OLD_DRIVER, REQUIRES, WORKERS, report

import envdoctor.report
from envdoctor.model.facts import Facts
from envdoctor.model.finding import (
    PHASES,
    SEVERITIES,
    MachineSummary,
    Report,
    TargetSummary,
    assumed,
)
from envdoctor.model.repair import Repair
from envdoctor.model.resolution import STATUSES, TARGETS
from envdoctor.model.what_if import VERDICTS, WhatIf
from envdoctor.report.diagnosis import DiagnosisAnswer
from envdoctor.report.explanation import PackagesAnswer, RowAnswer
from envdoctor.report.failures import CauseAnswer, CausesAnswer
from envdoctor.report.inspection import Answer
from envdoctor.report.json import render
from envdoctor.report.matrix import GridsAnswer
from envdoctor.report.pages import Explanation, Listing, explanation_json, listing_json
from envdoctor.report.resolution import ResolutionAnswer
from envdoctor.rules.page import Page

SCHEMAS = Path(envdoctor.report.__file__).resolve().parent / "schemas"
OUTPUTS: Dict[str, Any] = {
    "check": Report,
    "diagnose": DiagnosisAnswer,
    "explain": Explanation,
    "explain-cause": CauseAnswer,
    "explain-packages": PackagesAnswer,
    "explain-row": RowAnswer,
    "facts": Facts,
    "inspect": Answer,
    "list-causes": CausesAnswer,
    "list-rules": Listing,
    "matrix": GridsAnswer,
    "resolve": ResolutionAnswer,
    "repair": Repair,
    "what-if": WhatIf,
}
CODE = {"type": "string", "pattern": "^ED[0-9]{3}$"}
CODE_OR_NONE = {"type": "string", "pattern": "^(ED[0-9]{3})?$"}
SURENESS = {"type": "number", "minimum": 0, "maximum": 1}
CLOSED = {
    "severity": {"enum": list(SEVERITIES)},
    "phase": {"enum": list(PHASES)},
    "schema_version": {"const": 1},
    "verdict": {"enum": list(VERDICTS)},
}
PAGE = Page(
    code="ED412",
    name="torch-abi-mismatch",
    severity="error",
    severities=("error", "warning"),
    phase="import",
    title="A compiled extension was built against another torch",
    facts=["target"],
    body="An extension ...\n",
)


def schema(name: str) -> Dict[str, Any]:
    """The schema of an output, made from the record that the output is encoded from."""
    (made,), components = msgspec.json.schema_components(
        [OUTPUTS[name]], ref_template="#/$defs/{name}"
    )
    top = components.pop(made["$ref"].rpartition("/")[2])
    # Records of facts leave defaults out, wherever they stand.
    sparse = [components.get(key) for key in ("Binary", "GpuCode")]
    with_none = [components.get(key) for key in ("Cause", "CauseListed")]
    for kind in (top, *components.values()):
        properties = kind.get("properties", {})
        # Programs must get by with what a later release adds.
        kind.pop("additionalProperties", None)
        if name != "facts" and kind not in sparse:
            kind["required"] = sorted(properties)
            for entry in properties.values():
                entry.pop("default", None)
        for key in CLOSED.keys() & properties.keys():
            properties[key] = CLOSED[key]
        if name == "resolve" and kind is top:
            properties["status"] = {"enum": list(STATUSES)}
            properties["target"] = {"enum": list(TARGETS)}
        if "code" in properties and kind is not components.get("Skipped"):
            properties["code"] = CODE_OR_NONE if kind in with_none else CODE
        if "confidence" in properties:
            properties["confidence"] = SURENESS
    whole = {**top, "$defs": {short(key): kind for key, kind in components.items()}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"envdoctor {name}",
        **plain(whole),
    }


def short(name: str) -> str:
    """ "Observed_Tuple_Gpu" of "Observed_typing.Tuple_envdoctor.model.facts.Gpu__...__"."""
    return "_".join(word.rpartition(".")[2] for word in re.findall(r"[A-Za-z.]*[A-Za-z]", name))


def plain(data: Any) -> Any:
    """What every release of msgspec makes of the same records."""
    if isinstance(data, list):
        return sorted(map(plain, data), key=json.dumps)
    if not isinstance(data, dict):
        return data
    prose = ("title", "description")
    kept = {k: plain(v) for k, v in data.items() if k not in prose or isinstance(v, dict)}
    if "$ref" in kept:
        kept["$ref"] = "#/$defs/" + short(kept["$ref"][len("#/$defs/") :])
    return kept


def shipped(name: str) -> Dict[str, Any]:
    loaded: Dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def validate(name: str, output: str) -> Dict[str, Any]:
    data: Dict[str, Any] = json.loads(output)
    jsonschema.Draft202012Validator(shipped(name)).validate(data)
    return data


@pytest.mark.parametrize("name", OUTPUTS)
def test_shipped_schemas_are_those_of_the_records(
    name: str, golden: Callable[[Path, str], None]
) -> None:
    text = json.dumps(schema(name), indent=1, sort_keys=True) + "\n"
    golden(SCHEMAS / f"{name}.json", text)


@pytest.mark.parametrize("name", OUTPUTS)
def test_shipped_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(shipped(name))


def test_a_report_has_the_promised_keys_and_obeys_its_schema() -> None:
    data = validate("check", render(report(ABI, NUMPY, REQUIRES, WORKERS, skipped=2)))
    assert list(data) == [
        "schema_version",
        "command",
        "envdoctor_version",
        "matrices_date",
        "matrices_added",
        "language",
        "target",
        "machine",
        "assumed",
        "configuration",
        "findings",
        "ignored",
        "baseline",
        "ruled_out",
        "skipped",
        "facts_digest",
    ]
    first, second = data["findings"][:2]
    assert first["relation"]["id"] == "mmcv-full/thc"
    assert second["relation"] is None
    promised = {"code", "name", "severity", "phase", "component", "summary", "evidence"}
    assert promised | {"relation", "fixes", "verify"} <= set(second)
    assert first["evidence"][1]["value"] == "2.4.1+cu121"


def test_a_report_says_what_it_is_about() -> None:
    facts = MACHINES["assumed"]
    said = Report(
        "check",
        "0.1.0",
        "2026-11-30",
        (),
        TargetSummary.of(facts),
        MachineSummary.of(facts),
        tuple(assumed(facts)),
    )
    data = validate("check", render(said))
    assert data["target"] == {
        "python": "/home/ann/envs/maptr/bin/python",
        "version": "3.8.18",
        "prefix": "/home/ann/envs/maptr",
        "torch": "2.4.1+cu121",
        "why": "VIRTUAL_ENV",
        "unknown": "",
    }
    assert data["machine"] == {
        "os": "ubuntu:20.04",
        "architecture": None,
        "glibc": "2.31",
        "accelerator": "nvidia",
        "gpus": ["H100"],
        "driver": "535.54.03",
        "cuda": "12.2",
    }
    assert data["assumed"] == [
        "machine.os",
        "machine.glibc",
        "accelerator.vendor",
        "accelerator.gpus",
        "accelerator.driver",
        "accelerator.serves",
    ]


@pytest.mark.parametrize(
    ("facts", "target", "gpus"),
    [
        (
            NOTHING,
            TargetSummary(
                unknown="neither VIRTUAL_ENV nor CONDA_PREFIX is set, and python3 is not on PATH"
            ),
            (),
        ),
        (
            OLD_DRIVER,
            TargetSummary(
                "/home/ann/envs/maptr/bin/python",
                "3.8.18",
                "/home/ann/envs/maptr",
                "",
                "VIRTUAL_ENV",
            ),
            ("Tesla V100-SXM2-16GB", "Tesla T4"),
        ),
        (Facts(), TargetSummary(), None),
    ],
)
def test_what_is_unknown_of_target_and_machine(
    facts: Facts, target: TargetSummary, gpus: Optional[Tuple[str, ...]]
) -> None:
    assert TargetSummary.of(facts) == target
    assert MachineSummary.of(facts).gpus == gpus
    assert list(assumed(facts)) == []


@pytest.mark.parametrize(
    ("key", "value"), [("severity", "fatal"), ("phase", "lunch"), ("code", "E1"), ("name", None)]
)
def test_the_schema_refuses_what_is_not_promised(key: str, value: Any) -> None:
    data = json.loads(render(report(ABI)))
    data["findings"][0][key] = value
    with pytest.raises(jsonschema.ValidationError):
        validate("check", json.dumps(data))


@pytest.mark.parametrize("name", MACHINES)
def test_facts_obey_their_schema(name: str) -> None:
    validate("facts", msgspec.json.encode(MACHINES[name]).decode())


def test_pages_obey_their_schemas() -> None:
    explained = validate("explain", explanation_json(PAGE, "2026-11-30"))
    assert (explained["code"], explained["facts"]) == ("ED412", ["target"])
    listed = validate("list-rules", listing_json([PAGE, PAGE], "2026-11-30"))
    assert [rule["name"] for rule in listed["rules"]] == ["torch-abi-mismatch"] * 2


@settings(deadline=None)
@given(st.text(st.characters() | st.sampled_from("\ud800\udce9\x00\u2028"), max_size=20))
def test_any_text_can_be_rendered(summary: str) -> None:
    finding = msgspec.structs.replace(ABI, summary=summary)
    assert json.loads(render(report(finding)))["findings"][0]["summary"] == summary
