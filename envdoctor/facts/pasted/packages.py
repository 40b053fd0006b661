"""Lists of packages: those of pip, conda, uv and poetry in all their forms, conda's plans.

A row counts under a heading of such a list, behind the mark of torch's collect_env ("[pip3]"), in a
form that nothing else has (`name==version`), or if it is about a project that is known.
"""

from __future__ import annotations

import re
from typing import List, Optional
from urllib.parse import unquote

from envdoctor.facts.pasted.notes import LISTED, WRITTEN, Notes, Package, place, whole_version
from envdoctor.facts.pasted.projects import PROJECTS
from envdoctor.facts.pasted.text import Line, Pair

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,80}[A-Za-z0-9])?"
_FREEZE = re.compile(
    rf"({_NAME})(?:\[[\w,.-]{{0,80}}\])?\s?===?\s?([\w.!+-]{{1,80}})\s*(?:[;#\\].*|--hash.*)?,?"
)
_DIRECT = re.compile(rf"({_NAME}) @ (\S{{1,600}}?)(?: ?[;#].*)?")
_EDITABLE = re.compile(rf"# Editable .{{0,80}}\(({_NAME})==([\w.!+-]{{1,80}})\)")
_OLD = re.compile(rf"({_NAME}) \(([\w.!+-]{{1,80}})(?:, \S.{{0,300}})?\)")
_EXPORT = re.compile(rf"({_NAME})=([\w.!+-]{{1,80}})=([\w.+-]{{1,80}})")
_SPEC = re.compile(r"((?:cudatoolkit|pytorch-cuda|cuda-version))=(\d{1,2}(?:\.\d{1,4}){0,2})")
_PLANNED = re.compile(
    rf"(?:{_NAME}\s+)?([\w./-]{{1,60}})::({_NAME})-([^\s/-]{{1,60}})-([^\s-]{{1,80}})"
)
_FILE = re.compile(
    rf"https?://\S{{1,200}}/([\w.-]{{1,60}})/[\w-]{{1,20}}/({_NAME})-([^\s/-]{{1,60}})-([^\s/-]{{1,80}}?)"
    r"\.(?:conda|tar\.bz2)(?:#\S{0,80})?"
)
#: `uv tree`, "├── torch v2.4.0"; pipdeptree, "- torch [required: Any, installed: 2.4.0]".
_TREE = re.compile(
    rf"(?:[\u2502 ]*[\u251c\u2514]\u2500\u2500 )?({_NAME})(?:\[[\w,.-]{{0,80}}\])?"
    r" v([\w.!+-]{1,80})(?: \(.{0,200}\))?"
)
_REQUIRED = re.compile(
    rf"[\u2502\u251c\u2514\u2500 ]*({_NAME})"
    r" \[required: .{1,80}, installed: ([\w.!+-]{1,80})\]"
)
#: `poetry show`, "torch  (!) 2.2.1  Tensors and Dynamic neural networks".
_DESCRIBED = re.compile(
    rf"({_NAME})\s+(?:\(!\)\s+)?(\d[\w.!+-]{{0,80}})\s{{1,40}}"
    r"(?:\d[\w.!+-]{0,80}\s+)?[A-Z(].{3,300}"
)
#: ultralytics' "torch   ✅ 2.1.0+cu118>=1.8.0".
_CHECKED = re.compile(rf"({_NAME})\s+[\u2705\u274c]\s*(\d[\w.+]{{0,80}})(?:[<>=!~,].{{0,80}})?")
#: The last line of `pip install`, "Successfully installed torch-2.1.2 torchvision-0.16.2".
_INSTALLED = "Successfully installed "
_INSTALLED_ONE = re.compile(rf"({_NAME})-(\d[\w.!+]{{0,80}})")
_MEMBER = re.compile(r"\"(name|version|build_string|channel)\": ?\"([^\"]{1,120})\"")
#: How far below a package's name its version stands in `pip show` and in JSON.
_NEAR = 4
_MARKED = re.compile(r"\[(pip3?|conda)\] ?(.*)")
_HEADING = re.compile(r"(?i)#? ?(package|name)\s+version(\s+build(?:\s+channel)?)?(?:\s.{0,60})?")
_RULE = re.compile(r"[-=─━ ]{3,400}")
_BUILD = re.compile(
    r"(?:py|h|cuda|cpu|np|hc|pl|mkl|linux|main|conda)\w*[\w.]*_\d{1,6}|pypi_0|dev_0|<pip>"
)
#: Names of tables of other tools, which are no distributions.
_NO_PACKAGES = {
    "cv2",
    "python",
    "gcc",
    "nvcc",
    "cuda",
    "cudnn",
    "opencv",
    "os",
    "driver",
    "linux",
    "pytorch",
}


