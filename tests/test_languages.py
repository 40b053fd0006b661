"""Every text that a user can see exists in English and in Chinese, and says the same in both."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple, Union

import click
import pytest

import envdoctor
from envdoctor.commands.cli import cli
from envdoctor.facts.snapshot import load as load_facts
from envdoctor.knowledge.failures import Failure, failures
from envdoctor.knowledge.load import load
from envdoctor.model.chinese import SAID, WRITTEN
from envdoctor.model.finding import PHASES, SEVERITIES
from envdoctor.model.language import CHINESE, ENGLISH, count, preferred, say, translate
from envdoctor.model.relation import BASES, Relation, Words
from envdoctor.model.text import fields
from envdoctor.relations.components import DOTTED
from envdoctor.report import words
from envdoctor.report.view import View
from envdoctor.resolver.overview import NEW, NOT_AS_PINNED, NOT_JUDGED, READY, UNKNOWN
from envdoctor.rules.page import Page, _decode, pages

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "envdoctor"
PAGES = list(pages().values())
RELATIONS = list(load().relations)
HEADINGS = ["症状", "原因", "解决", "自查", "来源"]

HAN = "\u3400-\u9fff"
# What stands for a field when a template is tried: some are numbers.
SAMPLE = "7000{}"


# --- the choice ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "zh_CN.utf8@pinyin"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zha"}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_CTYPE": "C.UTF-8"}, "zh"),  # as Python coerces it
        ({"LANG": "zh_CN.GBK"}, "en"),
        ({"LANG": "zh_CN"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "en_US.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.ISO-8859-1", "LC_MESSAGES": "zh_CN.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_CTYPE": "C"}, "en"),
        ({"LANG": "C", "ENVDOCTOR_LANG": "zh"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "ENVDOCTOR_LANG": "en"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "ENVDOCTOR_LANG": ""}, "zh"),
    ],
    ids=str,
)
def test_what_variables_ask_for(environ: Dict[str, str], language: str) -> None:
    assert preferred(environ) == language


# --- the catalogue ---------------------------------------------------------------------------


@pytest.mark.parametrize("catalogue", [SAID, WRITTEN], ids=["SAID", "WRITTEN"])
def test_templates_have_the_same_fields(catalogue: Dict[str, str]) -> None:
    other = [text for text, zh in catalogue.items() if sorted(fields(text)) != sorted(fields(zh))]
    assert other == []


def unevenly_set(text: str) -> List[str]:
    """Where Chinese stands against Latin without a space, or before a half-width mark."""
    plain = re.sub(r"`[^`]*`", "`", text)
    return re.findall(
        rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]|[{HAN}][,;:!?](?![A-Za-z0-9/])|[{HAN}] ?\(", plain
    )


@pytest.mark.parametrize("catalogue", [SAID, WRITTEN], ids=["SAID", "WRITTEN"])
def test_chinese_is_set_as_chinese(catalogue: Dict[str, str]) -> None:
    assert {zh: found for zh in catalogue.values() for found in [unevenly_set(zh)] if found} == {}


def test_written_templates_are_telling() -> None:
    """What is recognized by its words has some: else names and versions would be taken for it."""
    between = {text: re.sub(r"\{[^{}]*\}", " ", text) for text in WRITTEN if fields(text)}
    vague = [text for text, said in between.items() if not re.search(r"[a-z]{2,}|\): ", said)]
    assert vague == []


def test_said_and_counted() -> None:
    assert say(ENGLISH, "Ruled out: {names}.", names="a, {b}") == "Ruled out: a, {b}."
    assert say(CHINESE, "Ruled out: {names}.", names="a、{b}") == "已排除：a、{b}。"
    assert count(ENGLISH, 1, "{number} error", "{number} errors") == "1 error"
    assert count(ENGLISH, 0, "{number} error", "{number} errors") == "0 errors"
    assert count(CHINESE, 2, "{number} error", "{number} errors") == "2 个错误"


def test_no_space_stands_between_chinese_characters() -> None:
    assert say(CHINESE, "{fact} is unknown", fact="torch") == "torch 未知"
    assert say(CHINESE, "{fact} is unknown", fact="显卡") == "显卡未知"
    assert say(CHINESE, "install {package}", package="/张 三/torch") == "安装 /张 三/torch"
    assert say(CHINESE, "{package} is {build}", package="a", build="从源码安装的") == (
        "a 是从源码安装的"
    )
    assert say(ENGLISH, "{fact} is unknown", fact="显卡") == "显卡 is unknown"


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("nvidia-smi: took longer than 10 s", "nvidia-smi：超过 10 秒未完成"),
        (
            "NVML: no libnvidia-ml.so.1; libcuda: no libcuda.so.1",
            "NVML：没有 libnvidia-ml.so.1；libcuda：没有 libcuda.so.1",
        ),
        (
            "/a/py (python3 on PATH; CONDA_PREFIX is envdoctor's own environment): exit status 1",
            "/a/py（PATH 中的 python3；CONDA_PREFIX 是 envdoctor 自身的环境）：退出码 1",
        ),
        ("r.txt:2: not understood: a; b", "r.txt:2：无法理解：a; b"),
        ("a text that nobody knows", "a text that nobody knows"),
        ("2.4.1+cu121", "2.4.1+cu121"),
        ("nvcc on PATH", "PATH 中的 nvcc"),
        ("nvcc is not on PATH", "nvcc is not on PATH"),
        ("pip list, line 12", "pip list 第 12 行"),
        ("pip list, line of it", "pip list, line of it"),
        ("took longer than  s", "took longer than  s"),  # a field is never empty
        ("", ""),
    ],
)
def test_finished_texts_are_translated(english: str, chinese: str) -> None:
    assert translate(CHINESE, english) == chinese
    assert translate(ENGLISH, english) == english


def test_what_strangers_wrote_is_no_template() -> None:
    assert translate(CHINESE, "{path} has no metadata that tells its version") == (
        "{path} 没有说明其版本的元数据"
    )
    for hostile in ("; " * 3000, ": ; " * 2000, "(by " * 2000, "x" * 20_000):
        assert translate(CHINESE, hostile)


# --- the code --------------------------------------------------------------------------------

#: Modules of which no text reaches a user: what they say is for whoever writes matrices or rules,
#: or gets a report of a fault of envdoctor's own.
FOR_CONTRIBUTORS = (
    "commands/crash.py",
    "containers/apply_patches.py",  # the log of an image's build
    "containers/dockerfile.py",  # a Dockerfile and its comments, English as all of it
    "containers/reasons.py",
    "knowledge/",
    "model/",
    "relations/expression.py",
    "rules/added.py",
    "rules/page.py",
    "rules/rule.py",
)
#: What readers of reports and logs look for, not what is said: there only reasons and errors are.
READERS = ("actions/said.py", "diagnosis/", "facts/pasted/", "facts/nvidia_smi.py")
SAYERS = {"unseen", "ReportError", "Unknown", "say"}
#: Commands, styles and what is looked for in texts of others: the same in every language.
COMMANDS = re.compile(
    r"(?:import|conda|pip|docker|srun|envdoctor|rm|apt-get|dnf|sudo|unset|ip|ldconfig|clang|gcc|nvcc"
    r"|torch|bold|not bold|-m|--[a-z-]+)"
    r"(?: |$)"
)
NOT_SAID = {
    "# -*- coding: utf-8 -*-",
    '"$python" -m pip install',
    "def f(a, /)",
    "antigravity idlelib lib2to3 test this turtle turtledemo",
    "Unknown option: -I",
    "cannot open shared object file",
    "torch._C import",
    "undefined symbol",
    "(you have ",
    "changes sys.path by code",
    "cannot be listed",
    "only the environment's site-packages was read",
    "holds metadata of",
    "not in",
    "device node",
    "libcuda (cuDriverGetVersion), ",
    "the matrices do not know ",
    "version.py names ",
    "module  has no attribute ",
    "language is one of , not ",  # to a programmer
    "envdoctor: ",
    "libcuda: ",
    "nvidia-smi: ",
    "  torch ",
    " and ",  # of paths
    "Generator: envdoctor",  # of a wheel
    "Root-Is-Purelib: true",
    "Tag: py3-none-any",
    "python python3 pip pip3 torchrun ninja mim accelerate deepspeed",
    "python_version  ''",
    "warning  ",  # ids of requirements
    "patch ",
}
#: Texts that are always a part of a longer one, each with one that holds it.
PARTS = {
    " and cannot be killed": "took longer than 1 s and cannot be killed",
    ", CUDA_VISIBLE_DEVICES taken in the order of the PCI bus": (
        "NVML, CUDA_VISIBLE_DEVICES taken in the order of the PCI bus"
    ),
    " and no ": "METADATA has no Name and no Version",
    " or more": "without a, b (+3 or more)",
    " is , ": "VIRTUAL_ENV is /a, which holds no bin/python that can be run",
    "which holds no bin/python that can be run": (
        "--env names /a, which holds no bin/python that can be run"
    ),
    "whose bin/python is a link to , which does not exist": (
        "--env names /a, whose bin/python is a link to /b, which does not exist"
    ),
    "--env names , ": "--env names /a, which holds no bin/python that can be run",
    "; it ": "is no Python, or none that can be started; it gave no readable answer: no JSON",
    "does not tell its version": "/a/bin/nvcc (by CUDA_HOME) does not tell its version",
    "/bin/nvcc (by ) ": "/a/bin/nvcc (by CUDA_HOME) does not tell its version",
    "gpu=: neither a known GPU nor an architecture like sm_90 (all: --gpu help)": (
        "gpu='a': neither a known GPU nor an architecture like sm_90; nearest: a100, a10 "
        "(all: --gpu help)"
    ),
}


def literals(tree: ast.AST) -> Iterator[ast.AST]:
    """Literals of text, less docstrings and what stands inside of a formatted one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.JoinedStr):
            yield node
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    yield from literals(part)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node
        elif isinstance(node, ast.arg):
            continue  # an annotation
        elif isinstance(node, ast.FunctionDef):
            for part in [*node.decorator_list, node.args, *node.body]:
                yield from literals(ast.Module([part] if isinstance(part, ast.stmt) else [], []))
                if not isinstance(part, ast.stmt):
                    yield from literals(part)
        elif isinstance(node, ast.AnnAssign):
            yield from literals(ast.Expression(node.value or ast.Constant(0)))
        else:
            yield from literals(node)


