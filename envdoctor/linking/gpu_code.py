"""The GPU code in the libraries of each distribution of an environment."""

from __future__ import annotations

import re
from typing import Dict, List, Set, Tuple

import msgspec

from envdoctor.elf.gpu_code import GpuImages, read_gpu_images, summarize
from envdoctor.linking.files import SharedObject, shared_objects
from envdoctor.model.facts import FAILED, GpuCode, Linking, Observed, Target
from envdoctor.model.text import clean

#: NVIDIA's own libraries, wherever they lie: they choose among kernels for each GPU by themselves,
#: and what they have is nothing that a package was compiled for.
_NVIDIA = re.compile(
    r"lib(cublas|cublasLt|cudnn\w*|cudart|cufft\w*|cufile\w*|curand|cusolver\w*|cusparse\w*|cupti"
    r"|nccl\w*|npp\w*|nvjpeg\w*|nvJitLink|nvrtc\w*|nvshmem\w*|nvvm|nvptxcompiler\w*|cutensor\w*"
    r"|nvToolsExt|nvinfer\w*)([-.]|$)"
)
#: Of torch those that hold its own kernels. Beside them MAGMA, NVSHMEM and others have code of
#: which torch's release says nothing.
_TORCH = re.compile(r"libtorch(_cuda(_cu|_cpp)?)?\.so$")


def with_gpu_code(
    linking: Observed[Linking], target: Target, projects: Tuple[str, ...] = ()
) -> Observed[Linking]:
    """What was found in the binaries of a target of this machine, with their GPU code.

    A fault of envdoctor's own is told among what is undecided.
    """
    found = linking.value
    if found is None:
        return linking
    try:
        found = msgspec.structs.replace(found, gpu_code=gpu_code_of(target, projects))
    except Exception as error:
        told = clean(f"{FAILED}: {type(error).__name__}: {error}")
        found = msgspec.structs.replace(found, undecided=(*found.undecided, told))
    return msgspec.structs.replace(linking, value=found)


def gpu_code_of(target: Target, projects: Tuple[str, ...] = ()) -> Dict[str, GpuCode]:
    """The GPU code of the distributions of a target of this machine, by canonical name.

    Those without any are left out, and those of which a file cannot be read. Of `projects`, which
    are folders, the trees are read as well.
    """
    found: Dict[str, List[Tuple[SharedObject, GpuImages]]] = {}
    unread: Set[str] = set()
    for file in shared_objects(target, projects):
        if not file.distribution or not _is_own(file):
            continue
        try:
            images = read_gpu_images(file.path)
        except OSError:
            unread.add(file.distribution)  # what it has is not known
            continue
        if images.groups or images.relocatable or images.problem:
            found.setdefault(file.distribution, []).append((file, images))
    told: Dict[str, GpuCode] = {}
    for name, files in found.items():
        # said to come from the file that has most
        first = max(files, key=lambda pair: pair[1].images)[0].path
        code = summarize([images for _, images in files], first)
        if code is not None and name not in unread:
            told[name] = code
    return told


def _is_own(file: SharedObject) -> bool:
    """Whether the GPU code of a file is what its distribution was compiled for."""
    name = file.path.rpartition("/")[2]
    if file.distribution == "torch":
        return _TORCH.match(name) is not None
    return _NVIDIA.match(name) is None