def read(pairs: List[Pair], lines: List[Line], notes: Notes) -> None:
    """Note what its lines say."""
    _shown(pairs, notes)
    heading = ""  # of the list that the lines above belong to: "pip" or "conda"
    previous = 0
    for line in lines:
        if heading and line.number > previous + 2:
            heading = ""
        previous = line.number
        match = _HEADING.fullmatch(line.text) if len(line.text) < 200 else None
        if match:
            heading = "conda" if match[2] else "pip"
        elif _RULE.fullmatch(line.text):
            continue
        elif not (
            _marked(line, notes)
            or _plain(line, notes)
            or _row(line, heading, notes)
            or line.text.startswith("#")
        ):
            heading = ""


def _marked(line: Line, notes: Notes) -> bool:
    """A line of torch's collect_env."""
    match = _MARKED.match(line.text)
    if match is None:
        return False
    row = line._replace(text=match[2].strip())
    section = f"collect_env [{match[1]}]"
    if match[1] == "conda":
        _conda(row, section, notes)
    elif not _freeze(row, section, notes):
        _old(row, section, notes)
    return True


def _plain(line: Line, notes: Notes) -> bool:
    """A line whose form says what it is."""
    return (
        _installed(line, notes)
        or _freeze(line, "pip freeze", notes)
        or _direct(line, notes)
        or _export(line, notes)
        or _planned(line, notes)
        or _file(line, notes)
        or _json(line, notes)
        or _tree(line, notes)
    )


def _installed(line: Line, notes: Notes) -> bool:
    """What pip installed; a list says what of it is still there."""
    if not line.text.startswith(_INSTALLED):
        return False
    found = [_INSTALLED_ONE.fullmatch(word) for word in line.text[len(_INSTALLED) :].split()]
    for match in found:
        if match:
            _note(match[1], match[2], line, "pip install", notes, rank=WRITTEN)
    return any(found)


def _shown(pairs: List[Pair], notes: Notes) -> None:
    """`pip show`, and JSON over several lines: a name, its version a few lines below."""
    for position, (line, key, value) in enumerate(pairs):
        if key != "name" or not re.fullmatch(_NAME, value):
            continue
        for below, other, version in pairs[position + 1 : position + 1 + _NEAR]:
            if other == "name" or below.number > line.number + _NEAR:
                break
            if other == "version" and whole_version(version):
                _note(value, version, below, "pip show", notes)
                break


def _json(line: Line, notes: Notes) -> bool:
    """`pip list --format=json` and `conda list --json`, on one line."""
    if '"name"' not in line.text:
        return False
    found = False
    for text in line.text.split("}"):
        members = dict(_MEMBER.findall(text.rpartition("{")[2]))
        name, version = members.get("name", ""), members.get("version", "")
        if not re.fullmatch(_NAME, name) or not whole_version(version):
            continue
        if "build_string" in members:
            build, channel = members["build_string"], members.get("channel", "")
            _conda_package(name, version, build, channel, line, "conda list", notes)
        else:
            _note(name, version, line, "pip list", notes)
        found = True
    return found


def _tree(line: Line, notes: Notes) -> bool:
    match = _TREE.fullmatch(line.text) or _REQUIRED.fullmatch(line.text)
    if match is None or not whole_version(match[2]):
        return False
    if match[0][0].isalnum() and not _known(match[1]):
        return False  # a line of words
    section = "uv tree" if " v" in match[0] else "pipdeptree"
    return _note(match[1], match[2], line, section, notes)


def _row(line: Line, heading: str, notes: Notes) -> bool:
    """A row of a table."""
    if _old(line, "pip list", notes):
        return True
    checked = _CHECKED.fullmatch(line.text)
    if checked:
        return _note(checked[1], checked[2].rstrip("."), line, "yolo checks", notes)
    words = line.text.lstrip("+ ").split()
    described = _DESCRIBED.fullmatch(line.text) if heading == "" and "  " in line.text else None
    if described and _known(described[1]) and "." in described[2]:
        return _note(described[1], described[2], line, "poetry show", notes)
    if len(words) < 2 or not re.fullmatch(_NAME, words[0]) or not whole_version(words[1]):
        return len(words) == 1 and heading != ""
    known = _known(words[0])
    if heading == "conda" or (len(words) in (3, 4, 5) and _BUILD.fullmatch(words[2])):
        return _conda(line._replace(text=line.text.lstrip("+ ")), "conda list", notes)
    if heading == "pip" or (known and len(words) == 2 and words[1][0].isdigit()):
        if "." not in words[1] and heading != "pip":
            return False
        if words[0].lower() in _NO_PACKAGES:
            return heading != ""
        rank = LISTED if heading or "  " in line.text else WRITTEN
        name = words[0] if heading else known
        section = "pip list" if rank == LISTED else "a list by hand"
        return _note(name, words[1], line, section, notes, rank=rank)
    return False


