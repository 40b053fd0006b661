"""Three-valued logic and the comparisons of the relation language.

A truth value is True, False or an `Unknown` (which may carry the name of what is missing).
"""

from __future__ import annotations

import operator
import re
from typing import Any, Callable, Dict, Iterable, Union

from packaging.version import Version

from envdoctor.model.build import Build, Specifier, Unknown, Value
from envdoctor.model.versions import parse, satisfies, series, try_parse

_EXACT = re.compile(r"==[^,]+")

Truth = Union[bool, Unknown]

_ORDER: Dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def conjunction(values: Iterable[Truth]) -> Truth:
    """Kleene's and: False if any is False, else unknown if any is unknown."""
    result: Truth = True
    for value in values:
        if value is False:
            return False
        if value is not True:
            result = value
    return result


def disjunction(values: Iterable[Truth]) -> Truth:
    """Kleene's or: True if any is True, else unknown if any is unknown."""
    result: Truth = False
    for value in values:
        if value is True:
            return True
        if value is not False:
            result = value
    return result


def negation(value: Truth) -> Truth:
    """Kleene's not."""
    return value if isinstance(value, Unknown) else not value


def scalar(value: Value) -> Value:
    """A build stands for its version in a comparison."""
    if isinstance(value, Build):
        if value.version is None:
            return Unknown(f"{value} is not compared by its number")
        return value.version
    return value


def attribute(value: Value, name: str) -> Value:
    """`value.name`; unknown where the value or its attribute is."""
    if isinstance(value, Build):
        if name == "version":
            return scalar(value)
        if name in ("series", "major", "minor"):
            return attribute(scalar(value), name)
        found = value.attributes.get(name)
        return Unknown(f"the {name} of {value} is not known") if found is None else found
    if isinstance(value, Version):
        if name == "series":
            return series(value)
        if name == "major":
            return parse(str(value.major))
        if name == "minor":
            return parse(str(value.minor))
    return value  # unknown stays unknown; "cpu" has no major but itself


def compare(sign: str, left: Value, right: Value) -> Truth:
    """One comparison. Texts that are no versions are unordered, and unequal to versions."""
    if isinstance(right, Specifier):
        left = _outside(left, right)
    left, right = scalar(left), scalar(right)
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    if sign == "in":
        return member(left, right)
    if sign == "not in":
        return negation(member(left, right))
    equality = sign in ("==", "!=")
    if isinstance(left, Version) != isinstance(right, Version) or not equality:
        left, right = _version(left), _version(right)
        if left is None or right is None:
            return sign == "!="
    try:
        return _ORDER[sign](left, right)
    except TypeError:
        return sign == "!="


def _outside(value: Value, pin: Specifier) -> Value:
    """The release that a build without a number comes before, where an exact pin has another.

    As little as is known of a nightly, what pins torch ==1.13.0 was not compiled for 1.14.0.dev.
    """
    if isinstance(value, Build) and value.version is None and _EXACT.fullmatch(pin):
        written = try_parse(value.label)
        release = parse(written.base_version) if written is not None else None
        if release is not None and not satisfies(release, pin):
            return release
    return value


def member(item: Value, group: Value) -> Truth:
    """Whether a version lies in a specifier, or a value is one of several."""
    if isinstance(group, Specifier):
        version = _version(item)
        return version is not None and satisfies(version, group)
    if isinstance(group, tuple):
        return disjunction(compare("==", item, one) for one in group)
    return compare("==", item, group)


def _version(value: Value) -> Any:
    return value if isinstance(value, Version) else try_parse(str(value))
