"""A package of OpenMMLab needs mmcv's compiled ops, and the mmcv that is installed has none."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import parse, try_parse
from envdoctor.rules.lookup import evidence, fix, imported, label, listed, name_of, pip, python_says
from envdoctor.rules.rule import Context, Fault

# They import mmcv.ops when they are imported, or with their models.
_USERS = ("mmdet", "mmdet3d", "mmsegmentation")
_MMCV = ("mmcv", "mmcv-full", "mmcv-lite")
_WITH_OPS = parse("2.0.0rc1")


def examine(context: Context) -> Iterator[Fault]:
    """Report it, if no mmcv with ops is installed beside, and no relation says it already."""
    installed = imported(context.target)
    found = [installed[name] for name in _MMCV if name in installed]
    if not found or not all(_lacks_ops(mmcv) for mmcv in found):
        return
    mmcv = found[0]
    told = {r.owner for r in context.knowledge.relations if r.finding == "mmcv-without-ops"}
    users = [
        installed[name]
        for name in _USERS
        if name in installed and not (_is_lite(mmcv) and name in told)
    ]
    if not users:
        return
    yield Fault(
        component=label(mmcv),
        words="" if _is_lite(mmcv) else "pure",
        fields={
            "mmcv": label(mmcv),
            "users": listed(label(user) for user in users),
        },
        evidence=(
            Evidence(mmcv.name, f"{mmcv.version} {' '.join(mmcv.tags)}".rstrip(), mmcv.path),
            *(evidence(user) for user in users),
        ),
        fixes=fix(pip(context.target, "uninstall", "-y", *(name_of(one) for one in found))),
        verify=(python_says(context.target, "import mmcv.ops"),),
    )


def _lacks_ops(mmcv: Distribution) -> bool:
    return _is_lite(mmcv) or _is_pure(mmcv)


def _is_lite(mmcv: Distribution) -> bool:
    """Whether no build of that name and version has ops: mmcv-lite, and mmcv before 2.0."""
    version = try_parse(mmcv.version)
    old = version is not None and version < _WITH_OPS
    return name_of(mmcv) == "mmcv-lite" or (name_of(mmcv) == "mmcv" and old)


def _is_pure(mmcv: Distribution) -> bool:
    """Whether it is a wheel without extension modules.

    mmcv's setup.py leaves the ops out without an error where it cannot import torch.
    """
    return bool(mmcv.tags) and all(tag.endswith("-none-any") for tag in mmcv.tags)
