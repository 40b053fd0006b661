"""The relation language: a subset of Python's expressions, checked and compiled to closures.

    torch.series == self.torch and torch.cuda == self.cuda
    all(native(self, g) or jit(self, g) for g in host.gpu)
    host.driver >= family[self.cuda.major].floor

Names are `self`, packages (`mmcv_full` is mmcv-full), tables, predicates, and the components of a
machine (`host.driver`), of a build (`build.gcc`) and of import names (`module.mmcv`). Versions are
written as text, '1.10', since a number would lose its zero.
"""

from __future__ import annotations

import ast
import re
from typing import Callable, Dict, FrozenSet, Mapping, NamedTuple, Optional, Set

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.build import Absent, Unknown, Value
from envdoctor.model.text import nearest
from envdoctor.model.versions import try_parse
from envdoctor.relations.components import DOTTED, GPU, PYTHON, SCOPES
from envdoctor.relations.predicates import PREDICATES
from envdoctor.relations.values import (
    Truth,
    attribute,
    compare,
    conjunction,
    disjunction,
    negation,
    scalar,
)

Environment = Mapping[str, Value]
Evaluate = Callable[[Environment], Value]

_SIGNS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_OF_VERSION = ("version", "series", "major", "minor")
#: A sign that people write for ==, and texts, which may hold any.
_SINGLE = re.compile(r"(?<![=!<>:])=(?!=)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_MAX_LENGTH = 2000
_MAX_LOOPS = 2  # each multiplies what one evaluation takes


class ExpressionError(ValueError):
    """An expression that is not of the language, or names something that does not exist."""


class Expression(NamedTuple):
    """A compiled expression.

    `reads` says of each component (and of "self") which attributes take part in the result;
    `asked` are components that only `present()` speaks of.
    """

    evaluate: Callable[[Environment], Truth]
    reads: Mapping[str, FrozenSet[str]]
    asked: FrozenSet[str]

    @property
    def components(self) -> FrozenSet[str]:
        """Components other than self whose absence leaves nothing to say."""
        return frozenset(self.reads) - {"self"}


class ValueExpression(NamedTuple):
    """An expression compiled for its value, and the components that it names (without self)."""

    evaluate: Evaluate
    components: FrozenSet[str]


class _Node(NamedTuple):
    evaluate: Evaluate
    source: Optional[str] = None  # the component that the value is or belongs to
    is_component: bool = False  # the component itself, no attribute of it


def compile_expression(text: str, knowledge: Knowledge, owner: Optional[str]) -> Expression:
    """Compile `text`; `owner` is the package that self is one of, None for any.

    Raises ExpressionError.
    """
    return _Compiler(text, knowledge, owner).compile()


def compile_value(text: str, knowledge: Knowledge, owner: Optional[str]) -> ValueExpression:
    """Compile an expression for its value, as templates of words use it.

    Raises ExpressionError.
    """
    return _Compiler(text, knowledge, owner).compile_value()


class _Compiler:
    def __init__(self, text: str, knowledge: Knowledge, owner: Optional[str]) -> None:
        self.text = text
        self.knowledge = knowledge
        self.owner = owner
        self.reads: Dict[str, Set[str]] = {}
        self.asked: Set[str] = set()
        self.bound: Dict[str, str] = {}  # loop variable -> component it runs over

    def _parse(self) -> ast.AST:
        if len(self.text) > _MAX_LENGTH:
            raise ExpressionError("expression is too long")
        try:
            return ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            text = self.text.strip()
            single = _SINGLE.search(_QUOTED.sub(lambda match: "'" * len(match.group()), text))
            if single is not None:
                column = f"column {single.start() + 1} of {text!r}"
                raise ExpressionError(f"= compares nothing, did you mean ==? ({column})") from None
            offset = getattr(error, "offset", None)
            column = f" (column {offset})" if offset else ""
            raise ExpressionError(f"not an expression: {self.text!r}{column}") from None

    def compile_value(self) -> ValueExpression:
        node = self._visit(self._parse())
        components = set(self.reads) | {node.source or "self"} | self.asked
        return ValueExpression(node.evaluate, frozenset(components) - {"self"})

    def compile(self) -> Expression:
        evaluate = self._truth(self._parse())
        return Expression(
            evaluate,
            {name: frozenset(used) for name, used in self.reads.items()},
            frozenset(self.asked - set(self.reads)),
        )

    def _fail(self, node: ast.AST, problem: str) -> ExpressionError:
        column = getattr(node, "col_offset", 0) + 1
        return ExpressionError(f"{problem} (column {column} of {self.text!r})")

    def _read(self, component: Optional[str], name: str) -> None:
        if component is not None:
            self.reads.setdefault(self.bound.get(component, component), set()).add(name)

    def _scalar(self, node: _Node) -> Evaluate:
        """Use of a value in a comparison: a component stands for its version."""
        if node.is_component:
            self._read(node.source, "version")
        return node.evaluate

    def _visit(self, node: ast.AST) -> _Node:
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            raise self._fail(node, f"{type(node).__name__} is not part of the language")
        result: _Node = method(node)
        return result

    def _truth(self, node: ast.AST) -> Callable[[Environment], Truth]:
        """Visit a part that must be true or false."""
        logical = (ast.BoolOp, ast.Compare, ast.Call, ast.Attribute)
        negated = isinstance(node, ast.UnaryOp)
        constant = isinstance(node, ast.Constant) and isinstance(node.value, bool)
        if not (isinstance(node, logical) or negated or constant):
            raise self._fail(node, "a condition is wanted here")
        return self._scalar(self._visit(node))  # type: ignore[return-value]

    def _BoolOp(self, node: ast.BoolOp) -> _Node:  # noqa: N802
        parts = [self._truth(value) for value in node.values]
        join = conjunction if isinstance(node.op, ast.And) else disjunction
        return _Node(lambda env: join(part(env) for part in parts))

    def _UnaryOp(self, node: ast.UnaryOp) -> _Node:  # noqa: N802
        if not isinstance(node.op, ast.Not):
            raise self._fail(node, "only not is part of the language")
        inner = self._truth(node.operand)
        return _Node(lambda env: negation(inner(env)))

    def _Compare(self, node: ast.Compare) -> _Node:  # noqa: N802
        operands = [self._scalar(self._visit(o)) for o in (node.left, *node.comparators)]
        signs = [_SIGNS.get(type(op), "") for op in node.ops]
        if "" in signs:
            raise self._fail(node, "is not part of the language")
        if len(signs) == 1:
            sign, (left, right) = signs[0], operands
            return _Node(lambda env: compare(sign, left(env), right(env)))
        return _Node(
            lambda env: conjunction(
                compare(sign, operands[i](env), operands[i + 1](env))
                for i, sign in enumerate(signs)
            )
        )

    def _Constant(self, node: ast.Constant) -> _Node:  # noqa: N802
        value = node.value
        if not isinstance(value, (str, int)):
            raise self._fail(node, "versions are written as text, '1.10'")
        return _Node(lambda _: value)

    def _List(self, node: ast.List) -> _Node:  # noqa: N802
        items = [self._Constant(i) for i in node.elts if isinstance(i, ast.Constant)]
        if len(items) != len(node.elts):
            raise self._fail(node, "a list holds texts and numbers only")
        values = tuple(item.evaluate({}) for item in items)
        return _Node(lambda _: values)

    _Tuple = _List

    def _Name(self, node: ast.Name) -> _Node:  # noqa: N802
        name = node.id
        if name in self.bound or name == "self":
            return _Node(lambda env: env[name], name, is_component=True)
        component = name.replace("_", "-").lower()
        if component in self.knowledge.packages or component == PYTHON:
            return _Node(lambda env: env[component], component, is_component=True)
        known = ["self", PYTHON, *(one.replace("-", "_") for one in self.knowledge.packages)]
        raise self._fail(node, f"nothing is called {name!r}{nearest(name, known)}")

    def _Attribute(self, node: ast.Attribute) -> _Node:  # noqa: N802
        name = node.attr
        if isinstance(node.value, ast.Name) and node.value.id in SCOPES:
            return self._dotted(node, node.value.id, name)
        if isinstance(node.value, ast.Subscript):
            return self._cell(node, node.value, name)
        inner = self._visit(node.value)
        if inner.is_component:
            self._declared(node, inner.source, name)
            self._read(inner.source, "version" if name in _OF_VERSION else name)
        elif name not in _OF_VERSION and inner.source is not None:
            raise self._fail(node, f"no attribute {name!r} there")
        return _Node(lambda env: attribute(inner.evaluate(env), name), inner.source)

    def _dotted(self, node: ast.Attribute, scope: str, name: str) -> _Node:
        component = f"{scope}.{name}"
        if scope == "module":
            if name not in self.knowledge.providers:
                raise self._fail(node, f"no package of the matrices provides the module {name!r}")
        elif component not in DOTTED:
            raise self._fail(node, f"nothing is called {component!r}")
        return _Node(lambda env: env[component], component, is_component=True)

    def _declared(self, node: ast.AST, component: Optional[str], name: str) -> None:
        if component is None or name in _OF_VERSION:
            return
        component = self.bound.get(component, component)
        if component == "self":
            owners = [self.owner] if self.owner else list(self.knowledge.packages)
        elif component.startswith("module."):
            owners = list(self.knowledge.providers[component[len("module.") :]])
        elif component == PYTHON:
            if name == "tag":
                return
            owners = []
        elif component in DOTTED:
            if name in (GPU if component == "host.gpu" else ()):
                return
            owners = []
        else:
            owners = [component]
        if not any(name in self.knowledge.packages[o].variant for o in owners):
            known = {*_OF_VERSION, *(n for o in owners for n in self.knowledge.packages[o].variant)}
            near = nearest(name, sorted(known))
            raise self._fail(node, f"{component} declares no attribute {name!r}{near}")

    def _cell(self, node: ast.Attribute, row: ast.Subscript, column: str) -> _Node:
        name = row.value.id if isinstance(row.value, ast.Name) else ""
        table = self.knowledge.tables.get(name)
        if table is None:
            near = nearest(name, self.knowledge.tables)
            raise self._fail(node, f"no table is called {name!r}{near}")
        if column not in table.columns:
            raise self._fail(node, f"the table {name} has no column {column!r}")
        index: ast.AST = row.slice
        if isinstance(index, getattr(ast, "Index", ())):  # Python 3.8
            index = getattr(index, "value", index)
        key = self._scalar(self._visit(index))
        by_version = table.key_type == "version"

        def evaluate(env: Environment) -> Value:
            wanted = scalar(key(env))
            if isinstance(wanted, Unknown):
                return wanted
            if by_version and not isinstance(wanted, Version):
                wanted = try_parse(str(wanted)) or wanted
            found = table.rows.get(wanted, {}).get(column)
            return Unknown(f"{name} {wanted}: {column}") if found is None else found

        return _Node(evaluate)

    def _Call(self, node: ast.Call) -> _Node:  # noqa: N802
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self._fail(node, "only named predicates are called, by position")
        name = node.func.id
        if name in ("all", "any"):
            return self._quantifier(node, name)
        if name == "present":
            return self._present(node)
        predicate = PREDICATES.get(name)
        if predicate is None:
            raise self._fail(node, f"nothing is called {name!r}")
        if len(node.args) != len(predicate.reads):
            raise self._fail(node, f"{name} takes {len(predicate.reads)} arguments")
        arguments = []
        for argument, reads in zip(node.args, predicate.reads):
            inner = self._visit(argument)
            for read in reads:
                if inner.is_component:
                    self._declared(argument, inner.source, read)
                self._read(inner.source, read)
            arguments.append(inner.evaluate)
        function = predicate.function
        return _Node(lambda env: function(*(argument(env) for argument in arguments)))

    def _present(self, node: ast.Call) -> _Node:
        if len(node.args) != 1:
            raise self._fail(node, "present takes one component")
        inner = self._visit(node.args[0])
        if not inner.is_component or inner.source is None or inner.source in self.bound:
            raise self._fail(node, "present takes one component")
        self.asked.add(inner.source)
        return _Node(lambda env: _is_present(inner.evaluate(env)))

    def _quantifier(self, node: ast.Call, name: str) -> _Node:
        if len(node.args) != 1 or not isinstance(node.args[0], ast.GeneratorExp):
            raise self._fail(node, f"{name} takes one generator: {name}(... for g in host.gpu)")
        generator = node.args[0]
        if len(generator.generators) != 1:
            raise self._fail(node, "one for is enough")
        loop = generator.generators[0]
        if not isinstance(loop.target, ast.Name) or loop.ifs or loop.is_async:
            raise self._fail(node, "a plain loop variable is wanted")
        variable = loop.target.id
        group = self._visit(loop.iter)
        if group.source is None or variable in self.bound:
            raise self._fail(node, "the loop runs over a component")
        if len(self.bound) >= _MAX_LOOPS:
            raise self._fail(node, f"more than {_MAX_LOOPS} loops in one another")
        self.bound[variable] = self.bound.get(group.source, group.source)
        self.reads.setdefault(self.bound[variable], set())
        body = self._truth(generator.elt)
        del self.bound[variable]
        join = conjunction if name == "all" else disjunction

        def evaluate(env: Environment) -> Truth:
            members = group.evaluate(env)
            if isinstance(members, Unknown):
                return members
            if not isinstance(members, tuple):
                members = (members,)
            return join(body({**env, variable: member}) for member in members)

        return _Node(evaluate)


def _is_present(value: Value) -> Truth:
    if isinstance(value, Unknown):
        return value
    return not isinstance(value, Absent)
