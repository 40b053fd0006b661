"""What of Python's own syntax is newer than some Python, and where annotations are evaluated."""

from __future__ import annotations

import ast
from typing import AbstractSet, Dict, Iterator, List, Optional, Set, Tuple, Type

WALRUS = ":="
POSITIONAL = "def f(a, /)"
MATCH = "match"
EXCEPT_GROUP = "except*"
GENERIC = "list[...]"
UNION = "X | None"
#: {notation: a cheap look at a text that may have it}
_HINTS: Dict[str, str] = {
    WALRUS: r":=",
    POSITIONAL: r",\s{0,9}/\s{0,9}[,)]",
    MATCH: r"^[ \t]*match\b[^=\n]*:",
    EXCEPT_GROUP: r"\bexcept[ \t]*\*",
    GENERIC: r"\b(?:list|dict|tuple|set|frozenset|type)\[",
    UNION: r"\|\s?(?:None|int|str|float|bool|bytes|list|dict|tuple|set)\b|(?:None|int|str|\])\s?\|",
}
#: Those that only evaluated annotations, and expressions, have.
TYPES = frozenset([GENERIC, UNION])
#: Built-in types that take an index from Python 3.9 on.
_GENERICS = frozenset(["list", "dict", "tuple", "set", "frozenset", "type"])
_TYPES = _GENERICS | {"int", "float", "str", "bytes", "bool", "complex", "object"}


#: By class of node; not every Python has them all.
_NOTATIONS: Dict[Type[ast.AST], str] = {
    getattr(ast, name): sign
    for name, sign in (("NamedExpr", WALRUS), ("Match", MATCH), ("TryStar", EXCEPT_GROUP))
    if hasattr(ast, name)
}


def hint(notation: str) -> str:
    """A pattern that every text with this notation matches, "" where none is known."""
    return _HINTS.get(notation, "")


def notation(node: ast.AST) -> str:
    """The notation that a node is, whatever stands around it; "" if it is none."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.args.posonlyargs:
        return POSITIONAL
    return _NOTATIONS.get(node.__class__, "")


def is_generic(node: ast.Subscript, taken: AbstractSet[str]) -> str:
    """The notation of a built-in type with an index, "" of others and of names that are taken."""
    base = node.value
    is_type = isinstance(base, ast.Name) and base.id in _GENERICS and base.id not in taken
    return GENERIC if is_type else ""


def is_union(node: ast.BinOp, taken: AbstractSet[str]) -> str:
    """The notation of types joined by |, "" of other sums."""
    if not isinstance(node.op, ast.BitOr):
        return ""
    for side in (node.left, node.right):
        if isinstance(side, ast.Constant) and side.value is None:
            return UNION
        if isinstance(side, ast.Name) and side.id in _TYPES and side.id not in taken:
            return UNION
    return ""


class Annotations:
    """The annotations of a file: which of them Python evaluates when it runs it."""

    def __init__(self, tree: Optional[ast.Module] = None) -> None:
        """None of them, without a tree."""
        self._read: Set[ast.AST] = set()
        self._unread: Set[ast.AST] = set()
        if tree is None:
            return
        is_late = any(
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(alias.name == "annotations" for alias in node.names)
            for node in tree.body
        )
        waiting: List[Tuple[ast.AST, bool]] = [(tree, False)]
        while waiting:
            node, in_function = waiting.pop()
            for one in _annotations(node):
                # Those of a function's own variables are never evaluated.
                is_local = in_function and isinstance(node, ast.AnnAssign)
                (self._unread if is_late or is_local else self._read).update(ast.walk(one))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                in_function = True
            elif isinstance(node, ast.ClassDef):
                in_function = False
            for name in node._fields:  # ast.iter_child_nodes takes twice the time
                value = getattr(node, name, None)
                if value.__class__ is list:
                    waiting.extend((one, in_function) for one in value if isinstance(one, ast.AST))
                elif isinstance(value, ast.AST) and name not in ("ctx", "op"):
                    waiting.append((value, in_function))

    def is_read(self, node: ast.AST) -> bool:
        """Whether a node belongs to an annotation that is evaluated."""
        return node in self._read

    def is_unread(self, node: ast.AST) -> bool:
        """Whether a node belongs to an annotation that is not."""
        return node in self._unread


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
        yield node.returns
    elif isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
        yield node.annotation
