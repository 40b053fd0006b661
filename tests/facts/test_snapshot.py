from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor import __version__
from envdoctor.facts import snapshot
from envdoctor.facts.snapshot import SnapshotError, digest, dump, load
from envdoctor.facts.target import TargetError
from envdoctor.knowledge.load import load as load_knowledge
from envdoctor.model.facts import (
    Accelerator,
    Compiler,
    Distribution,
    Facts,
    Gpu,
    Machine,
    Target,
    Toolkit,
    Tools,
    seen,
    unseen,
)

FACTS = Facts(
    envdoctor_version="0.1.0",
    taken="2026-11-30T10:18:19Z",
    machine=Machine(os=seen("ubuntu:24.04", "/etc/os-release"), wsl=seen(False, "/proc")),
    accelerator=Accelerator(
        vendor=seen("nvidia", "device node /dev/nvidia0"),
        gpus=seen((Gpu("NVIDIA H200", "9.0", 143771),), "NVML"),
        compat=unseen("none"),
    ),
    tools=Tools(
        toolkits=(Toolkit("/usr/local/cuda", "13.0.88", "CUDA_HOME"),),
        compiler=seen(Compiler("/usr/bin/c++", "gcc", "13.3.0"), "c++ on PATH"),
    ),
    target=seen(
        Target(
            "/opt/venv/bin/python",
            "3.12.3",
            distributions=(Distribution("torch", "2.11.0+cu130", "/x", "/y", tags=("cp312",)),),
        ),
        "VIRTUAL_ENV",
    ),
)


def written(tmp_path, content):
    path = tmp_path / "facts.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize("facts", [FACTS, Facts()])
def test_what_is_written_is_read(tmp_path, facts):
    assert load(written(tmp_path, dump(facts))) == facts


def test_written_form_is_stable():
    text = dump(FACTS).decode()
    assert dump(FACTS).decode() == text
    keys = list(json.loads(text))
    assert keys == sorted(keys)
    assert json.loads(text)["schema_version"] == 1
    assert text.endswith("}\n")
    assert '\n  "accelerator": {\n    "compat": {' in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"schema_version": 2, "new": 1}', "has schema version 2; this envdoctor reads 1"),
        ('{"machine": {}}', "Object missing required field `schema_version`"),
        ('{"schema_version": "1"}', "Expected `int`, got `str` - at `$.schema_version`"),
        (
            '{"schema_version": 1, "machine": {"os": {"value": 5}}}',
            "Expected `str | null`, got `int` - at `$.machine.os.value`",
        ),
        (
            '{"schema_version": 1, "machine": {"oss": {}}}',
            "Object contains unknown field `oss` - at `$.machine`",
        ),
        (
            '{"schema_version": 1, "target": {"value": {"python": "/x"}}}',
            "Object missing required field `version` - at `$.target.value`",
        ),
        ('{"schema_version": 1', "Input data was truncated"),
        ("", "Input data was truncated"),
        (b'{"schema_version": 1, "taken": "\xff"}', "Invalid"),
        *(
            (
                json.dumps(
                    {"schema_version": 1, "target": {"value": {"python": "/x", "version": text}}}
                ),
                f"{shown} is no version of Python 3 - at `$.target.value.version`",
            )
            for text, shown in (
                ("x", "'x'"),
                ("", "''"),
                ("3", "'3'"),
                ("3.", "'3.'"),
                ("2.7.18", "'2.7.18'"),
                ("3.8.18+", "'3.8.18+'"),
                ("1!3.8", "'1!3.8'"),
                ("3.\u0668", "'3.\u0668'"),
                ("3.8\n", "'3.8'"),
                ("3." + "9" * 5000, "'3." + "9" * 37 + "…'"),
            )
        ),
        ("[]", "Expected `object`, got `array`"),
        ("[" * 100_000, "is no snapshot"),
    ],
)
def test_file_that_is_no_snapshot(tmp_path, content, message):
    path = written(tmp_path, content)
    with pytest.raises(SnapshotError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ")
    if message != "Invalid":
        assert message in str(error.value)


def test_file_that_cannot_be_read(tmp_path):
    with pytest.raises(SnapshotError, match=r"gone\.json: cannot be read: no such file"):
        load(str(tmp_path / "gone.json"))
    with pytest.raises(SnapshotError, match="cannot be read: is a directory"):
        load(str(tmp_path))
    with pytest.raises(SnapshotError, match="cannot be read"):
        load("a\0b")


@pytest.mark.parametrize("version", ["3.8", "3.8.18", "3.14.0rc2", "3.13.0a1", "3.100.0"])
def test_versions_of_python(tmp_path, version):
    facts = Facts(target=seen(Target("/x", version), ""))
    assert load(written(tmp_path, dump(facts))) == facts


def test_pipe_without_a_writer(tmp_path):
    os.mkfifo(str(tmp_path / "pipe"))
    with pytest.raises(SnapshotError, match=r"pipe: is no snapshot .* Input data was truncated"):
        load(str(tmp_path / "pipe"))


def test_pipe_into_which_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "PATIENCE", 0.1)
    os.mkfifo(str(tmp_path / "pipe"))
    both = os.open(str(tmp_path / "pipe"), os.O_RDWR)
    with pytest.raises(SnapshotError, match="pipe: cannot be read: nothing was written to it for"):
        load(str(tmp_path / "pipe"))
    os.close(both)


