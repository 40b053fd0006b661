"""Where the index is: as pip is configured, and no login is ever told."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from indexes.__main__ import main
from indexes.connection import Connection, without_secrets
from serving import File, Index
from test_refresh import DEMO, FILES, generated, refresh, texts


@pytest.fixture
def matrices(tmp_path: Path) -> Path:
    folder = tmp_path / "matrices"
    (folder / "packages").mkdir(parents=True)
    (folder / "packages" / "demo.yaml").write_text(DEMO, encoding="utf-8")
    return folder


def login(index: Index) -> str:
    """The login that came with the last request, name:password."""
    return base64.b64decode(index.asked[-1][1].get("Authorization", "")[6:]).decode()


@pytest.mark.parametrize("section", ["global", "download"])
def test_a_file_of_pip_names_the_index(
    index: Index, matrices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    monkeypatch.delenv("PIP_INDEX_URL")
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[{section}]\nindex-url = {index.url}/simple/\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    index.project("demo", FILES)
    assert refresh(matrices) == 0
    assert "  releases: [1.0, 1.1, 2.0rc1, 2.0]\n" in generated(matrices)


def test_the_environment_stands_before_files(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nindex-url = http://127.0.0.1:9/simple\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    assert Connection().index == f"{index.url}/simple"


def test_further_indexes_are_not_used(
    index: Index,
    matrices: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"{index.url}/more")
    index.project("demo", FILES)
    index.pages["/more/demo/"] = index.pages.pop("/simple/demo/")
    assert refresh(matrices) == 3
    assert index.paths() == ["/simple/demo/"]
    assert capsys.readouterr().err == "refresh: demo: PyPI does not have demo\n"
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "extra-index-url and find-links\nare not used" in capsys.readouterr().out


def test_a_login_of_the_address_is_used_and_never_told(
    index: Index,
    matrices: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    address = index.url.replace("http://", "http://anna:s3%40cret@") + "/simple"
    monkeypatch.setenv("PIP_INDEX_URL", address)
    index.project("demo", FILES)
    assert refresh(matrices) == 0
    assert login(index) == "anna:s3@cret"  # of files of the same server, too
    assert {headers.get("Authorization", "none") for _, headers in index.asked} != {"none"}
    index.pages.clear()
    assert refresh(matrices) == 3
    monkeypatch.setenv("PIP_INDEX_URL", "http://anna:s3%40cret@127.0.0.1:9/simple")
    assert refresh(matrices) == 3
    said = capsys.readouterr()
    for text in (said.out, said.err, texts(matrices)["demo.yaml"].decode()):
        assert "cret" not in text
        assert "anna" not in text
    assert "http://127.0.0.1:9/simple/demo/" in said.err


def test_the_login_goes_to_no_other_server(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://anna:secret@127.0.0.1:9/simple")
    index.project("demo", FILES)
    assert Connection().get(f"{index.url}/simple/demo/").there
    assert "Authorization" not in index.asked[-1][1]


def test_a_login_of_netrc_is_used(
    index: Index, matrices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1\nlogin bert\npassword hidden\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    index.project("demo", FILES)
    assert refresh(matrices) == 0
    assert login(index) == "bert:hidden"


@pytest.mark.parametrize("address", ["file:///anna:secret/simple", "anna:secret@host", "http://[a"])
def test_an_index_that_cannot_be_asked_is_said(
    index: Index,
    matrices: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str,
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", address)
    assert refresh(matrices) == 3
    message = "refresh: the index-url that pip is configured with is none of http or https\n"
    assert capsys.readouterr().err == message
    assert texts(matrices) == {"demo.yaml": DEMO.encode()}


def test_settings_that_pip_cannot_read_are_said(
    index: Index,
    matrices: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text("index-url = without a section\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    assert refresh(matrices) == 3
    assert "`pip config list` ends with status" in capsys.readouterr().err


def test_a_token_goes_to_its_forge_only(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "token-of-a-test")
    index.project("demo", [File("demo-1.0.tar.gz")])
    assert Connection().get(f"{index.url}/simple/demo/").there
    assert "token-of-a-test" not in str(index.asked)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a:b@host:8080/simple/x/?token=1#2", "https://host:8080/simple/x/"),
        ("https://host/x", "https://host/x"),
        ("http://[bad/a:b@", "an address"),
    ],
)
def test_addresses_are_told_without_secrets(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
