"""What uv and pip print, as recorded of uv 0.13.9 and pip 23.2.1."""

from __future__ import annotations

from pathlib import Path
from typing import Tuple

import pytest

from envdoctor.actions.index import Platform
from envdoctor.actions.said import names_in, of_pip, of_uv, pylock, report
from envdoctor.model.resolution import Artefact

SAID = Path(__file__).with_name("said")
P310 = Platform("3.10", glibc="2.31")


def text(name: str) -> str:
    return (SAID / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "kind", "lacking", "part"),
    [
        ("pins", "conflict", (), "av2==0.2.1 depends on numpy>=1.21.5"),
        ("twice", "conflict", (), "you require numpy==1.19.5 and numpy==1.20.0"),
        (
            "one-of",
            "conflict",
            (),
            "depends on one of: tokenizers>=0.11.1,<0.11.3 tokenizers>0.11.3",
        ),
        ("requires-python", "conflict", (), "nuscenes-devkit==1.2.0 depends on Python>=3.9"),
        (
            "python-tag",
            "conflict",
            ("torch",),
            "no wheels with a matching Python implementation tag",
        ),
        ("platform", "conflict", ("torch",), "no wheels with a matching platform tag"),
        ("sources-only", "conflict", ("networkx",), "networkx==2.2 has no usable wheels"),
        ("missing-release", "conflict", (), "there is no version of numpy==1.99.0"),
        ("missing-package", "conflict", (), "was not found in the package registry"),
        ("network", "network", (), "Failed to fetch: http://127.0.0.1:9/simple/packaging/"),
        ("build", "build", (), "Failed to build `bad==1.0`"),
    ],
)
def test_what_uv_says(name: str, kind: str, lacking: Tuple[str, ...], part: str) -> None:
    refusal = of_uv(text(f"uv-{name}.txt"))
    assert (refusal.kind, refusal.lacking) == (kind, lacking)
    assert part in refusal.text
    assert "warning" not in refusal.text
    assert "--no-build" not in refusal.text
    assert not refusal.text.startswith(("error", "cause", ":"))


@pytest.mark.parametrize(
    ("name", "kind", "part"),
    [
        (
            "conflict",
            "conflict",
            "transformers 4.30.0 depends on tokenizers!=0.11.3, <0.14 and >=0.11.1",
        ),
        ("missing-release", "conflict", "no version satisfies numpy==1.99.0"),
        ("missing-package", "conflict", "no version satisfies no-such-package-of-envdoctor"),
        ("sources-only", "conflict", "no version satisfies networkx==2.2"),
        ("requires-python", "conflict", "no version satisfies numpy==1.21.6"),
        ("network", "network", "No matching distribution found for packaging"),
    ],
)
def test_what_pip_says(name: str, kind: str, part: str) -> None:
    refusal = of_pip(text(f"pip-{name}.txt"), "")
    assert refusal.kind == kind
    assert part in refusal.text
    assert "from versions: 1" not in refusal.text


def test_which_release_pip_lacks() -> None:
    assert of_pip("", text("pip-sources-only.txt")).lacking == ("networkx",)


def test_the_packages_that_uv_chose() -> None:
    found = pylock(text("uv-pylock.toml"), P310)
    assert [(a.package, a.version, a.sdist) for a in found] == [
        ("networkx", "2.8.8", False),
        ("numpy", "1.26.4", False),
        ("pyyaml", "6.0.2", False),
    ]
    assert found[2].url.endswith(
        "/PyYAML-6.0.2-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    )
    assert found[2].hashes == {
        "sha256": "ec031d5d2feb36d1d1a24380e4db6d43695f3748343d99434e6f5f9156aaa2ed"
    }


def test_a_lock_names_files_in_several_ways() -> None:
    several = """
[[packages]]
name = "A_b"
version = "1.0"
index = "https://user:secret@more.example.org/simple"
wheels = [
  {url = "https://h/A_b-1.0-cp39-cp39-linux_x86_64.whl", hashes = {sha256 = "39"}},
  {url = "https://h/A_b-1.0-cp310-cp310-linux_x86_64.whl", hashes = {sha256 = "310"}},
]
[[packages]]
name = "sources"
version = "2"
sdist = {url = "https://h/sources-2.tar.gz", hashes = {sha256 = "2"}}
[[packages]]
name = "nameless"
"""
    assert pylock(several, P310) == (
        Artefact(
            "a-b",
            "1.0",
            "https://h/A_b-1.0-cp310-cp310-linux_x86_64.whl",
            {"sha256": "310"},
            "https://more.example.org/simple",
        ),
        Artefact("sources", "2", "https://h/sources-2.tar.gz", {"sha256": "2"}, sdist=True),
    )
    assert pylock("", P310) == ()


@pytest.mark.parametrize("broken", ["[[packages", "packages = 3", 'packages = "x"'])
def test_what_is_no_lock(broken: str) -> None:
    with pytest.raises(ValueError, match=r"pylock\.toml|packages is no list"):
        pylock(broken, P310)


def test_the_packages_that_pip_chose() -> None:
    found = report(text("pip-report.json"))
    assert [(a.package, a.version, a.sdist) for a in found] == [
        ("packaging", "24.0", False),
        ("six", "1.16.0", False),
    ]
    assert found[1].hashes == {
        "sha256": "8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254"
    }


@pytest.mark.parametrize("broken", ["", "{}", "[]", '{"install": [{}]}', '{"install": [3]}'])
def test_what_is_no_report(broken: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        report(broken)


def test_names_in_a_reason() -> None:
    said = "Because av2==0.2.1 depends on Scikit_Image[extra]>=1 and you require numpy, we can"
    assert {"av2", "scikit-image", "numpy"} <= set(names_in(said))
    assert "0-2-1" not in names_in(said)
