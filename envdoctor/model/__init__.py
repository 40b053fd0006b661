"""Typed, frozen records that every other package speaks in. Nothing here does I/O."""
