"""Source trees of projects: what of them a given environment may lack.

Files are read, never imported or run. What is looked for is given (`Interface`); whether an
environment has it, relations judge.
"""

from envdoctor.facts.project.reading import ProjectError, read

__all__ = ["ProjectError", "read"]
