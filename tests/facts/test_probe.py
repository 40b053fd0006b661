from __future__ import annotations

import base64
import email.parser
import hashlib
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Dict

import msgspec
import pytest
from fake_environment import Environment, interpreters, probe_of, real_path
from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor.facts import probe
from envdoctor.knowledge.load import load
from envdoctor.model.facts import Target


@pytest.fixture
def venv(tmp_path):
    return Environment(tmp_path / "venv")


def named(target: Target) -> Dict[str, object]:
    return {one.name: one for one in target.distributions}


# --- the search path --------------------------------------------------------------------------


@pytest.mark.parametrize("python", interpreters())
class TestSearchPathOfEveryPython:
    def test_interpreter_itself(self, python):
        target = probe_of(python, {})
        assert list(target.path) == real_path(python, {})
        assert (target.implementation, target.problems) == ("cpython", ())
        assert target.soabi.startswith("cpython-3")

    def test_virtual_environment_with_all_that_changes_it(self, python, tmp_path):
        venv = Environment(tmp_path / "venv", python)
        user = tmp_path / "user" / "lib" / venv.site.parent.name / "site-packages"
        for folder in ("a", "b", "c", "d", "user-extra"):
            (tmp_path / folder).mkdir()
        (venv.site / "inside").mkdir()
        venv.write(
            {
                "z.pth": f"# comment\n\n{tmp_path}/c\r\n{tmp_path}/nowhere\n{tmp_path}/a\n",
                "a.pth": f"inside\n../site-packages/inside  \n{tmp_path}/d\n{tmp_path}/c\n",
                "code.pth": "import sys; print('executed', file=sys.stderr)\ninside\n",
                "nul.pth": f"{tmp_path}/b\n\0\n{tmp_path}/c\n",
            }
        )
        venv.write({"u.pth": f"{tmp_path}/user-extra\n{tmp_path}/d\n"}, user)
        environ = {
            "PYTHONPATH": f"{tmp_path}/a:relative:{tmp_path}/gone:{tmp_path}/a:",
            "PYTHONUSERBASE": str(tmp_path / "user"),
            "HOME": str(tmp_path),
        }

        def check(user_site, **extra):
            variables = {**environ, **extra}
            target = venv.probe(variables, tmp_path)
            assert list(target.path) == real_path(venv.python, variables, tmp_path)
            assert target.user_site == user_site
            assert target.prefix == str(venv.folder) != target.base_prefix

        check("")
        settings = venv.folder / "pyvenv.cfg"
        settings.write_text(settings.read_text().replace("packages = false", "packages = true"))
        check(str(user), PYTHONNOUSERSITE="")
        check("", PYTHONNOUSERSITE="1")

    def test_python_home(self, python, tmp_path):
        base = probe_of(python, {}).base_prefix
        home = tmp_path / "home"
        home.symlink_to(base)
        target = probe_of(python, {"PYTHONHOME": str(home)})
        assert list(target.path) == real_path(python, {"PYTHONHOME": str(home)})
        assert target.environ == {"PYTHONHOME": str(home)}
        assert target.problems == ()


def test_python_home_without_a_library_is_a_problem(venv, tmp_path):
    target = venv.probe({"PYTHONHOME": str(tmp_path)})
    version = venv.site.parent.name
    assert target.problems == (
        f"PYTHONHOME is {tmp_path}, which holds no standard library of {version}: "
        "this interpreter cannot start while it is set",
    )


def test_home_folder_gives_the_user_site(tmp_path):
    python = os.path.realpath(sys.executable)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    user = tmp_path / ".local" / "lib" / version / "site-packages"
    user.mkdir(parents=True)
    target = probe_of(python, {"HOME": str(tmp_path)})
    assert target.user_site == str(user)
    assert list(target.path) == real_path(python, {"HOME": str(tmp_path)})


def test_nothing_of_the_environment_is_executed(venv, tmp_path):
    witness = tmp_path / "executed"
    code = f"open({str(witness)!r}, 'w').close()\n"
    modules = "json re ast os site sysconfig stat encodings _imp torch sitecustomize usercustomize"
    project = tmp_path / "project"
    venv.write({f"{name}.py": code for name in modules.split()}, project)
    venv.write({"torch/__init__.py": code, "torch/version.py": code, "sitecustomize.py": code})
    venv.write({"start.pth": f"import sys; {code}", "__editable___x_1_finder.py": code})
    venv.write({"__editable__.x-1.pth": "import __editable___x_1_finder; x.install()\n"})
    target = venv.probe({"PYTHONPATH": str(project), "PYTHONSTARTUP": "json.py"}, project)
    assert not witness.exists()
    assert target.path[0] == str(project)
    assert target.problems == (
        f"{venv.site}/__editable___x_1_finder.py holds no mapping that can be read",
    )


def test_site_module_that_is_not_known_is_not_imported(venv, tmp_path, monkeypatch):
    """That of virtualenv before 20 would execute .pth files when it is imported."""
    venv.write({"site.py": "main()\n", "extra/x.py": ""}, tmp_path)
    venv.write({"x.pth": f"import sys\n{tmp_path}/extra\n"})
    monkeypatch.setattr(os, "__file__", str(tmp_path / "os.py"))
    monkeypatch.setattr(sys, "prefix", str(venv.folder))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    problems = []
    before = list(sys.path)
    path = probe.search_path(problems)
    assert sys.path == before
    assert path.entries[-2:] == [str(venv.site), f"{tmp_path}/extra"]
    assert problems == [
        "the site module of this interpreter is not known: "
        "of the search path only the environment's site-packages was read"
    ]


def test_code_in_a_pth_file_that_may_change_the_path_is_a_problem(venv):
    venv.write({"odd.pth": "import sys; sys.path.insert(0, '/x')\n"})
    assert venv.probe().problems == (
        f"{venv.site}/odd.pth changes sys.path by code; it was not run",
    )


def test_customization_that_may_change_the_path_is_a_problem(venv, tmp_path):
    # on PYTHONPATH, ahead of the one that some distributions have in the standard library
    venv.write({"sitecustomize.py": "import sys\nsys.path.append('/x')\n"}, tmp_path)
    venv.write({"usercustomize.py": "import apport_python_hook\n"}, tmp_path)
    problem = f"{tmp_path}/sitecustomize.py may change sys.path; it was not run"
    assert venv.probe({"PYTHONPATH": str(tmp_path)}).problems == (problem,)


def test_the_probe_writes_nothing(venv, tmp_path):
    venv.add("thing", "1.0", {"thing/__init__.py": ""})
    before = sorted(map(str, tmp_path.rglob("*")))
    venv.probe({"HOME": str(tmp_path)}, tmp_path)
    assert sorted(map(str, tmp_path.rglob("*"))) == before


# --- distributions ----------------------------------------------------------------------------


def test_distribution_of_a_wheel(venv):
    info = venv.add(
        "nuScenes.DevKit",
        "1.1.9",
        {"nuscenes/__init__.py": "", "nuscenes/a,b.py": "", "python_sdk.py": ""},
        requires=["numpy (>=1.19)", "torch; extra == 'gpu'", "six ; python_version < '3.9'"],
    )
    (one,) = venv.probe().distributions
    assert one.name == "nuScenes.DevKit"
    assert one.version == "1.1.9"
    assert one.path == str(info)
    assert one.search_entry == str(venv.site)
    assert one.installer == "pip"
    assert one.tags == ("py3-none-any",)
    assert one.requires == ("numpy (>=1.19)", "six ; python_version < '3.9'")
    assert one.modules == ("nuscenes", "python_sdk")
    # the comma is not quoted in this RECORD
    assert (one.files, one.missing, one.problem) == (3, (), "")


def test_top_level_txt_and_requires_python(venv):
    info = venv.add("opencv-python", "4.5.5.64", {"cv2/__init__.py": "", "cv2/cv2.abi3.so": ""})
    (info / "top_level.txt").write_text("cv2\n")
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\r\nname: opencv-python\r\nVERSION : 4.5.5.64\r\n"
        "Requires-Python: >=3.6\r\nRequires-Dist: numpy\r\n  >=1.21\r\n\r\nName: other\r\n"
    )
    (one,) = venv.probe().distributions
    assert (one.name, one.version) == ("opencv-python", "4.5.5.64")
    assert one.requires_python == ">=3.6"
    assert one.requires == ("numpy >=1.21",)
    assert one.modules == ("cv2",)


def test_files_that_are_gone(venv):
    files = {f"mmcv/ops/op{number}.py": "" for number in range(30)}
    venv.add("mmcv-full", "1.4.0", files)
    for number in range(12):
        (venv.site / f"mmcv/ops/op{number}.py").unlink()
    (one,) = venv.probe().distributions
    assert (one.files, one.missing_count) == (30, 12)
    assert one.missing == tuple(sorted(f"mmcv/ops/op{number}.py" for number in range(12))[:10])


