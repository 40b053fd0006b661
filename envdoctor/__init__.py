"""envdoctor: says before GPU time is burnt whether a training stack can run."""

from __future__ import annotations

# Not typing's: what stands before the standard library on sys.path has not been left out yet.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from envdoctor.commands.session import check as check

__version__ = "0.1.0"
__all__ = ["__version__", "check"]


def __getattr__(name: str) -> Any:
    # Loaded when it is used, so that `import envdoctor` costs nothing.
    if name == "check":
        from envdoctor.commands.session import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
