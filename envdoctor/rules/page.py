"""Pages: what each finding is called and means. One page a code, `ED123_name.md`.

A page with a module of the same name is a rule, and so is one that says `interfaces:`; any other
explains findings of relations.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List, Tuple

import msgspec

from envdoctor.knowledge.cache import cached
from envdoctor.knowledge.document import Document, DocumentError
from envdoctor.model.language import CHINESE
from envdoctor.model.relation import Words

_HERE = Path(__file__).resolve().parent
_NAME = re.compile(r"(ED\d{3})_(\w+)\.md")
#: The line after which a page says the same in Chinese.
_CHINESE = "\n# 中文\n"


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The front matter of a page, and its body."""

    code: str
    name: str
    severity: str  # the usual one
    phase: str
    title: str  # one line for lists
    title_zh: str = ""  # the same in Chinese
    facts: List[str] = []  # facts without which the rule is skipped: "target", "accelerator.gpus"
    # "installed" environments, the packages that requirement files have "asked" for, or the
    # "changes" that a report proposes
    judges: Tuple[str, ...] = ("installed",)
    # all that it can be told with in an environment, gravest first, where they are several
    severities: Tuple[str, ...] = ()
    # for a finding of interfaces that builds no longer have, as the tables of matrices/platform/
    # removed.yaml name it: the severity with which their uses in a project's sources are told
    interfaces: str = ""
    words: Words = {}
    body: str = ""
    body_zh: str = ""
    module: str = ""  # the rule's module, empty for a page of relation findings

    @property
    def is_rule(self) -> bool:
        """Whether it is of a rule, with a module of its own or that of removed interfaces."""
        return bool(self.module or self.interfaces)

    def title_in(self, language: str) -> str:
        """The title; the English one where the language has none."""
        return (self.title_zh if language == CHINESE else "") or self.title

    def body_in(self, language: str) -> str:
        """The body; the English one where the language has none."""
        return (self.body_zh if language == CHINESE else "") or self.body


def pages() -> Dict[str, Page]:
    """Every page by code, in the order of the codes. Raises DocumentError."""
    sources = [(path.name, path.read_bytes()) for path in sorted(_HERE.glob("ED*.md"))]
    modules = [(path.name, b"") for path in sorted(_HERE.glob("ED*.py"))]
    return cached("pages", sources + modules, [Path(__file__)], Dict[str, Page], _decode)


def _decode(texts: Dict[str, str]) -> Dict[str, Page]:
    found = {}
    for name, text in texts.items():
        if not name.endswith(".md"):
            continue
        match = _NAME.fullmatch(name)
        if match is None:
            raise DocumentError(f"{name}: a page is called ED123_name.md")
        head, matter, body = ([*text.split("---\n", 2), "", ""])[:3]
        if head or not matter:
            raise DocumentError(f"{name}: a page begins with front matter between lines of ---")
        page = Document(name, matter).decode(Page)
        if not page.severities:
            page = msgspec.structs.replace(page, severities=(page.severity,))
        if page.code != match.group(1) or page.name != match.group(2).replace("_", "-"):
            raise DocumentError(f"{name}: code and name are not those of the file name")
        stem = name[: -len(".md")]
        module = stem if f"{stem}.py" in texts else ""
        english, _, chinese = body.partition(_CHINESE)
        found[page.code] = msgspec.structs.replace(
            page, body=_whole(english), body_zh=_whole(chinese), module=module
        )
    return found


def _whole(text: str) -> str:
    stripped = text.strip()
    return stripped + "\n" if stripped else ""
