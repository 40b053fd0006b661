from __future__ import annotations

import contextlib
import re
from typing import Dict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Build, Unknown, Value
from envdoctor.model.versions import parse
from envdoctor.relations.expression import ExpressionError, compile_expression
from envdoctor.relations.values import compare, conjunction, disjunction, negation

TORCH = Build(
    "torch",
    parse("1.9.1"),
    {"cuda": parse("11.1"), "abi": 0, "sass": (parse("7.0"), parse("8.6")), "ptx": ()},
)
MMCV = Build("mmcv-full", parse("1.4.0"), {"origin": "wheel", "torch": parse("1.9")})
MMDET = Build("mmdet", parse("2.14.0"), {})
GPUS = {
    name: Build("host.gpu", None, {"cc": parse(cc), "name": name})
    for name, cc in (("a100", "8.0"), ("3090", "8.6"), ("4090", "8.9"), ("h100", "9.0"))
}
WORLD: Dict[str, Value] = {
    "self": MMCV,
    "torch": TORCH,
    "mmcv-full": MMCV,
    "module.mmcv": MMCV,
    "mmdet": MMDET,
    "host.gpu": (GPUS["3090"], GPUS["4090"]),
    "host.driver": parse("470.57.02"),
    "host.serves": Unknown("no driver"),
    "build.gcc": Unknown("no build"),
    "host.wsl": False,
}


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("torch.series == self.torch", True),
        ("torch == '1.9.1'", True),
        ("torch < '1.10'", True),  # as versions: a number would be 1.1
        ("torch < '1.9.1'", False),
        ("'1.4.0' <= self < '1.4.6'", True),
        ("self in '>=1.3.8,<=1.4.0'", False),  # a text is no specifier: only an attribute is
        ("torch.cuda.major == 11", True),
        ("torch.cuda.major in ['10', '12']", False),
        ("self.origin >= '11'", False),  # a text that is no version is before and after nothing
        ("self.origin < '11'", False),
        ("host.wsl or torch < '2'", True),
        ("not host.wsl", True),
        ("self.origin == 'source' or torch.abi == 0", True),
        ("not self.origin == 'wheel'", False),
        ("self.cuda == torch.cuda", "unknown"),  # the wheel does not state its CUDA here
        ("self.cuda == torch.cuda and torch < '1.0'", False),  # false whatever that is
        ("self.cuda == torch.cuda or torch > '1.0'", True),
        ("all(native(torch, g) for g in host.gpu)", True),  # sm_86 code runs on 8.9
        ("any(g.cc == '8.9' for g in host.gpu)", True),
        ("all(g.cc == '8.9' for g in host.gpu)", False),
        ("host.driver >= family['12'].floor", False),
        ("host.driver >= family['11'].floor", True),
        ("host.driver >= family['13'].floor", "unknown"),  # no such row: newer than the data
        ("host.driver >= family['12'].floor or host.serves.major >= 12", "unknown"),
        ("build.gcc < '12'", "unknown"),
        ("present(mmdet) and module.mmcv < '1.5'", True),
    ],
)
def test_truth(text: str, truth: object, small_matrices: Knowledge) -> None:
    result = compile_expression(text, small_matrices, "mmcv-full").evaluate(WORLD)
    assert (result if isinstance(result, bool) else "unknown") == truth


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("torch < 1.10", "versions are written as text"),
        ("torhc < '1'", "nothing is called 'torhc'"),
        ("torch.arch == '1'", "torch declares no attribute 'arch'"),
        ("host.drivers == '1'", "nothing is called 'host.drivers'"),
        ("module.mmdet3d == '1'", "no package of the matrices provides the module 'mmdet3d'"),
        ("family['11'] == '1'", "Subscript is not part of the language"),
        ("family['11'].roof == '1'", "the table family has no column 'roof'"),
        ("cuda['11'].floor == '1'", "no table is called 'cuda'"),
        ("native(torch)", "native takes 2 arguments"),
        ("__import__('os').system('true')", "only named predicates are called"),
        ("open('/etc/passwd')", "nothing is called 'open'"),
        ("(lambda: 1)() == 1", "only named predicates are called"),
        ("[x for x in host.gpu] == 1", "ListComp is not part of the language"),
        ("torch + 1 == 2", "BinOp is not part of the language"),
        ("torch is mmdet", "is not part of the language"),
        ("self", "a condition is wanted"),
        ("'1.4.0'", "a condition is wanted"),
        ("all(native(torch, g) for g in host.gpu if g)", "a plain loop variable is wanted"),
        ("torch <", "not an expression"),
        ("", "not an expression"),
        ("(" * 500 + "1" + ")" * 500, "not an expression"),
        ("torch == '1' and " * 300 + "True", "too long"),
    ],
)
def test_what_is_not_of_the_language(text: str, problem: str, small_matrices: Knowledge) -> None:
    with pytest.raises(ExpressionError, match=re.escape(problem)):
        compile_expression(text, small_matrices, "mmcv-full")


