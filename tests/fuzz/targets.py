"""What is fuzzed: every input that a check reads, what it is made of, and what must hold of it.

A target takes bytes and ends, or breaks a promise: an exception that is not the documented one, an
answer that no snapshot can hold, a report that cannot be told or that obeys control characters.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import struct
import sys
import tempfile
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import beside
import elf_files
import gpu_files
import msgspec
import small
import test_accelerator as gpus
import test_formats as formats
import test_machine as machines
import test_other_files as asked_for
import test_tools as toolkits
import yaml
from recorded_host import Completed

from envdoctor.commands.cli import run
from envdoctor.diagnosis import diagnose
from envdoctor.diagnosis.reading import read
from envdoctor.diagnosis.reading.blocks import MOST
from envdoctor.elf import gpu_code
from envdoctor.elf.image import ElfError
from envdoctor.elf.library import open_library
from envdoctor.facts import nvidia_smi, probe, requirements, snapshot, target
from envdoctor.facts.accelerator import observe_accelerator
from envdoctor.facts.host import Host
from envdoctor.facts.machine import observe_machine
from envdoctor.facts.redact import Identity, redact
from envdoctor.facts.tools import observe_tools
from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.knowledge.profiles import profiles
from envdoctor.linking.search import LoaderCache
from envdoctor.model.facts import Facts, Target, seen, unseen
from envdoctor.model.finding import Report
from envdoctor.model.versions import parse
from envdoctor.relations import gpu_code as gpu_rules
from envdoctor.relations.assume import AssumeError, assume
from envdoctor.relations.expression import ExpressionError
from envdoctor.relations.judge import Relations
from envdoctor.report import json as json_report
from envdoctor.report import overview, text
from envdoctor.report.view import View
from envdoctor.rules.check import check
from envdoctor.rules.page import _decode as decode_pages

TESTS = beside.TESTS
ROOT = TESTS.parent


class BrokenPromiseError(AssertionError):
    """Something that must hold of every input does not."""


class Entry(NamedTuple):
    """One input of envdoctor's: real ones, and what is done with bytes in their place."""

    seeds: Callable[[], List[bytes]]
    enter: Callable[[bytes], None]
    structured: str = ""
    share: int = 100  # of all inputs, in comparison with the others; dear targets get less


TARGETS: Dict[str, Entry] = {}


def _target(
    name: str, seeds: Callable[[], List[bytes]], structured: str = "", share: int = 100
) -> Callable[[Callable[[bytes], None]], Callable[[bytes], None]]:
    def add(enter: Callable[[bytes], None]) -> Callable[[bytes], None]:
        TARGETS[name] = Entry(seeds, enter, structured, share)
        return enter

    return add


def _promise(holds: object, what: str) -> None:
    if not holds:
        raise BrokenPromiseError(what)


@lru_cache(maxsize=None)
def _folder() -> Path:
    """A folder of this process's own."""
    return Path(tempfile.mkdtemp(prefix="envdoctor-fuzz-"))


@lru_cache(maxsize=None)
def _kept(name: str) -> Path:
    folder = _folder() / name.replace("/", "-")
    folder.mkdir()
    return folder


@lru_cache(maxsize=None)
def _matrices() -> Knowledge:
    return load()


@lru_cache(maxsize=None)
def _small() -> Knowledge:
    return small.knowledge(_kept("small"))


# --- promises ---------------------------------------------------------------------------------

#: Characters that a terminal obeys or that turn text around.
_OBEYED = {"Cc", "Cf", "Zl", "Zp"}


def _is_harmless(text: str) -> bool:
    return text.isprintable() or not any(unicodedata.category(c) in _OBEYED for c in text)


def _told(facts: Facts, language: str, knowledge: Knowledge) -> Report:
    """What a check says, in every form. Every form must be whole and harmless."""
    report = check(facts, knowledge, language)
    for skipped in report.skipped:
        _promise("itself failed" not in skipped.reason, f"{skipped.code}: {skipped.reason}")
        _promise("本身出错" not in skipped.reason, f"{skipped.code}: {skipped.reason}")
    written = json_report.render(report)
    _promise(json.loads(written)["command"] == "check", "JSON is read back")
    for line in written.split("\n"):
        _promise(_is_harmless(line), f"JSON: {line!r}")
    for view in (View(), View(verbose=True, notes=True, width=100), View(quiet=True, home="/root")):
        for line in text.render(report, facts, 0.1, view).split("\n"):
            _promise(_is_harmless(line), f"text: {line!r}")
    for line in overview.render(report, facts, [], ("x", "y"), View()).split("\n"):
        _promise(_is_harmless(line), f"overview: {line!r}")
    return report


def _leaves(told: Any, place: str = "$") -> Iterator[Tuple[str, str]]:
    if isinstance(told, str):
        yield place, told
    elif isinstance(told, dict):
        for key, value in told.items():
            yield from _leaves(value, f"{place}.{key}")
    elif isinstance(told, list):
        for number, value in enumerate(told):
            yield from _leaves(value, f"{place}[{number}]")


def _kept_whole(facts: Facts) -> None:
    """A snapshot is read back as it was written, and redaction knows all of it."""
    data = snapshot.dump(facts)
    again = msgspec.json.decode(data, type=Facts)
    whole = msgspec.json.decode(snapshot.dump(again), type=Facts) == again
    _promise(whole, "a snapshot is read back as it was written")
    redact(facts, Identity(("/home/ann",), ("ann",), ("node1",)))
    snapshot.digest(facts)