def tried(node: ast.AST) -> str:
    """A literal with a sample in place of each value that it is formatted with."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    texts = [
        str(part.value) if isinstance(part, ast.Constant) else SAMPLE.format(number)
        for number, part in enumerate(parts)
    ]
    return "".join(texts)


def is_prose(text: str) -> bool:
    """Whether a literal may be words for people: a small letter of a word after a space, or so."""
    if "\\" in text or "\n" in text or COMMANDS.match(text):
        return False
    word = re.search(r"(?:^|[ ;])[a-z]{2,}", without_samples(text))
    return bool(word and re.search(r"[A-Za-z0-9,;:)'] +[a-z7]|^ ?[a-z]{2,} $|^; [a-z]", text))


def without_samples(text: str) -> str:
    return re.sub(SAMPLE.format(r"\d+"), "", text)


def texts() -> Iterator[Tuple[str, str]]:
    """What the code says: where, and the text."""
    for path in sorted(PACKAGE.rglob("*.py")):
        module = str(path.relative_to(PACKAGE))
        if module.startswith(FOR_CONTRIBUTORS):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts: List[ast.AST] = [tree]
        if module.startswith(READERS):
            calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
            parts = [c for c in calls if getattr(c.func, "id", "") in SAYERS]
        for part in parts:
            for node in literals(part):
                text = tried(node)
                if is_prose(text):
                    yield f"envdoctor/{module}:{getattr(node, 'lineno', 0)}", text


def known(text: str) -> bool:
    bare = without_samples(text)
    if text in SAID or bare in NOT_SAID:
        return True
    if bare in PARTS:
        return translate(CHINESE, PARTS[bare]) != PARTS[bare]
    clause = text.strip(" ;,").rstrip(":")
    told = translate(CHINESE, clause)
    samples = re.findall(SAMPLE.format(r"\d+"), clause)
    return told != clause and all(sample in told for sample in samples)


def test_every_text_of_the_code_is_there_in_chinese() -> None:
    """A text that the code says in a language is to stand in SAID of `envdoctor/model/chinese.py`.

    One that is finished in English (reasons, errors, help) stands in WRITTEN. NOT_SAID and PARTS
    above hold what is neither.
    """
    missing = [(where, text) for where, text in texts() if not known(text)]
    assert missing == []


def test_small_texts_are_there_in_chinese() -> None:
    wanted: Set[str] = {*SEVERITIES, *PHASES, *map(str.upper, PHASES), *BASES}
    wanted |= {" or ".join(page.severities) for page in PAGES}
    wanted |= {READY, NEW, NOT_AS_PINNED, UNKNOWN, NOT_JUDGED}
    assert wanted - set(SAID) == set()
    names = {"glibc", "libstdc++", "gcc", "clang", "cuDNN", "Jetson Linux (L4T)"}
    assert set(DOTTED.values()) - set(WRITTEN) == names


def helped(command: click.Command) -> Iterator[str]:
    """The texts of a command's help."""
    yield from re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))
    if command.short_help:
        yield command.short_help
    for option in command.params:
        if isinstance(option, click.Option) and option.help:
            yield option.help


