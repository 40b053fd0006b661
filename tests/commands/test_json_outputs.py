"""What each command prints with `--format json`, as it is typed, obeys the schema that ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import jsonschema
import pytest

import envdoctor.report

SCHEMAS = Path(envdoctor.report.__file__).resolve().parent / "schemas"

#: {schema: command lines; FACTS is a snapshot, REQUIREMENTS a file}
OUTPUTS: Dict[str, Tuple[str, ...]] = {
    "check": (
        "check --facts FACTS",
        "check --facts FACTS --gpu h100 --driver 450 --lang zh --no-deep",
        "check --requirements REQUIREMENTS",
    ),
    "list-rules": ("check --list-rules",),
    "explain": ("explain ED101", "explain torch-abi-mismatch --lang zh"),
    "explain-packages": ("explain torch==1.9.1+cu111", "explain mmcv-full==1.4.0 torch==2.0.1"),
    "explain-row": ("explain gpu=h100", "explain driver=535"),
    "matrix": ("matrix torch torchvision --facts FACTS",),
    "resolve": (
        "resolve torch==2.4.1 --facts FACTS",
        "resolve maptr --facts FACTS --gpu h100",
        "resolve torch==1.9 torch==2.0 --facts FACTS --lang zh",
        "resolve torch==9.9 --facts FACTS",
        "resolve --requirements REQUIREMENTS --facts FACTS --target host",
    ),
}


@pytest.mark.parametrize(
    ("schema", "line"), [(name, line) for name, lines in OUTPUTS.items() for line in lines]
)
def test_it_obeys_its_schema(
    schema: str, line: str, envdoctor: Callable[..., Any], snapshot: str, tmp_path: Path
) -> None:
    listed = tmp_path / "requirements.txt"
    listed.write_text("torch==2.4.1\nnumpy\n")
    places = {"FACTS": snapshot, "REQUIREMENTS": str(listed)}
    words: List[str] = [places.get(word, word) for word in line.split()]
    ended = envdoctor(*words, "--format", "json")
    assert ended.code in (0, 1, 3), ended.err
    data = json.loads(ended.out)
    shipped = json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)


def test_a_snapshot_obeys_its_schema(envdoctor: Callable[..., Any], snapshot: str) -> None:
    data = json.loads(envdoctor("facts", "--facts", snapshot).out)
    shipped = json.loads((SCHEMAS / "facts.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(data)


def test_a_binary_obeys_its_schema(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("inspect", "/bin/sh", "--format", "json")
    shipped = json.loads((SCHEMAS / "inspect.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(shipped).validate(json.loads(ended.out))
