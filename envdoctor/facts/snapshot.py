"""Takes, writes and reads snapshots of facts: JSON that can be attached to a report."""

from __future__ import annotations

import errno
import json
import os
import re
import select
import stat
import sys
import threading
import time
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, Sequence, TypeVar

import msgspec

from envdoctor import __version__
from envdoctor.facts import target
from envdoctor.facts.accelerator import observe_accelerator
from envdoctor.facts.host import Host
from envdoctor.facts.machine import observe_machine
from envdoctor.facts.tools import observe_tools
from envdoctor.model.facts import (
    FAILED,
    SCHEMA_VERSION,
    Accelerator,
    Facts,
    Machine,
    Observed,
    Record,
    Target,
    Tools,
    unseen,
)
from envdoctor.model.text import clean

T = TypeVar("T")

MAX_BYTES = 5 * 1000 * 1000
# Seconds for a writer to a pipe: `--facts <(ssh node envdoctor facts)` examines a machine first.
PATIENCE = 60.0

#: How JSON begins, cut ones too.
_JSON = re.compile(rb"(?:$|\{\s*(?:[\"}]|$)|\[\s*(?:[\"{\[\]]|$))")
# As sys.version_info tells it.
_PYTHON = re.compile(r"3\.\d{1,3}(\.\d{1,3}((a|b|rc)\d{1,3})?)?", re.ASCII)


class SnapshotError(Exception):
    """A snapshot cannot be read; the message is one sentence for the user."""


def observe(
    python: Optional[str],
    env: Optional[str],
    environ: Mapping[str, str],
    providers: Callable[[], Mapping[str, Sequence[str]]],
) -> Facts:
    """Observe this machine and the environment that `target.choose` chooses.

    `providers` gives the packages whose modules are looked for; see `target.observe`.
    Raises target.TargetError if the environment that was asked for is not there.
    """
    host = Host(environ=environ)
    accelerator = _Meanwhile(lambda: observe_accelerator(host))
    observed: Observed[Target]
    try:
        observed = target.observe(target.choose(python, env, environ), providers)
    except target.TargetError as error:
        if python is not None or env is not None:
            raise
        observed = unseen(str(error))  # the machine can be told all the same
    except Exception as error:
        observed = unseen(_failed(error))
    return Facts(
        envdoctor_version=__version__,
        taken=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        machine=_whatever(lambda: observe_machine(host, observed.value), Machine()),
        tools=_whatever(lambda: observe_tools(host, observed.value), Tools()),
        accelerator=_whatever(accelerator.result, Accelerator()),
        target=observed,
    )


def observe_machine_alone(environ: Mapping[str, str]) -> Facts:
    """Observe this machine and no environment on it."""
    host = Host(environ=environ)
    return Facts(
        envdoctor_version=__version__,
        taken=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        machine=_whatever(lambda: observe_machine(host), Machine()),
        tools=_whatever(lambda: observe_tools(host, None), Tools()),
        accelerator=_whatever(lambda: observe_accelerator(host), Accelerator()),
    )


R = TypeVar("R", bound=Record)


def _whatever(observe: Callable[[], R], nothing: R) -> R:
    """What was observed; where a fault of ours keeps it, `nothing`, with that as the reason."""
    try:
        return observe()
    except Exception as error:
        reason = _failed(error)
        facts = [n for n in nothing.__struct_fields__ if isinstance(getattr(nothing, n), Observed)]
        unknown: Dict[str, Observed[Any]] = {name: unseen(reason) for name in facts}
        return msgspec.structs.replace(nothing, **unknown)


def _failed(error: Exception) -> str:
    return clean(f"{FAILED}: {type(error).__name__}: {error}")


class _Meanwhile(Generic[T]):
    """A call that waits for children while others run; concurrent.futures is slow to import."""

    def __init__(self, function: Callable[[], T]):
        self._function = function
        self._results: List[T] = []
        self._errors: List[Exception] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._function())
        except Exception as error:  # raised again in the caller's thread
            self._errors.append(error)

    def result(self) -> T:
        """What the function returned; raises what it raised."""
        self._thread.join()
        if self._errors:
            raise self._errors[0]
        return self._results[0]


