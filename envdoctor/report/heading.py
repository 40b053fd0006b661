"""What stands below the verdict: which environment it is about, and by what it was judged."""

from __future__ import annotations

from typing import List, Union

from rich.text import Text

from envdoctor.model.facts import Facts
from envdoctor.model.finding import Report
from envdoctor.model.language import say
from envdoctor.model.repair import Repair
from envdoctor.model.text import clean
from envdoctor.report import words
from envdoctor.report.lines import wrapped
from envdoctor.report.sources import Matrices, told_added
from envdoctor.report.view import View


def circumstances(answer: Union[Report, Repair], facts: Facts, view: View) -> List[Text]:
    """The target, what was assumed of it, users' matrices and the configuration."""
    language = answer.language
    target = words.target(language, facts, view)
    lines = wrapped(Text(say(language, "Target: {target}", target=target)), view.width)
    assumed = words.assumed(language, facts)
    if assumed:
        lines += wrapped(Text(say(language, "Assumed: {assumed}", assumed=assumed)), view.width)
    lines += told_added(Matrices(answer.matrices_date, answer.matrices_added), view, language)
    if answer.configuration:
        file = view.place(clean(answer.configuration))
        lines += wrapped(Text(say(language, "Configuration: {file}", file=file)), view.width)
    return lines
