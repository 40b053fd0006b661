"""Environments that pip makes: a finding appears exactly where the real thing fails.

For each environment `envdoctor check` is run, and then, in the environment itself, the statement
that the matrices document for every relation that was judged: it must fail where a finding rests on
it and succeed everywhere else. The packages come from the index that pip is configured for.
"""

from __future__ import annotations

import functools
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, Iterable, NamedTuple, Set, Tuple

import pytest
from environments import Checked, Environment, check_environment, find_interpreter

from envdoctor.facts import snapshot
from envdoctor.knowledge.load import load
from envdoctor.model.build import Build
from envdoctor.relations.assume import assume
from envdoctor.relations.judge import Relations, judge
from envdoctor.relations.observe import observe
from envdoctor.relations.tell import probe

pytestmark = pytest.mark.real

# A GPU that all of these torches have code for, and a driver that serves them.
MACHINE = ("gpu=v100", "driver=535.129.03")


class Scenario(NamedTuple):
    title: str
    python: str
    steps: Tuple[str, ...]  # arguments of `pip install`, one call each
    wanted: Tuple[str, ...] = ()  # names of the findings


# Steps that several environments begin with are carried out once. Everything is pinned and put in
# with --no-deps: pip would refuse or repair what is to be seen, and takes its time to resolve.
TORCH_2_13 = (
    "torch==2.13.0+cpu numpy==2.2.6 filelock==3.19.1 fsspec==2025.9.0 jinja2==3.1.6"
    " markupsafe==3.0.2 mpmath==1.3.0 networkx==3.4.2 setuptools==80.9.0 sympy==1.14.0"
    " typing-extensions==4.15.0"
)
TORCH_1_12 = "torch==1.12.1 numpy==1.26.4 typing-extensions==4.15.0"
REQUESTS = "requests==2.32.4 certifi==2025.8.3 charset-normalizer==3.4.3 idna==3.10 urllib3==2.2.3"
TRANSFORMERS = (
    f"{REQUESTS} transformers==4.57.6 tokenizers==0.22.1 huggingface-hub==0.36.0 hf-xet==1.1.10"
    " safetensors==0.6.2 filelock==3.19.1 fsspec==2025.9.0 packaging==25.0 pyyaml==6.0.2"
    " regex==2025.9.1 tqdm==4.67.1 typing-extensions==4.15.0"
)
TRANSFORMERS_5 = (
    "transformers==5.0.0 huggingface-hub==1.3.0 httpx==0.28.1 httpcore==1.0.9 h11==0.16.0"
    " anyio==4.10.0 sniffio==1.3.1 shellingham==1.5.4 typer-slim==0.17.4 click==8.1.8"
)
HUB_OF_PYTHON_3_8 = (
    f"{REQUESTS} transformers==4.46.3 tokenizers==0.20.3 huggingface-hub==0.25.2 diffusers==0.27.2"
    " safetensors==0.5.3 filelock==3.16.1 fsspec==2025.3.0 importlib-metadata==8.5.0 numpy==1.24.4"
    " packaging==24.2 pillow==10.4.0 pyyaml==6.0.2 regex==2024.11.6 tqdm==4.67.1"
    " typing-extensions==4.13.2 zipp==3.20.2"
)
OPENMMLAB = (
    "addict==2.4.0 opencv-python-headless==4.11.0.86 packaging==25.0 pillow==11.3.0 pyyaml==6.0.2"
    " yapf==0.43.0 platformdirs==4.4.0 tomli==2.2.1 matplotlib==3.10.6 contourpy==1.3.2"
    " cycler==0.12.1 fonttools==4.59.2 kiwisolver==1.4.9 pyparsing==3.2.3"
    " python-dateutil==2.9.0.post0 six==1.17.0"
)
MMENGINE = (
    f"{OPENMMLAB} rich==14.1.0 markdown-it-py==4.0.0 mdurl==0.1.2 pygments==2.19.2 termcolor==3.1.0"
)
MMDET = f"{OPENMMLAB} mmdet==2.28.2 pycocotools==2.0.10 scipy==1.15.3 terminaltables==3.1.10"
MIM = (
    f"{REQUESTS} setuptools==75.8.0 openmim==0.3.9 click==8.1.8 colorama==0.4.6 model-index==0.1.11"
    " markdown==3.8.2 ordered-set==4.1.0 pyyaml==6.0.2 tabulate==0.9.0 rich==14.1.0"
    " markdown-it-py==3.0.0 mdurl==0.1.2 pygments==2.19.2 pandas==2.3.2 numpy==2.0.2 pytz==2025.2"
    " tzdata==2025.2 python-dateutil==2.9.0.post0 six==1.17.0 typing-extensions==4.15.0"
)

