"""From the log of a failure to its root cause."""

from envdoctor.diagnosis.judge import diagnose

__all__ = ["diagnose"]
