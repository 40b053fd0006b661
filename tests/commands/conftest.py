from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, List, NamedTuple, Sequence

import pytest

from envdoctor.commands.cli import run
from envdoctor.facts.snapshot import dump
from envdoctor.model.facts import Accelerator, Facts, Gpu, Target, TorchFiles, seen
from envdoctor.model.finding import Finding, Report

FACTS = Facts(
    accelerator=Accelerator(
        vendor=seen("nvidia", "device node /dev/nvidia0"),
        gpus=seen((Gpu("NVIDIA A100-SXM4-80GB", "8.0", 81920),), "NVML"),
        driver=seen("535.129.03", "NVML"),
        serves=seen("12.2", "libcuda"),
    ),
    target=seen(
        Target(
            python="/home/ann/envs/maptr/bin/python",
            version="3.8.18",
            prefix="/home/ann/envs/maptr",
            torch=TorchFiles(
                path="/home/ann/envs/maptr/lib/python3.8/site-packages/torch",
                version=seen("2.4.1+cu121", "torch/version.py"),
            ),
        ),
        "VIRTUAL_ENV",
    ),
)


class Ended(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    return FACTS


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """The path of a snapshot file."""
    path = tmp_path / "facts.json"
    path.write_bytes(dump(FACTS))
    return str(path)


@pytest.fixture
def envdoctor(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Runs a command line in this process."""

    def call(*arguments: str) -> Ended:
        capsys.readouterr()
        code = run(arguments)
        return Ended(code, *capsys.readouterr())

    return call


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[Finding]], List[Any]]:
    """Makes `check` find what is given; returns the facts that it was called with."""

    def find(findings: Sequence[Finding]) -> List[Any]:
        calls: List[Any] = []

        def check(facts: Facts, _: Any, language: str) -> Report:
            calls.append(facts)
            return Report("check", "0.1.0", "2026-11-30", tuple(findings), language=language)

        monkeypatch.setattr("envdoctor.rules.check.check", check)
        monkeypatch.setattr(
            "envdoctor.knowledge.load.load", lambda: SimpleNamespace(date="2026-11-30")
        )
        monkeypatch.setattr("envdoctor.resolver.overview.models", lambda *_: [("maptr", "ready")])
        return calls

    return find
