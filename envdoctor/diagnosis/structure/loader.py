"""Messages of dynamic loaders, wherever they stand: in exceptions, alone, in what ldd prints."""

from __future__ import annotations

import re
from typing import Dict, Iterator, Match, Sequence, Tuple

from envdoctor.diagnosis.event import LONGEST, Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader
from envdoctor.diagnosis.words import any_of

#: What loaders say, by kind of event. glibc's ld.so first, then others'.
_MESSAGES: Sequence[Tuple[str, re.Pattern[str]]] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "undefined-symbol",
            r"(?<![^\s:'\"])(?P<library>[^\s:'\"]{1,500}): undefined symbol: "
            r"(?P<symbol>[\w$.]{1,2000})"
            r"(?:, version (?P<version>[\w.]{1,80}))?",
        ),
        (
            "undefined-symbol",
            r"(?:(?<![^\s:'\"])(?P<library>[^\s:'\"]{1,500}): )?symbol "
            r"(?P<symbol>[\w$.]{1,2000}),? version "
            r"(?P<version>[\w.]{1,80}) not defined in file (?P<provider>[\w.+-]{1,80})",
        ),
        (
            "undefined-symbol",
            r"(?:Symbol not found|symbol not found in flat namespace):? \(?'?"
            r"(?P<symbol>_[\w$.]{1,2000})",
        ),
        (
            "missing-version",
            r"(?<![^\s:'\"])(?P<provider>[^\s:'\"]{1,500}): version [`'\u2018]"
            r"(?P<version>[A-Za-z]\w{0,20}_[\w.]{1,40})['\u2019] not found(?: \(required by "
            r"(?P<needed_by>[^)\s]{1,500})\))?",
        ),
        (
            "missing-library",
            r"(?<![\w.+-])(?P<library>[\w.+-]{1,120}\.so[\w.]{0,20}): "
            r"cannot open shared object file",
        ),
        (
            "missing-library",
            r"(?:Could not load|Failed to load|Unable to load|Cannot load|Could not open)"
            r"(?: dynamic)? (?:library|any of) ['\"{]?(?P<library>(?:lib)?[\w+-]{1,80}\.(?:s"
            r"o|dll)[\w.]{0,20})",
        ),
        ("missing-library", r"(?P<library>lib[\w.+-]{1,100}\.so[\w.]{0,20}) => not found"),
        ("missing-library", r"Library not loaded: (?:@\w{1,20}/)?(?P<library>[\w./+-]{1,200})"),
        (
            "missing-library",
            r"Error loading shared library (?P<library>[\w.+-]{1,120}): No such file",
        ),
    )
)
#: Each message has one of these.
_WORDS = any_of(("symbol", "version", "shared object", "shared lib", "load", "open", "not found"))
_WARNS = re.compile(r"\bWarning\b|^\s*W\d{4}\b|\bW (?:tensorflow|external)/|\bWARNING\b")
_MAJOR = re.compile(r"\.so\.(\d{1,3})|_?(\d{1,3})\.dll$")
_STEM = re.compile(r"\.(?:so|dll|dylib).{0,40}$")


class Loader(Reader):
    """Recognises what a loader could not do."""

    triggers = (
        "undefined symbol",
        "link time reference",
        "symbol not found",
        "' not found (required",
        "cannot open shared object",
        "could not load",
        "unable to load any of",
        "=> not found",
        "library not loaded",
        "error loading shared library",
    )

    def feed(self, line: Line) -> Iterator[Event]:
        """Every message on the line."""
        if not _WORDS.search(line.text.lower()):
            return
        is_fatal = _WARNS.search(line.text) is None
        found: Dict[str, None] = {}
        for kind, pattern in _MESSAGES:
            for match in pattern.finditer(line.text):
                if match.group(0) not in found:
                    found[match.group(0)] = None
                    fields = _fields(kind, match)
                    yield Event(kind, line.number, line.text, fields, fatal=is_fatal)


def _fields(kind: str, match: Match[str]) -> Dict[str, str]:
    fields = {name: value[:LONGEST] for name, value in match.groupdict().items() if value}
    if kind == "missing-version":
        fields["scheme"] = fields["version"].partition("_")[0]
    if kind == "missing-library":
        major = _MAJOR.search(fields["library"])
        fields["major"] = (major.group(1) or major.group(2)) if major else ""
        fields["stem"] = _STEM.sub("", fields["library"].rpartition("/")[2])
    return fields
