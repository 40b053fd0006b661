"""Reads C++ and CUDA sources: which of the wanted headers and identifiers they use, and where."""

from __future__ import annotations

import re
from typing import Dict, Iterable, Iterator, List, Set, Tuple

from envdoctor.facts.project.lines import Lines
from envdoctor.model.interface import HEADER, IDENTIFIER, PATTERN, Interface

# A text that is not closed ends with its line: so each character is looked at once.
_COMMENT_OR_TEXT = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|\"(?:\\.|[^\"\\\n])*\\?(?:\"|(?=\n)|\Z)|'(?:\\.|[^'\\\n])*\\?(?:'|(?=\n)|\Z)",
    re.DOTALL,
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]{1,300})[>\"]", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b([^\n]*)")
#: What a pattern begins with, which every match of it has.
_BEGINNING = re.compile(r"(?:\\b)?([\w:]{4,})")
#: Conditions of code that is written for several releases of torch.
_CHOOSES = re.compile(r"VERSION|__has_include|TORCH|AT_CHECK|HIP|ROCM|LEGACY")
#: An include guard has one of these at its end, and is no such condition.
_GUARD = re.compile(r"_(?:H|HPP|CUH|H_|HPP_|CUH_)_?\s*$")


class CxxReader:
    """Looks for interfaces in the texts of C++ and CUDA sources."""

    def __init__(self, interfaces: Iterable[Interface]) -> None:
        """Of these interfaces, those that C++ has."""
        every = [i for i in interfaces if not i.is_kept]
        self.headers = [i.name for i in every if i.kind == HEADER]
        names = [i.name for i in every if i.kind == IDENTIFIER]
        self.patterns = {i.name: re.compile(i.pattern) for i in every if i.kind == PATTERN}
        self.names = re.compile(rf"\b(?:{'|'.join(map(re.escape, names)) or '(?!)'})\b")
        # A cheap look at the whole text first: most sources have none of it. Looking for texts one
        # by one takes a tenth of the time of an expression that looks for all of them.
        begun = (_BEGINNING.match(pattern.pattern) for pattern in self.patterns.values())
        self.hints = [*self.headers, *names, *(one[1] if one else "" for one in begun)]

    def uses(self, text: str) -> Tuple[List[Tuple[str, int]], Set[str]]:
        """(interface, line) of each use that is compiled in any case; and what it defines itself.

        A project that defines AT_CHECK itself has it, wherever it uses it.
        """
        if not any(one in text for one in self.hints):
            return [], set()
        plain = _COMMENT_OR_TEXT.sub(_without_comment, text)
        bare = _COMMENT_OR_TEXT.sub(_blank, plain)
        chosen = _chosen_lines(bare)
        found: Dict[Tuple[str, int], None] = {}
        line_of = Lines(text)
        for name, position in self._found(plain, bare):
            line = line_of(position)
            if line not in chosen:
                found[(name, line)] = None
        defined = {name for name in _DEFINE.findall(bare) if self.names.fullmatch(name)}
        return list(found), defined

    def _found(self, plain: str, bare: str) -> Iterator[Tuple[str, int]]:
        for match in _INCLUDE.finditer(plain):
            for name in self.headers:
                if match[1] == name or (name.endswith("/") and match[1].startswith(name)):
                    yield name, match.start(1)
        for match in self.names.finditer(bare):
            yield match[0], match.start()
        for name, pattern in self.patterns.items():
            for match in pattern.finditer(bare):
                yield name, match.start()


def _blank(match: re.Match[str]) -> str:
    """White space in place of a text, with its lines."""
    return re.sub(r"[^\n]", " ", match[0])


def _without_comment(match: re.Match[str]) -> str:
    return _blank(match) if match[0].startswith("/") else match[0]


def _chosen_lines(bare: str) -> Set[int]:
    """The lines that are compiled for some releases only, by the preprocessor's conditions."""
    chosen: Set[int] = set()
    open_ones: List[bool] = []
    choosing = 0  # how many of them are such conditions
    for number, line in enumerate(bare.split("\n"), 1):
        match = _DIRECTIVE.match(line) if "#" in line else None
        if match is not None:
            kind, condition = match[1], match[2]
            if kind == "endif":
                choosing -= bool(open_ones and open_ones.pop())
            elif kind in ("if", "ifdef", "ifndef"):
                chooses = bool(_CHOOSES.search(condition)) or condition.strip() == "0"
                is_guard = kind == "ifndef" and bool(_GUARD.search(condition))
                open_ones.append(chooses and not is_guard)
                choosing += open_ones[-1]
            elif open_ones and not open_ones[-1] and _CHOOSES.search(condition):
                open_ones[-1] = True
                choosing += 1
        if choosing:
            chosen.add(number)
    return chosen
