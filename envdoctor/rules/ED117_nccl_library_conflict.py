"""LD_PRELOAD puts an NCCL before torch's own that lacks functions which this torch calls."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Evidence
from envdoctor.model.versions import parse, try_parse
from envdoctor.rules.library_path import first, is_own, pinned, release, seen_first, torch_wheel
from envdoctor.rules.lookup import fix, label, python_says
from envdoctor.rules.rule import Context, Fault

# From which torch on, which function, and the newest NCCL that was seen without it: undefined
# symbols of libtorch_cuda.so of 2.0.1 to 2.9.1 against those of NCCL 2.14.3, 2.18.1 and 2.21.5.
# Of torch 2.2 the message of a user says it.
_CALLS = (
    ("2.7", "ncclCommInitRankScalable", (2, 21)),
    ("2.2", "ncclCommRegister", (2, 18)),
)


def examine(context: Context) -> Iterator[Fault]:
    """Report an NCCL that is preloaded and too old; on LD_LIBRARY_PATH it comes after torch's."""
    torch = torch_wheel(context.target)
    library = first(context, "libnccl.so.2")
    if torch is None or library is None or library.origin != "LD_PRELOAD":
        return
    version, found = try_parse(torch.version), try_parse(library.version)
    pin = pinned(context, torch).get("nccl")  # without one NCCL is linked statically
    if version is None or found is None or pin is None or is_own(context.target, library):
        return
    for since, function, newest in _CALLS:
        if version >= parse(since) and release(found) <= newest:
            yield Fault(
                component=label(torch),
                fields={
                    "torch": label(torch),
                    "path": library.path,
                    "version": str(found),
                    "function": function,
                },
                evidence=(
                    seen_first(library),
                    Evidence("NCCL of torch", str(pin), torch.path),
                ),
                fixes=fix("unset LD_PRELOAD"),
                verify=(python_says(context.target, "import torch"),),
            )
            return
