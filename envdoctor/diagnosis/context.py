"""The lines around those that prove a cause, read from the logs once more."""

from __future__ import annotations

from typing import BinaryIO, Dict, Sequence, Set, Tuple

import msgspec

from envdoctor.diagnosis.reading import terminal
from envdoctor.model.diagnosis import Cause, Diagnosis, ProvingLine

#: Lines that are told before and after one that proves, and how much of each is, in characters.
_BEFORE, _AFTER, _LONGEST = 2, 2, 400
# A line is read in pieces of this size, in bytes.
_PIECE = 1 << 16
# As much of a proving line says that it is the one.
_TELLING = 40


def in_context(diagnosis: Diagnosis, logs: Sequence[Tuple[str, BinaryIO]]) -> Diagnosis:
    """The diagnosis with the lines around its proofs; logs that cannot be read again have none.

    Raises OSError.
    """
    causes = (*diagnosis.causes, *diagnosis.candidates)
    proofs = [proof for cause in causes for proof in cause.evidence]
    only = logs[0][0] if len(logs) == 1 else ""
    around: Dict[str, Dict[int, str]] = {}
    for name, stream in logs:
        wanted = {proof.line for proof in proofs if only or proof.log == name}
        if wanted and stream.seekable():
            stream.seek(0)
            around[name] = _lines(stream, wanted)

    def proof(one: ProvingLine) -> ProvingLine:
        lines = around.get(only or one.log, {})
        telling = one.text.strip()[:_TELLING]
        # What is packed or in another encoding has other lines here.
        if one.before or one.after or telling not in lines.get(one.line, ""):
            return one
        before = [lines.get(number, "") for number in range(max(1, one.line - _BEFORE), one.line)]
        after = [lines[n] for n in range(one.line + 1, one.line + _AFTER + 1) if n in lines]
        return msgspec.structs.replace(one, before=tuple(before), after=tuple(after))

    def cause(one: Cause) -> Cause:
        return msgspec.structs.replace(one, evidence=tuple(map(proof, one.evidence)))

    return msgspec.structs.replace(
        diagnosis,
        causes=tuple(map(cause, diagnosis.causes)),
        candidates=tuple(map(cause, diagnosis.candidates)),
    )


def _lines(stream: BinaryIO, wanted: Set[int]) -> Dict[int, str]:
    """The lines around those that are wanted, by number, as a terminal shows them."""
    kept = {near for one in wanted for near in range(one - _BEFORE, one + _AFTER + 1)}
    last = max(kept)
    found: Dict[int, str] = {}
    number, is_begun = 1, False
    while number <= last:
        piece = stream.readline(_PIECE)
        if not piece:
            break
        if number in kept and not is_begun:
            # What a carriage return overwrote is not to be seen any more.
            shown = piece.rstrip(b"\r\n").rpartition(b"\r")[2]
            found[number] = terminal.text(shown[: 4 * _LONGEST])[:_LONGEST]
        is_begun = not piece.endswith(b"\n")
        number += not is_begun
    return found
