"""An environment of the lab: how it is made, what is tried there, what is to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

from layers import layer, link
from odd import Place

#: The outcome of a statement that succeeds.
WORKS = ""

#: What may be to blame, and the findings that say so.
BLAMES: Dict[str, Tuple[str, ...]] = {
    "other-torch": ("torch-abi-mismatch",),
    "other-torchvision": ("torch-torchvision-mismatch",),
    "other-abi": ("cxx11-abi-mismatch",),
    "other-cuda": ("cuda-runtime-major-mismatch",),
    "other-python": ("extension-of-another-python",),
    "missing-library": ("shared-library-missing",),
    "missing-symbol": ("undefined-symbol",),
    "missing-wheels": ("python-module-missing",),
    "other-wheels": ("nvidia-wheels-mismatch",),
    "mixed-torch": ("stale-torch-libraries",),
    "old-libstdcxx": ("libstdcxx-too-old",),
    "older-copy-ahead": (
        "ld-library-path-shadows-cuda",
        "nccl-library-conflict",
        "stale-torch-libraries",
        "undefined-symbol",
    ),
    "user-site": ("user-site-shadows-env",),
}


class Bench(Place):
    """A folder of its own for one case, and what makes environments in it."""

    def of(self, *steps: str, name: str = "env") -> Path:
        """An environment after these calls of `pip install`, its files shared with others."""
        link(layer(self.python, steps), self.folder / name)
        return self.folder / name

    def put(self, path: str, data: bytes) -> Path:
        """A file in the folder of the case; returns its path."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        return target


class Lab(NamedTuple):
    """An environment as somebody works in it."""

    python: str
    environ: Mapping[str, str] = {}
    folder: Optional[Path] = None  # where one works; an empty folder if not given
    arguments: Tuple[str, ...] = ()  # of `envdoctor check`


Maker = Callable[[Bench], Lab]


class Case(NamedTuple):
    """An environment, what is tried in it, and what comes of it."""

    title: str
    make: Maker
    #: {statement: WORKS, or "ImportError: a part ... another part" of what it raised}, as recorded.
    outcomes: Mapping[str, str]
    #: {file, module or distribution: what is to blame, or "this or that"}; nothing else is told.
    blame: Mapping[str, str] = {}
    python: str = ""  # the series of its Python; that of the tests if not given
    #: Something fails, and files do not decide it: what is told are warnings.
    undecided: bool = False


def case_of(cases: List[Case]) -> Callable[..., Callable[[Maker], Maker]]:
    """A decorator that adds a case to the list: the function below it makes the environment."""

    def case(
        title: str,
        outcomes: Mapping[str, str],
        blame: Mapping[str, str] = {},
        python: str = "",
        undecided: bool = False,
    ) -> Callable[[Maker], Maker]:
        def add(make: Maker) -> Maker:
            cases.append(Case(title, make, outcomes, blame, python, undecided))
            return make

        return add

    return case


def works(*statements: str) -> Dict[str, str]:
    """The outcomes of statements that all succeed."""
    return dict.fromkeys(statements, WORKS)