@pytest.mark.parametrize("name", ["", *cli.list_commands(click.Context(cli))])
def test_help_is_there_in_chinese(name: str) -> None:
    command = cli.get_command(click.Context(cli), name) if name else cli
    assert command is not None
    told = [" ".join(text.split()) for text in helped(command)]
    assert [text for text in told if translate(CHINESE, text) == text] == []


#: Reports of environments that people have, on which many rules speak or say why they do not.
REPORTS = [
    *sorted((ROOT / "tests/acceptance/fixtures").glob("*.json")),
    *sorted((ROOT / "tests/pasted/reports").glob("*.yaml")),
]
#: Words that stand in sentences, and in no name, version or command of these reports.
ENGLISH_WORDS = re.compile(
    r"(?<![\w/.-])(?:the|of|was|for|is|not|no|none|unknown|from|and|with|which|requires|needs|will"
    r"|on|cannot|or|has|have|are|there|it|its|this)(?![\w/.-])"
)


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("assume", [(), ("gpu=rtx5090", "driver=470")], ids=["as it is", "assumed"])
def test_a_report_in_chinese_has_no_english_sentence(report: Path, assume: Tuple[str, ...]) -> None:
    told = envdoctor.check(facts=report, assume=assume, language="zh")
    sentences = [skipped.reason for skipped in told.skipped]
    for one in told.findings:
        sentences += [one.summary, one.why, *(fix.summary for fix in one.fixes)]
        sentences += [text for e in one.evidence for text in (e.fact, e.value, e.origin)]
    facts = load_facts(str(report))
    sentences += words.target("zh", facts, View()), words.tools("zh", facts)
    sentences += [words.accelerators("zh", facts.accelerator)]
    assert [text for text in sentences if ENGLISH_WORDS.search(text)] == []


