"""What is compiled for which GPUs: the cases of the laboratory."""

from __future__ import annotations

from typing import Dict, NamedTuple, Tuple


class Case(NamedTuple):
    """A library: of each of its kernels the targets that nvcc is told, "80: sm_80,compute_80"."""

    kernels: Dict[str, Tuple[str, ...]]


CASES: Dict[str, Case] = {
    "sm_80 alone": Case({"fill": ("80: sm_80",)}),
    "sm_80 with PTX": Case({"fill": ("80: sm_80,compute_80",)}),
    "sm_90": Case({"fill": ("90: sm_90",)}),
    "sm_75 with PTX": Case({"fill": ("75: sm_75,compute_75",)}),
    "sm_75 alone": Case({"fill": ("75: sm_75",)}),
    "sm_86 alone": Case({"fill": ("86: sm_86",)}),
    "sm_90a": Case({"fill": ("90a: sm_90a",)}),
    "PTX of sm_90a alone": Case({"fill": ("90a: compute_90a",)}),
    "PTX of sm_90 alone": Case({"fill": ("90: compute_90",)}),
    "sm_100 with PTX": Case({"fill": ("100: sm_100,compute_100",)}),
    "sm_100f with PTX": Case({"fill": ("100f: sm_100f,compute_100f",)}),
    "sm_120 alone": Case({"fill": ("120: sm_120",)}),
    "sm_80, sm_86 and sm_90": Case({"fill": ("80: sm_80,sm_86", "90: sm_90")}),
    # some have code for it, some have not: what runs, no list tells
    "one kernel for sm_80, one for sm_90": Case({"fill": ("80: sm_80",), "other": ("90: sm_90",)}),
}

#: The same as extensions of torch: what TORCH_CUDA_ARCH_LIST says.
EXTENSIONS: Dict[str, str] = {
    "torch extension, 8.0": "8.0",
    "torch extension, 8.0+PTX": "8.0+PTX",
    "torch extension, 9.0": "9.0",
    "torch extension, 7.5+PTX": "7.5+PTX",
}
