"""From what a user wants to have to the stack that answers it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence, Tuple, Union

from envdoctor.commands.session import Inputs, Matrices, gather
from envdoctor.model.language import ENGLISH, LANGUAGES
from envdoctor.model.resolution import (
    HOST,
    IMAGE,
    IMPOSSIBLE,
    RELAXED,
    SOLVED,
    TARGETS,
    UNKNOWN,
    VENV,
    Member,
    Resolution,
)
from envdoctor.model.text import clean
from envdoctor.resolver.asking import COMMAND_LINE, AskingError, Options, Question

# Imported where they are used: `--help` is not to wait for them.
if TYPE_CHECKING:
    from envdoctor.actions.index import Platform
    from envdoctor.facts.requirements import Reading
    from envdoctor.knowledge.load import Knowledge
    from envdoctor.knowledge.profiles import Profile
    from envdoctor.model.facts import Facts
    from envdoctor.relations.judge import Relations
    from envdoctor.resolver.request import Learned, Request

Path = Union[str, "os.PathLike[str]"]

_OPERATOR = re.compile(r"[=<>!~@]|\[[^\]]*\]$")
_PROFILE_FILE = (".yaml", ".yml")
_REQUIREMENT_FILES = (".txt", ".in", ".toml", ".lock")
_CONDA_FILE = re.compile(r"(?i)(?:conda|environment)[\w.-]*\.ya?ml")
#: As conda writes it.
_ONE_SIGN = re.compile(r"([A-Za-z][\w.-]*)=([\w.+*-]{1,60})")
#: What --assume takes, and people write so.
_ASSUMED = ("gpu", "driver", "glibc", "gcc", "toolkit", "cudnn", "os", "python")
_LONGEST = 10_000
_MOST = 1_000
_NEAR = 3


class Asking(NamedTuple):
    """What is asked besides; the first two ask the network."""

    tree: bool = False  # what an installer chooses around the stack
    verify: bool = False  # whether each of its files exists
    bounds: bool = False  # what the stack allows of all other packages


OFFLINE = Asking()


class ProfileError(RuntimeError):
    """The file of a profile cannot be read; the message names it."""


class Wanted(NamedTuple):
    """What is asked for: a profile, by name or file; requirement files; requirements."""

    profile: str = ""
    files: Tuple[str, ...] = ()
    texts: Tuple[str, ...] = ()


def sorted_out(
    what: Sequence[str], profile: str, files: Sequence[str], matrices: Matrices
) -> Wanted:
    """What each word of a command line is: a profile, a file that is one, or a requirement.

    Raises AskingError, which says what is near.
    """
    if len(what) > _MOST:
        raise AskingError(f"{_MOST} requirements are as many as can be named: write them to a file")
    named = [profile] if profile else []
    texts = []
    for word in what:
        if len(word) > _LONGEST:
            raise AskingError(f"{clean(word, 40)!r} is no requirement: {len(word)} characters")
        if _is_file(word):
            named.append(word)
        elif _OPERATOR.search(word):
            if word.startswith("-"):
                raise AskingError(f"{clean(word, 60)!r} is no requirement")
            texts.append(word)
        elif word.lower() in {name.lower() for name in (*_profile_names(), *_titles())}:
            named.append(word.lower())
        else:
            texts.append(_package(word, matrices()))
    chosen = list(dict.fromkeys(named))
    if len(chosen) > 1:
        names = " and ".join(clean(name, 60) for name in chosen[:2])
        raise AskingError(f"one profile is resolved at a time, not {names}")
    if not chosen and not texts and not files:
        listed = ", ".join(_profile_names())
        raise AskingError(
            "name a profile, requirements such as 'torch==2.1.0', or --requirements FILE; "
            f"profiles: {listed}"
        )
    return Wanted(chosen[0] if chosen else "", tuple(files), tuple(texts))


def _names_a_file(name: str) -> bool:
    """Whether a profile is that of a file, and not one that ships."""
    return "/" in name or name.endswith(_PROFILE_FILE)


def _is_file(word: str) -> bool:
    """Whether a word names a file that is a profile. Raises AskingError for other files."""
    name = word.rpartition("/")[2].lower()
    if "://" in word or (not name.endswith(_PROFILE_FILE) and "@" in word):
        return False
    if name.endswith(_REQUIREMENT_FILES) or _CONDA_FILE.fullmatch(name):
        shown = clean(word)
        raise AskingError(f"{shown} is no profile: requirement files are named by --requirements")
    if _names_a_file(name):
        return True
    if "/" in word and not _OPERATOR.search(word):
        raise AskingError(
            f"{clean(word)} is no profile and no requirement; a source tree is asked for as "
            "'NAME @ file:///FOLDER'"
        )
    return False


def _profile_names() -> List[str]:
    from envdoctor.knowledge.profiles import profiles

    return [one.profile for one in profiles()]


def _titles() -> List[str]:
    from envdoctor.knowledge.profiles import profiles

    return [one.title for one in profiles()]


def _package(word: str, knowledge: Knowledge) -> str:
    """The name of a package as a requirement. Raises AskingError for what is none."""
    import difflib

    from envdoctor.model.names import canonical
    from envdoctor.relations.wanted import nearest_packages

    name = canonical(word)
    if name in knowledge.packages:
        return name
    short = clean(word, 60)
    listed = _profile_names()
    near = difflib.get_close_matches(word[:60].lower(), listed, n=_NEAR, cutoff=0.6)
    near += nearest_packages(canonical(word[:60]), knowledge)
    nearest = " or ".join(dict.fromkeys(near))
    hint = f"nearest: {nearest}" if near else f"profiles: {', '.join(listed)}"
    raise AskingError(f"no profile and no package of the matrices is called {short!r}; {hint}")


def answer(
    wanted: Wanted,
    facts: Facts,
    knowledge: Knowledge,
    options: Options,
    python: str = "",
    language: str = ENGLISH,
    asking: Asking = OFFLINE,
) -> Resolution:
    """The best stack for what is wanted on the machine of `facts`; `python` is asked for as well.

    Raises AskingError and what reading the files and the profile raises.
    """
    from envdoctor.facts.requirements import read_all

    profile = _profile(wanted.profile)
    for text in wanted.texts:
        _expect_requirement(text)
    reading = read_all(wanted.files, [(text, COMMAND_LINE) for text in wanted.texts])
    if reading.notes and not reading.lines and profile is None:
        raise AskingError(f"there is nothing to resolve: {reading.notes[0]}")
    return resolved(profile, reading, facts, knowledge, options, python, language, asking)


def _expect_requirement(text: str) -> None:
    """Raise AskingError for a word that is none, with what a pin as conda writes it means."""
    from envdoctor.facts.requirements import RequirementsError, read_all

    try:
        read_all((), [(text, COMMAND_LINE)])
    except RequirementsError as error:
        match = _ONE_SIGN.fullmatch(text)
        if match is None:
            raise AskingError(str(error)) from None
        name, value = match.groups()
        meant = f"--assume {text}" if name in _ASSUMED else f"{name}=={value}"
        raise AskingError(f"{clean(text)!r}: did you mean {clean(meant)}?") from None


def _profile(name: str) -> Optional[Profile]:
    if not name:
        return None
    from envdoctor.knowledge.document import DocumentError
    from envdoctor.knowledge.profiles import load_profile

    try:
        return load_profile(name)
    except DocumentError as error:
        if _names_a_file(name):
            raise ProfileError(str(error)) from None
        raise AskingError(str(error)) from None


def python_of(inputs: Inputs) -> str:
    """The Python that is assumed, "3.8"; "" if it is left open."""
    from envdoctor.facts.requirements import is_python

    python = ""
    for setting in inputs.settings:
        key, _, value = setting.partition("=")
        if key.strip() == "python" and is_python(value.strip()):
            python = value.strip()
    return python


def resolved(
    profile: Optional[Profile],
    reading: Reading,
    facts: Facts,
    knowledge: Knowledge,
    options: Options,
    python: str = "",
    language: str = ENGLISH,
    asking: Asking = OFFLINE,
) -> Resolution:
    """The best stack for a profile and what was read of requirements, on the machine of facts.

    Raises AskingError.
    """
    import msgspec

    from envdoctor.relations.judge import Relations
    from envdoctor.resolver.asking import UnheardOfError, questions
    from envdoctor.resolver.resolve import resolve as search
    from envdoctor.resolver.stated import with_profile

    target = facts.target.value
    here = target.version if target is not None else ""
    architecture = facts.machine.architecture.value
    if profile is not None:
        knowledge = with_profile(knowledge, profile)
    relations = Relations(knowledge)
    try:
        asked = questions(profile, reading, knowledge, options, python, architecture, here)
    except UnheardOfError as error:
        return unknown(str(error), knowledge, options.target, language)
    found: List[Tuple[Question, Resolution]] = [
        (one, search(one.request, facts, relations, language=language)) for one in asked
    ]
    question, best = min(found, key=lambda pair: _rank(pair[1]))
    if asking.tree and best.stack:
        best = _with_tree(question, facts, relations, language)
    if asking.verify and best.stack:
        best = _with_verified(best, facts)
    proved = all(one.optimal or one.status == IMPOSSIBLE for _, one in found)
    return msgspec.structs.replace(
        best,
        optimal=best.optimal and proved,
        stack=tuple(_located(member, question) for member in best.stack),
        notes=(*question.notes, *best.notes),
    )


def _with_tree(question: Question, facts: Facts, relations: Relations, language: str) -> Resolution:
    """The stack that an installer agrees to, with the tree around it."""
    from envdoctor.actions.installer import ask
    from envdoctor.actions.learn import resolve_tree
    from envdoctor.resolver.resolve import resolve as search

    def solve(request: Request, learned: Sequence[Learned]) -> Resolution:
        return search(request, facts, relations, learned, language, bounded=True)

    return resolve_tree(solve, question.request, ask, relations, _platform(facts))


def _with_verified(resolution: Resolution, facts: Facts) -> Resolution:
    import msgspec

    from envdoctor.actions.verify import verify

    return msgspec.structs.replace(resolution, verified=verify(resolution, _platform(facts)))


def _platform(facts: Facts) -> Platform:
    """What wheels must fit where a stack does not say it: this machine's processor and library."""
    import platform

    from envdoctor.actions.index import Platform

    target = facts.target.value
    return Platform(
        (target.version if target is not None else "") or platform.python_version(),
        facts.machine.architecture.value or platform.machine(),
        facts.machine.glibc.value or "",
    )