SCENARIOS = [
    Scenario(
        "torch 2.13.0 with numpy 2 and transformers 5",
        "3.11",
        (
            TORCH_2_13,
            TRANSFORMERS,
            TRANSFORMERS_5,
        ),
    ),
    Scenario(
        "torchvision of another torch cannot be imported",
        "3.11",
        (TORCH_2_13, "pillow==11.3.0 torchvision==0.20.1"),
        ("torch-torchvision-mismatch",),
    ),
    Scenario(
        "mmengine 0.10.5 beside transformers registers Adafactor twice",
        "3.11",
        (TORCH_2_13, TRANSFORMERS, MMENGINE, "mmengine==0.10.5"),
        ("mmcv-torch-skew", "torch26-weights-only-default"),
    ),
    Scenario(
        "mmengine 0.10.7 does not, but loads no full checkpoint",
        "3.11",
        (TORCH_2_13, TRANSFORMERS, MMENGINE, "mmengine==0.10.7"),
        ("torch26-weights-only-default",),
    ),
    Scenario(
        "torch 1.12.1 with numpy 1 and its torchvision",
        "3.10",
        (TORCH_1_12, f"{REQUESTS} pillow==11.3.0 torchvision==0.13.1"),
    ),
    Scenario(
        "torchvision of another torch is imported, but has no operators",
        "3.10",
        (TORCH_1_12, f"{REQUESTS} pillow==11.3.0 torchvision==0.14.1"),
        ("torch-torchvision-mismatch",),
    ),
    Scenario("torch 1.12.1 with numpy 2", "3.10", (TORCH_1_12, "numpy==2.0.2"), ("numpy2-abi",)),
    Scenario(
        "what was compiled for numpy 1 under numpy 2",
        "3.11",
        (
            "numpy==2.2.6 opencv-python-headless==4.9.0.80 pandas==2.2.1 scipy==1.12.0 pytz==2025.2"
            " tzdata==2025.2 python-dateutil==2.9.0.post0 six==1.17.0 shapely==2.0.3",
        ),
        ("numpy2-abi",),
    ),
    Scenario(
        "what was compiled for numpy 2 under numpy 1",
        "3.11",
        (
            "numpy==1.26.4 opencv-python-headless==4.10.0.84 pandas==2.2.2 scipy==1.13.0"
            " pytz==2025.2 tzdata==2025.2 python-dateutil==2.9.0.post0 six==1.17.0 shapely==2.0.4"
            " pycocotools==2.0.8 h5py==3.11.0",
        ),
    ),
    Scenario(
        "transformers 4.57.6 takes no torch 1.12.1",
        "3.10",
        (TORCH_1_12, TRANSFORMERS),
        ("transformers-torch-skew",),
    ),
    Scenario("mmdet without mmcv", "3.10", (TORCH_1_12, MMDET), ("python-module-missing",)),
    Scenario(
        "mmdet with an mmcv without operators",
        "3.10",
        (TORCH_1_12, MMDET, "wheel==0.45.1", "--no-build-isolation mmcv==1.7.1"),
        ("mmcv-without-ops",),
    ),
    Scenario("transformers and diffusers on Python 3.8", "3.8", (HUB_OF_PYTHON_3_8,)),
    Scenario(
        "tokenizers that transformers 4.46.3 refuses",
        "3.8",
        (HUB_OF_PYTHON_3_8, "tokenizers==0.19.1"),
        ("transformers-dependency-range",),
    ),
    Scenario(
        "a hub that took away what diffusers 0.27.2 imports",
        "3.8",
        (HUB_OF_PYTHON_3_8, "huggingface-hub==0.26.0"),
        ("hf-hub-version-skew",),
    ),
    Scenario("mim with setuptools 75", "3.9", (MIM,)),
    Scenario(
        "mim with setuptools 82", "3.9", (MIM, "setuptools==82.0.0"), ("pkg-resources-removed",)
    ),
    Scenario("transformers 4.57.6 on Python 3.12", "3.12", (TRANSFORMERS, "numpy==2.2.6")),
    Scenario(
        "tokenizers that transformers 4.57.6 refuses",
        "3.12",
        (TRANSFORMERS, "numpy==2.2.6", "tokenizers==0.21.4"),
        ("transformers-dependency-range",),
    ),
    Scenario(
        "a hub that transformers 4.57.6 refuses",
        "3.12",
        (TRANSFORMERS, "numpy==2.2.6", "huggingface-hub==1.3.0"),
        ("transformers-dependency-range",),
    ),
]


