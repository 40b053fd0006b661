"""An index on this machine: pages and files in memory, with ranges, as the real ones answer."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import io
import json
import re
import threading
import zipfile
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

JSON = "application/vnd.pypi.simple.v1+json"


class Page(NamedTuple):
    content: bytes
    kind: str = "text/html"
    status: int = 200
    headers: Dict[str, str] = {}


class File(NamedTuple):
    """A file of a project on the index."""

    name: str
    requires_python: str = ""
    yanked: bool = False
    metadata: Optional[str] = None  # what it requires, one a line
    beside: bool = False  # PEP 658: the metadata lies beside it


class Index:
    """What the server answers, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.pages: Dict[str, Page] = {}
        self.asked: List[Tuple[str, Dict[str, str]]] = []

    def paths(self) -> List[str]:
        return [path for path, _ in self.asked]

    def project(self, name: str, files: List[File], html: bool = False) -> None:
        """A project's page, PEP 691 or 503, and its wheels."""
        for file in files:
            content = metadata(file).encode()
            if file.beside:
                self.pages[f"/files/{file.name}.metadata"] = Page(content, "text/plain")
            if file.metadata is not None:
                self.pages[f"/files/{file.name}"] = Page(wheel(file), "application/zip")
        page = _html(name, files) if html else _json(name, files)
        self.pages[f"/simple/{name}/"] = page


def metadata(file: File) -> str:
    asked = (file.metadata or "").splitlines()
    name, version = file.name.split("-")[:2]
    return "".join(
        [
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            *(f"Requires-Dist: {text}\n" for text in asked),
            "\nA description. Requires-Dist: nothing\n",
        ]
    )


def wheel(file: File) -> bytes:
    """A wheel, larger than what is read of it."""
    name, version = file.name.split("-")[:2]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(f"{name}/large.bin", bytes(300_000))
        archive.writestr(f"{name}/other-1.dist-info/METADATA", "Requires-Dist: wrong")
        archive.writestr(f"{name}-{version}.dist-info/METADATA", metadata(file))
    return content.getvalue()


def _json(name: str, files: List[File]) -> Page:
    listed = []
    for file in files:
        entry: Dict[str, object] = {
            "filename": file.name,
            "url": f"/files/{file.name}",
            "hashes": {},
            "requires-python": file.requires_python or None,
            "yanked": file.yanked,
        }
        if file.beside:
            digest = hashlib.sha256(metadata(file).encode()).hexdigest()
            entry["core-metadata"] = {"sha256": digest}
        listed.append(entry)
    said = {"meta": {"api-version": "1.1"}, "name": name, "files": listed, "versions": []}
    return Page(json.dumps(said).encode(), JSON)


def _html(name: str, files: List[File]) -> Page:
    lines = ["<!DOCTYPE html><html><body>", f"<h1>Links for {name}</h1>"]
    for file in files:
        more = ' data-yanked="broken"' if file.yanked else ""
        if file.requires_python:
            asked = file.requires_python.replace("<", "&lt;").replace(">", "&gt;")
            more += f' data-requires-python="{asked}"'
        if file.beside:
            digest = hashlib.sha256(metadata(file).encode()).hexdigest()
            more += f' data-core-metadata="sha256={digest}"'
        lines.append(f'<a href="/files/{file.name}#sha256=00"{more}>{file.name}</a><br/>')
    return Page("\n".join([*lines, "</body></html>"]).encode())


class _Handler(http.server.BaseHTTPRequestHandler):
    index: Index

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.index.asked.append((self.path, dict(self.headers)))
        page = self.index.pages.get(self.path, Page(b"not there", status=404))
        content, status, more = page.content, page.status, dict(page.headers)
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if wanted and status == 200:
            first = int(wanted[1]) if wanted[1] else max(0, len(content) - int(wanted[2]))
            last = int(wanted[2]) if wanted[1] and wanted[2] else len(content) - 1
            more["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
            content, status = content[first : last + 1], 206
        self.send_response(status)
        self.send_header("Content-Type", page.kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        with contextlib.suppress(OSError):  # who asked may have had enough
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving() -> Iterator[Index]:
    """A server on a port of its own, until the block ends."""
    handler = type("Handler", (_Handler,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    index = Index(f"http://127.0.0.1:{server.server_address[1]}")
    handler.index = index  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
