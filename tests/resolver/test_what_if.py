"""What a change would break, what else must move, what is better apart: on the real matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple, Union

import pytest
from msgspec.structs import replace

from envdoctor.facts.snapshot import load as load_snapshot
from envdoctor.knowledge.load import load
from envdoctor.model.facts import (
    Accelerator,
    Distribution,
    Facts,
    Gpu,
    Link,
    LinkedBuild,
    Linking,
    Machine,
    Observed,
    Target,
    TorchFiles,
    seen,
    unseen,
)
from envdoctor.model.what_if import WhatIf
from envdoctor.relations.assume import assume
from envdoctor.relations.wanted import WantedError
from envdoctor.resolver.supposed import read_asked
from envdoctor.resolver.what_if import what_if

KNOWLEDGE = load()
FIXTURES = Path(__file__).resolve().parent.parent / "acceptance" / "fixtures"
SITE = "/env/lib/python3.8/site-packages"


def dist(text: str, *requires: str, editable: str = "") -> Distribution:
    """What pip leaves of "numpy 1.24.4"."""
    name, version = text.split()
    path = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
    return Distribution(
        name, version, path, SITE, installer="pip", requires=requires, editable=editable
    )


def environment(
    *installed: Union[str, Distribution],
    python: str = "3.8.18",
    torch: str = "",
    linking: Optional[Observed[Linking]] = None,
    prefixes: Tuple[str, str] = ("/env", "/usr"),
    managed: str = "",
) -> Facts:
    """A virtual environment on a machine with an A100; `torch` is what its version.py says."""
    distributions = tuple(dist(one) if isinstance(one, str) else one for one in installed)
    files = None
    if torch:
        cuda = {"cu121": "12.1", "cu118": "11.8", "cu113": "11.3"}[torch.partition("+")[2]]
        files = TorchFiles(
            f"{SITE}/torch", seen(torch, "torch/version.py"), seen(cuda, "torch/version.py")
        )
    target = Target(
        python="/env/bin/python",
        version=python,
        prefix=prefixes[0],
        base_prefix=prefixes[1],
        path=("/usr/lib/python3.8", SITE),
        distributions=distributions,
        torch=files,
        linking=linking or seen(Linking(), "/env/bin/python"),  # nothing is linked to anything
        managed=managed,
    )
    return Facts(
        machine=Machine(
            architecture=seen("x86_64", "uname"),
            glibc=seen("2.31", "ldd"),
            container=seen("none", "/proc/1"),
        ),
        accelerator=Accelerator(
            vendor=seen("nvidia", "device node"),
            gpus=seen((Gpu("NVIDIA A100-SXM4-80GB", "8.0", 81920),), "NVML"),
            driver=seen("535.129.03", "NVML"),
            serves=seen("12.2", "libcuda"),
        ),
        target=seen(target, "VIRTUAL_ENV"),
    )


def snapshot(name: str) -> Facts:
    return load_snapshot(str(FIXTURES / f"{name}.json"))


def ask(facts: Facts, *texts: str, machine: Sequence[str] = (), language: str = "en") -> WhatIf:
    """What texts come to: "torch==1.9.1", "-mmcv"."""
    asked = [read_asked(t.lstrip("-"), t.startswith("-"), KNOWLEDGE, facts) for t in texts]
    other = assume(facts, machine, KNOWLEDGE) if machine else None
    return what_if(facts, asked, KNOWLEDGE, language, other, texts)


def breaks(answer: WhatIf) -> List[str]:
    return [
        f"{one.severity} {one.finding} {one.component}{' (mended)' if one.mended else ''}"
        for one in answer.breaks
    ]


def moves(answer: WhatIf) -> List[str]:
    return [f"{one.component} {one.before} -> {one.after}" for one in answer.moves]


NOT_READ: Observed[Linking] = unseen("binaries were not read (--no-deep)")
WHEELS = ("torch 2.2.2", "torchvision 0.17.2", "mmcv 2.2.0", "mmengine 0.10.4", "numpy 1.24.4")


# --- builds ----------------------------------------------------------------------------------


def test_an_older_torch_where_all_else_can_follow() -> None:
    answer = ask(environment(*WHEELS, torch="2.2.2+cu121"), "torch==1.9.1+cu111")
    assert answer.verdict == "moves"
    assert [(m.component, m.before, m.after) for m in answer.changes] == [
        ("torch", "2.2.2+cu121", "1.9.1+cu111")
    ]
    assert breaks(answer) == [
        "error torch-torchvision-mismatch torchvision 0.17.2 (mended)",
        "error torch-torchvision-mismatch torchvision 0.17.2 (mended)",
        "error torch-abi-mismatch mmcv 2.2.0 (mended)",
    ]
    assert [one.relation for one in answer.breaks] == [
        "torchvision/torch",
        "torchvision/cuda",
        "mmcv/wheel-torch",
    ]
    # mmcv 2.2.0 has no wheel for torch 1.9, 2.1.0 does
    assert moves(answer) == ["torchvision 0.17.2+cu121 -> 0.10.1+cu111", "mmcv 2.2.0 -> 2.1.0"]
    assert answer.moves[0].why == answer.breaks[0].summary
    assert list(answer.commands) == [
        "/env/bin/python -m pip install torch==1.9.1+cu111 torchvision==0.10.1+cu111 "
        "-f https://download.pytorch.org/whl/torch_stable.html",
        "/env/bin/python -m pip install mmcv==2.1.0 --only-binary mmcv --no-cache-dir "
        "-f https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html",
    ]
    assert not answer.separate.advised
    assert not answer.breaks_for_good


def test_what_nothing_mends_is_better_apart() -> None:
    """Wheels of flash-attn 2 begin with torch 1.12, and it compiles for none that is older."""
    facts = environment(
        *WHEELS, "flash-attn 2.5.8", "transformers 4.40.2", torch="2.2.2+cu121", python="3.8.18"
    )
    answer = ask(facts, "torch==1.9.1+cu111")
    assert answer.verdict == "apart"
    assert "error torch-abi-mismatch flash-attn 2.5.8" in breaks(answer)
    assert answer.breaks_for_good
    assert "flash-attn" not in [one.component for one in answer.moves]
    assert list(answer.separate.reasons) == ["nothing known mends flash-attn 2.5.8"]
    assert list(answer.separate.commands) == [
        "envdoctor resolve torch==1.9.1+cu111 --target venv --lock script -o torch-1.9.1-cu111.sh",
        "sh torch-1.9.1-cu111.sh .venv-torch-1.9.1-cu111",
    ]


def test_several_that_are_asked_for_together_do_not_break_each_other() -> None:
    facts = environment("torch 2.1.2", "torchvision 0.16.2", torch="2.1.2+cu121")
    answer = ask(facts, "torch==2.2.2", "torchvision==0.17.2")
    assert breaks(answer) == []
    assert list(answer.commands) == [
        "/env/bin/python -m pip install torch==2.2.2 torchvision==0.17.2"
    ]
    alone = ask(facts, "torch==2.2.2")
    assert moves(alone) == ["torchvision 0.16.2+cu121 -> 0.17.2+cu121"]
    assert alone.commands == answer.commands


def test_the_same_release_for_another_cuda() -> None:
    facts = environment("torch 2.2.2", "torchvision 0.17.2", torch="2.2.2+cu121")
    answer = ask(facts, "torch==2.2.2+cu118")
    assert moves(answer) == ["torchvision 0.17.2+cu121 -> 0.17.2+cu118"]


def test_numpy_2_beside_modules_of_numpy_1() -> None:
    facts = environment(
        "numpy 1.24.4",
        dist("pandas 2.0.3", "numpy>=1.20.3"),
        dist("scipy 1.10.1", "numpy<1.27.0,>=1.19.5"),
        "matplotlib 3.7.0",
        "requests 2.31.0",
        python="3.9.18",
    )
    answer = ask(facts, "numpy==2.0.0")
    assert answer.verdict == "moves"
    assert breaks(answer) == [
        "error numpy2-abi matplotlib 3.7.0 (mended)",
        "error numpy2-abi pandas 2.0.3 (mended)",
        "error numpy2-abi scipy 1.10.1 (mended)",
    ]
    assert moves(answer) == [
        "matplotlib 3.7.0 -> 3.8.4",
        "pandas 2.0.3 -> 2.2.2",
        "scipy 1.10.1 -> 1.13.0",
    ]


def test_metadata_of_others() -> None:
    """A requirement that is violated by metadata alone is a warning: such sets often train."""
    facts = environment(dist("lab 1.0", "requests<2.31"), "requests 2.30.0")
    answer = ask(facts, "requests==2.32.0")
    assert answer.verdict == "risky"
    assert breaks(answer) == ["warning dependency-conflict requests 2.32.0"]
    assert not answer.breaks_for_good
    back = ask(environment(dist("lab 1.0", "requests<2.31"), "requests 2.32.0"), "requests==2.30.0")
    assert back.verdict == "harmless"
    assert [one.component for one in back.mended] == ["requests 2.32.0"]
    assert list(back.commands) == ["/env/bin/python -m pip install requests==2.30.0"]


def test_a_newer_torch_that_mends() -> None:
    facts = environment("torch 2.2.2", "torchvision 0.18.1", torch="2.2.2+cu121")
    answer = ask(facts, "torch==2.3.1")
    assert breaks(answer) == []
    assert {one.relation for one in answer.mended} == {"torchvision/torch"}


def test_harmless() -> None:
    assert ask(snapshot("ngc"), "requests==2.32.0").verdict == "harmless"


def test_what_is_there_already_changes_nothing() -> None:
    facts = environment(*WHEELS, torch="2.2.2+cu121")
    answer = ask(facts, "torch==2.2.2")
    assert (answer.verdict, answer.commands, answer.breaks) == ("harmless", (), ())
    assert [(m.before, m.after) for m in answer.changes] == [("2.2.2+cu121", "2.2.2+cu121")]


def test_a_range_is_its_newest_release_that_can_be_installed() -> None:
    facts = environment("numpy 1.21.0", python="3.8.18")
    answer = ask(facts, "numpy>=1.22")
    assert [m.after for m in answer.changes] == ["1.24.4"]  # the last for Python 3.8


def test_a_removal() -> None:
    facts = environment("torch 2.2.2", "mmcv 2.2.0", "mmdet 3.3.0", torch="2.2.2+cu121")
    answer = ask(facts, "-torch")
    assert answer.verdict == "breaks"
    assert not answer.separate.advised
    assert answer.moves == ()  # nothing brings it back
    assert list(answer.commands) == ["/env/bin/python -m pip uninstall -y torch"]
    named = " ".join(f"{one.component} {one.summary}" for one in answer.breaks)
    assert "mmcv 2.2.0" in named
    assert "mmdet 3.3.0" in named


def test_a_package_that_is_compiled_here() -> None:
    """What was compiled for a torch is compiled again for another, if its sources allow that."""
    held = dist("mmdet3d 0.17.2", editable="/code/mmdetection3d")
    facts = environment("torch 1.10.0", held, torch="1.10.0+cu113")
    answer = ask(facts, "torch==2.0.1")
    assert "error torch-abi-mismatch mmdet3d 0.17.2" in breaks(answer)
    assert "nothing known mends mmdet3d 0.17.2" in answer.separate.reasons
    why = "installed in place, others' work may rest on it: mmdet3d 0.17.2"
    assert why in answer.separate.reasons


def test_what_the_moves_break_themselves() -> None:
    """mmcv 2.1.0 would do for torch 1.9; what asks for mmcv 2.2 by metadata is told beside it."""
    facts = environment(*WHEELS, dist("lab 1.0", "mmcv>=2.2"), torch="2.2.2+cu121")
    answer = ask(facts, "torch==1.9.1+cu111")
    assert "mmcv 2.2.0 -> 2.1.0" in moves(answer)
    assert breaks(answer)[-1] == "warning dependency-conflict mmcv 2.1.0"
    assert answer.verdict == "moves"


def test_what_comes_from_elsewhere() -> None:
    """What PYTHONPATH puts before it stays what is imported."""
    facts = environment("requests 2.30.0", torch="")
    target = facts.target.value
    assert target is not None
    held = Distribution("numpy", "1.24.4", "/lib/numpy-1.24.4.dist-info", "/lib", installer="pip")
    target = replace(
        target,
        path=("/lib", *target.path),
        environ={"PYTHONPATH": "/lib"},
        distributions=(*target.distributions, held),
    )
    answer = ask(replace(facts, target=seen(target, "VIRTUAL_ENV")), "numpy==1.22.4")
    assert answer.verdict == "apart"
    assert answer.separate.reasons == (
        "numpy 1.24.4 comes from PYTHONPATH entry /lib: what is installed here stands behind it",
    )
    assert answer.commands == ()


# --- the machine -----------------------------------------------------------------------------


def test_a_driver_that_is_older() -> None:
    facts = environment("torch 2.2.2", "torchvision 0.17.2", torch="2.2.2+cu121")
    answer = ask(facts, machine=["driver=470.57.02"])
    assert answer.verdict == "moves"
    assert breaks(answer) == ["error driver-too-old torch 2.2.2+cu121 (mended)"]
    assert moves(answer)[0].startswith("torch 2.2.2+cu121 -> 2.2.2+cu118")
    assert answer.separate.reasons == ()
    newer = ask(facts, machine=["driver=580.65.06"])
    assert (newer.verdict, newer.breaks) == ("harmless", ())


def test_another_gpu() -> None:
    facts = environment("torch 1.10.0", torch="1.10.0+cu113")
    answer = ask(facts, machine=["gpu=h100"])
    assert answer.verdict == "moves"
    assert {one.finding for one in answer.breaks} == {"gpu-arch-not-in-torch"}


def test_nothing_mends_a_driver_that_does_not_drive_the_gpu() -> None:
    facts = environment("torch 2.2.2", torch="2.2.2+cu121")
    answer = ask(facts, machine=["driver=470.57.02", "gpu=h100"])
    assert answer.verdict == "breaks"
    assert answer.breaks_for_good


def test_builds_and_machine_at_once() -> None:
    facts = environment("torch 2.2.2", torch="2.2.2+cu121")
    assert ask(facts, "torch==1.10.0+cu113").verdict == "harmless"
    both = ask(facts, "torch==1.10.0+cu113", machine=["gpu=h100"])
    assert [one.finding for one in both.breaks] == ["gpu-arch-not-in-torch"]
    assert both.moves == ()  # what was asked for does not move


# --- what is better apart --------------------------------------------------------------------


def test_the_torch_of_a_platform_image() -> None:
    answer = ask(snapshot("ngc"), "torch==2.3.1")
    assert answer.verdict == "apart"
    assert answer.commands == ()  # what destroys NVIDIA's build is not printed
    vendor, image = answer.separate.reasons
    assert vendor.startswith("torch 2.4.0a0+07cecf4168.nv24.05 is a vendor's or somebody's own")
    assert image == "this Python, with 64 distributions, is the image's own"
    assert len(answer.separate.commands) == 2
    told = " ".join(one.reason for one in answer.undecided)
    assert "transformer-engine 1.6.0+c81733f: compiled, and what for is not known" in told
    assert "torchvision 0.19.0a0: whether it was compiled for torch 2.3.1+cu121" in told


def test_an_accelerator_of_another_vendor() -> None:
    answer = ask(snapshot("ppu"), "torch==2.5.1")
    assert answer.verdict == "apart"
    assert breaks(answer) == [
        "error torch-abi-mismatch flash-attn 2.7.4.post1+ppu2.0.0.oe",
        "error torch-abi-mismatch torchvision 0.24.0+ali.10.ppu2.0.0.cu129",
    ]
    told = " ".join(one.reason for one in answer.undecided)
    assert "made for NVIDIA's GPUs, runs on t-head is not known" in told


@pytest.mark.parametrize("name", ["conda", "jetson", "rocm"])
def test_builds_that_nobody_can_have_again(name: str) -> None:
    answer = ask(snapshot(name), "torch==2.1.0")
    assert answer.verdict == "apart"
    assert answer.commands == ()
    assert "what replaces it cannot bring it back" in answer.separate.reasons[0]


def test_conda_exchanges_what_conda_installed() -> None:
    answer = ask(snapshot("conda"), "numpy==1.21.0")
    assert answer.verdict == "harmless"
    assert list(answer.commands) == ["conda install -p /opt/conda numpy=1.21.0"]


def test_the_python_of_the_system() -> None:
    facts = environment(
        "requests 2.30.0", prefixes=("/usr", "/usr"), managed="/usr/lib/python3.11/EXTERNALLY"
    )
    answer = ask(facts, "requests==2.32.0")
    assert answer.verdict == "apart"
    assert answer.separate.reasons == (
        "/usr/lib/python3.11/EXTERNALLY keeps pip out of this Python: it is the system's",
    )


def test_many_others_that_have_to_move() -> None:
    facts = environment(
        *("numpy 1.24.4", "pandas 2.0.3", "scipy 1.10.1", "matplotlib 3.7.0", "scikit-learn 1.3.2"),
        python="3.9.18",
    )
    answer = ask(facts, "numpy==2.0.0")
    assert (answer.verdict, answer.breaks_for_good) == ("apart", False)
    assert answer.separate.reasons == ("4 other packages have to move",)
    assert answer.commands  # nothing is lost by it


def test_what_has_no_build_for_this_python() -> None:
    facts = environment("torch 2.2.2", "torchvision 0.17.2", torch="2.2.2+cu121", python="3.11.4")
    answer = ask(facts, "torch==1.9.1+cu111")
    assert answer.verdict == "impossible"
    assert "python-version-unsupported" in [one.finding for one in answer.breaks]
    assert (answer.moves, answer.commands) == ((), ())
    (reason,) = answer.separate.reasons
    assert reason == "torch 1.9.1+cu111 is not to be had for Python 3.11.4 and this system"
    assert len(answer.separate.commands) == 2  # the resolver chooses a Python that has it


# --- files -----------------------------------------------------------------------------------


def linked(**links: Tuple[Link, ...]) -> Observed[Linking]:
    named = {name.replace("_", "-"): held for name, held in links.items()}
    return seen(Linking(files=9, links=named), "/env/bin/python")


def link(to: str, *libraries: str, cxx: bool = False, file: str = "_C.so", count: int = 1) -> Link:
    return Link(to, libraries, (f"{SITE}/ops/{file}",), count, cxx)


OPS = ("torch 2.2.2", "my-ops 0.1")


def test_files_that_were_compiled_for_another_torch() -> None:
    linking = linked(
        my_ops=(link("torch", "libtorch.so", "libc10.so", cxx=True, count=7),),
        stable=(link("torch", "libtorch.so"),),
    )
    facts = environment(*OPS, "stable 1.0", torch="2.2.2+cu121", linking=linking)
    answer = ask(facts, "torch==2.1.2")
    assert breaks(answer) == ["error torch-abi-mismatch my-ops 0.1"]
    assert answer.breaks[0].summary == "7 files of it would not load"
    (file,) = answer.files
    assert (file.path, file.distribution, file.of) == (f"{SITE}/ops/_C.so", "my-ops 0.1", "torch")
    assert file.needs == ("libtorch.so", "libc10.so")
    assert file.why == (
        "compiled for torch 2.2.2+cu121: the C++ interface of torch 2.1.2+cu121 is another one"
    )
    assert answer.more_files == 6
    assert answer.verdict == "apart"
    assert answer.separate.reasons == ("nothing known mends my-ops 0.1",)
    # within a series it stays
    assert ask(facts, "torch==2.2.1").files == ()


def test_the_cuda_runtime_of_files() -> None:
    linking = seen(
        Linking(
            links={"my-ops": (link("torch", "libc10.so", cxx=True),)},
            builds={"my-ops": LinkedBuild(cuda="12", loads=True)},
        ),
        "/env/bin/python",
    )
    facts = environment(*OPS, torch="2.2.2+cu121", linking=linking)
    (file,) = ask(facts, "torch==2.2.2+cu118").files
    assert file.why == "torch 2.2.2+cu118 has no libcudart.so.12"


def test_a_library_that_goes() -> None:
    name = "nvidia-cuda-runtime-cu12"
    linking = linked(my_ops=(link(name, "libcudart.so.12"),))
    facts = environment("my-ops 0.1", f"{name} 12.1.105", linking=linking)
    answer = ask(facts, f"-{name}")
    assert breaks(answer) == ["error shared-library-missing my-ops 0.1"]
    assert answer.files[0].why == f"{name} 12.1.105 has them, and would be gone"
    assert list(answer.commands) == [f"/env/bin/python -m pip uninstall -y {name}"]


@pytest.mark.parametrize(
    ("name", "library", "before", "after", "fails"),
    [
        ("nvidia-cudnn-cu12", "libcudnn.so.8", "8.9.2.26", "9.1.0.70", True),
        ("nvidia-cudnn-cu12", "libcudnn.so.8", "8.9.2.26", "8.9.7.29", False),
        ("nvidia-cublas-cu12", "libcublas.so.12", "12.1.3.1", "12.4.5.8", False),
    ],
)
def test_libraries_of_nvidia_under_another_number(
    name: str, library: str, before: str, after: str, fails: bool
) -> None:
    linking = linked(my_ops=(link(name, library),))
    facts = environment("my-ops 0.1", f"{name} {before}", linking=linking)
    answer = ask(facts, f"{name}=={after}")
    assert bool(answer.files) is fails
    assert bool(answer.breaks) is fails


def test_libraries_of_others_are_not_known() -> None:
    linking = linked(my_ops=(link("base-lib", "libbase.so.3"),))
    facts = environment("my-ops 0.1", "base-lib 3.0", linking=linking)
    answer = ask(facts, "base-lib==4.0")
    assert (answer.verdict, answer.files) == ("undecided", ())
    assert [one.reason for one in answer.undecided] == [
        "my-ops 0.1: whether base-lib 4.0 has libbase.so.3 is not known"
    ]


def test_a_relation_says_it_once_and_files_beside_it() -> None:
    linking = linked(mmcv=(link("torch", "libtorch.so", cxx=True),))
    installed = ("torch 2.2.2", "mmcv 2.2.0", "mmengine 0.10.4")
    facts = environment(*installed, torch="2.2.2+cu121", linking=linking)
    answer = ask(facts, "torch==1.9.1+cu111")
    assert breaks(answer) == ["error torch-abi-mismatch mmcv 2.2.0 (mended)"]
    assert [one.distribution for one in answer.files] == ["mmcv 2.2.0"]


def test_projects_that_are_linked_to_it() -> None:
    linking = linked(my_ops=(link("torch", "libtorch.so", cxx=True),))
    facts = environment(
        "torch 2.2.2",
        dist("my-ops 0.1", editable="/code/ops"),
        torch="2.2.2+cu121",
        linking=linking,
    )
    answer = ask(facts, "torch==2.1.2")
    told = "installed in place, others' work may rest on it: my-ops 0.1"
    assert told in answer.separate.reasons


def test_files_that_were_compiled_for_numpy_1() -> None:
    files = {"my-ops": (f"{SITE}/my_ops/_fast.so",)}
    linking = seen(Linking(files=1, numpy_1=files), "/env/bin/python")
    facts = environment("numpy 1.26.4", "my-ops 0.1", linking=linking, python="3.9.18")
    answer = ask(facts, "numpy==2.0.0")
    assert breaks(answer) == ["error numpy2-abi my-ops 0.1"]
    assert answer.files[0].why == "compiled for NumPy 1, and numpy 2.0.0 refuses that"
    assert ask(facts, "numpy==1.24.4").files == ()
    unread = environment("numpy 1.26.4", "my-ops 0.1", python="3.9.18", linking=NOT_READ)
    (told,) = ask(unread, "numpy==2.0.0").undecided
    assert told.reason == (
        "which other files were compiled for NumPy 1 is not known: "
        "binaries were not read (--no-deep)"
    )


def test_files_that_were_not_read() -> None:
    facts = environment("torch 2.2.2", torch="2.2.2+cu121", linking=NOT_READ)
    answer = ask(facts, "torch==2.1.2")
    assert answer.verdict == "undecided"
    assert [one.reason for one in answer.undecided] == [
        "which files are linked to torch is not known: binaries were not read (--no-deep)"
    ]


# --- what cannot be asked --------------------------------------------------------------------

WRONG = {
    "trch==1.0": "neither the matrices nor this environment have a package 'trch'; nearest: torch",
    "torch==1.9.7": "torch has no release 1.9.7; nearest: 1.9.0, 1.9.1, 1.10.0, 1.10.1",
    "torch==1.9.1+cu999": "torch has no build 1.9.1+cu999 for this processor; its builds: ",
    "torch==x": "'torch==x': 'x' is no version",
    "requests>=2": "the matrices do not know its releases: a version is expected",
    "-trch": "'trch' is not installed here; nearest: torch",
    "-torch==2.2.2": "'torch==2.2.2' is not installed here",
    "\x1b[31mred": "a package is expected",
    "x" * 5000: "a package is expected",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: repr(text[:20]))
def test_what_cannot_be_asked(text: str) -> None:
    facts = environment("torch 2.2.2", "requests 2.30.0", torch="2.2.2+cu121")
    with pytest.raises(WantedError) as told:
        ask(facts, text)
    assert WRONG[text] in str(told.value)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 1000


def test_a_release_that_is_newer_than_the_matrices_is_untested() -> None:
    facts = environment("torch 2.2.2", torch="2.2.2+cu121")
    answer = ask(facts, "torch==99.0")
    assert answer.verdict == "undecided"
    assert answer.undecided[0].code == "untested"


def test_what_was_not_known_before_is_no_news() -> None:
    facts = environment("torch 2.2.2", torch="2.2.2+cu121")
    without = replace(facts, accelerator=Accelerator(gpus=unseen("there is no GPU here")))
    answer = ask(without, "torch==2.2.1")
    assert (answer.verdict, answer.undecided) == ("harmless", ())


def test_hostile_names() -> None:
    odd = "[bold]x\x1b[0m" + "y" * 400
    facts = environment(
        Distribution(odd, "1.0\n2", f"{SITE}/odd", SITE, requires=("torch<2.2", odd)),
        "torch 2.2.2",
        torch="2.2.2+cu121",
        linking=linked(
            **{odd: (Link("torch", ("lib\x1b[1m.so",), (f"{SITE}/\x1b.so",), 1, True),)}
        ),
    )
    answer = ask(facts, "torch==2.1.2")
    texts = [*(one.summary for one in answer.breaks), *(one.reason for one in answer.undecided)]
    texts += [text for one in answer.files for text in (one.path, one.why, *one.needs)]
    assert all(text.isprintable() for text in texts)


# --- laws ------------------------------------------------------------------------------------

CHANGES: Dict[str, Tuple[Facts, Tuple[str, ...]]] = {
    "older torch": (environment(*WHEELS, torch="2.2.2+cu121"), ("torch==1.9.1+cu111",)),
    "newer torch": (environment(*WHEELS, torch="2.2.2+cu121"), ("torch==2.4.1",)),
    "numpy": (
        environment("numpy 1.24.4", "pandas 2.0.3", "scipy 1.10.1", python="3.9.18"),
        ("numpy==2.0.0",),
    ),
    "slurm": (snapshot("slurm-module"), ("torch==2.0.1",)),
    "mig": (snapshot("mig"), ("torch==2.3.1",)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_with_its_moves_nothing_is_broken_that_they_are_to_mend(name: str) -> None:
    facts, texts = CHANGES[name]
    answer = ask(facts, *texts)
    asked = {one.component for one in answer.changes}
    assert not asked & {one.component for one in answer.moves}
    mended = {one.relation for one in answer.breaks if one.mended and one.relation}
    # another build of the same release has no requirement of its own
    more = [f"{m.component}=={m.after}" for m in answer.moves if m.after not in ("", m.before)]
    same = {m.component for m in answer.moves if m.after == m.before}
    again = ask(facts, *texts, *more)
    errors = [one for one in again.breaks if one.severity == "error"]
    left = {one.relation for one in errors if one.component.partition(" ")[0] not in same}
    assert not mended & left


@pytest.mark.parametrize("name", CHANGES)
def test_both_languages_say_the_same(name: str) -> None:
    facts, texts = CHANGES[name]
    english, chinese = ask(facts, *texts), ask(facts, *texts, language="zh")
    assert english.verdict == chinese.verdict
    assert [b.relation for b in english.breaks] == [b.relation for b in chinese.breaks]
    assert english.commands == chinese.commands
    assert english.separate.commands == chinese.separate.commands
    assert len(english.separate.reasons) == len(chinese.separate.reasons)


def test_the_facts_that_were_asked_of_stay_as_they_are() -> None:
    facts = environment(*WHEELS, torch="2.2.2+cu121")
    before = replace(facts)
    ask(facts, "torch==1.9.1+cu111", "-mmcv", machine=["gpu=h100"])
    assert facts == before
