"""A whole source tree: which files are read, and what is told besides interfaces."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict

import pytest
from endless import must_end
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_trees import INTERFACES, tree, uses

from envdoctor.facts.project import ProjectError, read
from envdoctor.facts.project import tree as walking
from envdoctor.facts.project.reading import MOST
from envdoctor.facts.snapshot import dump
from envdoctor.model.facts import Facts
from envdoctor.model.interface import PYTHON, Interface

OLD = "import numpy as np\nx = np.int(3)\n"


def told(root: Path, files: Dict[str, str]) -> list[str]:
    return uses(read(str(tree(root, files)), INTERFACES))


def test_folders_that_are_not_the_projects_own_are_passed_over(tmp_path: Path) -> None:
    names = [".git", "build", "venv2", "node_modules", "third_party", "net.egg-info", "tests"]
    files = {f"{name}/a.py": OLD for name in names}
    files["venv2/pyvenv.cfg"] = ""
    files["net/a.py"] = files["tools/deep/er/a.py"] = OLD
    project = read(str(tree(tmp_path, files)), INTERFACES)
    assert uses(project) == ["numpy.int net/a.py:2 tools/deep/er/a.py:2"]
    assert (project.files, project.problems) == (2, ())


def test_the_first_places_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    files = {f"net/{n}.py": "import numpy as np\n" + "x = np.int(3)\n" * 4 for n in range(3)}
    (use,) = read(str(tree(tmp_path, files)), INTERFACES).uses
    assert (use.count, use.places) == (12, ("net/0.py:2", "net/0.py:3", "net/0.py:4"))


def test_links_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    tree(tmp_path / "p", {"net/a.py": OLD})
    (tmp_path / "p/net/loop").symlink_to(tmp_path / "p")
    (tmp_path / "p/net/again.py").symlink_to("a.py")
    (tmp_path / "p/net/zero.py").symlink_to("/dev/zero")
    (tmp_path / "p/net/gone.py").symlink_to("nowhere")
    os.mkfifo(tmp_path / "p/net/pipe.py")
    project = read(str(tmp_path / "p"), INTERFACES)
    assert (project.files, project.problems) == (1, ())


def test_what_is_too_large_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.py": OLD + "#" * walking.MAX_BYTES, "b.py": OLD}
    project = read(str(tree(tmp_path, files)), INTERFACES)
    assert uses(project) == ["numpy.int b.py:2"]
    assert project.problems == ("some files are too large for sources: they were not read",)
    monkeypatch.setattr(walking, "MAX_FILES", 1)
    assert read(str(tmp_path), INTERFACES).problems[0].startswith("the tree is too large")


def test_a_deep_tree_ends(tmp_path: Path) -> None:
    tree(tmp_path, {"/".join(["d"] * 40) + "/a.py": OLD})
    project = read(str(tmp_path), INTERFACES)
    assert project.uses == ()
    assert project.problems == ("folders are nested too deeply: the innermost were not read",)


def test_what_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"a.py": OLD, "b.py": OLD})
    opened = os.open

    def refuse(path: str, flags: int) -> int:
        if path.endswith("a.py"):
            raise PermissionError(path)
        return opened(path, flags)

    monkeypatch.setattr(walking.os, "open", refuse)
    project = read(str(tmp_path), INTERFACES)
    assert uses(project) == ["numpy.int b.py:2"]
    assert project.problems == ("some files cannot be read",)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("none", "no such file or directory"), ("file", "not a directory"), ("a\0b", "")],
)
def test_what_is_no_folder_is_refused(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ProjectError, match=f"--project .*: cannot be read: {reason}"):
        read(str(tmp_path / name), INTERFACES)


# --- launching -----------------------------------------------------------------------------------

TRAIN = (
    "from argparse import *\np = ArgumentParser()\np.add_argument('--local_rank')\np.parse_args()\n"
)


@pytest.mark.parametrize(
    ("script", "by"),
    [
        ('python -m torch.distributed.launch $(dirname "$0")/train.py $1', "tools/run.sh:1"),
        (
            "python -m torch.distributed.launch --nproc_per_node=8 \\\n  tools/train.py",
            "tools/run.sh:1",
        ),
        ("\npython -m torch.distributed.launch ./tools/train.py", "tools/run.sh:2"),
        ("python -m torch.distributed.launch $ROOT/tools/train.py", "tools/run.sh:1"),
        ("cd tools; python -m torch.distributed.launch train.py", "tools/run.sh:1"),
        ("python -m torch.distributed.launch --use_env tools/train.py", ""),
        ("python -m torch.distributed.launch --use-env tools/train.py", ""),
        ("# python -m torch.distributed.launch tools/train.py", ""),
        ("python -m torch.distributed.launch tools/other.py", ""),
        ("torchrun --nproc_per_node=8 tools/train.py", ""),
        ("python tools/train.py", ""),
        ("", ""),
    ],
)
def test_what_starts_a_script(script: str, by: str, tmp_path: Path) -> None:
    files = {"tools/train.py": TRAIN, "tools/run.sh": script}
    wanted = "--local_rank tools/train.py:3" + (f" (by {by})" if by else "")
    assert told(tmp_path, files) == [wanted]


def test_scripts_that_are_not_started_are_left_out_where_others_are(tmp_path: Path) -> None:
    files = {
        "train.py": TRAIN,
        "old/train.py": TRAIN,
        "README.md": "    python -m torch.distributed.launch train.py\n",
    }
    assert told(tmp_path, files) == ["--local_rank train.py:3 (by README.md:1)"]


# --- submodules, packages, imports ---------------------------------------------------------------


def test_submodules_that_were_not_fetched(tmp_path: Path) -> None:
    text = (
        '[submodule "a"]\n\tpath = third_party/cutlass\n\turl = x\n'
        '[submodule "b"]\n\tpath = glm\n[submodule "c"]\n\tpath = full\n'
        '[submodule "d"]\n\tpath = ../outside\n\tpath = /etc/none\n\tpath = .\n\tpath\n'
    )
    tree(tmp_path, {".gitmodules": text, "full/x.h": ""})
    (tmp_path / "glm").mkdir()
    assert read(str(tmp_path), INTERFACES).submodules == {
        "third_party/cutlass": ".gitmodules:2",
        "glm": ".gitmodules:5",
    }


def test_packages_at_the_root_with_their_versions(tmp_path: Path) -> None:
    files = {
        "mmdet/__init__.py": "from .version import __version__\n",
        "mmdet/version.py": "__version__ = '2.14.0'\nshort_version = __version__\n",
        "plain/__init__.py": '__version__: str = "1.0+abc"\n',
        "unknown/__init__.py": "__version__ = read()\n",
        "inner/deep/__init__.py": "__version__ = '9'\n",
        "folder/a.py": "",
    }
    assert read(str(tree(tmp_path, files)), INTERFACES).packages == {
        "mmdet": "2.14.0",
        "plain": "1.0+abc",
        "unknown": "",
    }


def test_modules_that_nothing_serves(tmp_path: Path) -> None:
    site = tree(tmp_path / "site", {"numpy/__init__.py": "", "six.py": "", "_c.abi3.so": ""})
    files = {
        "train.py": (
            "import os, sys, numpy.linalg\nimport six, _c, shapely.geometry\nimport own\n"
            "from . import here\nfrom nowhere import x\ntry:\n    import optional\n"
            "except ImportError:\n    pass\ndef f():\n    import later\n"
        ),
        "tools/path.py": "import sys\nsys.path.append('x')\nimport unknown\n",
        "deep/inside.py": "import another\n",
        "setup.py": "import skbuild\n",
        "lib/own.py": "",
    }
    root = str(tree(tmp_path / "p", files))
    project = read(root, INTERFACES, [str(site), str(tmp_path / "python38.zip")])
    assert project.sought
    assert project.unresolved == {"shapely": "train.py:2", "nowhere": "train.py:5"}


def test_without_a_whole_search_path_nothing_is_missing(tmp_path: Path) -> None:
    root = str(tree(tmp_path / "p", {"train.py": "import shapely\n"}))
    assert not read(root, INTERFACES).sought
    (tmp_path / "packed.zip").write_bytes(b"PK")
    assert read(root, INTERFACES, [str(tmp_path / "packed.zip")]).unresolved == {}


# --- whatever a file holds -----------------------------------------------------------------------

START = "import numpy as np\nnp.int\n"
HOSTILE = {
    "sum.py": START + "x = " + "+".join(["np.int"] * 50_000),
    "chain.py": START + "x = np" + ".int" * 100_000,
    "open.py": START + "(" * 100_000,
    "signs.py": START + "x = " + "-" * 200_000 + "1",
    "elif.py": START + "if a: pass\n" + "elif b: pass\n" * 20_000,
    "calls.py": START + "x = a" + "(1)" * 100_000,
    "subscripts.py": START + "x = a" + "[1]" * 100_000,
    "imports.py": "from numpy import (" * 20_000,
    "texts.py": START + "print 1\n" + "x = '''" * 50_000,
    "quotes.py": START + "print 1\n" + '"\\' * 150_000,
    "null.py": START + "\0",
    "comment.cu": "AT_CHECK\n" + "/*" * 200_000,
    "quotes.cu": "AT_CHECK\n" + '"\\' * 200_000,
    "conditions.cu": "AT_CHECK\n" + "#if A\n" * 80_000,
    "dispatch.cu": "AT_DISPATCH_A(" * 30_000,
    "word.sh": "torch.distributed.launch " + "a" * 300_000,
    "names.sh": "torch.distributed.launch " + "${A}" * 100_000 + "x.py",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_read_in_time(name: str, tmp_path: Path) -> None:
    with must_end():
        project = read(str(tree(tmp_path, {name: HOSTILE[name]})), INTERFACES)
    assert project.files == 1
    assert len(dump(Facts(projects=(project,)))) < 20_000


PIECES = st.sampled_from(
    [
        "import numpy as np\n",
        "from torch import _six, load\n",
        "np.int",
        "np.int = int\n",
        "try:\n    ",
        "except ImportError:\n    ",
        "if sys.version_info:\n    ",
        "load(f, **k)",
        "add_argument('--local_rank')",
        "CUDAExtension",
        "'-std=c++14'",
        "#if TORCH\n",
        "#include <THC/THC.h>\n",
        "AT_CHECK(",
        "/*",
        '"',
        "'''",
        "\\\n",
        "(",
        ")",
        "\n",
        "    ",
        "\0",
        "é",
    ]
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["a.py", "a.cu", "a.sh", ".gitmodules", "README.md"]),
    st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=80)),
)
def test_any_text_is_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    with must_end():
        project = read(str(tmp_path), INTERFACES)
    assert all(use.count >= len(use.places) >= 1 for use in project.uses)
    (tmp_path / name).unlink()


def test_of_very_many_names_those_used_most_are_kept(tmp_path: Path) -> None:
    names = [Interface(f"torch.name{i}", PYTHON) for i in range(MOST + 50)]
    often = "".join(f"torch.name{i}\n" for i in range(100, MOST + 50)) * 2
    text = "import torch\n" + often + "".join(f"torch.name{i}\n" for i in range(100))
    project = read(str(tree(tmp_path, {"net.py": text})), names)
    assert len(project.uses) == MOST
    assert {f"torch.name{i}" for i in range(100, MOST + 50)} <= {u.interface for u in project.uses}
    assert project.problems == ("of more names than are kept, those that are used most were kept",)
