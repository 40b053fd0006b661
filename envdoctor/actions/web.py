"""Asks addresses of http and https, with limits: of time, of size, of where they lead."""

from __future__ import annotations

import base64
import contextlib
import http.client
import netrc
import os
import socket
import ssl
import threading
import urllib.error
import urllib.request
from email.message import Message
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple
from urllib.parse import unquote, urljoin, urlsplit

from envdoctor import __version__
from envdoctor.actions.settings import Settings
from envdoctor.model.text import clean

_SILENCE = 20.0  # seconds between two parts of an answer
_LONGEST = 120.0  # seconds that all parts of an answer may take
_MOST = 64 * 2**20  # bytes of one answer
_REDIRECTS = 5
_PART = 2**16


class UnreachableError(Exception):
    """An address could not be asked; the message says which, without secrets, and why."""


class Answer(NamedTuple):
    """What an address answered: `there` is false for 404, 410 and a store's 403."""

    there: bool
    content: bytes
    kind: str  # its content type
    url: str  # where it was found in the end
    size: int = -1  # of the whole file, where it is said
    partial: bool = False  # a part of it, as asked


class Web:
    """Asks with pip's certificate, proxy and logins. Hosts that do not answer are asked once."""

    def __init__(self, settings: Settings, longest: float = _LONGEST, most: int = _MOST) -> None:
        """Nothing is asked yet."""
        self._settings = settings
        self._longest = longest
        self._most = most
        self._logins = _logins(settings)
        self._silent: Dict[Tuple[str, str], str] = {}
        self._openers: Dict[bool, urllib.request.OpenerDirector] = {}

    def get(self, url: str, accept: str = "*/*", most: Optional[int] = None) -> Answer:
        """The content of an address. Raises UnreachableError."""
        return self._ask("GET", url, {"Accept": accept}, self._most if most is None else most)

    def head(self, url: str) -> Answer:
        """Whether an address is there, and how long its file is. Raises UnreachableError.

        Some servers do not answer HEAD: those are asked for the first byte.
        """
        try:
            return self._ask("HEAD", url, {}, 0)
        except _RefusedError:
            return self.part(url, 0, 0)

    def part(self, url: str, first: int, last: int) -> Answer:
        """Bytes of a file; `partial` is false where the server cannot give a part of it.

        Raises UnreachableError.
        """
        size = last - first + 1
        return self._ask("GET", url, {"Range": f"bytes={first}-{last}"}, size)

    def _ask(self, method: str, url: str, headers: Dict[str, str], most: int) -> Answer:
        told = shown(url)
        place = origin(url)
        if place[0] not in ("http", "https"):
            raise UnreachableError(f"{told}: only http and https are asked")
        if place in self._silent:
            raise UnreachableError(f"{told}: {self._silent[place]}")
        headers = {**headers, "User-Agent": f"envdoctor/{__version__}"}
        headers["Accept-Encoding"] = "identity"
        login = _login(self._logins, place)
        if login:
            headers["Authorization"] = login
        bare = without_login(url)
        try:
            request = urllib.request.Request(bare, headers=headers, method=method)  # noqa: S310
            opener = self._opener(self._trusts(place[1]))
            with _deadline(self._longest) as late, opener.open(request, timeout=_SILENCE) as answer:
                return self._read(answer, told, most, "Range" in headers, late)
        except urllib.error.HTTPError as error:
            with error:
                return self._refused(error, told, method)
        except UnreachableError:
            raise
        except (OSError, ValueError, http.client.HTTPException) as error:
            cause = getattr(error, "reason", error)
            said = _why(cause if isinstance(cause, Exception) else error)
            if isinstance(error, urllib.error.URLError):
                self._silent[place] = said
            raise UnreachableError(f"{told}: {said}") from None

    def _read(
        self, answer: Any, told: str, most: int, is_part: bool, late: threading.Event
    ) -> Answer:
        headers: Message = answer.headers
        partial = answer.status == 206
        size = _size(headers, partial)
        content = bytearray()
        wanted = most if not is_part or partial else 0
        while len(content) <= wanted and wanted:
            part = answer.read(min(_PART, wanted + 1 - len(content)))
            if not part:
                break
            content += part
        if late.is_set():
            raise UnreachableError(f"{told}: takes more than {self._longest:g} seconds")
        if len(content) > wanted:
            raise UnreachableError(f"{told}: more than {wanted} bytes")
        return Answer(True, bytes(content), headers.get_content_type(), answer.url, size, partial)

    def _refused(self, error: urllib.error.HTTPError, told: str, method: str) -> Answer:
        kind = error.headers.get_content_type() if error.headers else ""
        # Stores of files say 403 of what they do not have; of an interface it is a refusal.
        if error.code in (404, 410) or (error.code == 403 and "xml" in kind):
            return Answer(False, b"", kind, str(error.url))
        if method == "HEAD" and error.code in (403, 405, 501):
            raise _RefusedError(told)
        if error.code in (401, 403):
            raise UnreachableError(f"{told}: asks for a login (status {error.code})")
        raise UnreachableError(f"{told}: status {error.code}")

    def _trusts(self, netloc: str) -> bool:
        host = netloc.rpartition(":")[0] or netloc
        return netloc in self._settings.trusted or host in self._settings.trusted

    def _opener(self, trusted: bool) -> urllib.request.OpenerDirector:
        """Handlers for http and https and no others: `file:` and `ftp:` are not even known."""
        if trusted not in self._openers:
            opener = urllib.request.OpenerDirector()
            proxies = dict.fromkeys(("http", "https"), self._settings.proxy)
            context = _context(self._settings, trusted)
            for handler in (
                urllib.request.ProxyHandler(proxies if self._settings.proxy else None),
                urllib.request.UnknownHandler(),
                _PlainHandler(),
                _SafeHandler(context=context),
                urllib.request.HTTPDefaultErrorHandler(),
                urllib.request.HTTPErrorProcessor(),
                _Redirects(self._logins),
            ):
                opener.add_handler(handler)
            self._openers[trusted] = opener
        return self._openers[trusted]


