"""Reads Python sources: which of the wanted names they use, and where.

A use counts if it runs on every release: what stands in a `try` that catches its failure, or behind
a test of versions, is written for several. Nothing is imported or executed.
"""

from __future__ import annotations

import ast
import re
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Set,
    Tuple,
    Union,
)

from envdoctor.facts.project.choices import BINDING, Choices, bound, catches, words
from envdoctor.facts.project.lines import Lines
from envdoctor.facts.project.syntax import TYPES, Annotations, hint, is_generic, is_union, notation
from envdoctor.model.interface import (
    CALL,
    FLAG,
    INSTANCE_METHOD,
    METHOD,
    OPTION,
    SYNTAX,
    Interface,
    pattern_of,
)
from envdoctor.model.interface import PYTHON as DOTTED

# A cheap look at the text decides whether it is worth its syntax tree.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]{0,2000}\)|(?:[^\n\\#]|\\\n){0,2000})"
    r"|import[ \t]+((?:[^\n\\#]|\\\n){1,2000}))",
    re.MULTILINE,
)
_ALIAS = re.compile(r"([\w.]+)(?:\s+as\s+(\w+))?\s*$")
_COMMENT = re.compile(r"#[^\n]*")
# A text that is not closed ends with its line, or the file: so each character is looked at once.
_COMMENT_OR_TEXT = re.compile(
    r"#[^\n]*|\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)"
    r"|\"(?:\\.|[^\"\\\n])*\\?(?:\"|(?=\n)|\Z)|'(?:\\.|[^'\\\n])*\\?(?:'|(?=\n)|\Z)",
    re.DOTALL,
)
_MAY_CHOOSE = re.compile(r"\b(?:try|hasattr|getattr)\b|version", re.IGNORECASE)
#: What sets a name in another module.
_SET = re.compile(r"(?:\bsetattr\s*\(\s*\w+\s*,|sys\.modules\s*\[)\s*[\"']([\w.]+)[\"']")
_BUILDS = re.compile(r"cpp_extension|CUDAExtension|CppExtension|ext_modules")
#: Calls that ask for a text in place of passing it on.
_ASKS = frozenset(["remove", "replace", "startswith", "endswith", "index", "count", "discard"])
_RENAMED = "local-rank"
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)


#: A part of a syntax tree, and whether it runs on some releases only.
Guarded = Tuple[Any, bool]


class Place(NamedTuple):
    """A use of an interface."""

    name: str
    line: int


class Found(NamedTuple):
    """What a Python file says."""

    uses: Tuple[Place, ...] = ()
    patched: Tuple[str, ...] = ()  # interfaces that it sets itself, for all the program
    imports: Tuple[Tuple[str, int], ...] = ()  # top-level modules that it needs when it starts
    is_read: bool = True  # else its syntax is not understood


