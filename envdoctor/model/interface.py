"""What is looked for in source trees: interfaces that some release does not have."""

from __future__ import annotations

import re
from typing import NamedTuple

#: What an interface is, and so where it is looked for.
PYTHON = "python"  # a dotted name
CALL = "call"  # a call of a dotted name: "torch.fft()", or with a keyword: "f(x=...)"
METHOD = "method"  # of objects of a class: "numpy.ndarray.itemset"
INSTANCE_METHOD = "instance_method"  # that a subclass defines, and is no static method there
SYNTAX = "syntax"  # of Python: ":="
HEADER = "header"  # what #include names: a file, or a folder with its slash
IDENTIFIER = "identifier"  # of C++ and CUDA sources
PATTERN = "pattern"  # a regular expression over such sources, less comments and strings
FLAG = "flag"  # of a compiler, in a build script
OPTION = "option"  # of a script's own command line
KINDS = (
    PYTHON,
    CALL,
    METHOD,
    INSTANCE_METHOD,
    SYNTAX,
    HEADER,
    IDENTIFIER,
    PATTERN,
    FLAG,
    OPTION,
)


class Interface(NamedTuple):
    """One of them. `passing` and `without` are a keyword: only such calls count."""

    name: str
    kind: str
    pattern: str = ""
    passing: str = ""
    without: str = ""
    made_by: str = ""  # of a method: only of what this function returned
    is_kept: bool = False  # it is there, and so is what lies in it, though around it nothing is

    @property
    def called(self) -> str:
        """The name without the call."""
        return self.name.partition("(")[0]

    @property
    def keyword(self) -> str:
        """The keyword of a call, "" where any call counts."""
        return self.name.partition("(")[2].partition("=")[0].rstrip(")")


def pattern_of(name: str) -> re.Pattern[str]:
    """A pattern of dotted names: * stands for some of one part, [A-Z] for what it says."""
    parts = re.split(r"(\*|\[A-Z\])", name)
    written = {"*": r"\w*", "[A-Z]": "[A-Z]"}
    return re.compile("".join(written.get(part) or re.escape(part) for part in parts) + r"\Z")
