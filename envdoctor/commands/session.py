"""From what a user asks for to the facts and the knowledge that answer it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

from envdoctor.model.language import ENGLISH, LANGUAGES

# Imported where they are used: `--help` and `import envdoctor` are not to wait for them.
if TYPE_CHECKING:
    from envdoctor.knowledge.load import Knowledge
    from envdoctor.linking.examine import Progress
    from envdoctor.model.facts import Facts
    from envdoctor.model.finding import Report


class UnsupportedSystemError(RuntimeError):
    """The operating system of this machine is none that can be examined."""


def require_linux() -> None:
    """Raise UnsupportedSystemError elsewhere."""
    if sys.platform != "linux":
        raise UnsupportedSystemError(
            f"examines Linux on x86_64 and aarch64 (WSL and Jetson too), and this is {sys.platform}"
        )


#: Loads the matrices when it is first called. Raises DocumentError.
Matrices = Callable[[], "Knowledge"]

#: Called before a first reading of binaries with what is known by then; who is told how far it is.
Waiting = Callable[["Facts", Matrices], "Progress"]

#: A setting, "gpu=a100", and what says so beside the command line: a variable, a line of a file.
Said = Tuple[str, str]


class Inputs(NamedTuple):
    """What is to be examined; see the options of the same names."""

    python: Optional[str] = None
    env: Optional[str] = None
    facts: Optional[str] = None
    assume: Tuple[str, ...] = ()
    requirements: Tuple[str, ...] = ()
    project: Tuple[str, ...] = ()
    said: Tuple[Said, ...] = ()  # what is assumed as well, and is weaker than `assume`
    path: Tuple[str, ...] = ()  # binaries that were named
    # whether binaries are read; None: only what is known of them from before
    deep: Optional[bool] = None
    matrices: Tuple[str, ...] = ()  # folders of matrices that are put over those that ship

    @property
    def settings(self) -> Tuple[str, ...]:
        """All that is assumed, the weaker first."""
        return (*(setting for setting, _ in self.said), *self.assume)


def matrices_with(folders: Sequence[str] = ()) -> Matrices:
    """What loads the matrices the first time that it is called: a warm check does without.

    What users add to them is read at once, since what is remembered depends on it. Raises
    DocumentError.
    """
    from envdoctor.cache import unchanged

    loaded: List[Knowledge] = []
    if not folders:
        unchanged.set_added(b"")

        def matrices() -> Knowledge:
            if not loaded:
                from envdoctor.knowledge.load import load

                loaded.append(load())
            return loaded[0]

        return matrices
    from envdoctor.knowledge.overlay import read

    added = read(folders)
    unchanged.set_added(added.state)

    def with_added() -> Knowledge:
        if not loaded:
            from envdoctor.knowledge.load import load
            from envdoctor.rules.added import examine

            knowledge = load(added=added)
            examine(knowledge)
            loaded.append(knowledge)
        return loaded[0]

    return with_added


def _read(inputs: Inputs, matrices: Matrices, waiting: Optional[Waiting] = None) -> Facts:
    """The facts of a snapshot or of this machine, without what is assumed.

    Raises SnapshotError, TargetError, UnsupportedSystemError, RequirementsError, ProjectError.
    """
    facts = _environment(inputs, matrices, waiting)
    return _with_projects(facts, inputs.project, matrices, inputs) if inputs.project else facts


def _environment(inputs: Inputs, matrices: Matrices, waiting: Optional[Waiting] = None) -> Facts:
    """The facts of a machine, and of an environment or of what requirement files ask for."""
    require_linux()
    from envdoctor.facts import snapshot

    if inputs.requirements:
        if inputs.facts is not None:
            facts = snapshot.load(inputs.facts)
        else:
            facts = snapshot.observe_machine_alone(os.environ)
        return _asking(facts, inputs)
    if inputs.facts is not None:
        return snapshot.load(inputs.facts)
    facts = snapshot.observe(inputs.python, inputs.env, os.environ, lambda: matrices().providers)
    return _with_binaries(facts, inputs, matrices, waiting)


def _with_binaries(
    facts: Facts, inputs: Inputs, matrices: Matrices, waiting: Optional[Waiting]
) -> Facts:
    """The facts with what the loader would do with the target's binaries, and their GPU code."""
    import msgspec

    target = facts.target.value
    if target is None:
        return facts
    from envdoctor.linking.remembered import observe_linking

    def progress() -> Optional[Progress]:
        return waiting(facts, matrices) if waiting is not None else None

    linking = observe_linking(target, inputs.project, inputs.deep, progress, inputs.path)
    code = {}
    if linking.value is not None:  # they are remembered together, and stand apart
        code = linking.value.gpu_code
        value = msgspec.structs.replace(linking.value, gpu_code={})
        linking = msgspec.structs.replace(linking, value=value)
    target = msgspec.structs.replace(target, linking=linking, gpu_code=code)
    observed = msgspec.structs.replace(facts.target, value=target)
    return msgspec.structs.replace(facts, target=observed)


