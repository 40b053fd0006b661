"""Makes inputs that strangers could write, out of real ones; a seed gives the same ones again."""

from __future__ import annotations

import json
from random import Random
from typing import Any, Callable, List, Sequence

#: Bytes of an input; a few are longer on purpose, see `_long`.
MOST = 60_000
LONGEST = 400_000

NUMBERS = [
    *("0", "-1", "00", "1e5", "1.5", "65536", "2147483648", "18446744073709551616", "NaN"),
    *("9" * 400, "9" * 5000, "1." * 2000 + "1", "1!2.0", "3.8.18+", "2.0.0rc1", "1.0.dev0"),
    *("٣.٨", "²", "৩", "1_000", "0x10", "2.4.0a0+07cecf4168.nv24.05", "cu111", "cpu", "*", "2.*"),
]
# Right-to-left, combining, joined, wide, invisible, private, outside of the first plane.
UNICODE = [
    *("\u202eabc", "e\u0301" * 40, "\u200d", "\ufeff", "\u2028", "\u2029", "\x85", "\u3000"),
    *(
        "\U0001f600",
        "\ufffd",
        "\ue000",
        "中文",
        "ﬀ",
        "\u0131",
        "İ",
        "\u00a0",
        "\u00ad",
        "\U000e0041",
    ),
]
CONTROL = [
    *("\x00", "\x1b[31m", "\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\x7f", "\b\b", "\r", "\v"),
    *("\x0c", "\x1c", "\x1a", "\t", "\r\n", "\n\n", "\n", " ", "\\", "\\\n"),
]
BYTES = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xff\xfe", b"\xef\xbb\xbf", b"\xf4\x90\x80\x80"]
SIGNS = [
    *("'", '"', "{", "}", "[", "]", "(", ")", "<", ">", ",", ";", ":", "::", "#", "@", "=", "=="),
    *(">=", "~=", "===", "!=", "<", "|", "&", "*", "!", "%", "$", "${HOME}", "{name}", "{}", "%s"),
    *("`x`", "$(x)", "..", "../" * 40, "/", "~", "-", "--", "---\n", "...\n", "?", "&a ", "*a"),
    *("<<: ", "!!python/object:os.system ", "- ", "&a [*a]", "extra", "null", "true", "\\u0000"),
    *("\\ud800", "file://", "https://user:secret@h/x?token=1", "git+https://h/r@v1", "/dev/zero"),
]
# What nests, and what makes careless patterns try everything.
NESTING = ["[", "{", "(", "- ", '{"a":', "[[", "{a: ", "((", "not ", "-", "a.", "(a and ", "> "]
REPEATED = [
    "a",
    " ",
    "\t",
    "0",
    "1.",
    "a-",
    "a,",
    "\\",
    '"',
    "'",
    "=",
    "x==",
    "\n",
    "a\n",
    "#",
    "_",
]
REPEATED += [
    "é",
    "[a",
    "a]",
    "a b ",
    ", ",
    ":",
    "a:",
    "&a",
    "|",
    "; ",
    "()",
    "../",
    "%41",
    "<a ",
    "&#",
]

Operation = Callable[["Mutator", bytes], bytes]


class Mutator:
    """Mutates seeds with one source of chance."""

    def __init__(self, random: Random, seeds: Sequence[bytes], structured: str = "") -> None:
        """`structured` is "json" where the seeds are JSON that may be changed as a tree."""
        self.random = random
        self.seeds = seeds
        self.structured = structured
        self.longest = MOST

    def make(self) -> bytes:
        """An input: a seed, changed a few times; sometimes as a tree, sometimes made very long."""
        random = self.random
        data = random.choice(self.seeds)
        self.longest = LONGEST if random.random() < 0.01 else MOST
        if self.structured and random.random() < 0.6:
            data = self.tree(data)
            if random.random() < 0.7:
                return data[: self.longest]
        for _ in range(1 + int(random.expovariate(0.5))):
            data = random.choice(OPERATIONS)(self, data)[: self.longest]
        return data

    def place(self, data: bytes) -> int:
        """A position, often one where something begins or ends."""
        if data and self.random.random() < 0.5:
            at = self.random.randrange(len(data))
            found = data.find(self.random.choice([b"\n", b" ", b'"', b":", b"=", b",", b"/"]), at)
            if found >= 0:
                return found + self.random.randrange(2)
        return self.random.randrange(len(data) + 1)

    def fragment(self) -> bytes:
        """A piece that readers seldom meet."""
        kind = self.random.randrange(10)
        if kind == 0:
            return self.random.choice(BYTES)
        if kind == 1:
            word = self.random.choice(NESTING)
            return (word * self.random.choice([3, 30, 300, 3000, 20_000])).encode()
        listed: Sequence[str] = (NUMBERS, UNICODE, CONTROL, SIGNS, SIGNS)[kind % 5]
        return self.random.choice(listed).encode("utf-8", "surrogatepass")

    def text(self) -> str:
        """A piece as text, for trees."""
        if self.random.random() < 0.05:
            return "\ud800" + self.random.choice(UNICODE)
        return self.fragment().decode("utf-8", "replace")

    def tree(self, data: bytes) -> bytes:
        """A JSON document in which values were exchanged, removed, doubled or nested."""
        try:
            document = json.loads(data)
        except ValueError:
            return data
        for _ in range(1 + int(self.random.expovariate(0.5))):
            document = self._branch(document, 0)
        return json.dumps(document, ensure_ascii=self.random.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )

    def _branch(self, value: Any, depth: int) -> Any:
        random = self.random
        if isinstance(value, dict) and value and random.random() < 0.93:
            key = random.choice(list(value))
            change = random.randrange(20)
            rest = dict(value)
            if change == 0:
                del rest[key]
            elif change == 1:
                rest[self.text()] = rest.pop(key)
            elif change == 2:
                rest[key] = rest[random.choice(list(value))]
            else:
                rest[key] = self._branch(value[key], depth + 1)
            return rest
        if isinstance(value, list) and value and random.random() < 0.93:
            at = random.randrange(len(value))
            change = random.randrange(12)
            if change == 0:
                return value[:at] + value[at + 1 :]
            if change == 1:
                return value[:at] + [value[at]] * random.choice([2, 3, 20]) + value[at:]
            return [*value[:at], self._branch(value[at], depth + 1), *value[at + 1 :]]
        return self._leaf(value)

    def _leaf(self, value: Any) -> Any:
        random = self.random
        if isinstance(value, str) and random.random() < 0.75:
            at = random.randrange(len(value) + 1)
            kind = random.randrange(4)
            if kind == 0:
                return value[:at]
            if kind == 1:
                return value[:at] + self.text() + value[at:]
            if kind == 2:
                return self.text()
            return value * random.choice([2, 3, 100])
        nested: Any = []
        for _ in range(random.choice([1, 50, 400])):
            nested = [nested]
        odd: List[Any] = [None, True, -1, 0, 2**31, 2**63, 2**64, 1e300, 1.5, "", [], {}, nested]
        return random.choice([*odd, self.text(), {self.text(): self.text()}])