def _rank(resolution: Resolution) -> Tuple[int, Tuple[object, ...]]:
    """What is preferred of several answers: any stack, then the one that costs least."""
    order = (SOLVED, UNKNOWN, IMPOSSIBLE)
    status = SOLVED if resolution.status == RELAXED else resolution.status
    return order.index(status), tuple(one.value for one in resolution.criteria)


def _located(member: Member, question: Question) -> Member:
    """A member that is taken from where a line says, if one does."""
    import msgspec

    line = question.located.get(member.component)
    if line is None:
        return member
    return msgspec.structs.replace(
        member, origin="source", url=line.url, requirement=line.text, arguments=(line.text,)
    )


def unknown(reason: str, knowledge: Knowledge, target: str, language: str) -> Resolution:
    """The answer where the matrices do not know what is asked about."""
    from envdoctor import __version__

    return Resolution(
        command="resolve",
        envdoctor_version=__version__,
        matrices_date=knowledge.date,
        status=UNKNOWN,
        target=target,
        reason=reason,
        matrices_added=knowledge.added,
        language=language,
    )


def deep_for(target: Optional[str]) -> Optional[bool]:
    """Whether binaries are looked at: what is known of an environment that is to be kept."""
    return None if target == HOST else False


def target_of(chosen: Optional[str], wanted: Wanted) -> str:
    """What may be chosen freely, where nobody says it: of a profile the image, too."""
    return chosen or (IMAGE if wanted.profile else VENV)


