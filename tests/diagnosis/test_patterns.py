"""No regular expression that reads logs takes more than linear time."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

import pytest

sys.path.append(str(Path(__file__).parent))

from linear import faults

from envdoctor.knowledge.failures import failures

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = sorted((ROOT / "envdoctor" / "diagnosis").rglob("*.py"))
#: Those of the module `re` and of patterns that look from the beginning of a text only.
FROM_THE_START = {"match", "fullmatch"}
FUNCTIONS = {*FROM_THE_START, "search", "sub", "subn", "split", "findall", "finditer"}

LINEAR = [
    r"^\s*error: (.*)$",
    r"error: [^:]*: fatal",
    r"undefined symbol: (\S+)",
    r"\bNo module named '([^']+)'",
    r"No module named '([^']{1,200})'",
    r"^(\S+): (\d+)$",
    r"foo.*",
    r"foo.{0,300}bar",
    r"foo: (.*)$",
    r"(?<!\S)(\S{1,500}): foo",
    r"^[\w.]+Error\b: (.*)",
    r"^(?:[a-z]+\.)*$",
    r"\b[A-Za-z]+:",
    r"(?<!\w)\w+:",
    r"^.*foo",
    r"^(.*?): (\d+)x",
    r'File "([^"]+)", line (\d+), in (.+)',
    r"^(?:a|b)*$",
    r"(?i)killed\s*$",
]
NOT_LINEAR = [
    r"\s+$",
    r"\s*foo",
    r".*foo",
    r"\w+Error: ",
    r"error.*foo",
    r"error: (.+) at (.+) end",
    r"^(.*) is (.*) not$",
    r"^(a+)+$",
    r"^(?:ab|a|b)*c",
    r"^(\w+\s?)*$",
    r"(?:\d+\.)*\d+ foo",
    r"a.{0,900}b.{0,900}c",
    r"^\s*\s*x",
    r"^.*\d+foo",
    r"(\S{1,500}): foo",
]


@pytest.mark.parametrize("pattern", LINEAR)
def test_what_is_linear(pattern: str) -> None:
    assert faults(pattern) == []


@pytest.mark.parametrize("pattern", NOT_LINEAR)
def test_what_is_not(pattern: str) -> None:
    assert faults(pattern) != []


def test_what_is_matched_from_the_start() -> None:
    assert faults(r"\s*foo", is_anchored=True) == []
    assert faults(r"(.*) is (.*) not", is_anchored=True) != []


def uses() -> Dict[str, Set[str]]:
    """By which functions a name is used, over all modules of diagnosis."""
    found: Dict[str, Set[str]] = {}
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
                value = node.value
                name = value.id if isinstance(value, ast.Name) else getattr(value, "attr", "")
                found.setdefault(name, set()).add(node.attr)
    return found


def of_module(path: Path) -> Iterator[Tuple[str, re.Pattern[str]]]:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    module = importlib.import_module(name)
    for key, value in vars(module).items():
        for pattern in compiled(value, 0):
            yield key, pattern


def compiled(value: object, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4:
        if isinstance(value, dict):
            for each in [*value.keys(), *value.values()]:
                yield from compiled(each, depth + 1)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for each in value:
                yield from compiled(each, depth + 1)
        elif isinstance(value, type) and value.__module__.startswith("envdoctor.diagnosis"):
            for each in vars(value).values():
                yield from compiled(each, depth + 1)


def test_patterns_of_the_code() -> None:
    used = uses()
    wrong: List[str] = []
    for path in CODE:
        for name, pattern in of_module(path):
            source = pattern.pattern
            text = source.decode("latin-1") if isinstance(source, bytes) else source
            is_anchored = used.get(name, {"search"}) <= FROM_THE_START
            wrong += [
                f"{path.relative_to(ROOT)}: {name}: {text[:100]}: {fault}"
                for fault in faults(text, pattern.flags & ~re.UNICODE, is_anchored)
                # Of a table that is walked through, nothing says how it is used.
                if name in used or "begins anew" not in fault
            ]
    assert wrong == []


def test_patterns_stand_at_the_top_of_modules() -> None:
    """There the law above sees them."""
    hidden = []
    for path in CODE:
        functions = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef)
        ]
        for call in (node for function in functions for node in ast.walk(function)):
            function = call.func if isinstance(call, ast.Call) else None
            if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                is_written = isinstance(call, ast.Call) and any(
                    isinstance(each, (ast.Constant, ast.JoinedStr)) for each in call.args[:1]
                )
                if function.value.id == "re" and is_written and function.attr != "escape":
                    hidden.append(f"{path.relative_to(ROOT)}:{function.lineno}")
    assert hidden == []


def of_failures() -> Iterator[Tuple[str, str]]:
    for cause, failure in failures().items():
        for sign in failure.signs:
            for condition in (sign, *sign.seen, *sign.unseen):
                for patterns in (condition.where, condition.differs):
                    yield from ((f"{cause} {sign.id}", each) for each in patterns.values())
        for cure in failure.fixes:
            yield from ((f"{cause} fix", each) for each in cure.where.values())


def test_patterns_of_failures() -> None:
    """A field has no more than a few thousand characters, so a search may begin anew in it."""
    wrong = [
        f"{where}: {pattern[:100]}: {fault}"
        for where, pattern in of_failures()
        for fault in faults(pattern, is_anchored=True)
    ]
    assert wrong == []
