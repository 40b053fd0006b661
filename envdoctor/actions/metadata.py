"""What a distribution requires, read without installing, building or executing it."""

from __future__ import annotations

import email.parser
import email.policy
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from typing import IO, List, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement

from envdoctor.actions.index import File
from envdoctor.actions.web import UnreachableError, Web, origin, shown

_MOST_METADATA = 4 * 2**20
_MOST_SOURCES = 64 * 2**20
_MOST_MEMBERS = 20_000
_MOST_LINES = 2_000
_TAIL = 2**16  # of a wheel: its table of contents
_SECTION = re.compile(r"\[([^\]:]*)(?::(.*))?\]")
_BROKEN = (
    *(OSError, EOFError, KeyError, ValueError, RuntimeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, tarfile.TarError),
)


class Stated(NamedTuple):
    """What a distribution states of itself."""

    requires: Tuple[str, ...]
    requires_python: str = ""
    whole: bool = True  # false where it may require more, which only a build would tell


def stated(web: Web, file: File) -> Optional[Stated]:
    """What a file requires; None where only a build would tell. Raises UnreachableError."""
    if file.metadata:
        answer = web.get(f"{file.url}.metadata", most=_MOST_METADATA)
        if answer.there:
            return _core(answer.content)
    try:
        return _of_sources(web, file) if file.sdist else _of_wheel(web, file)
    except _BROKEN as error:
        raise UnreachableError(f"{shown(file.url)}: {type(error).__name__}") from None


def _core(content: bytes) -> Stated:
    """What METADATA or PKG-INFO says."""
    text = content[:_MOST_METADATA].decode("utf-8", "replace")
    said = email.parser.HeaderParser(policy=email.policy.compat32).parsestr(text)
    requires = [str(line) for line in said.get_all("Requires-Dist") or ()]
    return Stated(_readable(requires), str(said.get("Requires-Python") or ""))


def _readable(lines: Sequence[str]) -> Tuple[str, ...]:
    """The lines that are requirements, on one line each; what an installer refuses is left out."""
    found = []
    for line in lines[:_MOST_LINES]:
        plain = " ".join(line.split())
        try:
            found.append(str(Requirement(plain)))
        except (InvalidRequirement, RecursionError):
            continue
    return tuple(found)


# --- wheels ---------------------------------------------------------------------------------


def _of_wheel(web: Web, file: File) -> Optional[Stated]:
    with _opened(web, file.url, _MOST_SOURCES) as content, zipfile.ZipFile(content) as archive:
        names = archive.namelist()
        own = [n for n in names if n.endswith(".dist-info/METADATA") and n.count("/") == 1]
        if not own:
            return None
        with archive.open(min(own)) as member:
            return _core(member.read(_MOST_METADATA))


def _opened(web: Web, url: str, most: int) -> IO[bytes]:
    """A file on this machine, or one of which only the parts that are read are fetched."""
    if origin(url)[0] == "file":
        return open(unquote(urlsplit(url).path), "rb")  # noqa: PTH123
    head = web.head(url)
    if not head.there:
        raise UnreachableError(f"{shown(url)}: is not there")
    if head.size > _TAIL:
        probe = web.part(url, head.size - _TAIL, head.size - 1)
        if probe.partial and len(probe.content) == _TAIL:
            return io.BufferedReader(_Remote(web, url, head.size, probe.content), _TAIL)  # type: ignore[type-var,unused-ignore]
    return io.BytesIO(web.get(url, most=most).content)


class _Remote(io.RawIOBase):
    """A file that a server gives in parts; its end is known already."""

    def __init__(self, web: Web, url: str, size: int, tail: bytes) -> None:
        self._web, self._url, self._size, self._tail = web, url, size, tail
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        last = min(self._place + len(buffer), self._size) - 1
        if last < self._place:
            return 0
        known = self._size - len(self._tail)
        if self._place >= known:
            data = self._tail[self._place - known : last + 1 - known]
        else:
            answer = self._web.part(self._url, self._place, last)
            if not answer.partial or not answer.content:
                raise EOFError
            data = answer.content
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


# --- sources --------------------------------------------------------------------------------


def _of_sources(web: Web, file: File) -> Optional[Stated]:
    """What sources state without being built.

    Metadata since 2.2 says what is fixed; older sources hold what setuptools wrote beside them,
    `requires.txt`, from the machine that they were packed on.
    """
    if origin(file.url)[0] == "file":
        with open(unquote(urlsplit(file.url).path), "rb") as opened:  # noqa: PTH123
            content = opened.read(_MOST_SOURCES)
    else:
        answer = web.get(file.url, most=_MOST_SOURCES)
        if not answer.there:
            raise UnreachableError(f"{shown(file.url)}: is not there")
        content = answer.content
    core = requires = None
    for name, data in _members(content, file.url):
        parts = name.split("/")
        if len(parts) == 2 and parts[1] == "PKG-INFO":
            core = data
        elif parts[-1] == "requires.txt" and parts[-2:-1] and parts[-2].endswith(".egg-info"):
            requires = data if requires is None else requires
    if core is None:
        return None
    text = core[:_MOST_METADATA].decode("utf-8", "replace")
    said = email.parser.HeaderParser(policy=email.policy.compat32).parsestr(text)
    dynamic = {str(field).lower() for field in said.get_all("Dynamic") or ()}
    old = str(said.get("Metadata-Version", "1.0")).startswith(("1.", "2.0", "2.1"))
    found = _core(core)
    if not old and "requires-dist" not in dynamic:
        return found
    if requires is not None:
        return found._replace(requires=_readable(list(_sections(requires))))
    return found._replace(whole=bool(found.requires))


def _members(content: bytes, url: str) -> List[Tuple[str, bytes]]:
    """The two files that are looked for, of an archive."""
    wanted = ("PKG-INFO", "requires.txt")
    found = []
    if url.partition("#")[0].endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist()[:_MOST_MEMBERS]:
                if name.endswith(wanted):
                    with archive.open(name) as member:
                        found.append((name, member.read(_MOST_METADATA)))
        return found
    with tarfile.open(fileobj=io.BytesIO(content), mode="r|*") as packed:
        for number, info in enumerate(packed):
            if number >= _MOST_MEMBERS:
                break
            if info.isfile() and info.name.endswith(wanted):
                data = packed.extractfile(info)
                if data is not None:
                    name = info.name[2:] if info.name.startswith("./") else info.name
                    found.append((name, data.read(_MOST_METADATA)))
    return found


def _sections(requires: bytes) -> List[str]:
    """The lines of setuptools' requires.txt, whose sections are extras and markers."""
    found = []
    extra, marker = "", ""
    for line in requires.decode("utf-8", "replace").splitlines()[:_MOST_LINES]:
        text = line.strip()
        section = _SECTION.fullmatch(text)
        if section:
            extra, marker = section[1].strip(), (section[2] or "").strip()
        elif text:
            conditions = [f"({marker})"] if marker else []
            conditions += [f'extra == "{extra}"'] if extra else []
            bare, _, own = text.partition(";")
            conditions += [f"({own.strip()})"] if own.strip() else []
            found.append(f"{bare} ; {' and '.join(conditions)}" if conditions else text)
    return found
