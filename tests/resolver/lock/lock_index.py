"""Two indexes on this machine: one as PyPI, and one that torch's project would have."""

from __future__ import annotations

import functools
import hashlib
import http.server
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator, NamedTuple, Tuple

#: {index: {(project, version): what it requires}}. PyPI and torch's index both have a torch 2.0.1,
#: a dep and a paddle 2.6.1; which one was taken, its module says.
CONTENT: Dict[str, Dict[Tuple[str, str], Tuple[str, ...]]] = {
    "pypi": {
        ("torch", "2.0.1"): ("dep",),
        ("torchaudio", "0.9.1"): (),
        ("dep", "1.0"): (),
        ("dep", "2.0"): (),
        ("det", "2.0"): ("torch>=2", "dep"),
        ("paddle", "2.6.1"): (),
    },
    "cu118": {
        ("torch", "2.0.1+cu118"): ("dep",),
        ("torchaudio", "0.9.1+cpu"): (),
        ("dep", "9.0"): (),  # of whoever put it there
        ("paddle", "2.6.1"): (),
    },
}


class Served(NamedTuple):
    """The address of both, and the hash of each file."""

    url: str
    hashes: Dict[str, str]

    def index(self, name: str) -> str:
        return f"{self.url}/{name}"

    def file(self, index: str, name: str, version: str) -> str:
        return f"{self.url}/{index}/{name}/{_file_name(name, version).replace('+', '%2B')}"

    def sha256(self, index: str, name: str, version: str) -> str:
        return self.hashes[f"{index}/{_file_name(name, version)}"]


def _file_name(name: str, version: str) -> str:
    return f"{name}-{version}-py3-none-any.whl"


def _write(folder: Path, index: str, name: str, version: str, requires: Tuple[str, ...]) -> str:
    """Make a wheel whose module says which index it is of; its hash."""
    info = f"{name}-{version}.dist-info"
    asked = "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{name}.py": f"INDEX = {index!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{asked}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = folder / _file_name(name, version)
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in files.items():
            archive.writestr(zipfile.ZipInfo(inside), text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Serve both indexes while the context lasts, and a page with the wheels of torch's project."""
    hashes = {}
    for index, projects in CONTENT.items():
        links: Dict[str, str] = {}
        for (name, version), requires in projects.items():
            place = folder / index / name
            place.mkdir(parents=True, exist_ok=True)
            file = _file_name(name, version)
            hashes[f"{index}/{file}"] = _write(place, index, name, version, requires)
            address = f"{file.replace('+', '%2B')}#sha256={hashes[f'{index}/{file}']}"
            links[name] = f'{links.get(name, "")}<a href="{address}">{file}</a>\n'
            if name.startswith("torch"):
                links[""] = f'{links.get("", "")}<a href="{name}/{address}">{file}</a>\n'
        for name, text in links.items():
            page = folder / index / name / "index.html" if name else folder / index / "torch.html"
            page.write_text(f"<!DOCTYPE html><html><body>\n{text}</body></html>\n")
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_address[1]}", hashes)
    finally:
        server.shutdown()
        server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""
