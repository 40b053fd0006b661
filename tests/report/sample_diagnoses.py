"""What logs of failures say, fixed, for tests of what is shown of it."""

from __future__ import annotations

from typing import Dict

from envdoctor.model.diagnosis import (
    Cause,
    Diagnosis,
    LineRange,
    LogRead,
    ProvingLine,
    Stated,
)
from envdoctor.model.finding import Fix

THC = Cause(
    id="thc-headers-removed",
    confidence=0.97,
    summary="mmcv-full 1.4.0 includes THC/THC.h, which torch 1.13.1 no longer has",
    code="ED501",
    why="torch removed the THC headers in 1.11; sources from before do not compile as they are",
    evidence=(
        ProvingLine(
            214,
            "/tmp/pip-install-1x2y/mmcv-full/mmcv/ops/csrc/pytorch/cuda/psamask_cuda.cu:5:10: "
            "fatal error: THC/THC.h: No such file or directory",
            before=("  In file included from mmcv/ops/psamask.cpp:2:", ""),
            after=("      5 | #include <THC/THC.h>", "        |          ^~~~~~~~~~~"),
        ),
        ProvingLine(12, "Collecting torch==1.13.1"),
        ProvingLine(13, "Collecting mmcv-full==1.4.0"),
        ProvingLine(290, "fatal error: THC/THCAtomics.cuh: No such file or directory"),
    ),
    consequences=(
        LineRange(388, 392),
        LineRange(393, 401),
        LineRange(420, 420),
    ),
    component="mmcv-full 1.4.0",
    fixes=(
        Fix(
            "mmcv-full 1.7.1, of which there is a wheel for this torch: nothing is compiled",
            (
                "pip install --only-binary mmcv-full mmcv-full==1.7.1 "
                "-f https://download.openmmlab.com/mmcv/dist/cu117/torch1.13.0/index.html",
            ),
        ),
        Fix("torch 1.10, the last that has the headers"),
        Fix("the sources of mmcv-full 1.4.0, patched"),
    ),
    verify=("envdoctor check", "python -c 'import mmcv.ops'"),
)
PORT = Cause(
    id="rendezvous-port-in-use",
    confidence=0.9,
    summary="port 29500 is taken by another process",
    why="torchrun listens there, unless another port is named",
    evidence=(
        ProvingLine(
            7,
            "RuntimeError: The server socket has failed to listen on any local network address.",
            log="node0.log",
            source="rank 0",
        ),
        ProvingLine(3, "errno: 98 - Address already in use", log="node1.log"),
    ),
    consequences=(LineRange(9, 30, "node0.log"), LineRange(4, 8, "node1.log")),
    source="rank 0",
    fixes=(Fix("another port, or any that is free", ("torchrun --rdzv-endpoint=localhost:0",)),),
)
WEAK = Cause(
    id="gpu-out-of-memory",
    confidence=0.3,
    summary="the GPU has too little memory",
    evidence=(ProvingLine(5, "CUDA out of memory. Tried to allocate 2.00 GiB"),),
)
BUG = ProvingLine(
    9,
    "ZeroDivisionError: division by zero",
    source="rank 1",
    before=("  # " + "\u6570\u636e" * 40, "    1 / 0"),
)
SECRETS = Cause(
    id="private-index-unreachable",
    confidence=0.8,
    summary="https://ann:hunter2@index.example is not reached",
    evidence=(
        ProvingLine(
            3,
            "\x1b]0;title\x07pip install --password hunter2 -i https://ann:hunter2@index.example "
            "\x1b[31m",
            before=("export HF_TOKEN=hf_abcdefghijklmnop", f"AKIA{'B2' * 8} \u202e \x9b31m"),
            after=("Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc",),
        ),
    ),
    component="hf_abcdefghijklmnop\x1b[2J",
    source="\x1b[2Jrank 1",
    fixes=(
        Fix("use --token hunter2 again", ("pip install -i https://ann:hunter2@index.example x",)),
    ),
    verify=("curl -u ann:hunter2 https://index.example",),
)
BUILD = LogRead("build.log", 430, 51_234, "utf-8")

DIAGNOSES: Dict[str, Diagnosis] = {
    "cause": Diagnosis(
        (THC,),
        (WEAK,),
        (BUILD,),
        (Stated("torch", "1.13.1", 12), Stated("mmcv-full", "1.4.0", 13)),
        "/home/ann/facts.json",
        6,
    ),
    "several": Diagnosis(
        (PORT, THC),
        (WEAK,),
        (LogRead("node0.log", 30, 4_000, "utf-8"), LogRead("node1.log", 8, 900, "utf-16")),
        errors=5,
    ),
    "nothing": Diagnosis(
        logs=(LogRead("-", 4_012, 5 << 20, "utf-8", "12"),), errors=2, unexplained=(BUG,)
    ),
    "weak": Diagnosis(candidates=(WEAK,), logs=(BUILD,), errors=1, unexplained=(WEAK.evidence[0],)),
    "empty": Diagnosis(logs=(LogRead("-", 0, 0),)),
    "secrets": Diagnosis((SECRETS,), (), (LogRead("https://ann:hunter2@x", 1, 20),)),
}
