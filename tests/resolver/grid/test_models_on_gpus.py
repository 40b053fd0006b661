"""Five models, nine GPUs, four drivers: what is resolved, and laws that each cell keeps."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
import yaml
from cells import DRIVERS, GPUS, MODELS, Answer, Grid, of_any_gpu
from packaging.version import Version

from envdoctor.model.resolution import IMPOSSIBLE

pytestmark = pytest.mark.answers

HERE = Path(__file__).parent
REASONS: List[Dict[str, Any]] = yaml.safe_load((HERE / "reasons.yaml").read_text("utf-8"))
#: GPUs of one compute capability, which these drivers drive alike.
ALIKE = (("rtx4090", "l40s"), ("h100", "h200"))


@functools.lru_cache(maxsize=None)
def grid(model: str) -> Grid:
    return Grid(model)


def costs(answer: Answer) -> List[str]:
    return [one.partition(" ")[2] for one in answer.criteria]


@pytest.mark.parametrize("model", MODELS)
def test_the_answers_are_those_that_were_looked_at(
    model: str, golden: Callable[[Path, str], None]
) -> None:
    golden(HERE / "golden" / f"{model}.txt", grid(model).table())


@pytest.mark.parametrize("row", REASONS, ids=lambda row: "-".join([row["model"], *row["cell"]]))
def test_what_follows_from_the_facts_by_hand(row: Dict[str, Any]) -> None:
    answer = grid(row["model"]).answer(*row["cell"])
    assert answer.status == row["status"]
    assert set(row.get("has", ())) <= set(answer.stack)
    assert set(row.get("patches", ())) <= set(answer.patches)
    if "dropped" in row:
        assert costs(answer)[0] == str(row["dropped"])
    cores = [set(of_any_gpu(core)) for core in answer.cores]
    for core in row.get("cores", ()):
        assert any(set(core) <= one for one in cores), core


def test_there_are_enough_reasons() -> None:
    assert len(REASONS) >= 20
    assert {row["model"] for row in REASONS} == set(MODELS)
    assert all(len(row["because"]) > 40 for row in REASONS)


@pytest.mark.parametrize("model", MODELS)
def test_a_newer_driver_takes_nothing_away(model: str) -> None:
    """Branch 580 is the last for Volta, and drives all of these."""
    for gpu in GPUS:
        found = [grid(model).found(gpu, driver) for driver in sorted(DRIVERS, key=Version)]
        for older, newer in zip(found, found[1:]):
            if older is not None:
                assert newer is not None
                assert newer.solution.cost <= older.solution.cost


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_gpus_of_one_architecture_get_one_answer(model: str, one: str, other: str) -> None:
    for driver in DRIVERS:
        first, second = (grid(model).answer(gpu, driver) for gpu in (one, other))
        assert first[:4] == second[:4]


@pytest.mark.parametrize("model", MODELS)
def test_every_answer_is_proved(model: str) -> None:
    for gpu in GPUS:
        for driver in DRIVERS:
            found = grid(model).found(gpu, driver)
            assert found is None or found.proved
            assert grid(model).solver(gpu, driver).is_complete


@pytest.mark.parametrize("model", MODELS)
def test_cores_are_minimal_and_each_is_one(model: str) -> None:
    for gpu in GPUS:
        for driver in DRIVERS:
            solver = grid(model).solver(gpu, driver)
            needs = frozenset(r.id for r in solver.requirements if r.kind == "need")
            for core in solver.cores().found:
                beside = frozenset() if needs & set(core) else needs
                assert not solver.is_satisfiable(frozenset(core) | beside)
                for member in core:
                    assert solver.is_satisfiable(frozenset(core) - {member} | beside), core


@pytest.mark.parametrize("model", MODELS)
def test_without_a_stack_there_is_a_core(model: str) -> None:
    for answer, _ in grid(model).classes():
        assert bool(answer.cores) == (answer.status != "solved")
        assert bool(answer.stack) == (answer.status != IMPOSSIBLE)