def test_pipe_that_is_written_slowly(tmp_path):
    program = 'for part in "$@"; do sleep 0.1; printf "%s" "$part"; done'
    text = dump(FACTS).decode()
    with subprocess.Popen(
        ["sh", "-c", program, "sh", text[:100], text[100:]], stdout=subprocess.PIPE
    ) as process:
        assert load(f"/dev/fd/{process.stdout.fileno()}") == FACTS


def test_what_is_neither_a_file_nor_a_pipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(SnapshotError, match="socket: cannot be read: no such device"):
            load("socket")
    for device in ("/dev/zero", "/dev/null"):
        with pytest.raises(SnapshotError, match="cannot be read: it is neither a file nor a pipe"):
            load(device)


def test_file_that_is_too_large(tmp_path):
    path = written(tmp_path, b" " * (5_000_000 - 21) + b'{"schema_version": 1}')
    assert load(path) == Facts()
    with pytest.raises(SnapshotError, match="is larger than 5 MB"):
        load(written(tmp_path, b" " * 5_000_000 + b'{"schema_version": 1}'))


def test_digest_is_of_the_content():
    assert len(digest(FACTS)) == 64
    later = Facts(**{**_fields(FACTS), "taken": "2027-01-01T00:00:00Z"})
    assert digest(later) == digest(FACTS)
    other = Facts(**{**_fields(FACTS), "machine": Machine()})
    assert digest(other) != digest(FACTS)


def _fields(facts):
    return {name: getattr(facts, name) for name in facts.__struct_fields__}


@settings(deadline=None)  # the machine may be busy
@given(
    os=st.text(max_size=20),
    problems=st.lists(st.text(max_size=20), max_size=3).map(tuple),
    memory=st.none() | st.integers(0, 2**40),
)
def test_any_facts_are_read_back(tmp_path_factory, os, problems, memory):
    facts = Facts(
        machine=Machine(os=seen(os, "x")),
        accelerator=Accelerator(gpus=seen((Gpu("x", None, memory),), "y")),
        target=seen(Target("p", "3.8", problems=problems), ""),
    )
    path = written(tmp_path_factory.mktemp("facts"), dump(facts))
    assert load(path) == facts
    assert digest(load(path)) == digest(facts)


def test_name_that_is_not_utf_8_can_be_written(tmp_path):
    name = b"/opt/\xff".decode("utf-8", "surrogateescape")
    facts = Facts(target=seen(Target(name, "3.8"), ""))
    assert load(written(tmp_path, dump(facts))).target.value.python == "/opt/?"
    assert len(digest(facts)) == 64


def test_observing_this_machine():
    facts = snapshot.observe(
        sys.executable, None, {"PATH": "/usr/bin:/bin"}, lambda: load_knowledge().providers
    )
    assert facts.envdoctor_version == __version__
    assert facts.taken.endswith("Z")
    assert facts.target.value.version.startswith("3.")
    assert facts.machine.kernel.known
    assert facts.accelerator.vendor.known
    assert facts.tools.ninja.known or facts.tools.ninja.unknown


def test_no_target_to_choose(tmp_path):
    with pytest.raises(TargetError):
        snapshot.observe(str(tmp_path / "gone"), None, {}, lambda: load_knowledge().providers)


def test_error_while_observing_is_not_lost(monkeypatch):
    def fail(host):
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(snapshot, "observe_accelerator", fail)
    facts = snapshot.observe(sys.executable, None, {}, lambda: load_knowledge().providers)
    failed = "the probe itself failed: ZeroDivisionError: a mistake of ours"
    assert facts.accelerator.vendor.unknown == failed
    assert facts.machine.kernel.known
