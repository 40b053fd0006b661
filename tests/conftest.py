from __future__ import annotations

from hypothesis import settings

# Machines that run tests are slow at times; what a property costs is measured in benchmarks.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")
