"""pip's requirement files: what each kind of line means, and what is not followed."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict, List, Tuple

import pytest

from envdoctor.facts.requirements import RequirementsError, read
from envdoctor.model.facts import Target

Write = Callable[[Dict[str, str]], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes files and returns the name of the first, relative to the current folder."""
    project = tmp_path / "project"
    project.mkdir()
    (project / ".git").mkdir()
    monkeypatch.chdir(project)

    def files(texts: Dict[str, str]) -> str:
        for name, text in texts.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return next(iter(texts))

    return files


def asked(target: Target) -> List[Tuple[str, str, str, str]]:
    return [(d.name, d.version, d.specifier, d.path) for d in target.distributions]


@pytest.mark.parametrize(
    ("line", "name", "version", "specifier"),
    [
        ("numpy", "numpy", "", ""),
        ("numpy==1.23.5", "numpy", "1.23.5", "==1.23.5"),
        ("numpy == 1.23.5  # why", "numpy", "1.23.5", "==1.23.5"),
        ("numpy===1.23.5", "numpy", "1.23.5", "===1.23.5"),
        ("numpy==1.23.*", "numpy", "", "==1.23.*"),
        ("mmcv_full==1.7.1", "mmcv-full", "1.7.1", "==1.7.1"),
        ("torch==1.9.1+cu111", "torch", "1.9.1+cu111", "==1.9.1+cu111"),
        ("Torch[opt-einsum]>=2,<3", "torch", "", "<3,>=2"),
        ("numpy==1.23.5 --hash=sha256:00 --hash=sha256:11", "numpy", "1.23.5", "==1.23.5"),
        (
            "numpy==1.23.5 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11",
            "numpy",
            "1.23.5",
            "==1.23.5",
        ),
        ("numpy \\\n>=1.2", "numpy", "", ">=1.2"),
        ("numpy<2 ; python_version >= '3.8'", "numpy", "", "<2"),
        ("shapely==1.8.5.post1", "shapely", "1.8.5.post1", "==1.8.5.post1"),
        (
            "mmcv-full @ https://host/cu111/torch1.9.0/mmcv_full-1.4.0-cp38-cp38-manylinux1_x86_64.whl",
            "mmcv-full",
            "1.4.0",
            "==1.4.0",
        ),
        (
            "https://host/mmcv_full-1.4.0-cp38-cp38-manylinux1_x86_64.whl",
            "mmcv-full",
            "1.4.0",
            "==1.4.0",
        ),
        (
            "./wheels/numpy-1.26.4-cp39-cp39-manylinux_2_17_x86_64.whl",
            "numpy",
            "1.26.4",
            "==1.26.4",
        ),
        (
            "https://host/torch-1.9.1%2Bcu111-cp38-cp38-linux_x86_64.whl",
            "torch",
            "1.9.1+cu111",
            "==1.9.1+cu111",
        ),
        ("https://host/numpy-1.26.4.tar.gz#sha256=00", "numpy", "1.26.4", "==1.26.4"),
        ("git+https://github.com/a/b.git@v2.3.2#egg=flash-attn", "flash-attn", "2.3.2", "==2.3.2"),
        ("-e git+https://github.com/a/b.git@main#egg=mmdet", "mmdet", "", ""),
        ("mmdet @ git+https://github.com/a/b.git@0123456789", "mmdet", "", ""),
    ],
)
def test_a_line(write: Write, line: str, name: str, version: str, specifier: str) -> None:
    target = read([write({"requirements.txt": f"# head\n{line}\n"})], "3.8", "x86_64")
    assert asked(target) == [(name, version, specifier, "requirements.txt:2")]
    assert target.problems == ()


def test_tags_of_a_wheel_are_those_of_its_name(write: Write) -> None:
    line = "https://host/numpy-1.26.4-cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    (found,) = read([write({"requirements.txt": line})]).distributions
    assert found.tags == ("cp39-cp39-manylinux2014_x86_64", "cp39-cp39-manylinux_2_17_x86_64")
    assert found.direct_url == line


