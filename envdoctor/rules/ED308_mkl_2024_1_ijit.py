"""conda's torch is linked to MKL, and MKL 2024.1 took away a symbol that old ones need."""

from __future__ import annotations

import re
from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.model.versions import parse, try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    fix,
    python_says,
)
from envdoctor.rules.rule import Context, Fault

# Builds of the channel pytorch, whatever mirror they came from: py3.8_cuda11.1_cudnn8.0.5_0,
# py3.6_cpu_0. Those of conda-forge and of the defaults pin MKL below 2024.
_BUILD = re.compile(r"py\d\.\d+_(?:cuda|cpu)")
_LAST_TORCH = parse("2.2")
_FIRST_MKL = parse("2024.1")


def examine(context: Context) -> Iterator[Fault]:
    """Report the pair."""
    conda = {package.name: package for package in context.target.conda}
    torch, mkl = conda.get("pytorch"), conda.get("mkl")
    if torch is None or mkl is None or not _BUILD.match(torch.build):
        return
    series, version = try_parse(torch.version), try_parse(mkl.version)
    if series is None or version is None:
        return
    if (series.major, series.minor) > (_LAST_TORCH.major, _LAST_TORCH.minor):
        return
    held = imported(context.target).get("torch")
    if version < _FIRST_MKL or (held is not None and held.installer in ("pip", "uv")):
        return  # a wheel, which has MKL inside, took its place
    yield Fault(
        component=f"torch {torch.version}",
        fields={"torch": f"torch {torch.version}", "mkl": mkl.version},
        evidence=(
            Evidence("pytorch", f"{torch.version} {torch.build}", "conda-meta"),
            Evidence("mkl", f"{mkl.version} {mkl.build}".rstrip(), "conda-meta"),
        ),
        fixes=fix("conda install 'mkl<2024.1'"),
        verify=(python_says(context.target, "import torch"),),
    )
