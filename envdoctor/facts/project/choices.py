"""Which conditions of a Python file ask for a release, and which of its names hold the answer.

`OLD = sys.version_info < (3, 12)` makes `if OLD:` a test of the version, wherever it stands in the
file. Scopes are not told apart: what is passed over wrongly is a miss, not a false alarm.
"""

from __future__ import annotations

import ast
import builtins
import re
from typing import Iterable, Iterator, List, Set, Tuple, Union

#: Names of tests for a release, as they are written.
_CHOOSES = re.compile(
    r"(?i:version|torch_?\d|compat|legacy)|hasattr|getattr|find_spec|TYPE_CHECKING|PY[23]\b"
    # not whether there is a GPU: torch.cuda.is_available()
    r"|_py[23]\b|^(?!is_available$)\w*available|_(?:gt|ge|lt|le)_|^has_|^HAS_|^IS_"
)
#: Of them, those that make a test of whatever is computed from them.
_ASKS = re.compile(r"__version__|version_info|hexversion|Version$|^hasattr$|^find_spec$")
#: And those that do so by themselves or in a module: torch_version, sys.version, not args.version.
_TELLS = re.compile(r"^version$|_version$|_version_|^version_")
_CATCHING = frozenset(
    [
        "ImportError",
        "ModuleNotFoundError",
        "AttributeError",
        "TypeError",  # of a keyword that is not taken
        "Exception",
        "BaseException",
    ]
)
_MISSING = frozenset(["ImportError", "ModuleNotFoundError", "AttributeError"])
_BUILT_IN = frozenset(dir(builtins))
_TESTS = (ast.Compare, ast.BoolOp, ast.UnaryOp)
_TEXTS = (ast.Dict, ast.JoinedStr)  # a report that names the version
#: The nodes that may make a name a test.
BINDING = frozenset(
    [
        ast.Import,
        ast.ImportFrom,
        ast.Assign,
        ast.AnnAssign,
        ast.NamedExpr,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.Try,
        ast.If,
    ]
)
_ROUNDS = 5  # names that are made of names that are made of ...

#: Names, and the expression that they are computed from.
Pair = Tuple[Set[str], ast.AST]


