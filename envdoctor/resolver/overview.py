"""Which models of the profiles can be trained here: in this environment, or in a new one."""

from __future__ import annotations

from typing import Dict, List, Tuple

from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.profiles import Pin, Profile, profiles
from envdoctor.model.build import Build, Unknown
from envdoctor.model.facts import Facts
from envdoctor.model.versions import satisfies
from envdoctor.relations.components import PYTHON
from envdoctor.relations.judge import Domain, Relations, judge
from envdoctor.relations.observe import Observation, observe
from envdoctor.resolver.bruteforce import Wish, stacks

READY = "ready"
NEW = "new env"
NOT_AS_PINNED = "not as pinned"
UNKNOWN = "GPU unknown"
NOT_JUDGED = "not judged"


def models(facts: Facts, knowledge: Knowledge) -> List[Tuple[str, str]]:
    """Each profile's name and what can be said of training it on this machine.

    "ready": the environment holds the stack as the authors pin it, and nothing in it is broken;
    "new env": such an environment can be made for this machine; "not as pinned": none can.
    """
    observed = observe(facts, knowledge)
    relations = Relations(knowledge)
    return [(p.profile, _state(p, observed, relations)) for p in profiles()]


def _state(profile: Profile, observed: Observation, relations: Relations) -> str:
    if _ready(profile, observed, relations):
        return READY
    if observed.accelerator not in ("", "nvidia", "none"):
        return NOT_JUDGED
    if not set(_stated(profile)) <= {*relations.knowledge.packages, PYTHON}:
        return NOT_JUDGED
    if isinstance(observed.domains["host.gpu"][0], Unknown):
        return UNKNOWN
    host: Dict[str, Domain] = {
        name: domain
        for name, domain in observed.domains.items()
        if name.startswith(("host.", "build."))
    }
    wanted = {name: Wish(pin.version, pin.variant) for name, pin in _stated(profile).items()}
    found = next(stacks(relations, host, wanted, observed.accelerator), None)
    return NOT_AS_PINNED if found is None else NEW


def _stated(profile: Profile) -> Dict[str, Pin]:
    """What the authors state of packages that are installed; what they leave open decides nothing.

    Nor do sources that their own tree alone holds: an environment that has the rest compiles them.
    """
    held = {file.package for file in profile.packages if file.releases}
    return {
        name: pin
        for name, pin in profile.pins.items()
        if (pin.version or pin.variant) and name not in held
    }


def _ready(profile: Profile, observed: Observation, relations: Relations) -> bool:
    for name, pin in _stated(profile).items():
        domain = observed.domains.get(name, ())
        build = domain[0] if domain else None
        if not isinstance(build, Build) or build.version is None:
            return False
        if not satisfies(build.version, pin.version):
            return False
        if (
            name in relations.knowledge.packages
            and judge(relations, name, observed.domains, observed.accelerator).violations
        ):
            return False
    return True