def _errors(report: Report) -> List[str]:
    # Not the components: what told of the driver's age may be torch's words or the driver's number.
    return [f.name for f in report.findings if f.severity == "error"]


def _less_known(facts: Facts, choice: int) -> Facts:
    """The same facts, one of the machine's not known."""
    replace = msgspec.structs.replace
    machine, accelerator = facts.machine, facts.accelerator
    fields = [
        # not its driver: that nothing can ask it is what a rule goes by
        *(("accelerator", name) for name in ("serves", "kernel_module", "compat")),
        *(("machine", name) for name in ("glibc", "libstdcxx", "os")),
    ]
    part, name = fields[choice % len(fields)]
    owner = accelerator if part == "accelerator" else machine
    return replace(facts, **{part: replace(owner, **{name: unseen("not told")})})


def _examined(facts: Facts, data: bytes, knowledge: Optional[Knowledge] = None) -> None:
    """Check facts, tell the report, and see that knowing less never makes an error."""
    language = "zh" if len(data) % 3 == 0 else "en"
    knowledge = knowledge or _matrices()
    report = _told(facts, language, knowledge)
    less = check(_less_known(facts, len(data)), knowledge, language)
    more = set(_errors(less)) - set(_errors(report))
    _promise(not more, f"errors of less knowledge alone: {sorted(more)}")


# --- what the probe reads ---------------------------------------------------------------------

METADATA = """Metadata-Version: 2.1
Name: mmcv-full
Version: 1.4.0
Summary: OpenMMLab Computer Vision Foundation
Requires-Python: >=3.6
Classifier: Programming Language :: Python :: 3
Requires-Dist: addict
Requires-Dist: numpy (>=1.17)
Requires-Dist: opencv-python>=3 ; extra == 'all'
Requires-Dist: regex; sys_platform == "win32"
Requires-Dist: torch @ https://user:pw@host.example/t.whl?x=1
Description: text
        goes on

A description
"""
RECORD = """mmcv/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,120
mmcv/version.py,sha256=x,900
mmcv/_ext.cpython-38-x86_64-linux-gnu.so,sha256=x,20000
mmcv/ops/__init__.py,,
"mmcv/a,b.py",sha256=x,1
mmcv.libs/libgomp.so.1.0.0,sha256=x,77
../../../bin/mmcv,sha256=x,5
mmcv_full-1.4.0.dist-info/METADATA,,
mmcv_full-1.4.0.dist-info/RECORD,,
mmcv\\win.py,sha256=x,3
mmcv/__pycache__/x.cpython-38.pyc,,
"""
LONG_RECORD = RECORD + "".join(f"mmcv/part{i}/m{i}.py,sha256=x,{i}\n" for i in range(260))
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp38-cp38-manylinux1_x86_64\n"
DIRECT = [
    '{"url": "file:///home/ann/src%20x", "dir_info": {"editable": true}}',
    '{"url": "https://u:p@h.example/x.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}}',
    '{"url": "https://h.example/t-1.0-py3-none-any.whl", "archive_info": {"hash": "sha256=0"}}',
]
FINDER = """import sys
MAPPING: dict[str, str] = {'mmdet3d': '/home/ann/mmdet3d/mmdet3d', 'x.y': '/a'}
NAMESPACES = {}
"""
ASSERTS = """import mmcv
from .version import __version__, short_version
def digit_version(v): return [int(x) for x in v.split('.')]
mmcv_minimum_version = '1.3.8'
mmcv_maximum_version = '1.4.0'
mmcv_version = digit_version(mmcv.__version__)
assert (mmcv_version >= digit_version(mmcv_minimum_version)
        and mmcv_version <= digit_version(mmcv_maximum_version)), f'MMCV=={mmcv.__version__}'
"""
VERSION = """from typing import Optional
__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']
__version__ = '2.4.1+cu121'
debug = False
cuda: Optional[str] = '12.1'
git_version = '38b96d3'
hip: Optional[str] = None
xpu: Optional[str] = '20250004'
"""
CHECKED = """deps = {
    "numpy": "numpy>=1.17",
    "tokenizers": "tokenizers>=0.22.0,<=0.23.0",
    "huggingface-hub": "huggingface-hub[x]>=0.34.0,<1.0",
}
"""
LOOKED_UP = 'pkgs_to_check_at_runtime = [\n    "python",\n    "numpy", # x\n    "tokenizers",\n]\n'
CONDA = """{"arch": "x86_64", "build": "py3.8_cuda11.1_cudnn8.0.5_0", "build_number": 0,
"channel": "https://conda.anaconda.org/t/secret/pytorch/linux-64", "depends": ["blas * mkl"],
"name": "pytorch", "version": "1.9.1"}
"""
SCRIPTS = [
    "#!/home/ann/envs/x/bin/python3.8\n# -*- coding: utf-8 -*-\nimport re\n",
    "#!/usr/bin/env -S VAR=1 python3 -u\n",
    "#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n",
    '#!/bin/sh\n\'\'\'exec\' "$(dirname -- "$(realpath -- "$0")")"/\'python3.8\' "$0" "$@"\n',
    "\x7fELF",
]
EGG_INFO = METADATA.replace("mmcv-full", "mmdet3d").replace("1.4.0", "0.17.1")
REQUIRES = "numpy>=1\n\n[all]\nx\n\n[:python_version<'3']\ny\n[extra:os_name=='nt']\nz\n"
INSTALLED = "../mmdet3d/__init__.py\n../mmdet3d/_ext.so\nPKG-INFO\n/etc/x\n"

