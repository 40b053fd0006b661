"""Takes personal details out of a snapshot that is going to be shown to others."""

from __future__ import annotations

import os
import pwd
import re
from typing import Any, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Pattern, Tuple

import msgspec

from envdoctor.model.facts import Facts
from envdoctor.model.text import without_secrets

# A home folder by its place: /home/ada, /data/home/ada, /mnt/nfs/users/ada, /root.
_HOME = re.compile(
    r"(?:(?<=file://)|(?<![\w.~/-]))"  # where a path starts
    r"(?!/(?:usr|opt|lib|lib64|bin|etc|proc|sys|dev|var)/)"
    r"(?:(?:/[^/\s:;,='\"]+){0,3}/(?:home|homes|users|Users)/(?P<user>[^/\s:;,'\"]+)"
    r"|/root(?![\w.-]))"
)
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/?#'\"]*@)?(?P<rest>[^\s?#'\"]*)"
    r"(?:\?[^\s#'\"]*)?"
)
_UUID = re.compile(r"\b(GPU|MIG)-(?:GPU-)?[0-9a-fA-F]{8}[0-9a-fA-F-]*(?:/\d+/\d+)?")
# Interfaces that systemd names by their hardware address.
_ADDRESS = re.compile(r"\b(enx|wlx|wwx)[0-9a-f]{12}\b")
# Names of accounts and machines that identify nobody, and words that paths are made of.
_NOT_PERSONAL = frozenset(
    """
    admin anaconda3 arch bin build centos conda container cuda data debian default dev docker
    ec2-user envs etc fedora file github gitlab home host http https include jovyan lib lib64 local
    localhost miniconda3 mnt nobody nvidia opt packages pip proc project projects pyenv python
    python3 rocky root run runner scratch share shared site site-packages src srv sys tmp torch
    ubuntu user users usr var venv versions vm vscode work workspace
    """.split()  # noqa: SIM905
)


class Identity(NamedTuple):
    """What identifies a person or a machine, beside what a home folder's path shows."""

    homes: Tuple[str, ...] = ()
    users: Tuple[str, ...] = ()
    hosts: Tuple[str, ...] = ()


def own_identity() -> Identity:
    """Who runs this process, and where."""
    users = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")}
    homes = {os.environ.get("HOME", "")}
    try:
        account = pwd.getpwuid(os.getuid())
    except KeyError:  # a container that was given a number without a name
        pass
    else:
        users.add(account.pw_name)
        homes.add(account.pw_dir)
    host = os.uname().nodename
    return Identity(tuple(sorted(homes)), tuple(sorted(users)), (host, host.partition(".")[0]))


def redact(facts: Facts, identity: Optional[Identity] = None) -> Facts:
    """The snapshot without personal details; doing it twice changes nothing more.

    Home folders become "~". The names of their owners, and those of `identity` (by default who
    runs this process, and where), become "user" and "host" wherever they stand for themselves in a
    path or a variable. URLs lose credentials and queries, variables the UUIDs of GPUs, network
    interfaces the hardware addresses in their names.
    """
    told = msgspec.to_builtins(facts)
    cleaner = _Cleaner(identity or own_identity(), facts, tuple(_strings(told)))
    return msgspec.convert(cleaner.clean(told), Facts)


def redact_text(text: str, identity: Optional[Identity] = None) -> str:
    """A text of any kind without personal details, as in `redact`."""
    text = without_secrets(text)
    return _Cleaner(identity or own_identity(), Facts(), (text,)).text(text, is_free=True)


class _Cleaner:
    def __init__(self, identity: Identity, facts: Facts, strings: Tuple[str, ...]):
        owners = {match["user"] for text in strings for match in _HOME.finditer(text)}
        kept = _NOT_PERSONAL | _names_of_software(facts)
        self.homes = _literal(
            r"(?<![\w.~-])({})(?![\w.-])",
            (home.rstrip("/") for home in identity.homes if _is_personal(home)),
        )
        names = r"(?<![A-Za-z0-9])({})(?![A-Za-z0-9])"
        self.users = _literal(names, {*identity.users, *filter(None, owners)} - kept)
        self.hosts = _literal(names, set(identity.hosts) - kept)

    def clean(self, told: Any, is_free: bool = False) -> Any:
        """The same tree with its texts cleaned; `is_free`: names may stand there alone."""
        if isinstance(told, str):
            return self.text(told, is_free)
        if isinstance(told, dict):
            return {
                key: self.clean(value, is_free or key == "environ") for key, value in told.items()
            }
        if isinstance(told, (list, tuple)):
            return [self.clean(value, is_free) for value in told]
        return told

    def text(self, text: str, is_free: bool) -> str:
        """The text cleaned."""
        text = _UUID.sub(r"\1-uuid", text)
        text = _ADDRESS.sub(r"\1-address", text)
        if self.homes:
            text = self.homes.sub("~", text)
        text = _HOME.sub("~", text)
        # Elsewhere a name would be a word by chance: "ubuntu:22.04", "nvidia".
        if is_free or "/" in text or "@" in text:
            if self.users:
                text = self.users.sub("user", text)
            if self.hosts:
                text = self.hosts.sub("host", text)
        return _URL.sub(lambda match: match["scheme"] + match["rest"], text)


def _literal(pattern: str, texts: Iterable[str]) -> Optional[Pattern[str]]:
    """The pattern with any of the texts in it, the longest first; None without texts."""
    escaped = [
        re.escape(text) for text in sorted(texts, key=lambda text: (-len(text), text)) if text
    ]
    return re.compile(pattern.format("|".join(escaped))) if escaped else None


def _is_personal(home: str) -> bool:
    system = ("/usr/", "/bin/", "/sbin/", "/etc/", "/dev/", "/proc/", "/var/", "/nonexistent/")
    return home.startswith("/") and bool(home.strip("/")) and not f"{home}/".startswith(system)


def _names_of_software(facts: Facts) -> FrozenSet[str]:
    """Names of packages and modules, which stand in paths and are no persons."""
    names: List[str] = []
    if facts.target.value is not None:
        for distribution in facts.target.value.distributions:
            names += [distribution.name, *distribution.modules]
        names += [package.name for package in facts.target.value.conda]
        names += [command.name for command in facts.target.value.commands]
    return frozenset(names)


def _strings(told: Any) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    elif isinstance(told, dict):
        for value in told.values():
            yield from _strings(value)
    elif isinstance(told, (list, tuple)):
        for value in told:
            yield from _strings(value)
