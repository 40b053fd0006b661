"""Stacks, and why there is none: what `resolve`, `repair` and `what-if` answer."""

from __future__ import annotations

from typing import Dict, List, Tuple, Union

from envdoctor.model.build import Build
from envdoctor.model.facts import Record
from envdoctor.model.finding import SCHEMA_VERSION, Citation, Moved
from envdoctor.model.language import ENGLISH

#: Every wish holds; some pins had to go; nothing fits; it could not be found out.
SOLVED, RELAXED, IMPOSSIBLE, UNKNOWN = "solved", "relaxed", "impossible", "unknown"
STATUSES = (SOLVED, RELAXED, IMPOSSIBLE, UNKNOWN)

#: What may be chosen: packages alone; a new environment on this machine; an image, too.
HOST, VENV, IMAGE = "host", "venv", "image"
TARGETS = (HOST, VENV, IMAGE)

#: What a stack is judged by, the weightiest first.
CRITERIA = (
    "dropped_pins",
    "pin_distance",
    "source_patches",
    "changes",
    "source_builds",
    "tested_distance",
    "age",
)


class Member(Record, frozen=True, omit_defaults=False):
    """A component of a stack, and where it comes from."""

    component: str  # a package's canonical name, "python", "image", "host.driver"
    version: str  # as people write it, "1.9.1+cu111"
    variant: Dict[str, Union[str, int, bool, List[str]]] = {}
    origin: str = "index"  # index: a wheel; source: built; image; host: of the machine
    url: str = ""  # the index or page of wheels; empty for PyPI
    requirement: str = ""  # "torch==1.9.1+cu111"; empty where pip does not install it
    arguments: Tuple[str, ...] = ()  # of `pip install`, the requirement first
    pinned: bool = False  # whether the profile or the user names it
    patches: Tuple[str, ...] = ()  # of envdoctor's, that its sources need
    tree: str = ""  # the folder of the training code that it is built from
    entry: str = ""  # of the matrices


class Relaxed(Record, frozen=True, omit_defaults=False):
    """A pin that had to go, and the relations that stood against it."""

    pin: str  # "torch ==1.9.1 (cuda 11.1)"
    to: str
    because: Tuple[str, ...] = ()


class Criterion(Record, frozen=True, omit_defaults=False):
    """A criterion and what the stack costs by it; 0 is best. pin_distance is a list."""

    name: str
    value: Union[int, Tuple[int, ...]]


class Reason(Record, frozen=True, omit_defaults=False):
    """A member of a core: a fact, a pin, or a relation that ties them."""

    id: str
    kind: str  # fact, pin, relation
    text: str
    source: str


class Rejection(Record, frozen=True, omit_defaults=False):
    """How many builds of a component a requirement rejects: equal ones are counted together."""

    component: str
    relation: str
    builds: int
    text: str


class Core(Record, frozen=True, omit_defaults=False):
    """Requirements that nothing satisfies together; without any one of them something does."""

    members: Tuple[Reason, ...]
    words: str = ""  # the whole reason in one sentence
    folded: Tuple[Rejection, ...] = ()


class Way(Record, frozen=True, omit_defaults=False):
    """A smallest relaxation, solved and checked: what changes, and what can be had then."""

    kind: str  # versions, driver, toolkit, image, gpu, patch
    summary: str
    drops: Tuple[str, ...] = ()  # ids of the requirements that it gives up
    stack: Tuple[Member, ...] = ()
    criteria: Tuple[Criterion, ...] = ()


class Override(Record, frozen=True, omit_defaults=False):
    """Statements of authors that contradict each other, and which of them a profile takes."""

    sides: Tuple[str, ...]  # each with its source
    take: str = ""  # empty: nothing overrides them
    reason: str = ""


class Bound(Record, frozen=True, omit_defaults=False):
    """What the stack allows of a package that is not a part of it: a line of constraints."""

    package: str
    specifier: str
    because: Tuple[str, ...] = ()


