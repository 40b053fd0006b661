"""Laws of the pages: each is whole, and relations and pages name each other.

What a page holds is said in CONTRIBUTING.md, "A rule". The example there obeys the laws, too.
"""

from __future__ import annotations

import ast
import inspect
import re
import types
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple, get_type_hints

import pytest
from rule_cases import facts_of

from envdoctor.knowledge.document import Document
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.facts import Accelerator, Facts, Machine, Observed, Target, Tools
from envdoctor.model.finding import PHASES, SEVERITIES, Finding
from envdoctor.model.relation import Relation
from envdoctor.model.text import fields
from envdoctor.relations.observe import observe
from envdoctor.relations.removed import ADDED, REMOVED
from envdoctor.rules import linked
from envdoctor.rules.examination import FACTS, finding_of
from envdoctor.rules.page import Page, _decode, pages
from envdoctor.rules.rule import Context

ROOT = Path(__file__).resolve().parents[2]
PAGES = list(pages().values())
RULES = [page for page in PAGES if page.is_rule]
CODED = [page for page in PAGES if page.module]
ALONE = [page for page in PAGES if not page.is_rule]
#: Those that tell binaries which do not load.
OF_BINARIES = {*linked.OWN, *linked.SHARED}
#: The headings of a page in their order, and how many words stand at least under each. The least
#: that any page has is a little more: fewer explain nothing.
HEADINGS = {"Symptom": 6, "Why": 25, "Fix": 8, "Check yourself": 4, "Sources": 4}
#: Which codes are of what, as CONTRIBUTING.md says.
HUNDREDS = "123456"
# A command has an argument; statements of Python are not typed into a shell.
COMMAND = re.compile(r"(?!import |from |print)[\w\"$./:{}+-]+\s+\S")


def named(page: Page) -> str:
    return page.code


def file_of(page: Page) -> str:
    return f"envdoctor/rules/{page.code}_{page.name.replace('-', '_')}.md"


def _rank(severity: str) -> int:
    return -SEVERITIES.index(severity) if severity in SEVERITIES else 1


def sections(page: Page) -> Dict[str, str]:
    """The text under each heading."""
    parts = re.split(r"^## (.*)$\n", page.body, flags=re.MULTILINE)
    assert parts[0].strip() == "", f"{file_of(page)}: text stands before the first heading"
    wanted = ", ".join(f"## {heading}" for heading in HEADINGS)
    assert parts[1::2] == list(HEADINGS), f"{file_of(page)}: its headings are to be {wanted}"
    return dict(zip(parts[1::2], parts[2::2]))


def shortcomings(page: Page) -> Iterator[str]:
    """What a page lacks, each as a sentence that says what to write where."""
    for name, allowed in (("severity", SEVERITIES), ("phase", PHASES)):
        if getattr(page, name) not in allowed:
            yield f"{name}: is one of {', '.join(allowed)}"
    if page.severity not in page.severities or not set(page.severities) <= set(SEVERITIES):
        yield "severities: lists all that the finding can have, severity: among them"
    if list(page.severities) != sorted(page.severities, key=_rank):
        yield "severities: begins with the gravest"
    if page.code[2] not in HUNDREDS:
        yield f"code: its hundreds are one of {', '.join(HUNDREDS)}, see CONTRIBUTING.md"
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", page.name):
        yield "name: is lower case, its words joined by -"
    if not 10 < len(page.title) <= 80 or page.title.endswith("."):
        yield "title: is one line of 11 to 80 characters without a full stop"
    found = sections(page)
    for heading, least in HEADINGS.items():
        words = len(found[heading].split())
        if words < least:
            yield f"## {heading}: has {words} words, {least} are the least that explain anything"
    if "`" not in found["Symptom"]:
        yield "## Symptom: quotes the message in backticks, as it is printed"
    if not any(COMMAND.match(code) for code in re.findall(r"`([^`]+)`", found["Check yourself"])):
        yield "## Check yourself: needs a command in backticks that shows it (`nvcc --version`)"
    text = found["Sources"].strip()
    if not all(line.startswith(("- ", "  ")) for line in text.splitlines()):
        yield '## Sources: is a list of lines "- what was read, and where in it"'
    if any(len(item.split()) < 2 for item in re.split(r"(?m)^- ", text)[1:]):
        yield "## Sources: an item of one word cannot be looked up"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_is_whole(page: Page) -> None:
    assert [f"{file_of(page)}: {lack}" for lack in shortcomings(page)] == []


