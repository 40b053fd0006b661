"""Resolver and installer in turns: a resolver of a few lines, an installer that repeats itself."""

from __future__ import annotations

from typing import Callable, Dict, List, Sequence, Tuple, Union

import pytest

from envdoctor.actions.index import Platform
from envdoctor.actions.installer import Conflict, Failed, Outcome, Question, Tree
from envdoctor.actions.learn import judged, platform_of, resolve_tree
from envdoctor.knowledge.load import load
from envdoctor.model.language import CHINESE, translate
from envdoctor.model.resolution import (
    Artefact,
    Bound,
    Criterion,
    Left,
    Member,
    Override,
    Resolution,
)
from envdoctor.model.versions import parse, satisfies
from envdoctor.relations.judge import Relations
from envdoctor.resolver.request import FILE, Learned, Pin, Request

RELATIONS = Relations(load())
P310 = Platform("3.10", glibc="2.31")
#: What the resolver below chooses from, the best first.
RELEASES = {
    "python": ("3.10", "3.9"),
    "torch": ("2.2.2", "2.4.1"),
    "numpy": ("1.26.4", "1.24.4", "2.0.0"),
    "tensorboard": ("2.9.1",),
    "setuptools": ("81.0.0",),
}


def member(text: str, **more: object) -> Member:
    name, _, version = text.partition("==")
    requirement = "" if name == "python" else text
    return Member(component=name, version=version, requirement=requirement, **more)  # type: ignore[arg-type]


def found(*stack: Member, **more: object) -> Resolution:
    said = {"command": "resolve", "envdoctor_version": "0", "matrices_date": "", **more}
    return Resolution(**{"status": "solved", "optimal": True, "stack": stack, **said})  # type: ignore[arg-type]


class Resolver:
    """The first combination that nothing forbids; of numpy only where it is asked for.

    What a stack costs is its place among all. Of `free` packages nobody names a version.
    """

    def __init__(self, *free: str) -> None:
        self.free = free
        self.asked: List[Tuple[Request, Tuple[Learned, ...]]] = []

    def __call__(self, request: Request, learned: Sequence[Learned]) -> Resolution:
        self.asked.append((request, tuple(learned)))
        wanted = ["python", *(pin.component for pin in request.pins)]
        specifiers = {pin.component: pin.specifier for pin in request.pins}
        stacks: List[Dict[str, str]] = [{}]
        for name in dict.fromkeys(wanted):
            allowed = [
                version
                for version in RELEASES[name]
                if satisfies(parse(version), specifiers.get(name, ""))
            ]
            stacks = [{**stack, name: version} for stack in stacks for version in allowed]
        for stack in stacks:
            if not any(self._is(stack, one) for one in learned):
                members = (
                    member(f"{name}=={version}", pinned=name not in self.free)
                    for name, version in stack.items()
                )
                age = sum(RELEASES[name].index(version) for name, version in stack.items())
                asked = tuple(str(pin) for pin in request.pins)
                cost = (Criterion("age", age),)
                return found(*members, rest=request.rest, criteria=cost, asked=asked)
        return found(status="impossible", optimal=False)

    @staticmethod
    def _is(stack: Dict[str, str], learned: Learned) -> bool:
        return all(
            name in stack and satisfies(parse(stack[name]), spec)
            for name, spec in learned.forbidden.items()
        )


def tree(*artefacts: str, left: Tuple[Left, ...] = ()) -> Tree:
    listed = [text.partition("==") for text in artefacts]
    return Tree(tuple(Artefact(n, v) for n, _, v in listed), left, installer="uv 0.13.9")


class Installer:
    """Says one thing after another; or what a function says of a question."""

    def __init__(self, *says: Union[Outcome, Callable[[Question], Outcome]]) -> None:
        self.says = list(says)
        self.asked: List[Question] = []

    def __call__(self, question: Question) -> Outcome:
        self.asked.append(question)
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        return said(question) if callable(said) else said