def test_long_list_whose_folder_is_gone(venv):
    files = {f"torch/include/a{n // 50}/{n}.h": "" for n in range(3000)}
    files.update({f"torch/nn/{n}.py": "" for n in range(1000)})
    files["torch/lib/libtorch_cpu.so.1"] = files["torch/_C.so"] = files["torch/__init__.py"] = ""
    venv.add("torch", "2.4.1", files)
    (whole,) = venv.probe().distributions
    assert (whole.files, whole.missing_count) == (4005, 0)  # with its two files of metadata
    (venv.site / "torch/lib/libtorch_cpu.so.1").unlink()
    for path in (venv.site / "torch/nn").iterdir():
        path.unlink()
    (one,) = venv.probe().distributions
    assert 20 <= one.missing_count <= 100
    assert one.missing[0] == "torch/lib/libtorch_cpu.so.1"
    assert one.modules == ("torch",)


def test_what_a_top_level_import_needs_is_looked_for_in_lists_of_any_length(venv):
    for name in ("first", "second", "third"):
        files = {f"{name}/{number}.py": "" for number in range(1000)}
        if name != "first":
            files[f"{name}/__init__.py"] = ""
        files[f"{name}_alone.py"] = ""
        venv.add(name, "1", files)
    (venv.site / "first_alone.py").unlink()
    (venv.site / "second/__init__.py").unlink()
    shutil.rmtree(str(venv.site / "third"))
    found = named(venv.probe())
    assert (found["first"].missing, found["first"].unimportable) == (
        ("first_alone.py",),
        ("first_alone",),
    )
    assert (found["second"].missing, found["second"].unimportable) == (
        ("second/__init__.py",),
        ("second",),
    )
    assert found["third"].unimportable == ("third",)
    assert found["third"].missing[0] == "third/__init__.py"
    assert 50 < found["third"].missing_count <= found["third"].looked_for <= probe.SAMPLE + 2


def test_what_is_gone_from_here_but_served_from_elsewhere_can_be_imported(venv, tmp_path):
    venv.add("numpy", "1.26.4", {"numpy/__init__.py": "", "numpy/core.py": ""})
    shutil.rmtree(str(venv.site / "numpy"))
    (one,) = venv.probe().distributions
    assert one.unimportable == ("numpy",)
    venv.write({"numpy/__init__.py": ""}, tmp_path)
    (one,) = venv.probe({"PYTHONPATH": str(tmp_path)}).distributions
    assert (one.unimportable, one.missing_count) == ((), 2)


def test_namespace_that_lost_its_only_folder_cannot_be_imported(venv):
    venv.add("google-cloud-x", "1", {"google/cloud/x/__init__.py": ""})
    assert venv.probe().distributions[0].unimportable == ()
    (venv.site / "google/cloud/x/__init__.py").unlink()
    (one,) = venv.probe().distributions
    assert (one.missing, one.unimportable) == (("google/cloud/x/__init__.py",), ())
    shutil.rmtree(str(venv.site / "google"))
    assert venv.probe().distributions[0].unimportable == ("google",)


def test_package_that_several_distributions_share_misses_no_init(venv):
    """What `pip install -U` of one nvidia-* wheel leaves where the new one lacks the file."""
    for library in ("cublas", "cudnn", "nccl"):
        files = {"nvidia/__init__.py": "", f"nvidia/{library}/__init__.py": ""}
        files[f"nvidia/{library}/lib/lib{library}.so.12"] = ""
        venv.add(f"nvidia-{library}-cu12", "12.1", files)
    (venv.site / "nvidia/__init__.py").unlink()
    found = venv.probe().distributions
    seen = [(one.missing, one.missing_count, one.unimportable) for one in found]
    assert seen == [((), 0, ())] * 3
    # with one other alone, which does not list the file
    for name in ("cublas", "cudnn"):
        shutil.rmtree(str(venv.site / f"nvidia_{name}_cu12-12.1.dist-info"))
    venv.add("nvidia-cublas-cu12", "12.4", {"nvidia/cublas/lib/libcublas.so.12": ""})
    assert all(not one.missing and not one.unimportable for one in venv.probe().distributions)
    # a library of its own counts, and so does the loss of everything
    (venv.site / "nvidia/nccl/lib/libnccl.so.12").unlink()
    assert named(venv.probe())["nvidia-nccl-cu12"].missing == ("nvidia/nccl/lib/libnccl.so.12",)
    shutil.rmtree(str(venv.site / "nvidia"))
    assert named(venv.probe())["nvidia-nccl-cu12"].unimportable == ("nvidia",)


def test_file_that_another_distribution_lists_too_is_not_missing(venv):
    venv.add("opencv-python", "4.8", {"cv2/__init__.py": "", "cv2/gapi/__init__.py": ""})
    venv.add("opencv-python-headless", "4.9", {"cv2/__init__.py": "", "cv2/gapi/__init__.py": ""})
    (venv.site / "cv2/gapi/__init__.py").unlink()
    assert [one.missing for one in venv.probe().distributions] == [(), ()]
    shutil.rmtree(str(venv.site / "opencv_python_headless-4.9.dist-info"))
    assert [one.missing for one in venv.probe().distributions] == [("cv2/gapi/__init__.py",)]


@pytest.mark.parametrize("end", [".pyc", ".so"])
def test_compiled_form_in_place_of_a_source_counts(venv, end):
    files = {f"slim/{name}.py": "" for name in ("__init__", *"abcdefgh")}
    venv.add("slim", "1", {**files, "single.py": "", "slim/sub/__init__.py": ""})
    for path in [*files, "single.py", "slim/sub/__init__.py"]:
        source = venv.site / path
        source.rename(source.with_suffix(end))
    (one,) = venv.probe().distributions
    assert (one.missing, one.unimportable, one.modules) == ((), (), ("single", "slim"))
    (venv.site / f"slim/__init__{end}").unlink()
    cached = venv.site / "slim/__pycache__" / "__init__.cpython-38.pyc"
    cached.parent.mkdir()
    cached.touch()
    (one,) = venv.probe().distributions
    assert (one.missing, one.unimportable) == (("slim/__init__.py",), ("slim",))


def test_data_and_tests_may_be_gone(venv):
    names = ["a/x.h", "a/x.pyi", "a/tests/test_x.py", "a/docs/conf.py", "a/x.json"]
    venv.add("a", "1", {"a/__init__.py": "", **dict.fromkeys(names, "")})
    for name in names:
        (venv.site / name).unlink()
    (one,) = venv.probe().distributions
    assert (one.files, one.missing_count) == (6, 0)


def test_list_of_files_with_hostile_paths(venv):
    info = venv.add("odd", "1")
    (info / "RECORD").write_bytes(
        b'/etc/nowhere,,\n../../../bin/odd,,\n../../../../../nowhere,,\n"../x,y",,\n'
        b'"a ""quoted"", name.py",sha256=x,1\n\xff\xfe.py,,\n"unfinished,,\n,,\n\n'
        b"odd/__pycache__/x.cpython-38.pyc,,\nodd/__pycache__,,\nodd/x.pyc,,\nscripts-3.10/odd,,\n"
        b"odd-1.dist-info/LICENSE,,\nno comma\nnul\0.py,,\n"
    )
    (one,) = venv.probe().distributions
    assert one.missing == ('a "quoted", name.py', "nul .py", "\ufffd\ufffd.py")