def load(path: str) -> Facts:
    """Read a snapshot, or a report as people paste it into trackers; "-" is standard input.

    Raises SnapshotError, which names the file and the place in it, if it cannot be read, is larger
    than 5 MB, or is neither: of another schema version, unfit for the schema, no known report.
    """
    try:
        data = _read(path)
    except (OSError, ValueError) as error:
        raise SnapshotError(f"{path}: cannot be read: {_reason(error)}") from error
    if len(data) > MAX_BYTES:
        raise SnapshotError(f"{path}: is larger than 5 MB, which no snapshot is")
    if _is_text(data):
        return _reported(path, data)
    return _decoded(path, data)


def _is_text(data: bytes) -> bool:
    """Whether it is no JSON. Python prints {'key'; lines of reports may begin with [pip3]."""
    return _JSON.match(data.lstrip()[:1000]) is None


def _reported(path: str, data: bytes) -> Facts:
    from envdoctor.facts.pasted import ReportError, parse

    # Windows' shells write UTF-16 where output is redirected.
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        return parse(data.decode(encoding, "replace"))
    except ReportError as error:
        raise SnapshotError(
            f"{path}: is no snapshot of `envdoctor facts`, nor a report: {error}"
        ) from error


def _decoded(path: str, data: bytes) -> Facts:
    try:
        version = msgspec.json.decode(data, type=_Versioned).schema_version
        if version != SCHEMA_VERSION:
            raise SnapshotError(
                f"{path}: has schema version {version}; this envdoctor reads {SCHEMA_VERSION}"
            )
        facts = msgspec.json.decode(data, type=Facts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SnapshotError(f"{path}: is no snapshot of `envdoctor facts`: {error}") from error
    found = facts.target.value
    if found is None or not (found.python or found.version):
        return facts  # of a report: of the interpreter nothing may be known
    if not _PYTHON.fullmatch(found.version):
        raise SnapshotError(
            f"{path}: is no snapshot of `envdoctor facts`: {clean(found.version, 40)!r} is no "
            "version of Python 3 - at `$.target.value.version`"
        )
    return facts


def _read(path: str) -> bytes:
    """What a file or a pipe holds, up to a byte more than is taken.

    Raises OSError or ValueError; of a pipe that nobody writes to as well.
    """
    if path == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    # Without blocking: a pipe may have no writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise ValueError("it is neither a file nor a pipe")
        data = bytearray()
        while len(data) <= MAX_BYTES:
            chunk = file.read(MAX_BYTES + 1 - len(data))
            if chunk is None:  # the writer takes its time
                if not select.select([descriptor], [], [], PATIENCE)[0]:
                    raise ValueError(f"nothing was written to it for {PATIENCE:g} s")
            elif chunk:
                data += chunk
            else:
                break
    return bytes(data)


class _Versioned(msgspec.Struct):
    schema_version: int


def dump(facts: Facts) -> bytes:
    """The snapshot as indented JSON with sorted keys; the same facts give the same bytes."""
    return _encode(_told(facts), indent=2) + b"\n"


def digest(facts: Facts) -> str:
    """SHA-256 of the content, in hexadecimal: equal for equal facts, whenever they were taken."""
    import hashlib  # here, for its import takes milliseconds

    told = _told(facts)
    told.pop("taken", None)
    return hashlib.sha256(_encode(told, indent=None)).hexdigest()


def _told(facts: Facts) -> Dict[str, Any]:
    told: Dict[str, Any] = msgspec.to_builtins(facts)
    # A default, yet what a reader has to know first.
    told["schema_version"] = facts.schema_version
    return told


def _encode(told: Dict[str, Any], indent: Optional[int]) -> bytes:
    text = json.dumps(told, indent=indent, sort_keys=True, ensure_ascii=False)
    # File names that are not UTF-8 cannot be written in JSON that others accept.
    return text.encode("utf-8", "replace")


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
