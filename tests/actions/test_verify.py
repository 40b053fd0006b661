"""Whether what a stack names is there; what is there instead; and what could not be asked."""

from __future__ import annotations

from typing import Any, Dict, List

import pytest
from serving import File, Page
from serving import Index as Served

from envdoctor.actions.index import Platform
from envdoctor.actions.settings import of_pip
from envdoctor.actions.verify import verify
from envdoctor.model.language import CHINESE, translate
from envdoctor.model.resolution import Artefact, Member, Resolution, Verified

P38 = Platform("3.8", glibc="2.31")


def member(text: str, **more: Any) -> Member:
    name, _, version = text.partition("==")
    return Member(name, version, requirement=text, **more)


def told(*stack: Member, **more: Any) -> List[Verified]:
    resolution = Resolution("resolve", "0", "", "solved", stack=stack, **more)
    return list(verify(resolution, P38))


def wheels(served: Served, name: str, *files: str, page: str = "") -> None:
    served.project(name, [File(file, metadata="") for file in files])
    if page:
        served.pages[page] = served.pages.pop(f"/simple/{name}/")


def test_what_is_there_has_its_file(served: Served) -> None:
    wheels(
        served, "numpy", "numpy-1.19.5-cp38-cp38-manylinux2010_x86_64.whl", "numpy-1.19.5.tar.gz"
    )
    assert told(member("numpy==1.19.5")) == [
        Verified(
            "numpy",
            "1.19.5",
            "there",
            url=f"{served.url}/files/numpy-1.19.5-cp38-cp38-manylinux2010_x86_64.whl",
        )
    ]
    (sources,) = told(member("numpy==1.19.5", origin="source"))
    assert sources.url == f"{served.url}/files/numpy-1.19.5.tar.gz"


def test_hashes_of_a_page_of_wheels(served: Served) -> None:
    name = "mmcv_full-1.4.0-cp38-cp38-manylinux1_x86_64.whl"
    served.pages[f"/files/{name}"] = Page(b"")
    served.pages["/mmcv/index.html"] = Page(
        f'<a href="../files/{name}#sha256={"b" * 64}">{name}</a>'.encode()
    )
    (found,) = told(member("mmcv-full==1.4.0", url=f"{served.url}/mmcv/index.html"))
    assert (found.status, found.hashes) == ("there", {"sha256": "b" * 64})


def test_a_local_version_on_an_index_of_its_own(served: Served) -> None:
    wheels(served, "torch", "torch-1.9.1+cu111-cp38-cp38-linux_x86_64.whl", page="/whl/torch/")
    (found,) = told(member("torch==1.9.1+cu111", url=f"{served.url}/whl"))
    assert (found.status, found.version) == ("there", "1.9.1+cu111")
    (found,) = told(member("torch==1.9.1+cu102", url=f"{served.url}/whl"))
    assert (found.status, found.nearest) == ("missing", ("1.9.1+cu111",))
    assert found.text == f"there is no torch 1.9.1+cu102 on {served.url}/whl"


ODD = [
    "numpy-1.17.0-cp36-cp36m-manylinux1_x86_64.whl",
    "numpy-1.18.0-cp38-cp38-manylinux1_x86_64.whl",
    "numpy-1.20.0-cp38-cp38-manylinux1_x86_64.whl",
    "numpy-1.21.0rc1-cp38-cp38-manylinux1_x86_64.whl",
    "numpy-1.22.0-cp38-cp38-manylinux_2_35_x86_64.whl",
    "numpy-1.22.0-cp38-cp38-win_amd64.whl",
    "numpy-1.23.0-cp310-cp310-manylinux1_x86_64.whl",
    "numpy-1.23.0-cp39-cp39-manylinux1_x86_64.whl",
    "numpy-1.24.0.tar.gz",
    "numpy-1.25.0-cp38-cp38-win_amd64.whl",
]


@pytest.mark.parametrize(
    ("version", "text", "nearest"),
    [
        ("1.19.0", "there is no numpy 1.19.0 on the index", ("1.18.0", "1.20.0")),
        ("2.0.0", "there is no numpy 2.0.0 on the index", ("1.20.0",)),
        ("1.0", "there is no numpy 1.0 on the index", ("1.18.0",)),
        (
            "1.22.0",
            "no wheel of numpy 1.22.0 fits x86_64 (glibc 2.31): they are for manylinux_2_35_x86_64",
            ("1.20.0",),
        ),
        (
            "1.23.0",
            "no wheel of numpy 1.23.0 fits Python 3.8: they are for cp39, cp310",
            ("1.20.0",),
        ),
        (
            "1.25.0",
            "no wheel of numpy 1.25.0 fits x86_64 (glibc 2.31): they are for win_amd64",
            ("1.20.0",),
        ),
        ("one", "one is no version by PEP 440", ()),
    ],
)
def test_what_is_there_instead(served: Served, version: str, text: str, nearest: tuple) -> None:
    wheels(served, "numpy", *ODD)
    (found,) = told(member(f"numpy=={version}"))
    assert (found.status, found.text, found.nearest) == ("missing", text, nearest)
    assert translate(CHINESE, text) != text


