"""What is refused before anything of an environment is changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Sequence

import pytest

from envdoctor.actions.refusal import RefusedError, prefix_of, refuse, refuse_space, roots_of
from envdoctor.actions.undo import Undo
from envdoctor.model.facts import Distribution, Target

STEPS = (("/env/bin/python", "-m", "pip", "install", "numpy==1.26.4"),)


def target(prefix: Path, **more: Any) -> Target:
    site = prefix / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True, exist_ok=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\n")
    fields = {
        "python": str(prefix / "bin" / "python"),
        "version": "3.11.7",
        "prefix": str(prefix),
        "base_prefix": "/usr",
        "path": (str(site),),
        "distributions": (
            Distribution("pip", "24.0", f"{site}/pip-24.0.dist-info", str(site), "pip"),
        ),
    }
    return Target(**{**fields, **more})


def why(patient: Target, steps: Sequence[Sequence[str]] = STEPS) -> str:
    """Why it is refused, "" if it is not."""
    try:
        prefix = prefix_of(patient)
        roots_of(patient, prefix)
        refuse(patient, prefix, steps)
    except RefusedError as error:
        return str(error)
    return ""


def test_a_virtual_environment_may_be_changed(tmp_path: Path) -> None:
    assert why(target(tmp_path / "env")) == ""


def test_what_the_system_s_packages_manage(tmp_path: Path) -> None:
    patient = target(tmp_path / "env", managed="/usr/lib/python3.11/EXTERNALLY-MANAGED")
    assert "belongs to the system's packages (PEP 668)" in why(patient)


def test_the_system_s_own_prefix(tmp_path: Path) -> None:
    patient = target(tmp_path / "env")
    with pytest.raises(RefusedError, match="/usr belongs to the system"):
        refuse(patient, "/usr", STEPS)


def test_another_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = target(tmp_path / "env")
    monkeypatch.setattr(os, "geteuid", lambda: 123_456)
    assert why(patient).endswith(", not to you")


def test_a_file_system_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = target(tmp_path / "env")

    class ReadOnly:
        f_flag = os.ST_RDONLY

    monkeypatch.setattr(os, "statvfs", lambda _: ReadOnly)
    assert why(patient).endswith("is on a file system that is read-only")


@pytest.mark.parametrize("name", ["two\nlines", "bell\a", "esc\x1b[31m", "two  spaces"])
def test_names_that_no_command_shows(tmp_path: Path, name: str) -> None:
    assert why(target(tmp_path / name)) == (
        "the path of the environment holds characters that no command can show"
    )


@pytest.mark.parametrize("name", ["a space", "quote's", 'double"quote', "ünïcode", "$HOME;ls"])
def test_names_that_are_only_odd(tmp_path: Path, name: str) -> None:
    assert why(target(tmp_path / name)) == ""


def test_what_is_removed_lies_within(tmp_path: Path) -> None:
    patient = target(tmp_path / "env")
    site = patient.path[0]
    assert why(patient, (("rm", "-r", f"{site}/~umpy"),)) == ""
    assert (
        why(patient, (("rm", "-r", "/etc/~umpy"),)) == "/etc/~umpy lies outside of the environment"
    )
    Path(site, "out").symlink_to("/etc")
    assert "lies outside" in why(patient, (("rm", "-r", f"{site}/out/~umpy"),))


def test_no_installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = target(tmp_path / "env", distributions=())
    assert why(patient).startswith("the environment has no pip: ")
    monkeypatch.setenv("PATH", str(tmp_path))
    uv = (("uv", "pip", "install", "--python", patient.python, "numpy==1.26.4"),)
    assert why(patient, uv) == "the environment has no pip, and uv, which made it, is not on PATH"


def test_an_interpreter_is_kept_but_for_its_own_library(tmp_path: Path) -> None:
    prefix = tmp_path / "opt"
    patient = target(prefix, base_prefix=str(prefix))
    roots = roots_of(patient, str(prefix))
    assert "lib/python3.11/site-packages" in roots
    assert "lib" not in roots


def test_no_room_for_a_snapshot(tmp_path: Path) -> None:
    refuse_space(Undo(tmp_path), 1)
    with pytest.raises(RefusedError, match="a snapshot takes up to"):
        refuse_space(Undo(tmp_path), 1 << 60)
