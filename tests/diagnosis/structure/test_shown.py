"""Which lines only show a text."""

from __future__ import annotations

from typing import List

import pytest

from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.shown import Shown, prints

FAULT = "RuntimeError: CUDA out of memory"


def _shown(*texts: str) -> List[bool]:
    shown = Shown()
    return [shown.is_shown(Line(number, text)) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    "command",
    [
        "cat README.md",
        "grep -rn 'out of memory' src docs",
        "rg -n nvcc .",
        "git log --oneline | head -5",
        "git diff HEAD~1",
        "strings libtorch_cuda.so | grep -i driver",
        "sed -n 1,20p setup.py",
        "cat requirements.txt",
    ],
)
def test_commands_that_print_what_people_wrote(command: str) -> None:
    assert prints(command)


@pytest.mark.parametrize(
    "command",
    [
        "cat build.log",
        "tail -n 50 train.log",
        "tail -f nohup.out",
        "cat slurm-1234.out",
        "cat run.txt",
        "grep -i error logs/train.log",
        "dmesg | grep -i oom",
        "python train.py | grep loss",
        "cat requirements.txt | xargs pip install",
        "cat README.md && python train.py",
        "git clone https://example.org/x",
        "pip install -r requirements.txt",
    ],
)
def test_commands_that_tell_what_happened(command: str) -> None:
    assert not prints(command)


def test_what_is_printed_ends_at_the_next_command() -> None:
    assert _shown("$ cat README.md", FAULT, "$ python a.py", FAULT) == [False, True, False, False]


def test_a_traceback_is_of_a_document_only_if_it_is_set_apart() -> None:
    head = "Traceback (most recent call last):"
    assert _shown("$ cat README.md", "```", head, "```", "text") == [False, True, True, True, True]
    assert _shown("$ git diff", "+a", head, FAULT) == [False, True, False, False]


def test_differences() -> None:
    lines = ("--- a/x.py", "+++ b/x.py", "@@ -1 +1 @@", f"-{FAULT}", f"+{FAULT}", FAULT)
    assert _shown(*lines) == [False, True, True, True, True, False]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"docs/faq.md:12:{FAULT}", True),
        (f'src/a.py:12:    raise RuntimeError("{FAULT}")', True),
        (f"src/a.py:12: {FAULT}", False),
        ("src/a.cu:12:3: error: no such file", False),
        ('test -e x || echo "nvcc: command not found"', True),
        ("SKIPPED [1] tests/a.py:3: Torch not compiled with CUDA enabled", True),
        ("FAILED tests/a.py::b - AssertionError: Torch not compiled with CUDA enabled", False),
        ("tests/a.py::test_b[CUDA out of memory] PASSED        [ 25%]", True),
        ("- fixes CUDA out of memory", True),
        (FAULT, False),
    ],
)
def test_lines_of_their_own(text: str, shown: bool) -> None:
    assert _shown(text) == [shown]
