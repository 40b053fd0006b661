"""Laws of the repository as a whole: what no file may hold, and that its texts name what exists."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Iterator, List, Set

import pytest

from envdoctor.rules.page import pages

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "envdoctor" / "rules"

# Written in parts, so that this file does not hold what it forbids.
FORBIDDEN = {
    "a path of the machine it was written on": "|".join(
        [
            r"/work" + r"/\w",
            r"\.\./" + r"shared/",
            r"/root/\.(py" + r"env|venvs)\b",
            r"/opt/(py" + r"pi|wheels)\b",
        ]
    ),
    "a package registry's host": "|".join(
        [
            r"\bpypi" + r"\.org\b",
            r"\bpython" + r"hosted\.org\b",
            r"\bregistry\.npm" + r"js\.(org|com)\b",
            r"\bdeb\.debian" + r"\.org\b",
        ]
    ),
    "a secret": "|".join(
        [
            r"\bgh[pousr]" + r"_\w{36}\b",
            r"\bgithub" + r"_pat_\w{20}",
            r"\bglp" + r"at-[\w-]{20}",
            r"\bAKIA" + r"[0-9A-Z]{16}\b",
            r"-----BEGIN [A-Z ]*PRIVATE" + r" KEY-----",
        ]
    ),
}
GENERATED = re.compile(r"\.git|\.venv.*|\..*_cache|\.hypothesis|__pycache__|.*\.egg-info")


def files() -> Iterator[Path]:
    """Every file of the repository; what tools generate is left out."""
    for folder, folders, names in os.walk(str(ROOT)):
        folders[:] = [name for name in folders if not GENERATED.fullmatch(name)]
        for name in names:
            if not GENERATED.fullmatch(name):
                yield Path(folder, name)


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found: List[str] = []
    for path in files():
        text = path.read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}")
    assert not found


RULE_FILES = sorted(RULES.glob("ED*"))


def stems(suffix: str) -> Set[str]:
    return {path.stem for path in RULE_FILES if path.suffix == suffix}


def test_every_rule_has_its_page() -> None:
    # A page alone is that of a finding of relations.
    assert stems(".py")
    missing = stems(".py") - stems(".md")
    assert missing == set(), "envdoctor/rules/: a rule needs a page .md of the same name"


def test_every_case_file_is_of_a_rule() -> None:
    cases = {path.stem for path in (ROOT / "tests" / "rules" / "cases").iterdir()}
    rules = {code for code, page in pages().items() if page.is_rule}
    assert cases <= rules, "no rule has that code"


def test_rule_files_are_named_by_code_and_name() -> None:
    wrong = [
        path.name
        for path in RULE_FILES
        if not re.fullmatch(r"ED[0-9]{3}_[a-z0-9]+(_[a-z0-9]+)*\.(py|md)", path.name)
    ]
    assert wrong == [], "envdoctor/rules/: files are called ED123_some_name.py and .md"


def test_a_code_has_one_name() -> None:
    names = sorted(stems(".py") | stems(".md"))
    codes = [name.partition("_")[0] for name in names]
    twice = [name for name, code in zip(names, codes) if codes.count(code) > 1]
    assert twice == [], "envdoctor/rules/: these codes are taken; choose a free one"


def quoted_commands(page: str) -> List[List[str]]:
    """The commands in the `sh` blocks of a page and in its inline code, less variables set."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [
        line.lstrip("$ ")
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    lines += re.findall(r"`((?:[A-Z_]+=\S+ )*(?:\./|envdoctor |python -m )[^`]*)`", text)
    lines = [re.sub(r"^([A-Z_]+=\S+ +)+", "", line) for line in lines]
    split = [shlex.split(line, comments=True) for line in lines]
    # What stands behind "--" is another's command.
    return [words[: words.index("--")] if "--" in words else words for words in split if words]


PAGES = ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_quoted_scripts_and_modules_exist(page: str) -> None:
    commands = quoted_commands(page)
    assert commands
    for words in commands:
        if words[0].startswith("./"):
            script = ROOT / words[0]
            assert script.is_file(), words
            assert os.access(str(script), os.X_OK), words
        elif words[:2] == ["python", "-m"] and words[2].startswith("benchmarks"):
            module = ROOT / words[2].replace(".", "/")
            assert module.with_suffix(".py").is_file() or module.is_dir(), words


