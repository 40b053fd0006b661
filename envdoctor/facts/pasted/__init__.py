"""Reads what people paste into issue trackers: environment reports of many formats, in any mixture.

One module a format; each looks at single lines, or at a line and the few after it, so that the
order of the sections does not matter. `notes` keeps what they found, `merge` makes facts of it.
"""

from __future__ import annotations

from envdoctor.facts.pasted.merge import ReportError as ReportError
from envdoctor.facts.pasted.merge import parse as parse