#: The files of an environment that a target exchanges, by the target's name.
_FILES: Dict[str, Tuple[str, List[str]]] = {
    "METADATA": ("mmcv_full-1.4.0.dist-info/METADATA", [METADATA]),
    "RECORD": ("mmcv_full-1.4.0.dist-info/RECORD", [RECORD, LONG_RECORD]),
    "WHEEL": ("mmcv_full-1.4.0.dist-info/WHEEL", [WHEEL]),
    "INSTALLER": ("mmcv_full-1.4.0.dist-info/INSTALLER", ["pip\n", "conda"]),
    "top_level": ("mmcv_full-1.4.0.dist-info/top_level.txt", ["mmcv\n", "a\nb\nmmcv_ops\n"]),
    "direct_url": ("mmcv_full-1.4.0.dist-info/direct_url.json", DIRECT),
    "PKG-INFO": ("mmdet3d.egg-info/PKG-INFO", [EGG_INFO]),
    "requires": ("mmdet3d.egg-info/requires.txt", [REQUIRES]),
    "installed-files": ("mmdet3d.egg-info/installed-files.txt", [INSTALLED]),
    "distutils": ("old-1.0-py3.8.egg-info", [METADATA]),
    "egg-link": ("mmseg.egg-link", ["/home/ann/mmseg\n.", "../x\n", "."]),
    "pth": ("x.pth", ["/home/ann/x\n# y\nimport sys; sys.path[:0] = []\n", "mmcv\n\n../a\r\nb\n"]),
    "finder-pth": (
        "__editable__.x.pth",
        ["import __editable___x_finder; __editable___x_finder.i()"],
    ),
    "finder": ("__editable___x_finder.py", [FINDER]),
    "version": ("torch/version.py", [VERSION]),
    "torch-config": (
        "torch/share/cmake/Torch/TorchConfig.cmake",
        ['set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=1")\n'],
    ),
    "libc10": ("torch/lib/libc10.so", ["\x7fELF\0_ZN3c105ErrorC1ESsSs\0_ZN3c105ErrorC2E__cxx11\0"]),
    "tensorboard": (
        "torch/utils/tensorboard/__init__.py",
        ["import tensorboard\nfrom setuptools import distutils\nV = distutils.version.X\n"],
    ),
    "asserts": ("mmcv/__init__.py", [ASSERTS, "__version__ = '1.4.0'\n"]),
    "checks": ("transformers/dependency_versions_table.py", [CHECKED]),
    "looked-up": ("transformers/dependency_versions_check.py", [LOOKED_UP]),
}
_FIXED = {
    "transformers-4.57.3.dist-info/METADATA": "Name: transformers\nVersion: 4.57.3\n",
    "transformers-4.57.3.dist-info/top_level.txt": "transformers\n",
    "transformers/__init__.py": "",
    "torch-2.4.1.dist-info/METADATA": "Name: torch\nVersion: 2.4.1\nRequires-Dist: triton\n",
    "torch-2.4.1.dist-info/top_level.txt": "torch\n",
    "torch/__init__.py": "",
    "mmcv-1.3.0.dist-info/METADATA": "Name: mmcv-full\nVersion: 1.3.0\n",
    "mmcv-1.3.0.dist-info/RECORD": RECORD,
    "__editable__.x-0.dist-info/METADATA": "Name: x\nVersion: 0\n",
    "mmcv/version.py": "__version__ = '1.4.0'\n",
}


def _lay_out(site: Path) -> None:
    told = {path: texts[0] for path, texts in _FILES.values()}
    for name, content in {**_FIXED, **told}.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("latin-1"))


@lru_cache(maxsize=None)
def _site() -> Path:
    site = _folder() / "env" / "site-packages"
    _lay_out(site)
    return site


def _probed() -> Dict[str, Any]:
    """What the probe says of the folder, as in `probe.observe`, but for the interpreter itself."""
    problems: List[str] = []
    before = list(sys.path)
    path = probe.SearchPath()
    try:
        sys.path[:] = []
        path.add_site_folder(str(_site()), set(), problems)
        path.entries = list(sys.path)
    finally:
        sys.path[:] = before
    entries = probe.read_entries(path, problems)
    finders: Dict[str, str] = {}
    for finder in path.finders:
        finders.update(probe.finder_mapping(finder, problems))
    found = probe.distributions(path, entries, problems)
    probe.note_doubled(found, problems)
    probe.note_missing(found, entries, finders, problems)
    probe.note_shadowing(found, entries, finders, problems)
    probe.note_sources(found, entries, finders, problems)
    return {
        "python": "/env/bin/python",
        "version": "3.8.18",
        "path": [probe.clean_path(entry) for entry in path.entries],
        "distributions": [
            {name: value for name, value in record.items() if value or name in probe.KEPT}
            for record in found
        ],
        "modules": probe.unclaimed(found, entries, finders, problems),
        "torch": probe.torch_files(entries, finders, problems),
        "problems": probe.limited(problems),
    }


def _is_one_line(told: Any) -> None:
    for place, leaf in _leaves(told):
        _promise(leaf.isprintable(), f"probe {place}: {leaf!r}")
        _promise(len(leaf) <= 4200, f"probe {place}: {len(leaf)} characters")