class _RefusedError(UnreachableError):
    """A server that does not answer HEAD."""


class _LateError(TimeoutError):
    """All parts of an answer together took too long."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows to http and https only, never from https to http, and takes no login elsewhere."""

    max_redirections = _REDIRECTS

    def __init__(self, logins: Dict[Tuple[str, str], str]) -> None:
        self._logins = logins

    def redirect_request(self, req: urllib.request.Request, *said: Any) -> urllib.request.Request:
        """The request that follows; `said` ends with the new address."""
        newurl = str(said[-1])
        scheme, host = origin(newurl)
        told = shown(req.full_url)
        if scheme not in ("http", "https") or not host:
            raise UnreachableError(f"{told}: leads to an address that is none of http or https")
        if origin(req.full_url)[0] == "https" and scheme == "http":
            raise UnreachableError(f"{told}: leads to an address without encryption")
        kept = {k: v for k, v in req.header_items() if k.lower() not in ("authorization", "host")}
        login = _login(self._logins, (scheme, host))
        if login:
            kept["Authorization"] = login
        method = req.get_method()
        return urllib.request.Request(newurl, headers=kept, method=method)  # noqa: S310


# --- limits of time -------------------------------------------------------------------------

_open = threading.local()


class _Plain(http.client.HTTPConnection):
    def connect(self) -> None:
        super().connect()
        _sockets().append(self.sock)


class _Safe(http.client.HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        _sockets().append(self.sock)


class _PlainHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Plain, req)


class _SafeHandler(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._own = context

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Safe, req, context=self._own)


def _sockets() -> List[socket.socket]:
    if not hasattr(_open, "sockets"):
        _open.sockets = []
    found: List[socket.socket] = _open.sockets
    return found


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[threading.Event]:
    """Cuts this thread's connections off when the time is up: a trickle never times out itself."""
    sockets = _sockets()
    sockets.clear()
    late = threading.Event()

    def cut() -> None:
        late.set()
        for one in list(sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield late
    except (OSError, ValueError, http.client.HTTPException):
        if late.is_set():
            raise _LateError(f"takes more than {seconds:g} seconds") from None
        raise
    finally:
        timer.cancel()
        sockets.clear()


# --- addresses ------------------------------------------------------------------------------


def origin(url: str) -> Tuple[str, str]:
    """Scheme and server of an address, without a login; ("", "") where it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ("", "")
    return (parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower())


def without_login(url: str) -> str:
    """An address without user and password. Raises ValueError."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def shown(url: str) -> str:
    """An address for people: without login, query and fragment."""
    try:
        parts = urlsplit(url)
        parts = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    except ValueError:
        return "an address"
    return clean(parts.geturl())


def joined(base: str, url: str) -> str:
    """An address that stands on a page; empty where it is none."""
    try:
        return urljoin(base, url)
    except ValueError:
        return ""


def _login(logins: Dict[Tuple[str, str], str], place: Tuple[str, str]) -> str:
    """What a server is told who asks; netrc names hosts without a port."""
    return logins.get(place) or logins.get(("", place[1].rpartition(":")[0] or place[1]), "")


def _logins(settings: Settings) -> Dict[Tuple[str, str], str]:
    """The Authorization of each server: of addresses that pip is configured with, else of netrc."""
    found: Dict[Tuple[str, str], str] = {}
    path = os.environ.get("NETRC") or os.path.expanduser("~/.netrc")  # noqa: PTH111
    try:
        hosts = netrc.netrc(path).hosts
    except (OSError, ValueError, netrc.NetrcParseError):
        hosts = {}
    for host, (user, _, password) in hosts.items():
        found[("", host.lower())] = _basic(user, password or "")
    for url in (*settings.indexes, *settings.links):
        try:
            login = urlsplit(url).netloc.rpartition("@")[0]
        except ValueError:
            continue
        if login:
            user, _, password = login.partition(":")
            found[origin(url)] = _basic(unquote(user), unquote(password))
    return found


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _context(settings: Settings, trusted: bool) -> ssl.SSLContext:
    """How certificates are judged. Raises OSError for files that hold none."""
    named = settings.cert or os.environ.get("REQUESTS_CA_BUNDLE") or ""
    named = named or os.environ.get("CURL_CA_BUNDLE") or ""  # SSL_CERT_FILE is OpenSSL's own
    if named:
        is_folder = os.path.isdir(named)  # noqa: PTH112
        context = ssl.create_default_context(
            cafile=None if is_folder else named, capath=named if is_folder else None
        )
    else:
        context = ssl.create_default_context()
    if settings.client_cert:
        context.load_cert_chain(settings.client_cert)
    if trusted:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _size(headers: Message, partial: bool) -> int:
    text = str(headers.get("Content-Length", ""))
    if partial:
        text = str(headers.get("Content-Range", "")).rpartition("/")[2]
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1


def _why(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "its name is not known: is there a network?"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, _LateError):
        return str(error)
    if isinstance(error, (socket.timeout, TimeoutError)):
        return "does not answer"
    if isinstance(error, ConnectionRefusedError):
        return "refuses connections"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return clean(said.lower(), 120)
