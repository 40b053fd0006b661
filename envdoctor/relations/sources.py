"""Which builds from source an installation of requirement files starts, and what they would use.

A build is due where pip would take sources: no wheel is published, none for this Python, the files
name no page that has one, or they name the sources themselves. What a build needs, the matrices say
among the attributes of builds whose origin is "source".
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.package import Package
from envdoctor.model.build import ABSENT, Build, Unknown, Value
from envdoctor.model.facts import Compiler, Distribution, Facts, Observed, Target, Toolkit
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import satisfies, try_parse
from envdoctor.relations.choice import Choice
from envdoctor.relations.components import DOTTED, PYTHON
from envdoctor.relations.environment import imported
from envdoctor.relations.judge import Domain, Domains, Relations, judge
from envdoctor.relations.observe import Observation, is_source, set_modules

T = TypeVar("T")

#: What pip puts into the environment that it makes for a build, at the newest release for a Python.
ISOLATED = ("pip", "setuptools", "cython")
_NEWEST = "the newest for this Python, which pip takes for a build"


class SourceBuild(NamedTuple):
    """A build from source that is due."""

    build: Build  # its attributes say what building it needs
    asked: Distribution  # what asks for it; its path is the line
    compiled: bool  # False where its setup.py may fetch a wheel that fits
    certain: bool  # whether no index that pip may be told of has a wheel

    @property
    def name(self) -> str:
        """The canonical name of the package."""
        return self.build.component

    def needs(self, attribute: str) -> Value:
        """What the matrices say of a need; unknown where they do not."""
        return self.build.attributes.get(attribute, Unknown(attribute))

    def lists(self, attribute: str) -> Tuple[str, ...]:
        """A need that is a list; empty where it is not known."""
        value = self.needs(attribute)
        return value if isinstance(value, tuple) else ()

    @property
    def compiles(self) -> str:
        """What is compiled: "cuda", "c++", "c"; "" where nothing is, or a wheel may be fetched."""
        value = self.needs("compiles")
        return value if self.compiled and isinstance(value, str) else ""


def sources_due(
    choice: Choice, target: Target, relations: Relations, accelerator: str = ""
) -> Tuple[SourceBuild, ...]:
    """The builds from source that pip would start for `target`, in the order of its lines."""
    knowledge, domains = relations.knowledge, choice.observation.domains
    found = []
    for name, wanted in imported(target).items():
        package = knowledge.packages.get(name)
        if package is None or wanted.installer == "conda":
            continue
        if not wanted.direct_url and not choice.pages_known:
            continue  # an index that is not known may have a wheel
        build = _sources(package, wanted, domains)
        if build is not None:
            compiled = _is_compiled(build, domains, relations, accelerator)
            found.append(SourceBuild(build, wanted, compiled, _is_certain(build, wanted, choice)))
    return tuple(found)


def _sources(package: Package, wanted: Distribution, domains: Domains) -> Optional[Build]:
    """The build of sources that is taken; None where pip may take a wheel."""
    if wanted.direct_url.partition("#")[0].endswith(".whl"):
        return None
    builds = [b for b in domains[package.name] if isinstance(b, Build)]
    if not builds and wanted.direct_url:
        # Sources of no release that is named: most are later than the last.
        latest = [b for b in package.builds(package.newest) if is_source(b)]
        return Build(package.name, None, latest[0].attributes) if latest else None
    fetched = any(b.attributes.get("fetches") is True for b in builds)
    if not builds or not (fetched or all(is_source(b) for b in builds)):
        return None
    found = next((b for b in builds if is_source(b)), None)
    if found is not None and "repository" in found.attributes and not wanted.direct_url:
        return None  # PyPI has no sources of it
    return found


def _is_certain(build: Build, wanted: Distribution, choice: Choice) -> bool:
    every = [b for b in choice.possible.get(build.component, ()) if isinstance(b, Build)]
    fetched = build.attributes.get("fetches") is True
    return bool(wanted.direct_url) or fetched or all(is_source(b) for b in every)


def _is_compiled(build: Build, domains: Domains, relations: Relations, accelerator: str) -> bool:
    """Whether setup.py finds no wheel to fetch; it may, where its torch is not known."""
    if build.attributes.get("fetches") is not True:
        return True
    name = build.component
    wheels = tuple(b for b in domains[name] if isinstance(b, Build) and not is_source(b))
    if not wheels or not all(isinstance(b, Build) for b in domains.get("torch", (ABSENT,))):
        return False
    return not judge(relations, name, {**domains, name: wheels}, accelerator).survivors


# --- what they would use --------------------------------------------------------------------------


def is_of_this_machine(facts: Facts, tool: Observed[T]) -> bool:
    """Whether a tool is one that the build would find: not where another machine is assumed."""
    assumed = (
        facts.accelerator.gpus.assumed,
        facts.accelerator.driver.assumed,
        facts.machine.os.assumed,
        facts.machine.glibc.assumed,
    )
    return tool.assumed or not any(assumed)


def is_absent(facts: Facts, tool: Observed[T]) -> bool:
    """Whether a tool was looked for where the build runs, and is not there."""
    return tool.absent and is_of_this_machine(facts, tool)


def with_sources(
    observation: Observation, due: Tuple[SourceBuild, ...], knowledge: Knowledge
) -> Observation:
    """An observation in which sources of no named release are what their project's last are."""
    domains = dict(observation.domains)
    for one in due:
        if not any(isinstance(value, Build) for value in domains[one.name]):
            domains[one.name] = (one.build,)
    set_modules(domains, knowledge)
    return observation._replace(domains=domains)


