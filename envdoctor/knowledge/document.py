"""Reads a YAML document whose scalars stay text: 1.10 is not 1.1, and no is not False.

Errors name file, line and the path inside the document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Tuple, Type, TypeVar, Union

import msgspec

# Imported where it is used: what was decoded before comes from the cache.
if TYPE_CHECKING:
    import yaml

T = TypeVar("T")
Path = Tuple[Union[str, int], ...]

_MAX_NODES = 200_000


class DocumentError(ValueError):
    """A document that is not as it must be; the message names the file and, if known, the line."""


def decoded(name: str, content: bytes) -> str:
    """The text of a file, which `name` is called in errors. Raises DocumentError."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DocumentError(f"{name}:{line}: is no text in UTF-8") from None


def _tab_stands(text: str, line: int) -> bool:
    """Whether a tab stands at the start of a line: where a line is indented."""
    lines = text.splitlines()
    start = lines[line] if line < len(lines) else ""
    return "\t" in start[: len(start) - len(start.lstrip())] or start.lstrip("- ").startswith("\t")


class Document:
    """Plain data (dict, list, str, None) with the line of every node."""

    def __init__(self, name: str, text: str) -> None:
        """Parse `text`; `name` is what errors call it. Raises DocumentError."""
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self.name = name
        self.lines: Dict[Path, int] = {}
        try:
            node = yaml.compose(text, Loader=loader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = f"{name}:{mark.line + 1}" if mark is not None else name
            problem = getattr(error, "problem", None) or "not YAML"
            if mark is not None and _tab_stands(text, mark.line):
                problem = "a tab stands here; YAML wants spaces"
            raise DocumentError(f"{place}: {problem}") from None
        except RecursionError:
            raise DocumentError(f"{name}: nested too deeply") from None
        self._left = _MAX_NODES
        try:
            self.data: Any = None if node is None else self._plain(node, ())
        except RecursionError:
            raise DocumentError(f"{name}: nested too deeply") from None

    def _plain(self, node: yaml.Node, path: Path) -> Any:
        import yaml

        self.lines[path] = node.start_mark.line + 1
        self._left -= 1
        if self._left < 0:  # aliases can make a small file large
            raise DocumentError(f"{self.name}: more than {_MAX_NODES} values")
        if isinstance(node, yaml.ScalarNode):
            plain_null = not node.style and node.value in ("", "null", "~")
            return None if plain_null else node.value
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, (*path, i)) for i, item in enumerate(node.value)]
        mapping: Dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise DocumentError(f"{self.name}:{key_node.start_mark.line + 1}: key is not text")
            key = key_node.value
            if key in mapping:
                raise DocumentError(
                    f"{self.name}:{key_node.start_mark.line + 1}: {key!r} stands twice"
                )
            mapping[key] = self._plain(value_node, (*path, key))
            self.lines[(*path, key)] = key_node.start_mark.line + 1
        return mapping

    def place(self, *path: Union[str, int]) -> str:
        """Name "file:line" of the node at `path`, or of its nearest known ancestor."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return f"{self.name}:{self.lines[path[:end]]}"
        return self.name

    def at(self, *path: Union[str, int]) -> Document:
        """A part of the document, as one of its own: its lines stay those of the file."""
        part = Document.__new__(Document)
        part.name, part.data = self.name, self.data
        for step in path:
            part.data = part.data[step]
        depth = len(path)
        part.lines = {p[depth:]: n for p, n in self.lines.items() if p[:depth] == path}
        return part

    def decode(self, kind: Type[T]) -> T:
        """The document as a `kind`, strictly. Raises DocumentError."""
        try:
            return msgspec.convert(self.data, kind)
        except msgspec.ValidationError as error:
            from envdoctor.knowledge.mistakes import first_mistake, told

            path, problem = first_mistake(self.data, kind) or ((), str(error))
            where = f"{told(path)}: " if path else ""
            raise DocumentError(f"{self.place(*path)}: {where}{problem}") from None