def request(*pins: str, rest: Tuple[str, ...] = ()) -> Request:
    listed = [Pin(text.partition(" ")[0], text.partition(" ")[2], by=FILE) for text in pins]
    return Request("some requirements", tuple(listed), rest=rest)


AGREED = tree("torch==2.2.2", "numpy==1.26.4", "einops==0.8.0")


def test_both_agree_at_once() -> None:
    solve, ask = Resolver(), Installer(AGREED)
    answer = resolve_tree(solve, request("torch", rest=("einops",)), ask, RELATIONS, P310)
    assert (answer.status, answer.optimal, answer.learned) == ("solved", True, ())
    assert answer.tree == AGREED.artefacts
    (question,) = ask.asked
    assert [m.component for m in question.members] == ["python", "torch"]
    assert question.rest == ("einops",)
    assert question.platform == P310


def test_what_the_installer_refuses_is_never_asked_again() -> None:
    refused = Conflict({"torch": "==2.2.2", "python": "==3.10.*"}, "Because so.", "uv 0.13.9")
    solve = Resolver()
    ask = Installer(refused, tree("torch==2.4.1", "numpy==1.26.4"))
    answer = resolve_tree(solve, request("torch"), ask, RELATIONS, P310)
    assert answer.status == "solved"
    assert [m.version for m in answer.stack] == ["3.10", "2.4.1"]
    assert answer.learned == (
        "with torch==2.2.2, Python 3.10 the rest cannot be installed: Because so.",
    )
    (lesson,) = solve.asked[-1][1]
    assert lesson.forbidden == refused.forbidden
    assert lesson.source == "uv 0.13.9"
    assert "其余的要求无法安装" in translate(CHINESE, answer.learned[0])


def test_another_python_is_taken_where_only_that_helps() -> None:
    def by_python(question: Question) -> Outcome:
        if question.platform.python == "3.10":
            return Conflict({"python": "==3.10.*"}, "Because of Python.", "uv 0.13.9")
        return AGREED

    answer = resolve_tree(Resolver(), request("torch"), Installer(by_python), RELATIONS, P310)
    assert [m.version for m in answer.stack] == ["3.9", "2.2.2"]


def test_nothing_is_left_after_what_was_learned() -> None:
    def whatever(question: Question) -> Outcome:
        python = question.platform.python
        return Conflict({"python": f"=={python}.*"}, "Because of the rest.", "uv 0.13.9")

    answer = resolve_tree(Resolver(), request("torch"), Installer(whatever), RELATIONS, P310)
    assert answer.status == "impossible"
    assert answer.learned == (
        "with Python 3.10 the rest cannot be installed: Because of the rest.",
        "with Python 3.9 the rest cannot be installed: Because of the rest.",
    )


def refuses(**forbidden: str) -> Conflict:
    named = ", ".join(f"{name} {spec}" for name, spec in forbidden.items())
    return Conflict({**forbidden, "python": "==3.10.*"}, f"Because of {named}.", "uv 0.13.9")


def test_what_nobody_asked_for_in_a_version_the_installer_chooses() -> None:
    """Metadata of that release wants something else of the rest than its authors' pin."""
    solve = Resolver("numpy")
    agreed = tree("torch==2.2.2", "numpy==1.24.4", "unheard-of==2.2")
    ask = Installer(refuses(numpy="==1.26.4"), agreed)
    wanted = request("torch ==2.2.2", "numpy", rest=("unheard-of<2.3",))
    answer = resolve_tree(solve, wanted, ask, RELATIONS, P310)
    assert (answer.status, answer.optimal) == ("solved", True)
    assert [m.version for m in answer.stack] == ["3.10", "2.2.2", "1.24.4"]
    assert answer.tree == agreed.artefacts
    assert answer.asked == ("torch ==2.2.2", "numpy")
    assert answer.learned == (
        "with numpy==1.26.4, Python 3.10 the rest cannot be installed: Because of numpy ==1.26.4.",
    )
    first, freed, last = ask.asked
    assert [m.requirement for m in first.members[1:]] == ["torch==2.2.2", "numpy==1.26.4"]
    assert [m.requirement for m in freed.members[1:]] == ["torch==2.2.2"]
    assert freed.rest == ("unheard-of<2.3", "numpy")
    assert [m.requirement for m in last.members[1:]] == ["torch==2.2.2", "numpy==1.24.4"]
    (pin,) = solve.asked[-1][0].pins[2:]
    assert pin == Pin("numpy", "==1.24.4", source="chosen by uv 0.13.9")


