"""Environments of small made binaries, in folders: an interpreter and what it may load."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple

sys.path.append(str(Path(__file__).resolve().parents[1] / "elf"))

from elf_files import Offered, Wanted, shared_object

from envdoctor.facts.host import Host
from envdoctor.linking.examine import examine
from envdoctor.linking.process import Binaries, Outcome, Process
from envdoctor.linking.search import Search
from envdoctor.model.facts import Distribution, Linking, Observed, Target, TorchFiles, seen

LOADER = "/lib64/ld-linux-x86-64.so.2"
SITE = "lib/python3.11/site-packages"
EXTENSION = "cpython-311-x86_64-linux-gnu.so"

__all__ = ["EXTENSION", "SITE", "Offered", "Wanted", "World"]


class World:
    """A folder with an interpreter; what is put there is an ELF file if its name says so."""

    def __init__(self, root: Path, **program: Any) -> None:
        """With a program whose dynamic section `program` describes."""
        self.root = root
        self.environ: Dict[str, str] = {}
        self.distributions: Tuple[Distribution, ...] = ()
        self.torch: Optional[TorchFiles] = None
        program.setdefault("exports", [Offered("PyModule_Create2")])
        self.put("bin/python", interpreter=LOADER, **program)

    def put(self, name: str, *arguments: Any, **fields: Any) -> str:
        """Write a binary; returns its path."""
        return self.write(name, shared_object(*arguments, **fields))

    def write(self, name: str, data: bytes) -> str:
        """Write a file; returns its path."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return str(path)

    def process(self) -> Process:
        """A process of the interpreter."""
        host = Host(environ=self.environ, architecture="x86_64")
        search = Search(host, str(self.root / "bin"))
        process = Process(search, Binaries(), "x86_64")
        preloads = self.environ.get("LD_PRELOAD", "").split()
        assert process.start(str(self.root / "bin/python"), tuple(preloads)).loads
        return process

    def open(self, name: str, **fields: Any) -> Outcome:
        """What loading a binary comes to, in a new process."""
        return self.process().open(self.put(name, **fields))

    # --- an environment

    def install(self, name: str, version: str, files: Mapping[str, bytes]) -> None:
        """A distribution of these files, from the search entry on."""
        for file, data in files.items():
            self.write(f"{SITE}/{file}", data)
        folder = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
        self.write(f"{folder}/RECORD", "".join(f"{file},,\n" for file in files).encode())
        self.distributions += (
            Distribution(
                name,
                version,
                str(self.root / folder),
                str(self.root / SITE),
                modules=tuple({file.partition("/")[0].partition(".")[0] for file in files}),
            ),
        )

    def install_torch(self, **fields: Any) -> None:
        """A torch of three libraries, whose libc10 `fields` describe."""
        fields.setdefault("exports", [Offered("_ZN3c105ErrorE")])
        self.install(
            "torch",
            "2.4.1",
            {
                "torch/__init__.py": b"def _load_global_deps():\n  pass\nfrom torch._C import *\n",
                f"torch/_C.{EXTENSION}": shared_object(
                    needed=["libtorch.so"], exports=[Offered("PyInit__C")], runpath="$ORIGIN/lib"
                ),
                "torch/lib/libtorch_global_deps.so": shared_object("libtorch_global_deps.so"),
                "torch/lib/libtorch.so": shared_object(
                    "libtorch.so", ["libc10.so"], runpath="$ORIGIN"
                ),
                "torch/lib/libc10.so": shared_object("libc10.so", **fields),
            },
        )
        self.torch = TorchFiles(str(self.root / SITE / "torch"), cuda=seen("12.1", "version.py"))

    def target(self) -> Target:
        """What the probe would say of it."""
        return Target(
            python=str(self.root / "bin/python"),
            version="3.11.7",
            soabi="cpython-311-x86_64-linux-gnu",
            prefix=str(self.root),
            path=(str(self.root / SITE),),
            environ=self.environ,
            distributions=self.distributions,
            torch=self.torch,
        )

    def examined(self, *projects: str) -> Observed[Linking]:
        """What is found of its binaries."""
        return examine(Host(environ={}, architecture="x86_64"), self.target(), projects)

    def linking(self, *projects: str) -> Linking:
        """The same where it is known."""
        value = self.examined(*projects).value
        assert value is not None
        return value
