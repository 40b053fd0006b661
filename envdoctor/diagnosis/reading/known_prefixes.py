"""What is known of the prefixes that programs put before each line of others.

A `sure` one is taken off wherever it stands. What may as well be content is `likely`, taken off
where its like repeats or where what follows cannot be anything but a message, or `doubtful`, where
both hold.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, NamedTuple, Optional, Tuple


class Prefix(NamedTuple):
    """A prefix at the beginning of a text."""

    kind: str
    length: int
    source: str = ""
    # What repeats where it is one, for those that may be content.
    key: Tuple[str, ...] = ()
    value: float = 0.0  # what does not fall from line to line


_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_UNIT = r"(?P<unit>[\w./@:\\-]{1,80}?)(?:\[\d{1,10}\])?: ?"

_BUILDKIT = re.compile(
    r"#(?P<step>\d{1,4}) (?:\d{1,6}\.\d{1,3}(?: |$)"
    r"|(?=ERROR|DONE|CACHED|CANCELED|sha256:|extracting |exporting |\[[^\]]{1,80}\] ))"
)
_RANK = re.compile(r"\[(?P<name>[A-Za-z_][A-Za-z_-]{0,40})(?P<rank>\d{1,5})\]:")
_MPI = re.compile(
    r"\[(?:[^\s\]<>,]{1,80},)?(?:mpirank:)?(?P<rank>\d{1,6})(?:,[\w.-]{1,80})?\]<std(?:out|err|diag)>:"
)
_MPI_TIME = re.compile(rf"{_DAY} {_MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}}(?=\[)")
_BRACKETED = re.compile(
    rf"\[\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{{1,9}})?{_ZONE}?\](?! ?\[[\w ]{{1,20}}\] ) ?"
)
_KERNEL = re.compile(
    r"\[ {0,8}\d{1,9}\.\d{6}\](?:\[ {0,6}[TC]\d{1,9}\])? ?"
    rf"|\[{_DAY} {_MONTH} [ \d]\d \d\d:\d\d:\d\d \d{{4}}\] ?"
)
_POD = re.compile(r"\[pod/(?P<pod>[\w.-]{1,200}(?:/[\w.-]{1,200})?)\] ?")
_RAY = re.compile(
    r"\((?P<worker>(?:[A-Za-z_][\w.:<>\[\]-]{0,80} )?(?:rank=\d{1,6} )?pid=\d{1,9})"
    r"(?:, ip=[^\s)]{1,60})?\) ?"
    r"|\((?P<daemon>raylet|gcs_server)(?:, ip=[^\s)]{1,60})?\) ?"
)
_ISO = re.compile(
    rf"\ufeff?\d{{4}}-\d\d-\d\dT{_TIME}{_ZONE}"
    r"(?: \d\d[OE][+ ]| (?:stdout|stderr) [FP] | ?)"
)
_ISO_JOURNAL = re.compile(
    rf"\d{{4}}-\d\d-\d\dT{_TIME}{_ZONE} [\w.-]{{1,100}} "
    r"(?:(?P<unit>[\w./@:\\-]{1,80}?)\[\d{1,10}\]|(?P<kernel>kernel)): ?"
)
_JOURNAL = re.compile(rf"{_MONTH} [ \d]\d {_TIME} [\w.-]{{1,100}} {_UNIT}")
_SYSLOG = re.compile(r"<\d{1,3}>(?=\S)")
_HOSTED = re.compile(rf"\ufeff?\d{{4}}-\d\d-\d\dT{_TIME}Z ?")
_CLOUD = re.compile(r'Step #(?P<step>\d{1,4})(?: - "(?P<name>[^"]{1,100})")?: ?')
_MARK = re.compile(r"##\[(?:group|error|warning|command|debug|section|notice|endgroup)\]")
_SECTION = re.compile(r"section_(?:start|end):\d{1,20}:[\w.-]{1,100}(?:\[[^\]]{0,100}\])?")
_SHOWN_STEP = re.compile(r" {0,4}=> => # ?")
_PYTEST = re.compile(r"E(?: {3}(?= *\S)|$)")

_COMPOSE = re.compile(r"(?P<name>(?!\d+ )[A-Za-z0-9][\w.-]{0,100}) {1,60}\|(?: |$)")
_ELAPSED = re.compile(r"(?P<value>\d{1,6}\.\d{1,3})(?: |$)")
_STAMP = re.compile(rf"\d{{4}}[-/]\d\d[-/]\d\d {_TIME}{_ZONE}?(?: (?!- |\| |\[|[A-Z]{{3,8}}\b)|$)")
_CLOCK = re.compile(rf"(?:\[{_TIME}\](?:[WEFi]?: {{0,4}})?|{_TIME}(?!:))(?: |$)")
_KAGGLE = re.compile(r"(?P<value>\d{1,7}\.\d{1,3})s {1,8}\d{1,7}(?: |$)")
_QUOTE = re.compile(r">(?: |$)")
_LABEL = re.compile(r"(?P<rank>\d{1,5}):(?: |$)")
_NUMBERED = re.compile(r"\[(?P<rank>\d{1,5})\](?: |$)")
_BAR = re.compile(r"(?P<indent> {2,12})\|(?: |$)")
_HOST = re.compile(r"(?P<host>[A-Za-z][\w.-]{0,80}):(?: |$)")

_FAR = 120

#: Words before a colon that name what speaks, not where.
_SPEAKERS = re.compile(
    r"(?i).*(?:error|exception|warning|interrupt|exit|failed|fatal|info|debug|note|critical|hint"
    r"|gcc|g\+\+|cc|ld|as|make|ninja|cmake|nvcc|clang|python|pip|bash|sh|sudo|conda|uv|\.py|\.sh)"
    r"[\d.-]*$"
)
_LEVELS = {"INFO", "WARNING", "WARN", "ERROR", "DEBUG", "CRITICAL", "FATAL", "TRACE", "NOTE"}

#: What cannot be anything but the beginning of a message.
MESSAGE = re.compile(
    r"\s*(?:Traceback \(most recent call last\)|File \"[^\"]{1,500}\", line \d"
    r"|[A-Za-z_][\w.]{0,100}(?:Error|Exception|Interrupt)(?:: |$)"
    r"|(?:ERROR|error|fatal error|FAILED|nvcc fatal|ninja|E|CMake Error)(?: {1,3})?: )"
)
#: The same, more certain.
TRACEBACK = re.compile(
    r"\s*(?:Traceback \(most recent call last\):|File \"[^\"]{1,500}\", line \d"
    r"|[A-Za-z_][\w.]{0,100}Error: )"
)

#: How many lines with the same key make it a prefix, and whether it takes a message besides.
REPEATS: Dict[str, Tuple[int, bool]] = {
    "compose": (3, False),
    "elapsed": (3, False),
    "stamp": (3, False),
    "clock": (3, False),
    "label": (3, True),
    "numbered": (3, True),
    "bar": (2, True),
    "quote": (5, True),
    "host": (4, True),
}
#: Those of which one line is enough where a message follows.
_ALONE = {"compose", "elapsed", "stamp", "clock"}


def is_alone_enough(prefix: Prefix, text: str) -> bool:
    """Whether a prefix that may be content is one by what follows it."""
    following = text[prefix.length :]
    if prefix.kind in _ALONE:
        return MESSAGE.match(following) is not None
    return prefix.kind == "label" and following.startswith(("Traceback (most", '  File "'))


def sure(text: str) -> Optional[Prefix]:
    """The prefix that a text begins with; None if it has none, or what may be content."""
    reader = _SURE.get(text[:1])
    found = reader(text) if reader else None
    return found or _hosted(text)


def _hosted(text: str) -> Optional[Prefix]:
    """The job and the step that `gh run view` puts before a time, with tabs between them."""
    if "    " not in text[:_FAR]:
        return None
    match = _HOSTED.search(text, 0, 2 * _FAR)
    head = text[: match.start()] if match else ""
    if match is None or not head.endswith("    ") or head.count("    ") < 2 or head[0] == " ":
        return None
    return Prefix("job", match.end(), head.partition("    ")[0])


def unsure(text: str) -> Optional[Prefix]:
    """What may be a prefix."""
    first = text[:1]
    if first.isdigit():
        return _of_digits(text)
    if first == "[":
        match = _CLOCK.match(text)
        if match:
            return Prefix("clock", match.end(), key=("clock",))
        match = _NUMBERED.match(text)
        if match:
            return Prefix("numbered", match.end(), "rank " + match["rank"], ("numbered",))
        return None
    if first == ">":
        match = _QUOTE.match(text)
        return Prefix("quote", match.end(), key=("quote",)) if match else None
    if first == " ":
        match = _BAR.match(text)
        return Prefix("bar", match.end(), key=("bar", match["indent"])) if match else None
    return _of_letters(text)


def _of_digits(text: str) -> Optional[Prefix]:
    for kind, pattern in (("stamp", _STAMP), ("clock", _CLOCK)):
        match = pattern.match(text)
        if match:
            return Prefix(kind, match.end(), key=(kind,))
    match = _KAGGLE.match(text) or _ELAPSED.match(text)
    if match:
        return Prefix("elapsed", match.end(), key=("elapsed",), value=float(match["value"]))
    match = _LABEL.match(text)
    if match:
        return Prefix("label", match.end(), "rank " + match["rank"], ("label",))
    return _composed(text)


def _of_letters(text: str) -> Optional[Prefix]:
    found = _composed(text)
    if found:
        return found
    match = _HOST.match(text)
    if match and not _SPEAKERS.match(match["host"]):
        return Prefix("host", match.end(), match["host"], ("host", match["host"]))
    return None


def _composed(text: str) -> Optional[Prefix]:
    match = _COMPOSE.match(text)
    if match and match["name"] not in _LEVELS:
        return Prefix("compose", match.end(), match["name"], ("compose", match["name"]))
    return None


def _bracket(text: str) -> Optional[Prefix]:
    match = _RANK.match(text)
    if match:
        return Prefix("rank", match.end(), f"{match['name']} {match['rank']}")
    match = _MPI.match(text)
    if match:
        return Prefix("mpi", match.end(), "rank " + match["rank"])
    match = _BRACKETED.match(text)
    if match:
        return Prefix("time", match.end())
    match = _KERNEL.match(text)
    if match:
        return Prefix("kernel", match.end(), "kernel")
    match = _POD.match(text)
    return Prefix("pod", match.end(), match["pod"]) if match else None


def _hash(text: str) -> Optional[Prefix]:
    match = _BUILDKIT.match(text)
    if match:
        return Prefix("step", match.end(), "step " + match["step"])
    match = _MARK.match(text)
    return Prefix("mark", match.end()) if match else None


def _parenthesis(text: str) -> Optional[Prefix]:
    match = _RAY.match(text)
    if match is None:
        return None
    return Prefix("ray", match.end(), match["worker"] or match["daemon"])


def _digit(text: str) -> Optional[Prefix]:
    match = _ISO_JOURNAL.match(text)
    if match:
        return Prefix("journal", match.end(), match["unit"] or match["kernel"])
    match = _ISO.match(text)
    return Prefix("time", match.end()) if match else None


def _letter(text: str) -> Optional[Prefix]:
    match = _JOURNAL.match(text)
    if match:
        return Prefix("journal", match.end(), match["unit"])
    match = _CLOUD.match(text)
    if match:
        return Prefix("step", match.end(), match["name"] or "step " + match["step"])
    match = _MPI_TIME.match(text)
    return Prefix("time", match.end()) if match else None


def _by(kind: str, pattern: re.Pattern[str]) -> Callable[[str], Optional[Prefix]]:
    def read(text: str) -> Optional[Prefix]:
        match = pattern.match(text)
        return Prefix(kind, match.end()) if match else None

    return read


_SURE: Dict[str, Callable[[str], Optional[Prefix]]] = {
    "[": _bracket,
    "#": _hash,
    "(": _parenthesis,
    "<": _by("syslog", _SYSLOG),
    " ": _by("shown", _SHOWN_STEP),
    "E": _by("pytest", _PYTEST),
    "=": _by("shown", _SHOWN_STEP),
    "s": _by("section", _SECTION),
    "\ufeff": _digit,
    **dict.fromkeys("0123456789", _digit),
    **dict.fromkeys("JFMASONDTW", _letter),
}