def _probe_target(path: str) -> Callable[[bytes], None]:
    def enter(data: bytes) -> None:
        place = _site() / path
        before = place.read_bytes()
        try:
            place.write_bytes(data)
            told = _probed()
        finally:
            place.write_bytes(before)
        _is_one_line(told)
        decoded = msgspec.json.decode(json.dumps(told).encode(), type=Target)
        _promise(len(decoded.distributions) >= 6, "no distribution is lost")

    return enter


for _name, (_path, _texts) in _FILES.items():
    _target(
        f"probe/{_name}",
        lambda texts=_texts: [text.encode("latin-1") for text in texts],  # type: ignore[misc]
        "json" if _name == "direct_url" else "",
        share=60,
    )(_probe_target(_path))


@_target("probe/conda-meta", lambda: [CONDA.encode()], "json")
def _conda_meta(data: bytes) -> None:
    folder = _kept("conda")
    (folder / "conda-meta").mkdir(exist_ok=True)
    (folder / "conda-meta" / "pytorch-1.9.1-py3.8_0.json").write_bytes(data)
    before, sys.prefix = sys.prefix, str(folder)
    try:
        told = probe.conda_packages([])
    finally:
        sys.prefix = before
    _is_one_line(told)
    _promise(told[0]["name"] == "pytorch", "the name is that of the file")


@_target("probe/script", lambda: [text.encode("latin-1") for text in SCRIPTS])
def _script(data: bytes) -> None:
    path = probe.script_interpreter(data[:4096], "/env/bin/pip")
    _promise(probe.clean_path(path).isprintable(), path)


@_target(
    "probe/texts",
    lambda: [
        b"https://user:pa/ss@h.example:8080/t/token/x?y=1 u:p@h",
        b"torch[extra]>=1 ; python_version < '3' and extra == 'x'",
        b"2.4.1.0.0+cu121",
        b"python-opencv_contrib.headless",
    ],
)
def _texts_of_probe(data: bytes) -> None:
    for told in (
        os.fsdecode(data),
        data.decode("utf-8", "surrogatepass" if not data else "replace"),
    ):
        _promise(probe.clean(told).isprintable(), told)
        probe.clean(probe.without_credentials(told)).encode("utf-8")
        probe.channel_name(told)
        probe.public_version(told)
        probe.is_for_extra(told)
        probe.import_names(probe.canonical(told))
        probe.parse_requires(told)


@lru_cache(maxsize=None)
def _environment() -> Tuple[str, Path]:
    import fake_environment

    made = fake_environment.Environment(_folder() / "real")
    _lay_out(made.site)
    (made.folder / "conda-meta").mkdir()
    return made.python, made.site


@_target(
    "probe/real",
    lambda: [text.encode("latin-1") for _, texts in _FILES.values() for text in texts],
    share=1,
)
def _real_probe(data: bytes) -> None:
    """The probe as a check starts it; each file gets a part of the input."""
    python, site = _environment()
    listed = list(_FILES.values())
    width = max(1, len(data) // 4)
    for number in range(4):
        path, _ = listed[(len(data) * 7 + number * 5) % len(listed)]
        (site / path).write_bytes(data[number * width :] + data[: number * width])
    (site.parent.parent.parent / "conda-meta" / "a-1-0.json").write_bytes(data)
    told = target.observe(target.Choice(python, "--python"), lambda: load().providers)
    _promise(told.value is not None, told.unknown)
    _kept_whole(Facts(target=told))
    _lay_out(site)


# --- the machine ------------------------------------------------------------------------------


def _cache_of_loader() -> bytes:
    entries = [
        ("libstdc++.so.6", "/usr/lib/libstdc++.so.6"),
        ("libcuda.so.1", "/usr/lib/libcuda.so.1"),
    ]
    start = 48 + 24 * len(entries)
    table, texts = b"", b""
    for soname, path in entries:
        table += struct.pack("<iIIIQ", 0x0303, start + len(texts), 0, 0, 0)
        texts += soname.encode() + b"\0"
        table = table[:-16] + struct.pack("<IIQ", start + len(texts), 0, 0)
        texts += path.encode() + b"\0"
    header = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(entries), len(texts)) + bytes(20)
    return header + table + texts


