"""Where the index is, and how it is reached: as pip is configured."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Dict, NamedTuple

import requests
from pypi_simple import PYPI_SIMPLE_ENDPOINT
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

_SECONDS = (20, 60)  # to connect, and between two parts of an answer
_MOST = 64 * 2**20  # bytes of one answer


class Answer(NamedTuple):
    """What a page answered."""

    there: bool
    content: bytes
    kind: str  # its content type
    following: str  # the address of the page that continues it, or ""


class UnreachableError(Exception):
    """An index does not answer as it should; the message says which page."""


class Connection:
    """A session that asks politely: with pip's certificate, retries, a limit of time and size."""

    def __init__(self) -> None:
        """Read pip's configuration."""
        settings = _pip_settings()
        self.index = settings.get("index-url", PYPI_SIMPLE_ENDPOINT)
        self.session = requests.Session()
        certificate = settings.get("cert")
        if certificate:
            self.session.verify = certificate
        self.session.headers["User-Agent"] = "envdoctor-refresh"
        token = os.environ.get("GITHUB_TOKEN")
        self._github = {"Authorization": f"Bearer {token}"} if token else {}
        retries = Retry(total=4, backoff_factor=1.0, status_forcelist=(429, 500, 502, 503, 504))
        for scheme in ("https://", "http://"):
            self.session.mount(scheme, HTTPAdapter(max_retries=retries))

    def get(self, url: str) -> Answer:
        """The answer of a page, which need not be there. Raises UnreachableError."""
        headers = self._github if url.startswith("https://api.github.com/") else {}
        try:
            answer = self.session.get(url, timeout=_SECONDS, headers=headers, stream=True)
            content = b""
            for part in answer.iter_content(2**20):
                content += part
                if len(content) > _MOST:
                    raise UnreachableError(f"{url}: more than {_MOST} bytes")
        except requests.RequestException as error:
            raise UnreachableError(f"{url}: {type(error).__name__}") from None
        if answer.status_code not in (200, 403, 404):
            raise UnreachableError(f"{url}: status {answer.status_code}")
        return Answer(
            there=answer.status_code == 200,
            content=content,
            kind=answer.headers.get("content-type", ""),
            following=answer.links.get("next", {}).get("url", ""),
        )


def _pip_settings() -> Dict[str, str]:
    """Settings of pip that concern its index: of the environment, else of its files.

    A command's own section (`download`) stands before `global`, as in pip.
    """
    command = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    ranks = ("global.", "install.", "download.", ":env:.")
    found: Dict[str, str] = {}
    for rank in ranks:
        for line in said.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(rank):
                found[name[len(rank) :]] = value.strip("'\"")
    return found