def _flip(by: Mutator, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(by.random.choice([1, 2, 8, 40])):
        if changed:
            changed[by.random.randrange(len(changed))] = by.random.randrange(256)
    return bytes(changed)


def _cut(by: Mutator, data: bytes) -> bytes:
    return data[: by.place(data)]


def _behead(by: Mutator, data: bytes) -> bytes:
    return data[by.place(data) :]


def _remove(by: Mutator, data: bytes) -> bytes:
    at = by.place(data)
    return data[:at] + data[at + by.random.choice([1, 2, 10, 100]) :]


def _insert(by: Mutator, data: bytes) -> bytes:
    at = by.place(data)
    return data[:at] + by.fragment() + data[at:]


def _overwrite(by: Mutator, data: bytes) -> bytes:
    at = by.place(data)
    return data[:at] + by.fragment() + data[at + by.random.choice([1, 4, 20]) :]


def _splice(by: Mutator, data: bytes) -> bytes:
    other = by.random.choice(by.seeds)
    return data[: by.place(data)] + other[by.place(other) :]


def _repeat(by: Mutator, data: bytes) -> bytes:
    at = by.place(data)
    end = at + by.random.choice([1, 3, 20, 200])
    return data[:end] + data[at:end] * by.random.choice([1, 2, 10, 200, 5000]) + data[end:]


def _long(by: Mutator, data: bytes) -> bytes:
    word = by.random.choice(REPEATED).encode()
    at = by.place(data)
    times = by.random.choice([50, 1000, 10_000, 100_000])
    return data[:at] + word * min(times, by.longest // len(word)) + data[at:]


def _lines(by: Mutator, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at = by.random.randrange(len(lines))
    others = by.random.choice(by.seeds).split(b"\n")
    kind = by.random.randrange(6)
    if kind == 0:
        by.random.shuffle(lines)
    elif kind == 1:
        lines.insert(at, by.random.choice(others))
    elif kind == 2:
        lines[at] = by.random.choice(others)
    elif kind == 3:
        lines[at:at] = [lines[at]] * by.random.choice([1, 5, 300])
    elif kind == 4:
        del lines[at : at + by.random.choice([1, 3, 20])]
    else:
        lines[at] = by.random.choice([b" ", b"  ", b"\t", b"- ", b"> ", b"# "]) + lines[at]
    return b"\n".join(lines)


def _number(by: Mutator, data: bytes) -> bytes:
    places = [at for at, byte in enumerate(data[:5000]) if 48 <= byte <= 57]
    if not places:
        return data
    at = end = by.random.choice(places)
    while end < len(data) and (48 <= data[end] <= 57 or data[end] == 46):
        end += 1
    return data[:at] + by.random.choice(NUMBERS).encode() + data[end:]


def _endings(by: Mutator, data: bytes) -> bytes:
    return data.replace(b"\n", by.random.choice([b"\r\n", b"\r", b"\n\n", b"\x0b", b"\n\r"]))


def _encoding(by: Mutator, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(by.random.choice(["utf-16", "utf-8-sig", "utf-16-be", "latin-1"]), "replace")


def _swap(by: Mutator, data: bytes) -> bytes:
    one, other = sorted((by.place(data), by.place(data)))
    width = by.random.choice([1, 5, 30])
    if one + width > other:
        return data
    return (
        data[:one]
        + data[other : other + width]
        + data[one + width : other]
        + data[one : one + width]
        + data[other + width :]
    )


OPERATIONS: Sequence[Operation] = (
    *(_flip, _cut, _behead, _remove, _insert, _insert, _insert, _overwrite, _overwrite, _splice),
    *(_repeat, _long, _lines, _lines, _lines, _number, _number, _endings, _encoding, _swap),
)
