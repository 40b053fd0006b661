"""Where the index is, and how it is reached: as pip is configured."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import time
import zipfile
import zlib
from typing import Dict, NamedTuple, Optional, Tuple
from urllib.parse import unquote, urljoin, urlsplit

import requests
from pypi_simple import PYPI_SIMPLE_ENDPOINT
from remotezip import RemoteZip, RemoteZipError
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.util.retry import Retry

_SECONDS = (20, 60)  # to connect, and between two parts of an answer
_LONGEST = 600  # seconds that all parts of an answer may take
_MOST = 64 * 2**20  # bytes of one answer, unpacked
_PART = 2**16  # small, as an answer that is packed may be a thousand times as large unpacked
_METADATA = ".dist-info/METADATA"


class Answer(NamedTuple):
    """What a page answered."""

    there: bool
    content: bytes
    kind: str  # its content type
    url: str  # where it was found in the end
    following: str  # the address of the page that continues it, or ""


class UnreachableError(Exception):
    """An index does not answer as it should; the message says which page."""


class SettingsError(Exception):
    """What pip is configured with cannot be read or used; the message tells no address."""


class Connection:
    """A session that asks politely: with pip's certificate, retries, a limit of time and size.

    No address that it tells has a user's name or password in it.
    """

    #: Seconds before the second try of a request; they double with each.
    pause = 1.0

    def __init__(self) -> None:
        """Read pip's configuration. Raises SettingsError."""
        settings = _pip_settings()
        self.index, self._login = _without_login(settings.get("index-url", PYPI_SIMPLE_ENDPOINT))
        self.session = requests.Session()
        self.session.max_redirects = 5
        if settings.get("cert"):
            self.session.verify = settings["cert"]
        if settings.get("client-cert"):
            self.session.cert = settings["client-cert"]
        if settings.get("proxy"):
            self.session.proxies = dict.fromkeys(("http", "https"), settings["proxy"])
        self.session.headers["User-Agent"] = "envdoctor-refresh"
        token = os.environ.get("GITHUB_TOKEN")
        self._github = {"Authorization": f"Bearer {token}"} if token else {}
        # A server may not say how long to wait: it could say a year.
        retries = Retry(
            total=3,
            backoff_factor=self.pause,
            status_forcelist=(429, 500, 502, 503, 504),
            raise_on_status=False,
            respect_retry_after_header=False,
        )
        for scheme in ("https://", "http://"):
            self.session.mount(scheme, HTTPAdapter(max_retries=retries))
        self._silent: Dict[Tuple[str, str], str] = {}  # hosts that did not answer, and how not

    def get(self, url: str, accept: str = "*/*") -> Answer:
        """The answer of a page, which need not be there. Raises UnreachableError."""
        headers = {"Accept": accept}
        if url.startswith("https://api.github.com/"):
            headers.update(self._github)
        shown = without_secrets(url)
        if _origin(url) in self._silent:
            raise UnreachableError(f"{shown}: {self._silent[_origin(url)]}")
        content = bytearray()
        started = time.monotonic()
        try:
            with self.session.get(
                url, timeout=_SECONDS, headers=headers, auth=self._auth(url), stream=True
            ) as answer:
                if any(_is_safe(url) and not _is_safe(r.url) for r in [*answer.history, answer]):
                    raise UnreachableError(f"{shown}: leads to an address without encryption")
                for part in answer.iter_content(_PART):
                    content += part
                    if len(content) > _MOST:
                        raise UnreachableError(f"{shown}: more than {_MOST} bytes")
                    if time.monotonic() - started > _LONGEST:
                        raise UnreachableError(f"{shown}: takes more than {_LONGEST} seconds")
        except requests.ConnectionError as error:
            self._silent[_origin(url)] = type(error).__name__
            raise UnreachableError(f"{shown}: {type(error).__name__}") from None
        except (OSError, ValueError, HTTPError) as error:
            raise UnreachableError(f"{shown}: {type(error).__name__}") from None
        kind = answer.headers.get("content-type", "")
        # Stores of files say 403 of what they do not have; of an interface it is a refusal.
        absent = answer.status_code == 404 or (answer.status_code == 403 and "json" not in kind)
        if answer.status_code != 200 and not absent:
            raise UnreachableError(f"{shown}: status {answer.status_code}")
        following = str(answer.links.get("next", {}).get("url", ""))
        return Answer(
            there=not absent,
            content=bytes(content),
            kind=kind,
            url=answer.url,
            following=urljoin(answer.url, following) if following else "",
        )

    def metadata(self, url: str) -> bytes:
        """METADATA of a wheel, without the rest of it. Raises UnreachableError."""
        shown = without_secrets(url)
        try:
            with RemoteZip(
                url, session=self.session, timeout=_SECONDS, auth=self._auth(url)
            ) as archive:
                names = [n for n in archive.namelist() if n.endswith(_METADATA)]
                own = [name for name in names if name.count("/") == 1]
                if not own:
                    raise UnreachableError(f"{shown}: no {_METADATA} in it")
                with archive.open(min(own)) as file:
                    content: bytes = file.read(_MOST + 1)
        except (
            *(OSError, HTTPError, RemoteZipError, zipfile.BadZipFile, zlib.error),
            *(EOFError, KeyError, ValueError, RuntimeError),  # what zipfile says of a broken file
        ) as error:
            raise UnreachableError(f"{shown}: {type(error).__name__}") from None
        if len(content) > _MOST:
            raise UnreachableError(f"{shown}: {_METADATA} has more than {_MOST} bytes")
        return content

    def _auth(self, url: str) -> Optional[Tuple[str, str]]:
        """The login of the index, for the index only; None leaves it to netrc."""
        return self._login if _origin(url) == _origin(self.index) else None


def without_secrets(url: str) -> str:
    """An address without a login, query and fragment; "an address" where it is none."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address"
    return f"{parts.scheme}://{host}{port}{parts.path}"


def same_place(url: str, other: str) -> bool:
    """Whether two addresses are of the same server."""
    return _origin(url) == _origin(other)


def _origin(url: str) -> Tuple[str, str]:
    try:
        parts = urlsplit(url)
        return (parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower())
    except ValueError:
        return ("", url)


def _is_safe(url: str) -> bool:
    return url.lower().startswith("https:")


def _without_login(url: str) -> Tuple[str, Optional[Tuple[str, str]]]:
    """An index's address, and the login that stands in it. Raises SettingsError."""
    try:
        parts = urlsplit(url)
        login, _, host = parts.netloc.rpartition("@")
        parts = parts._replace(netloc=host)
        usable = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError("the index-url that pip is configured with is none of http or https")
    user, _, password = login.partition(":")
    return parts.geturl(), (unquote(user), unquote(password)) if login else None


def _pip_settings() -> Dict[str, str]:
    """Settings of pip that concern its index: of the environment, else of its files.

    A command's own section (`download`) stands before `global`, as in pip. Raises SettingsError.
    """
    command = [sys.executable, "-I", "-m", "pip", "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SettingsError(f"`pip config list` ends with status {done.returncode}")
    ranks = ("global.", "install.", "download.", ":env:.")
    found: Dict[str, str] = {}
    for rank in ranks:
        for line in io.StringIO(done.stdout):
            name, _, value = line.rstrip("\n").partition("=")
            if name.startswith(rank):
                found[name[len(rank) :]] = _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    """A value as pip prints it: as Python writes texts."""
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value.strip("'\"")
