"""Broken environments that pip made, repaired by `envdoctor repair --apply` with the true pip.

Each is mended, `check` is clean, what failed before can be imported, and no more packages of the
matrices changed than trying every choice of them says are needed. The packages come from the index
that pip is configured for.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Callable, Dict, FrozenSet, Iterator, List, NamedTuple, Tuple

import pytest
from environments import ROOT, find_interpreter
from test_real import HUB_OF_PYTHON_3_8, MIM, TRANSFORMERS, failures, made
from test_way_back import Ended, flat, tree

from envdoctor.actions.snapshot import listed, space_needed
from envdoctor.facts import snapshot
from envdoctor.knowledge.load import load
from envdoctor.model.build import Build
from envdoctor.relations.judge import Domain, Relations, judge
from envdoctor.relations.observe import Observation, observe, set_modules
from envdoctor.relations.plan import requirement_arguments

pytestmark = pytest.mark.real


class Broken(NamedTuple):
    title: str
    python: str
    steps: Tuple[str, ...]  # arguments of `pip install`, one call each
    code: str  # of what is found
    fails: str  # a statement that fails before, and not after
    changed: Tuple[str, ...]  # the distributions that are to change
    hurt: Callable[[Path], None] = lambda _: None  # what is done to its site-packages besides


def without_files(site: Path) -> None:
    """As an uninstallation leaves it that was broken off."""
    for file in (site / "tqdm").glob("*.py"):
        file.unlink()


def with_leftovers(site: Path) -> None:
    """As pip leaves it that was killed while it replaced a package: its metadata is set aside."""
    (info,) = site.glob("tqdm-*.dist-info")
    info.rename(site / f"~{info.name[1:]}")
    (site / "tqdm").rename(site / "~qdm")


NUMPY_1 = (
    "numpy==2.2.6 pandas==2.2.1 scipy==1.12.0 pytz==2025.2 tzdata==2025.2"
    " python-dateutil==2.9.0.post0 six==1.17.0 shapely==2.0.3"
)
TENSORBOARD = (
    "tensorboard==2.8.0 protobuf==4.25.3 numpy==1.26.4 setuptools==65.5.0 absl-py==2.1.0"
    " grpcio==1.62.1 six==1.16.0 wheel==0.43.0 markdown==3.6 werkzeug==3.0.1 markupsafe==2.1.5"
    " google-auth==2.29.0 google-auth-oauthlib==0.4.6 requests==2.32.4 certifi==2025.8.3"
    " charset-normalizer==3.4.3 idna==3.10 urllib3==2.2.3 cachetools==5.3.3 pyasn1==0.6.0"
    " pyasn1-modules==0.4.0 rsa==4.9 requests-oauthlib==2.0.0 oauthlib==3.2.2"
    " tensorboard-data-server==0.6.1 tensorboard-plugin-wit==1.8.1 importlib-metadata==7.1.0"
    " zipp==3.18.1"
)
HUB = (
    "huggingface-hub==0.25.2 filelock==3.16.1 fsspec==2025.3.0 packaging==24.2 pyyaml==6.0.2"
    " typing-extensions==4.13.2 requests==2.32.4 certifi==2025.8.3 charset-normalizer==3.4.3"
    " idna==3.10 urllib3==2.2.3"
)
NUMBA = "numpy==2.1.0 numba==0.59.1 llvmlite==0.42.0"
JAX = "numpy==1.26.4 scipy==1.12.0 ml-dtypes==0.4.0 opt-einsum==3.3.0 jax==0.4.30 jaxlib==0.4.26"

BROKEN = [
    Broken("numpy 2 under what was compiled for numpy 1", "3.11", (NUMPY_1,), "ED304",
           "import scipy.linalg", ("numpy",)),
    Broken("numba with a numpy that it refuses", "3.10", (NUMBA,), "ED430", "import numba",
           ("numpy",)),
    Broken("transformers with two packages out of range", "3.12",
           (TRANSFORMERS, "numpy==2.2.6", "tokenizers==0.21.4 huggingface-hub==1.3.0"), "ED421",
           "import transformers", ("huggingface-hub", "tokenizers")),
    Broken("a hub that took away what diffusers imports", "3.8",
           (HUB_OF_PYTHON_3_8, "huggingface-hub==0.26.0"), "ED422", "import diffusers",
           ("huggingface-hub",)),
    Broken("setuptools without pkg_resources", "3.9",
           (MIM, "opendatalab==0.0.10 setuptools==82.0.0"), "ED506",
           "import pkg_resources", ("setuptools",)),
    Broken("a protobuf that generated code refuses", "3.9", (TENSORBOARD,), "ED432",
           "import tensorboard.compat.proto.event_pb2", ("protobuf",)),
    Broken("jax beside another jaxlib", "3.11", (JAX,), "ED434", "import jax", ("jaxlib",)),
    Broken("opencv twice", "3.10",
           ("numpy==1.26.4 opencv-python==4.9.0.80", "opencv-python-headless==4.8.1.78"), "ED206",
           "import importlib.metadata as m; assert m.version('opencv-python'); import cv2;"
           " assert cv2.__version__ == '4.9.0'", ("opencv-python-headless",)),
    Broken("a distribution without its files", "3.11", ("tqdm==4.67.1",), "ED209",
           "from tqdm import tqdm", (), without_files),
    Broken("what pip had set aside when it was killed", "3.11", ("tqdm==4.67.1", HUB), "ED205",
           "import tqdm", (), with_leftovers),
]  # fmt: skip


# --- what is needed, by trying everything ----------------------------------------------------


def wrong_in(world: Dict[str, Domain], relations: Relations) -> FrozenSet[Tuple[str, str]]:
    """What is broken: packages and relations. Of what cannot be told nothing is said."""
    installed = [n for n in relations.knowledge.packages if isinstance(world[n][0], Build)]
    return frozenset(
        (name, breach.bound.relation.id)
        for name in installed
        for violation in judge(relations, name, world, "none").violations
        for breach in violation.breaches
        if breach.bound.relation.severity != "info"
    )


def choices(observed: Observation, relations: Relations, name: str) -> List[Build]:
    """Every build of a package that a command installs."""
    builds = relations.knowledge.packages[name].builds()
    return [build for build in builds if requirement_arguments(build) is not None]


def needed(observed: Observation, relations: Relations, most: int) -> int:
    """The least number of installed packages whose exchange mends all; `most` if no fewer do."""
    knowledge = relations.knowledge
    before = wrong_in(dict(observed.domains), relations)
    if not before:
        return 0
    installed = [n for n in knowledge.packages if isinstance(observed.domains[n][0], Build)]
    for number in range(1, most):
        for names in itertools.combinations(installed, number):
            options = [choices(observed, relations, name) for name in names]
            for builds in itertools.product(*options):
                world = dict(observed.domains)
                world.update({build.component: (build,) for build in builds})
                set_modules(world, knowledge)
                if not wrong_in(world, relations):
                    return number
    return most


# --- repaired --------------------------------------------------------------------------------


def repair(python: str, home: Path, *options: str, **more: str) -> Ended:
    done = subprocess.run(
        [sys.executable, "-m", "envdoctor", "repair", "--python", python, *options],
        cwd=ROOT,
        env={**environ(home), **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def environ(home: Path) -> Dict[str, str]:
    """Of the variables of who runs the tests those that say where packages are."""
    kept = {n: t for n, t in os.environ.items() if n.startswith(("PIP_", "UV_", "SSL_"))}
    bare = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}
    return {**kept, **bare, "ENVDOCTOR_LANG": "en"}


def brought(broken: Broken, folder: Path) -> str:
    """The interpreter of a copy of the environment, hurt as it is to be."""
    interpreter = find_interpreter(broken.python)
    if interpreter is None:
        pytest.skip(f"no Python {broken.python} is installed")
    prefix = folder / "env"
    shutil.copytree(made(interpreter, broken.steps), prefix, symlinks=True)
    (site,) = prefix.glob("lib/python3*/site-packages")
    broken.hurt(site)
    return str(prefix / "bin" / "python")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: one.title)
def test_repaired_with_no_more_changes_than_are_needed(broken: Broken, tmp_path: Path) -> None:
    python = brought(broken, tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    before = tree(tmp_path / "env")
    assert failures(python, [broken.fails])
    for folder in (tmp_path / "env").rglob("__pycache__"):  # of that import
        if str(folder.relative_to(tmp_path / "env")) not in before:
            shutil.rmtree(folder)
    before = tree(tmp_path / "env")
    knowledge = load()
    facts = snapshot.observe(python, None, {"PATH": os.defpath}, load().providers)
    observed, relations = observe(facts, knowledge), Relations(knowledge)

    ended = repair(python, home, "--apply", "--yes", "--format", "json")
    assert ended.code == 0, ended.err
    said = json.loads(ended.out)
    assert broken.code in [one["code"] for one in said["mends"]]
    outcome = said["outcome"]
    changed = [change["component"] for change in outcome["distributions"] if change["from"]]
    assert tuple(name for name in changed if name in knowledge.packages) == broken.changed
    assert outcome["others"] == []
    wrong = wrong_in(dict(observed.domains), relations)
    if wrong:
        mended = [name for name in broken.changed if name in knowledge.packages]
        assert needed(observed, relations, len(mended)) == len(mended)
    assert failures(python, [broken.fails]) == {}
    clean = repair(python, home)
    assert (clean.code, clean.out.partition("\n")[0].split("  ")[0]) == (0, "Nothing to repair")

    assert repair(python, home, "--rollback").code == 0
    assert tree(tmp_path / "env") == before


# --- put back --------------------------------------------------------------------------------

NUMBA_BROKEN = BROKEN[1]


def broken_wheel(folder: Path) -> None:
    """A numpy 1.26.4 in place of the index's, whose last file is not what its checksum says.

    pip finds that out when it has removed the old one, and written some of the new.
    """
    folder.mkdir()
    wheel = folder / "numpy-1.26.4-py3-none-any.whl"
    info = "numpy-1.26.4.dist-info"
    files = {
        "numpy/__init__.py": "__version__ = '1.26.4'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: numpy\nVersion: 1.26.4\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
        "numpy/last.py": "MARK = 'the end'\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    wheel.write_bytes(wheel.read_bytes().replace(b"'the end'", b"'the dne'"))


def test_an_index_that_serves_a_broken_wheel(tmp_path: Path) -> None:
    python = brought(NUMBA_BROKEN, tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    broken_wheel(tmp_path / "wheels")
    before = tree(tmp_path / "env")
    ended = repair(
        python,
        home,
        "--apply",
        "--yes",
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(tmp_path / "wheels"),
        PIP_CONFIG_FILE=os.devnull,
    )
    assert ended.code == 4, ended.err
    assert "Rolled back: " in flat(ended.out)
    assert "CRC" in ended.out
    assert tree(tmp_path / "env") == before


def test_killed_while_pip_installs(tmp_path: Path) -> None:
    python = brought(NUMBA_BROKEN, tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    before = tree(tmp_path / "env")
    process = subprocess.Popen(
        [sys.executable, "-m", "envdoctor", "repair", "--python", python, "--apply", "--yes"],
        cwd=ROOT,
        env=environ(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    (site,) = (tmp_path / "env").glob("lib/python3*/site-packages")
    while (site / "numpy-2.1.0.dist-info").exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    assert process.returncode == -signal.SIGKILL
    assert tree(tmp_path / "env") != before
    deadline = time.monotonic() + 60
    while True:
        ended = repair(python, home, "--rollback")
        if "still runs" not in ended.err or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    assert ended.code == 0, ended.err
    assert tree(tmp_path / "env") == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with little room; only root can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    if mounted:
        command = ["mount", "-t", "tmpfs", "-o", "size=700m", "tmpfs", str(folder)]
        mounted = subprocess.run(command, check=False, timeout=30).returncode == 0
    if not mounted:
        pytest.skip("no file system can be made here")
    yield folder
    subprocess.run(["umount", str(folder)], check=False, timeout=30)


def test_a_disk_that_is_full(small_disk: Path, tmp_path: Path) -> None:
    python = brought(NUMBA_BROKEN, small_disk)
    home = small_disk / "home"
    home.mkdir()
    prefix = small_disk / "env"
    before = tree(prefix)
    roots = [os.fsencode(path.name) for path in prefix.iterdir()]
    kept = space_needed(listed(os.fsencode(prefix), roots), is_near=True)
    room = kept + (4 << 20)  # for the snapshot, and not for another numpy
    with (small_disk / "ballast").open("wb") as stream:
        stream.write(bytes(shutil.disk_usage(small_disk).free - room))
    ended = repair(python, home, "--apply", "--yes", TMPDIR=str(small_disk))
    assert ended.code == 4, (ended.out, ended.err)
    assert "No space left on device" in flat(ended.out)
    assert tree(prefix) == before