_MACHINE: Dict[str, List[bytes]] = {
    "/etc/os-release": [machines.UBUNTU.encode()],
    "/etc/ld.so.cache": [_cache_of_loader()],
    "/usr/lib/libstdc++.so.6": [b"\x7fELF\x02GLIBCXX_3.4\0GLIBCXX_3.4.28\0GLIBCXX_DEBUG\0"],
    "/proc/self/status": [machines.STATUS.encode(), b"Cpus_allowed_list:\t0-3,8,10-11\n"],
    "/proc/meminfo": [machines.MEMINFO.encode()],
    "/proc/self/cgroup": [b"0::/a/b\n", b"4:memory:/x/y\n3:cpu,cpuacct:/x\n"],
    "/proc/1/cgroup": [b"0::/kubepods/x\n", b"4:memory:/docker/0123456789ab\n"],
    "/sys/fs/cgroup/memory.max": [b"max\n", b"1073741824\n"],
    "/sys/fs/cgroup/cpu.max": [b"max 100000\n", b"150000 100000\n"],
    "/etc/nv_tegra_release": [b"# R35 (release), REVISION: 4.1, GCID: 1, BOARD: t186ref\n"],
    "/proc/driver/nvidia/version": [gpus.H200_MODULE.encode()],
    "/proc/driver/nvidia/gpus/0/information": [b"Model: \t NVIDIA A100\nGPU UUID: GPU-0\n"],
    "/proc/sys/kernel/osrelease": [b"5.15.0-113-generic\n", b"5.15-microsoft-standard-WSL2"],
    "/usr/local/cuda/version.json": [toolkits.VERSION_JSON.encode()],
    "/usr/local/cuda/version.txt": [b"CUDA Version 10.2.89\n"],
    "/usr/local/cuda/include/cuda.h": [b"#define CUDA_VERSION 11030\n"],
    "/usr/include/cudnn_version.h": [toolkits.HEADER.encode()],
    "/run/systemd/container": [b"lxc\n", b"docker"],
    "smi": [
        gpus.A100_QUERY.encode(),
        gpus.A100_Q.encode(),
        gpus.A100_L.encode(),
        gpus.H200_TABLE.encode(),
    ],
    "compiler": [toolkits.GCC13.encode(), toolkits.CLANG.encode(), toolkits.NVCC.encode()],
    "variables": [
        b"CC=ccache gcc-9 -m64\0CXX=/usr/bin/c++\0NVCC_APPEND_FLAGS=-ccbin gcc\0CUDA_HOME=/x",
        b"CUDA_VISIBLE_DEVICES=0,1,GPU-0\0LD_LIBRARY_PATH=/a:/b\0PATH=/usr/bin\0CUDNN_HOME=/a",
    ],
}


@lru_cache(maxsize=None)
def _machine() -> Path:
    root = _kept("machine")
    for name, contents in _MACHINE.items():
        if name.startswith("/"):
            place = root / name.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(contents[0])
    for name in ("usr/bin/nvidia-smi", "usr/bin/c++", "usr/bin/gcc", "usr/local/cuda/bin/nvcc"):
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"")
        place.chmod(0o755)
    (root / "dev").mkdir()
    (root / "dev" / "nvidia0").touch()
    return root


def _machine_target(name: str) -> Callable[[bytes], None]:
    def enter(data: bytes) -> None:
        root = _machine()
        said = {"smi": b"", "compiler": b""}
        environ = {"PATH": "/usr/local/cuda/bin:/usr/bin"}
        place = root / name.lstrip("/")
        if name == "variables":
            for pair in os.fsdecode(data).split("\0"):
                key, sign, value = pair.partition("=")
                if key and sign:
                    environ[key] = value
        elif name in said:
            said[name] = data
        else:
            place.write_bytes(data)

        def execute(argv: Sequence[str], *_: Any, **__: Any) -> Completed:
            kind = "smi" if "nvidia-smi" in argv[0] else "compiler"
            return Completed(0, said[kind], b"", "")

        host = Host(str(root), environ, "x86_64", "glibc 2.31", execute)
        patient = Target(python="/env/bin/python", version="3.8.18", prefix="/env")
        try:
            facts = Facts(
                machine=observe_machine(host),
                accelerator=observe_accelerator(host),
                tools=observe_tools(host, patient),
            )
        finally:
            if name.startswith("/"):
                place.write_bytes(_MACHINE[name][0])
        _kept_whole(facts)
        if name == "smi":
            output = data.decode("utf-8", "replace")
            nvidia_smi.read_query(output, nvidia_smi.FIELDS)
            nvidia_smi.read_instances(output, output)
        if len(data) % 16 == 0:
            _examined(facts, data, _small())

    return enter


for _name, _seeds in _MACHINE.items():
    _target(
        f"machine/{_name.strip('/').replace('/', '-')}",
        lambda seeds=_seeds: seeds,  # type: ignore[misc]
        share=15,
    )(_machine_target(_name))


# --- snapshots and reports --------------------------------------------------------------------


@lru_cache(maxsize=None)
def _fixtures() -> List[bytes]:
    import test_odd_snapshots

    found = [json.dumps(test_odd_snapshots.TOLD).encode()]
    for path in sorted((TESTS / "acceptance" / "fixtures").glob("*.json")):
        data = path.read_bytes()
        if len(data) < 60_000:
            found.append(json.dumps(json.loads(data)).encode())
    return found


def _loaded(data: bytes, name: str) -> Optional[Facts]:
    path = _folder() / name
    path.write_bytes(data)
    try:
        return snapshot.load(str(path))
    except snapshot.SnapshotError as error:
        said = str(error)
        _promise(said.startswith(f"{path}: "), f"the file is not named: {said!r}")
        return None


@_target("facts/load", _fixtures, "json", share=250)
def _load_facts(data: bytes) -> None:
    facts = _loaded(data, "facts.json")
    if facts is not None:
        _kept_whole(facts)


@_target("facts/check", _fixtures, "json", share=25)
def _check_facts(data: bytes) -> None:
    facts = _loaded(data, "facts.json")
    if facts is not None:
        _examined(facts, data)


@lru_cache(maxsize=None)
def _reports() -> List[bytes]:
    named = [value for name, value in vars(formats).items() if name.isupper()]
    found = [value.encode() for value in named if isinstance(value, str) and len(value) > 40]
    paths = sorted((TESTS / "pasted" / "reports").glob("*.yaml"))
    told = [yaml.safe_load(path.read_text(encoding="utf-8"))["report"] for path in paths]
    return [*found, *(text.encode() for text in told)]


@_target("report/parse", _reports, share=250)
def _parse_report(data: bytes) -> None:
    facts = _loaded(data, "report.txt")
    if facts is not None:
        _kept_whole(facts)


