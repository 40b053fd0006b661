"""Dockerfiles of the stacks of all profiles: what stands in them, and that builders take them."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Tuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envdoctor.commands.resolving import resolve
from envdoctor.containers.dockerfile import Emission, Options, emitted
from envdoctor.containers.plan import PlanError
from envdoctor.knowledge.load import load
from envdoctor.knowledge.profiles import load_profile
from envdoctor.model.resolution import IMPOSSIBLE, Resolution
from envdoctor.resolver.lock.written import LockError

GOLDEN = Path(__file__).parent / "golden"
PROFILES = ("maptr", "sparsedrive", "qcnet", "gaussianformer", "petrv2")
GPUS = ("rtx3090", "a100", "v100", "h100")
CELLS = [(profile, gpu) for profile in PROFILES for gpu in GPUS]
_RESOLVED: Dict[Tuple[str, str], Resolution] = {}


def resolved(profile: str, gpu: str) -> Resolution:
    if (profile, gpu) not in _RESOLVED:
        _RESOLVED[profile, gpu] = resolve(profile, gpu=gpu)
    return _RESOLVED[profile, gpu]


def emission(profile: str, gpu: str, options: Options = Options()) -> Emission:  # noqa: B008
    return emitted(resolved(profile, gpu), load_profile(profile), load(), options)


def instructions(dockerfile: str) -> Iterator[str]:
    """The instructions, each on one line; comments left out."""
    held = ""
    for line in dockerfile.split("\n"):
        if line.startswith("#"):
            continue
        held += line
        if held.endswith("\\"):
            held = held[:-1]
        elif held:
            yield re.sub(r" +", " ", held)
            held = ""


@pytest.mark.parametrize(("profile", "gpu"), CELLS)
def test_it_is_as_it_was_looked_at(
    profile: str, gpu: str, golden: Callable[[Path, str], None]
) -> None:
    found = resolved(profile, gpu)
    if found.status == IMPOSSIBLE:
        assert (profile, gpu) == ("sparsedrive", "v100")
        return
    files = emission(profile, gpu).files
    beside = [f"# {name}\n{text}" for name, text in files.items() if name.endswith(".txt")]
    golden(GOLDEN / f"{profile}-{gpu}.Dockerfile", files["Dockerfile"] + "\n" + "\n".join(beside))


def test_the_authors_stack_of_maptr_on_ampere() -> None:
    lines = list(instructions(emission("maptr", "a100").dockerfile))
    assert lines[0] == "ARG BASE_IMAGE=nvidia/cuda:11.1.1-cudnn8-devel-ubuntu20.04"
    assert "RUN python3.8 -m venv /opt/env" in lines
    files = emission("maptr", "a100").files
    assert "torch==1.9.1+cu111" in files["requirements-1.txt"]
    assert "mmcv-full==1.4.0" in files["requirements-2.txt"]
    assert "/cu111/torch1.9.0/" in files["requirements-2.txt"]


@pytest.mark.parametrize(("profile", "gpu"), CELLS)
def test_hadolint_is_quiet(profile: str, gpu: str, tmp_path: Path) -> None:
    """But for DL3008, which is ignored beside its reason."""
    if resolved(profile, gpu).status == IMPOSSIBLE:
        return
    file = tmp_path / "Dockerfile"
    file.write_text(emission(profile, gpu).dockerfile)
    program = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [str(program), "--no-color", str(file)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    ignored = re.findall(r"hadolint ignore=(\S+)", file.read_text())
    assert set(ignored) <= {"DL3008"}


def test_the_same_question_gives_the_same_bytes() -> None:
    """Whatever seed hashes have."""
    program = (
        "import hashlib, sys; sys.path.insert(0, sys.argv[1]);"
        "from test_dockerfile import emission;"
        "print(hashlib.sha256(repr(emission('maptr', 'h100')).encode()).hexdigest())"
    )
    told = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(Path(__file__).parent)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=str(Path(__file__).resolve().parents[2]),
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        told.add(done.stdout)
    told.add(hashlib.sha256(repr(emission("maptr", "h100")).encode()).hexdigest() + "\n")
    assert len(told) == 1


@pytest.mark.parametrize(("profile", "gpu"), CELLS)
def test_every_reason_has_a_source(profile: str, gpu: str) -> None:
    if resolved(profile, gpu).status == IMPOSSIBLE:
        return
    text = emission(profile, gpu).dockerfile
    reasons: List[str] = re.findall(r"^# why: (.*)$", text, re.MULTILINE)
    assert len(reasons) > 10
    assert all(reason.strip() for reason in reasons)
    assert not re.search(r"^# why: *$", text, re.MULTILINE)


@pytest.mark.parametrize(("profile", "gpu"), CELLS)
def test_nothing_of_the_build_stays_in_a_layer(profile: str, gpu: str) -> None:
    """Certificates and pip's configuration are mounted; caches are, or are removed."""
    if resolved(profile, gpu).status == IMPOSSIBLE:
        return
    for line in instructions(emission(profile, gpu).dockerfile):
        if "pip install" in line or "pip download" in line:
            assert "--mount=type=secret,id=ca" in line
            assert "--mount=type=secret,id=pip,target=/etc/pip.conf" in line
            assert "--mount=type=cache" in line or "--no-cache-dir" in line
        if "apt-get" in line and "update" in line:
            assert "rm -rf" in line
            assert "/var/lib/apt/lists" in line
        assert not re.match(r"(?:ARG|ENV) .*(?:TOKEN|PASSWORD|INDEX_URL)", line)