class Artefact(Record, frozen=True, omit_defaults=False):
    """A distribution that an installer would take: of the stack, or of the rest of the tree."""

    package: str
    version: str
    url: str = ""  # of the file
    hashes: Dict[str, str] = {}
    index: str = ""  # where it was found; empty for PyPI
    sdist: bool = False


class Left(Record, frozen=True, omit_defaults=False):
    """What a tree lacks: a requirement that nobody was asked for, or of which not all is known."""

    package: str
    reason: str


#: An artefact is where it should be; it is not; nobody could be asked.
THERE, MISSING, UNASKED = "there", "missing", "unasked"


class Verified(Record, frozen=True, omit_defaults=False):
    """What an index or a page says of an artefact of a stack."""

    component: str
    version: str
    status: str  # there, missing, unasked
    text: str = ""  # why not; or what is odd of one that is there
    url: str = ""  # of the file
    hashes: Dict[str, str] = {}
    nearest: Tuple[str, ...] = ()  # releases that are there instead


class Resolution(Record, frozen=True, omit_defaults=False):
    """The answer of `resolve`."""

    command: str
    envdoctor_version: str
    matrices_date: str
    status: str
    optimal: bool = False
    profile: str = ""  # the name of the one that was asked for
    asked: Tuple[str, ...] = ()  # what was asked for, in words
    target: str = IMAGE
    machine: Tuple[str, ...] = ()  # "GPU h100", "driver 535.129.03"
    architectures: Tuple[str, ...] = ()  # of all its GPUs, that sources are compiled for: "9.0"
    stack: Tuple[Member, ...] = ()  # in the order of installation
    changes: Tuple[Moved, ...] = ()
    relaxed: Tuple[Relaxed, ...] = ()
    patches: Tuple[str, ...] = ()
    criteria: Tuple[Criterion, ...] = ()
    cores: Tuple[Core, ...] = ()
    more_cores: bool = False
    idle: Tuple[str, ...] = ()  # requirements that play no part in any core
    ways: Tuple[Way, ...] = ()
    assumptions: Tuple[str, ...] = ()  # what is not known and must hold
    overrides: Tuple[Override, ...] = ()
    constraints: Tuple[Bound, ...] = ()
    rest: Tuple[str, ...] = ()  # requirement lines that the matrices do not speak of
    tree: Tuple[Artefact, ...] = ()  # what the installer made of them
    left: Tuple[Left, ...] = ()  # what the tree lacks; it is whole where this is empty
    learned: Tuple[str, ...] = ()  # what the installer refused, as constraints
    verified: Tuple[Verified, ...] = ()  # with --verify: whether each artefact exists
    citations: Tuple[Citation, ...] = ()  # of the relations that are named
    notes: Tuple[str, ...] = ()  # what of the question was left out, and why
    reason: str = ""  # of `unknown`
    matrices_added: Tuple[str, ...] = ()  # folders of users
    language: str = ENGLISH  # of its words
    schema_version: int = SCHEMA_VERSION


class Stack:
    """A full assignment, as the search found it: builds by component."""

    __slots__ = ("builds", "cost", "patches")

    def __init__(
        self, builds: Dict[str, Build], cost: Tuple[int, ...], patches: Tuple[str, ...] = ()
    ) -> None:
        self.builds = builds
        self.cost = cost
        self.patches = patches


__all__ = [
    "CRITERIA",
    "HOST",
    "IMAGE",
    "IMPOSSIBLE",
    "MISSING",
    "RELAXED",
    "SOLVED",
    "STATUSES",
    "TARGETS",
    "THERE",
    "UNASKED",
    "UNKNOWN",
    "VENV",
    "Artefact",
    "Bound",
    "Core",
    "Criterion",
    "Left",
    "Member",
    "Moved",
    "Override",
    "Reason",
    "Rejection",
    "Relaxed",
    "Resolution",
    "Stack",
    "Verified",
    "Way",
]