@_target("report/check", _reports, share=25)
def _check_report(data: bytes) -> None:
    facts = _loaded(data, "report.txt")
    if facts is not None:
        _examined(facts, data)


# --- compiled files ---------------------------------------------------------------------------


@lru_cache(maxsize=None)
def _gpu_files() -> List[bytes]:
    made = [path.read_bytes() for path in sorted((TESTS / "elf" / "fatbins").glob("*.*in"))]
    body = b"".join(data for data in made if not data.startswith(b"\x7fELF"))
    few = gpu_files.container(gpu_files.image(2, 80), gpu_files.image(1, 90))
    return [
        *made,
        gpu_files.elf({".nv_fatbin": body, "__nv_relfatbin": few}, first=True),
        gpu_files.elf({".nv_fatbin": few, ".nvFatBinSegment": bytes(24)}, first=True),
        gpu_files.elf({".nv_fatbin": few * 5}, headers=False, segments=[(0, 1 << 20)]),
    ]


def _libraries() -> List[bytes]:
    shapes = [(True, "<"), (False, "<"), (True, ">"), (False, ">")]
    names = [elf_files.Offered(f"f{number}") for number in range(30)]
    return [
        *(elf_files.specimen(wide, order) for wide, order in shapes),
        *(elf_files.shared_object("a", exports=names, hashes=h) for h in (("sysv",), (), ("gnu",))),
        b"/* GNU ld script */\nGROUP ( /lib/libc.so.6 )\n",
    ]


@_target("elf/library", _libraries, share=250)
def _library(data: bytes) -> None:
    path = _kept("library") / "library.so"
    path.write_bytes(data)
    try:
        with open_library(str(path)) as library:
            undefined = library.undefined()
            _promise(len(undefined) <= len(data), f"{len(undefined)} undefined symbols")
            for name in (b"plain", b"old", b"f7", *(one.name for one in undefined[:3])):
                library.symbols.exports(name)
                library.symbols.exports(name, "SPEC_1.0")
                library.symbols.versions_of(name)
            library.symbols.referenced({one.number for one in undefined})
            _promise(len(library.build_id) <= 128, "a build id is short")
            _promise(len(library.interpreter) <= 4096, "a loader's path is a path")
            _promise(len(library.versions.needs) <= len(data), "versions are of the file")
    except ElfError as error:
        _is_one_line(str(error))


@_target("linking/ld.so.cache", lambda: [_cache_of_loader()], share=100)
def _loader_cache(data: bytes) -> None:
    cache = LoaderCache(data, "x86_64", ("x86-64-v3", "x86-64-v2"))
    for name in ("libstdc++.so.6", "libcuda.so.1", "", "gone"):
        _promise(all(path for path in cache.paths(name)), "a path is none")


@_target("elf/gpu-code", _gpu_files, share=250)
def _gpu_code(data: bytes) -> None:
    path = _kept("gpu-code") / "library.so"
    path.write_bytes(data)
    read = gpu_code.read_gpu_images(str(path))
    _is_one_line(read.problem)
    _promise(read.images + read.other <= gpu_code.MOST_HEADERS, f"{read.images} images")
    groups = (*read.groups, *read.relocatable)
    _promise(all(group.sass or group.ptx for group in groups), "a group is for something")
    code = gpu_code.summarize([read], "library.so")
    _promise(code is None or groups, "a summary of what is there")
    if code is not None:
        listed = [text for g in code.groups for text in (*g.sass, *g.ptx)]
        _promise(all(re.fullmatch(r"[1-9]\d?\.\d[af]?", text) for text in listed), str(listed))
        _promise(len(msgspec.json.encode(code)) < 20_000, "a summary is short")
        _promise(gpu_rules.read_code(code).runs_on(parse("9.0")) is not None, "it is judged")


# --- requirement files ------------------------------------------------------------------------

_ASKED: Dict[str, Tuple[str, Callable[[], List[bytes]]]] = {
    "pip": (
        "requirements.txt",
        lambda: [
            *(path.read_bytes() for path in sorted((TESTS / "stacks").glob("*.txt"))),
            b"-r other.txt\n-c x/../c.txt\n-e git+https://u:p@h/r@v1.2#egg=mmdet\n--pre\n"
            b"--index-url https://u:p@h/simple\nnumpy==1.2 \\\n  --hash=sha256:0 # c\n",
            b"https://h/x/torch-1.9.1+cu111-cp38-cp38-linux_x86_64.whl ; python_version < '3.9'\n"
            b"./local[extra]\nmmcv-full @ https://h/mmcv_full-1.4.0.tar.gz\n-f https://h/x.html\n",
        ],
    ),
    "conda": (
        "environment.yml",
        lambda: [asked_for.ENVIRONMENT.encode(), (TESTS / "stacks" / "qcnet.yml").read_bytes()],
    ),
    "pyproject": (
        "pyproject.toml",
        lambda: [asked_for.PROJECT.encode(), asked_for.POETRY.encode()],
    ),
    "uv": ("uv.lock", lambda: [asked_for.UV.encode()]),
    "poetry": ("poetry.lock", lambda: [asked_for.POETRY_LOCK.encode()]),
    "pipfile": ("Pipfile.lock", lambda: [asked_for.PIPFILE.encode()]),
}


