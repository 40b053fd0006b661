"""A small set of matrices, written for the tests: three packages, two tables."""

from __future__ import annotations

from pathlib import Path

from envdoctor.knowledge.load import Knowledge, load

TORCH = """
package: torch
checked: 2026-01-01
source: invented
releases: [1.9.0, 1.9.1, 1.10.0, 2.4.1, 2.7.0]
variant: {origin: string, cuda: cuda, abi: int, sass: architectures, ptx: architectures}
local: "^(?P<cuda>cpu|cu[0-9]+)$"
findings: {cuda/code: gpu-arch-not-in-torch}
builds:
- id: torch/1.9
  versions: ">=1.9,<1.11"
  set: {origin: wheel, abi: 0, ptx: []}
  axes: [cuda]
  cells: {"10.2": {sass: ["3.7", "7.0"]}, "11.1": {sass: ["7.0", "8.0", "8.6"]}}
  install: "torch=={version}+{cuda.tag} -f page"
- id: torch/2.4
  versions: [2.4.1]
  set: {origin: wheel, abi: 0, ptx: []}
  axes: [cuda]
  cells: {"12.1": {sass: ["8.0", "9.0"]}}
  install: "torch=={version} --index-url whl/{cuda.tag}"
- id: torch/2.7
  versions: [2.7.0]
  set: {origin: wheel, abi: 1}
  axes: [cuda]
  cells:
    "12.6": {sass: ["8.0", "9.0"], ptx: []}
    "12.8": {sass: ["8.0", "9.0", "12.0"], ptx: ["12.0"]}
  install: "torch=={version} --index-url whl/{cuda.tag}"
"""

TORCHVISION = """
package: torchvision
checked: 2026-01-01
source: invented
releases: [0.10.0, 0.10.1, 0.11.1, 0.19.1, 0.22.0]
requires: [torch]
variant: {origin: string, torch: specifier}
builds:
- id: torchvision/pairs
  set: {origin: wheel}
  each:
    0.10.0: {torch: ==1.9.0}
    0.10.1: {torch: ==1.9.1}
    0.11.1: {torch: ==1.10.0}
    0.19.1: {torch: ==2.4.1}
    0.22.0: {torch: ==2.7.0}
  install: "{name}=={version}"
relations:
- id: torchvision/torch
  needs: torch in self.torch
  phase: run
  finding: torch-torchvision-mismatch
  probe: import torchvision
  words:
    en:
      summary: "{self} is not the pair of {torch}; {fits.self} is"
      why: "it was built for torch {self.torch}"
"""

MMCV_FULL = """
package: mmcv-full
modules: [mmcv]
checked: 2026-01-01
source: invented
releases: [1.4.0, 1.4.6, 1.7.1]
requires: [torch]
variant: {origin: string, torch: version, cuda: cuda, python: strings}
builds:
- id: mmcv-full/wheels
  versions: ">=1.4.0,<=1.4.5"
  set: {origin: wheel, python: [cp37, cp38]}
  axes: [torch, cuda]
  cells: {"1.9": ["10.2", "11.1"], "1.10": ["11.1"]}
  install: "{name}=={version} -f {cuda.tag}/torch{torch}.0"
- {id: mmcv-full/source, versions: ">=1.4", set: {origin: source}}
relations:
- id: mmcv-full/wheel-torch
  for: self.origin == 'wheel'
  needs: torch.series == self.torch and torch.cuda.major == self.cuda.major
  phase: import
  finding: torch-abi-mismatch
  words:
    en:
      summary: "{self} was built for another torch than {torch}; the last that fits is {last.torch}"
      why: its wheels are for torch {self.torch}
- id: mmcv-full/thc
  for: self.origin == 'source' and self < '1.4.6'
  needs: torch < '1.11'
  phase: build
  finding: thc-headers-removed
  waiver: {patch: mmcv-thc}
  words: {en: {summary: "{self} does not compile", why: its sources stop at THC/THC.h}}
- id: mmcv-full/ddp
  for: self < '1.4.6'
  needs: torch < '2'
  phase: run
  severity: warning
  finding: mmcv-torch-skew
  words: {en: {summary: "{self} cannot train on several GPUs with {torch}"}}
"""

MMCV = """
package: mmcv
checked: 2026-01-01
source: invented
releases: [1.3.0, 1.4.0, 2.0.1]
builds:
- {id: mmcv/all, versions: ">=1"}
"""

MMDET = """
package: mmdet
checked: 2026-01-01
source: invented
releases: [2.14.0, 2.28.2]
variant: {mmcv: specifier}
builds:
- id: mmdet/releases
  each: {2.14.0: {mmcv: ">=1.3.8,<=1.4.0"}, 2.28.2: {mmcv: ">=1.3.17,<=1.8.0"}}
  install: "{name}=={version}"
relations:
- id: mmdet/mmcv
  needs: module.mmcv in self.mmcv
  phase: import
  finding: openmmlab-version-assert
  words: {en: {summary: "{self} refuses {module.mmcv}: it wants {self.mmcv}"}}
"""

CUDA = """
platform: cuda
accelerator: nvidia
checked: 2026-01-01
source: invented
tables:
  family:
    columns: {floor: version}
    rows: {"11": {floor: 450.80.02}, "12": {floor: 525.60.13}}
  python:
    columns: {tag: string}
    rows: {"3.8": {tag: cp38}}
relations:
- id: cuda/code
  for: self.cuda != 'cpu'
  needs: all(native(self, g) or jit(self, g) for g in host.gpu)
  phase: run
  finding: gpu-arch-not-in-extension
  words:
    en:
      summary: >-
        {self} has no code for {sm(failing.gpu)} ({failing.gpu}); {first.self} is the first that has
      why: "it has {self.sass}"
- id: cuda/minor
  for: self.cuda.major >= 11 and all(native(self, g) for g in host.gpu)
  needs: host.driver >= family[self.cuda.major].floor or host.serves.major >= self.cuda.major
  phase: run
  finding: driver-too-old
  words: {en: {summary: "{self} needs driver {family[self.cuda.major].floor}, not {host.driver}"}}
"""


def write(folder: Path) -> Path:
    """The small matrices as files below `folder`."""
    for name, text in {
        "packages/torch": TORCH,
        "packages/torchvision": TORCHVISION,
        "packages/mmcv-full": MMCV_FULL,
        "packages/mmcv": MMCV,
        "packages/mmdet": MMDET,
        "platform/cuda": CUDA,
    }.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def knowledge(folder: Path) -> Knowledge:
    """The small matrices, loaded."""
    return load(write(folder))