def test_sources_alone_are_there_where_they_may_be_built(served: Served) -> None:
    wheels(served, "numpy", *ODD)
    (found,) = told(member("numpy==1.24.0"))
    assert (found.status, found.text) == ("there", "of numpy 1.24.0 there are sources only")
    only = ("numpy==1.24.0", "--only-binary", "numpy")
    (found,) = told(Member("numpy", "1.24.0", requirement="numpy==1.24.0", arguments=only))
    assert (found.status, found.nearest) == ("missing", ("1.20.0",))


def test_the_python_of_a_wheel_is_what_does_not_fit(served: Served) -> None:
    wheels(served, "numpy", *ODD)
    stack = (Member("python", "3.12", origin="image"), member("numpy==1.18.0"))
    (found,) = told(*stack)
    assert found.text == "no wheel of numpy 1.18.0 fits Python 3.12: they are for cp38"


def test_what_the_index_does_not_have(served: Served) -> None:
    (found,) = told(member("nothing==1"))
    assert (found.status, found.text) == ("missing", "there is no nothing on the index")
    wheels(served, "wheels-only", "wheels_only-1-py3-none-any.whl")
    (found,) = told(member("wheels-only==1", origin="source"))
    assert found.text == "of wheels-only 1 there are no sources"


def test_what_is_listed_and_not_there(served: Served) -> None:
    name = "numpy-1.0-py3-none-any.whl"
    served.project("numpy", [File(name)])
    (found,) = told(member("numpy==1.0"))
    assert found.status == "missing"
    assert found.text == f"the index lists {name}, and the file is not there"


def test_what_was_withdrawn_is_there(served: Served) -> None:
    served.project("numpy", [File("numpy-1.0-py3-none-any.whl", yanked=True, metadata="")])
    (found,) = told(member("numpy==1.0"))
    assert (found.status, found.text) == ("there", "its project has withdrawn it")


def test_what_cannot_be_asked_is_no_fault(served: Served) -> None:
    gone = "http://127.0.0.1:9/whl/cu111"
    (found,) = told(member("torch==1.9.1+cu111", url=gone))
    assert found == Verified(
        "torch", "1.9.1+cu111", "unasked", f"{gone}/: refuses connections"
    ) or (
        found.status,
        found.text,
    ) == ("unasked", f"{gone}: refuses connections")


def test_a_configuration_that_cannot_be_read(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    conf = tmp_path / "broken.conf"
    conf.write_text("index-url = without a section\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    (found,) = told(member("numpy==1.0"))
    assert found.status == "unasked"
    assert found.text.startswith("pip does not tell what it is configured with")


def test_what_is_the_machines_or_of_a_tree_is_on_no_index(served: Served) -> None:
    assert (
        told(
            Member("python", "3.8", origin="image"),
            Member("image", "nvidia/cuda:11.1.1", origin="image"),
            Member("host.driver", "470", origin="host"),
            member("mmdet3d==0.17.2", origin="source", tree="mmdetection3d"),
        )
        == []
    )


def artefact(served: Served, name: str, **more: Any) -> Artefact:
    return Artefact(name, "1.0", url=f"{served.url}/files/{name}", **more)


def test_the_rest_of_the_tree(served: Served) -> None:
    served.pages["/files/here"] = Page(b"")
    wheels(served, "moved", "moved-1.0-py3-none-any.whl")
    wheels(served, "numpy", "numpy-1.0-py3-none-any.whl")
    tree = (
        artefact(served, "here", hashes={"sha256": "c" * 64}),
        artefact(served, "gone"),
        artefact(served, "moved"),
        Artefact("numpy", "1.0", url=f"{served.url}/files/numpy-1.0-py3-none-any.whl"),
    )
    found = {one.component: one for one in told(member("numpy==1.0"), tree=tree)}
    assert {name: one.status for name, one in found.items()} == {
        "numpy": "there",
        "here": "there",
        "gone": "missing",
        "moved": "there",
    }
    assert found["here"].hashes == {"sha256": "c" * 64}
    assert found["moved"].url == f"{served.url}/files/moved-1.0-py3-none-any.whl"


def test_logins_are_told_nowhere(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels(served, "numpy", "numpy-1.0-py3-none-any.whl")
    monkeypatch.setenv("PIP_INDEX_URL", served.url.replace("//", "//anna:s3cret@") + "/simple")
    assert len(of_pip().secrets) == 2
    found: Dict[str, Verified] = {
        one.version: one for one in told(member("numpy==1.0"), member("numpy==2.0"))
    }
    assert found["1.0"].status == "there"
    assert "s3cret" not in str(found)