def with_tools(observation: Observation, facts: Facts) -> Observation:
    """An observation in which `build.` is what a source build would find on this machine."""
    domains, evidence = dict(observation.domains), dict(observation.evidence)
    tools = facts.tools
    _put_toolkit(domains, evidence, facts, tools.toolkit)
    compiler = tools.compiler if tools.compiler.assumed else tools.nvcc_compiler
    _put_compiler(domains, evidence, facts, compiler)
    return observation._replace(domains=domains, evidence=evidence)


def _put_toolkit(
    domains: Dict[str, Domain],
    evidence: Dict[str, Evidence],
    facts: Facts,
    toolkit: Observed[Toolkit],
) -> None:
    found = toolkit.value
    version = try_parse(found.version) if found is not None else None
    if found is None or version is None or not is_of_this_machine(facts, toolkit):
        return
    domains["build.toolkit"] = (version,)
    what = DOTTED["build.toolkit"]
    evidence["build.toolkit"] = Evidence(what, found.version, _where(toolkit, found.path))


def _put_compiler(
    domains: Dict[str, Domain],
    evidence: Dict[str, Evidence],
    facts: Facts,
    compiler: Observed[Compiler],
) -> None:
    found = compiler.value
    version = try_parse(found.version) if found is not None else None
    if found is None or version is None or not is_of_this_machine(facts, compiler):
        return
    for family in ("gcc", "clang"):
        component = f"build.{family}"
        domains[component] = (version if family == found.family else ABSENT,)
        if family == found.family:
            evidence[component] = Evidence(family, found.version, _where(compiler, found.path))


def _where(tool: Observed[T], path: str) -> str:
    return "assumed" if tool.assumed else path or tool.origin


def with_newest(
    observation: Observation, names: Sequence[str], knowledge: Knowledge
) -> Observation:
    """An observation in which these tools of the build are the newest for its Python.

    That is what pip puts into the environment that it makes for a build. Older pips build in the
    environment that is there, which may hold older ones: so what these say is never certain.
    """
    domains, evidence = dict(observation.domains), dict(observation.evidence)
    python = domains.get(PYTHON, ())
    if len(python) != 1 or not isinstance(python[0], Build):
        return observation
    for name in names:
        newest = _newest(knowledge.packages.get(name), python[0])
        if newest is not None:
            domains[f"build.{name}"] = (newest,)
            what = DOTTED[f"build.{name}"]
            evidence[f"build.{name}"] = Evidence(what, str(newest), _NEWEST)
    domains["build.isolated"] = (True,)
    return observation._replace(domains=domains, evidence=evidence)


def _newest(package: Optional[Package], python: Build) -> Optional[Version]:
    """The newest release of a package that serves a Python."""
    if package is None or python.version is None:
        return None
    fitting: List[Version] = []
    for build in package.builds():
        wanted = build.attributes.get("requires_python")
        if build.version is None or not isinstance(wanted, str):
            continue
        if satisfies(python.version, wanted):
            fitting.append(build.version)
    return max(fitting, default=None)
