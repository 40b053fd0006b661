"""conda's environment.yml.

Source: conda documentation, "Package match specifications" and "Creating an environment file
manually".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, List, Optional, Tuple

from packaging.utils import canonicalize_name

from envdoctor.facts.requirements import pip
from envdoctor.facts.requirements.line import (
    LONGEST_LINE,
    Line,
    Reading,
    RequirementsError,
    is_specifier,
    name_of,
    read_text,
)
from envdoctor.model.text import clean

if TYPE_CHECKING:
    import yaml

# An export of a full environment has 20 KB; YAML is read slowly.
_MAX_TEXT = 200_000

#: Packages that conda calls otherwise than PyPI.
_NAMES = {
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "pyg": "torch-geometric",
    "pytorch-cluster": "torch-cluster",
    "pytorch-scatter": "torch-scatter",
    "pytorch-sparse": "torch-sparse",
    "numpy-base": "",  # parts of others, or of conda's own
}
_SPEC = re.compile(r"(?P<name>[A-Za-z0-9_][\w.-]*)\s*(?P<rest>.*)", re.ASCII)
_OPERATOR = re.compile(r"(===?|~=|!=|<=|>=|<|>)\s*([^\s=<>!~]+)\s*")
_CUDA_BUILD = re.compile(r"cuda(\d+\.\d+)|cu(\d{3})(?!\d)")


def read(path: str, reading: Reading) -> None:
    """Read an environment file. Raises RequirementsError."""
    import yaml

    shown = name_of(path)
    text = read_text(path, limit=_MAX_TEXT)
    try:
        # Python's own parser: nesting ends in an exception.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{shown}:{mark.line + 1}" if mark is not None else f"{shown}:1"
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise RequirementsError(f"{place}: is no YAML: {clean(str(problem), 120)}") from None
    except (RecursionError, ValueError) as error:
        nested = isinstance(error, RecursionError)
        said = "it is nested too deeply" if nested else clean(str(error), 120)
        raise RequirementsError(f"{shown}:1: is no YAML: {said}") from None
    reading.files.append(shown)
    reading.managers[shown] = "conda"
    listed = _value(root, "dependencies")
    if not isinstance(listed, yaml.SequenceNode):
        raise RequirementsError(
            f"{shown}:1: is no environment file of conda: it has no list of dependencies"
        )
    channels = _value(root, "channels")
    names = [n.value for n in _items(channels) if isinstance(n, yaml.ScalarNode)]
    channel = names[0] if len(names) == 1 else ""
    first = names[0] if names else ""
    for node in _items(listed):
        origin = f"{shown}:{node.start_mark.line + 1}"
        if isinstance(node, yaml.ScalarNode):
            _take(node.value, origin, channel or _of_first(node.value, first), reading)
        elif isinstance(node, yaml.MappingNode):
            _take_pip(node, path, shown, reading)
        else:
            reading.note(origin, "not understood: a list in the list of dependencies")


def _of_first(text: str, channel: str) -> str:
    """The channel pytorch, where it comes before others, for what it is known to have.

    conda takes a package of the first channel that has it, unless it is told otherwise.
    """
    match = _SPEC.match(text.strip())
    named = match is not None and match["name"].lower() == "pytorch"
    return channel if named and channel == "pytorch" else ""


def _value(node: Optional[yaml.Node], key: str) -> Optional[yaml.Node]:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return None
    for name, value in node.value:
        if isinstance(name, yaml.ScalarNode) and name.value == key:
            found: yaml.Node = value
            return found
    return None


def _items(node: Optional[yaml.Node]) -> List[yaml.Node]:
    import yaml

    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _take_pip(node: yaml.MappingNode, path: str, shown: str, reading: Reading) -> None:
    import yaml

    for name, value in node.value:
        origin = f"{shown}:{name.start_mark.line + 1}"
        if not (isinstance(name, yaml.ScalarNode) and name.value == "pip"):
            reading.note(origin, "not understood: a section that is not pip's")
            continue
        lines = [
            (item.value, f"{shown}:{item.start_mark.line + 1}")
            for item in _items(value)
            if isinstance(item, yaml.ScalarNode)
        ]
        pip.read_lines([(_plain(text), place) for text, place in lines], path, reading)


def _plain(text: str) -> str:
    """A line of the pip section without the comment that quotes may hold."""
    return " ".join(text.split()).partition(" #")[0]


def _take(text: str, origin: str, channel: str, reading: Reading) -> None:
    """Take a match specification of conda."""
    if len(text) > LONGEST_LINE:
        raise RequirementsError(f"{origin}: a requirement of {len(text)} characters")
    own, colons, spec = text.strip().rpartition("::")
    if "://" in text:
        reading.note(origin, f"not read: {text}")
        return
    match = _SPEC.fullmatch(" ".join(spec.split()))
    if match is None:
        reading.note(origin, f"not understood: {text}")
        return
    conda_name = match["name"].lower()
    version, build = _version_and_build(match["rest"].partition("[")[0].strip())
    if version is None or not is_specifier(version):
        reading.note(origin, f"not understood: {text}")
        version = ""
    if conda_name == "python":
        if version:
            reading.pythons.append((version, origin))
        return
    name = _NAMES.get(conda_name, canonicalize_name(conda_name))
    if not name:
        return
    reading.add(
        Line(
            name=name,
            origin=origin,
            text=text.strip(),
            specifier=version,
            build=build,
            channel=own.partition("/")[0] if colons else channel,
            installer="conda",
        )
    )


def _version_and_build(rest: str) -> Tuple[Optional[str], str]:
    """The specifier of PEP 440 that a conda one is, and the build; None if it cannot be said."""
    if not rest:
        return "", ""
    build = ""
    if re.match(r"=[^=]", rest) or re.match(r"[^\s=<>!~]", rest):
        # "=1.2", "=1.2=build", "1.2.*", "1.2 build": a prefix, unless the build says more
        words = rest.lstrip("=").replace("=", " ").split()
        version, build = words[0], words[1] if len(words) > 1 else ""
        if any(sign in rest for sign in "<>!~|,"):
            return (None, "") if "|" in rest or rest[0] == "=" else _operators(rest)
        if version in ("*", ""):
            return "", build
        exact = not rest.startswith("=") or build or version.count(".") > 1
        if version.endswith("*"):
            return f"=={version.rstrip('.*')}.*", build
        return (f"=={version}" if exact else f"=={version}.*"), build
    if rest.startswith("==") and "=" in rest[2:] and "," not in rest:
        version, _, build = rest[2:].strip().partition("=")
        return f"=={version.strip()}", build.strip()
    return _operators(rest)


def _operators(rest: str) -> Tuple[Optional[str], str]:
    """A list of comparisons; a build may follow a single exact one."""
    if "|" in rest:
        return None, ""
    parts = []
    for part in rest.split(","):
        match = _OPERATOR.match(part.strip())
        plain = re.fullmatch(r"=?([0-9][\w.*]*)", part.strip())
        if match:
            sign, version = match[1], match[2]
            starred = version.endswith("*")
            if starred and sign not in ("==", "!="):
                version = version.rstrip(".*")
            parts.append(f"{sign}{version}")
        elif plain:
            parts.append(f"=={plain[1].rstrip('.*')}.*")
        else:
            return None, ""
    return ",".join(parts), ""


def cuda_of(build: str) -> str:
    """The CUDA version that a build string names, "11.8" of py3.8_cuda11.8_cudnn8.7.0_0."""
    match = _CUDA_BUILD.search(build)
    if match is None:
        return "cpu" if re.search(r"(^|_)cpu(_|$)", build) else ""
    return match[1] or f"{match[2][:2]}.{match[2][2]}"