class PythonReader:
    """Looks for interfaces in the texts of Python sources."""

    def __init__(self, interfaces: Iterable[Interface]) -> None:
        """Of these interfaces, those that Python code has."""
        every = list(interfaces)
        dotted = [i for i in every if i.kind == DOTTED]
        self.known: Dict[str, Interface] = {i.name: i for i in dotted if "*" not in i.name}
        self.flags = frozenset(i.name for i in every if i.kind == FLAG)
        self.options = frozenset(i.name for i in every if i.kind == OPTION)
        self.syntax = frozenset(i.name for i in every if i.kind == SYNTAX)
        self.calls = _by((i.called, i) for i in every if i.kind == CALL)
        self.methods = _by((_last(i.name), i) for i in every if i.kind == METHOD)
        self.instance_methods = _by((_owner(i.name), i) for i in every if i.kind == INSTANCE_METHOD)
        self.wild: Dict[str, List[Tuple[re.Pattern[str], int, Interface]]] = {}
        for one in dotted:
            if "*" in one.name:
                part = (pattern_of(one.name), one.name.count(".") + 1, one)
                self.wild.setdefault(one.name.split(".")[0], []).append(part)
        names = [*(i.name for i in dotted), *self.calls, *self.instance_methods]
        self.deepest = max((name.count(".") + 1 for name in names), default=1)
        self.roots = frozenset(name.split(".")[0] for name in names)
        self.inner = {
            ".".join(parts[:end])
            for parts in (name.partition("*")[0].split(".") for name in names)
            for end in range(1, len(parts))
        }
        self.inner.update(self.calls, self.instance_methods)
        # What only a syntax tree shows; a cheap look says whether there may be some: of the
        # notations, and by top-level module of what a text that names the module may call.
        self._notations = {sign: re.compile(hint(sign), re.MULTILINE) for sign in self.syntax}
        hints: Dict[str, List[str]] = {}
        for name in self.calls:
            hints.setdefault(name.split(".")[0], []).append(rf"\b{_last(name)}\s?\(")
        for one in every:
            if one.kind == METHOD:
                written = rf"\.{_last(one.name)}\s?\("
            elif one.kind == INSTANCE_METHOD:
                written = rf"\bclass\s+\w+\([^)\n]{{0,200}}\b{_last(_owner(one.name))}\b"
            else:
                continue
            hints.setdefault(one.name.split(".")[0], []).append(written)
        self._hints = {root: re.compile("|".join(some)) for root, some in hints.items()}

    def match(self, dotted: str) -> Optional[Interface]:
        """The interface that a dotted name is, or lies in; the longest. None of what is kept."""
        parts = dotted.split(".", self.deepest)[: self.deepest]
        patterns = self.wild.get(parts[0], ())
        for end in range(len(parts), 0, -1):
            name = ".".join(parts[:end])
            found = self.known.get(name) or next(
                (one for pattern, deep, one in patterns if deep == end and pattern.match(name)),
                None,
            )
            if found is not None:
                return None if found.is_kept else found
        return None

    def _leads(self, dotted: str) -> bool:
        """Whether an interface may lie in what has this name."""
        return dotted in self.inner or dotted.split(".")[0] in self.wild

    def read(self, text: str, is_entry: bool = False) -> Found:
        """What a text uses; of an entry file, also which modules its start needs."""
        builds = bool(self.flags) and bool(_BUILDS.search(text))
        has_option = any(option in text for option in self.options) and _RENAMED not in text
        signs = self._signs(text)
        if not (is_entry or builds or has_option or signs or self.may_use(text)):
            return Found()
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return self.roughly(text)
        return _Visit(self, tree, builds, has_option, signs).found(is_entry)

    def _signs(self, text: str) -> FrozenSet[str]:
        """The notations that a text may have, comments and strings not included."""
        found = [sign for sign, pattern in self._notations.items() if pattern.search(text)]
        if not found:
            return frozenset()
        bare = _COMMENT_OR_TEXT.sub(_blank, text)
        return frozenset(sign for sign in found if self._notations[sign].search(bare))

    def may_use(self, text: str) -> bool:
        """Whether a text may use an interface, comments and strings included."""
        return next(self._named(text), None) is not None or any(
            root in text and pattern.search(text) for root, pattern in self._hints.items()
        )

    def roughly(self, text: str) -> Found:
        """What can be told of a text whose syntax is of another Python, or broken.

        Which of its lines are for which release is not seen: if any may be, nothing is told.
        """
        bare = _COMMENT_OR_TEXT.sub(_blank, text)
        if _MAY_CHOOSE.search(bare):
            return Found(is_read=False)
        line_of = Lines(bare)
        places = {
            Place(name, line_of(position)): None
            for name, position in self._named(bare)
            if not (self.known[name].passing or self.known[name].without)
        }
        return Found(tuple(places), is_read=False)

    def _named(self, text: str) -> Iterator[Tuple[str, int]]:
        """The interfaces that a text names and where, as far as its words tell."""
        aliases: Dict[str, str] = {}
        for match in _IMPORT.finditer(text):
            base, names, plain = match[1], match[2], match[3]
            if base is not None and base.split(".")[0] not in self.roots:
                continue
            listed = _COMMENT.sub("", names if plain is None else plain).replace("\\\n", " ")
            for one in listed.strip("() \t\n").split(","):
                alias = _ALIAS.match(one.strip())
                if alias is None:
                    continue
                dotted = alias[1] if base is None else f"{base}.{alias[1]}"
                if dotted.split(".")[0] not in self.roots:
                    continue
                found = self.match(dotted)
                if found is not None and not (found.passing or found.without):
                    yield found.name, match.start(match.lastindex or 0)
                if base is None and not alias[2]:
                    aliases[dotted.split(".")[0]] = dotted.split(".")[0]
                elif found is not None or self._leads(dotted):
                    aliases[alias[2] or alias[1]] = dotted
        if not aliases:
            return
        chains = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, aliases))})((?:\.\w+){{0,9}})")
        for match in chains.finditer(text):
            found = self.match(aliases[match[1]] + match[2])
            if found is not None:
                yield found.name, match.start()
        for match in _SET.finditer(text):  # np.bool by another way
            for root in aliases.values():
                found = self.match(f"{root}.{match[1]}") or self.match(match[1])
                if found is not None:
                    yield found.name, match.start()


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _by(pairs: Iterable[Tuple[str, Interface]]) -> Dict[str, List[Interface]]:
    found: Dict[str, List[Interface]] = {}
    for key, one in pairs:
        found.setdefault(key, []).append(one)
    return found


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _owner(dotted: str) -> str:
    return dotted.rpartition(".")[0]