def _asking(facts: Facts, inputs: Inputs) -> Facts:
    """The machine of `facts` with what requirement files ask for, for the Python assumed."""
    import msgspec

    from envdoctor.facts import requirements
    from envdoctor.facts.probe import variables
    from envdoctor.model.facts import seen

    python = None
    for setting in inputs.settings:
        key, _, value = setting.partition("=")
        if key.strip() == "python" and requirements.is_python(value.strip()):
            python = value.strip()
    target = requirements.read(inputs.requirements, python, facts.machine.architecture.value)
    # A build would run under the variables of now, or of whoever took the snapshot.
    taken = facts.target.value
    environ = taken.environ if taken is not None else {}
    if taken is None and inputs.facts is None:
        environ = variables()
    target = msgspec.structs.replace(target, environ=environ)
    return msgspec.structs.replace(facts, target=seen(target, ", ".join(inputs.requirements)))


def _with_projects(
    facts: Facts, folders: Sequence[str], matrices: Matrices, inputs: Optional[Inputs] = None
) -> Facts:
    """The facts with what these source trees need; of `inputs` they are, None if they were given.

    A module is looked for on the search path only where that is this machine's.
    """
    import msgspec

    from envdoctor.facts import project
    from envdoctor.relations.removed import interfaces

    wanted = interfaces(matrices())
    target = facts.target.value
    is_here = inputs is not None and inputs.facts is None and not inputs.requirements
    path = target.path if target is not None and target.path and is_here else None
    read = tuple(project.read(folder, wanted, path) for folder in dict.fromkeys(folders))
    return msgspec.structs.replace(facts, projects=read)


def gather(inputs: Inputs, waiting: Optional[Waiting] = None) -> Tuple[Facts, Matrices]:
    """The facts, with what is assumed in place of what was observed, and the matrices.

    `waiting` is called where binaries are read that were not read before.

    Raises AssumeError, DocumentError and what reading the facts raises.
    """
    matrices = matrices_with(inputs.matrices)
    facts = _read(inputs, matrices, waiting)
    return assuming(facts, inputs.assume, matrices, inputs.said), matrices


def assuming(
    facts: Facts, settings: Sequence[str], matrices: Matrices, said: Sequence[Said] = ()
) -> Facts:
    """The facts with what is assumed in place of what was observed. Raises AssumeError."""
    if not settings and not said:
        return facts
    from envdoctor.relations.assume import Assumption, assume

    return assume(facts, [*(Assumption(*one) for one in said), *settings], matrices())


def check(
    python: Optional[str] = None,
    env: Optional[str] = None,
    facts: Union[str, os.PathLike[str], Facts, None] = None,
    assume: Sequence[str] = (),
    requirements: Sequence[Union[str, os.PathLike[str]]] = (),
    language: str = ENGLISH,
    project: Sequence[Union[str, os.PathLike[str]]] = (),
    deep: bool = True,
    matrices: Sequence[Union[str, os.PathLike[str]]] = (),
) -> Report:
    """Examine an environment as `envdoctor check` does, and return what is wrong with it.

    `python` is the path of an interpreter, `env` the name or prefix of an environment; without
    either the active environment is examined. `facts` replaces the observation: a snapshot, or
    the path of one. `assume` holds settings such as "gpu=a100". `requirements` are the paths of
    files: what they ask for is checked in place of an environment. `language` is that of summaries
    and reasons: "en" or "zh". `project` are folders of source trees, which are read for what they
    need of it. `deep` reads the binaries, too. `matrices` are folders that are put over those that
    ship.

    Raises SnapshotError, TargetError, RequirementsError, ProjectError, AssumeError, DocumentError,
    UnsupportedSystemError, and ValueError for a language that there is not.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language is one of {', '.join(LANGUAGES)}, not {language!r}")
    from envdoctor.rules.concluded import conclude

    files = tuple(os.fspath(file) for file in requirements)
    folders = tuple(os.fspath(folder) for folder in project)
    added = tuple(os.fspath(folder) for folder in matrices)
    if facts is None or isinstance(facts, (str, os.PathLike)):
        path = None if facts is None else os.fspath(facts)
        inputs = Inputs(python, env, path, tuple(assume), files, folders, deep=deep, matrices=added)
        observed, loaded = gather(inputs)
    else:
        loaded = matrices_with(added)
        if files:
            facts = _asking(facts, Inputs(assume=tuple(assume), requirements=files))
        if folders:
            facts = _with_projects(facts, folders, loaded)
        observed = assuming(facts, assume, loaded)
    return conclude(observed, loaded, language)