@pytest.mark.parametrize(
    ("marker", "kept"),
    [
        ("python_version < '3.9'", True),
        ("python_version >= '3.9'", False),
        ("sys_platform == 'win32'", False),
        ("platform_machine == 'aarch64'", False),
        ("extra == 'gpu'", False),
        ("python_full_version >= '3.8.0' and os_name == 'posix'", True),
    ],
)
def test_markers_are_judged_for_the_target(write: Write, marker: str, kept: bool) -> None:
    target = read([write({"requirements.txt": f"numpy<2; {marker}"})], "3.8", "x86_64")
    assert [d.name for d in target.distributions] == (["numpy"] if kept else [])
    assert target.problems == ()


def test_a_marker_that_depends_on_an_unknown_python_is_left_out_and_said(write: Write) -> None:
    target = read([write({"requirements.txt": "numpy<2; python_version < '3.9'"})])
    assert target.distributions == ()
    assert target.problems == (
        'requirements.txt:1: left out: not known whether python_version < "3.9"',
    )


def test_files_are_merged_constraints_too(write: Write) -> None:
    write(
        {
            "requirements.txt": "-r base/runtime.txt\n-c constraints.txt\ntorch==2.2.2\n",
            "base/runtime.txt": "--requirement more.txt\nnumpy>=1.21\n",
            "base/more.txt": "scipy\n",
            "constraints.txt": "numpy<2\npandas==1.5.3\n",
            "dev.txt": "numpy!=1.24.0\n",
        }
    )
    target = read(["requirements.txt", "dev.txt"], "3.8", "x86_64")
    assert asked(target) == [
        ("scipy", "", "", "base/more.txt:1"),
        ("numpy", "", ">=1.21,!=1.24.0,<2", "base/runtime.txt:2"),
        ("torch", "2.2.2", "==2.2.2", "requirements.txt:3"),
    ]
    assert target.asked is not None
    assert target.asked.files == (
        "requirements.txt",
        "base/runtime.txt",
        "base/more.txt",
        "constraints.txt",
        "dev.txt",
    )


def test_indexes_without_credentials(write: Write) -> None:
    text = (
        "-i https://user:p@ss@mirror/simple\n--extra-index-url=https://host/whl/cu118\n"
        "-f https://host/page.html\n--find-links https://host/page.html\n--pre\n"
        "--trusted-host host\n--no-binary :all:\n"
    )
    target = read([write({"requirements.txt": text})])
    assert target.asked is not None
    assert target.asked.indexes == (
        "https://mirror/simple",
        "https://host/whl/cu118",
        "https://host/page.html",
    )
    assert target.asked.previews
    assert target.problems == ()


@pytest.mark.parametrize(
    ("url", "name", "version"),
    [
        ("git+https://github.com/facebookresearch/detectron2.git", "detectron2", ""),
        ("git+https://github.com/facebookresearch/detectron2@v0.6", "detectron2", "0.6"),
        ("git+ssh://git@github.com/NVIDIA/apex@feature/x", "apex", ""),
        ("git+https://github.com/open-mmlab/mmcv.git#egg=mmcv-full", "mmcv-full", ""),
    ],
)
def test_a_repository_is_called_by_its_project_unless_an_egg_says_otherwise(
    write: Write, url: str, name: str, version: str
) -> None:
    target = read([write({"requirements.txt": f"{url}\n"})])
    (found,) = target.distributions
    assert (found.name, found.version) == (name, version)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("-r https://host/other.txt", "not read: offline (https://host/other.txt)"),
        ("-c http://u:p@host/c.txt", "not read: offline (http://host/c.txt)"),
        ("-e .", "not read: ."),
        ("./folder", "not read: ./folder"),
        ("--unheard-of yes", "not understood: --unheard-of yes"),
        ("-r ${HOME}/x.txt", "not read: ${HOME}/x.txt (a variable)"),
        ("-r ../../outside.txt", "not read: ../../outside.txt lies outside of {root}"),
        ("-r /etc/hostname", "not read: /etc/hostname lies outside of {root}"),
        ("-r requirements.txt", "not read again: requirements.txt includes itself"),
        (
            "git+https://github.com/a/b#subdirectory=c",
            "not read: git+https://github.com/a/b#subdirectory=c",
        ),
    ],
)
def test_what_is_not_read_is_said(write: Write, line: str, note: str) -> None:
    target = read([write({"requirements.txt": f"{line}\nnumpy\n"})])
    root = str(Path.cwd())
    assert target.problems == (
        f"requirements.txt:1: {note.format(root=root) if '{root}' in note else note}",
    )
    assert [d.name for d in target.distributions] == ["numpy"]


