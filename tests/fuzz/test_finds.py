"""What fuzzing found: each input with what is right of it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Dict, List

import pytest

sys.path.append(str(Path(__file__).parent))

import beside as beside
import small
from recorded_host import lay_out, recorded_host

from envdoctor.diagnosis import diagnose
from envdoctor.facts import nvidia_smi, probe, requirements
from envdoctor.facts.accelerator import observe_accelerator
from envdoctor.facts.enumeration import Device, enumerate_devices
from envdoctor.facts.machine import observe_machine
from envdoctor.facts.pasted import parse
from envdoctor.facts.pasted.system import capability
from envdoctor.facts.requirements.line import RequirementsError
from envdoctor.facts.tools import observe_tools
from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import load
from envdoctor.knowledge.profiles import profiles
from envdoctor.model.text import number
from envdoctor.report.json import encode
from envdoctor.rules.check import check

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("0", 0), ("080", 80), ("9" * 18, 10**18 - 1), ("9" * 19, None), (DIGITS, None)),
        *(("8²", None), ("²", None), ("٣", None), ("", None), ("-1", None), (" 1", None)),
    ],
)
def test_numbers(text: str, value: object) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("file", "content", "fact", "value"),
    [
        ("/proc/meminfo", f"MemTotal: {DIGITS} kB\n", "memory_mib", None),
        ("/sys/fs/cgroup/memory.max", f"{DIGITS}\n", "memory_mib", 1024),
        ("/sys/fs/cgroup/memory.max", "8²\n", "memory_mib", 1024),
        ("/sys/fs/cgroup/cpu.max", f"{DIGITS} 100000\n", "cpus", 4),
        ("/sys/fs/cgroup/cpu.max", f"100000 {DIGITS}\n", "cpus", 4),
        ("/sys/fs/cgroup/cpu.max", "² 1\n", "cpus", 4),
        ("/proc/self/status", f"Cpus_allowed_list:\t0-²,{DIGITS}\n", "cpus", 1),
        (
            "/usr/lib/libstdc++.so.6",
            f"\0GLIBCXX_3.4.28\0GLIBCXX_3.{DIGITS}\0",
            "libstdcxx",
            "3.4.28",
        ),
    ],
)
def test_machine(tmp_path: Path, file: str, content: str, fact: str, value: object) -> None:
    files: Dict[str, object] = {
        "/proc/meminfo": "MemTotal: 1048576 kB\n",
        "/proc/self/status": "Cpus_allowed_list:\t0-3\n",
        "/proc/self/cgroup": "0::/\n",
        file: content,
    }
    lay_out(tmp_path, files)  # type: ignore[arg-type]
    assert getattr(observe_machine(recorded_host(tmp_path)), fact).value == value


def test_memory_that_is_no_number_in_nvidia_smi() -> None:
    line = "GPU-0, NVIDIA A100, 8²1920, 525.147.05, 8.0, Disabled"
    (device,) = nvidia_smi.read_query(line, nvidia_smi.FIELDS).devices
    assert (device.name, device.memory_mib) == ("NVIDIA A100", None)


def test_instances_with_endless_numbers() -> None:
    listing = f"GPU 0: A100 (UUID: GPU-0)\n  MIG 1g.5gb     Device  {DIGITS}: (UUID: MIG-0)\n"
    assert nvidia_smi.read_instances(listing, "") == [()]


@pytest.mark.parametrize("visible", [DIGITS, f"+{DIGITS}", f"-{DIGITS}"])
def test_a_device_number_past_all_devices(visible: str) -> None:
    assert enumerate_devices([Device("A100")], visible, "535.129.03") == ()
    assert len(enumerate_devices([Device("A100")], "0x", DIGITS)) == 1


def test_a_module_s_version_that_is_none(tmp_path: Path) -> None:
    lay_out(tmp_path, {"/dev/nvidia0": "", "/sys/module/nvidia/version": "580²"})
    assert observe_accelerator(recorded_host(tmp_path)).driver.value is None


@pytest.mark.parametrize("mapping", ["{'a'}", "{1: 2, **{}}", "{x: y}", "{[]: 1}"])
def test_a_finder_whose_mapping_is_none(tmp_path: Path, mapping: str) -> None:
    finder = tmp_path / "finder.py"
    finder.write_text(f"MAPPING: dict = {mapping}\n")
    problems: List[str] = []
    assert probe.finder_mapping(str(finder), problems) == {}
    assert len(problems) == 1


def test_a_capability_in_other_digits() -> None:
    assert capability("sm_8²") is None
    assert capability("sm_86") == "8.6"


def test_paths_with_two_slashes(tmp_path: Path) -> None:
    lay_out(tmp_path, {"/m/ops/__init__.py": "", "/m/__init__.py": ""})
    files = probe.FileList(b"m/__init__.py,,\nm/ops//__init__.py,,\nm/ops//gone.py,,\n")
    assert files.count == 3
    assert files.compare(str(tmp_path)) == ([b"m/ops//gone.py"], [])


def test_half_a_character_in_a_folder_s_url() -> None:
    text = r'{"url": "file:///home/a%20b/\ud800", "dir_info": {"editable": true}}'
    problems: List[str] = []
    origin, folder = probe.describe_origin(text, "/x/direct_url.json", problems)
    assert problems == []
    assert folder.startswith("/home/a b/")
    assert origin.startswith("file:///home/a%20b/")
    (folder + origin).encode("utf-8")


def test_json_that_a_terminal_does_not_obey() -> None:
    data = {"name": "A\x7f\x9b31m\u202e\u2028\x1b\ud800é中\U000e0041"}
    written = encode(data)
    assert '"A\\u007f\\u009b31m\\u202e\\u2028\\u001b\ud800é中\\udb40\\udc41"' in written
    assert json.loads(written) == data


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("packages/torch.yaml", "2.7.0]", "0.2²]", "'0.2²' is not a version"),
        ("packages/torch.yaml", "releases: [1.9.0, 1.9.1, 1.10.0, 2.4.1, 2.7.0]", "releases: []",
         "releases: there are none"),
        ("packages/torch.yaml", "^(?P<cuda>", "^(?P<cuda>(", "missing ), unterminated subpattern"),
    ],
)  # fmt: skip
def test_matrices(tmp_path: Path, file: str, old: str, new: str, said: str) -> None:
    path = small.write(tmp_path) / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DocumentError) as raised:
        load(tmp_path)
    assert str(raised.value).startswith(f"{file}: {said}")


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = small.write(tmp_path) / "packages/torch.yaml"
    path.write_bytes(b"package: torch\nnote: \xff\n")
    with pytest.raises(DocumentError, match=r"^packages/torch\.yaml:2: is no text in UTF-8$"):
        load(tmp_path)
    folder = tmp_path / "images" / "maptr"
    folder.mkdir(parents=True)
    (folder / "profile.yaml").write_bytes(b"profile: \xf4\x41\n")
    with pytest.raises(DocumentError, match=r"^images/maptr/profile\.yaml:1: is no text in UTF-8$"):
        profiles(tmp_path / "images")


@pytest.mark.parametrize("reader", ["pyproject.toml", "uv.lock", "poetry.lock"])
def test_keys_of_thousands_of_parts_are_refused(tmp_path: Path, reader: str) -> None:
    file = tmp_path / reader
    for text in ("a" + ".a" * 10_000 + " = 1", "[" + "b . " * 5000 + "c]"):
        file.write_text(text + "\n")
        with pytest.raises(RequirementsError, match="a key has more than 100 parts"):
            requirements.read([str(file)], None, "x86_64")


@pytest.mark.parametrize("bound", [f">={DIGITS}", f"=={DIGITS}.*,<4", f">=3.8,!={DIGITS}"])
def test_a_python_of_thousands_of_digits(tmp_path: Path, bound: str) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f'[project]\nname = "a"\nversion = "1"\nrequires-python = "{bound}"\n')
    with pytest.raises(RequirementsError) as refused:
        requirements.read([str(file)], None, "x86_64")
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("text", ["\n" * 60_000, "a://" * 15_000, "a://b:" * 10_000])
def test_long_texts_take_little_time(text: str) -> None:
    # Each took more than a second of CPU time; what it takes now is not measured here.
    assert len(probe.without_credentials(text)) <= probe.MAX_URL


def test_a_machine_of_endless_texts(tmp_path: Path) -> None:
    lay_out(
        tmp_path,
        {
            "/proc/sys/kernel/osrelease": "5.15 " * 40_000,
            "/etc/os-release": f"ID={'u' * 100_000}\nVERSION_ID=22.04\n",
            "/proc/self/cgroup": "0::" + "/a" * 60_000,
            "/usr/local/cuda/version.json": "[" * 100_000,
            "/usr/local/cuda/bin/nvcc": "",
        },
    )
    host = recorded_host(tmp_path, {}, {"PATH": "/usr/bin"})
    machine = observe_machine(host)
    assert len(machine.kernel.value) <= 200
    assert len(machine.os.value) <= 210
    assert observe_tools(host, None).toolkit.unknown.startswith("/usr/local/cuda/bin/nvcc")


def test_digits_of_other_scripts_are_digits() -> None:
    report = "Python version: 3.৩ (64-bit runtime)\nPyTorch version: 1.৩.0\nGPU 0: NVIDIA A100\n"
    found = parse(report).target.value
    assert found is not None
    assert found.version == "3.3"
    check(parse(report), load())
    log = "/opt/conda/lib/python3.৩/site-packages/torch/__init__.py:1: note\n"
    log += "NVIDIA H100 with CUDA capability sm_9৩ is not compatible with the current PyTorch\n"
    log += "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
    assert diagnose([("log", io.BytesIO(log.encode()))], load()).causes


def test_digits_of_full_width_are_digits() -> None:
    found = parse("Python version: \uff13.\uff18\nPyTorch version: 1.9.0\n").target.value
    assert found is not None
    assert found.version == "3.8"