def test_the_code_may_lie_in_the_folder() -> None:
    lines = list(instructions(emission("maptr", "a100", Options(source=True)).dockerfile))
    assert "COPY code /workspace/maptr" in lines
    assert not any("git" in line for line in lines if line.startswith("RUN"))


def test_another_base_image_takes_the_place_of_the_stacks() -> None:
    found = emission("maptr", "a100", Options(base_image="registry.example.com/cuda:11.1"))
    assert "ARG BASE_IMAGE=registry.example.com/cuda:11.1\n" in found.dockerfile


def test_a_stack_for_another_target_has_no_image() -> None:
    found = resolve("numpy", assume=["python=3.10"], target="venv")
    with pytest.raises(PlanError, match="no image"):
        emitted(found, None, load())


EVIL = "x\nRUN touch /owned"


@pytest.mark.parametrize(
    "base", [EVIL, "a b", "$(id)", "-v", "x;y", "${HOME}", "a\\", "", "registry.example.com/c:1@x"]
)
def test_a_base_image_is_the_name_of_one(base: str) -> None:
    if base in ("", "registry.example.com/c:1@x"):
        emission("maptr", "a100", Options(base_image=base))
        return
    with pytest.raises(PlanError, match="--base-image"):
        emission("maptr", "a100", Options(base_image=base))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("profile", EVIL),
        ("profile", "../up"),
        ("profile", "a b"),
        ("name", "us/mine\nRUN id"),
        ("name", "us/mine;id"),
        ("name", "us/../../mine"),
        ("commit", "0" * 39 + "\n"),
        ("commit", "--upload-pack=id"),
        ("tree", "ops\nRUN id"),
        ("tree", "../ops"),
        ("tree", "-e"),
        ("tree", "/etc"),
    ],
)
def test_what_would_become_an_instruction_is_refused(field: str, value: str) -> None:
    """By name; whatever a profile says."""
    profile = load_profile("maptr")
    found = resolved("maptr", "a100")
    if field == "profile":
        profile = msgspec.structs.replace(profile, profile=value)
    elif field == "tree":
        stack = tuple(
            msgspec.structs.replace(member, tree=value) if member.tree else member
            for member in found.stack
        )
        found = msgspec.structs.replace(found, stack=stack)
    else:
        assert profile.repository is not None
        repository = msgspec.structs.replace(profile.repository, **{field: value})
        profile = msgspec.structs.replace(profile, repository=repository)
    with pytest.raises((PlanError, LockError)):
        emitted(found, profile, load())


@given(st.text(max_size=60))
def test_reasons_stay_in_their_comments(text: str) -> None:
    """Notes, sources and reasons of a profile may hold anything."""
    profile = load_profile("maptr")
    pins = {
        name: msgspec.structs.replace(pin, source=text or "x", note=text)
        for name, pin in profile.stack.items()
    }
    overrides = [
        msgspec.structs.replace(one, sides=[text, text], reason=text) for one in profile.overrides
    ]
    theirs = msgspec.structs.replace(profile, stack=pins, overrides=overrides)
    found = resolved("maptr", "a100")
    plain = list(instructions(emitted(found, profile, load()).dockerfile))
    assert list(instructions(emitted(found, theirs, load()).dockerfile)) == plain