class Choices:
    """Tells the conditions of one file that ask for a release."""

    def __init__(self, binding: Iterable[ast.AST] = ()) -> None:
        """Of a file with these nodes, each of a class of `BINDING`."""
        self.tests: Set[str] = set()
        self.imported: Set[str] = set()
        nodes = list(binding)
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
        pairs: List[Pair] = []
        conditions: List[ast.If] = []
        for node in nodes:
            if isinstance(node, ast.If):
                conditions.append(node)
            elif isinstance(node, ast.Try):
                self._try(node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                pairs.extend(self._function(node))
            else:
                pairs.extend(_assigned(node))
        for _ in range(_ROUNDS):
            known = len(self.tests)
            pairs = [pair for pair in pairs if not self._learn(*pair)]
            conditions = [one for one in conditions if not self._learn_branches(one)]
            if len(self.tests) == known:
                break

    def ask(self, node: ast.AST) -> bool:
        """Whether a condition asks which release this is, or whether something is there."""
        tests = node.values if isinstance(node, ast.BoolOp) else [getattr(node, "test", node)]
        return any(
            word in self.tests or _CHOOSES.search(word) for test in tests for word in words(test)
        )

    def _learn(self, names: Set[str], value: ast.AST) -> bool:
        if not self._is_test(value):
            return False
        self.tests |= names
        return True

    def _learn_branches(self, node: ast.If) -> bool:
        """OLD = True, where a version was asked for."""
        if not self.ask(node):
            return False
        for names, value in _constants([*node.body, *node.orelse]):
            if value.value is None or isinstance(value.value, bool):
                self.tests |= self._own(names, value)
        return True

    def _is_test(self, value: ast.AST) -> bool:
        """Whether a value tells the release: it is computed from a version, or a test, only."""
        if isinstance(value, _TEXTS):
            return False
        if isinstance(value, ast.IfExp):  # what it chooses from decides
            branches = (value.body, value.orelse)
            return all(isinstance(one, ast.Constant) for one in branches) and self.ask(value)
        if isinstance(value, _TESTS) and self.ask(value):
            return True
        names: Set[str] = set()
        bound: Set[str] = set()
        has_test = False
        for one in ast.walk(value):
            if isinstance(one, ast.Name):
                (names if isinstance(one.ctx, ast.Load) else bound).add(one.id)
                word = one.id
                if word != "version" and _TELLS.search(word):
                    return True
            elif isinstance(one, ast.Attribute):
                word = one.attr
                base = one.value
                if isinstance(base, ast.Name) and base.id in self.imported and _TELLS.search(word):
                    return True  # torch.version.cuda, metadata.version("numpy")
            elif isinstance(one, ast.arg):
                bound.add(one.arg)
                continue
            else:
                continue
            if _ASKS.search(word):
                return True
            has_test = has_test or word in self.tests
        known = (self.tests, bound, self.imported, _BUILT_IN)
        return has_test and all(any(name in some for some in known) for name in names)

    def _own(self, names: Set[str], value: ast.Constant) -> Set[str]:
        """The names that are not modules: `np = None`, where NumPy is not there, asks nothing."""
        return names - self.imported if value.value is None else names

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            self.imported.update(a.asname or a.name.split(".")[0] for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")[-1].lower()
            for alias in node.names:
                name = alias.asname or alias.name
                self.imported.add(name)
                if (
                    "version" in module  # from packaging.version import parse
                    or "version" in alias.name.lower()
                    or alias.name == "find_spec"
                    or ("compat" in module and alias.name.isupper())
                ):
                    self.tests.add(name)

    def _try(self, node: ast.Try) -> None:
        """HAS = True, or False where it fails."""
        if _looks(node):
            blocks = [node.body, node.orelse, *(handler.body for handler in node.handlers)]
            for names, value in _constants([one for block in blocks for one in block]):
                self.tests |= self._own(names, value)

    def _function(self, node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> Iterator[Pair]:
        """What a function returns; one with parameters, only if that is a comparison."""
        given = node.args
        has_any = bool(given.args or given.kwonlyargs or given.vararg or given.kwarg)
        for one in ast.walk(node):
            if isinstance(one, ast.Return) and one.value is not None:
                if not has_any or isinstance(one.value, _TESTS):
                    yield {node.name}, one.value
            elif isinstance(one, ast.Try) and not has_any and _looks(one):
                blocks = [one.body, one.orelse, *(handler.body for handler in one.handlers)]
                if any(_is_constant_return(last) for block in blocks for last in block[-1:]):
                    self.tests.add(node.name)


def words(node: ast.AST) -> Iterator[str]:
    """The names and attributes of an expression."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr


def catches(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches that a name or a module is not there."""
    return handler.type is None or not _CATCHING.isdisjoint(words(handler.type))


def _looks(node: ast.Try) -> bool:
    """Whether a `try` looks if something is there: it says so, or does nothing else."""
    caught = [handler for handler in node.handlers if catches(handler)]
    if any(one.type is not None and not _MISSING.isdisjoint(words(one.type)) for one in caught):
        return True
    return bool(caught) and all(map(_is_look, node.body))


def _is_look(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Attribute, ast.Name))
    if isinstance(node, (ast.Assign, ast.Return)):
        return isinstance(node.value, (ast.Attribute, ast.Constant))
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _is_constant_return(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)


def _constants(block: Iterable[ast.AST]) -> Iterator[Tuple[Set[str], ast.Constant]]:
    for node in block:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for names, value in _assigned(node):
                if isinstance(value, ast.Constant):
                    yield names, value


def _assigned(node: ast.AST) -> Iterator[Pair]:
    """The names that an assignment binds, with their values; a, b = 1, 2 are two."""
    value = getattr(node, "value", None)
    if value is None:
        return
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            for one, its_value in zip(target.elts, value.elts):
                yield set(bound(one)), its_value
        else:
            yield set(bound(target)), value


def bound(node: object) -> Iterator[str]:
    """The names and attributes that a target of an assignment binds."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Starred):
        yield from bound(node.value)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for one in node.elts:
            yield from bound(one)
