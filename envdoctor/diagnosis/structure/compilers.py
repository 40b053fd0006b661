"""Messages of compilers, linkers, cmake, ninja, make and setuptools' builds."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader

#: Forms of one-line messages, by tool; the first that matches is taken.
_FORMS: Sequence[Tuple[str, re.Pattern[str]]] = tuple(
    (tool, re.compile(pattern))
    for tool, pattern in (
        (
            "nvcc",
            r"\s{0,99}(?P<tool>nvcc|ptxas|cicc|cudafe\+\+|nvlink|fatbinary) (?P<severity>fatal|er"
            r"ror)\s{1,6}:"
            r"\s?(?P<message>.{1,2000})",
        ),
        (
            "gcc",
            r"\s{0,99}(?P<file>(?:[A-Za-z]:)?[^\s:\"'][^:\"']{0,400}):(?P<at>\d{1,7})(?::\d{"
            r"1,7})?: "
            r"(?P<severity>fatal error|error|warning|internal compiler error): (?P<message>."
            r"{1,2000})",
        ),
        (
            "cl",
            r"\s{0,99}(?P<file>[^\s(][^(]{0,400})\((?P<at>\d{1,7})(?:,\d{1,7})?\): "
            r"(?P<severity>fatal error|error|warning) (?:[A-Z]{1,3}\d{4}): (?P<message>.{1,2000})",
        ),
        (
            "nvcc",
            r"\s{0,99}(?P<file>[^\s(][^(]{0,400})\((?P<at>\d{1,7})\): "
            r"(?P<severity>catastrophic error|error|warning)(?: #[\w-]{1,12})?: (?P<message>"
            r".{1,2000})",
        ),
        (
            "gcc",
            r"\s{0,99}(?P<tool>[\w./+-]{0,200}(?:g\+\+|gcc|cc|c\+\+|cc1plus|cc1|clang\+\+|clang)(?:-"
            r"\d{1,2})?): "
            r"(?P<severity>fatal error|error|internal compiler error): (?P<message>.{1,2000})",
        ),
        (
            "ld",
            r"\s{0,99}(?P<tool>[\w./+-]{0,300}\bld(?:\.\w{1,8})?): (?P<message>(?:cannot find|err"
            r"or|unable)"
            r".{1,2000})",
        ),
        (
            "ld",
            r"\s{0,99}LINK : (?P<severity>fatal error) LNK\d{4}: (?P<message>.{1,2000})",
        ),
    )
)
_CMAKE = re.compile(
    r"\s{0,99}CMake Error(?: at (?P<file>[^\s:]{1,400}):(?P<at>\d{1,7}))?[^:]{0,80}:?(?P<message>"
    r".{0,400})"
)
_HEADER = re.compile(
    r"['\"]?(?P<header>[\w./+-]{1,200})['\"]?(?:: No such file or directory| file not found)"
    r"|(?:cannot open source file|Cannot open include file:?) ['\"]?(?P<other>[\w./+-]{1,200})"
)
_LIBRARY = re.compile(
    r"cannot find (?:-l|lib)(?P<name>[\w.+-]{1,100})|unable to find library -l(?P<other>[\w."
    r"+-]{1,100})"
)
_KILLED = re.compile(
    r"Killed signal terminated program|\bKilled \(program|died due to signal (?:9|15)\b"
    r"|virtual memory exhausted|Cannot allocate memory|out of memory allocating|\bstd::bad_alloc"
    r"|compiler is out of heap space"
)
#: Files that configuration tries: that they do not compile is an answer, no failure.
_PROBE = re.compile(
    r"\b_?conf(?:ig)?test\b|CMakeTmp|CMakeScratch|TryCompile|try_compile|testC(?:XX)?Compiler"
    r"|meson-private|meson-logs|/sanitycheck|\bfeature_tests?\b|check_\w{1,40}\.c"
)
_FAILED = re.compile(
    r"ninja: build stopped|^\s{0,99}FAILED: |(?:make|gmake)(?:\[\d{1,3}\])?: \*\*\*|^\s{0,99"
    r"}error: command '"
    r"|Error compiling objects for extension|collect2: error|Configuring incomplete, errors "
    r"occurred"
    r"|errors? detected in the compilation of|compilation terminated"
)
_VERSIONS: Sequence[Tuple[str, re.Pattern[str]]] = (
    ("build.toolkit", re.compile(r"release (\d{1,2}\.\d), V\d")),
    ("build.toolkit", re.compile(r"CUDA compiler identification is NVIDIA (\d{1,2}\.\d)")),
    (
        "build.toolkit",
        re.compile(r"/cuda-(\d{1,2}\.\d)/bin/(?:\.\./)?nvcc|CUDA[\\/]v(\d{1,2}\.\d)[\\/]bin"),
    ),
    ("build.gcc", re.compile(r"CXX compiler identification is GNU (\d{1,2}\.\d{1,2}\.\d)")),
)
_MOST_LINES = 12


class Compilers(Reader):
    """Recognises what compilers and build tools say."""

    triggers = (
        "error:",
        "nvcc fatal",
        "nvcc error",
        "ptxas fatal",
        "cmake error",
        "cannot find -l",
        "unable to find library",
        "no such file",
        ": fatal error",
        "error c",
        ": error",
        "killed",
        "ninja: build stopped",
        "failed: ",
        "***",
        "cuda compilation tools, release",
        "compiler identification",
        "/bin/nvcc",
        "lnk1181",
    )

    def __init__(self) -> None:
        self._cmake: Optional[Tuple[Line, Dict[str, str], List[str]]] = None
        self._stated: Dict[str, str] = {}

    def feed(self, line: Line) -> Iterator[Event]:
        """What the line says."""
        if self._cmake is not None:
            _, fields, said = self._cmake
            is_inside = line.text.startswith("  ") or not line.text.strip()
            if not line.gap and is_inside and len(said) < _MOST_LINES:
                said.append(line.text.strip())
                return
            yield from self.end()
        yield from self._versions(line)
        cmake = _CMAKE.match(line.text)
        if cmake is not None:
            fields = {"tool": "cmake", "severity": "error", "file": cmake.group("file") or ""}
            self._cmake = (line, fields, [(cmake.group("message") or "").strip()])
            return
        found = _message(line.text)
        if found is not None:
            yield from _told(line, found)
        elif _FAILED.search(line.text):
            yield Event("failed", line.number, line.text, {"what": "build"})

    def end(self) -> Iterator[Event]:
        """The message of cmake that was open."""
        if self._cmake is not None:
            line, fields, said = self._cmake
            self._cmake = None
            fields["message"] = " ".join(part for part in said if part)
            is_probe = _PROBE.search(fields["message"]) is not None
            yield Event("diagnostic", line.number, line.text, fields, fatal=not is_probe)

    def _versions(self, line: Line) -> Iterator[Event]:
        for component, pattern in _VERSIONS:
            found = pattern.search(line.text)
            version = next((group for group in found.groups() if group), "") if found else ""
            if version and self._stated.get(component) != version:
                self._stated[component] = version
                fields = {"component": component, "version": version}
                yield Event("stated", line.number, line.text, fields, fatal=False)


def _message(text: str) -> Optional[Dict[str, str]]:
    for tool, pattern in _FORMS:
        found = pattern.match(text)
        if found is not None:
            fields = {name: value for name, value in found.groupdict().items() if value}
            return {"severity": "error", **fields, "tool": tool}
    return None


def _told(line: Line, fields: Dict[str, str]) -> Iterator[Event]:
    message = fields["message"]
    is_probe = _PROBE.search(line.text) is not None
    is_fatal = fields["severity"] != "warning" and not is_probe
    event = Event("diagnostic", line.number, line.text, fields, fatal=is_fatal)
    yield event
    if not is_fatal:
        return
    header = _HEADER.search(message)
    if header is not None and fields["tool"] != "ld":
        yield event.derived(
            "missing-header", header=header.group("header") or header.group("other")
        )
    library = _LIBRARY.search(message)
    if library is not None:
        yield event.derived("missing-link", library=library.group("name") or library.group("other"))
    if _KILLED.search(message):
        yield event.derived("compiler-killed")
