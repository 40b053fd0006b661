"""`envdoctor resolve` as users call it, with the matrices that ship."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, Tuple

import jsonschema
import pytest
from rich.cells import cell_len

import envdoctor.report
from envdoctor import resolve
from envdoctor.facts.snapshot import dump
from envdoctor.model.facts import Facts, Machine, seen
from envdoctor.model.resolution import Resolution
from envdoctor.report.resolution import as_text
from envdoctor.report.view import View

SCHEMA = Path(envdoctor.report.__file__).resolve().parent / "schemas" / "resolve.json"
LONGEST = 55  # lines: what a page of a terminal holds
BARE = Facts(machine=Machine(architecture=seen("x86_64", "test")))


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """The path of a snapshot of a machine of which only the processor is known."""
    path = tmp_path / "bare.json"
    path.write_bytes(dump(BARE))
    return str(path)


@pytest.fixture
def answered(envdoctor: Callable[..., Any], bare: str) -> Callable[..., Tuple[int, Dict[str, Any]]]:
    """The exit code and the JSON, which obeys its schema."""

    def call(*words: str) -> Tuple[int, Dict[str, Any]]:
        ended = envdoctor("resolve", *words, "--facts", bare, "--format", "json")
        assert ended.err == ""
        data = json.loads(ended.out)
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
        return ended.code, data

    return call


def versions(data: Dict[str, Any]) -> Dict[str, str]:
    return {one["component"]: one["version"] for one in data["stack"]}


def test_a_model_on_a_gpu_that_its_authors_had(answered: Callable[..., Any]) -> None:
    code, data = answered("maptr", "--gpu", "a100", "--driver", "535.129.03")
    assert (code, data["status"], data["optimal"]) == (0, "solved", True)
    assert data["criteria"][0] == {"name": "dropped_pins", "value": 0}
    stack = versions(data)
    assert (stack["python"], stack["torch"], stack["mmcv-full"]) == ("3.8", "1.9.1+cu111", "1.4.0")
    assert (data["cores"], data["relaxed"], data["ways"]) == ([], [], [])


def test_a_model_on_a_gpu_that_is_too_new(answered: Callable[..., Any]) -> None:
    code, data = answered("maptr", "--gpu", "h100", "--driver", "535.129.03")
    assert (code, data["status"]) == (0, "relaxed")
    cores = [{one["text"] for one in core if one["kind"] != "relation"} for core in data["cores"]]
    gpu = "GPU H100 (compute capability 9.0)"
    assert {gpu, "torch ==1.9.1 (cuda 11.1)"} in cores
    assert {gpu, "mmcv-full ==1.4.0"} in cores
    assert [len(data["cores"]), len(data["explanations"])] == [5, 5]
    assert "torch ==1.9.1 (cuda 11.1)" in [one["pin"] for one in data["relaxed"]]
    assert all(one["because"] for one in data["relaxed"])


def test_what_may_not_be_relaxed_is_impossible(answered: Callable[..., Any]) -> None:
    code, data = answered("torch==1.9.1", "--gpu", "h100")
    assert (code, data["status"], data["stack"]) == (1, "impossible", [])
    (core,) = data["cores"]
    assert [one["kind"] for one in core] == ["fact", "pin", "relation"]
    assert data["ways"]


def test_two_versions_of_one_package(answered: Callable[..., Any]) -> None:
    code, data = answered("torch==1.9", "torch==2.0")
    assert (code, data["status"]) == (1, "impossible")
    assert [[one["text"] for one in core] for core in data["cores"]] == [
        ["torch ==1.9", "torch ==2.0"]
    ]


def test_what_is_kept_cannot_be_had(answered: Callable[..., Any]) -> None:
    code, data = answered("maptr", "--gpu", "h100", "--keep", "torch")
    assert (code, data["status"]) == (1, "impossible")


def test_several_gpus_are_served_by_one_stack(answered: Callable[..., Any]) -> None:
    code, data = answered("torch>=2", "--gpu", "v100,h100", "--driver", "535")
    assert (code, data["status"]) == (0, "solved")
    torch = next(one for one in data["stack"] if one["component"] == "torch")
    assert {"7.0", "9.0"} <= set(torch["variant"]["sass"])


def test_numpy_that_torch_takes(answered: Callable[..., Any]) -> None:
    """torch 2.2.2 was compiled against NumPy 1, which its metadata does not say."""
    _, data = answered("torch==2.2.2", "numpy", "--gpu", "a100", "--driver", "535")
    assert versions(data)["numpy"].startswith("1.")


def test_the_order_of_words_and_files_does_not_matter(
    answered: Callable[..., Any], tmp_path: Path
) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("torch==2.1.2\nnumpy\n")
    other.write_text("torchvision\n")
    files = ["--requirements", str(one), "--requirements", str(other)]
    _, first = answered("timm", "scipy", *files, "--gpu", "a100")
    files = ["--requirements", str(other), "--requirements", str(one)]
    _, second = answered("scipy", "timm", *files, "--gpu", "a100")
    assert versions(first) == versions(second)
    assert first["criteria"] == second["criteria"]


#: What is told of the models that ship, on GPUs old and new.
TOLD = [("maptr", "h100"), ("gaussianformer", "rtx5090"), ("sparsedrive", "v100"), ("qcnet", "t4")]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("model", "gpu"), TOLD)
def test_it_fits_on_a_page(model: str, gpu: str, language: str) -> None:
    found: Resolution = resolve(model, gpu=gpu, driver="580", facts=BARE, language=language)
    lines = as_text(found, View()).splitlines()
    assert len(lines) <= LONGEST
    long = [line for line in lines if cell_len(line) > 80]
    assert [line for line in long if "/" not in line] == []  # URLs, tags and paths stay whole
    assert as_text(found, View(verbose=True), True).count("\n") >= len(lines)
