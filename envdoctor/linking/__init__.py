"""Simulates what the dynamic loader would do with the binaries of an environment."""
