"""Which matrices an answer rests on."""

from __future__ import annotations

from typing import List, NamedTuple, Tuple

import msgspec
from rich.text import Text

from envdoctor.model.language import say
from envdoctor.model.text import clean
from envdoctor.report.lines import wrapped
from envdoctor.report.view import View


class Matrices(NamedTuple):
    """The day of those that ship, and the folders that users put over them."""

    date: str
    added: Tuple[str, ...] = ()


class MatricesAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How JSON begins that tells of the matrices."""

    schema_version: int
    command: str
    envdoctor_version: str
    matrices_date: str
    matrices_added: List[str]  # folders of users
    language: str  # of reasons


def told_added(matrices: Matrices, view: View, language: str) -> List[Text]:
    """A line that names what users added; none where they did not."""
    if not matrices.added:
        return []
    folders = ", ".join(view.place(clean(folder)) for folder in matrices.added)
    said = say(language, "Matrices: {folders} over those that ship", folders=folders)
    return wrapped(Text(said), view.width)
