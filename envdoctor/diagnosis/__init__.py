"""From the log of a failure to its root cause."""
