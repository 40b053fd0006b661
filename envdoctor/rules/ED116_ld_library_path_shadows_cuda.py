"""LD_LIBRARY_PATH puts a CUDA library that does not fit before the one that torch brings."""

from __future__ import annotations

from typing import Iterator, Optional, Tuple

from packaging.version import Version

from envdoctor.model.facts import Distribution, Library
from envdoctor.model.finding import Evidence
from envdoctor.model.versions import local_part, parse, try_parse
from envdoctor.rules.library_path import (
    first,
    is_own,
    pinned,
    release,
    seen_first,
    torch_wheel,
    without,
)
from envdoctor.rules.lookup import fix, label, python_says
from envdoctor.rules.rule import Context, Fault

# From this release on torch loads nvJitLink itself, before anything else looks for it: read in
# torch/__init__.py of 2.5.1, 2.6.0, 2.7.1 and 2.9.1.
_LOADS_NVJITLINK = parse("2.6")
_SKIPS_CUDNN = "PYTORCH_SKIP_CUDNN_COMPATIBILITY_CHECK"
# cuDNN in torch/lib, by the series of torch and its CUDA: pytorch/builder common/install_cuda.sh of
# the release branches 1.12 to 2.1. Before, cuDNN was linked statically.
_BUNDLED_CUDNN = {
    ("1.12", "cu113"): (8, 3),
    ("1.12", "cu116"): (8, 3),
    ("1.13", "cu116"): (8, 3),
    ("1.13", "cu117"): (8, 5),
    ("2.0", "cu117"): (8, 5),
    ("2.0", "cu118"): (8, 7),
    ("2.1", "cu118"): (8, 7),
    ("2.1", "cu121"): (8, 9),
}


def examine(context: Context) -> Iterator[Fault]:
    """Report a stub of the driver, and an nvJitLink or a cuDNN that is too old for this torch."""
    yield from _stub(context)
    torch = torch_wheel(context.target)
    if torch is None:
        return
    pins = pinned(context, torch)
    yield from _nvjitlink(context, torch, pins.get("cuda-runtime"))
    yield from _cudnn(context, torch, pins.get("cudnn"))


def _stub(context: Context) -> Iterator[Fault]:
    """A toolkit's stub in place of the driver: every call answers that it is one."""
    library = first(context, "libcuda.so.1")
    gpus = context.facts.accelerator.gpus
    if library is None or "/stubs/" not in library.path or not gpus.value or gpus.assumed:
        return
    yield Fault(
        component="libcuda.so.1",
        words="stub",
        fields={"path": library.path, "variable": library.origin},
        evidence=(seen_first(library),),
        fixes=fix(without(context.target, library.path)),
    )


def _nvjitlink(
    context: Context, torch: Distribution, runtime: Optional[Version]
) -> Iterator[Fault]:
    """Its cuSPARSE asks for the nvJitLink of the same minor release by the names of symbols."""
    version = try_parse(torch.version)
    if runtime is None or version is None or version >= _LOADS_NVJITLINK:
        return
    library = first(context, f"libnvJitLink.so.{runtime.major}")
    found = _version(library)
    if library is None or found is None or is_own(context.target, library):
        return
    if release(found) >= release(runtime):
        return
    cuda = ".".join(map(str, release(runtime)))
    yield Fault(
        component=label(torch),
        fields={
            "torch": label(torch),
            "path": library.path,
            "version": str(found),
            "cuda": cuda,
            "symbol": f"__nvJitLinkAddData_{cuda.replace('.', '_')}",
            "variable": library.origin,
        },
        evidence=(seen_first(library), Evidence("CUDA of torch", cuda, torch.path)),
        fixes=fix(without(context.target, library.path)),
        verify=(python_says(context.target, "import torch"),),
    )


def _cudnn(context: Context, torch: Distribution, pin: Optional[Version]) -> Iterator[Fault]:
    """A cuDNN of an older minor release than the one it was compiled with is refused by torch."""
    need = release(pin) if pin is not None else _bundled(torch)
    if need is None or context.target.environ.get(_SKIPS_CUDNN) == "1":
        return
    # With wheels of its own torch loads libcudnn itself from there, and libcudnn loads its parts by
    # name: of these the version is told and checked.
    parts = ("_graph", "_ops", "_ops_infer") if pin is not None else ("", "_ops_infer")
    for part in parts:
        library = first(context, f"libcudnn{part}.so.{need[0]}")
        found = _version(library)
        if library is None or found is None or found.major != need[0]:
            continue
        if pin is not None and is_own(context.target, library):
            continue
        if release(found) < need:
            yield Fault(
                component=label(torch),
                words="cudnn",
                fields={
                    "torch": label(torch),
                    "path": library.path,
                    "version": str(found),
                    "need": ".".join(map(str, need)),
                    "variable": library.origin,
                },
                evidence=(
                    seen_first(library),
                    Evidence("cuDNN of torch", ".".join(map(str, need)), torch.path),
                ),
                fixes=fix(without(context.target, library.path)),
                verify=(
                    python_says(
                        context.target, "import torch; print(torch.backends.cudnn.version())"
                    ),
                ),
            )
            return


def _bundled(torch: Distribution) -> Optional[Tuple[int, ...]]:
    """The cuDNN that lies in torch/lib, where that is known."""
    if any(requirement.startswith("nvidia-") for requirement in torch.requires):
        return None
    version = try_parse(torch.version)
    if version is None:
        return None
    series = f"{version.major}.{version.minor}"
    return _BUNDLED_CUDNN.get((series, local_part(torch.version)))


def _version(library: Optional[Library]) -> Optional[Version]:
    return try_parse(library.version) if library is not None else None