# --- pages and relations ---------------------------------------------------------------------


def sections(body: str) -> Dict[str, str]:
    parts = re.split(r"^## (.*)$\n", body, flags=re.MULTILINE)
    assert parts[0].strip() == ""
    return dict(zip(parts[1::2], parts[2::2]))


def named(one: Union[Page, Relation]) -> str:
    return one.code if isinstance(one, Page) else one.id


def same_words(templates: Words) -> None:
    """The Chinese templates have the parts and the fields of the English ones, and no other."""
    english, chinese = templates.get("en", {}), templates.get("zh", {})
    assert set(chinese) == set(english), "words: zh: has the keys of en:"
    assert [found for text in chinese.values() for found in unevenly_set(text)] == []
    for part, template in english.items():
        assert set(fields(chinese[part])) == set(fields(template)), part
        assert not chinese[part].endswith(("。", ".", " ")), f"{part}: a clause, no full stop"


def example() -> Page:
    """The page that CONTRIBUTING.md shows how to write."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (page,) = re.findall(r"```markdown\n(.*?)\n```", text, re.DOTALL)
    return _decode({"ED123_old_pip.md": page})["ED123"]


@pytest.mark.parametrize("page", [*PAGES, example()], ids=named)
def test_a_page_is_there_in_chinese(page: Page) -> None:
    where = f"envdoctor/rules/{page.code}_{page.name.replace('-', '_')}.md"
    assert re.search(f"[{HAN}]", page.title_zh), f"{where}: title_zh: is missing"
    english, chinese = sections(page.body), sections(page.body_zh)
    assert list(chinese) == HEADINGS, f"{where}: after the line `# 中文` stand these headings"
    for heading, text in zip(HEADINGS, english.values()):
        assert chinese[heading].strip(), f"{where}: ## {heading}: is empty"
        if heading == "来源":
            listed = re.compile(r"^- ", re.MULTILINE)
            assert len(listed.findall(chinese[heading])) == len(listed.findall(text)), where


@pytest.mark.parametrize("page", [*PAGES, example()], ids=named)
def test_words_of_a_page_are_there_in_chinese(page: Page) -> None:
    same_words(page.words)


@pytest.mark.parametrize("relation", RELATIONS, ids=named)
def test_words_of_a_relation_are_there_in_chinese(relation: Relation) -> None:
    same_words(relation.words)


# --- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", failures().values(), ids=lambda failure: failure.cause)
def test_words_of_a_failure_are_there_in_chinese(failure: Failure) -> None:
    for templates in (failure.words, *(sign.words for sign in failure.signs if sign.words)):
        same_words(templates)
    for cure in failure.fixes:
        same_words({language: {"fix": text} for language, text in cure.words.items()})
    chinese = [failure.title_zh, *failure.words["zh"].values()]
    chinese += [cure.words["zh"] for cure in failure.fixes]
    assert [text for text in chinese if text and not re.search(f"[{HAN}]", text)] == []
    assert unevenly_set(failure.title_zh) == []