def test_a_truth_value_is_read_as_well(small_matrices: Knowledge) -> None:
    compiled = compile_expression("not host.wsl", small_matrices, "torch")
    assert compiled.components == {"host.wsl"}


def test_reads_says_what_takes_part(small_matrices: Knowledge) -> None:
    text = "self.origin == 'wheel' and torch.series == self.torch and present(mmdet)"
    compiled = compile_expression(text, small_matrices, "mmcv-full")
    assert dict(compiled.reads) == {"self": {"origin", "torch"}, "torch": {"version"}}
    assert compiled.asked == {"mmdet"}


@given(st.text(max_size=60))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    from envdoctor.knowledge.load import Knowledge

    empty = Knowledge({}, {}, (), {}, "")
    with contextlib.suppress(ExpressionError):
        compile_expression(text, empty, None)


TRUTHS = st.sampled_from([True, False, Unknown("?")])


@given(TRUTHS, TRUTHS, TRUTHS)
def test_kleene_logic(a: object, b: object, c: object) -> None:
    assert conjunction([a, b]) == conjunction([b, a])  # type: ignore[list-item]
    assert disjunction([a, conjunction([b, c])]) == conjunction(  # type: ignore[list-item]
        [disjunction([a, b]), disjunction([a, c])]  # type: ignore[list-item]
    )
    assert negation(conjunction([a, b])) == disjunction(  # type: ignore[list-item]
        [negation(a), negation(b)]  # type: ignore[arg-type]
    )


@given(TRUTHS, st.lists(TRUTHS, max_size=4))
def test_learning_a_fact_never_turns_a_decided_answer(first: object, rest: object) -> None:
    """Monotone: what is decided while something is unknown stays so whatever it turns out to be."""
    for join in (conjunction, disjunction):
        before = join([Unknown("?"), first, *rest])  # type: ignore[misc]
        if isinstance(before, bool):
            assert join([True, first, *rest]) == before  # type: ignore[misc]
            assert join([False, first, *rest]) == before  # type: ignore[misc]


VERSIONS = st.builds(
    lambda parts, tail: parse(".".join(map(str, parts)) + tail),
    st.lists(st.integers(0, 30), min_size=1, max_size=3),
    st.sampled_from(["", "rc1", ".post1"]),
)


@given(VERSIONS, VERSIONS)
def test_versions_are_ordered(a: Value, b: Value) -> None:
    assert [compare(s, a, b) for s in ("<", "==", ">")].count(True) == 1
    assert compare("<=", a, b) == negation(compare(">", a, b))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("label", "text", "truth"),
    [
        ("2.4.0a0+07cecf4168.nv24.05", "self >= '2.4'", True),  # a vendor's build is its release
        ("2.3.0a0+git1a2b3c4", "self < '2.3'", False),
        ("2.0.0rc4", "self < '2.0.0'", True),  # a real pre-release is before it
        ("1.9.1+cu111", "self == '1.9.1'", True),  # the local part never takes part
    ],
)
def test_versions_as_they_are_compared(
    label: str, text: str, truth: bool, small_matrices: Knowledge
) -> None:
    build = Build("torch", parse(label), {})
    assert compile_expression(text, small_matrices, "torch").evaluate({"self": build}) is truth
