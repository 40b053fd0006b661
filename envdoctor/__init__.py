"""envdoctor: says before GPU time is burnt whether a training stack can run."""

from __future__ import annotations

# Not typing's: what stands before the standard library on sys.path has not been left out yet.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.commands.diagnosing import diagnose as diagnose
    from envdoctor.commands.resolving import resolve as resolve
    from envdoctor.commands.session import check as check

__version__ = "0.1.0"
__all__ = ["__version__", "check", "diagnose", "resolve"]


def __getattr__(name: str) -> Any:
    # Loaded when it is used, so that `import envdoctor` costs nothing.
    if name == "check":
        from envdoctor.commands.session import check

        return check
    if name == "diagnose":
        from envdoctor.commands.diagnosing import diagnose

        return diagnose
    if name == "resolve":
        from envdoctor.commands.resolving import resolve

        return resolve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
