"""Changes of a log that leave its cause where it was. Each is made the same way every time."""

from __future__ import annotations

import random
import re
from typing import Callable, Dict, List

Mutation = Callable[[List[str], random.Random], List[str]]

_TRAINING = [
    "2026-03-04 10:11:{s:02d},123 - mmdet - INFO - Epoch [1][{n}/1024]\tlr: 2.000e-04, loss: 0.{n}",
    "Train: {s}%|####      | {n}/5000 [00:{s:02d}<10:11,  8.1{s}it/s]",
    "INFO:root:step {n} took 0.{s:02d}s",
    "I0304 10:11:{s:02d}.{n} 4242 trainer.py:88] iteration {n}",
]
_INSTALLED = [
    "Requirement already satisfied: addict in ./env/lib/python3.9/site-packages (2.4.{s})",
    "Collecting tqdm",
    "  Downloading tqdm-4.66.{s}-py3-none-any.whl (78 kB)",
    "Installing collected packages: tqdm",
]
_WARNED = [
    "./env/lib/python3.9/site-packages/foo/bar.py:{n}: DeprecationWarning: use baz instead",
    "WARNING: Running pip as the 'root' user can result in broken permissions",
    "/usr/lib/python3/dist-packages/x.py:{n}: FutureWarning: this will change",
]


def _made(lines: List[str], chance: random.Random, count: int) -> List[str]:
    return [
        chance.choice(lines).format(
            s=chance.randrange(10, 60), n=chance.randrange(100, 999), home="/h"
        )
        for _ in range(count)
    ]


def paths(lines: List[str], chance: random.Random) -> List[str]:
    """Other homes, hosts, environments and temporary folders."""
    user = chance.choice(["alice", "j.doe", "zhang_wei", "ubuntu"])
    changes = {
        r"/home/user\b": f"/home/{user}",
        r"C:\\Users\\user\b": f"C:\\\\Users\\\\{user}",
        r"\bhost01\b": "gpu-node-17",
        r"\bminiconda3\b|\banaconda3\b|\bminiforge3\b": "mambaforge",
        r"pip-install-\w+": "pip-install-k3j9x2ab",
        r"pip-build-env-\w+": "pip-build-env-0q8w7e6r",
        r"\benvs([/\\])\w[\w.-]*": r"envs\1bev-39",
    }
    text = "\n".join(lines)
    for pattern, other in changes.items():
        text = re.sub(pattern, other, text)
    return text.split("\n")


#: Packages of a kind, and others of which no matrix knows.
_UNKNOWN = {
    "mmcv-full": "acme-vision",
    "mmcv_full": "acme_vision",
    "mmcv": "acmevision",
    "torch_scatter": "acme_scatter",
    "torch-scatter": "acme-scatter",
    "flash_attn": "acme_attention",
    "flash-attn": "acme-attention",
    "mmdet3d": "acme3d",
    "mmdet": "acmedet",
    "DCNv2": "AcmeConv",
    "diff-gaussian-rasterization": "acme-splatting",
    "diff_gaussian_rasterization": "acme_splatting",
    "pycocotools": "acmecoco",
    "matplotlib": "acmeplot",
}


def packages(lines: List[str], chance: random.Random) -> List[str]:
    """Other packages in place of those that failed."""
    text = "\n".join(lines)
    for name, other in _UNKNOWN.items():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w])", other, text)
        text = text.replace(f"{name}_2_cuda", f"{other}_2_cuda")
    return text.split("\n")


def versions(lines: List[str], chance: random.Random) -> List[str]:
    """Other patch releases of what is downloaded and installed."""
    text = "\n".join(lines)
    changed = lambda match: f"{match.group(1)}{chance.randrange(1, 9)}{match.group(2)}"  # noqa: E731
    return re.sub(r"([a-z]-\d+\.\d+\.)\d+(\.tar\.gz|\.whl|$)", changed, text).split("\n")


def numbers(lines: List[str], chance: random.Random) -> List[str]:
    """Other line numbers of frames, process ids, addresses."""
    text = "\n".join(lines)
    text = re.sub(r"\bline \d+, in", lambda _: f"line {chance.randrange(1, 3000)}, in", text)
    text = re.sub(r"\(pid: \d+\)", lambda _: f"(pid: {chance.randrange(300, 99999)})", text)
    text = re.sub(r"0x[0-9a-f]{8,}", lambda _: f"0x{chance.getrandbits(40):012x}", text)
    return text.split("\n")


def indented(lines: List[str], chance: random.Random) -> List[str]:
    """As in a quotation."""
    return [" " * chance.choice([4, 8]) * bool(line) + line for line in lines]


def in_buildkit(lines: List[str], chance: random.Random) -> List[str]:
    """As docker's builder prints a step."""
    seconds = 10 + chance.random()
    shown = []
    for line in lines:
        seconds += chance.random() / 5
        shown.append(f"#14 {seconds:.3f} {line}")
    return ["#14 [ 9/12] RUN bash setup.sh", *shown]


def in_ci(lines: List[str], chance: random.Random) -> List[str]:
    """As CI prints it."""
    return [
        f"2026-05-06T07:08:{chance.randrange(10, 60)}.{chance.randrange(10**6, 10**7)}Z {line}"
        for line in lines
    ]


def in_rank(lines: List[str], chance: random.Random) -> List[str]:
    """As a launcher marks the lines of one process, with a healthy one between them."""
    shown = []
    for line in lines:
        shown.append(line if line.startswith("[rank") else f"[rank2]: {line}")
        if chance.random() < 0.3:
            shown += [f"[rank5]: {made}" for made in _made(_TRAINING, chance, 1)]
    return shown


def with_noise_before(lines: List[str], chance: random.Random) -> List[str]:
    """After an installation that went well, warnings and some training."""
    return [
        *_made(_INSTALLED, chance, 6),
        "Successfully installed tqdm-4.66.1",
        *_made(_WARNED, chance, 3),
        *_made(_TRAINING, chance, 80),
        *lines,
    ]


def with_noise_after(lines: List[str], chance: random.Random) -> List[str]:
    """Before what a shell script goes on with."""
    return [*lines, "", *_made(_WARNED, chance, 2), "+ echo finished", "finished"]


def in_windows_lines(lines: List[str], chance: random.Random) -> List[str]:
    """With the line ends of Windows and colours."""
    return [
        f"\x1b[{chance.choice([31, 33, 0])}m{line}\x1b[0m\r" if line.strip() else "\r"
        for line in lines
    ]


#: Families of causes that are the same whichever package it was.
OF_ANY_PACKAGE = ("linking", "build")

MUTATIONS: Dict[str, Mutation] = {
    made.__name__: made
    for made in (
        paths,
        packages,
        versions,
        numbers,
        indented,
        in_buildkit,
        in_ci,
        in_rank,
        with_noise_before,
        with_noise_after,
        in_windows_lines,
    )
}
