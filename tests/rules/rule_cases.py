"""Cases of rules: facts in short form, a small set of matrices, and what is found.

A case file holds a list of mappings:

    - case: what is special about it
      origin: --python                         # of the target; VIRTUAL_ENV if not given
      machine: {glibc: "2.27"}                 # facts; a scalar stands for an observed value,
      accelerator: {vendor: {value: nvidia, origin: device node /dev/nvidia0}, gpus: [...]}
      tools: {toolkit: {path: ..., version: ..., origin: ...}}
      target:                                  # {version, ...} of Target with defaults of a venv;
        installed: [numpy 1.26.4, {name: torch, version: 2.4.1, requires: [...]}]
      projects: [{root: /code/net, uses: [{interface: numpy.int, count: 1, places: [a.py:3]}]}]
        asks: ["torch==2.4.1", "-f https://..."]  # in place of it: lines of a requirement file
      finds:                                   # none: the rule stays quiet
      - "warning numpy 1.26.4: summary"
      fixes: [...]                             # optional: what all fixes say
      commands: [...]                          # optional: those of all fixes
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

import msgspec

from envdoctor.facts.requirements import target_of
from envdoctor.facts.requirements.line import Reading
from envdoctor.facts.requirements.pip import read_lines
from envdoctor.knowledge.document import Document
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.facts import Facts

FOLDER = Path(__file__).parent / "cases"
KEYS = {"case", "machine", "accelerator", "tools", "target", "origin", "projects", "finds"}
COMPARED = {"fixes", "commands"}

#: (name, the rest of its row, its finding) of interfaces.
REMOVED = [
    ("torch._six", 'of: torch, gone: "2.0", instead: math', "torch-six-removed"),
    ("torch.symeig", 'of: torch, gone: "2.0", instead: x', "torch-name-removed"),
    (
        "torch.load",
        'of: torch, gone: "2.4", without: weights_only, instead: x',
        "torch26-weights-only-default",
    ),
    (
        "--local_rank",
        'kind: option, of: torch, gone: "2.0", instead: --local-rank',
        "local-rank-flag-renamed",
    ),
    ("THC/THC.h", 'of: torch, gone: "1.11", instead: x', "thc-headers-removed"),
    ("AT_CHECK", 'of: torch, gone: "1.6", instead: TORCH_CHECK', "torch-cpp-api-removed"),
    (
        "-std=c++14",
        'of: torch, standard: "14", instead: -std=c++17',
        "torch-too-new-for-extension-source",
    ),
    ("numpy.int", 'of: numpy, gone: "1.24", instead: int', "numpy-alias-removed"),
    ("numpy.bool", 'of: numpy, gone: "1.24", back: "2.0", instead: bool', "numpy-alias-removed"),
    ("imp", 'of: python, gone: "3.12", instead: importlib', "python-name-removed"),
    (
        "distutils",
        'of: python, gone: "3.12", served: setuptools, instead: packaging',
        "python-name-removed",
    ),
    ("pkg_resources", 'of: setuptools, gone: "82", instead: x', "pkg-resources-removed"),
    ("torch.stft", 'of: torch, gone: "2.0", without: x, instead: y', "torch-call-changed"),
    (
        "torch.onnx.export",
        'of: torch, gone: "2.0", without: x, served: onnxscript, instead: y',
        "torch-call-changed",
    ),
    (
        "cudaBindTexture",
        'of: build.toolkit, gone: "12.0", instead: cudaCreateTextureObject',
        "cuda-api-removed",
    ),
    ("torch.inference_mode", 'of: torch, since: "1.9"', "interface-too-new"),
    ("torch.func", 'of: torch, since: "2.0"', "interface-too-new"),
    ("dataclasses", 'of: python, since: "3.7"', "interface-too-new"),
    ("match", 'of: python, since: "3.10"', "interface-too-new"),
    (
        "mmcv.runner",
        'of: module.mmcv, gone: "2.0", instead: mmengine.runner',
        "package-name-removed",
    ),
]

MATRICES = {
    "packages/torch": """