def resolve(
    *what: str,
    profile: Optional[Path] = None,
    requirements: Sequence[Path] = (),
    gpu: Union[str, Sequence[str]] = (),
    driver: str = "",
    target: Optional[str] = None,
    keep: Sequence[str] = (),
    no_source: bool = False,
    prefer: Sequence[str] = (),
    python: Optional[str] = None,
    env: Optional[str] = None,
    facts: Union[Path, Facts, None] = None,
    assume: Sequence[str] = (),
    language: str = ENGLISH,
    matrices: Sequence[Path] = (),
    tree: bool = False,
    verify: bool = False,
) -> Resolution:
    """Look for the best stack as `envdoctor resolve` does, and return it, or why there is none.

    `what` are profiles' names and requirements, as on the command line; `profile` is a name or the
    path of a file, `requirements` are the paths of files. `gpu` and `driver` are short for
    `assume`, which holds settings such as "gpu=a100" or "python=3.8". `target` is what may be
    chosen: the packages of an environment ("host"), a new one ("venv"), an image; without it the
    image for a profile, else a new environment. `keep`, `no_source` and `prefer` are as the options
    of these names. `python`, `env` and `facts` say what is examined, `language` is that of the
    words: "en" or "zh". `matrices` are folders that are put over those that ship. With `tree` an
    installer is asked for what stands around the stack, and with `verify` the indexes whether each
    of its files exists; else nothing is asked of the network.

    Raises AskingError (a ValueError) for what cannot be asked, SnapshotError, TargetError,
    RequirementsError, AssumeError, DocumentError, UnsupportedSystemError, and ValueError for a
    language or a target that there is not.
    """
    from envdoctor.commands.session import assuming, matrices_with
    from envdoctor.resolver.asking import order_of

    if language not in LANGUAGES:
        raise ValueError(f"language is one of {', '.join(LANGUAGES)}, not {language!r}")
    if target is not None and target not in TARGETS:
        raise ValueError(f"target is one of {', '.join(TARGETS)}, not {target!r}")
    cards = gpu if isinstance(gpu, str) else ",".join(gpu)
    shorts = [f"{key}={value}" for key, value in (("gpu", cards), ("driver", driver)) if value]
    inputs = Inputs(
        python,
        env,
        os.fspath(facts) if isinstance(facts, (str, os.PathLike)) else None,
        (*assume, *shorts),
        deep=deep_for(target),
        matrices=tuple(os.fspath(folder) for folder in matrices),
    )
    if facts is None or isinstance(facts, (str, os.PathLike)):
        observed, loaded = gather(inputs)
    else:
        loaded = matrices_with(inputs.matrices)
        observed = assuming(facts, inputs.assume, loaded)
    named = "" if profile is None else os.fspath(profile)
    wanted = sorted_out(what, named, [os.fspath(file) for file in requirements], loaded)
    options = Options(target_of(target, wanted), tuple(keep), no_source, order_of(prefer))
    return answer(
        wanted,
        observed,
        loaded(),
        options,
        python_of(inputs),
        language,
        Asking(tree, verify, bounds=True),
    )
