"""What is looked for in source trees: interfaces that some release no longer has."""

from __future__ import annotations

from typing import NamedTuple

#: What an interface is, and so where it is looked for.
PYTHON = "python"  # a dotted name
HEADER = "header"  # what #include names: a file, or a folder with its slash
IDENTIFIER = "identifier"  # of C++ and CUDA sources
PATTERN = "pattern"  # a regular expression over such sources, less comments and strings
FLAG = "flag"  # of a compiler, in a build script
OPTION = "option"  # of a script's own command line
KINDS = (PYTHON, HEADER, IDENTIFIER, PATTERN, FLAG, OPTION)


class Interface(NamedTuple):
    """One of them. `passing` and `without` are a keyword: only such calls count."""

    name: str
    kind: str
    pattern: str = ""
    passing: str = ""
    without: str = ""
