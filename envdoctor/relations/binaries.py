"""What binaries say of the build that they are of, where its version does not."""

from __future__ import annotations

from typing import Dict, List, Tuple

from packaging.version import Version

from envdoctor.model.build import Build, Value
from envdoctor.model.facts import LinkedBuild, Target
from envdoctor.model.versions import series, try_parse

_OF_ANOTHER_TORCH = "torch-abi-mismatch"


def as_linked(domain: Tuple[Build, ...], name: str, target: Target) -> Tuple[Build, ...]:
    """The builds of a package that its binaries can be of; all of them where they say nothing.

    Which CUDA runtime they need and how strings are mangled rules builds out. What loads beside the
    torch that is here is as good as built for it; what does not, for want of functions of torch,
    was built for another one.
    """
    linking = target.linking.value
    linked = linking.builds.get(name) if linking is not None else None
    if linking is None or linked is None:
        return domain
    domain = _kept(domain, [build for build in domain if _is_consistent(build, linked)])
    here = _here(target)
    if "torch" not in here:
        return domain
    if linked.loads:
        return _beside(domain, here, linked)
    causes = {one.cause for one in linking.binaries if one.distribution == name}
    if _OF_ANOTHER_TORCH in causes:
        others = [build for build in domain if build.attributes.get("torch") != here["torch"]]
        return _kept(domain, others)
    return domain


def _kept(domain: Tuple[Build, ...], builds: List[Build]) -> Tuple[Build, ...]:
    return tuple(builds) or domain


def _is_consistent(build: Build, linked: LinkedBuild) -> bool:
    """Whether the binaries of a build need this runtime, and mangle names like this."""
    cuda, abi = build.attributes.get("cuda"), build.attributes.get("abi")
    runtime = try_parse(linked.cuda) if linked.cuda else None
    if runtime is not None and cuda == "cpu":
        return False
    if runtime is not None and isinstance(cuda, Version):
        # From CUDA 11 on the SONAME is the major release's, with a ".0" in 11's.
        same = cuda.major == runtime.major
        if not same or (cuda.major < 11 and cuda.minor != runtime.minor):
            return False
    return not (linked.abi is not None and isinstance(abi, int) and abi != linked.abi)


def _here(target: Target) -> Dict[str, Value]:
    """The attributes of the torch that is here which builds for it share."""
    files = target.torch
    version = try_parse(files.version.value or "") if files is not None else None
    if files is None or version is None:
        return {}
    found: Dict[str, Value] = {"torch": series(version)}
    cuda = try_parse(files.cuda.value or "")
    if cuda is not None:
        found["cuda"] = cuda
    if files.abi.value is not None:
        found["abi"] = files.abi.value
    return found


def _beside(
    domain: Tuple[Build, ...], here: Dict[str, Value], linked: LinkedBuild
) -> Tuple[Build, ...]:
    """The builds that load beside this torch: those for it; else what is here is taken for one."""
    wheels = [b for b in domain if isinstance(b.attributes.get("torch"), Version)]
    if not wheels:
        return tuple(map(_compiled, domain))
    fitting = [build for build in wheels if build.attributes["torch"] == here["torch"]]
    # One that fits, or was compiled here; where no release has such a wheel and its sources may
    # not even compile beside this torch, what is here is taken for a wheel that does fit.
    others = [build for build in domain if "torch" not in build.attributes] if fitting else []
    likely = [*(fitting or wheels), *map(_compiled, others)]
    return tuple(_as_torch(build, here, linked) for build in likely)


def _compiled(build: Build) -> Build:
    """A build from sources that loads: what they need to compile is past."""
    if build.attributes.get("origin") != "source":
        return build
    return build.with_attributes({"origin": "compiled"})


def _as_torch(build: Build, here: Dict[str, Value], linked: LinkedBuild) -> Build:
    """A build with what loading beside this torch shows: its series, its ABI, its CUDA's major."""
    if not isinstance(build.attributes.get("torch"), Version):
        return build
    told = {"torch": here["torch"]}
    cuda = build.attributes.get("cuda")
    if linked.cuda and isinstance(cuda, Version) and isinstance(here.get("cuda"), Version):
        told["cuda"] = here["cuda"]
    if "abi" in here and "abi" in build.attributes:
        told["abi"] = here["abi"]
    return build.with_attributes(told)
