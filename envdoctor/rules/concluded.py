"""`check` of facts that were examined before: equal facts, equal report.

A report is made of nothing but the facts, the language, and this envdoctor's own code and matrices.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Callable

import msgspec

from envdoctor.cache import store, unchanged
from envdoctor.model.facts import Facts
from envdoctor.model.finding import Report

if TYPE_CHECKING:
    from envdoctor.knowledge.load import Knowledge

_FAMILY = "report-"
_KEPT = 20  # reports


class _Memory(msgspec.Struct, array_like=True):
    facts: bytes
    own: bytes
    language: str
    report: Report


def conclude(facts: Facts, matrices: Callable[[], Knowledge], language: str) -> Report:
    """What `envdoctor.rules.check.check` reports, from before if these very facts were examined.

    `matrices` is called where they were not. Raises DocumentError.
    """
    asked = _encoded(facts)
    name = f"{_FAMILY}{zlib.crc32(asked + language.encode()):08x}"
    own = unchanged.own_state()
    content = store.read(name) if asked else None
    if content is not None:
        try:
            memory = msgspec.msgpack.decode(content, type=_Memory)
        except msgspec.DecodeError:
            memory = None
        if memory is not None and (memory.facts, memory.own, memory.language) == (
            asked,
            own,
            language,
        ):
            return memory.report
    from envdoctor.rules.check import check

    report = check(facts, matrices(), language)
    # A fault of our own may be one of the moment, such as too little memory.
    if asked and not any(skipped.failed for skipped in report.skipped):
        store.write(
            name, msgspec.msgpack.encode(_Memory(asked, own, language, report)), _FAMILY, _KEPT
        )
    return report


def _encoded(facts: Facts) -> bytes:
    """The facts as bytes, whenever they were taken; none where they hold what is no text."""
    try:
        return msgspec.msgpack.encode(msgspec.structs.replace(facts, taken=""))
    except UnicodeEncodeError:
        return b""
