"""A tree that is not whole: what it lacks is left to the installer, and no lock hides that."""

from __future__ import annotations

import msgspec
import pytest
from lock_stacks import FLASH_ATTENTION, PYPI

from envdoctor.model.resolution import Left, Resolution
from envdoctor.resolver.lock.pylock import pylock
from envdoctor.resolver.lock.steps import installation
from envdoctor.resolver.lock.written import LockError

LEFT = (Left("nvidia-cublas-cu11", "torch 2.1.2+cu118 brings its own"),)


def lacking(resolution: Resolution) -> Resolution:
    return msgspec.structs.replace(resolution, left=LEFT)


def test_pip_brings_what_the_tree_lacks() -> None:
    whole, lacks = installation(FLASH_ATTENTION), installation(lacking(FLASH_ATTENTION))
    assert (whole.complete, lacks.complete) == (True, False)
    # torch of its own page, then the rest of the configured index
    assert [step.no_deps for step in whole.steps[:2]] == [True, True]
    assert [step.no_deps for step in lacks.steps[:2]] == [True, False]


def test_pylock_refuses_it() -> None:
    assert pylock(PYPI).startswith("#")
    with pytest.raises(LockError, match=r"not all is known of nvidia-cublas-cu11: torch 2.1.2"):
        pylock(lacking(PYPI))
