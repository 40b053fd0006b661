"""`--matrices DIR` and `matrices` in [tool.envdoctor]: on every command that reads the matrices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict

import pytest

import envdoctor as api

OURS = """
package: our-ops
checked: 2026-12-01
source: lab notes
modules: [our_ops]
requires: [torch]
releases: [1.0.0]
variant: {origin: string, torch: version}
builds: [{id: our-ops/all, versions: [1.0.0], set: {origin: wheel, torch: "2.3"}}]
relations:
- id: our-ops/torch
  needs: torch.series == self.torch
  phase: import
  finding: torch-abi-mismatch
  words: {en: {summary: "import our_ops will fail", why: "it was compiled for torch {self.torch}"}}
"""
GPU = """
platform: ours
checked: 2026-12-01
source: lab notes
tables:
  gpu:
    key: string
    columns: {}
    rows: {x1: {cc: "9.0", family: datacenter, product: X1 Secret, names: [X1]}}
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    for name, text in (("packages/ours", OURS), ("platform/ours", GPU)):
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def patient(tmp_path: Path, snapshot: str) -> str:
    """A snapshot in which that package is installed beside torch 2.4.1."""
    data = json.loads(Path(snapshot).read_text(encoding="utf-8"))
    data["target"]["value"]["distributions"] = [
        {
            "name": name,
            "version": version,
            "path": f"/env/{name}-{version}.dist-info",
            "search_entry": "/env",
        }
        for name, version in (("our-ops", "1.0.0"), ("torch", "2.4.1+cu121"))
    ]
    path = tmp_path / "patient.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


def checked(envdoctor: Callable[..., Any], *arguments: str) -> Dict[str, Any]:
    ended = envdoctor("check", *arguments, "--format", "json")
    assert ended.err == ""
    found: Dict[str, Any] = json.loads(ended.out)
    return found


def broken(report: Dict[str, Any]) -> bool:
    relations = [one["relation"] for one in report["findings"]]
    return any(relation and relation["id"] == "our-ops/torch" for relation in relations)


def test_check_judges_what_users_know(
    envdoctor: Callable[..., Any], mine: Path, patient: str
) -> None:
    report = checked(envdoctor, "--facts", patient, "--matrices", str(mine))
    assert broken(report)
    assert report["matrices_added"] == [str(mine)]
    text = envdoctor("check", "--facts", patient, "--matrices", str(mine)).out
    assert f"Matrices: {mine} over those that ship" in " ".join(text.split())
    assert "[our-ops/torch, documented]" in text
    found = api.check(facts=patient, matrices=[mine])
    assert found.matrices_added == (str(mine),)


@pytest.mark.remembering
def test_what_is_remembered_is_remembered_for_them_alone(
    envdoctor: Callable[..., Any], mine: Path, patient: str
) -> None:
    both = ("--facts", patient, "--matrices", str(mine))
    for _ in range(2):
        assert not broken(checked(envdoctor, "--facts", patient))
        assert broken(checked(envdoctor, *both))
    file = mine / "packages" / "ours.yaml"
    file.write_text(OURS.replace('torch: "2.3"', 'torch: "2.4"'), encoding="utf-8")
    assert not broken(checked(envdoctor, *both))


def test_a_project_may_name_them(
    envdoctor: Callable[..., Any],
    mine: Path,
    patient: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".git").mkdir()
    (project / "pyproject.toml").write_text(
        '[tool.envdoctor]\nmatrices = ["../mine"]\n', encoding="utf-8"
    )
    monkeypatch.chdir(project)
    report = checked(envdoctor, "--facts", patient)
    assert broken(report)
    assert report["matrices_added"] == [str(project / "../mine")]
    assert not broken(checked(envdoctor, "--facts", patient, "--isolated"))
    assert envdoctor("explain", "our-ops").code == 0


def test_all_commands_read_them(
    envdoctor: Callable[..., Any], mine: Path, patient: str, tmp_path: Path
) -> None:
    added = ("--matrices", str(mine))
    ended = envdoctor("explain", "our-ops==1.0.0", "torch==2.4.1", *added)
    assert "it was compiled for torch 2.3" in ended.out
    data = json.loads(envdoctor("explain", "gpu=x1", *added, "--format", "json").out)
    assert data["matrices_added"] == [str(mine)]
    assert data["row"]["cells"][0]["values"]["product"] == "X1 Secret"
    ended = envdoctor("matrix", "torch", "our-ops", "--facts", patient, *added)
    assert ended.code == 0
    assert "Matrices:" in ended.out
    page = tmp_path / "page.html"
    envdoctor(
        "matrix",
        "torch",
        "our-ops",
        "--facts",
        patient,
        *added,
        "--format",
        "html",
        "-o",
        str(page),
    )
    assert str(mine) in page.read_text(encoding="utf-8")
    assert "x1 (9.0)" in envdoctor("check", "--gpu", "help", *added).out
    assert envdoctor("--facts", patient, *added).code in (0, 1)
    assert envdoctor("facts", "--facts", patient, *added).code == 0


@pytest.mark.parametrize("command", [["check"], ["explain", "torch"], ["matrix", "torch"], []])
def test_what_cannot_be_read_is_told_with_its_place(
    envdoctor: Callable[..., Any], mine: Path, patient: str, command: Any
) -> None:
    where = ["--facts", patient] if command[:1] != ["explain"] else []
    broken_file = mine / "packages" / "ours.yaml"
    broken_file.write_text(OURS.replace("self.torch\n", "self.tarch\n"), encoding="utf-8")
    ended = envdoctor(*command, *where, "--matrices", str(mine))
    assert (ended.code, ended.out) == (3, "")
    said = " ".join(ended.err.split())
    assert f"{broken_file}:11: our-ops/torch: self declares no attribute 'tarch'" in said
    ended = envdoctor(*command, *where, "--matrices", str(mine / "nowhere"))
    assert (ended.code, ended.out) == (3, "")
    assert "nowhere: no such file or directory" in ended.err