def test_what_takes_part_in_the_next_conflict_is_free_as_well() -> None:
    def by_metadata(question: Question) -> Outcome:
        """No torch 2.2.2, and no numpy but 1.24.4; it takes what there is."""
        chosen = {m.component: m.version for m in question.members}
        for name, version in (("torch", "2.4.1"), ("numpy", "1.24.4")):
            if chosen.get(name, version) != version:
                return refuses(**{name: f"=={chosen[name]}"})
        return tree("torch==2.4.1", "numpy==1.24.4")

    solve, ask = Resolver("torch", "numpy"), Installer(by_metadata)
    answer = resolve_tree(solve, request("torch", "numpy"), ask, RELATIONS, P310)
    assert [m.version for m in answer.stack] == ["3.10", "2.4.1", "1.24.4"]
    assert [one.rest for one in ask.asked[:3]] == [(), ("torch",), ("torch", "numpy")]
    assert (answer.status, answer.optimal) == ("solved", True)


def test_what_may_be_better_is_asked_about_first() -> None:
    """And what the installer would take in the end, which is not proved then."""

    def endless(question: Question) -> Outcome:
        asked = next((m.version for m in question.members if m.component == "numpy"), "2.0.0")
        return tree("numpy==2.0.0") if asked == "2.0.0" else refuses(numpy=f"=={asked}")

    for rounds, versions, proved in (
        (2, ["1.26.4", "2.0.0"], False),
        (5, ["1.26.4", "1.24.4", "2.0.0"], True),
    ):
        solve, ask = Resolver("numpy"), Installer(endless)
        answer = resolve_tree(solve, request("numpy"), ask, RELATIONS, P310, rounds)
        asked = [m.version for q in ask.asked for m in q.members if m.component == "numpy"]
        assert asked == versions
        assert (answer.status, answer.optimal) == ("solved", proved)


@pytest.mark.parametrize("version", ["3.99", "2.0.0"])
def test_a_choice_that_fits_no_stack_teaches_what_was_refused(version: str) -> None:
    """Newer than the matrices, or forbidden by what was learned besides."""
    lesson = Conflict({"numpy": "==1.26.4"}, "So.", "uv 0.13.9", wider=({"numpy": ">=1.26"},))
    ask = Installer(lesson, tree(f"numpy=={version}"), tree("numpy==1.24.4"))
    answer = resolve_tree(Resolver("numpy"), request("numpy"), ask, RELATIONS, P310)
    assert (answer.status, answer.optimal) == ("solved", True)
    assert [m.version for m in answer.stack] == ["3.10", "1.24.4"]


def test_what_was_taken_is_given_up_where_it_leads_nowhere() -> None:
    solve = Resolver("numpy")
    wrong, right = tree("numpy==1.24.4"), tree("numpy==2.0.0")
    refused = refuses(numpy="==1.26.4"), refuses(numpy="==1.24.4")
    ask = Installer(refused[0], wrong, refused[1], right)
    answer = resolve_tree(solve, request("numpy"), ask, RELATIONS, P310)
    assert (answer.status, answer.optimal) == ("solved", True)
    assert [m.version for m in answer.stack] == ["3.10", "2.0.0"]