class _Visit:
    """One walk over a syntax tree, with a stack of its own: code may be nested deeply."""

    def __init__(
        self,
        reader: PythonReader,
        tree: ast.Module,
        builds: bool,
        has_option: bool,
        signs: FrozenSet[str],
    ) -> None:
        self.reader = reader
        self.tree = tree
        self.builds = builds
        self.has_option = has_option
        self.uses: Dict[Place, None] = {}
        self.patched: Dict[str, None] = {}
        self.parsers: Set[str] = set()  # methods that read the command line
        self.choices = Choices()
        self.signs = signs  # notations that it may have
        self.annotations = Annotations(tree if signs & TYPES else None)
        self.defined: Set[str] = set()  # functions and methods of this file
        self.modules: Set[str] = set()  # top-level modules that it imports
        self.made: Dict[str, Set[str]] = {}  # {name: functions that returned what it holds}
        self.taken: Set[str] = set()  # names that it binds, other than by imports
        self.aliases = self._aliases()

    def found(self, is_entry: bool) -> Found:
        """What the tree uses."""
        special: Dict[type, Callable[[Any, bool], Iterator[Guarded]]] = {
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Constant: self._constant,
            ast.Assign: self._assign,
            ast.Compare: self._compare,
            ast.ClassDef: self._class,
            ast.Subscript: self._subscript,
            ast.BinOp: self._operation,
            ast.If: self._choice,
            ast.IfExp: self._choice,
            ast.BoolOp: self._choice,
            ast.While: self._choice,
            ast.Try: self._try,
            ast.With: self._with,
            ast.AsyncWith: self._with,
        }
        waiting: List[Guarded] = [(self.tree, False)]
        while waiting:
            node, is_guarded = waiting.pop()
            visit = special.get(node.__class__)
            if self.signs and notation(node) in self.signs:
                self.uses[Place(notation(node), node.lineno)] = None  # guards do not help it
            if visit is not None:
                waiting.extend(visit(node, is_guarded))
            elif node.__class__ is not ast.Name:
                self._spread(node, is_guarded, waiting)
        if self.parsers == {"parse_known_args"}:  # which passes over what it does not know
            for place in [p for p in self.uses if p.name in self.reader.options]:
                del self.uses[place]
        imports = tuple(self._imports()) if is_entry else ()
        uses = sorted(self.uses, key=lambda place: (place.line, place.name))
        return Found(tuple(uses), tuple(self.patched), imports)

    def _aliases(self) -> Dict[str, str]:
        """{name in this file: what it stands for}, of names that always stand for the same.

        On the way, the names that hold an answer to a test of versions are learned.
        """
        aliases: Dict[str, str] = {}
        doubtful: Set[str] = set()

        def bind(name: str, dotted: str) -> None:
            if aliases.setdefault(name, dotted) != dotted:
                doubtful.add(name)

        binding: List[ast.AST] = []
        nothing: Set[ast.AST] = set()
        waiting: List[Guarded] = [(self.tree, False)]
        while waiting:
            node, _ = waiting.pop()
            kind = node.__class__
            if kind is ast.Name:
                if node.ctx.__class__ is not ast.Load and node not in nothing:
                    doubtful.add(node.id)
                continue
            if kind in BINDING:
                binding.append(node)
            if kind is ast.Import:
                for alias in node.names:
                    root = alias.name.split(".")[0]
                    self.modules.add(root)
                    bind(alias.asname or root, alias.name if alias.asname else root)
            elif kind is ast.ImportFrom:
                base = "." * node.level + (node.module or "")
                self.modules.add(base.split(".")[0])
                for alias in node.names:
                    bind(alias.asname or alias.name, f"{base}.{alias.name}")
            elif kind is ast.Assign:
                if _is_none(node.value):
                    nothing.update(node.targets)  # where the import had failed
                maker = _maker(node.value)
                for target in node.targets:
                    for name in bound(target):
                        self.made.setdefault(name, set()).add(maker)
            elif kind is ast.arg:
                doubtful.add(node.arg)
            elif kind in _NAMED and node.name:
                doubtful.add(node.name)
                self.defined.add(node.name)
            self._spread(node, False, waiting)
        self.choices = Choices(binding)
        self.taken = doubtful | self.choices.imported
        for name in self.defined:  # a method of its own: whose is called is not known
            for one in self.reader.methods.get(name, ()):
                self.patched[one.name] = None
        return {
            name: dotted
            for name, dotted in aliases.items()
            if name not in doubtful and dotted.split(".")[0] in self.reader.roots
        }

    def _dotted(self, node: ast.AST) -> str:
        """What an attribute or a name stands for; "" if that is not known."""
        parts: List[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.aliases:
            return ""
        return ".".join([self.aliases[node.id], *reversed(parts)])

    def _use(self, dotted: str, line: int, is_guarded: bool) -> None:
        found = self.reader.match(dotted) if dotted else None
        if found is not None and not (found.passing or found.without or is_guarded):
            self.uses[Place(found.name, line)] = None

    # Each of these notes what a node says itself, and yields the nodes to go on with.

    def _import(self, node: ast.Import, is_guarded: bool) -> Iterator[Guarded]:
        for alias in node.names:
            self._use(alias.name, node.lineno, is_guarded)
        return iter(())

    def _import_from(self, node: ast.ImportFrom, is_guarded: bool) -> Iterator[Guarded]:
        if not node.level:
            for alias in node.names:
                self._use(f"{node.module}.{alias.name}", node.lineno, is_guarded)
        return iter(())

    def _constant(self, node: ast.Constant, is_guarded: bool) -> Iterator[Guarded]:
        if self.builds and node.value in self.reader.flags and not is_guarded:
            self.uses[Place(str(node.value), node.lineno)] = None
        return iter(())

    def _assign(self, node: ast.Assign, is_guarded: bool) -> Iterator[Guarded]:
        self._patches(node.targets)
        for child in (*node.targets, node.value):
            yield child, is_guarded

    def _compare(self, node: ast.Compare, is_guarded: bool) -> Iterator[Guarded]:
        # What is compared with is asked for: '-std=c++14' in flags.
        for child in (node.left, *node.comparators):
            if not isinstance(child, ast.Constant):
                yield child, is_guarded

    def _subscript(self, node: ast.Subscript, is_guarded: bool) -> Iterator[Guarded]:
        if not is_guarded and not self.annotations.is_unread(node):
            sign = is_generic(node, self.taken)
            if sign in self.signs:
                self.uses[Place(sign, node.lineno)] = None
        yield node.value, is_guarded
        yield node.slice, is_guarded

    def _operation(self, node: ast.BinOp, is_guarded: bool) -> Iterator[Guarded]:
        if not is_guarded and self.annotations.is_read(node):
            sign = is_union(node, self.taken)
            if sign in self.signs:
                self.uses[Place(sign, node.lineno)] = None
        yield node.left, is_guarded
        yield node.right, is_guarded

    def _class(self, node: ast.ClassDef, is_guarded: bool) -> Iterator[Guarded]:
        owners = [self._dotted(base) for base in node.bases]
        for one in (i for owner in owners for i in self.reader.instance_methods.get(owner, ())):
            for part in node.body:
                if (
                    isinstance(part, ast.FunctionDef)
                    and part.name == _last(one.name)
                    and not part.decorator_list
                    and not is_guarded
                    and "staticmethod" not in set(words(node))  # forward = staticmethod(forward)
                ):
                    self.uses[Place(one.name, part.lineno)] = None
        parts: List[Guarded] = []
        self._spread(node, is_guarded, parts)
        return iter(parts)

    def _choice(self, node: ast.AST, is_guarded: bool) -> Iterator[Guarded]:
        parts: List[Guarded] = []
        self._spread(node, is_guarded or self.choices.ask(node), parts)
        return iter(parts)

    def _try(self, node: ast.Try, is_guarded: bool) -> Iterator[Guarded]:
        caught = is_guarded or any(map(catches, node.handlers))
        for handler in node.handlers:
            yield handler, caught
        yield from self._statements(node.body, caught)
        yield from self._statements(node.orelse, caught)
        yield from self._statements(node.finalbody, is_guarded)

    def _with(self, node: Union[ast.With, ast.AsyncWith], is_guarded: bool) -> Iterator[Guarded]:
        caught = is_guarded or any(_suppresses(item.context_expr) for item in node.items)
        for item in node.items:
            yield item, is_guarded
        yield from self._statements(node.body, caught)

    def _attribute(self, node: ast.Attribute, is_guarded: bool) -> Iterator[Guarded]:
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if not isinstance(inner, ast.Name):
            yield inner, is_guarded
        elif isinstance(node.ctx, ast.Load):
            dotted = self._dotted(node)
            # What is imported from a module that is gone fails there, and is told there.
            if dotted and self.reader.match(self.aliases[inner.id]) is None:
                self._use(dotted, node.lineno, is_guarded)

    def _call(self, node: ast.Call, is_guarded: bool) -> Iterator[Guarded]:
        dotted = self._dotted(node.func)
        found = self.reader.match(dotted) if dotted else None
        if found is not None and (found.passing or found.without) and not is_guarded:
            keywords = {keyword.arg for keyword in node.keywords}
            starred = None in keywords or any(isinstance(a, ast.Starred) for a in node.args)
            passes = found.passing in keywords if found.passing else found.without not in keywords
            if passes and not starred:
                self.uses[Place(found.name, node.lineno)] = None
        if dotted and not is_guarded:
            given = {keyword.arg for keyword in node.keywords}
            for one in self.reader.calls.get(dotted, ()):
                if not one.keyword or one.keyword in given:
                    self.uses[Place(one.name, node.lineno)] = None
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in self.reader.methods and not is_guarded:
            self._method(node.func)
        if method in ("parse_args", "parse_known_args"):
            self.parsers.add(method)
        if method == "add_argument" and self.has_option and not is_guarded:
            for argument in node.args:
                if isinstance(argument, ast.Constant) and argument.value in self.reader.options:
                    self.uses[Place(str(argument.value), node.lineno)] = None
        if isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) > 1:
            owner, attribute = self._dotted(node.args[0]), node.args[1]
            if owner and isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
                self._patch(f"{owner}.{attribute.value}")
        yield node.func, is_guarded
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            if not (method in _ASKS and isinstance(part, ast.Constant)):
                yield part, is_guarded

    def _method(self, node: Any) -> None:
        """Note a method that is called of an object, not of a module."""
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.choices.imported:
            return
        receiver = node.value
        name = getattr(receiver, "id", "") or getattr(receiver, "attr", "")
        makers = self.made.get(name, set()) if name else {_maker(receiver)}
        for one in self.reader.methods[node.attr]:
            if one.name.split(".")[0] not in self.modules:
                continue
            if not one.made_by or makers == {one.made_by}:
                self.uses[Place(one.name, node.lineno)] = None

    def _patches(self, targets: Iterable[ast.AST]) -> None:
        """Note the interfaces that an assignment sets: np.bool = bool, sys.modules["..."] = ..."""
        for target in targets:
            if isinstance(target, ast.Attribute):
                self._patch(self._dotted(target))
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
                key = target.slice
                if not isinstance(key, ast.Constant):
                    key = getattr(key, "value", key)  # Python 3.8 wraps it
                if target.value.attr == "modules" and isinstance(key, ast.Constant):
                    self._patch(str(key.value))

    def _patch(self, dotted: str) -> None:
        if dotted in self.reader.known:
            self.patched[dotted] = None

    def _spread(self, node: ast.AST, is_guarded: bool, into: List[Guarded]) -> None:
        """Add what a node consists of: ast.iter_child_nodes is half of all the time otherwise."""
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                if value and isinstance(value[0], ast.stmt):
                    into.extend(self._statements(value, is_guarded))
                else:
                    into.extend((one, is_guarded) for one in value if isinstance(one, ast.AST))
            elif isinstance(value, ast.AST) and name not in ("ctx", "op"):
                into.append((value, is_guarded))

    def _statements(self, block: List[ast.stmt], is_guarded: bool) -> Iterator[Guarded]:
        """The statements of a block; those after `if version: return` run on some releases only."""
        for node in block:
            yield node, is_guarded
            if isinstance(node, ast.If) and self.choices.ask(node) and _leaves(node.body):
                is_guarded = True

    def _imports(self) -> Iterator[Tuple[str, int]]:
        """Top-level modules that are imported at the start, in any case.

        A file that changes the search path finds modules where nobody else would.
        """
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.attr == "path" and "sys" in words(node):
                return
        block, is_guarded = self.tree.body, False
        for node in block:
            if isinstance(node, ast.If) and self.choices.ask(node):
                is_guarded = is_guarded or _leaves(node.body)
            if is_guarded:
                return
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name.split(".")[0], node.lineno
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                yield node.module.split(".")[0], node.lineno


def _leaves(block: List[ast.stmt]) -> bool:
    return isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _maker(node: ast.AST) -> str:
    """The plain function whose result a value is, "" of any other value."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _suppresses(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and "suppress" in set(words(node.func))