package: torch
checked: 2026-01-01
source: invented
releases: [1.7.1, 2.0.1, 2.4.1]
variant: {origin: string, cuda: cuda, glibc: version, cxx: int}
local: "^(?P<cuda>cpu|cu[0-9]+)$"
builds:
- id: torch/wheels
  versions: [2.4.1]
  set: {cxx: "17"}
  axes: [cuda]
  cells: [cpu, "11.8", "12.1", "12.4"]
  install: "{name}=={version}+{cuda.tag} --index-url https://wheels.example/{cuda.tag}"
relations:
- id: torch/driver
  for: self.cuda != 'cpu'
  needs: host.serves >= self.cuda
  phase: run
  finding: driver-too-old
  words: {en: {summary: "{self} needs a newer driver"}}
""",
    "packages/torchvision": """
package: torchvision
checked: 2026-01-01
source: invented
releases: [0.15.2, 0.19.1]
requires: [torch]
variant: {torch: specifier, cuda: cuda}
local: "^(?P<cuda>cpu|cu[0-9]+)$"
builds:
- id: torchvision/pairs
  each: {0.15.2: {torch: ==2.0.1}}
- id: torchvision/0.19
  each: {0.19.1: {torch: ==2.4.1}}
  axes: [cuda]
  cells: {"11.8": , "12.1": {install: "{name}=={version}"}}
relations:
- id: torchvision/torch
  needs: torch in self.torch
  phase: run
  finding: torch-torchvision-mismatch
  words: {en: {summary: "{self} is not the pair of {torch}"}}
- id: torchvision/cuda
  needs: self.cuda == torch.cuda
  phase: import
  finding: torch-torchvision-mismatch
  words: {en: {summary: "{self} is for another CUDA than {torch}"}}
""",
    "packages/torchaudio": """
package: torchaudio
checked: 2026-01-01
source: invented
releases: [2.4.1]
requires: [torch]
variant: {cuda: cuda}
local: "^(?P<cuda>cpu|cu[0-9]+)$"
builds:
- id: torchaudio/2.4
  versions: [2.4.1]
  axes: [cuda]
  cells: {"11.8": , "12.1": {install: "{name}=={version}"}}
relations:
- id: torchaudio/cuda
  needs: self.cuda == torch.cuda
  phase: import
  finding: torch-torchaudio-mismatch
  words: {en: {summary: "{self} is for another CUDA than {torch}"}}
""",
    # sources only: with a CUDA toolkit, with one where a GPU is seen, of C
    "packages/kernels": """
package: kernels
checked: 2026-01-01
source: invented
requires: [torch]
releases: ["1.0"]
variant: {origin: string, compiles: string, toolkit: string, imports: strings, job_memory: int}
builds:
- id: kernels/source
  versions: ["1.0"]
  set:
    origin: source
    compiles: cuda
    toolkit: needed
    imports: [packaging, torch]
    job_memory: "4096"
""",
    "packages/detector": """
package: detector
checked: 2026-01-01
source: invented
requires: [torch]
releases: ["1.0"]
variant: {origin: string, compiles: string, toolkit: string, without_torch: string}
builds:
- id: detector/source
  versions: ["1.0"]
  set: {origin: source, compiles: cuda, toolkit: found, without_torch: operators}
""",
    "packages/boxes": """
package: boxes
checked: 2026-01-01
source: invented
releases: ["1.0", "2.0"]
variant: {origin: string, compiles: string, imports: strings, python: strings}
builds:
- id: boxes/source
  versions: ["1.0"]
  set: {origin: source, compiles: c, imports: [cython, numpy]}
- id: boxes/wheel
  versions: ["2.0"]
  set: {origin: wheel, python: [cp38]}
  install: "{name}=={version}"
""",
    "packages/paddlepaddle-gpu": """
package: paddlepaddle-gpu
checked: 2026-01-01
source: invented
modules: [paddle]
releases: [2.3.2, 2.4.2, 2.5.1, 2.6.2]
variant: {cuda: cuda, cudnn: version, needed: strings}
local: "^(?P<cuda>cu[0-9]+)$"
builds:
- id: paddlepaddle-gpu/pypi
  each:
    2.3.2: {cuda: "10.2", cudnn: 7.6.5}
    2.4.2: {cuda: "10.2", cudnn: 7.6.5, needed: [libcudart.so.10.2]}
    2.5.1: {cuda: "11.8", cudnn: 8.6.0}
    2.6.2: {cuda: "11.8", cudnn: 8.6.0}