@pytest.mark.parametrize(
    "held",
    [
        {"pinned": True},
        {"url": "https://wheels.invalid/cu118"},
        {"origin": "source"},
        {"tree": "mmdetection3d"},
        {"patches": ("no-thc",)},
    ],
)
def test_what_is_asked_for_or_is_no_release_of_the_index_is_never_free(
    held: Dict[str, object],
) -> None:
    stack = found(member("python==3.10"), member("torch==2.2.2", **held))
    rest = ("einops",)
    ask = Installer(refuses(torch="==2.2.2"))
    wanted = request("torch", rest=rest)
    answer = resolve_tree(lambda *_: stack, wanted, ask, RELATIONS, P310)
    assert answer.status == "unknown"
    assert [question.rest for question in ask.asked] == [rest, rest]


def test_extras_of_what_is_free_are_kept() -> None:
    held = Member("ray", "2.9.0", requirement="ray[tune]==2.9.0")
    ask = Installer(refuses(ray="==2.9.0"), Failed("uv 0.13.9 cannot reach the index"))
    answer = resolve_tree(lambda *_: found(held), request("ray"), ask, RELATIONS, P310)
    assert ask.asked[1].rest == ("ray[tune]",)
    assert answer.reason == "uv 0.13.9 cannot reach the index"


def test_what_breaks_a_relation_becomes_a_component() -> None:
    """torch 2.2.2 was compiled with NumPy 1, which its metadata does not say."""
    solve = Resolver()

    def newest(question: Question) -> Outcome:
        pinned = {m.component: m.version for m in question.members}
        return tree("torch==2.2.2", f"numpy=={pinned.get('numpy', '2.0.0')}")

    ask = Installer(newest)
    answer = resolve_tree(solve, request("torch"), ask, RELATIONS, P310)
    assert answer.status == "solved"
    assert [m.component for m in answer.stack] == ["python", "torch", "numpy"]
    assert [pin.component for pin in solve.asked[0][0].pins] == ["torch"]
    (added,) = solve.asked[1][0].pins[1:]
    assert (added.component, added.source) == ("numpy", "chosen by uv 0.13.9")
    assert len(ask.asked) == 2


def test_what_breaks_no_more_than_a_warning_is_chosen_as_well() -> None:
    """The command tensorboard imports pkg_resources, its metadata takes any setuptools."""
    newest = tree("tensorboard==2.9.1", "setuptools==82.0.1")
    ask = Installer(newest, tree("tensorboard==2.9.1", "setuptools==81.0.0"))
    answer = resolve_tree(Resolver(), request("tensorboard"), ask, RELATIONS, P310)
    assert [m.version for m in answer.stack] == ["3.10", "2.9.1", "81.0.0"]
    assert answer.asked == ("tensorboard",)


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_where_a_warning_cannot_be_helped_the_tree_stands(rounds: int) -> None:
    newest = tree("tensorboard==2.9.1", "setuptools==82.0.1")
    ask = Installer(newest, Conflict({"setuptools": "==81.0.0"}, "Because so.", "uv 0.13.9"))
    answer = resolve_tree(Resolver(), request("tensorboard"), ask, RELATIONS, P310, rounds)
    assert (answer.status, answer.optimal) == ("solved", True)
    assert [m.version for m in answer.stack] == ["3.10", "2.9.1"]
    assert answer.tree == newest.artefacts


def test_a_relation_that_stays_broken_is_said() -> None:
    ask = Installer(tree("torch==2.2.2", "numpy==2.0.0"))
    fixed = found(member("python==3.10"), member("torch==2.2.2"))
    answer = resolve_tree(lambda *_: fixed, request("torch", "numpy"), ask, RELATIONS, P310)
    assert (answer.status, answer.optimal, answer.tree) == ("unknown", False, ())
    assert answer.reason == (
        "no tree was found that goes with a stack: "
        "what uv 0.13.9 chose of numpy breaks torch/numpy-1"
    )


