"""Keeps what was decoded from text files in the user's cache folder.

Parsing YAML would take most of a check's time. An entry is keyed by the content of the files and
by the code that decodes them; one that was altered or cannot be read or written is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Callable, Dict, Sequence, Tuple, Type, TypeVar

import msgspec

from envdoctor import __version__
from envdoctor.cache import store
from envdoctor.knowledge.document import decoded

T = TypeVar("T")

#: A file's name for messages, and its content.
Source = Tuple[str, bytes]


def cached(
    name: str,
    sources: Sequence[Source],
    code: Sequence[Path],
    kind: Type[T],
    make: Callable[[Dict[str, str]], T],
) -> T:
    """What `make` makes of the texts of `sources`, from the cache if it is there.

    `code` are the modules that decode them, `kind` what msgspec decodes the entry as. Raises what
    `make` raises, and DocumentError for a source that is not UTF-8.
    """
    digest = hashlib.sha256(__version__.encode())
    for path in code:
        digest.update(path.read_bytes())
    for source, content in sources:
        digest.update(b"%s %d " % (source.encode(), len(content)))
        digest.update(content)
    entry = f"{name}-{digest.hexdigest()[:32]}.msgpack"
    kept = store.read(entry)
    if kept is not None:
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.msgpack.decode(kept, type=kind)
    made = make({source: decoded(source, content) for source, content in sources})
    store.write(entry, msgspec.msgpack.encode(made), family=f"{name}-", keep=0)
    return made
