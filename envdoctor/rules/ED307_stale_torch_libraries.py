"""torch's metadata and torch/version.py name different versions."""

from __future__ import annotations

from typing import Iterator, Tuple

from packaging.version import Version

from envdoctor.model.finding import Evidence
from envdoctor.model.versions import local_part, try_parse
from envdoctor.rules.lookup import evidence, fix, folder_of, is_leftover, name_of, pip, python_says
from envdoctor.rules.rule import Context, Fault


def examine(context: Context) -> Iterator[Fault]:
    """Report files of one torch under the metadata of another."""
    target = context.target
    files = target.torch
    if files is None or files.version.value is None or try_parse(files.version.value) is None:
        return
    stated = [
        d
        for d in target.distributions
        if name_of(d) == "torch"
        and not is_leftover(d)
        and not d.editable  # built in place: the metadata stays behind
        and d.search_entry == folder_of(files.path)
        and try_parse(d.version) is not None
    ]
    if not stated or any(_alike(d.version, files.version.value) for d in stated):
        return
    commands = [] if stated[0].installer == "conda" else [pip(target, "uninstall", "-y", "torch")]
    yield Fault(
        component=f"torch {files.version.value}",
        fields={"files": files.version.value, "metadata": stated[0].version},
        evidence=(
            evidence(stated[0]),
            Evidence("torch.__version__", files.version.value, files.version.origin),
        ),
        fixes=fix(*commands),
        verify=(python_says(target, "import torch; print(torch.__version__)"),),
    )


def _alike(one: str, other: str) -> bool:
    """Whether two names are of one build: PyPI's wheels state the CUDA tag in version.py only."""
    locals_of = (_normal(one), _normal(other))
    same_local = "" in locals_of or len(set(locals_of)) == 1
    return _release(one) == _release(other) and same_local


def _normal(version: str) -> str:
    return Version(version).local or "" if local_part(version) else ""


def _release(version: str) -> Tuple[int, ...]:
    return Version(version).release
