"""The words that every text has in which a pattern is found."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

try:
    from re import _parser  # type: ignore[attr-defined] # 3.11 and newer
except ImportError:
    import sre_parse as _parser

_SHORTEST = 4


def literals(pattern: str) -> Tuple[str, ...]:
    """Words in lower case of which a text has one at least if the pattern is found in it.

    Raises ValueError for a pattern that holds no such word.
    """
    words = _best(list(_parser.parse(pattern)))
    if not words:
        raise ValueError(f"{pattern!r} is found in texts that have no word in common")
    return tuple(dict.fromkeys(words))


def _best(parts: Sequence[Any]) -> List[str]:
    """Of the runs of letters and the groups of a sequence those that tell most."""
    choices: List[List[str]] = []
    run = ""
    for part in [*parts, None]:
        if part is not None and str(part[0]) == "LITERAL":
            run += chr(part[1]).lower()
            continue
        if len(run) >= _SHORTEST:
            choices.append([run])
        run = ""
        if part is not None:
            inner = _inner(part)
            if inner:
                choices.append(inner)
    return max(choices, key=lambda words: min(map(len, words)), default=[])


def _inner(part: Any) -> List[str]:
    name = str(part[0])
    if name == "SUBPATTERN":
        return _best(list(part[1][-1]))
    if name == "BRANCH":
        found = [_best(list(branch)) for branch in part[1][1]]
        return [word for words in found for word in words] if all(found) else []
    if name in ("MAX_REPEAT", "MIN_REPEAT") and part[1][0] > 0:
        return _best(list(part[1][2]))
    return []


__all__ = ["literals"]