# --- making them ----------------------------------------------------------------------------------

CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
_temporary = tempfile.TemporaryDirectory()
_settings = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_REQUIRE_VIRTUALENV": "1",
}


@functools.lru_cache(maxsize=None)
def made(python: str, steps: Tuple[str, ...]) -> Path:
    """The folder of the environment after these steps; linked to that of the step before."""
    folder = Path(tempfile.mkdtemp(dir=_temporary.name)) / "env"
    if not steps:
        subprocess.run([python, "-I", "-m", "venv", folder], check=True, timeout=120)
        return folder
    before = made(python, steps[:-1])
    shutil.copytree(before, folder, symlinks=True, copy_function=os.link)
    python = str(folder / "bin" / "python")
    command = [python, "-I", "-m", "pip", "install", "-q", "--no-deps", *steps[-1].split()]
    run = functools.partial(
        subprocess.run,
        env={**os.environ, **_settings},
        capture_output=True,
        timeout=600,
        check=False,
    )
    done = run(command)
    if b"No matching distribution found" in done.stderr and "+cpu" in steps[-1]:
        # builds for the processor alone are on PyTorch's index, which pip is not told of everywhere
        done = run([*command, "--extra-index-url", CPU_BUILDS])
    assert done.returncode == 0, done.stderr.decode()
    return folder


#: Carries out statements and prints those that fail, with what they raise.
_TRY = """
import json, sys
failures = {}
for statement in json.loads(sys.argv[1]):
    try:
        exec(statement, {})
    except BaseException as error:
        failures[statement] = f"{type(error).__name__}: {error}"
print(json.dumps(failures))
"""


def failures(python: str, statements: Iterable[str]) -> Dict[str, str]:
    """Those of the statements that fail in the environment, and how; one process for all."""
    done = subprocess.run(
        [python, "-c", _TRY, json.dumps(sorted(statements))],
        cwd=_temporary.name,
        env={"PATH": os.defpath, "HOME": _temporary.name, "LANG": "C.UTF-8", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    failed: Dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return failed


# --- what was judged ------------------------------------------------------------------------------


def statements_of_relations(environment: Environment) -> Set[str]:
    """The statements of all relations that hold there, and imports of what the matrices know."""
    knowledge = load()
    facts = snapshot.observe(environment.python, None, {"PATH": os.defpath}, load().providers)
    observed = observe(assume(facts, MACHINE, knowledge), knowledge)
    relations = Relations(knowledge)
    statements: Set[str] = set()
    for name, package in knowledge.packages.items():
        if isinstance(observed.domains[name][0], Build):
            judgement = judge(relations, name, observed.domains, observed.accelerator)
            build = observed.domains[name][0]
            statements.update(probe(bound, build, knowledge) for bound in judgement.held)
            statements.update(f"import {module}" for module in package.modules)
    return {s for s in statements if s and "cuda" not in s}


def statements_of_findings(checked: Checked) -> Dict[str, str]:
    """{statement: name of the finding that says it fails}."""
    statements = {}
    for finding in checked.findings("error", "warning"):
        for command in finding["verify"] if finding["relation"] else ():
            _, option, statement = shlex.split(command)
            assert option == "-c"
            statements[statement] = finding["name"]
    return statements


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.title)
def test_a_finding_appears_exactly_where_it_fails(scenario: Scenario) -> None:
    interpreter = find_interpreter(scenario.python)
    if interpreter is None:
        pytest.skip(f"no Python {scenario.python} is installed")
    python = str(made(interpreter, scenario.steps) / "bin" / "python")
    environment = Environment(python, ())
    checked = check_environment(environment, *(f"--assume={setting}" for setting in MACHINE))
    failing = statements_of_findings(checked)
    assert sorted(set(failing.values())) == sorted(scenario.wanted)
    working = {s: name for s, name in failing.items() if not failures(python, [s])}
    assert working == {}, "a finding, and it works"
    silent = statements_of_relations(environment) - set(failing)
    assert failures(python, silent) == {}, "no finding, and it fails"
