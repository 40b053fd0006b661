"""Small source trees, and what of them is looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Tuple

from envdoctor.facts.project import read
from envdoctor.model.facts import Project
from envdoctor.model.interface import (
    CALL,
    FLAG,
    HEADER,
    IDENTIFIER,
    INSTANCE_METHOD,
    METHOD,
    OPTION,
    PATTERN,
    PYTHON,
    SYNTAX,
    Interface,
)

INTERFACES = (
    *(
        Interface(name, PYTHON)
        for name in (
            "collections.Mapping",
            "distutils",
            "imp",
            "mmcv.runner",
            "numpy.bool",
            "numpy.int",
            "torch._six",
            "torch._six.container_abcs",
            "torch.symeig",
            "transformers.TF[A-Z]*",
            "transformers.models.*.tokenization_*_fast",
        )
    ),
    Interface("transformers.models.cpm.tokenization_cpm_fast", PYTHON, is_kept=True),
    Interface("torch.fft()", CALL),
    Interface("torch.load(weights_only=...)", CALL),
    Interface("asyncio.Queue(loop=...)", CALL),
    Interface("numpy.ndarray.itemset", METHOD),
    Interface("threading.Thread.isAlive", METHOD),
    Interface("torch.utils.data.DataLoader.next", METHOD, made_by="iter"),
    Interface("torch.autograd.Function.forward", INSTANCE_METHOD),
    *(Interface(name, SYNTAX) for name in (":=", "def f(a, /)", "list[...]", "X | None")),
    Interface("torch.load", PYTHON, without="weights_only"),
    Interface("torch.optim.lr_scheduler", PYTHON, passing="verbose"),
    Interface("--local_rank", OPTION),
    Interface("-std=c++14", FLAG),
    Interface("THC/THC.h", HEADER),
    Interface("THCUNN/", HEADER),
    Interface("AT_CHECK", IDENTIFIER),
    Interface("THCState", IDENTIFIER),
    Interface("AT_ASSERT", IDENTIFIER, is_kept=True),
    Interface("THC/THCAtomics.cuh", HEADER, is_kept=True),
    Interface("DISPATCH(type)", PATTERN, pattern=r"AT_DISPATCH_\w+\(\s*[\w.]+\.type\(\)\s*,"),
)


def tree(root: Path, files: Dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def uses(project: Project) -> List[str]:
    """The uses of a project, "numpy.int a.py:3 a.py:4"; "(by run.sh:1)" follows what starts it."""
    return [
        " ".join([use.interface, *use.places, *([f"(by {use.by})"] if use.by else [])])
        for use in project.uses
    ]


def read_text(root: Path, name: str, text: str) -> Tuple[List[str], Tuple[str, ...]]:
    """The uses of a tree of one file, each "numpy.int 3", and the problems."""
    project = read(str(tree(root, {name: text})), INTERFACES)
    told = [
        f"{use.interface} {place.rpartition(':')[2]}"
        for use in project.uses
        for place in use.places
    ]
    return told, project.problems