def test_origin_of_a_distribution_without_its_credentials(venv):
    info = venv.add("detectron2", "0.6")
    url = "https://me:secret@git.example.org/detectron2.git?token=secret"
    data = {"url": url, "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    (info / "direct_url.json").write_text(json.dumps(data))
    wheel = venv.add("mmcv", "2.1.0")
    data = {"url": "https://host/w.whl?X-Sig=secret#sha256=1", "archive_info": {}}
    (wheel / "direct_url.json").write_text(json.dumps(data))
    for name, text in (("bad", "[1]"), ("worse", "{"), ("odd", '{"url": 1, "vcs_info": 3}')):
        (venv.add(name, "1") / "direct_url.json").write_text(text)
    target = venv.probe()
    found = named(target)
    assert found["detectron2"].direct_url == "git+https://git.example.org/detectron2.git@abc"
    assert found["mmcv"].direct_url == "https://host/w.whl#sha256=1"
    assert [problem.rpartition("/")[2] for problem in target.problems] == (
        ["direct_url.json is not what PEP 610 describes"] * 3
    )


def test_metadata_that_is_damaged(venv):
    venv.write({"empty-1.0.dist-info/RECORD": ""})
    venv.write({"nameless-2.0.dist-info/METADATA": "Metadata-Version: 2.1\nVersion: 2.0\n\n"})
    venv.write({"bare.egg-info/PKG-INFO": "Summary: x\nName: bare\n"})
    venv.write({"bad-1.dist-info/METADATA": b"Name: b\x1b[31mad\x00\xff\nVersion: \xc3\xa91\n"})
    venv.write({"long-1.dist-info/METADATA": b"Name: long\nVersion: 1\nX: " + b"y" * 2_000_000})
    body = b"Name: big\nVersion: 3\n\n" + b"Version: 4\n" * 1_000_000
    venv.write({"big-3.dist-info/METADATA": body})
    (venv.site / "loop-1.dist-info").symlink_to("loop-1.dist-info")
    (venv.site / "folder-1.dist-info" / "METADATA").mkdir(parents=True)
    (venv.site / "fifo-1.dist-info").mkdir()
    os.mkfifo(venv.site / "fifo-1.dist-info" / "METADATA")
    os.mkfifo(venv.site / "fifo.pth")
    target = venv.probe()
    assert [(one.name, one.version, one.problem) for one in target.distributions] == [
        ("b [31mad \ufffd", "\u00e91", ""),
        ("bare", "", "PKG-INFO has no Version"),
        ("big", "3", ""),
        ("empty", "1.0", "no METADATA that can be read"),
        ("fifo", "1", "no METADATA that can be read"),
        ("folder", "1", "no METADATA that can be read"),
        ("long", "1", "of METADATA only the first 1 MiB was read"),
        ("loop", "1", "no METADATA that can be read"),
        ("nameless", "2.0", "METADATA has no Name"),
    ]
    assert target.problems == (
        f"{venv.site}/fifo.pth is not a regular file",
        f"{venv.site}/fifo-1.dist-info/METADATA is not a regular file",
        f"{venv.site}/folder-1.dist-info/METADATA is not a regular file",
        f"{venv.site}/loop-1.dist-info cannot be listed: too many levels of symbolic links",
    )


def test_left_over_and_doubled_distributions(venv, tmp_path):
    venv.add("numpy", "1.23.5")
    venv.add("numpy", "1.26.4")
    venv.write({"~orch-1.9.1+cu111.dist-info/METADATA": "Name: torch\nVersion: 1.9.1+cu111\n"})
    venv.write({"Numpy-2.0.dist-info/METADATA": "Name: numpy\nVersion: 2.0\n"}, tmp_path / "more")
    found = venv.probe({"PYTHONPATH": f"{tmp_path}/more"}).distributions
    assert [(one.name, one.version) for one in found] == [
        ("numpy", "2.0"),
        ("numpy", "1.23.5"),
        ("numpy", "1.26.4"),
        ("~orch", "1.9.1+cu111"),
    ]
    assert found[-1].problem == "left over from a pip run that was broken off; pip ignores it"


def hashed(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"sha256={base64.urlsafe_b64encode(digest).decode().rstrip('=')},{len(source)}"


# {case: (files, {version: its RECORD as {path: what was there then}}, which the files are of)}
DOUBLED = {
    "version file": ({"numpy/version.py": 'version = "1.26.4"\n'}, {}, "1.26.4"),
    "generated": ({"numpy/version.py": "__version__ = version = '2.0.2'\n"}, {}, "2.0.2"),
    "versioneer": ({"numpy/_version.py": '{\n "version": "1.26.4"\n}\n'}, {}, "1.26.4"),
    "local part": ({"numpy/version.py": "__version__: str = '2.0.2+cpu'\n"}, {}, "2.0.2"),
    "package": ({"numpy/__init__.py": "version = 'x'\n__version__ = '2.0.2'\n"}, {}, "2.0.2"),
    "another": ({"numpy/version.py": 'version = "1.25.0"\n'}, {}, ""),
    "computed": ({"numpy/version.py": "__version__ = compute()\n"}, {}, ""),
    "one list that fits": (
        {"numpy/__init__.py": "old"}, {"1.26.4": {"numpy/__init__.py": "old"}}, "1.26.4",
    ),
    "one list that does not": (
        {"numpy/__init__.py": "new"}, {"1.26.4": {"numpy/__init__.py": "old"}}, "",
    ),
    "two lists": (
        {"numpy/__init__.py": "same", "numpy/core.py": "new"},
        {
            "1.26.4": {"numpy/__init__.py": "same", "numpy/core.py": "old"},
            "2.0.2": {"numpy/__init__.py": "same", "numpy/core.py": "new"},
        },
        "2.0.2",
    ),
    "a mixture": (
        {"numpy/version.py": 'version = "2.0.2"\n', "numpy/core.py": "old"},
        {"1.26.4": {"numpy/core.py": "old"}, "2.0.2": {"numpy/core.py": "new"}},
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DOUBLED)
def test_files_tell_which_of_two_versions_is_there(venv, case):
    files, records, expected = DOUBLED[case]
    venv.add("other", "1.0")
    venv.write(files)
    for version in ("1.26.4", "2.0.2"):
        info = f"numpy-{version}.dist-info"
        venv.write({f"{info}/METADATA": f"Name: numpy\nVersion: {version}\n"})
        lines = [f"{path},{hashed(text)}\n" for path, text in records.get(version, {}).items()]
        if lines:
            venv.write({f"{info}/RECORD": "".join(lines)})
    old, new, other = (one.has_files for one in venv.probe().distributions)
    assert other is None
    assert {(True, False): "1.26.4", (False, True): "2.0.2", (None, None): ""}[old, new] == expected


# {case: (what is there, {version: its RECORD as above}, {version: its files among a mixture})}
MIXED = {
    "new sources, an old library": (
        {"fast/a.py": "new", "fast/core.so": "old"},
        {
            "1.0": {"fast/a.py": "old", "fast/core.so": "old"},
            "2.0": {"fast/a.py": "new", "fast/core.so": "new"},
        },
        {"1.0": ("fast/core.so",), "2.0": ("fast/a.py",)},
    ),
    "a file that both have tells nothing": (
        {"fast/a.py": "new", "fast/core.so": "same"},
        {
            "1.0": {"fast/a.py": "old", "fast/core.so": "same"},
            "2.0": {"fast/a.py": "new", "fast/core.so": "same"},
        },
        {},
    ),
    "a file that one version has alone was left": (
        {"fast/a.py": "new", "fast/gone.py": "old"},
        {
            "1.0": {"fast/a.py": "old", "fast/gone.py": "old"},
            "2.0": {"fast/a.py": "new"},
        },
        {},
    ),
    "a file that was edited is of neither": (
        {"fast/a.py": "new", "fast/b.py": "edited"},
        {
            "1.0": {"fast/a.py": "old", "fast/b.py": "old"},
            "2.0": {"fast/a.py": "new", "fast/b.py": "new"},
        },
        {},
    ),
}


@pytest.mark.parametrize("case", MIXED)
def test_files_of_two_versions_in_one_folder(venv, case):
    files, records, expected = MIXED[case]
    venv.write(files)
    for version, listed in records.items():
        info = f"fast-{version}.dist-info"
        lines = "".join(f"{path},{hashed(text)}\n" for path, text in listed.items())
        venv.write(
            {f"{info}/METADATA": f"Name: fast\nVersion: {version}\n", f"{info}/RECORD": lines}
        )
    found = venv.probe().distributions
    assert {one.version: one.mixed for one in found if one.mixed} == expected


def test_one_folder_under_two_names_is_read_once(venv, tmp_path):
    venv.add("numpy", "1.23.5")
    (tmp_path / "link").symlink_to(venv.site)
    found = venv.probe({"PYTHONPATH": f"{tmp_path}/link"}).distributions
    assert [one.search_entry for one in found] == [f"{tmp_path}/link"]


def test_eggs(venv):
    info = "Name: mmdet3d\nVersion: 0.17.1\n"
    venv.write(
        {
            "mmcv_full-1.4.0-py3.8.egg-info/PKG-INFO": "Name: mmcv-full\nVersion: 1.4.0\n",
            "mmcv_full-1.4.0-py3.8.egg-info/top_level.txt": "mmcv\n",
            "mmcv_full-1.4.0-py3.8.egg-info/requires.txt": (
                "addict\nyapf>=0.3\n\n[:python_version < '3.7']\ndataclasses\n\n[all]\nonnx\n"
                "\n[tests:python_version > '3']\npytest\n"
            ),
            "mmcv_full-1.4.0-py3.8.egg-info/installed-files.txt": (
                "../mmcv/__init__.py\n../mmcv/gone.py\nPKG-INFO\n../../../../bin/x\n"
            ),
            "mmcv/__init__.py": "",
            "distutils_one-2.egg-info": "Name: distutils-one\nVersion: 2\nRequires-Python: >=3\n",
            "mmdet3d-0.17.1-py3.8.egg/EGG-INFO/PKG-INFO": info,
            "mmdet3d-0.17.1-py3.8.egg/EGG-INFO/top_level.txt": "mmdet3d\n",
            "mmdet3d-0.17.1-py3.8.egg/mmdet3d/__init__.py": "",
            "inactive-1-py3.8.egg/EGG-INFO/PKG-INFO": "Name: inactive\nVersion: 1\n",
            "zipped-3.1-py3.8.egg": "PK",
            "easy-install.pth": "./mmdet3d-0.17.1-py3.8.egg\n./zipped-3.1-py3.8.egg\n",
        }
    )
    target = venv.probe()
    found = named(target)
    assert sorted(found) == ["distutils-one", "mmcv-full", "mmdet3d", "zipped"]
    mmcv = found["mmcv-full"]
    assert mmcv.requires == ("addict", "yapf>=0.3", "dataclasses ; python_version < '3.7'")
    assert (mmcv.modules, mmcv.files, mmcv.missing) == (("mmcv",), 2, ("mmcv/gone.py",))
    assert found["mmdet3d"].search_entry == f"{venv.site}/mmdet3d-0.17.1-py3.8.egg"
    assert found["mmdet3d"].editable == ""
    assert found["distutils-one"].requires_python == ">=3"
    assert (found["zipped"].version, found["zipped"].problem) == (
        "3.1",
        "a zipped egg, whose metadata was not read",
    )


def test_develop_installs(venv, tmp_path):
    project = tmp_path / "mmdetection3d"
    venv.write(
        {
            "mmdet3d.egg-info/PKG-INFO": "Name: mmdet3d\nVersion: 0.17.1\n",
            "mmdet3d.egg-info/top_level.txt": "mmdet3d\n",
            "mmdet3d/__init__.py": "",
        },
        project,
    )
    venv.write({"off_path.egg-info/PKG-INFO": "Name: off-path\nVersion: 1\n"}, tmp_path / "off")
    venv.write(
        {
            "easy-install.pth": f"{project}\n",
            "mmdet3d.egg-link": f"{project}\n.",
            "off-path.egg-link": f"{tmp_path}/off\n.",
            "gone.egg-link": "/nowhere/gone\n.",
        }
    )
    found = named(venv.probe())
    assert sorted(found) == ["gone", "mmdet3d", "off-path"]
    mmdet3d = found["mmdet3d"]
    assert (mmdet3d.editable, mmdet3d.search_entry) == (str(project), str(project))
    assert found["off-path"].problem == "its project folder is not on the search path"
    assert found["off-path"].version == "1"
    assert found["gone"].problem == "its project folder /nowhere/gone holds no gone.egg-info"


def editable(venv: Environment, name: str, version: str, folder: Path) -> None:
    info = venv.add(name, version)
    data = {"url": f"file://{folder}".replace(" ", "%20"), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(data))
    (info / "top_level.txt").write_text(f"{name}\n")


def test_editable_install_by_a_path_line_with_its_egg_info_beside(venv, tmp_path):
    project = tmp_path / "my project"
    venv.write({"src/bev/__init__.py": "", "src/bev.egg-info/PKG-INFO": "Name: bev\n"}, project)
    editable(venv, "bev", "2.0", project)
    venv.write({"__editable__.bev-2.0.pth": f"{project}/src\n"})
    (one,) = venv.probe().distributions
    assert (one.name, one.version, one.editable) == ("bev", "2.0", str(project))
    assert one.direct_url == f"file://{tmp_path}/my%20project"


def test_editable_install_by_an_import_hook(venv, tmp_path):
    project = tmp_path / "project"
    venv.write({"bev/__init__.py": "", "torch/__init__.py": "", "torch/version.py": ""}, project)
    venv.write({"torch/version.py": "__version__ = '2.5.0a0+git1'\ncuda = '12.4'\n"}, project)
    editable(venv, "bev", "2.0", project)
    mapping = {"bev": f"{project}/bev", "torch": f"{project}/torch"}
    venv.write(
        {
            "__editable__.bev-2.0.pth": "import __editable___bev_2_0_finder; __edit.install()",
            "__editable___bev_2_0_finder.py": (
                f"from x import y\nMAPPING: dict[str, str] = {mapping!r}\nNAMESPACES = {{}}\n"
            ),
        }
    )
    target = venv.probe()
    assert target.problems == ()
    assert target.torch.path == f"{project}/torch"
    assert target.torch.version.value == "2.5.0a0+git1"
    assert named(target)["bev"].shadowed_by == ""
    # An import hook is asked after all folders of the path.
    venv.write({"bev/__init__.py": ""})
    assert named(venv.probe())["bev"].shadowed_by == str(venv.site)


# --- shadowing --------------------------------------------------------------------------------

SHADOWING = {
    # what the earlier entry holds: whether site-packages' mmdet3d 1.0.0 is shadowed
    "nothing": ({}, False),
    "module": ({"mmdet3d.py": ""}, True),
    "package": ({"mmdet3d/__init__.py": ""}, True),
    "extension": ({"mmdet3d.so": ""}, True),
    "folder without __init__": ({"mmdet3d/ops/__init__.py": ""}, False),
    "same version": (
        {"mmdet3d/__init__.py": "", "mmdet3d/version.py": "__version__='1.0.0'"},
        False,
    ),
    "other version": (
        {"mmdet3d/__init__.py": "", "mmdet3d/version.py": "__version__ = '0.17.1'"},
        True,
    ),
    "same version in a module": ({"mmdet3d.py": '__version__ = "1.0.0"'}, False),
    "same distribution": (
        {
            "mmdet3d/__init__.py": "",
            "mmdet3d.egg-info/PKG-INFO": "Name: MMdet3d\nVersion: 1.0.0\n",
            "mmdet3d.egg-info/top_level.txt": "mmdet3d",
        },
        False,
    ),
    "other distribution": (
        {
            "mmdet3d/__init__.py": "__version__ = '1.0.0'",
            "fork.egg-info/PKG-INFO": "Name: fork\nVersion: 1.0.0\n",
            "fork.egg-info/top_level.txt": "mmdet3d",
        },
        True,
    ),
    "namespace package": (
        {"mmdet3d/__init__.py": "__path__ = __import__('pkgutil').extend_path(__path__, '')"},
        False,
    ),
    "a name that many use": ({"tests/__init__.py": ""}, False),
}


@pytest.mark.parametrize("case", SHADOWING)
def test_shadowing(venv, tmp_path, case):
    files, shadowed = SHADOWING[case]
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    venv.write(files, earlier)
    info = venv.add("mmdet3d", "1.0.0", {"mmdet3d/__init__.py": "", "tests/__init__.py": ""})
    (info / "top_level.txt").write_text("mmdet3d\ntests\n")
    found = named(venv.probe({"PYTHONPATH": str(earlier)}))
    assert found["mmdet3d"].shadowed_by == (str(earlier) if shadowed else "")


BESIDE = {"mmdet3d/__init__.py": "", "mmdet3d/ops.py": "", "mmdet3d/apis/__init__.py": ""}
STRAYS = {
    # what the earlier entry holds: what of it is no copy of the installed package
    "a file": ({"mmdet3d.py": ""}, "mmdet3d.py"),
    "an extension": ({"mmdet3d.so": ""}, "mmdet3d.so"),
    "a package of its own": ({"mmdet3d/__init__.py": "", "mmdet3d/mine.py": ""}, "mmdet3d"),
    "an empty package": ({"mmdet3d/__init__.py": ""}, "mmdet3d"),
    "an older copy": ({**BESIDE, "mmdet3d/old.py": "", "mmdet3d/older.py": ""}, ""),
    "a part of it": ({"mmdet3d/__init__.py": "", "mmdet3d/ops.py": ""}, ""),
    "an empty folder": ({"mmdet3d/readme.txt": ""}, ""),
    "a name that projects bring along": ({"models.py": ""}, ""),
}


@pytest.mark.parametrize("case", STRAYS)
def test_module_that_is_no_copy_of_what_it_shadows(venv, tmp_path, case):
    files, stray = STRAYS[case]
    earlier = tmp_path / "earlier"
    venv.write(files, earlier)
    info = venv.add("mmdet3d", "1.0.0", {**BESIDE, "models/__init__.py": ""})
    (info / "top_level.txt").write_text("mmdet3d\nmodels\n")
    (one,) = venv.probe({"PYTHONPATH": str(earlier)}).distributions
    assert one.stray == (f"{earlier}/{stray}" if stray else "")


def test_package_that_several_distributions_share_is_not_shadowed(venv, tmp_path):
    earlier = tmp_path / "earlier"
    for root, name in ((earlier, "nvidia-cublas-cu12"), (venv.site, "nvidia-cudnn-cu12")):
        info = f"{name.replace('-', '_')}-1.dist-info"
        venv.write(
            {
                "nvidia/__init__.py": "",
                f"{info}/METADATA": f"Name: {name}\nVersion: 1\n",
                f"{info}/top_level.txt": "nvidia\n",
            },
            root,
        )
    found = venv.probe({"PYTHONPATH": str(earlier)}).distributions
    assert [one.shadowed_by for one in found] == ["", ""]


# {case: (files of another entry of the path, more files of site-packages, what is hidden)}
HIDDEN = {
    "an empty __init__.py": ({"corp/__init__.py": ""}, {}, ("corp.red",)),
    "a module": ({"corp.py": ""}, {}, ("corp.red",)),
    "a copy that has it, too": ({"corp/__init__.py": "", "corp/red.py": ""}, {}, ()),
    "another portion": ({"corp/blue.py": ""}, {}, ()),
    "it extends its path": ({"corp/__init__.py": "__path__ = extend_path(__path__, 'x')"}, {}, ()),
    "a .pth file makes it": ({"corp/__init__.py": ""}, {"x-nspkg.pth": "import sys, corp\n"}, ()),
    "the package of both": ({"corp/blue.py": ""}, {"corp/__init__.py": ""}, ()),
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("case", HIDDEN)
def test_package_that_hides_portions_of_a_namespace(venv, tmp_path, case, first):
    elsewhere, more, hidden = HIDDEN[case]
    other = tmp_path / "other"
    code = {"corp/red/__init__.py": "RED = 1\n", "corp/red/core.py": "", "corp/data/x.py": ""}
    venv.add("corp-red", "1.0", code)
    venv.write(elsewhere, other)
    venv.write(more)
    if not first:
        venv.write({"zz.pth": f"{other}\n"})
    (one,) = venv.probe({"PYTHONPATH": str(other)} if first else {}).distributions
    place = other / next(iter(elsewhere))
    place = place.parent if place.name == "__init__.py" else place
    assert (one.hidden, one.hidden_by) == (hidden, str(place) if hidden else "")


def test_libraries_that_lie_in_a_namespace_are_not_hidden(venv, tmp_path):
    """torch finds those of NVIDIA's wheels by their paths."""
    venv.add("nvidia-cublas", "13.0", {"nvidia/cu13/lib/libcublas.so.13": "library"})
    venv.write({"nvidia/__init__.py": "", "nvidia/nvtx/__init__.py": ""}, tmp_path / "other")
    (one,) = venv.probe({"PYTHONPATH": str(tmp_path / "other")}).distributions
    assert one.hidden == ()


def test_libraries_of_other_pythons(venv):
    old = venv.folder / "lib" / "python2.6" / "site-packages"
    for name in ("numpy-1.0.dist-info", "lap-0.4.egg-info", "pip-9.dist-info", "numpy"):
        (old / name).mkdir(parents=True)
    (venv.folder / "lib" / "python3.1").symlink_to(venv.site.parent)
    assert venv.probe().other_libraries == {"python2.6": 2}


@pytest.fixture
def newest(tmp_path):
    """An environment of a Python that lacks modules of the standard library."""
    found = [one.values[0] for one in interpreters() if one.id.startswith("3.13.")]
    if not found:
        pytest.skip("no Python 3.13 is installed")
    return Environment(tmp_path / "newest", found[0])


# {case: (files of a package `app`, what its import lacks)}
REMOVED = {
    "at once": ({"app/__init__.py": "import os, imp\n"}, {"imp": "app/__init__.py"}),
    "a module of one file": (
        {"app.py": "from distutils.version import x\n"},
        {"distutils": "app.py"},
    ),
    "by a chain": (
        {
            "app/__init__.py": "from app.a import (\n    x,\n)\n",
            "app/a/__init__.py": "from . import b\n",
            "app/a/b.py": "from ..c import y\n",
            "app/c.py": "import pipes\n",
        },
        {"pipes": "app/c.py"},
    ),
    "in try": (
        {"app/__init__.py": "try:\n    import imp\nexcept ImportError:\n    imp = 0\n"},
        {},
    ),
    "in a function": ({"app/__init__.py": "def f():\n    import imp\n"}, {}),
    "in a text": ({"app/__init__.py": '"""\nimport imp\n"""\n'}, {}),
    "a link in a text": (
        {"app/__init__.py": '"""\nimport app.a\n"""\n', "app/a.py": "import imp\n"},
        {},
    ),
    "a module that nothing imports": ({"app/__init__.py": "", "app/a.py": "import imp\n"}, {}),
    "one of its own of that name": (
        {"app/__init__.py": "from . import imp\n", "app/imp.py": ""},
        {},
    ),
    "what is served": ({"app/__init__.py": "import imp\n", "imp.py": ""}, {}),
    "no Python": ({"app/__init__.py": "import imp\nprint 1\n"}, {}),
}


@pytest.mark.parametrize("case", REMOVED)
def test_imports_of_modules_that_python_no_longer_has(newest, case):
    files, removed = REMOVED[case]
    newest.add("app", "1.0", files)
    (one,) = newest.probe().distributions
    assert one.removed == removed


@pytest.mark.parametrize(
    ("default", "chosen", "removed"),
    [
        ("local", None, {}),
        ("stdlib", None, {"distutils": "app/__init__.py"}),
        ("stdlib", "local", {}),
        ("local", "stdlib", {"distutils": "app/__init__.py"}),
    ],
)
def test_setuptools_brings_distutils_along(newest, default, chosen, removed):
    newest.add("app", "1.0", {"app/__init__.py": "import distutils.core\n"})
    line = f"import os; var = 'X'; enabled = os.environ.get(var, '{default}') == 'local'\n"
    newest.write({"setuptools/__init__.py": "", "distutils-precedence.pth": line})
    environ = {"SETUPTOOLS_USE_DISTUTILS": chosen} if chosen else {}
    (one,) = newest.probe(environ).distributions
    assert one.removed == removed


def test_later_develop_install_is_shadowed_and_backports_are_not(venv, tmp_path):
    project = tmp_path / "project"
    venv.write(
        {
            "mmdet/__init__.py": "",
            "mmdet.egg-info/PKG-INFO": "Name: mmdet\nVersion: 2.14.0\n",
            "mmdet.egg-info/top_level.txt": "mmdet\n",
        },
        project,
    )
    venv.write({"easy-install.pth": f"{project}\n"})
    venv.add("mmdet", "2.28.2", {"mmdet/__init__.py": ""})
    venv.add("dataclasses", "0.8", {"dataclasses.py": ""})
    found = venv.probe().distributions
    assert [(one.name, one.version, one.shadowed_by) for one in found] == [
        ("dataclasses", "0.8", ""),
        ("mmdet", "2.28.2", ""),
        ("mmdet", "2.14.0", str(venv.site)),
    ]


# --- torch ------------------------------------------------------------------------------------

VERSION_FILES = {
    "wheel": (
        "from typing import Optional\n__all__ = ['__version__']\n__version__ = '2.4.1+cu121'\n"
        "debug = False\ncuda: Optional[str] = '12.1'\ngit_version = 'abc'\n"
        "hip: Optional[str] = None\nxpu: Optional[str] = None\n",
        ("2.4.1+cu121", "12.1", None, {}),
    ),
    "old": ("__version__ = '1.0.1.post2'\ndebug = False\ncuda = '10.0.130'\n",
            ("1.0.1.post2", "10.0", None, {})),
    "cpu": ("__version__ = '1.9.1'\ncuda = None\nhip = None\n", ("1.9.1", "cpu", None, {})),
    "no cuda line": ("__version__ = '0.4.0'\n", ("0.4.0", "cpu", None, {})),
    "rocm": (
        "__version__ = '2.1.0+rocm5.6'\ncuda = None\nhip = '5.6.31061-8c743ae5d'\n",
        ("2.1.0+rocm5.6", None, "5.6.31061-8c743ae5d", {}),
    ),
    "xpu": (
        "__version__ = '2.6.0+xpu'\ncuda: Optional[str] = None\nhip = None\nxpu = '20250004'\n",
        ("2.6.0+xpu", None, None, {"xpu": "20250004"}),
    ),
    "vendor": (
        "__version__ = '2.4.0a0+07cecf4168.nv24.05'  # of a container\ncuda = \"12.4\"\n",
        ("2.4.0a0+07cecf4168.nv24.05", "12.4", None, {}),
    ),
    "code": ("__version__ = compute()\ncuda = os.environ['X']\n  cuda = '1.1'\n",
             (None, "cpu", None, {})),
}  # fmt: skip


@pytest.mark.parametrize("case", VERSION_FILES)
def test_version_file_of_torch(venv, case):
    source, expected = VERSION_FILES[case]
    venv.write({"torch/__init__.py": "", "torch/version.py": source})
    torch = venv.probe().torch
    assert (torch.version.value, torch.cuda.value, torch.hip.value, torch.vendor) == expected
    for observed in (torch.version, torch.cuda, torch.hip):
        assert observed.origin == (f"{venv.site}/torch/version.py" if observed.known else "")
        assert observed.known or observed.unknown


NEW = (
    b"\0_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\0"
)
OLD = b"\0_ZN3c105ErrorC2ENS_14SourceLocationERKSs\0"
CMAKE = 'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI={}")\n'


@pytest.mark.parametrize(
    ("files", "abi", "origin"),
    [
        ({"share/cmake/Torch/TorchConfig.cmake": CMAKE.format(0)}, 0, 0),
        ({"share/cmake/Torch/TorchConfig.cmake": CMAKE.format(1), "lib/libc10.so": OLD}, 1, 0),
        ({"share/cmake/Torch/TorchConfig.cmake": "", "lib/libc10.so": b"x" * 70000 + NEW}, 1, 1),
        ({"lib/libc10.so": OLD}, 0, 0),
        ({"lib/libc10.so": b"\0_ZN3c105ErrorD0Ev\0"}, None, None),
        ({}, None, None),
    ],
)
def test_abi_of_torch(venv, files, abi, origin):
    venv.write({"torch/__init__.py": ""})
    venv.write(files, venv.site / "torch")
    observed = venv.probe().torch.abi
    assert observed.value == abi
    if origin is not None:
        assert observed.origin == f"{venv.site}/torch/{list(files)[origin]}"
    else:
        assert observed.unknown == "neither TorchConfig.cmake nor the symbols of libc10.so tell it"


RELEASED = "from setuptools import distutils\nLooseVersion = distutils.version.LooseVersion\n"


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        (RELEASED, True),
        ("from distutils.version import LooseVersion\n", False),
        ("import distutils.version\n" + RELEASED, False),
        ("# distutils.version\nfrom packaging.version import Version as LooseVersion\n", False),
        ("", None),
    ],
)
def test_distutils_in_torch(venv, source, uses):
    venv.write({"torch/__init__.py": "", "torch/utils/tensorboard/__init__.py": source})
    assert venv.probe().torch.distutils.value is uses


def test_torch_without_its_version_file(venv):
    venv.write({"torch/__init__.py": ""})
    unknown = f"{venv.site}/torch/version.py cannot be read"
    assert venv.probe().torch.version.unknown == unknown


def test_torch_that_is_not_there(venv, tmp_path):
    venv.write({"torch/lib/left-over.so": ""})
    assert venv.probe().torch is None


def test_torch_that_would_be_imported_is_the_first_on_the_path(venv, tmp_path):
    venv.write({"torch/__init__.py": "", "torch/version.py": "__version__ = '1.9.1'"})
    venv.write({"torch/__init__.py": "", "torch/version.py": "__version__ = '2.0.1'"}, tmp_path)
    assert venv.probe({"PYTHONPATH": str(tmp_path)}).torch.version.value == "2.0.1"


# --- conda, commands, variables ---------------------------------------------------------------


def test_conda_packages(venv):
    meta = venv.folder / "conda-meta"
    url = "https://conda.example.org/t/secret-token/pytorch/linux-64"
    venv.write(
        {
            "pytorch-1.9.1-py3.8_cuda11.1_0.json": json.dumps({"build": "x", "channel": url}),
            "python-3.8.18-h955ad1f_0.json": '{"channel": "pkgs/main/linux-64", "x": ' + "9" * 9999,
            "no-channel-1-2.json": "\xff",
            "history": "",
            "odd.json": "",
        },
        meta,
    )
    found = venv.probe().conda
    assert [(one.name, one.version, one.build, one.channel) for one in found] == [
        ("no-channel", "1", "2", ""),
        ("python", "3.8.18", "h955ad1f_0", "pkgs/main"),
        ("pytorch", "1.9.1", "py3.8_cuda11.1_0", "pytorch"),
    ]


def test_commands_and_the_python_that_they_start(venv, tmp_path):
    shebang = venv.python
    scripts = {
        "pip": f"#!{shebang}\nimport sys\n",
        "pip3": "#!/usr/bin/env python3\n",
        "torchrun": f"#!/bin/sh\n'''exec' {shebang} \"$0\" \"$@\"\n' '''\nimport sys\n",
        "mim": f"#!/bin/sh\n'''exec' \"{tmp_path}/with space/python3\" \"$0\" \"$@\"\n' '''\n",
        "accelerate": "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python3' "
        "\"$0\" \"$@\"\n' '''\n",
        "deepspeed": "#!/usr/bin/env -S python3 -u\n",
        "ninja": "#!/bin/sh\nexec /usr/bin/ninja\n",
        "python3": b"\x7fELF",
    }
    folder = tmp_path / "commands"
    venv.write(scripts, folder)
    for name in scripts:
        if name != "deepspeed":
            (folder / name).chmod(0o755)
    found = venv.probe({"PATH": f"/nowhere:{folder}"}).commands
    assert {one.name: one.interpreter for one in found} == {
        "pip": shebang,
        "pip3": f"{folder}/python3",
        "torchrun": shebang,
        "mim": f"{tmp_path}/with space/python3",
        "accelerate": f"{folder}/python3",
        "ninja": "",
        "python3": "",
    }
    assert {one.path for one in found} == {str(folder / name) for name in scripts} - {
        str(folder / "deepspeed")
    }


@pytest.mark.parametrize(
    ("line", "interpreter"),
    [
        ("#!/usr/bin/env -S A=1 /opt/python3.8 -u", "/opt/python3.8"),
        ("#! /opt/conda/bin/python -s", "/opt/conda/bin/python"),
        ("#!/usr/bin/env bash", ""),
        ("#!/usr/bin/perl", ""),
        ("#!", ""),
        ("\x7fELF", ""),
        ("", ""),
    ],
)
def test_first_line_of_a_script(line, interpreter):
    assert probe.script_interpreter(line.encode(), "/bin/x") == interpreter


def test_variables_without_credentials(venv):
    environ = {
        "LD_LIBRARY_PATH": "/usr/local/cuda/lib64:/opt/x",
        "PIP_INDEX_URL": "https://user:pa@ss@index.example.org/simple",
        "PIP_EXTRA_INDEX_URL": "https://token@a.example.org/s http://b.example.org/s?token=1",
        "PIP_TOKEN": "secret",
        "TORCH_CUDA_ARCH_LIST": "8.0;8.6+PTX",
        "NCCL_P2P_DISABLE": "1",
        "CUDA_HOME": "/usr/local/cuda\n",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "HOME": "/home/me",
        "TORCH_\udcff": "\udcfe",
    }
    assert venv.probe(environ).environ == {
        "LD_LIBRARY_PATH": "/usr/local/cuda/lib64:/opt/x",
        "PIP_INDEX_URL": "https://index.example.org/simple",
        "PIP_EXTRA_INDEX_URL": "https://a.example.org/s http://b.example.org/s",
        "TORCH_CUDA_ARCH_LIST": "8.0;8.6+PTX",
        "NCCL_P2P_DISABLE": "1",
        "CUDA_HOME": "/usr/local/cuda",
        "TORCH_\ufffd": "\ufffd",
    }


# --- what packages say of themselves ----------------------------------------------------------

TWO_X = """import mmcv
from .version import __version__

mmcv_minimum_version = '1.3.8'
mmcv_maximum_version = '1.4.0'
mmcv_version = digit_version(mmcv.__version__)

assert (mmcv_version >= digit_version(mmcv_minimum_version)
        and mmcv_version <= digit_version(mmcv_maximum_version)), \\
    f'MMCV=={mmcv.__version__} is used but incompatible.'
"""
OF_MMSEG = """MMCV_MIN = '2.0.0rc4'
MMCV_MAX = '2.2.0'
mmcv_min_version = digit_version(MMCV_MIN)
mmcv_max_version = digit_version(MMCV_MAX)
mmcv_version = digit_version(mmcv.__version__)
assert (mmcv_min_version <= mmcv_version < mmcv_max_version), f'{mmcv_version}'
assert mmengine.__version__ == '0.9.0'
"""
EDITED = TWO_X[: TWO_X.index("assert")]
ASSERTED = {
    "as released": (TWO_X, {"mmcv": ">=1.3.8,<=1.4.0"}),
    "the limit was raised": (TWO_X.replace("'1.4.0'", '"1.7.2"'), {"mmcv": ">=1.3.8,<=1.7.2"}),
    "in one comparison": (OF_MMSEG, {"mmcv": ">=2.0.0rc4,<2.2.0", "mmengine": "==0.9.0"}),
    "the assertion was removed": (EDITED, {}),
    "it was commented out": (EDITED + "# assert mmcv_version < '1.5'\n", {}),
    "all was removed": ("import mmcv\n", {}),
    "another test": (EDITED + "if mmcv_version > digit_version('1.5'): raise X", {"mmcv": ""}),
    "a test of another kind": (EDITED + "assert mmcv_version in (a, b)", {"mmcv": ""}),
    "either": (EDITED + "assert mmcv_version < '2' or mmcv_version > '3'", {"mmcv": ""}),
    "a call": (EDITED + "check(mmcv_version)", {"mmcv": ""}),
    "a warning in its place": (
        EDITED + "if not mmcv_version <= digit_version(mmcv_maximum_version):\n    warn('')\n",
        {"mmcv": ""},
    ),
    "no Python": (TWO_X + "print 'x'", None),
}


@pytest.mark.parametrize("case", ASSERTED)
def test_versions_that_a_package_asserts(venv, case):
    source, limits = ASSERTED[case]
    venv.add("mmdet", "2.14.0", {"mmdet/__init__.py": source})
    venv.add("requests", "2", {"requests/__init__.py": source})
    found = named(venv.probe())
    assert found["mmdet"].limits == limits
    assert found["requests"].limits is None


@pytest.mark.parametrize("opening", ["(", "-", "a[", "not "])
def test_source_that_is_nested_beyond_measure_asserts_nothing_that_is_known(opening):
    assert probe.asserted(TWO_X + opening * 15000) is None


@pytest.mark.parametrize("python", interpreters())
def test_assertions_of_an_editable_install(tmp_path, python):
    venv = Environment(tmp_path / "venv", python)
    project = tmp_path / "mmdetection"
    info = {"mmdet.egg-info/PKG-INFO": "Name: mmdet\nVersion: 2.14.0\n"}
    venv.write(
        {"mmdet/__init__.py": TWO_X, "mmdet.egg-info/top_level.txt": "mmdet\n", **info}, project
    )
    venv.write({"easy-install.pth": f"{project}\n"})
    (one,) = venv.probe().distributions
    assert (one.editable, one.limits) == (str(project), {"mmcv": ">=1.3.8,<=1.4.0"})


def test_build_that_a_version_file_names(venv):
    def version_file(version):
        return f"__version__ = {version!r}\nfrom torchvision.extension import _check\n"

    venv.add("torchvision", "0.19.1", {"torchvision/__init__.py": ""})
    venv.write({"torchvision/version.py": version_file("0.19.1+cu121")})
    venv.add("torchaudio", "2.4.1", {"torchaudio/__init__.py": ""})
    venv.write({"torchaudio/version.py": version_file("2.4.0+cu121")})
    found = named(venv.probe())
    assert (found["torchvision"].built, found["torchaudio"].built) == ("0.19.1+cu121", "")


@pytest.mark.parametrize(("cuda", "built"), [("11.8", "2.6.2+cu118"), ("False", "")])
def test_the_cuda_that_paddle_names(venv, cuda, built):
    venv.add("paddlepaddle_gpu", "2.6.2", {"paddle/__init__.py": ""})
    venv.write({"paddle/version/__init__.py": f"cuda_version     = {cuda!r}\n"})
    (one,) = venv.probe().distributions
    assert one.built == built


# --- size and hostile text --------------------------------------------------------------------


def test_answer_stays_small(venv):
    chosen = random.Random(1)
    for number in range(150):
        requires = [f"package-{chosen.randrange(150)}>=1.{k}" for k in range(8)]
        requires += [f"package-{k}; extra == 'all'" for k in range(100)]
        files = {f"package_{number}/{k}.py": "" for k in range(3)}
        venv.add(f"package-{number}", f"1.{number}.0", files, requires=requires)
    target = venv.probe()
    assert len(target.distributions) == 150
    assert len(json.dumps(probe_as_json(venv))) < 120_000


def probe_as_json(venv: Environment) -> object:
    return json.loads(msgspec.json.encode(venv.probe()))


def test_number_of_distributions_is_bounded(monkeypatch):
    names = {f"p{number}-1.dist-info" for number in range(20)}
    entry = probe.Entry("/nowhere", names, False)
    monkeypatch.setattr(probe, "MAX_DISTRIBUTIONS", 12)
    problems = []
    assert len(probe.distributions(probe.SearchPath(), [entry], problems)) == 12
    assert problems == ["there are more than 12 distributions; the rest was not read"]


def test_what_was_read_when_the_time_is_up_is_told(venv, monkeypatch):
    venv.add("first", "1.0", {"first/__init__.py": ""})
    (venv.site / "first/__init__.py").unlink()
    names = sorted(path.name for path in venv.site.glob("*.dist-info"))
    entry = probe.Entry(str(venv.site), {*names, "second-1.0.dist-info"}, False)
    moments = iter([0.0, 2.0, 2.0, 2.0])
    monkeypatch.setattr(probe.time, "monotonic", lambda: next(moments))
    problems = []
    found = probe.distributions(probe.SearchPath(), [entry], problems, 1.0)
    probe.note_missing(found, [entry], {}, problems, 1.0)
    probe.note_shadowing(found, [entry], {}, problems, 1.0)
    assert [(one["name"], "gone" in one, "missing" in one) for one in found] == [
        ("first", False, False)
    ]
    assert problems == [
        f"the time was up at {venv.site}/second-1.0.dist-info; the rest was not read",
        "the time was up: whether files are gone was not told",
        "the time was up: whether copies are shadowed was not told",
    ]
    assert probe.MAX_SECONDS < 20


@pytest.mark.parametrize(
    ("data", "modules"),
    [
        (b"".join(b"m%d/.py,x,\n" % n for n in range(20_000)), 20_000),
        (b"".join(b"m%d/x.txt,x,\n" % n for n in range(300_000)), 0),
        (b'"' + b"a" * (15 << 20), 0),
        (b'"a""' * (4 << 20), 0),
        (b"x,\n" * 300 + b'"' + b"a" * (15 << 20), 0),
        (b"a/b.so,\n" * 2_000_000, 1),
    ],
)
def test_hostile_lists_of_files_take_time_in_proportion(tmp_path, data, modules):
    start = time.process_time()
    files = probe.FileList(data)
    assert len(files.modules()) == modules
    files.check_modules(files.modules()[:200])
    files.compare(str(tmp_path))
    assert time.process_time() - start < 5  # it was 8 s and more


def test_list_of_files_that_was_written_on_windows(venv):
    venv.add("win", "1.0", {"bs/__init__.py": "", "bs/sub/a.py": ""})
    (venv.site / "win-1.0.dist-info/RECORD").write_text("bs\\__init__.py,,\nbs\\sub\\a.py,,\n")
    (found,) = venv.probe().distributions
    assert (found.modules, found.missing, found.unimportable) == (("bs",), (), ())


# --- modules without metadata


TREE = {"mmcv/__init__.py": "", "mmcv/version.py": "__version__ = '2.1.0'\n"}


@pytest.mark.parametrize("way", ["PYTHONPATH", "pth", "copy"])
def test_source_tree_without_metadata(venv, tmp_path, way):
    tree = venv.site if way == "copy" else tmp_path / "tree"
    venv.write({**TREE, "setup.py": ""}, tree)
    if way == "pth":
        venv.write({"mmcv.pth": f"{tree}\n"})
    target = venv.probe({"PYTHONPATH": str(tree)} if way == "PYTHONPATH" else {})
    assert target.modules == {"mmcv": f"{tree}/mmcv"}


def test_modules_that_have_metadata(venv, tmp_path):
    tree = tmp_path / "tree"
    venv.add("mmcv-full", "2.1.0", TREE)
    venv.add("numpy", "1.26.4", {"numpy/__init__.py": ""})
    venv.write({"numpy-1.26.4.dist-info/RECORD": ""})  # it names no modules
    venv.write({"mmdet/__init__.py": "", "mmdet.egg-info/PKG-INFO": "Name: mmdet\n"}, tree)
    venv.write({"easy-install.pth": f"{tree}\n", "mmdet.egg-link": f"{tree}\n."})
    assert venv.probe().modules == {}
    copy = tmp_path / "copy"
    venv.write(TREE, copy)
    assert venv.probe({"PYTHONPATH": str(copy)}).modules == {}
    venv.write({"mmcv/version.py": "__version__ = '1.7.0'\n"}, copy)
    assert venv.probe({"PYTHONPATH": str(copy)}).modules == {"mmcv": f"{copy}/mmcv"}


@pytest.mark.parametrize("by_hook", [False, True])
def test_editable_install_has_metadata(venv, tmp_path, by_hook):
    source = tmp_path / "mmdetection"
    venv.write({"mmdet/__init__.py": ""}, source)
    info = venv.add("mmdet", "3.3.0")
    (info / "direct_url.json").write_text(
        json.dumps({"url": f"file://{source}", "dir_info": {"editable": True}})
    )
    if by_hook:
        venv.write(
            {
                "__editable___mmdet_finder.py": f"MAPPING = {{'mmdet': '{source}/mmdet'}}\n",
                "mmdet.pth": "import __editable___mmdet_finder; x\n",
            }
        )
    else:
        venv.write({"mmdet.pth": f"{source}\n"})
    assert venv.probe().modules == {}
    assert venv.probe({"PYTHONPATH": str(source)}).modules == {}


def test_modules_of_requirements_that_nothing_meets(venv):
    requires = ["urllib3", "pycrypto", "ruamel.yaml", "nowhere", "folder", "msgpack-python", "here"]
    venv.add("requests", "2.32.0", {"requests/__init__.py": ""}, requires=requires)
    venv.add("here", "1.0", {"here/__init__.py": ""})
    venv.add("msgpack", "1.0", {"msgpack/__init__.py": ""})  # a distribution tells its modules
    venv.write({"urllib3/__init__.py": "", "Crypto/__init__.py": "", "folder/data": ""})
    venv.write({"ruamel/yaml/__init__.py": "", "unasked/__init__.py": ""})
    assert venv.probe().modules == {
        "urllib3": f"{venv.site}/urllib3",
        "Crypto": f"{venv.site}/Crypto",
        "ruamel.yaml": f"{venv.site}/ruamel/yaml",
    }


def test_modules_of_the_matrices_are_looked_for(venv):
    venv.write({f"{module}/__init__.py": "" for module in load().providers})
    missing = set(load().providers) - set(venv.probe().modules)
    assert missing == set()


def test_problems_are_bounded():
    found = probe.limited([f"problem {number}" for number in range(60)] * 2)
    assert len(found) == 51
    assert found[-1] == "and 10 more that could not be read"


# Machines that are busy with other work make single examples slow.
unhurried = settings(deadline=None)
hostile = st.text(
    st.one_of(st.characters(), st.sampled_from("\0\r\n\t :;[]-~\x1b\u2028\ud800\udcff")),
    max_size=300,
)


@unhurried
@given(hostile)
def test_clean_text_is_one_printable_line_that_utf8_can_hold(text):
    result = probe.clean(text)
    assert result.isprintable()
    assert len(result) <= probe.MAX_TEXT + 3
    assert result.encode("utf-8").decode("utf-8") == result


@unhurried
@given(hostile)
def test_hostile_metadata_is_read_as_far_as_it_goes(text):
    data = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    fields = probe.parse_headers(data)
    assert all(values and all("\n" not in value for value in values) for values in fields.values())
    assert set(fields) <= {"name", "version", "requires-python", "requires-dist", "tag"}


words = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
lines = st.lists(words, min_size=1, max_size=4)
fields = st.lists(
    st.tuples(
        st.sampled_from(["Name", "Version", "REQUIRES-DIST", "Requires-Python", "Tag", "Summary"]),
        lines,
    ),
    max_size=8,
)


@unhurried
@given(fields, st.sampled_from(["\n", "\r\n"]), st.text(max_size=40))
def test_metadata_is_read_as_the_email_parser_does(fields, end, body):
    text = end.join(f"{name}: {f'{end}  '.join(values)}" for name, values in fields)
    text += end + end + body
    message = email.parser.Parser().parsestr(text)
    for name in ("name", "version", "requires-dist", "requires-python", "tag"):
        expected = [" ".join(value.split()) for value in message.get_all(name, [])]
        assert probe.parse_headers(text).get(name, []) == expected


@unhurried
@given(hostile)
def test_hostile_requires_and_sources(text):
    assert all(len(one.splitlines()) == 1 for one in probe.parse_requires(text))
    for name, value in probe.assignments(text).items():
        assert name.isidentifier() or name[0].isdigit()
        assert value is None or value.isprintable()


@unhurried
@given(st.binary(max_size=300))
def test_hostile_lists_of_files(data):
    files = probe.FileList(data)
    assert all(module.isidentifier() for module in files.modules())
    files.check_modules(files.modules())
    gone, cut = files.compare("/nowhere")
    assert len(gone) <= max(files.count, len(files.checked))
    assert cut == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://me:pass/word@host.example.org/x", "https://host.example.org/x"),
        ("me:password@proxy.example.org:3128", "proxy.example.org:3128"),
        ("https://host.example.org:8080/x.git@v1.0", "https://host.example.org:8080/x.git@v1.0"),
        ("/opt/a@1/lib:/opt/b@2/lib", "/opt/a@1/lib:/opt/b@2/lib"),
        ("file:///home/me@host/x", "file:///home/me@host/x"),
    ],
)
def test_what_are_credentials_and_what_are_not(text, expected):
    assert probe.without_credentials(text) == expected


user = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="/"), min_size=1
)


@unhurried
@given(user, st.sampled_from(["https", "git+ssh", "file"]))
def test_credentials_of_urls_are_taken_out(user, scheme):
    url = f"--index-url {scheme}://{user}@host.example.org/path"
    assert probe.without_credentials(url) == f"--index-url {scheme}://host.example.org/path"


# --- files that are cut short ---------------------------------------------------------------------


def elf(length: int, end: int) -> bytes:
    """A 64-bit shared object of that length whose header says where its last part ends."""
    head = bytearray(64)
    head[:6] = b"\x7fELF\x02\x01"
    head[0x28:0x30] = (end - 64).to_bytes(8, "little")
    head[0x3A:0x3C], head[0x3C:0x3E] = (64).to_bytes(2, "little"), (1).to_bytes(2, "little")
    return bytes(head) + b"x" * (length - 64)


@pytest.mark.parametrize("count", [1, 400])
def test_files_that_are_cut_short(venv, count):
    files = {f"aaa/m{number}.py": "x = 1\n" for number in range(count)}
    files.update({"aaa/__init__.py": "x = 1\n", "aaa/empty.py": "", "aaa/edited.py": "x = 1\n" * 9})
    files.update({f"aaa/lib/{name}.so": elf(900, 900) for name in ("cut", "stripped", "none")})
    files["aaa/_C.so"] = elf(900, 900)
    venv.add("aaa", "1", files)
    (whole,) = venv.probe().distributions
    assert (whole.cut, whole.needed, whole.missing) == ((), (), ())
    venv.write({"aaa/__init__.py": "", "aaa/edited.py": "x = 2\n", "aaa/_C.so": elf(200, 900)})
    venv.write({"aaa/lib/cut.so": elf(899, 900), "aaa/lib/stripped.so": elf(500, 500)})
    venv.write({"aaa/lib/none.so": ""})
    (one,) = venv.probe().distributions
    assert one.cut == ("aaa/__init__.py", "aaa/_C.so", "aaa/lib/cut.so", "aaa/lib/none.so")
    assert one.needed == ("aaa/__init__.py", "aaa/_C.so")
    assert (one.missing, one.unimportable) == ((), ())