@pytest.mark.parametrize("rounds", [1, 3, 5])
def test_rounds_are_counted(rounds: int) -> None:
    refused = (Conflict({"numpy": f"=={n}"}, f"Because of {n}.", "uv 0.13.9") for n in range(100))
    ask = Installer(lambda _: next(refused))
    answer = resolve_tree(Resolver(), request("torch"), ask, RELATIONS, P310, rounds)
    assert answer.status == "unknown"
    assert answer.reason.startswith("no tree was found that goes with a stack: with numpy==")
    assert len(ask.asked) == rounds
    assert len(answer.learned) == rounds


def test_a_resolver_that_does_not_learn_ends_it() -> None:
    refused = Conflict({"torch": "==2.2.2"}, "Because so.", "uv 0.13.9")
    ask = Installer(refused)
    fixed = found(member("python==3.10"), member("torch==2.2.2", pinned=True))
    answer = resolve_tree(lambda *_: fixed, request("torch"), ask, RELATIONS, P310)
    assert answer.status == "unknown"
    assert len(ask.asked) == 2


def test_without_an_installer_the_stack_stands_alone() -> None:
    ask = Installer(Failed("uv 0.13.9 cannot reach the index: dns error"))
    answer = resolve_tree(Resolver(), request("torch"), ask, RELATIONS, P310)
    assert (answer.status, answer.tree) == ("solved", ())
    assert answer.reason == "uv 0.13.9 cannot reach the index: dns error"


def test_without_a_stack_nobody_is_asked() -> None:
    ask = Installer(AGREED)
    answer = resolve_tree(Resolver(), request("torch <1"), ask, RELATIONS, P310)
    assert answer.status == "impossible"
    assert ask.asked == []


def test_all_that_is_known_is_handed_on() -> None:
    bounds = (Bound("numpy", "<2"),)
    overrides = (Override(("a", "b"), take="numpy<2"),)
    left = (Left("nvidia-cublas-cu11", "torch 2.2.2+cu118 brings its own"),)
    ask = Installer(tree("torch==2.2.2", left=left))
    fixed = found(member("torch==2.2.2"), constraints=bounds, overrides=overrides)
    answer = resolve_tree(lambda *_: fixed, request("torch"), ask, RELATIONS, P310)
    assert ask.asked[0].constraints == bounds
    assert ask.asked[0].overrides == overrides
    assert answer.left == left


# --- judging ----------------------------------------------------------------------------------


def broken(stack: Sequence[str], artefacts: Sequence[str], python: str = "3.10") -> List[str]:
    members = [member(text) for text in stack]
    listed = [Artefact(*text.split("==")) for text in artefacts]
    found = judged(members, listed, RELATIONS, Platform(python))
    return [f"{one.relation}: {', '.join(one.packages)}" for one in found]


@pytest.mark.parametrize(
    ("stack", "artefacts", "relations"),
    [
        (["torch==2.2.2"], ["numpy==1.26.4"], []),
        (["torch==2.2.2"], ["numpy==2.0.0"], ["torch/numpy-1: numpy"]),
        (["torch==2.2.2", "numpy==2.0.0"], [], []),  # the resolver's own, and its matter
        (["tensorboard==2.9.1"], ["setuptools==82.0.1"], ["tensorboard/pkg-resources: setuptools"]),
        (["torch==99.0"], ["numpy==2.0.0", "unheard-of==1"], []),  # newer than the matrices
    ],
)
def test_the_relations_judge_what_was_chosen(
    stack: List[str], artefacts: List[str], relations: List[str]
) -> None:
    assert broken(stack, artefacts) == relations


def test_the_platform_is_the_stacks_own() -> None:
    stack = (
        member("python==3.8"),
        Member("image", "nvidia/cuda:11.1.1", variant={"glibc": "2.31"}, origin="image"),
    )
    assert platform_of(found(*stack), Platform("3.11", glibc="2.39")) == Platform(
        "3.8", glibc="2.31"
    )
    host = (Member("host.glibc", "2.35", origin="host"),)
    assert platform_of(found(*host), Platform("3.11")) == Platform("3.11", glibc="2.35")
