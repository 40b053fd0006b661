"""What looks like a password or a token is taken out of what is told, and nothing else is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "diagnosis"))

from linear import faults

from envdoctor.model.secrets import KINDS, Kind
from envdoctor.model.text import without_secrets


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "pip install -i https://ann:s3cret@index/simple x",
            "pip install -i https://index/simple x",
        ),
        ("git+ssh://git:s3cret@host/x.git", "git+ssh://host/x.git"),
        ("docker login -u ann --password s3cret", "docker login -u ann --password ..."),
        ("mysql --password='s3cret' db", "mysql --password='...' db"),
        ("tool --api-key s3cret run", "tool --api-key ... run"),
        ("huggingface-cli login --token s3cret", "huggingface-cli login --token ..."),
        ("curl -u ann:s3cret https://host", "curl -u ann:... https://host"),
        ("curl -H 'Authorization: Bearer s3cret' x", "curl -H 'Authorization: ...' x"),
        ("curl -H 'Authorization: token s3cret' x", "curl -H 'Authorization: ...' x"),
        ("sent Bearer abcdefgh12345678.x-y", "sent Bearer ..."),
        ("export HF_TOKEN=s3cret", "export HF_TOKEN=..."),
        ('{"password": "s3cret", "a": 1}', '{"password": "...", "a": 1}'),
        ("AWS_SECRET_ACCESS_KEY=s3cret/x+y", "AWS_SECRET_ACCESS_KEY=..."),
        ("aws_secret_access_key = s3cret", "aws_secret_access_key = ..."),
        ("AKIA" + "B2" * 8, "AKIA..."),
        ("ASIA" + "B2" * 8, "ASIA..."),
        ("token hf_abcdefghijklmnop used", "token hf_... used"),
        ("ghp_0123456789abcdef", "ghp_..."),
        ("github_pat_11ABCDEFG_xyz", "github_pat_..."),
        ("glpat-abcdefghij", "glpat-..."),
        ("xoxb-1234567890-abc", "xoxb-..."),
        ("pypi-AgEIcHlwaS5vcmc", "pypi-..."),
        ("sk-proj-abcdefghijkl", "sk-..."),
        ("nvapi-abcdefghijkl", "nvapi-..."),
        ("jwt eyJhbGciOiJI.eyJzdWIiOi.SflKxw", "jwt eyJ..."),
        (f"wandb login {'0a' * 20}", "wandb login ..."),
        ("GET /x?token=s3cret&a=1", "GET /x?token=...&a=1"),
        (
            "https://b.s3.host/x?X-Amz-Credential=a/b&X-Amz-Signature=s3cret HTTP",
            "https://b.s3.host/x?X-Amz-Credential=...&X-Amz-Signature=... HTTP",
        ),
        ("os.environ['HF_TOKEN'] = 's3cret'", "os.environ['HF_TOKEN'] = '...'"),
        ('os.environ.setdefault("HF_TOKEN", "s3cret")', 'os.environ.setdefault("HF_TOKEN", "...")'),
        ("docker login -u me -p s3cret r.io", "docker login -u me -p ... r.io"),
        ("sshpass -p 's3cret' ssh h", "sshpass -p '...' ssh h"),
        ("mysql -u me -ps3cret db", "mysql -u me -p... db"),
        ("DB_PASS=s3cret run", "DB_PASS=... run"),
        ("user=me pass=s3cret", "user=me pass=..."),
        ("Server=h;Pwd=s3cret;X=1", "Server=h;Pwd=...;X=1"),
        ("https://u:p@s3cret@h/simple", "https://h/simple"),
        ("https://u:p/s3cret@h/simple", "https://h/simple"),
        ('curl -H "X-Api-Key: s3cret" h', 'curl -H "X-Api-Key: ..." h'),
        ("curl --user=me:s3cret h", "curl --user=me:... h"),
        ("curl -sS -ume:s3cret h", "curl -sS -ume:... h"),
        ("AccountName=a;AccountKey=s3cret==;B=c", "AccountName=a;AccountKey=...;B=c"),
        ("//registry.example/:_auth=s3cret", "//registry.example/:_auth=..."),
        ('"auth": "s3cretS3cret"', '"auth": "..."'),
        ("SECRET_KEY_BASE=s3cret", "SECRET_KEY_BASE=..."),
        (r"{\"password\": \"s3cret\", \"a\": 1}", r"{\"password\": \"...\", \"a\": 1}"),
        ('password="two s3cret words" x', 'password="..." x'),
        (r'password="a\"s3cret" x', 'password="..." x'),
        (
            "aws configure set aws_secret_access_key s3cret",
            "aws configure set aws_secret_access_key ...",
        ),
        ("machine h login me password s3cret", "machine h login me password ..."),
        ("  password s3cret", "  password ..."),
        ("Cookie: a=s3cret; b=s3cret", "Cookie: ..."),
        ("https://hooks.slack.com/services/T0/B0/s3cret", "https://hooks.slack.com/services/..."),
        ("https://discord.com/api/webhooks/1/s3cret", "https://discord.com/api/webhooks/..."),
        (
            "https://conda.anaconda.org/t/ab-s3cret/main/x",
            "https://conda.anaconda.org/t/.../main/x",
        ),
        (
            "-----BEGIN " + "RSA PRIVATE KEY-----MIIs3cret-----END RSA PRIVATE KEY-----",
            "-----BEGIN " + "RSA PRIVATE KEY-----...-----END RSA PRIVATE KEY-----",
        ),
        ("MIIEpAIBAAKCAQEA1" + "gZ" * 23 + "7", "..."),
        ("gsk_0123456789abcdefXYZ0", "gsk_..."),
        ("r8_" + "0aB" * 12, "r8_..."),
        ("sk_live_0123456789ab", "sk_live_..."),
        ("hvs.CAESI0123456789", "hvs...."),
        ("ya29.a0AfH6SMB0123", "ya29...."),
        ("SG.0123456789.abcdefghij", "SG...."),
        ("at https://user:s3cret\u2026", "at https://...\u2026"),
        ("at https://s3cret\u2026", "at https://...\u2026"),
        ("ENV HF_TOKEN s3cret0123", "ENV HF_TOKEN ..."),
        ("ARG GIT_PASSWORD s3cret0123", "ARG GIT_PASSWORD ..."),
    ],
)
def test_secrets_are_taken_out(text: str, told: str) -> None:
    assert without_secrets(text) == told


def test_what_a_long_line_leaves_out_may_be_the_middle_of_one() -> None:
    before = "x" * 600
    for head in ("https://ann:s3c", "https://s3c", "HF_TOKEN=s3c"):
        told = without_secrets(f"{before} {head} \u2026 r3t@host/x error")
        assert "s3c" not in told
        assert "r3t" not in told
        assert told.endswith(" \u2026 ... error")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_kinds_take_linear_time(kind: Kind) -> None:
    assert faults(kind.pattern) == []


@pytest.mark.parametrize(
    "text",
    [
        "error: invalid use of 'basic_string' template",
        "basic installation of PyTorch",
        "the bearer of this",
        "undefined symbol: _ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "sha256:0123456789abcdef",
        "nvcc -gencode arch=compute_86,code=sm_86 --use_fast_math",
        "AttributeError: module 'tokenizers' has no attribute 'x'",
        "pip install --no-build-isolation mmcv-full==1.4.0",
        "tokens per second 12",
        "ssh -p 22 host",
        "scikit-learn is in place of sklearn",
        "id -u root",
        "KeyError: 'password'",
        "docker run -u 1000:1000 --user 1000:1000 --user=0:0 image",
        "docker run -p 8080:80 image",
        "PWD=/home/ann OLDPWD=~/x",
        "pass=12 fail=3",
        "compass=north",
        "if token == other",
        "api::token::Kind",
        "def login(token: Optional[str] = None, password: str)",
        "cannot import name 'hf_hub_download' from 'huggingface_hub'",
        "npm_config_registry and npm_lifecycle_event",
        "pip install pypi-attestations==0.0.12",
        "r8_uniform_01 is not defined",
        "http://proxy:8080/repo.git@v1.2",
        "git+https://github.com/open/x.git@0123456789abcdef0123456789abcdef01234567#egg=x",
        "docker.io/library/x@sha256:" + "0a" * 32,
        "0a" * 32,
        "/tmp/t/abcdefgh/x",
        "unexpected keyword arguments ['use_auth_token', 'subfolder']",
        "aws configure set region us-east-1",
        "Cloning https://github.com/a \u2026 done",
        "at http://localhost:8080\u2026",
        "torch 2.1.0+cu121, numpy 1.26.4",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "--",
        "eyJ",
        "wandb login ",
        "://",
        "?key=",
        "-u a",
        "token=",
        "bearer ",
        "://a:",
        "curl ",
        "login -p",
        "password ",
        "Cookie:",
        'pass="',
        "secret",
        "config set ",
        '\\"',
        "-----BEGIN ",
        "g0Z",
    ],
)
def test_long_lines_take_no_longer(text: str) -> None:
    assert without_secrets(text * (1_000_000 // len(text)))
