"""envdoctor: says before GPU time is burnt whether a training stack can run."""

from __future__ import annotations

__version__ = "0.1.0"
