"""From what a user asks for to the facts and the knowledge that answer it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence, Tuple, Union

# Imported where they are used: `--help` and `import envdoctor` are not to wait for them.
if TYPE_CHECKING:
    from envdoctor.knowledge.load import Knowledge
    from envdoctor.model.facts import Facts
    from envdoctor.model.finding import Report


class UnsupportedSystemError(RuntimeError):
    """The operating system of this machine is none that can be examined."""


class Inputs(NamedTuple):
    """What is to be examined; see the options of the same names."""

    python: Optional[str] = None
    env: Optional[str] = None
    facts: Optional[str] = None
    assume: Tuple[str, ...] = ()


def read_facts(inputs: Inputs, tools: bool = True) -> Facts:
    """The facts of a snapshot or of this machine, without what is assumed.

    `tools`: whether to look at what a source build would use.

    Raises SnapshotError, TargetError, UnsupportedSystemError.
    """
    if sys.platform != "linux":
        raise UnsupportedSystemError(
            f"examines Linux on x86_64 and aarch64 (WSL and Jetson too), and this is {sys.platform}"
        )
    from envdoctor.facts import snapshot

    if inputs.facts is not None:
        return snapshot.load(inputs.facts)
    return snapshot.observe(inputs.python, inputs.env, os.environ, tools)


def gather(inputs: Inputs, tools: bool = True) -> Tuple[Facts, Knowledge]:
    """The facts, with what is assumed in place of what was observed, and the matrices.

    Raises AssumeError, DocumentError and what `read_facts` raises.
    """
    from envdoctor.knowledge.load import load

    knowledge = load()
    return _assume(read_facts(inputs, tools), inputs.assume, knowledge), knowledge


def _assume(facts: Facts, settings: Sequence[str], knowledge: Knowledge) -> Facts:
    if not settings:
        return facts
    from envdoctor.relations.assume import assume

    return assume(facts, settings, knowledge)


def check(
    python: Optional[str] = None,
    env: Optional[str] = None,
    facts: Union[str, os.PathLike[str], Facts, None] = None,
    assume: Sequence[str] = (),
) -> Report:
    """Examine an environment as `envdoctor check` does, and return what is wrong with it.

    `python` is the path of an interpreter, `env` the name or prefix of an environment; without
    either the active environment is examined. `facts` replaces the observation: a snapshot, or
    the path of one. `assume` holds settings such as "gpu=a100".

    Raises SnapshotError, TargetError, AssumeError, DocumentError, UnsupportedSystemError.
    """
    from envdoctor.knowledge.load import load
    from envdoctor.rules.check import check as examine

    if facts is None or isinstance(facts, (str, os.PathLike)):
        path = None if facts is None else os.fspath(facts)
        observed, knowledge = gather(Inputs(python, env, path, tuple(assume)), tools=False)
    else:
        knowledge = load()
        observed = _assume(facts, assume, knowledge)
    return examine(observed, knowledge)