def _read_asked(data: bytes, file: str) -> Optional[Target]:
    folder = _kept("asked")
    path = folder / file
    path.write_bytes(data)
    try:
        return requirements.read([str(path)], (None, "3.8", "3.11.4")[len(data) % 3], "x86_64")
    except requirements.RequirementsError as error:
        said = str(error)
        _promise("\n" not in said, f"more than one line: {said!r}")
        _promise(str(folder) in said or file in said, f"the file is not named: {said!r}")
        return None


def _asked_target(file: str, thorough: bool) -> Callable[[bytes], None]:
    def enter(data: bytes) -> None:
        found = _read_asked(data, file)
        if found is None:
            return
        facts = Facts(target=seen(found, file))
        if thorough:
            _examined(facts, data)
        else:
            _kept_whole(facts)

    return enter


for _name, (_file, _of) in _ASKED.items():
    _kind = "json" if _name == "pipfile" else ""
    _target(f"asked/{_name}", _of, _kind)(_asked_target(_file, False))
    _target(f"asked-check/{_name}", _of, _kind, share=5)(_asked_target(_file, True))


# --- matrices, profiles, pages ----------------------------------------------------------------


@lru_cache(maxsize=None)
def _packages() -> List[bytes]:
    texts = [small.TORCH, small.TORCHVISION, small.MMCV_FULL, small.MMDET]
    found = [text.encode() for text in texts]
    for name in ("lap", "triton", "mmseg", "opencv-python"):
        path = ROOT / "matrices" / "packages" / f"{name}.yaml"
        if path.is_file() and path.stat().st_size < 8000:
            found.append(path.read_bytes())
    return found


def _loaded_matrices(folder: Path) -> None:
    try:
        knowledge = load(folder)
        for package in knowledge.packages.values():
            package.builds()
        relations = Relations(knowledge)
        for name in knowledge.packages:
            relations.of(name)
    except DocumentError as error:
        said = str(error)
        _promise(said and "\n" not in said, f"not one line: {said!r}")
        _promise(".yaml" in said, f"the file is not named: {said!r}")
    except ExpressionError as error:
        _promise(".yaml" in str(error), f"the file is not named: {error}")


@_target("matrices/package", _packages, share=70)
def _package(data: bytes) -> None:
    folder = _kept("matrices-package")
    if not (folder / "packages").exists():
        small.write(folder)
    os.environ["XDG_CACHE_HOME"] = str(_folder() / "cache")
    (folder / "packages" / "torchvision.yaml").write_bytes(data)
    _loaded_matrices(folder)


@_target("matrices/platform", lambda: [small.CUDA.encode()], share=70)
def _platform(data: bytes) -> None:
    folder = _kept("matrices-platform")
    if not (folder / "packages").exists():
        small.write(folder)
    os.environ["XDG_CACHE_HOME"] = str(_folder() / "cache")
    (folder / "platform" / "cuda.yaml").write_bytes(data)
    _loaded_matrices(folder)


@_target(
    "matrices/profile",
    lambda: [path.read_bytes() for path in sorted((ROOT / "images").glob("*/profile.yaml"))],
)
def _profile(data: bytes) -> None:
    folder = _kept("profiles") / "maptr"
    folder.mkdir(exist_ok=True)
    (folder / "profile.yaml").write_bytes(data)
    try:
        profiles(folder.parent)
    except DocumentError as error:
        _promise("profile.yaml" in str(error), f"the file is not named: {error}")


@_target(
    "matrices/page",
    lambda: [path.read_bytes() for path in sorted((ROOT / "envdoctor/rules").glob("ED10*.md"))],
)
def _page(data: bytes) -> None:
    try:
        decode_pages({"ED101_no_gpu_here.md": data.decode("utf-8", "replace")})
    except DocumentError as error:
        _promise("ED101" in str(error), f"the file is not named: {error}")


# --- what users type --------------------------------------------------------------------------

_ASSUMED = [
    *("gpu=a100", "gpu=rtx4090,h100", "gpu=sm_90", "gpu=8.6", "driver=535", "driver=535.129.03"),
    *("glibc=2.31", "gcc=11.4", "toolkit=12.1", "cudnn=8.9", "python=3.8", "os=ubuntu:20.04"),
]


@_target("assume", lambda: [text.encode() for text in _ASSUMED])
def _assume(data: bytes) -> None:
    typed = os.fsdecode(data[:3000])
    try:
        facts = assume(_whole(), [typed], _matrices())
    except AssumeError as error:
        _promise(str(error).isprintable(), f"{error!r}")
        return
    _kept_whole(facts)
    if len(data) % 8 == 0:
        _examined(facts, data)


@lru_cache(maxsize=None)
def _whole() -> Facts:
    import test_odd_snapshots

    return test_odd_snapshots.WHOLE


_LINES = [
    "check --facts FACTS --assume gpu=a100 --format json",
    "check --facts FACTS --quiet --fail-on warning --lang zh",
    "check --list-rules --format json",
    "resolve maptr --facts FACTS --gpu h100 --explain",
    "resolve torch==1.9.1+cu111 numpy<2 --facts FACTS --target host --format json",
    "resolve --requirements ASKED --facts FACTS --prefer age,changes --keep torch --lang zh",
    "resolve torch>=2 --facts FACTS --lock requirements --no-tree -o OUT",
    "check --requirements ASKED --python 3.8",
    "--facts FACTS --gpu a100 --driver 535",
    "explain ED101",
    "explain gpu-arch --lang zh",
    "facts --facts FACTS --redact -o OUT",
    "--help",
    "--version",
    "check --python /bin/false --timeout 5",
    "check --env nowhere",
]


