"""A guard against computing for ever. How fast something is, is measured in benchmarks/."""

from __future__ import annotations

import contextlib
import signal
from types import FrameType
from typing import Iterator, Optional


@contextlib.contextmanager
def must_end(cpu_seconds: float = 60) -> Iterator[None]:
    """Fail what has not ended after far more CPU time of this process than it may ever need.

    Waiting for other processes on a busy machine does not count.
    """

    def ring(_: int, __: Optional[FrameType]) -> None:
        raise AssertionError(f"still computing after {cpu_seconds:g} s of CPU time")

    previous = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
