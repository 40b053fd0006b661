"""The small matrices of the tests with a few GPUs, and a machine of which nothing is known."""

from __future__ import annotations

from pathlib import Path

import msgspec
import small

from envdoctor.knowledge.load import Knowledge, load
from envdoctor.model.facts import Facts, seen

GPUS = """
platform: gpus
accelerator: nvidia
checked: 2026-01-01
source: >-
  invented, and long enough to be cut off where it is told in short, as is a list of several
  sources with the commits at which each of them was looked at; here is the end of it
tables:
  architecture:
    columns: {name: string, first_cuda: version}
    rows:
      "7.0": {name: Volta, first_cuda: "9.0"}
      "8.0": {name: Ampere, first_cuda: "11.0"}
      "9.0": {name: Hopper, first_cuda: "11.8"}
      "12.0": {name: Blackwell, first_cuda: "12.8"}
  gpu:
    key: string
    columns: {cc: version, family: string, product: string, names: strings}
    rows:
      v100: {cc: "7.0", family: datacenter, product: Tesla V100, names: [V100]}
      a100: {cc: "8.0", family: datacenter, product: A100, names: [A100]}
      a30: {cc: "8.0", family: datacenter, product: A30, names: [A30]}
      h100: {cc: "9.0", family: datacenter, product: H100, names: [H100]}
      rtx-5090: {cc: "12.0", family: consumer, product: GeForce RTX 5090, names: [RTX 5090]}
  cuda:
    columns: {driver: version}
    rows: {"10.2": {driver: 440.33}, "11.1": {driver: 455.23}, "12.8": {driver: 570.26}}
  branch:
    columns: {lowest: version, serves: version}
    rows: {"535": {lowest: 535.54.03, serves: "12.2"}}
"""


def knowledge(folder: Path) -> Knowledge:
    """The matrices, written to a folder and loaded."""
    small.write(folder)
    (folder / "platform" / "gpus.yaml").write_text(GPUS, encoding="utf-8")
    return load(folder)


def bare() -> Facts:
    """A machine of which only the processor is known."""
    machine = msgspec.structs.replace(Facts().machine, architecture=seen("x86_64", "test"))
    return msgspec.structs.replace(Facts(), machine=machine)
