"""What a job got over, what it warned of before it failed of something else, and several logs."""

from __future__ import annotations

import io
from typing import List

import pytest

from envdoctor.diagnosis import diagnose
from envdoctor.knowledge.load import load


def _causes(*logs: str) -> List[str]:
    streams = [(f"{n}.log", io.BytesIO(log.encode())) for n, log in enumerate(logs)]
    return [cause.id for cause in diagnose(streams, load()).causes]


OOM = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB\n"
KEY = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    x["f1"]\n'
KEY += "KeyError: 'f1'\n"
STEPS = "Epoch 1 loss 0.4\nEpoch 2 loss 0.3\n"
NO_WANDB = "ModuleNotFoundError: No module named 'wandb'\nwandb disabled\n"
NO_GL = "ImportError: libGL.so.1: cannot open shared object file: No such file or directory\n"
NO_DRIVER = (
    "UserWarning: CUDA initialization: Found no NVIDIA driver on your system. Please check that"
    " you have an NVIDIA GPU and installed a driver\n  return torch._C._cuda_getDeviceCount() > 0\n"
)
NCCL = (
    "node0:12:12 [0] misc/socket.cc:538 NCCL WARN Net : Connect to 10.0.0.2<43210> failed :"
    " Connection refused\nRuntimeError: NCCL error: remote process exited\n"
)


@pytest.mark.parametrize(
    ("log", "causes"),
    [
        (OOM, ["gpu-out-of-memory"]),
        (OOM + STEPS, ["gpu-out-of-memory"]),  # may be another rank's steps
        (OOM + "retrying with batch size 4\n" + STEPS + KEY, []),
        (NO_WANDB + STEPS + OOM, ["gpu-out-of-memory"]),
        (OOM + STEPS + NO_GL, ["opencv-system-libs-missing"]),
        (f"[rank1]: {OOM}[rank0]: Epoch 1 loss 0.4\n[rank0]: KeyError: 1\n", ["gpu-out-of-memory"]),
    ],
)
def test_what_a_training_went_on_after_was_got_over(log: str, causes: List[str]) -> None:
    assert _causes(log)[:1] == causes


def test_a_warning_does_not_explain_a_fault_of_code_or_data() -> None:
    assert _causes(NO_DRIVER + KEY) == []
    failed = "RuntimeError: No CUDA GPUs are available\n"
    assert _causes(NO_DRIVER + failed)[:1] == ["no-nvidia-driver"]


def test_of_several_logs_the_surest_tells_the_root() -> None:
    assert _causes(NCCL, OOM)[0] == _causes(OOM, NCCL)[0] == "gpu-out-of-memory"


def test_tests_that_pass_tell_of_their_own_run() -> None:
    passed = "12 passed in 1.0s\n"
    assert _causes(f"+ python train.py\n{OOM}+ pytest -q\n{passed}") == []
    assert _causes(f"$ python train.py\n{OOM}$ pytest -q\n{passed}") == ["gpu-out-of-memory"]


def test_what_a_sentence_quotes_is_no_fault_and_what_a_record_holds_is() -> None:
    words = "CUDA out of memory. Tried to allocate 2.00 GiB"
    assert _causes(f'How do I fix "{words}"?\n') == []
    assert _causes(f'failed with "{words}"\n') == ["gpu-out-of-memory"]
    assert _causes(f'{{"level": "error", "msg": "{words}"}}\n') == ["gpu-out-of-memory"]


def test_of_the_distributions_of_a_module_the_plainest_is_proposed() -> None:
    log = b"ModuleNotFoundError: No module named 'cv2'\n"
    cause = diagnose([("log", io.BytesIO(log))], load()).causes[0]
    assert [one for fix in cause.fixes for one in fix.commands][:1] == [
        "python -m pip install opencv-python"
    ]


def test_plain_lines_do_not_count_as_failures() -> None:
    """Though words stand in them that a sign waits for."""
    log = b"Cloning into 'pytorch'...\n" + KEY.encode()
    found = diagnose([("log", io.BytesIO(log))], load())
    assert (found.errors, [line.line for line in found.unexplained]) == (1, [5])
