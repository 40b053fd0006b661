"""paddlepaddle-gpu leaves CUDA and cuDNN to the system, which lacks them or has others.

How it finds them was read in dynamic_loader.cc and in DT_NEEDED of the wheels of 2.0.0 to 2.6.2: by
`libcublas.so` and `libcudnn.so`, the names without a number that come with the headers. Releases
from 3.0 on require `nvidia-*` wheels, and the matrices do not know them.
"""

from __future__ import annotations

from typing import Dict, Iterator, Optional, Tuple

from packaging.version import Version

from envdoctor.model.build import Build
from envdoctor.model.facts import Distribution, Library
from envdoctor.model.finding import Evidence
from envdoctor.model.language import say
from envdoctor.model.versions import try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import evidence, fix, label, python_says
from envdoctor.rules.rule import Context, Fault
from envdoctor.rules.system_libraries import evidence_of

_NAME = "paddlepaddle-gpu"
# With these it looks in a folder that it is told, and nobody else knows what it finds there.
_TOLD = ("FLAGS_cuda_dir", "FLAGS_cublas_dir", "FLAGS_cudnn_dir")
# There the loader looks where no default of glibc's says.
_ELSEWHERE = ("nixos", "guix")


def examine(context: Context) -> Iterator[Fault]:
    """Report libraries that are not there, and those of another major release."""
    paddle = imported(context.target).get(_NAME)
    build = _build(context)
    if paddle is None or build is None or not _finds_by_itself(context, paddle):
        return
    found = {one.soname: one for one in context.facts.machine.libraries.value or ()}
    needed = build.attributes.get("needed")
    gone = _gone(found, tuple(map(str, needed)) if isinstance(needed, tuple) else ())
    if gone:
        yield _lack(context, paddle, build, gone, "")
        return
    gpus = context.facts.accelerator.gpus
    if not gpus.value or gpus.assumed:
        return
    gone = _gone(found, ("libcublas.so", "libcudnn.so"))
    if gone:
        yield _lack(context, paddle, build, gone, "run")
    for soname, attribute in (("libcublas.so", "cuda"), ("libcudnn.so", "cudnn")):
        yield from _other(context, paddle, build, found.get(soname), attribute)


def _build(context: Context) -> Optional[Build]:
    """The build that is installed, where there is no doubt which."""
    domain = context.observed.domains.get(_NAME, ())
    only = domain[0] if len(domain) == 1 else None
    return only if isinstance(only, Build) else None


def _finds_by_itself(context: Context, paddle: Distribution) -> bool:
    """Whether it is a wheel of the project that looks where this rule knows."""
    facts, environ = context.facts, context.target.environ
    wheel = paddle.installer != "conda" and not paddle.editable and bool(paddle.tags)
    system = (facts.machine.os.value or "").partition(":")[0]
    return (
        wheel
        and facts.machine.glibc.known
        and system not in _ELSEWHERE
        and not any(requirement.startswith("nvidia-") for requirement in paddle.requires)
        and not any(environ.get(name) for name in _TOLD)
    )


def _gone(found: Dict[str, Library], names: Tuple[str, ...]) -> Tuple[str, ...]:
    return tuple(name for name in names if name in found and not found[name].path)


def _lack(
    context: Context, paddle: Distribution, build: Build, gone: Tuple[str, ...], words: str
) -> Fault:
    return Fault(
        component=label(paddle),
        words=words,
        fields={
            "paddle": label(paddle),
            "libraries": say(context.language, ", ").join(gone),
            "cuda": str(build.attributes.get("cuda", "")),
            "cudnn": str(build.attributes.get("cudnn", "")),
        },
        evidence=(evidence(paddle), *evidence_of(context, gone)),
        fixes=fix(),
        verify=(python_says(context.target, "import paddle; paddle.utils.run_check()"),),
    )


def _other(
    context: Context,
    paddle: Distribution,
    build: Build,
    library: Optional[Library],
    attribute: str,
) -> Iterator[Fault]:
    """The library that it will take is of another major release than it was compiled with."""
    needs = build.attributes.get(attribute)
    has = try_parse(library.version) if library is not None and library.version else None
    if library is None or has is None or not isinstance(needs, Version):
        return
    if has.major == needs.major:
        return
    yield Fault(
        component=label(paddle),
        words="other",
        severity="warning",
        about=(library.soname,),
        fields={
            "paddle": label(paddle),
            "what": "cuDNN" if attribute == "cudnn" else "CUDA",
            "needs": str(needs),
            "path": library.path,
            "has": library.version,
        },
        evidence=(
            evidence(paddle),
            Evidence(library.soname, f"{library.path} ({library.version})", library.origin),
        ),
        fixes=fix(),
        verify=(python_says(context.target, "import paddle; paddle.utils.run_check()"),),
    )
