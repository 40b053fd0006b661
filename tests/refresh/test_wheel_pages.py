"""Projects' pages of wheels, in the forms in which they are written; see pages/README.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import pytest
from serving import Index, Page
from test_refresh import refresh, texts

from envdoctor.knowledge.load import load

PAGES = Path(__file__).parent / "pages"

TORCH = """
package: torch
checked: 2026-01-01
releases: ["2.0.0", "2.1.0"]
index: {pages: {pytorch: {url: "URL", axes: [cuda]}}}
variant: {cuda: cuda, python: strings}
local: "^(?P<cuda>cpu|cu[0-9]+|rocm[0-9.]+)(\\\\.with\\\\.pypi\\\\.cudnn)?$"
builds:
- {id: torch/cu118, page: pytorch, versions: ">=2", axes: [cuda], cells: {"11.8": {python: [cp37]}}}
"""

OTHER = """
package: NAME
checked: 2026-01-01
releases: RELEASES
index: {pages: {own: {url: "URL", axes: AXES}}}
variant: {cuda: cuda, torch: series, abi: flag, python: strings}
builds:
- {id: NAME/wheels, page: own, versions: ">=0"}
"""


def page(name: str, **more: str) -> Page:
    kind = "application/json; charset=utf-8" if name.endswith("json") else "text/html"
    return Page((PAGES / name).read_bytes(), kind, headers=more)


def matrices(folder: Path, torch: str, **files: str) -> Path:
    (folder / "m" / "packages").mkdir(parents=True)
    (folder / "m" / "packages" / "torch.yaml").write_text(torch, encoding="utf-8")
    for name, text in files.items():
        path = folder / "m" / "packages" / f"{name.replace('_', '-')}.yaml"
        path.write_text(text, encoding="utf-8")
    return folder / "m"


def other(name: str, releases: str, url: str, axes: str, more: str = "") -> str:
    text = OTHER.replace("NAME", name).replace("RELEASES", releases)
    return text.replace("URL", url).replace("AXES", axes) + more


def listed(folder: Path, name: str, listing: str = "own") -> Dict[str, Any]:
    return load(folder).packages[name].file.pages[listing].wheels


def plain_torch(index: Index) -> str:
    return TORCH.replace("URL", f"{index.url}/whl/{{cuda.tag}}/torch/")


def test_pytorch_by_cuda(index: Index, tmp_path: Path) -> None:
    index.pages["/whl/cu118/torch/"] = page("pytorch.html")
    folder = matrices(tmp_path, plain_torch(index))
    assert refresh(folder) == 0
    assert listed(folder, "torch", "pytorch") == {
        "2.0.0": {"cu118": ["cp38", "cp310"]},
        "2.1.0": {"cu118": ["cp38", "cp311"]},  # of the two forms of its local part
    }


def test_pytorch_on_one_page(index: Index, tmp_path: Path) -> None:
    index.pages["/whl/torch_stable.html"] = page("torch_stable.html")
    folder = matrices(tmp_path, TORCH.replace("URL", f"{index.url}/whl/torch_stable.html"))
    assert refresh(folder) == 0
    assert listed(folder, "torch", "pytorch") == {
        "2.0.0": {"cpu": ["cp310"], "cu117": ["cp310"], "rocm5.4.2": ["cp310"]}
    }
    assert index.paths() == ["/whl/torch_stable.html"]


def test_openmmlab_by_torch_and_cuda(index: Index, tmp_path: Path) -> None:
    url = f"{index.url}/mmcv/dist/{{cuda.tag}}/torch{{torch}}.0/index.html"
    index.pages["/mmcv/dist/cu118/torch2.0.0/index.html"] = page("openmmlab.html")
    text = other("mmcv", '["2.0.0"]', url, "[torch, cuda]")
    folder = matrices(tmp_path, plain_torch(index), mmcv=text)
    assert refresh(folder, "mmcv") == 0
    assert listed(folder, "mmcv") == {"2.0.0": {"2.0": {"cu118": ["cp38", "cp310"]}}}
    assert index.paths() == [
        f"/mmcv/dist/cu118/torch{torch}.0/index.html" for torch in ("2.0", "2.1")
    ]


def test_pyg_by_torch_and_cuda(index: Index, tmp_path: Path) -> None:
    url = f"{index.url}/whl/torch-{{torch}}.0+{{cuda.tag}}.html"
    index.pages["/whl/torch-2.0.0+cu118.html"] = page("pyg.html")
    local = 'local: "^(pt(?P<torch>[0-9]{2,4}))?(?P<cuda>cpu|cu[0-9]+)?$"\n'
    text = other("torch-scatter", '["2.1.1"]', url, "[torch, cuda]", local)
    folder = matrices(tmp_path, plain_torch(index), torch_scatter=text)
    assert refresh(folder, "torch-scatter") == 0
    assert listed(folder, "torch-scatter") == {"2.1.1": {"2.0": {"cu118": ["cp38", "cp310"]}}}


def test_paddle_by_cuda(index: Index, tmp_path: Path) -> None:
    url = f"{index.url}/packages/stable/{{cuda.tag}}/paddlepaddle-gpu/"
    index.pages["/packages/stable/cu118/paddlepaddle-gpu/"] = page("paddle.html")
    text = other("paddlepaddle-gpu", '["3.0"]', url, "[cuda]")
    folder = matrices(tmp_path, plain_torch(index), paddlepaddle_gpu=text)
    assert refresh(folder, "paddlepaddle-gpu") == 0
    # the release is called what the file calls it
    assert listed(folder, "paddlepaddle-gpu") == {"3.0": {"cu118": ["cp38", "cp310"]}}


LOCAL = (
    'local: "^(?P<cuda>cu[0-9]+)torch(?P<torch>[0-9]+\\\\.[0-9]+)cxx11abi(?P<abi>true|false)$"\n'
)


def flash(index: Index, tmp_path: Path) -> Path:
    url = f"{index.url}/repos/flash/releases?per_page=100"
    text = other("flash-attn", '["2.7.0", "2.8.0"]', url, "[torch, cuda, abi]", LOCAL)
    return matrices(tmp_path, plain_torch(index), flash_attn=text)


def test_assets_of_releases_in_several_answers(index: Index, tmp_path: Path) -> None:
    first, second = "/repos/flash/releases?per_page=100", "/repositories/7/releases?page=2"
    index.pages[first] = page("releases-1.json", Link=f'<{index.url}{second}>; rel="next"')
    index.pages[second] = page("releases-2.json", Link=f'<{index.url}{first}>; rel="first"')
    folder = flash(index, tmp_path)
    assert refresh(folder, "flash-attn") == 0
    assert listed(folder, "flash-attn") == {
        "2.7.0": {
            "2.4": {"cu12": {"false": ["cp312"]}},
            "2.10": {"cu12": {"false": ["cp312"]}},
        },
        "2.8.0": {"2.4": {"cu12": {"false": ["cp310"], "true": ["cp39", "cp310"]}}},
    }
    builds = load(folder).packages["flash-attn"].builds()
    assert [build.attributes["abi"] for build in builds] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("second", "link", "message"),
    [
        (Page(b"slow down", "application/json", 403), "URL/two", "status 403"),
        (Page(b"gone", status=404), "URL/two", "does not go on where it says"),
        (Page(b"[]", "application/json"), "http://127.0.0.1:9/two", "at another server"),
        (Page(b'{"message": "no"}', "application/json"), "URL/two", "no list of releases"),
        (Page(b"[" * 200_000, "application/json"), "URL/two", "no list of releases"),
        (None, "URL/repos/flash/releases?per_page=100", "continued on more than 50 pages"),
    ],
)
def test_half_a_list_is_no_list(
    index: Index,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    second: Page,
    link: str,
    message: str,
) -> None:
    link = link.replace("URL", index.url)
    first = page("releases-1.json", Link=f'<{link}>; rel="next"')
    index.pages["/repos/flash/releases?per_page=100"] = first
    if second is not None:
        index.pages["/two"] = second
    folder = flash(index, tmp_path)
    before = texts(folder)
    assert refresh(folder, "flash-attn") == 3
    assert message in capsys.readouterr().err
    assert texts(folder) == before


def test_pages_without_wheels_are_said(
    index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = matrices(tmp_path, plain_torch(index))
    assert refresh(folder) == 3
    assert "no wheel of torch on any of its pages" in capsys.readouterr().err
    index.pages["/whl/cu118/torch/"] = Page(b"<a href='http://[bad'>x</a>")
    assert refresh(folder) == 3


def test_an_axis_that_no_attribute_is_is_said(
    index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = matrices(tmp_path, plain_torch(index).replace("axes: [cuda]}}}", "axes: [cudda]}}}"))
    assert refresh(folder) == 3
    assert "variant: has no cudda" in capsys.readouterr().err


def test_a_wheel_whose_name_says_nonsense_is_left_out(index: Index, tmp_path: Path) -> None:
    strange = b'<a href="torch-2.0.0%2Bcu1-cp310-cp310-linux_x86_64.whl">a CUDA of one digit</a>'
    index.pages["/whl/cu118/torch/"] = Page(strange + (PAGES / "pytorch.html").read_bytes())
    folder = matrices(tmp_path, plain_torch(index))
    assert refresh(folder) == 0
    assert set(listed(folder, "torch", "pytorch")["2.0.0"]) == {"cu118"}
