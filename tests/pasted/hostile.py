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
    "objects": lambda n: '{"name": "a", ' * (n // 14),
    "names in JSON": lambda n: '"name": "a"\n' * (n // 12),
    "names shown": lambda n: "Name: a\n" * (n // 8),
    "rows of a query": lambda n: "Tesla T4, 535.54.03, 7.5\n" * (n // 25),
    "cells": lambda n: "1, " * (n // 3),
    "trees": lambda n: "├── " * (n // 4),
    "tree rows": lambda n: "├── a v1.0\n" * (n // 11),
    "dots": lambda n: "torch version " + "." * n,
    "words": lambda n: "Using torch " * (n // 12),
    "lines of words": lambda n: "torch 1.9, python 3.8, RTX 3090\n" * (n // 32),
    "headings": lambda n: "### torch\n1.9.0\n" * (n // 16),
    "drivers": lambda n: "NVRM version: " * (n // 14),
    "devices of YOLO": lambda n: "CUDA:0 (" * (n // 8),
    "builds": lambda n: "PyTorch 1 with CUDA 1 (you have " * (n // 32),
    "levels": lambda n: "INFO:" * (n // 5),
    "colours": lambda n: "[1;" * (n // 3),
    "refusals": lambda n: "driver on your system is too old" * (n // 32),
}
