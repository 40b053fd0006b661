"""What looks like a password or a token is taken out of what is told, and nothing else is."""

from __future__ import annotations

import pytest

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
        ("ENV HF_TOKEN s3cret0123", "ENV HF_TOKEN ..."),
        ("ARG GIT_PASSWORD s3cret0123", "ARG GIT_PASSWORD ..."),
    ],
)
def test_secrets_are_taken_out(text: str, told: str) -> None:
    assert without_secrets(text) == told


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
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    "text", ["a", "--", "eyJ", "wandb login ", "://", "?key=", "-u a", "token=", "bearer "]
)
def test_long_lines_take_no_longer(text: str) -> None:
    assert without_secrets(text * (1_000_000 // len(text)))