""",
    "platform/sources": """
platform: sources
checked: 2026-01-01
source: invented
tables:
  just_in_time:
    key: string
    columns: {toolkit: string}
    rows: {gsplat: {toolkit: needed}}
  builder:
    key: version
    columns: {arches: strings, names: strings}
    rows:
      "1.7": {arches: ["7.5", "8.0"], names: [Ampere]}
      "2.4": {arches: ["8.0", "9.0"], names: [Ampere, Hopper]}
  python:
    key: version
    columns: {tag: string}
    rows: {"3.8": {tag: cp38}, "3.11": {tag: cp311}}
""",
    "packages/mmdet": """
package: mmdet
checked: 2026-01-01
source: invented
releases: [2.14.0, 3.3.0]
relations:
- id: mmdet/ops
  needs: module.mmcv.ops
  phase: import
  finding: mmcv-without-ops
  words: {en: {summary: "{self} needs the ops of mmcv"}}
""",
    "packages/setuptools": """
package: setuptools
checked: 2026-01-01
source: invented
modules: [setuptools, pkg_resources]
releases: [65.5.1, 82.0.1]
""",
    "platform/removed": """
platform: removed
checked: 2026-01-01
tables:
  removed_ones:
    key: string
    columns: {kind: string, of: string, gone: version, back: version, since: version, standard: int,
              served: string, without: string, instead: string, finding: string}
    rows:
"""
    + "".join(f"      {name}: {{{row}, finding: {finding}}}\n" for name, row, finding in REMOVED)
    + """
    source: invented
""",
    "platform/cuda": """
platform: cuda
accelerator: nvidia
checked: 2026-01-01
source: invented
tables:
  branch:
    key: version
    columns: {lowest: version, serves: version}
    rows:
      "535": {lowest: 535.54.03, serves: "12.2"}
      "550": {lowest: 550.40.07, serves: "12.4"}
""",
    "platform/hosts": """
platform: hosts
checked: 2026-01-01
source: invented
tables:
  system_needs:
    key: string
    columns:
      packages: strings
      releases: string
      module: string
      libraries: strings
      headless: string
    rows:
      cv2:
        packages: [opencv-python]
        releases: ">=4.3,<=4.8.1.78"
        module: cv2
        libraries: [libGL.so.1, libglib-2.0.so.0, libgthread-2.0.so.0]
        headless: -headless
      open3d:
        packages: [open3d]
        releases: ==0.19.0
        module: open3d
        libraries: [libGL.so.1, libgomp.so.1]
      paddle:
        packages: [paddlepaddle-gpu]
        releases: ==2.5.1
        module: paddle
        libraries: [libssl.so.1.1]
  manylinux:
    key: version
    columns: {glibcxx: version}
    rows:
      "2.17": {glibcxx: 3.4.19}
      "2.31": {glibcxx: 3.4.28}
      "2.35": {glibcxx: 3.4.30}
  system_package:
    key: string
    columns: {apt: string, dnf: string}
    rows:
      libGL.so.1: {apt: libgl1, dnf: mesa-libGL}
      libglib-2.0.so.0: {apt: libglib2.0-0, dnf: glib2}
      libgthread-2.0.so.0: {apt: libglib2.0-0, dnf: glib2}
      libgomp.so.1: {apt: libgomp1, dnf: libgomp}
""",
    **{
        f"packages/{name}": f"""
