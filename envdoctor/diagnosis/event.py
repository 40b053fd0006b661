"""What readers of a log recognise in its lines. The one place that names kinds and fields.

What programs print as blocks (structure/):

- `line`: a line that holds a word which a sign on lines waits for. `typed` "yes", of whatever is
  read in a line that shows a command: it may stand beside a sign, it shows none.
- `exception`: of Python, with or without its traceback. `exception` its name without the module,
  `message`, `file`, `function`, `code` of the deepest frame, `module` the package of that frame
  (first part of its path below site-packages; "" outside of it), `script` the file of the first
  frame, `importer` the package that was imported by the frames, `frames` how many, `chained`
  "cause" or "context" of a later one of a chain.
- `warning`: a Python warning, `category`, `message`, `file`, `module`.
- `diagnostic`: of a compiler, linker or cmake. `tool` (gcc, nvcc, cl, ld, cmake, ninja, ptxas),
  `severity` (fatal, error, warning), `message`, `file`, `unit` the file that is compiled.
- `step`: of an installer. `installer`, `distribution`, `version`, `phase` (resolve, download,
  build-requirements, metadata, build, install), `isolated` "yes" in a build environment of its own,
  `status` (done, error), `message`. All but the last two hold for what others recognise in it.
- `conflict`: requirements that exclude each other. `component`, `requirements` joined by "; ",
  `how` (resolver, setuptools, installed: what is installed breaks a requirement), of the last two
  `required`, `found`, `by`.
- `no-version`: of an index that has no release as asked for. `component`, `required`, `offered`
  (versions, "none", "?" where they are not told), `ignored` (those that Python left out).
- `command`: a shell command that somebody typed or a script echoes, `command`.
- `exit`: a process that ended badly. `process`, `code`, `signal` (SIGKILL, ...), `rank`, `by`
  (shell, torchrun, loader, mpirun, ...), `pid`, `reason` "memory" where who tells knows it.
- `device`: a message of CUDA, of NVIDIA's driver or its tools. `fault` (no-kernel, ptx, old-driver,
  requirement, container-driver, compat, mismatch, not-compiled, no-driver, driver-down, unknown,
  device-memory, paddle-arch, refused-arch), `message`, `owner` of code that failed (torch,
  extension, ""), `package`, `gpu`, `arch` ("86"), `built` what is supported, `found`, `needs`.
- `nccl`: a message of NCCL. `level`, `message`, `file`, `topic` (connect, no-interface, shm,
  p2p-fault, ib, p2p, interfaces, timeout, ""), `peer`, `reason`, `way`, `interfaces`, `number`.
- `container`: of docker, buildkit, containerd, apt in an image. `message`, `tool`.
- `kernel`: of the kernel's log. `message`, `process`, `topic` (oom, oom-invoked, iommu), `of`.
- `failed`: a consequence: a step, build, run or job that failed, `what`.
- `progress`: a training takes steps again; `without` "yes": a program goes on without a part.
- `success`: what went well after all. `what` (built, installed: of a `distribution`, by a `tool`;
  program: it came to its end; tests: they passed, and whatever their run printed was got over;
  values: tests of a run failed by nothing but values that differ, which tells nothing of what
  stands before; `script` "yes": nobody typed the command).
- `stated`: a version that the log tells: `component`, `version`.

What messages say, whoever says it (mechanisms/), each with the fields of what it was read in:

- `missing-module`: `name`, `provider` the distribution that brings it, `of` (project; dependency;
  standard: removed from the standard library; part: of a package that is there; command: of the
  package whose command was called), `during`
  (isolated, build, setup: somebody's setup.py, "").
- `unoffered`: why there is none. `wanted`, `local`, `plain` of the version, `needs` of Python,
  `reason` (python, local: a tag of another page, listed: a known release without any offer,
  none-known, older than all that is offered, dev, "").
- `missing-name`: `name` that `owner` (a module) no longer has or never had.
- `missing-attribute`: the same of an attribute.
- `removed`: an interface that the matrices know as gone: `name`, `owner`, `gone`, `cause`.
- `missing-header`: `header`. `missing-command`: `command`. `missing-file`: `path`.
- `missing-library`: `library` (a SONAME or the name behind -l), `stem`, `major`, `needed_by`.
- `undefined-symbol`: `symbol`, `library` in which it was missed, `version` of the symbol,
  `provider` the file that lacks it. `symbol-missed` adds `owner` whose symbol it is (torch, cudart,
  cublas, cudnn, nvjitlink, nccl, mkl, python, openmp, libstdc++, ""), `abi` of a torch symbol
  with a string (cxx11, old, ""), `library_owner` (torch, cuda, torchvision, other), `package`,
  `short`.
- `missing-version`: `version` ("GLIBC_2.32"), `scheme` (GLIBC, GLIBCXX, CXXABI, ...), `provider`,
  `needed_by`.
- `missing-link`: `library` that a linker does not find. `compiler-killed`: for want of memory.
- `unknown-name`: `name` that a compiler does not know.
- `unsupported-arch`: `arch` ("86"), `capability`, `reason` (too-new, dropped), `first_cuda` and
  `last_cuda` that have code for it.
- `driver-fault`: a driver that something refuses. `cuda` that it serves, `needed`, `fault`.
- `refused-arch`: a GPU that a build has no code for. `gpu`, `arch`, `capability`, `first_cuda` and
  `last_cuda` that have code for it, `age` (new, old) beside what is supported.
- `version-range`: a version that a program refuses. `component`, `required`, `found`, `by`.
"""

from __future__ import annotations

from typing import Dict, NamedTuple

#: Of every field so much is kept.
LONGEST = 8_000


class Event(NamedTuple):
    """Something that a log tells."""

    kind: str
    line: int  # number of the line that proves it
    text: str  # that line
    fields: Dict[str, str] = {}
    source: str = ""
    fatal: bool = True  # a failure; False of a warning, of information
    first: int = 0  # where its block begins; 0: at its line
    last: int = 0  # where its block ends; 0: at its line

    def field(self, name: str) -> str:
        """A field's value, "" if it has none. `text` is one too."""
        return self.text if name == "text" else self.fields.get(name, "")

    def derived(self, kind: str, **fields: str) -> Event:
        """What follows from it: the same place, its fields and more."""
        cut = {name: value[:LONGEST] for name, value in fields.items()}
        return self._replace(kind=kind, fields={**self.fields, **cut})
