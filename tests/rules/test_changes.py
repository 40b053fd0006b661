"""The smallest change as it is told of real stacks: what is exchanged, and by which commands."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from envdoctor.knowledge.load import load
from envdoctor.model.facts import (
    Accelerator,
    CondaPackage,
    Distribution,
    Facts,
    Gpu,
    Machine,
    Observed,
    Target,
    TorchFiles,
    seen,
    unseen,
)
from envdoctor.model.finding import Finding
from envdoctor.model.versions import parse
from envdoctor.relations.plan import requirement_arguments
from envdoctor.relations.tell import label
from envdoctor.rules.check import check

pytestmark = pytest.mark.answers

KNOWLEDGE = load()
SITE = "/env/lib/python3/site-packages"
PIP = "/env/bin/python -m pip"
PAGE = "https://download.openmmlab.com/mmcv/dist"
GPUS = {"a100": "8.0", "h100": "9.0", "k80": "3.7", "rtx5090": "12.0"}
SERVES = {"470.199.02": "11.4", "535.129.03": "12.2", "580.65.06": "13.0"}


class Case(NamedTuple):
    """A stack, one finding of it by its name, and the change that is told."""

    title: str
    stack: str  # "torch 2.4.1+cu121 (2.4.1 is PyPI's), mmcv 2.1.0 source"
    finding: str
    told: str
    commands: Tuple[str, ...] = ()
    python: str = "3.10"
    gpu: str = "a100"
    driver: str = "535.129.03"
    architecture: str = "x86_64"
    jetson: str = ""
    vendor: str = "nvidia"


def facts(case: Case) -> Facts:
    distributions = []
    torch: Optional[TorchFiles] = None
    for part in case.stack.split(", "):
        name, version, *how = part.split()
        origin = how[0] if how else "pip"
        if name == "torch":
            torch = files(version)
        distributions.append(
            Distribution(
                name=name,
                version=version,
                path=f"{SITE}/{name}-{version}.dist-info",
                search_entry=SITE,
                installer=origin if origin in ("pip", "conda") else "",
                editable="/src" if origin == "source" else "",
                tags=("cp310-cp310-linux_x86_64",) if origin == "compiled" else (),
                requires=("torch",) if origin == "compiled" else (),
            )
        )
    served = SERVES.get(case.driver)
    architecture: Observed[str] = unseen("nobody knows")
    if case.architecture:
        architecture = seen(case.architecture, "uname")
    machine = Machine(architecture=architecture, glibc=seen("2.35", "confstr"))
    if case.jetson:
        machine = Machine(architecture=machine.architecture, jetson=seen(case.jetson, "release"))
    conda = (CondaPackage("python", "3.10"),) if "conda" in case.stack else ()
    return Facts(
        machine=machine,
        accelerator=Accelerator(
            vendor=seen(case.vendor, "device"),
            gpus=seen((Gpu(case.gpu, GPUS[case.gpu]),) if case.gpu else (), "NVML"),
            driver=seen(case.driver, "NVML"),
            serves=seen(served, "libcuda") if served else unseen("libcuda does not answer"),
        ),
        target=seen(
            Target(
                python="/env/bin/python",
                version=case.python,
                path=(SITE,),
                distributions=tuple(distributions),
                conda=conda,
                torch=torch,
            ),
            "--python",
        ),
    )


def files(version: str) -> TorchFiles:
    local = version.partition("+")[2]
    cuda: Observed[str] = seen("12.4", "version.py")
    if local.startswith("cu"):
        cuda = seen(f"{local[2:-1]}.{local[-1]}", "version.py")
    elif local == "cpu":
        cuda = seen("cpu", "version.py")
    elif local.startswith("rocm"):
        cuda = unseen("version.py names hip")
    hip: Observed[str] = seen(local[4:], "version.py") if "rocm" in local else unseen("none")
    return TorchFiles(f"{SITE}/torch", version=seen(version, "version.py"), cuda=cuda, hip=hip)


def findings(case: Case) -> Dict[str, Finding]:
    return {finding.name: finding for finding in check(facts(case), KNOWLEDGE).findings}


NGC = "2.3.0a0+6ddf5cf85e.nv24.04"
NOTHING = "none found: exchanging one package, with those that depend on it, does not mend this"

CASES = [
    # --- what nobody's pip may exchange
    Case(
        "NGC's torch stays, and there is no other torchvision for it",
        f"torch {NGC}, torchvision 0.16.0",
        "torch-torchvision-mismatch",
        f"{NOTHING}; torch {NGC} is a vendor's or somebody's own build, and stays",
    ),
    Case(
        "NGC's torch stays, transformers is exchanged",
        "torch 2.1.0a0+29c30b1.nv23.08, transformers 5.24.0",
        "transformers-torch-skew",
        "1 package: transformers 5.24.0 -> 4.55.4",
        (f"{PIP} install transformers==4.55.4",),
        python="3.11",
    ),
    Case(
        "Jetson's torch stays, though its version looks like PyPI's",
        "torch 2.3.0+cu122, torchvision 0.16.0",
        "torch-torchvision-mismatch",
        f"{NOTHING}; torch 2.3.0+cu122 is the build for Jetson, and stays",
        architecture="aarch64",
        jetson="36.3.0",
    ),
    Case(
        "conda's torch stays; what pip installed beside it is exchanged",
        "torch 2.0.1 conda, transformers 4.57.3",
        "transformers-torch-skew",
        "1 package: transformers 4.57.3 -> 4.51.3",
        (f"{PIP} install transformers==4.51.3",),
    ),
    Case(
        "what conda installed is exchanged with conda",
        "transformers 4.57.3, tokenizers 0.20.3 conda",
        "transformers-dependency-range",
        "1 package: tokenizers 0.20.3 -> 0.22.0 (with conda, which installed it)",
    ),
    Case(
        "a torch that was built here stays",
        "torch 2.0.1+git1234567, transformers 4.57.3",
        "transformers-torch-skew",
        "1 package: transformers 4.57.3 -> 4.51.3",
        (f"{PIP} install transformers==4.51.3",),
    ),
    Case(
        "a checkout that is installed in place stays",
        "torch 1.13.0+cu117, mmcv-full 1.7.1, mmdet 2.14.0 source",
        "openmmlab-version-assert",
        f"{NOTHING}; mmdet 2.14.0 is installed from source, and stays",
        python="3.8",
    ),
    Case(
        "ROCm's builds become neither CUDA's nor the CPU's",
        "torch 2.4.1+rocm6.1, torchvision 0.18.0+rocm6.1",
        "torch-torchvision-mismatch",
        f"{NOTHING}; torchvision 0.18.0+rocm6.1 is the build for amd and torch 2.4.1+rocm6.1 is "
        "the build for amd, and stays",
        vendor="amd",
    ),
    # --- who provides mmcv
    Case(
        "mmdet 3 without mmcv",
        "torch 2.1.0+cu121, mmengine 0.10.4, mmdet 3.3.0",
        "python-module-missing",
        "1 package: install mmcv 2.1.0",
        (
            f"{PIP} install mmcv==2.1.0 --only-binary mmcv --no-cache-dir "
            f"-f {PAGE}/cu121/torch2.1.0/index.html",
        ),
    ),
    Case(
        "mmdet 3 without mmcv and mmengine",
        "torch 2.1.0+cu121, mmdet 3.3.0",
        "python-module-missing",
        "2 packages: install mmcv 2.1.0; install mmengine 0.10.7",
        (
            f"{PIP} install mmcv==2.1.0 --only-binary mmcv --no-cache-dir "
            f"-f {PAGE}/cu121/torch2.1.0/index.html",
            f"{PIP} install mmengine==0.10.7",
        ),
    ),
    Case(
        "mmdet 2 without mmcv",
        "torch 1.13.0+cu117, mmdet 2.28.2",
        "python-module-missing",
        "1 package: install mmcv-full 1.7.1",
        (
            f"{PIP} install mmcv-full==1.7.1 --only-binary mmcv-full --no-cache-dir "
            f"-f {PAGE}/cu117/torch1.13.0/index.html",
        ),
        python="3.8",
    ),
    Case(
        "mmdet 2 with mmcv 2",
        "torch 1.13.0+cu117, mmdet 2.28.2, mmcv 2.0.1, mmengine 0.10.4",
        "openmmlab-version-assert",
        "1 package: mmcv 2.0.1 -> mmcv-full 1.7.1",
        (
            f"{PIP} uninstall -y mmcv",
            f"{PIP} install mmcv-full==1.7.1 --only-binary mmcv-full --no-cache-dir "
            f"-f {PAGE}/cu117/torch1.13.0/index.html",
        ),
        python="3.8",
    ),
    Case(
        "mmdet 3 with mmcv-full",
        "torch 2.1.0+cu121, mmdet 3.3.0, mmcv-full 1.7.2, mmengine 0.10.4",
        "openmmlab-version-assert",
        "1 package: mmcv-full 1.7.2 -> mmcv 2.1.0",
        (
            f"{PIP} uninstall -y mmcv-full",
            f"{PIP} install mmcv==2.1.0 --only-binary mmcv --no-cache-dir "
            f"-f {PAGE}/cu121/torch2.1.0/index.html",
        ),
    ),
    Case(
        "no wheels of mmcv for aarch64",
        "torch 2.1.0+cpu, mmengine 0.10.4, mmdet 3.3.0",
        "python-module-missing",
        NOTHING,
        architecture="aarch64",
    ),
    # --- what hangs on it
    Case(
        "a newer mmcv that the installed mmdet takes",
        "torch 1.12.1+cu113, mmcv-full 1.5.0, mmdet 2.24.0",
        "mmcv-torch-skew",
        "1 package: mmcv-full 1.5.0 -> 1.6.0",
        (
            f"{PIP} install mmcv-full==1.6.0 --only-binary mmcv-full --no-cache-dir "
            f"-f {PAGE}/cu113/torch1.12.0/index.html",
        ),
        python="3.8",
    ),
    Case(
        "a newer mmcv that the installed mmdet refuses takes mmdet along",
        "torch 1.12.1+cu113, mmcv-full 1.5.0, mmdet 2.22.0",
        "mmcv-torch-skew",
        "2 packages: mmcv-full 1.5.0 -> 1.6.0; mmdet 2.22.0 -> 2.24.0",
        (
            f"{PIP} install mmcv-full==1.6.0 --only-binary mmcv-full --no-cache-dir "
            f"-f {PAGE}/cu113/torch1.12.0/index.html",
            f"{PIP} install mmdet==2.24.0",
        ),
        python="3.8",
    ),
    Case(
        "extensions that were compiled for the old torch are installed again, known or not",
        "torch 1.13.1+cu117, torchvision 0.14.1, flash-attn 2.3.2, deform-ops 0.1 compiled",
        "gpu-arch-not-in-torch",
        "3 packages: torch 1.13.1+cu117 -> 2.0.0+cu118; flash-attn 2.3.2 again for torch "
        "2.0.0+cu118; torchvision 0.14.1 -> 0.15.1+cu118; then again, as compiled for the old one: "
        "deform-ops 0.1",
        (
            f"{PIP} install torch==2.0.0+cu118 torchvision==0.15.1+cu118 "
            "--index-url https://download.pytorch.org/whl/cu118",
            f"{PIP} install flash-attn==2.3.2 --force-reinstall --no-deps --no-build-isolation "
            "--no-cache-dir",
        ),
        gpu="h100",
    ),
    Case(
        "the pair of a CPU build becomes one",
        "torch 2.4.1+cpu, torchvision 0.19.1+cpu, torchaudio 2.4.1+cpu",
        "cpu-only-torch",
        "3 packages: torch 2.4.1+cpu -> 2.4.1+cu118; torchvision 0.19.1+cpu -> 0.19.1+cu118; "
        "torchaudio 2.4.1+cpu -> 2.4.1+cu118",
        (
            f"{PIP} install torch==2.4.1+cu118 torchvision==0.19.1+cu118 torchaudio==2.4.1+cu118 "
            "--index-url https://download.pytorch.org/whl/cu118",
        ),
        driver="470.199.02",
    ),
    Case(
        "where pip would see no difference, and more than the package itself is another's",
        "torch 2.4.1+cpu, mmcv 2.2.0, mmengine 0.10.4",
        "cpu-only-torch",
        "2 packages: torch 2.4.1+cpu -> 2.4.1+cu121; mmcv 2.2.0 again for torch 2.4.1+cu121",
        (
            f"{PIP} uninstall -y torch mmcv",
            f"{PIP} install torch==2.4.1",
            f"{PIP} install mmcv==2.2.0 --only-binary mmcv --no-cache-dir "
            f"-f {PAGE}/cu121/torch2.4.0/index.html",
        ),
    ),
    Case(
        "a CPU build of torch follows its pair where there is a GPU",
        "torch 2.4.1+cpu, torchvision 0.19.1+cu121",
        "torch-torchvision-mismatch",
        "1 package: torch 2.4.1+cpu -> 2.4.1+cu121",
        (f"{PIP} uninstall -y torch", f"{PIP} install torch==2.4.1"),
    ),
    Case(
        "and the pair follows torch where there is none",
        "torch 2.4.1+cpu, torchvision 0.19.1+cu121",
        "torch-torchvision-mismatch",
        "1 package: torchvision 0.19.1+cu121 -> 0.19.1+cpu",
        (
            f"{PIP} install torchvision==0.19.1+cpu "
            "--index-url https://download.pytorch.org/whl/cpu",
        ),
        gpu="",
    ),
    Case(
        "a driver that is older than any known serves none of the builds",
        "torch 2.4.1+cpu",
        "cpu-only-torch",
        "none found; no CUDA build of torch is known to run on this GPU with this driver",
        driver="390.157",
    ),
    Case(
        "nor for a GPU that some of them have code for",
        "torch 2.4.1+cu121",
        "gpu-arch-not-in-torch",
        NOTHING,
        gpu="k80",
        driver="390.157",
    ),
    # --- what is known to help and to exist
    Case(
        "an older mim needs pkg_resources as well",
        "openmim 0.3.9, setuptools 82.0.0",
        "pkg-resources-removed",
        "1 package: setuptools 82.0.0 -> 81.0.0",
        (f"{PIP} install setuptools==81.0.0",),
    ),
    Case(
        "setuptools is gone",
        "openmim 0.3.9",
        "pkg-resources-removed",
        "1 package: install setuptools 81.0.0",
        (f"{PIP} install setuptools==81.0.0",),
    ),
    Case(
        "setuptools moves rather than torch, against which others are compiled",
        "torch 1.10.0+cu113, tensorboard 2.14.1, setuptools 69.5.1",
        "distutils-version-missing",
        "1 package: setuptools 69.5.1 -> 59.5.0",
        (f"{PIP} install setuptools==59.5.0",),
        python="3.8",
    ),
    Case(
        "a pair that never was one tells nothing of the processor",
        "torch 1.8.0+cu111, torchvision 0.24.1",
        "torch-torchvision-mismatch",
        "1 package: torchvision 0.24.1 -> 0.9.0+cu111",
        (
            f"{PIP} install torchvision==0.9.0+cu111 "
            "-f https://download.pytorch.org/whl/torch_stable.html",
        ),
        python="3.8",
        architecture="",
    ),
    Case(
        "numpy 1 for Python 3.12 begins with 1.26",
        "torch 2.2.2+cu121, numpy 2.0.2",
        "numpy2-abi",
        "1 package: numpy 2.0.2 -> 1.26.4",
        (f"{PIP} install numpy==1.26.4",),
        python="3.12",
    ),
    Case(
        "two things are out of range, each has its own change",
        "torch 2.7.0+cu126, transformers 4.57.3, tokenizers 0.22.1, huggingface-hub 1.1.0",
        "transformers-dependency-range",
        "1 package: huggingface-hub 1.1.0 -> 0.36.2",
        (f"{PIP} install huggingface-hub==0.36.2",),
    ),
    Case(
        "no torch that one change could bring has a mmcv that mmdet takes",
        "torch 2.4.1+cu121, mmcv 2.2.0, mmengine 0.10.4, mmdet 3.3.0",
        "openmmlab-version-assert",
        NOTHING,
    ),
    # --- the nearest that is known to fit
    Case(
        "mmcv-lite has no operators, which mmsegmentation needs",
        "torch 2.4.1+cu121, torchvision 0.19.1+cu121, mmcv-full 1.7.1, mmsegmentation 0.30.0",
        "torch-abi-mismatch",
        "3 packages: torch 2.4.1+cu121 -> 1.13.1+cu117; mmcv-full 1.7.1 again for torch "
        "1.13.1+cu117; torchvision 0.19.1+cu121 -> 0.14.1+cu117",
        (
            f"{PIP} install torch==1.13.1 torchvision==0.14.1",
            f"{PIP} install mmcv-full==1.7.1 --force-reinstall --no-deps --only-binary mmcv-full "
            f"--no-cache-dir -f {PAGE}/cu117/torch1.13.0/index.html",
        ),
    ),
    Case(
        "nor is it a mmcv for mmdet3d",
        "torch 2.4.1+cu121, mmcv 2.2.0, mmengine 0.10.4, mmdet3d 1.4.0",
        "openmmlab-version-assert",
        NOTHING,
    ),
    Case(
        "a release that says nothing of mmcv is not known to fit",
        "torch 1.13.1+cu117, mmcv-full 1.7.0, mmsegmentation 0.14.1",
        "openmmlab-version-assert",
        "1 package: mmsegmentation 0.14.1 -> 0.29.1",
        (f"{PIP} install mmsegmentation==0.29.1",),
        python="3.8",
    ),
    Case(
        "torchaudio before 0.10 has no CUDA of its own",
        "torch 1.9.1+cu111, torchaudio 0.7.2, torchvision 0.10.1+cu111, mmcv-full 1.4.0",
        "torch-torchaudio-mismatch",
        "1 package: torchaudio 0.7.2 -> 0.9.1",
        (f"{PIP} install torchaudio==0.9.1",),
        python="3.8",
    ),
    Case(
        "a wheel that was planned rather than another generation",
        "torch 2.0.0+cu118, torchvision 0.15.1+cu118, mmcv-lite 2.0.1, mmdet 3.0.0, mmengine 0.8.4",
        "mmcv-without-ops",
        "1 package: mmcv-lite 2.0.1 -> mmcv 2.0.1 (a wheel is likely, none was seen)",
        (
            f"{PIP} uninstall -y mmcv-lite",
            f"{PIP} install mmcv==2.0.1 --only-binary mmcv --no-cache-dir "
            f"-f {PAGE}/cu118/torch2.0.0/index.html",
        ),
        python="3.8",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_change_that_is_told(case: Case) -> None:
    fix, *apart = findings(case)[case.finding].fixes
    assert all("make one of its own with" in other.summary for other in apart)
    assert (fix.summary, fix.commands) == (case.told, case.commands)


def why(stack: str, finding: str, **machine: str) -> Sequence[str]:
    told = findings(Case("", stack, finding, "", **machine))[finding]
    return [told.summary, told.why]


def test_builds_whose_code_is_not_known_are_not_said_to_have_it() -> None:
    """2.11.0+cu129 is known by name only."""
    _, reason = why("torch 2.4.1+cu121", "gpu-arch-not-in-torch", gpu="k80", driver="470.199.02")
    assert reason.endswith("releases with code for sm_37: 1.2.0 to 2.7.1+cu118")


@pytest.mark.parametrize(
    ("transformers", "first"), [("4.57.3", "2.2.0"), ("4.55.4", "2.1.0"), ("5.24.0", "2.6.0")]
)
def test_the_torch_that_transformers_really_takes(transformers: str, first: str) -> None:
    """4.56 and 4.57 let torch 2.1 pass, and fail when they are imported."""
    said = why(f"torch 2.0.1+cu118, transformers {transformers}", "transformers-torch-skew")
    assert said[1] == f"the first torch that it can be used with is {first}"


def test_every_change_is_told_in_json_and_text_alike() -> None:
    """No plan is no silence: each finding that rests on a relation has a fix."""
    told: List[Finding] = []
    for case in CASES:
        told += [f for f in findings(case).values() if f.relation is not None]
    assert len(told) > len(CASES) // 2
    assert all(1 <= len(finding.fixes) <= 2 and finding.fixes[0].summary for finding in told)


# --- what several changes of one report are together -------------------------------------------


def plan_of(stack: str, **machine: str) -> Dict[str, Tuple[str, ...]]:
    """The commands of each error and warning of a stack for which a change is looked for."""
    report = check(facts(Case("", stack, "", "", **machine)), KNOWLEDGE)
    return {
        f"{f.code} {f.component}": f.fixes[0].commands
        for f in report.findings
        if f.severity != "info" and (f.relation is not None or f.name == "cpu-only-torch")
    }


@pytest.mark.parametrize(
    ("stack", "machine", "changed"),
    [
        # pip put the build for CUDA 10.2 in the place of that for 11.1: torch goes back
        (
            "torch 1.9.1+cu102, torchvision 0.10.1+cu111, mmcv-full 1.4.0, mmdet 2.14.0",
            {"python": "3.8"},
            "torch==1.9.1+cu111 mmcv-full==1.4.0",
        ),
        # one torch suits both of its pair
        (
            "torch 1.9.0+cu111, torchaudio 0.9.1, torchvision 0.10.1+cu111",
            {"python": "3.8"},
            "torch==1.9.1+cu111",
        ),
        # one numpy for six
        (
            "torch 2.2.2+cu121, torchvision 0.17.2+cu121, numpy 2.2.6, opencv-python 4.8.1.78, "
            "pandas 1.5.3, scipy 1.10.1, matplotlib 3.7.1, scikit-learn 1.2.2",
            {},
            "numpy==1.26.4",
        ),
        # one mmcv for three
        (
            "torch 1.9.1+cu111, mmcv 1.4.0, mmdet 2.14.0, mmsegmentation 0.14.1, mmdet3d 0.17.2",
            {"python": "3.8"},
            "mmcv-full==1.4.0",
        ),
        # two that provide mmcv make way for one
        (
            "torch 1.11.0+cu115, mmcv 1.2.2, mmcv-lite 2.0.0rc2, mmdet 2.22.0",
            {"python": "3.8"},
            "mmcv-full==1.4.8",
        ),
        # torch's pair goes with the torch that the GPU gets
        (
            "torch 2.4.1+cpu, torchvision 0.18.0+cpu",
            {},
            "torch==2.4.1 torchvision==0.19.1",
        ),
    ],
)
def test_one_change_for_what_is_broken_together(
    stack: str, machine: Dict[str, str], changed: str
) -> None:
    commands = plan_of(stack, **machine)
    assert len(commands) > 1
    assert len(set(commands.values())) == 1
    (plan,) = set(commands.values())
    assert " ".join(w for c in plan for w in c.split() if "==" in w) == changed


def carried_out(stack: Dict[str, str], plans: Sequence[Tuple[str, ...]]) -> Dict[str, str]:
    """A stack after the commands of a report, in their order, as pip would carry them out."""
    stack = dict(stack)
    for command in (command for plan in plans for command in plan):
        words = command.split()[3:]
        if words[0] == "uninstall":
            for name in words[2:]:
                stack.pop(name, None)
            continue
        wanted = [word for word in words if "==" in word]
        options = " ".join(w for w in words[1:] if w not in wanted)
        options = options.replace("--force-reinstall --no-deps", "").strip()
        for word in wanted:
            name, version = word.split("==")
            asked = f"{word} {options}".strip()
            (served, *_) = [
                b
                for b in KNOWLEDGE.packages[name].builds(parse(version.partition("+")[0]))
                if requirement_arguments(b) == asked
            ]
            stack[name] = label(served, KNOWLEDGE)
    return stack


NAMES = (
    "torchvision",
    "torchaudio",
    "mmcv-full",
    "mmcv",
    "mmcv-lite",
    "mmdet",
    "mmsegmentation",
    "mmengine",
    "numpy",
    "pandas",
    "transformers",
    "flash-attn",
)
TORCHES = [
    label(build, KNOWLEDGE)
    for build in KNOWLEDGE.packages["torch"].builds()
    if build.attributes["architecture"] == "x86_64"
    and isinstance(build.attributes["cuda"], Version)
]
STACKS = st.fixed_dictionaries(
    {"torch": st.sampled_from(TORCHES)},
    optional={
        name: st.sampled_from([str(v) for v in KNOWLEDGE.packages[name].releases]) for name in NAMES
    },
)


@settings(max_examples=60)
@given(STACKS, st.sampled_from(["3.8", "3.10", "3.12"]), st.sampled_from(["a100", "rtx5090"]))
def test_a_report_whose_commands_are_carried_out_leaves_nothing_broken(
    stack: Dict[str, str], python: str, gpu: str
) -> None:
    def checked(installed: Dict[str, str]) -> List[Finding]:
        told = ", ".join(f"{name} {version}" for name, version in installed.items())
        report = check(facts(Case("", told, "", "", python=python, gpu=gpu)), KNOWLEDGE)
        found = (f for f in report.findings if f.severity != "info")
        return [f for f in found if f.relation is not None or f.name == "cpu-only-torch"]

    found = checked(stack)
    plans = [finding.fixes[0].commands for finding in found]
    changed: Dict[str, Tuple[str, ...]] = {}
    for plan in dict.fromkeys(plans):
        for word in (w for command in plan for w in command.split() if "==" in w):
            name = word.partition("==")[0]
            assert changed.setdefault(name, plan) == plan  # no package is changed twice
    if all(plans) and not any("compile" in f.fixes[0].summary for f in found):
        assert [f.summary for f in checked(carried_out(stack, plans))] == []
