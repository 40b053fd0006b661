"""Which index users have: as their pip is configured, and how uv is told the same."""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
from typing import Dict, List, Mapping, NamedTuple, Sequence, Tuple
from urllib.parse import unquote, urlsplit

from envdoctor.facts.child import run
from envdoctor.facts.files import FileError, read_text, toml

# What pip's help says of the index that it uses if nobody says otherwise.
_DEFAULT = re.compile(r"--index-url <url>.*?\(default\s+(https://[^\s)]+)\)", re.DOTALL)
_SECONDS = 30.0
_MOST = 2**20
# Of pip's own sections those of a command stand before `global`, and variables before files.
_RANKS = ("global.", "install.", ":env:.")

#: What says where uv looks: who sets one of them configures uv apart from pip.
_UV_INDEXES = ("DEFAULT_INDEX", "INDEX", "INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX")
_UV_KEYS = {"index", "index-url", "extra-index-url", "find-links", "no-index"}
# What would change the question: another Python, other requirements, builds chosen by uv itself.
_UV_OTHER = (
    *("UV_BUILD_CONSTRAINT", "UV_CONSTRAINT", "UV_EXCLUDE", "UV_OVERRIDE", "UV_PROJECT"),
    *("UV_PYTHON", "UV_RESOLUTION", "UV_SYSTEM_PYTHON", "UV_TORCH_BACKEND", "UV_WORKING_DIR"),
)
# How pip gets there, beside where it looks. All else would change the question.
_KEPT = ("timeout", "default-timeout", "retries", "keyring-provider", "cache-dir", "no-cache-dir")
_LONGEST_FILE = 2**20


class SettingsError(Exception):
    """What pip is configured with cannot be read; the message tells no address."""


class Settings(NamedTuple):
    """What pip is configured with, as far as it says where packages are and how to get there."""

    default: str = ""  # index-url; empty: that of the installers themselves
    extra: Tuple[str, ...] = ()
    links: Tuple[str, ...] = ()  # find-links
    no_index: bool = False
    cert: str = ""
    client_cert: str = ""
    proxy: str = ""
    trusted: Tuple[str, ...] = ()  # host or host:port
    others: Tuple[Tuple[str, str], ...] = ()

    @property
    def indexes(self) -> Tuple[str, ...]:
        """All indexes; none if pip is told to use none."""
        return () if self.no_index else (self.default or public_index(), *self.extra)

    @property
    def secrets(self) -> Tuple[str, ...]:
        """What must not be told: passwords in addresses, as they stand there and decoded."""
        found: List[str] = []
        for url in (self.default, *self.extra, *self.links, self.proxy):
            try:
                login = urlsplit(url).netloc.rpartition("@")[0]
            except ValueError:
                continue
            user, _, password = login.partition(":")
            # Without a password the name is a token.
            found += [part for part in (login, password or user) if part]
        return tuple(dict.fromkeys([*found, *map(unquote, found)]))


def of_pip() -> Settings:
    """The settings of pip: of its variables, else of its files. Raises SettingsError."""
    done = run([sys.executable, "-I", "-m", "pip", "config", "list"], _SECONDS, _MOST)
    if done.failure:
        raise SettingsError(f"pip does not tell what it is configured with: {done.failure}")
    found: Dict[str, str] = {}
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    for rank in _RANKS:
        for line in lines:
            name, _, value = line.partition("=")
            if name.startswith(rank):
                found[name[len(rank) :]] = _unquoted(value)
    return _settings(found)


@functools.lru_cache(maxsize=None)
def public_index() -> str:
    """The index that pip uses where none is configured, by its own account; empty if it is mute."""
    done = run([sys.executable, "-I", "-m", "pip", "download", "--help"], _SECONDS, _MOST)
    match = _DEFAULT.search(done.stdout.decode("utf-8", "replace"))
    return match[1] if match else ""