def test_file_that_another_distribution_wrote_is_not_cut_short(venv):
    venv.add("opencv-python", "4.8", {"cv2/__init__.py": "x = 1\n"})
    venv.add("opencv-python-headless", "4.9", {"cv2/__init__.py": ""})
    assert [one.cut for one in venv.probe().distributions] == [(), ()]


def test_missing_libraries_that_nothing_replaces(venv):
    files = {f"torch/{number}.py": "" for number in range(300)}
    libraries = ("libtorch_cpu", "libc10", "libtorchbind_test", "libother")
    files.update({f"torch/lib/{name}.so": "" for name in libraries})
    files.update({"torch/__init__.py": "", "torch/_C.cpython-38-x86_64-linux-gnu.so": ""})
    files.update({"torch/fast.cpython-38-x86_64-linux-gnu.so": "", "torch/fast.py": ""})
    files.update({"torch.libs/libgfortran-0a.so.5": "", "torch/sub/_x.so": ""})
    venv.add("torch", "2.4.1", files)
    for path in files:
        if ".so" in path:
            (venv.site / path).unlink()
    (one,) = venv.probe().distributions
    assert set(one.needed) == {
        "torch/_C.cpython-38-x86_64-linux-gnu.so",
        "torch/lib/libc10.so",
        "torch/lib/libtorch_cpu.so",
        "torch.libs/libgfortran-0a.so.5",
    }
    assert one.missing[:4] == one.needed
    assert one.missing_count == 8
    # made again for another Python
    venv.write({"torch/_C.cpython-311-x86_64-linux-gnu.so": ""})
    assert len(venv.probe().distributions[0].needed) == 3


