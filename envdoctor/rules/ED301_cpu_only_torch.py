"""torch is a CPU build although there is a GPU."""

from __future__ import annotations

from typing import Dict, Iterator, Optional

from packaging.version import Version

from envdoctor.model.build import Build
from envdoctor.model.facts import Distribution
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import try_parse
from envdoctor.relations.judge import Relations, judge
from envdoctor.relations.repair import requirement_arguments
from envdoctor.rules.lookup import fix, imported, pip, python_says
from envdoctor.rules.rule import Context, Fault

#: Back-ends that use a CPU build of torch and bring the device themselves.
_PLUGINS = (
    "torch-npu",
    "torch-musa",
    "torch-mlu",
    "torch-gcu",
    "torch-xla",
    "torch-directml",
    "habana-torch-plugin",
    "intel-extension-for-pytorch",
)
#: Frameworks that train on the GPU; torch beside them may be there for a CPU's work.
_FRAMEWORKS = (
    "paddlepaddle-gpu",
    "tensorflow",
    "tf-nightly",
    "jax-cuda",
    "jax-rocm",
    "mindspore",
    "oneflow",
    "mxnet-cu",
    "cupy-cuda",
)


def examine(context: Context) -> Iterator[Fault]:
    """Report it, as information where another framework trains on the GPU."""
    accelerator, torch = context.facts.accelerator, context.target.torch
    gpus = accelerator.gpus
    if torch is None or torch.cuda.value != "cpu" or torch.hip.known or not gpus.value:
        return
    if accelerator.vendor.value not in ("nvidia", "amd"):
        return  # the others' torch is a CPU build with a plugin, or says so in its own way
    installed = imported(context.target)
    if any(plugin in installed for plugin in _PLUGINS):
        return
    other = next((n for n in installed if n.startswith(_FRAMEWORKS)), "")
    version = torch.version.value or ""
    jetson = context.facts.machine.jetson.known
    names = list(dict.fromkeys(gpu.name for gpu in gpus.value))
    yield Fault(
        component=f"torch {version}".rstrip(),
        severity="info" if other else None,
        words="other" if other else "jetson" if jetson else "",
        fields={"torch": f"torch {version}".rstrip(), "gpu": ", ".join(names), "other": other},
        evidence=(
            Evidence("torch.version.cuda", "None", torch.cuda.origin),
            Evidence("GPU", ", ".join(names), "assumed" if gpus.assumed else gpus.origin),
        ),
        fixes=fix(*([] if other or jetson else _commands(context, installed))),
        verify=(python_says(context.target, "import torch; print(torch.version.cuda)"),),
    )


def _commands(context: Context, installed: Dict[str, Distribution]) -> Iterator[str]:
    torch = installed.get("torch")
    if (
        torch is None
        or torch.installer == "conda"
        or context.facts.accelerator.vendor.value != "nvidia"
    ):
        return
    build = _cuda_build(context, try_parse(torch.version))
    arguments = requirement_arguments(build) if build else None
    if arguments:
        # pip takes torch==X as fulfilled by the X+cpu that is there
        yield pip(context.target, "uninstall", "-y", "torch")
        yield f"{pip(context.target, 'install')} {arguments}"  # the matrices' own text


def _cuda_build(context: Context, version: Optional[Version]) -> Optional[Build]:
    """The build of this release for the newest CUDA that breaks no relation here."""
    package = context.knowledge.packages.get("torch")
    if package is None or version is None:
        return None
    relations = Relations(context.knowledge)
    observed = context.observed
    builds = {b: b.attributes.get("cuda") for b in package.builds(version)}
    cuda = {b: c for b, c in builds.items() if isinstance(c, Version) and requirement_arguments(b)}
    for build in sorted(cuda, key=lambda b: cuda[b], reverse=True):
        domains = {**observed.domains, "torch": (build,)}
        if not judge(relations, "torch", domains, observed.accelerator).violations:
            return build
    return None