def _settings(found: Mapping[str, str]) -> Settings:
    return Settings(
        default=found.get("index-url", "").strip(),
        extra=tuple(found.get("extra-index-url", "").split()),
        links=tuple(found.get("find-links", "").split()),
        no_index=found.get("no-index", "").lower() in ("1", "true", "yes", "on"),
        cert=found.get("cert", ""),
        client_cert=found.get("client-cert", ""),
        proxy=found.get("proxy", ""),
        trusted=tuple(found.get("trusted-host", "").split()),
        others=tuple((name, found[name]) for name in _KEPT if found.get(name)),
    )


def _unquoted(value: str) -> str:
    """A value as pip prints it: as Python writes texts."""
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value.strip("'\"")


def for_uv(
    settings: Settings, environ: Mapping[str, str], links: Sequence[str] = ()
) -> Dict[str, str]:
    """The environment in which uv sees the indexes that pip sees, and `links` beside them.

    Addresses may hold passwords, which variables keep out of lists of processes. Where users
    configure indexes for uv itself, those are used in place of pip's.
    """
    told = {n: value for n, value in environ.items() if n not in _UV_OTHER}
    if configures_uv(environ):
        _add(told, "UV_FIND_LINKS", links, ",")
        return told
    _add(told, "UV_DEFAULT_INDEX", (settings.default,) if settings.default else (), " ")
    # pip takes the best release of all its indexes; uv would stop at the first that has a package.
    told["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    _add(told, "UV_INDEX", settings.extra, " ")
    _add(told, "UV_FIND_LINKS", (*links, *settings.links), ",")
    if settings.no_index:
        told["UV_NO_INDEX"] = "1"
    if settings.cert:
        told["SSL_CERT_FILE"] = settings.cert
    if settings.client_cert:
        told["SSL_CLIENT_CERT"] = settings.client_cert
    if settings.proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            told.update({name: settings.proxy, name.upper(): settings.proxy})
    _add(told, "UV_INSECURE_HOST", settings.trusted, " ")
    return told


def for_pip(
    settings: Settings, environ: Mapping[str, str], links: Sequence[str] = ()
) -> Dict[str, str]:
    """The environment in which pip sees the indexes of its configuration, and `links` beside them.

    What else is configured, as a target folder or constraints, would change what is asked.
    """
    told = {name: value for name, value in environ.items() if not name.startswith("PIP_")}
    told["PIP_CONFIG_FILE"] = os.devnull
    _add(told, "PIP_EXTRA_INDEX_URL", settings.extra, " ")
    _add(told, "PIP_FIND_LINKS", (*links, *settings.links), " ")
    _add(told, "PIP_TRUSTED_HOST", settings.trusted, " ")
    single = (
        ("index-url", settings.default),
        ("cert", settings.cert),
        ("client-cert", settings.client_cert),
        ("proxy", settings.proxy),
        ("no-index", "1" if settings.no_index else ""),
        ("disable-pip-version-check", "1"),
        *settings.others,
    )
    for name, value in single:
        _add(told, "PIP_" + name.upper().replace("-", "_"), (value,) if value else (), " ")
    return told


def configures_uv(environ: Mapping[str, str]) -> bool:
    """Whether a variable or a file of uv's own says where it looks for packages."""
    if any(environ.get(f"UV_{name}") for name in _UV_INDEXES):
        return True
    named = environ.get("UV_CONFIG_FILE")
    home = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '')}/.config"
    paths = [named] if named else [f"{home}/uv/uv.toml", "/etc/uv/uv.toml"]
    return any(_names_an_index(path) for path in paths)


def _names_an_index(path: str) -> bool:
    try:
        said = toml(read_text(path, _LONGEST_FILE), path)
    except FileError:
        return False
    below = said.get("pip")
    return bool(_UV_KEYS & {*said, *(below if isinstance(below, dict) else ())})


def _add(environ: Dict[str, str], name: str, values: Sequence[str], mark: str) -> None:
    """Add values to a list that a variable holds."""
    every = [*values, *filter(None, [environ.get(name, "")])]
    if every:
        environ[name] = mark.join(every)