def test_folders_that_pip_left(venv, tmp_path):
    venv.write({"~umpy/__init__.py": "", "~umpy.libs/a.so": "", "~note.txt": "", "numpy/a.py": ""})
    venv.write({"~-mpy-1.26.4.dist-info/RECORD": "numpy/__init__.py,,\n"})
    venv.write({"~draft/__init__.py": ""}, tmp_path)  # no folder that pip installs into
    target = venv.probe({"PYTHONPATH": str(tmp_path)})
    names = ["~-mpy-1.26.4.dist-info", "~umpy", "~umpy.libs"]
    assert target.leftovers == tuple(f"{venv.site}/{name}" for name in names)
    assert [(one.name, one.version) for one in target.distributions] == [("~-mpy", "1.26.4")]


# --- the standard library -------------------------------------------------------------------------


def test_what_comes_before_the_standard_library(venv, tmp_path):
    path, here = tmp_path / "path", tmp_path / "here"
    venv.write({"types.py": "", "random/__init__.py": "", "profile/a.py": ""}, path)
    venv.write({"sys.py": "", "_bisect.py": "", "test/__init__.py": "", "mine.py": ""}, path)
    venv.write({"copy.py": "", "profile.py": "", "types.py": ""}, here)
    venv.write({"enum.py": "", "random.py": ""})  # backports come after it
    environ = {"PYTHONPATH": str(path)}
    assert venv.probe(environ, here).standard == {
        "copy": f"{here}/copy.py",
        "random": f"{path}/random",
        "types": f"{path}/types.py",
    }
    assert venv.probe({}, path.parent).standard == {}