def _known(name: str) -> str:
    return PROJECTS.get(name.lower().replace("_", "-"), "")


def _freeze(line: Line, section: str, notes: Notes) -> bool:
    match = _FREEZE.fullmatch(line.text) or _EDITABLE.match(line.text)
    if match is None or not whole_version(match[2]):
        return False
    return _note(match[1], match[2], line, section, notes)


def _old(line: Line, section: str, notes: Notes) -> bool:
    """`pip list` before pip 10: "torch (1.0.0)"."""
    match = _OLD.fullmatch(line.text)
    if match is None or not re.match(r"\d{1,6}\.\d", match[2]):
        return False
    return _note(match[1], match[2], line, section, notes)


def _direct(line: Line, notes: Notes) -> bool:
    """`name @ url`: the version stands in a wheel's name; of others it is not known."""
    match = _DIRECT.fullmatch(line.text)
    if match is None or ":" not in match[2]:
        return False
    file = unquote(match[2].partition("#")[0].rpartition("/")[2])
    parts = file.split("-")
    if file.endswith(".whl") and len(parts) >= 5 and whole_version(parts[1]):
        url = match[2] if match[2].startswith("http") else ""
        return _note(match[1], parts[1], line, "pip freeze", notes, url=url)
    return True


def _export(line: Line, notes: Notes) -> bool:
    """`conda list --export` and `conda env export`; a plan's requests for CUDA, which it meets."""
    match = _EXPORT.fullmatch(line.text.rpartition(" : ")[2])
    if match and match[1].startswith("__"):
        return _virtual(match[1], match[2], line, notes)
    if match:
        return _conda_package(match[1], match[2], match[3], "", line, "conda export", notes)
    spec = _SPEC.fullmatch(line.text)
    if spec and line.listed:
        return _conda_package(spec[1], spec[2], "", "", line, "conda's specs", notes)
    return False


def _virtual(name: str, version: str, line: Line, notes: Notes) -> bool:
    """Conda's virtual packages say what it found of the machine: "__cuda=12.2=0"."""
    topic = {"__cuda": "serves", "__glibc": "glibc"}.get(name)
    if topic and re.fullmatch(r"\d{1,2}\.\d{1,2}", version):
        notes.say(topic, version, "conda info", line, LISTED)
    return True


def _planned(line: Line, notes: Notes) -> bool:
    """What `conda install` is going to install."""
    match = _PLANNED.fullmatch(line.text.partition(" --> ")[2].strip() or line.text)
    if match is None:
        return False
    channel = match[1].rpartition("/")[0]
    return _conda_package(match[2], match[3], match[4], channel, line, "conda's plan", notes)


def _file(line: Line, notes: Notes) -> bool:
    """`conda list --explicit`."""
    match = _FILE.fullmatch(line.text)
    if match is None:
        return False
    return _conda_package(match[2], match[3], match[4], match[1], line, "conda list", notes)


def _conda(line: Line, section: str, notes: Notes) -> bool:
    words = line.text.split()
    if len(words) < 2 or not whole_version(words[1]):
        return False
    if words[0].startswith("__"):
        return _virtual(words[0], words[1], line, notes)
    build, channel = (*words[2:4], "", "")[:2]
    if not build and "==" in words[0]:
        return False
    return _conda_package(words[0], words[1], build, channel, line, section, notes)


def _conda_package(
    name: str, version: str, build: str, channel: str, line: Line, section: str, notes: Notes
) -> bool:
    by_pip = channel in ("pypi", "<pip>") or build in ("pypi_0", "<pip>", "dev_0")
    notes.conda_listed.add(name.lower())
    package = Package(
        version,
        place(section, line),
        line.number,
        LISTED,
        build="" if by_pip else build,
        channel="pypi" if by_pip else channel,
        installer="pip" if by_pip else "conda",
    )
    notes.install(name, package)
    return True


def _note(
    name: str,
    version: str,
    line: Line,
    section: str,
    notes: Notes,
    rank: int = LISTED,
    url: Optional[str] = None,
) -> bool:
    package = Package(version, place(section, line), line.number, rank, url=url or "")
    notes.install(name, package)
    return True