@pytest.mark.parametrize("page", PAGES)
def test_quoted_subcommands_and_options_exist(page: str) -> None:
    quoted = [
        words[1:]
        for words in quoted_commands(page)
        if words[0] in ("envdoctor", "./scripts/envdoctor") and len(words) > 1
    ]
    for subcommand in sorted({words[0] for words in quoted}):
        done = subprocess.run(
            [sys.executable, "-m", "envdoctor", subcommand, "--help"],
            cwd=str(ROOT),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        known = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", done.stdout))
        assert "--help" in known
        used = {
            word.partition("=")[0]
            for words in quoted
            if words[0] == subcommand
            for word in words[1:]
            if word.startswith("-")
        }
        assert used <= known, (subcommand, used - known)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which the commands of the pages can be typed: it has the files that they name."""
    commands = {"envdoctor": f'exec {sys.executable} -m envdoctor "$@"', "xclip": "cat report.txt"}
    commands["pip"] = "cat build.log; exit 1"  # what others run is not run here
    for name, command in commands.items():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        path.chmod(0o755)
    venv.create(str(tmp_path / "env"), symlinks=True, with_pip=False)
    (tmp_path / "MapTR").mkdir()
    (tmp_path / "build.log").write_text("error: command 'gcc' failed\n", encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("torch==2.4.1\n", encoding="utf-8")
    shutil.copy(sys.executable, str(tmp_path / "libtorch.so"))
    with zipfile.ZipFile(tmp_path / "mmcv.whl", "w") as archive:
        archive.writestr("mmcv/__init__.py", "")
    (tmp_path / "report.txt").write_text(
        "$ pip list\ntorch 2.4.1\nnumpy 1.26.4\n", encoding="utf-8"
    )
    return tmp_path


TYPED = ["README.md", "docs/reports.md", "docs/requirements.md"]


@pytest.mark.parametrize("page", TYPED)
def test_quoted_commands_run(page: str, home: Path) -> None:
    """One after the other, as a reader types them; scripts of a clone have tests of their own."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    typed = [line for line in lines if "envdoctor" in line and not line.startswith("./")]
    assert typed
    for line in typed:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=str(home),
            env={"HOME": str(home), "PATH": f"{home}/bin:{home}/env/bin:/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in (0, 1), (line, done.stderr)
        assert "Traceback" not in done.stderr, line
        assert done.stdout or " -o " in line, line


DOCS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))


def anchors(page: Path) -> Set[str]:
    """What links may name of a page: its headings, as GitHub spells them."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *DOCS, "CHANGELOG.md", "tests/acceptance/README.md"])
def test_links_to_files_lead_somewhere(page: str) -> None:
    here = ROOT / page
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)", here.read_text(encoding="utf-8")):
        if "://" not in link:
            path, _, anchor = link.partition("#")
            there = here.parent / path if path else here
            if not there.exists() or (anchor and anchor not in anchors(there)):
                broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", [*PAGES, *DOCS])
def test_quoted_paths_and_codes_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    tops = "benchmarks|docs|envdoctor|images|matrices|scripts|tests"
    paths = re.findall(rf"`((?:{tops})/[\w./-]*)`", text)
    # ED123 and NAME stand for any, and the wheel's own folders are made when it is built.
    missing = [
        path
        for path in paths
        if not re.search("ED123|NAME", path)
        and not path.startswith("envdoctor/data")
        and not (ROOT / path).exists()
    ]
    assert not missing
    codes = {path.name.partition("_")[0] for path in RULE_FILES}
    assert set(re.findall(r"\bED[0-9]{3}\b", text)) - {"ED123"} <= codes


def test_the_layers_that_are_told_are_those_that_are_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("\n## Layers\n")[2].partition("\n## ")[0]
    table = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    chain = re.findall(r"`(\w+)`", section.partition("Imports go one way: ")[2].partition(";")[0])
    folders = {path.parent.name for path in (ROOT / "envdoctor").glob("*/__init__.py")}
    assert sorted(table) == sorted(chain) == sorted(folders)


def test_a_page_that_speaks_of_commands_names_those_there_are() -> None:
    modules = (ROOT / "envdoctor" / "commands").glob("*.py")
    known = {path.stem.replace("_", "-") for path in modules}
    for page in [*PAGES, *DOCS]:
        text = (ROOT / page).read_text(encoding="utf-8")
        named = set(re.findall(r"`(?:\$ )?envdoctor ([a-z-]+)\b", text))
        assert named <= known, page