def example() -> Dict[str, str]:
    """The files of the example in CONTRIBUTING.md by their names."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = r"`([\w/]+ED123\w*\.\w+)`[^`]*(?:`[^`\n]+`[^`]*)?:\n\n```\w+\n(.*?)\n```"
    return {name: f"{block}\n" for name, block in re.findall(named, text, re.DOTALL)}


def example_page() -> Page:
    (name, text), *_ = [(n, t) for n, t in example().items() if n.endswith(".md")]
    return _decode({Path(name).name: text})["ED123"]


@pytest.mark.parametrize(
    ("place", "text", "lack"),
    [
        ("## Symptom", "Odd.", "## Symptom: has 1 words"),
        ("## Symptom", "A source build starts where a wheel was.", "## Symptom: quotes"),
        ("## Why", "It is too old.", "## Why: has 4 words"),
        ("## Fix", "Upgrade it.", "## Fix: has 2 words"),
        ("## Check yourself", "Look at the version of pip.", "## Check yourself: needs"),
        ("## Check yourself", "Look at what `pip` says there.", "## Check yourself: needs"),
        ("## Check yourself", "Try `import pip` in that Python.", "## Check yourself: needs"),
        ("## Sources", "PEP 599, and the changelog of pip", "## Sources: is a list"),
        ("## Sources", "- pip\n- PEP 599 and others", "## Sources: an item of one word"),
        ("severity", "grave", "severity: is one of"),
        ("severity", "warning\nseverities: [error]", "severities: lists"),
        ("severity", "warning\nseverities: [info, warning]", "severities: begins"),
        ("phase", "installation", "phase: is one of"),
        ("title", "Odd", "title: is one line"),
    ],
)
def test_what_a_page_lacks_is_said(place: str, text: str, lack: str) -> None:
    ((name, page),) = [(n, t) for n, t in example().items() if n.endswith(".md")]
    if place.startswith("#"):
        changed = re.sub(rf"(?s)(\n{place}\n).*?(?=\n##? |\Z)", rf"\1{text}\n", page)
    else:
        changed = re.sub(rf"(?m)^{place}: .*", f"{place}: {text}", page)
    said = list(shortcomings(_decode({Path(name).name: changed})["ED123"]))
    assert [one for one in said if one.startswith(lack)], said


def test_names_are_unique() -> None:
    names = [page.name for page in PAGES]
    assert [name for name in sorted(set(names)) if names.count(name) > 1] == []


def fact_names() -> List[str]:
    """What `facts:` may hold: what is observed one by one, and the parts of the target."""
    observed = [
        f"{part}.{name}"
        for part, record in (("machine", Machine), ("accelerator", Accelerator), ("tools", Tools))
        for name, kind in get_type_hints(record).items()
        if getattr(kind, "__origin__", None) is Observed
    ]
    return ["target", "projects", *observed, *(f"target.{name}" for name in get_type_hints(Target))]


@pytest.mark.parametrize("page", RULES, ids=named)
def test_a_rule_has_words_and_the_facts_it_needs_exist(page: Page) -> None:
    where = file_of(page)
    assert "en" in page.words, f"{where}: words: en: is missing"
    for words in page.words.values():
        assert {"summary", "why", "fix"} <= set(words), f"{where}: words: summary, why and fix"
        for name, template in words.items():
            assert name.partition("_")[0] in ("summary", "why", "fix"), f"{where}: {name}"
            assert not template.endswith((".", " ")), f"{where}: {name}: a clause, no full stop"
            assert all(re.fullmatch(r"[a-z]+", field) for field in fields(template)), (
                f"{where}: {name}: {{fields}} are lower case, and those of the Fault"
            )
    known = fact_names()
    unknown = [name for name in page.facts if name not in known]
    assert unknown == [], f"{where}: facts: {unknown} are none of {', '.join(known)}"


@pytest.mark.parametrize("page", RULES, ids=named)
def test_every_language_says_the_same_things(page: Page) -> None:
    english = {name: set(fields(text)) for name, text in page.words["en"].items()}
    for words in page.words.values():
        assert {name: set(fields(text)) for name, text in words.items()} == english


@pytest.mark.parametrize("page", CODED, ids=named)
def test_a_rule_reads_facts_and_nothing_of_this_machine(page: Page) -> None:
    module = __import__(f"envdoctor.rules.{page.module}", fromlist=["examine"])
    assert list(inspect.signature(module.examine).parameters) == ["context"]
    source = inspect.getsource(module)
    assert not re.search(
        r"^\s*(?:import|from) (?:os|sys|subprocess|platform|glob)\b", source, re.MULTILINE
    ), f"envdoctor/rules/{page.module}.py: a rule reads facts, nothing of this machine"
    assert "open(" not in source


@pytest.mark.parametrize("page", ALONE, ids=named)
def test_a_page_without_a_rule_leaves_words_to_relations(page: Page) -> None:
    said = f"{file_of(page)}: there is no module of that name, so relations bring words and facts"
    assert page.name in OF_BINARIES or page.words == {}, said
    assert page.facts == [], said


def told_by_relations() -> Iterator[Tuple[str, Relation]]:
    """The name of each finding that tells of a relation, with the relation."""
    knowledge = load()
    by_id = {relation.id: relation for relation in knowledge.relations}
    for relation in knowledge.relations:
        yield relation.finding, relation
    for package in knowledge.packages.values():
        for identity, finding in package.file.findings.items():
            yield finding, by_id[identity]


TOLD = list(told_by_relations())


def test_every_finding_of_a_relation_has_its_page() -> None:
    missing = {name for name, _ in TOLD} - {page.name for page in PAGES}
    assert missing == set(), "relations in matrices/ name findings without a page ED123_name.md"


def test_every_page_without_a_rule_is_a_finding_of_a_relation() -> None:
    names = {name for name, _ in TOLD} | OF_BINARIES
    unused = [file_of(page) for page in ALONE if page.name not in names]
    assert unused == [], "pages without a module of that name, and no relation's finding: either"


def severities(page: Page) -> Set[str]:
    """What a finding of that name is told with: by its rule, and by relations."""
    given = set()
    for name, relation in TOLD:
        if name == page.name:
            given.add(relation.severity)
            if relation.phase == "build":
                given.add("warning")  # of what is installed, however it was built
            elif "host.gpu" in f"{relation.condition} {relation.needs}":
                # of an older card beside those that train
                given.add(min("warning", relation.severity, key=SEVERITIES.index))
    if page.module:
        source = (ROOT / "envdoctor" / "rules" / f"{page.module}.py").read_text(encoding="utf-8")
        constants = [n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant)]
        given |= {page.severity, *(s for s in SEVERITIES if s in constants)}
    if page.name in OF_BINARIES:
        given |= {"error", "info"}
    if page.interfaces:
        given |= {page.severity, page.interfaces}
    if page.name in linked.REASONS:
        given.add("error")
    return given


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_names_all_severities(page: Page) -> None:
    given = sorted(severities(page), key=_rank)
    assert list(page.severities) == given, (
        f"{file_of(page)}: its rule or the relations that name it tell {', '.join(given)}: write "
        f"severities: [{', '.join(given)}]"
    )


# --- the example of CONTRIBUTING.md ---------------------------------------------------------------


def examined(facts: Facts, page: Page, source: str, knowledge: Knowledge) -> List[Finding]:
    module = types.ModuleType("ED123")
    exec(compile(source, "CONTRIBUTING.md", "exec"), module.__dict__)
    context = Context(facts, knowledge, observe(facts, knowledge))
    return [finding_of(page, fault, "en") for fault in module.__dict__["examine"](context)]


def test_the_example_of_a_rule_is_one() -> None:
    by_suffix = {Path(name).suffix: text for name, text in example().items()}
    assert set(by_suffix) == {".py", ".md", ".yaml"}
    page = example_page()
    assert list(shortcomings(page)) == []
    assert set(page.facts) <= set(fact_names())
    cases = Document("CONTRIBUTING.md", by_suffix[".yaml"]).data
    knowledge = load()
    for case in cases:
        found = examined(facts_of(case), page, by_suffix[".py"], knowledge)
        assert [f"{f.severity} {f.component}: {f.summary}" for f in found] == (
            case.get("finds") or []
        )
        assert [c for f in found for fix in f.fixes for c in fix.commands] == (
            case.get("commands") or []
        )
        assert all(f.why and f.evidence and f.fixes for f in found)
    assert {bool(case.get("finds")) for case in cases} == {True, False}


def test_facts_that_pages_need_have_words() -> None:
    named = {fact for page in PAGES for fact in page.facts} - {"projects"}  # never told as skipped
    assert named <= set(FACTS)


def test_interfaces_that_builds_no_longer_have_are_told_by_pages() -> None:
    """Each finding that a row of these tables names has such a page, or a module."""
    tables = load().tables
    named_by_rows = {
        str(row["finding"])
        for name, table in tables.items()
        if name.startswith((REMOVED, ADDED))
        for row in table.rows.values()
    }
    told = {page.name for page in PAGES if page.interfaces}
    coded = {page.name for page in CODED}
    assert told <= named_by_rows <= told | coded
    assert all(
        page.interfaces in SEVERITIES and page.facts == ["projects"]
        for page in PAGES
        if page.interfaces
    )
