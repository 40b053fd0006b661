from __future__ import annotations

import os
from pathlib import Path
from typing import Dict

import pytest
from serving import Index as Served

from envdoctor.actions.settings import (
    Settings,
    SettingsError,
    configures_uv,
    for_pip,
    for_uv,
    of_pip,
    public_index,
)

SECRET = Settings(
    default="https://anna:p%40ss@index.example.org/simple",
    extra=("https://token1234@more.example.org/simple", "https://plain.example.org/simple"),
    links=("/wheels",),
    cert="/ca.pem",
    client_cert="/me.pem",
    proxy="http://bert:hidden@proxy:8080",
    trusted=("inside:8443",),
)


def test_variables_stand_before_files(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    conf = tmp_path / "pip.conf"
    conf.write_text(
        "[global]\nindex-url = http://files/simple\ncert = /ca.pem\ntrusted-host = a\n  b:1\n"
        "extra-index-url = http://one/simple\n    http://two/simple\ntimeout = 7\n"
        "[install]\nfind-links = /wheels\nuser = true\nconstraint = /c.txt\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    settings = of_pip()
    assert settings == Settings(
        default=f"{served.url}/simple",
        extra=("http://one/simple", "http://two/simple"),
        links=("/wheels",),
        cert="/ca.pem",
        trusted=("a", "b:1"),
        others=(("timeout", "7"),),
    )
    monkeypatch.delenv("PIP_INDEX_URL")
    assert of_pip().default == "http://files/simple"


def test_without_any_setting_the_installers_own_index_is_used(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_INDEX_URL")
    settings = of_pip()
    assert settings.default == ""
    assert settings.indexes == (public_index(),)
    assert public_index().startswith("https://")
    assert "UV_DEFAULT_INDEX" not in for_uv(settings, {})
    assert "PIP_INDEX_URL" not in for_pip(settings, {})


def test_files_that_pip_cannot_read(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    conf = tmp_path / "pip.conf"
    conf.write_text("index-url = without a section\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    with pytest.raises(SettingsError, match="does not tell what it is configured with: exit"):
        of_pip()


def test_uv_is_told_what_pip_is_configured_with() -> None:
    told = for_uv(SECRET, {"PATH": "/bin", "HOME": "/none"}, ["/shadows"])
    assert told == {
        "PATH": "/bin",
        "HOME": "/none",
        "UV_DEFAULT_INDEX": SECRET.default,
        "UV_INDEX": " ".join(SECRET.extra),
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/shadows,/wheels",
        "SSL_CERT_FILE": "/ca.pem",
        "SSL_CLIENT_CERT": "/me.pem",
        "UV_INSECURE_HOST": "inside:8443",
        **{
            name: SECRET.proxy
            for low in ("http_proxy", "https_proxy", "all_proxy")
            for name in (low, low.upper())
        },
    }


@pytest.mark.parametrize(
    "environ",
    [
        {"UV_INDEX_URL": "https://own/simple"},
        {"UV_DEFAULT_INDEX": "https://own/simple"},
        {"UV_FIND_LINKS": "/own"},
    ],
)
def test_what_users_set_for_uv_itself_stands(environ: Dict[str, str]) -> None:
    told = for_uv(SECRET, {"HOME": "/none", **environ}, ["/shadows"])
    expected = {"HOME": "/none", **environ}
    expected["UV_FIND_LINKS"] = ",".join(filter(None, ["/shadows", environ.get("UV_FIND_LINKS")]))
    assert told == expected


@pytest.mark.parametrize(
    ("text", "configures"),
    [
        ('[[index]]\nurl = "https://own/simple"\n', True),
        ('[pip]\nindex-url = "https://own/simple"\n', True),
        ('cache-dir = "/c"\n', False),
        ("no toml", False),
    ],
)
def test_files_of_uv_that_name_an_index(tmp_path: Path, text: str, configures: bool) -> None:
    folder = tmp_path / "uv"
    folder.mkdir()
    (folder / "uv.toml").write_text(text)
    assert configures_uv({"XDG_CONFIG_HOME": str(tmp_path)}) is configures
    assert configures_uv({"UV_CONFIG_FILE": str(folder / "uv.toml")}) is configures
    assert configures_uv({"HOME": "/none"}) is False


def test_what_would_change_the_question_is_not_passed_on() -> None:
    environ = {
        "HOME": "/none",
        "PIP_TARGET": "/t",
        "PIP_USER": "1",
        "PIP_CONSTRAINT": "/c.txt",
        "UV_TORCH_BACKEND": "cu118",
        "UV_CONSTRAINT": "/c.txt",
        "UV_OVERRIDE": "/o.txt",
    }
    assert set(for_uv(Settings(), environ)) & set(environ) == {
        "HOME",
        *(name for name in environ if name.startswith("PIP_")),
    }
    told = for_pip(SECRET, environ, ["/shadows"])
    assert {n: v for n, v in told.items() if n.startswith("PIP_")} == {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": SECRET.default,
        "PIP_EXTRA_INDEX_URL": " ".join(SECRET.extra),
        "PIP_FIND_LINKS": "/shadows /wheels",
        "PIP_CERT": "/ca.pem",
        "PIP_CLIENT_CERT": "/me.pem",
        "PIP_PROXY": SECRET.proxy,
        "PIP_TRUSTED_HOST": "inside:8443",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def test_what_must_not_be_told() -> None:
    assert set(SECRET.secrets) == {
        *("anna:p%40ss", "p%40ss", "anna:p@ss", "p@ss", "token1234", "bert:hidden", "hidden")
    }
    assert Settings(default="https://[bad/simple").secrets == ()
