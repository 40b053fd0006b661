"""Says in plain words, with key and line, what of a document is not as its type wants it.

msgspec only says that something is wrong and not always where; this runs after it has refused.
"""

from __future__ import annotations

from typing import Any, Iterator, Optional, Tuple, Union

from msgspec import inspect

from envdoctor.model.text import clean, nearest

Path = Tuple[Union[str, int], ...]


def first_mistake(data: Any, kind: Any) -> Optional[Tuple[Path, str]]:
    """The first thing of plain data that a type does not allow: its path, and what is wrong."""
    return next(_mistakes(data, inspect.type_info(kind), ()), None)


def told(path: Path) -> str:
    """A path as people write it: builds[0].install."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return clean(text.lstrip("."))


def said(value: Any) -> str:
    """What a plain value is, in words."""
    if isinstance(value, dict):
        return "keys with values"
    return "a list" if isinstance(value, list) else "nothing" if value is None else "text"


def _mistakes(data: Any, kind: inspect.Type, path: Path) -> Iterator[Tuple[Path, str]]:
    if isinstance(kind, inspect.AnyType):
        return
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    taken = next((one for one in kinds if _is_of(data, one)), None)
    if taken is None:
        wanted = " or ".join(dict.fromkeys(_wanted(one) for one in kinds))
        yield path, f"{wanted} is wanted, not {said(data)}"
    elif isinstance(taken, inspect.StructType):
        yield from _of_keys(data, taken, path)
    elif isinstance(taken, inspect.DictType):
        for key, value in data.items():
            yield from _mistakes(value, taken.value_type, (*path, key))
    elif isinstance(taken, inspect.ListType):
        for index, value in enumerate(data):
            yield from _mistakes(value, taken.item_type, (*path, index))


def _of_keys(data: Any, kind: inspect.StructType, path: Path) -> Iterator[Tuple[Path, str]]:
    known = {field.encode_name: field for field in kind.fields}
    for key, value in data.items():
        if key not in known:
            yield (*path, key), f"no such key{nearest(key, known)}"
        else:
            yield from _mistakes(value, known[key].type, (*path, key))
    for name, field in known.items():
        if field.required and name not in data:
            yield path, f"the key {name} is missing"


def _is_of(data: Any, kind: inspect.Type) -> bool:
    if isinstance(kind, (inspect.StructType, inspect.DictType)):
        return isinstance(data, dict)
    if isinstance(kind, inspect.ListType):
        return isinstance(data, list)
    if isinstance(kind, inspect.NoneType):
        return data is None
    return isinstance(kind, inspect.AnyType) or (
        isinstance(kind, inspect.StrType) and isinstance(data, str)
    )


def _wanted(kind: inspect.Type) -> str:
    if isinstance(kind, (inspect.StructType, inspect.DictType)):
        return "keys with values"
    if isinstance(kind, inspect.ListType):
        return "a list"
    return "nothing" if isinstance(kind, inspect.NoneType) else "text"