@_target("command-line", lambda: [text.encode().replace(b" ", b"\0") for text in _LINES], share=20)
def _command(data: bytes) -> None:
    folder = _kept("typed")
    (folder / "facts.json").write_bytes(_fixtures()[1])
    (folder / "r.txt").write_bytes(b"torch==1.9.1\n")
    places = {"FACTS": "facts.json", "ASKED": "r.txt", "OUT": "out"}
    words = [os.fsdecode(word) for word in data[:4000].split(b"\0")]
    words = [str(folder / places[word]) if word in places else word for word in words]
    if not {"--facts", "--requirements", "explain", "--help"}.intersection(words):
        words += ["--facts", str(folder / "facts.json")]  # not this machine, which takes its time
    _answered(words, folder)


def _answered(words: List[str], folder: Path) -> None:
    """Run a command line in a folder: it ends with an exit code, and is harmless."""
    before, out, err = Path.cwd(), _Stream(), _Stream()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(words)
    finally:
        os.chdir(before)
        for path in folder.iterdir():  # what --output was given
            if path.is_file():
                path.unlink()
    said = out.getvalue() + err.getvalue()
    _promise(code in (0, 1, 2, 3), f"exit code {code}")
    _promise("envdoctor: internal error" not in said and "Traceback" not in said, said)
    _promise("内部错误" not in said, said)
    typed = set("".join(words))  # an error repeats what was typed
    for line in said.split("\n"):
        _promise(_is_harmless("".join(c for c in line if c not in typed)), f"{line!r}")


# --- logs -------------------------------------------------------------------------------------

_HOSTILE_LOGS = [
    b"\x1b]8;;"
    + b"a" * 5000
    + b"\x1b["
    + b"9;" * 3000
    + b"\x1bP\x1b\\\x9b31m\x1b]0;t\x07\x1b[2J" * 50,
    "╭─ Traceback (most recent call last) ─╮\n│ ╭─ locals ─╮ │\n│ │ │ x │ │\n".encode() * 80,
    "[rank1]: │ (A pid=1) #1 0.10 db-1  | Oct 04 13:19:39 h u[1]: [1,0]<stderr>:0: E   x\n".encode()
    * 40,
    '\ufeffTraceback (most recent call last):\r\n  File "a.py", line 1\r\n'.encode("utf-16") * 20
    + b"RuntimeError: plain\n" * 9,
    b"50%|" + b"#" * 9000 + b"|\r" + b"\b" * 9000 + b"[" * 9000 + b"\0" * 9000 + b"\r\n" * 900,
    b'{"log":"' + b"[" * 3000 + b'\\n","stream":"stderr"}\n' + b"(" * 3000 + b" pid=1) x\n",
    b"Traceback (most recent call last):" * 300 + b"\n" + b'  File "' * 900 + b"\n",
]


@lru_cache(maxsize=None)
def _logs() -> List[bytes]:
    folder = TESTS / "diagnosis"
    examples = yaml.safe_load((folder / "reading" / "examples.yaml").read_text(encoding="utf-8"))
    return [
        *(example["log"].encode() for example in examples),
        *(path.read_bytes() for path in sorted(folder.rglob("*.log"))),
        *_HOSTILE_LOGS,
    ]


@_target("log/read", _logs, share=300)
def _read_log(data: bytes) -> None:
    reading = read(io.BytesIO(data), ["error", "traceback", "killed", "no module named"])
    last = 1
    for line in reading:
        _promise(line.text.isprintable() and line.source.isprintable(), f"{line!r} as text")
        _promise(len(line.text) <= 2 * MOST, f"a line of {len(line.text)} characters")
        _promise(line.number >= last, f"line {line.number} after {last}")
        last = line.number
    _promise(last <= max(1, reading.lines), f"line {last} of {reading.lines}")


@_target("log/diagnose", _logs, share=100)
def _diagnose_log(data: bytes) -> None:
    language = "zh" if len(data) % 2 else "en"
    found = diagnose([("log", io.BytesIO(data))], _matrices(), language=language)
    for told in _texts(msgspec.to_builtins(found)):
        _promise(_is_harmless(told), f"{told!r} as text")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)


_ANYWHERE = ["--facts", "facts.json", "--gpu", "a100,h100"]


@_target("resolve/requirements", _ASKED["pip"][1], share=5)
def _resolve_requirements(data: bytes) -> None:
    folder = _kept("resolved")
    (folder / "facts.json").write_bytes(_fixtures()[1])
    (folder / "r.txt").write_bytes(data)
    form = "json" if len(data) % 2 else "text"
    words = ["resolve", "--requirements", "r.txt", "--explain", "--format", form]
    _answered([*words, *_ANYWHERE], folder)


@_target(
    "resolve/profile",
    lambda: [path.read_bytes() for path in sorted((ROOT / "images").glob("*/profile.yaml"))],
    share=3,
)
def _resolve_profile(data: bytes) -> None:
    folder = _kept("resolved")
    (folder / "facts.json").write_bytes(_fixtures()[1])
    (folder / "mine.yaml").write_bytes(data)
    _answered(["resolve", "./mine.yaml", "--lang", "zh", *_ANYWHERE], folder)


class _Stream(io.StringIO):
    """Keeps what is printed, as a stream of the process would take it."""

    def write(self, text: str) -> int:
        text.encode("utf-8", "replace")
        return super().write(text)
