"""Texts that mislead careless patterns; each takes a length in characters."""

from __future__ import annotations

from typing import Callable, Dict

MAKERS: Dict[str, Callable[[int], str]] = {
    "quotes": lambda n: "> " * n,
    "prefixes": lambda n: "(pid=1" * n,
    "dictionaries": lambda n: "{'a': " * n,
    "empty lines": lambda n: "\n" * n,
    "pins": lambda n: "x==" * n,
    "hyphens": lambda n: "a-" * n,
    "slashes": lambda n: "a/" * 30 * (n // 60) + "\n",
    "devices": lambda n: ("GPU 0" + ",0" * n)[:n] + ": x",
    "packages": lambda n: "\n".join(f"p{i}==1.0" for i in range(n // 10)),
    "versions": lambda n: "\n".join(f"numpy=={i}.0" for i in range(n // 10)),
    "names": lambda n: "\n".join(f"GPU {i % 100}: Tesla V{i}" for i in range(n // 15)),
    "warnings": lambda n: "with CUDA capability sm_ is not compatible" * (n // 40),
    "lines of warnings": lambda n: (
        ("with CUDA capability sm_ is not compatible" * 400 + "\n") * (n // 16_000)
    ),
    "flags": lambda n: "- NVCC architecture flags: " + ";arch=compute_70,code=sm_70" * (n // 30),
}