def test_variables_are_left_alone(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    text = "--extra-index-url https://${SECRET}@host/simple\nnumpy\n"
    target = read([write({"requirements.txt": text})])
    assert target.asked is not None
    assert target.asked.indexes == ("https://host/simple",)


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        ({"r.txt": "numpy\n==1.2\n"}, "r.txt:2: '==1.2' is no requirement: "),
        ({"r.txt": "numpy=1.2\n"}, "r.txt:1: 'numpy=1.2' is no requirement: "),
        ({"r.txt": "numpy>=banana"}, "r.txt:1: 'numpy>=banana' is no requirement: "),
        ({"r.txt": "numpy; python_versio < '3'"}, "r.txt:1: "),
        ({"r.txt": "-r\n"}, "r.txt:1: --requirement has no value"),
        (
            {"r.txt": "-r gone.txt\n"},
            "r.txt:1: gone.txt: cannot be read: no such file or directory",
        ),
        ({"r.txt": "-r sub\n", "sub/x": ""}, "r.txt:1: sub: cannot be read: is a directory"),
        ({"r.txt": "-r b.txt\n", "b.txt": "\n\n?\n"}, "b.txt:3: '?' is no requirement: "),
    ],
)
def test_what_pip_would_refuse_is_one_line(write: Write, texts: Dict[str, str], error: str) -> None:
    with pytest.raises(RequirementsError) as caught:
        read([write(texts)])
    assert str(caught.value).startswith(error)
    assert "\n" not in str(caught.value)


def test_includes_end(write: Write) -> None:
    texts = {f"r{n}.txt": f"-r r{n + 1}.txt\n" for n in range(30)}
    with pytest.raises(RequirementsError, match=r"r19.txt:1: includes too many files: r20.txt"):
        read([write(texts)])


def test_a_link_out_of_the_repository_is_not_followed(write: Write, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2 !\n")
    name = write({"r.txt": "-r inside.txt\n"})
    Path("inside.txt").symlink_to(tmp_path / "secret")
    assert read([name]).problems[0].startswith("r.txt:1: not read: inside.txt lies outside of")


def test_powershell_s_files_are_read(write: Write) -> None:
    Path("r.txt").write_bytes("numpy==1.23.5\r\ntorch==2.2.2\r\n".encode("utf-16"))
    assert [d.version for d in read(["r.txt"]).distributions] == ["1.23.5", "2.2.2"]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"numpy\n\xff\xfe\x00", "r.txt:2: is no text in UTF-8"),
        (b"numpy\n\nsci\0py", "r.txt:3: is no text: it holds a null character"),
        (b"#" * 1_000_001, "r.txt: is larger than 1 MB, which no file of its kind is"),
    ],
)
def test_what_is_no_text(write: Write, data: bytes, error: str) -> None:
    Path("r.txt").write_bytes(data)
    with pytest.raises(RequirementsError) as caught:
        read(["r.txt"])
    assert str(caught.value) == error
