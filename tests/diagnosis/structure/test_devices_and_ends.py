"""What is read of GPUs, drivers, NCCL, the kernel, containers and of how processes end."""

from __future__ import annotations

from typing import Dict, List, Tuple

import pytest

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure import Structure

_EXTENSION = [
    "Traceback (most recent call last):",
    '  File "/venv/lib/python3.9/site-packages/mmcv/ops/nms.py", line 26, in forward',
    "    inds = ext_module.nms(bboxes, scores)",
]
_TORCH = [
    "Traceback (most recent call last):",
    '  File "/venv/lib/python3.9/site-packages/torch/nn/functional.py", line 26, in linear',
    "    return torch._C._nn.linear(input, weight)",
]
_NO_KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"


def _events(kind: str, lines: List[str]) -> List[Event]:
    structure = Structure()
    found = [each for n, text in enumerate(lines, 1) for each in structure.feed(Line(n, text))]
    return [event for event in (*found, *structure.end()) if event.kind == kind]


@pytest.mark.parametrize(
    ("kind", "lines", "fields"),
    [
        ("device", [*_EXTENSION, _NO_KERNEL], {"owner": "extension", "package": "mmcv"}),
        ("device", [*_TORCH, _NO_KERNEL], {"owner": "torch"}),
        ("device", [_NO_KERNEL], {"fault": "no-kernel", "owner": ""}),
        (
            "device",
            [*_TORCH, _NO_KERNEL + " (launch at ./ops/csrc/nms_cuda.cu:50)"],
            {"owner": "extension"},
        ),
        (
            "device",
            [
                "A100 with CUDA capability sm_80 is not compatible with the current PyTorch.",
                "The current PyTorch install supports CUDA capabilities sm_37 sm_70.",
            ],
            {"fault": "refused-arch", "gpu": "A100", "arch": "80", "built": "sm_37 sm_70"},
        ),
        (
            "device",
            ["The NVIDIA driver on your system is too old (found version 11000)."],
            {"fault": "old-driver", "found": "11000"},
        ),
        (
            "nccl",
            ["a:1:2 [0] socket.cc:50 NCCL WARN Connect to 10.0.0.2<4> failed : No route to host"],
            {"topic": "connect", "peer": "10.0.0.2", "reason": "No route to host"},
        ),
        (
            "nccl",
            ["Last error:", "Error while creating shared memory segment /dev/shm/nccl-a (size 96)"],
            {"topic": "shm", "level": "WARN"},
        ),
        (
            "exit",
            ["run.sh: line 3:  1234 Killed                  python train.py"],
            {"signal": "SIGKILL", "pid": "1234", "process": "python train.py"},
        ),
        (
            "exit",
            ["failed (exitcode: -9) local_rank: 1 (pid: 77) of binary: python"],
            {"signal": "SIGKILL", "rank": "1", "by": "torchrun"},
        ),
        ("exit", ["web-1 exited with code 139"], {"signal": "SIGSEGV", "by": "container"}),
        (
            "exit",
            ["slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0."],
            {"reason": "memory", "by": "slurmstepd"},
        ),
        (
            "kernel",
            ["Memory cgroup out of memory: Killed process 12 (python3) total-vm:1kB"],
            {"topic": "oom", "process": "python3", "pid": "12"},
        ),
        (
            "container",
            ["docker: Error response from daemon: unknown or invalid runtime name: nvidia."],
            {"tool": "docker", "message": "unknown or invalid runtime name: nvidia."},
        ),
    ],
)
def test_a_message_is_recognised(kind: str, lines: List[str], fields: Dict[str, str]) -> None:
    """With what it names."""
    (event,) = _events(kind, lines)
    assert {name: event.field(name) for name in fields} == fields


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("exit", "web-1 exited with code 0"),
        ("device", "test_gpu SKIPPED (needs a GPU: CUDA out of memory on small cards)"),
        ("device", "installing the NVIDIA driver"),
        ("nccl", "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 - Init COMPLETE"),
    ],
)
def test_what_is_no_failure_is_not_told(kind: str, text: str) -> None:
    """Of these words a failure could have been read."""
    assert _events(kind, [text]) == []


@pytest.mark.parametrize(
    ("text", "fatal"),
    [
        ("a.py:1: UserWarning: CUDA initialization: Found no NVIDIA driver on your system.", False),
        ("RuntimeError: Found no NVIDIA driver on your system.", True),
    ],
)
def test_a_warning_is_no_failure(text: str, fatal: bool) -> None:
    """It may be the reason of one that follows."""
    found: Tuple[Event, ...] = tuple(_events("device", [text]))
    assert [event.fatal for event in found] == [fatal]
