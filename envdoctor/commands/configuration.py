"""`[tool.envdoctor]` of pyproject.toml: what a project says of how it is checked.

Whether an option can be configured is said where the option is: it is `Configurable`. Its key, the
type of its value and what it may be follow from the option.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, Mapping, NamedTuple, Optional, Tuple

import click

from envdoctor.commands.errors import UsageFailure
from envdoctor.model.text import clean

FILE = "pyproject.toml"
_TABLE = ("tool", "envdoctor")
_MAX_TEXT = 1_000_000
# Folders that are looked into above the current one.
_DEEPEST = 64
_HEADER = re.compile(r"\s*\[\s*([^\[\]#]+?)\s*\]")


class Configurable(click.Option):
    """An option that the table may set, under its name without dashes.

    A value that names a file is relative to the file that holds the table.
    """

    def __init__(self, *arguments: Any, names_a_file: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.names_a_file = names_a_file

    @property
    def key(self) -> str:
        """The name of the option in the table."""
        return next(name for name in self.opts if name.startswith("--"))[2:]


class Configuration(NamedTuple):
    """The table of one file: values by key, as their options take them."""

    path: str
    values: Mapping[str, Any] = {}
    places: Mapping[str, str] = {}  # file and line of each key

    def texts(self, key: str) -> Tuple[str, ...]:
        """The texts under a key of an option that may be repeated; none if it is not there."""
        return tuple(self.values.get(key, ()))


def find(start: str, home: str) -> Iterator[str]:
    """The files that may hold the table, the nearest first: in `start` and in what holds it.

    The search ends with a repository (a folder with .git), and before the home folder.
    """
    folder = start
    for _ in range(_DEEPEST):
        path = os.path.join(folder, FILE)  # noqa: PTH118 - as it is, with what is no Unicode
        if os.path.lexists(path):
            yield path
        above = os.path.dirname(folder)  # noqa: PTH120
        is_repository = os.path.lexists(os.path.join(folder, ".git"))  # noqa: PTH118
        if is_repository or above == folder or (home and _same(above, home)):
            return
        folder = above


def _same(one: str, other: str) -> bool:
    return os.path.normpath(one) == os.path.normpath(other)


def read(options: Iterable[click.Parameter], environ: Mapping[str, str]) -> Optional[Configuration]:
    """The nearest table above the current folder, for the options of all commands.

    None if there is no table. Raises UsageFailure, which names the file and the line.
    """
    try:
        here = str(Path.cwd())
    except OSError:  # it was removed
        return None
    for path in find(here, environ.get("HOME", "")):
        text, table = _table(path)
        if table is not None:
            known = {o.key: o for o in options if isinstance(o, Configurable)}
            return _configuration(path, text, table, known)
    return None


def _table(path: str) -> Tuple[str, Optional[Any]]:
    """The text of a file, and its table as it stands there."""
    from envdoctor.facts.files import FileError, read_text, toml

    try:
        text = read_text(path, _MAX_TEXT)
        if _TABLE[-1] not in text:
            return text, None  # whatever else may be wrong with it is for others to say
        data: Any = toml(text, clean(path))
    except FileError as error:
        raise _failure(str(error)) from None
    for name in _TABLE:
        data = data.get(name) if isinstance(data, dict) else None
    return text, data


def _failure(message: str) -> UsageFailure:
    return UsageFailure(message, "--isolated leaves configuration files out.")


def _configuration(
    path: str, text: str, table: Any, known: Mapping[str, Configurable]
) -> Configuration:
    lines = _lines(text)
    shown = clean(path)
    if not isinstance(table, dict):
        raise _failure(f"{shown}:{lines.get('', 1)}: [tool.envdoctor] is no table")
    values: Dict[str, Any] = {}
    places: Dict[str, str] = {}
    for key, value in table.items():
        places[key] = f"{shown}:{lines.get(key, lines.get('', 1))}"
        option = known.get(key)
        if option is None:
            raise _failure(f"{places[key]}: there is no key {clean(key)!r}; {_hint(key, known)}")
        values[key] = _value(value, option, places[key], path)
    return Configuration(path, values, places)


def _hint(key: str, known: Mapping[str, Configurable]) -> str:
    import difflib

    near = difflib.get_close_matches(key.lower().replace("_", "-"), known)
    return f"nearest: {', '.join(near)}" if near else f"known are {', '.join(sorted(known))}"


def _value(value: Any, option: Configurable, place: str, path: str) -> Any:
    """The value as the option takes it. Raises UsageFailure."""
    if isinstance(option.type, click.Choice):
        choices = [str(choice) for choice in option.type.choices]
        if value not in choices:
            said = f"{value!r}" if isinstance(value, str) else _kind(value)
            listed = ", ".join(choices)
            raise _failure(f"{place}: {option.key} is one of {listed}, not {clean(said)}")
        return value
    expected = "a text"
    if option.is_flag:
        expected, fits = "true or false", isinstance(value, bool)
    elif option.multiple:
        expected = "a list of texts"
        texts = [value] if isinstance(value, str) else value
        fits = isinstance(texts, list) and all(isinstance(one, str) for one in texts)
        value = texts
    else:
        fits = isinstance(value, str)
    if not fits:
        raise _failure(f"{place}: {option.key} is {expected}, not {_kind(value)}")
    if option.names_a_file:
        folder = Path(path).parent
        files = [str(folder / one) for one in ([value] if isinstance(value, str) else value)]
        return files if option.multiple else files[0]
    return value


def _kind(value: Any) -> str:
    """What a value of TOML is called."""
    kinds = (
        (bool, "true or false"),
        ((int, float), "a number"),
        (str, "a text"),
        (dict, "a table"),
        (list, "a list of other things"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "a date or a time")


def _lines(text: str) -> Dict[str, int]:
    """The number of the line of each key of the table; under "" that of the table itself."""
    found: Dict[str, int] = {}
    wanted = ".".join(_TABLE)
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.match(line)
        if header:
            table = _plain(header[1])
            name = table
        else:
            name = ".".join(filter(None, [table, _plain(line.partition("=")[0])]))
        if name == wanted:
            found.setdefault("", number)
        elif name.startswith(wanted + "."):
            found.setdefault("", number)
            found.setdefault(name[len(wanted) + 1 :].partition(".")[0], number)
    return found


def _plain(key: str) -> str:
    """A key of TOML without quotes and spaces."""
    return "".join(c for c in key if c not in " \t\"'")


def defaults(configuration: Configuration, command: click.Command) -> Dict[str, Any]:
    """What a command's options are by default: click's map, by names of parameters."""
    found: Dict[str, Any] = {}
    for option in command.params:
        if isinstance(option, Configurable) and option.name and option.expose_value:
            value = configuration.values.get(option.key)
            if value is not None and option.key not in _OF_THEIR_OWN:
                found[option.name] = value
    return found


#: Keys that do not simply stand in for an option that was not given.
_OF_THEIR_OWN = ("assume", "lang")