def test_standard_library_under_another_name_is_no_shadow(venv, tmp_path):
    """virtualenv before 20 copied it, and some name it on PYTHONPATH."""
    copy = tmp_path / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    venv.write({"types.py": "", "os.py": ""}, copy)
    assert venv.probe({"PYTHONPATH": str(copy)}, copy).standard == {}


# --- what transformers checks ---------------------------------------------------------------------

TABLE = """deps = {
    "tqdm": "tqdm>=4.27",
    "huggingface-hub": "huggingface-hub>=0.23.2,<1.0",
    "Pillow": "Pillow>=10",
    "jinja[x]": "jinja[x]>=3",
    "filelock": "filelock",
    "python": "python>=3.8",
}
"""


@pytest.mark.parametrize(
    ("table", "names", "checks"),
    [
        (TABLE, '["python", "tqdm", "huggingface-hub", "filelock", "unknown"]',
         {"tqdm": ">=4.27", "huggingface-hub": ">=0.23.2,<1.0", "filelock": ""}),
        (TABLE, '"python tqdm filelock".split()', {"tqdm": ">=4.27", "filelock": ""}),
        (TABLE, '["tqdm",  # "filelock" is not\n    "python"]', {"tqdm": ">=4.27"}),
        (TABLE, "names()", {}),
        (TABLE, "[1, None, {}]", {}),
        (TABLE, '["tqdm"', {}),
        ("deps = {\n    'tqdm': 1,\n}", '["tqdm"]', {}),
        ("", '["tqdm"]', {}),
    ],
)  # fmt: skip
def test_versions_that_transformers_checks(venv, table, names, checks):
    check = f"import os\n\npkgs_to_check_at_runtime = {names}\nfor pkg in deps:\n    pass\n"
    files = {"transformers/__init__.py": "", "transformers/dependency_versions_table.py": table}
    venv.add("transformers", "5", {**files, "transformers/dependency_versions_check.py": check})
    (one,) = venv.probe().distributions
    assert (one.checks, one.limits) == (checks, None)
