"""What is asked of servers, and what no server can make us do."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
from pathlib import Path
from typing import Iterator

import pytest
from serving import Index as Served
from serving import Page, serving

from envdoctor.actions.settings import Settings, of_pip
from envdoctor.actions.web import UnreachableError, Web, origin, shown


@pytest.fixture
def web(served: Served) -> Web:
    return Web(of_pip())


def test_what_is_there_and_what_is_not(served: Served, web: Web) -> None:
    served.pages["/a.whl"] = Page(b"content", "application/zip")
    answer = web.get(f"{served.url}/a.whl")
    assert (answer.there, answer.content, answer.kind) == (True, b"content", "application/zip")
    assert answer.url == f"{served.url}/a.whl"
    assert not web.get(f"{served.url}/b.whl").there
    head = web.head(f"{served.url}/a.whl")
    assert (head.there, head.size, head.content) == (True, 7, b"")
    assert not web.head(f"{served.url}/b.whl").there


@pytest.mark.parametrize(
    ("status", "kind", "answer"),
    [
        (410, "text/html", None),
        (403, "application/xml", None),  # a store of files that does not have it
        (403, "text/html", "asks for a login (status 403)"),
        (401, "text/html", "asks for a login (status 401)"),
        (500, "text/html", "status 500"),
        (429, "text/html", "status 429"),
    ],
)
def test_what_a_server_refuses(
    served: Served, web: Web, status: int, kind: str, answer: str
) -> None:
    served.pages["/x"] = Page(b"no", kind, status)
    if answer is None:
        assert not web.get(f"{served.url}/x").there
        return
    served.pages["/x?token=secret"] = served.pages["/x"]
    with pytest.raises(UnreachableError) as told:
        web.get(f"{served.url}/x?token=secret")
    assert str(told.value) == f"{served.url}/x: {answer}"


def test_a_server_that_does_not_answer_head(served: Served, web: Web) -> None:
    with serving() as other:
        other.pages["/a"] = Page(b"0123456789", "application/zip")
        refused = other.pages

        class Refusing(dict):  # type: ignore[type-arg]
            asked = 0

            def get(self, path: str, _: object = None) -> Page:
                self.asked += 1
                return Page(b"", status=405) if self.asked == 1 else refused[path]

        other.pages = Refusing()
        head = web.head(f"{other.url}/a")
        assert (head.there, head.partial, head.size) == (True, True, 10)


@pytest.mark.parametrize(
    "target",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "http:///x", "gopher://a/b"],
)
def test_redirects_lead_to_http_and_https_only(served: Served, web: Web, target: str) -> None:
    served.pages["/x"] = Page(b"", status=302, headers={"Location": target})
    with pytest.raises(UnreachableError, match=f"^{served.url}/x: "):
        web.get(f"{served.url}/x")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://h/x", "/etc/passwd", "http://[bad", ""]
)
def test_other_addresses_are_not_asked(web: Web, url: str) -> None:
    with pytest.raises(UnreachableError, match="only http and https are asked"):
        web.get(url)


def test_redirects_end(served: Served, web: Web) -> None:
    served.pages["/a"] = Page(b"", status=302, headers={"Location": "/b"})
    served.pages["/b"] = Page(b"", status=302, headers={"Location": "/a"})
    with pytest.raises(UnreachableError, match="/a: status 302"):
        web.get(f"{served.url}/a")


def test_where_it_was_found_in_the_end(served: Served, web: Web) -> None:
    served.pages["/a"] = Page(b"", status=301, headers={"Location": "/b/"})
    served.pages["/b/"] = Page(b"here")
    answer = web.get(f"{served.url}/a")
    assert (answer.content, answer.url) == (b"here", f"{served.url}/b/")


def test_too_much(served: Served) -> None:
    served.pages["/x"] = Page(b"x" * 1001)
    web = Web(of_pip(), most=1000)
    with pytest.raises(UnreachableError, match="/x: more than 1000 bytes"):
        web.get(f"{served.url}/x")
    assert Web(of_pip(), most=1001).get(f"{served.url}/x").there


@pytest.fixture
def trickle() -> Iterator[str]:
    """A server that sends a byte now and then, for ever."""
    server = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            with contextlib.suppress(OSError):  # who asked has had enough
                while not ended.wait(0.05):
                    connection.sendall(b"x")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}/x"
    ended.set()
    thread.join()
    server.close()


def test_a_trickle_ends(served: Served, trickle: str) -> None:
    with pytest.raises(UnreachableError, match=r"/x: takes more than 0\.5 seconds"):
        Web(of_pip(), longest=0.5).get(trickle)


def test_hosts_that_are_silent_are_asked_once(served: Served, web: Web) -> None:
    for path in "ab":
        with pytest.raises(UnreachableError, match=f"^http://127.0.0.1:9/{path}: refuses connect"):
            web.get(f"http://127.0.0.1:9/{path}")
    with pytest.raises(UnreachableError, match="its name is not known: is there a network"):
        web.get("http://nowhere.invalid/x")


def login(served: Served) -> str:
    said = served.asked[-1][1].get("Authorization", "")
    return base64.b64decode(said[6:]).decode()


def test_logins_go_to_their_own_server(served: Served, tmp_path: Path) -> None:
    served.pages["/x"] = Page(b"x")
    address = served.url.replace("http://", "http://anna:s3%40cret@")
    web = Web(Settings(default=f"{address}/simple"))
    web.get(f"{served.url}/x")
    assert login(served) == "anna:s3@cret"
    with serving() as other:
        other.pages["/x"] = Page(b"x")
        web.get(f"{other.url}/x")
        assert login(other) == ""
        # not by way of a redirect either
        served.pages["/r"] = Page(b"", status=302, headers={"Location": f"{other.url}/x"})
        web.get(f"{served.url}/r")
        assert login(other) == ""
        assert login(served) == "anna:s3@cret"


def test_logins_of_netrc(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1\nlogin bert\npassword hidden\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    served.pages["/x"] = Page(b"x")
    Web(of_pip()).get(f"{served.url}/x")
    assert login(served) == "bert:hidden"


def test_a_proxy_is_used(served: Served) -> None:
    with serving() as proxy:
        proxy.pages["http://index.invalid/x"] = Page(b"by way of the proxy")
        web = Web(Settings(proxy=proxy.url))
        assert web.get("http://index.invalid/x").content == b"by way of the proxy"


def test_a_certificate_that_is_not_there(served: Served) -> None:
    web = Web(Settings(cert="/no/such/ca.pem"))
    with pytest.raises(UnreachableError, match=r"^https://127\.0\.0\.1:9/x: no such file"):
        web.get("https://127.0.0.1:9/x")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://a:b@host:8080/simple/x/?token=1#2", "https://host:8080/simple/x/"),
        ("http://[bad/a:b@", "an address"),
    ],
)
def test_addresses_are_told_without_secrets(url: str, said: str) -> None:
    assert shown(url) == said


def test_the_server_of_an_address() -> None:
    assert origin("HTTPS://a:b@Host:1/x") == ("https", "host:1")
    assert origin("http://[bad") == ("", "")