package: {name}
checked: 2026-01-01
source: invented
modules: [{module}]
releases: [{releases}]
variant: {{ops: bool}}
"""
        for name, module, releases in [
            ("numpy", "numpy", "1.26.4, 2.0.2"),
            ("mmcv", "mmcv", "1.7.1, 2.1.0"),
            ("mmcv-full", "mmcv", "1.4.0, 1.7.1"),
            ("mmcv-lite", "mmcv", "2.1.0"),
            ("opencv-python", "cv2", "4.8.1.78"),
            ("opencv-python-headless", "cv2", "4.8.1.78"),
            ("spconv-cu118", "spconv", "2.3.6"),
            ("spconv-cu120", "spconv", "2.3.6"),
            ("cumm-cu118", "cumm", "0.4.11"),
            ("cumm-cu120", "cumm", "0.4.11"),
        ]
    },
}


class Case(NamedTuple):
    """One case; `code` is the rule that it is about."""

    code: str
    name: str
    facts: Facts
    finds: List[str]
    fixes: Optional[List[str]]  # None: not compared
    commands: Optional[List[str]]  # likewise

    def __str__(self) -> str:
        return f"{self.code} {self.name}"


def small_knowledge(folder: Path) -> Knowledge:
    """The matrices above, loaded; `folder` is where they are written."""
    for name, text in MATRICES.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load(folder)


def cases() -> Iterator[Case]:
    """Every case of every file."""
    for path in sorted(FOLDER.glob("ED*.yaml")):
        for raw in Document(path.name, path.read_text(encoding="utf-8")).data:
            facts = facts_of(raw)
            assert set(raw) <= KEYS | COMPARED, (path.name, raw["case"])
            finds = raw.get("finds") or []
            yield Case(path.stem, raw["case"], facts, finds, raw.get("fixes"), raw.get("commands"))


def facts_of(raw: Dict[str, Any]) -> Facts:
    """The facts of one case."""
    facts: Dict[str, Any] = {
        "machine": _observed({"architecture": "x86_64", **(raw.get("machine") or {})}),
        "accelerator": _observed(raw.get("accelerator") or {}),
        "tools": _tools(raw.get("tools") or {}),
    }
    if raw.get("target") is not None:
        target = _target(raw["target"])
        facts["target"] = {"value": target, "origin": raw.get("origin", "VIRTUAL_ENV")}
    facts["projects"] = raw.get("projects") or []
    return msgspec.convert(facts, Facts, strict=False)


def _tools(fields: Dict[str, Any]) -> Dict[str, Any]:
    return {
        name: value
        if isinstance(value, dict) and "unknown" in value
        else {"value": value, "origin": f"the {name}'s origin"}
        for name, value in fields.items()
    }


def _observed(fields: Dict[str, Any]) -> Dict[str, Any]:
    return {
        name: value
        if isinstance(value, dict)
        else {"value": [] if value is None else value, "origin": f"the {name}'s origin"}
        for name, value in fields.items()
    }


def _asked(raw: Dict[str, Any]) -> Dict[str, Any]:
    """A target that lines of a requirement file ask for, with the indexes and variables given."""
    reading = Reading()
    read_lines([(text, f"r.txt:{n}") for n, text in enumerate(raw["asks"], 1)], "r.txt", reading)
    target = msgspec.to_builtins(target_of(reading, raw.get("version"), "x86_64"))
    return {**target, "environ": raw.get("environ") or {}}


def _target(raw: Dict[str, Any]) -> Dict[str, Any]:
    if "asks" in raw:
        return _asked(raw)
    raw = dict(raw)
    version = raw.setdefault("version", "3.8.18")
    digits = "".join(version.split(".")[:2])
    site = f"/env/lib/python{digits[0]}.{digits[1:]}/site-packages"
    defaults = {
        "python": "/env/bin/python",
        "soabi": f"cpython-{digits}-x86_64-linux-gnu",
        "prefix": "/env",
        "base_prefix": "/usr",
        "path": [f"/usr/lib/python{digits[0]}.{digits[1:]}", site],
    }
    installed = [_distribution(one, site) for one in raw.pop("installed", None) or []]
    torch = raw.get("torch")
    if torch is not None:
        places = {"path": f"{site}/torch"}
        raw["torch"] = {**places, **_observed({k: v for k, v in torch.items() if k != "path"})}
        raw["torch"]["path"] = torch.get("path", places["path"])
    raw["path"] = [*(raw.pop("before", None) or []), *raw.get("path", defaults["path"])]
    return {**defaults, **raw, "distributions": installed}


def _distribution(raw: Any, site: str) -> Dict[str, Any]:
    if isinstance(raw, str):
        name, version = raw.split(" ")
        raw = {"name": name, "version": version}
    entry = raw.get("search_entry", site)
    folder = f"{entry}/{raw['name'].replace('-', '_')}-{raw['version']}.dist-info"
    return {"search_entry": entry, "path": folder, "installer": "pip", **raw}
