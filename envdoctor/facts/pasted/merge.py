"""From what the readers noted to facts: where lines agree, what they say; else nothing."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

from envdoctor.facts.pasted import (
    compilers,
    detectron2,
    extensions,
    form,
    frameworks,
    huggingface,
    nvidia_smi,
    openmmlab,
    packages,
    prose,
    session,
    torch_build,
    torch_env,
    tracebacks,
)
from envdoctor.facts.pasted.notes import (
    RUNNING,
    WRITTEN,
    Card,
    Notes,
    Package,
    Statement,
    agree,
    decide,
    version,
)
from envdoctor.facts.pasted.system import is_amd, truncated
from envdoctor.facts.pasted.text import headed, lines, pair
from envdoctor.model.facts import (
    NOT_SAID,
    Accelerator,
    Compiler,
    CondaPackage,
    Distribution,
    Facts,
    Gpu,
    GpuCode,
    Machine,
    Observed,
    Target,
    Toolkit,
    Tools,
    TorchFiles,
    seen,
    unseen,
)
from envdoctor.model.versions import local_part

#: What is read of a text; a report is far smaller.
MAX_CHARACTERS = 2_000_000
AS_REPORTED = "as reported"
_READERS = (
    torch_env,
    openmmlab,
    detectron2,
    torch_build,
    huggingface,
    compilers,
    nvidia_smi,
    packages,
    session,
    frameworks,
    extensions,
    form,
    tracebacks,
    prose,
)
#: The ways in which a driver refuses its service.
REFUSALS = ("broken", "mismatch", "old")
#: Whose names of GPUs are taken, best first: tools', then those that are cut or lack a number.
_SOURCES = ("printed", "queried", "lightning", "yolo", "table", "warned", "typed", "written")
_CONDA_NAMES = {"pytorch": "torch", "pytorch-gpu": "torch", "pytorch-cpu": "torch"}
#: Of conda alone: no Python distributions.
_CONDA_ALONE = re.compile(
    r"(?:[-_].*|lib.*|cuda.*|cudnn|cpuonly|pytorch-(?:mutex|cuda)|mkl|blas|magma.*|opencv|py-opencv|"
    r"nccl|gcc.*|gxx.*|ninja-base|intel-openmp|ffmpeg|openssl|zlib|readline|tk|xz|sqlite)"
)
_CONDA_CUDA = re.compile(r"cuda_?(\d{1,2})\.?(\d)")
_ARCHITECTURE = re.compile(r"[-_](x86_64|aarch64|ppc64le)(?:-|$)")
_KERNEL = re.compile(r"Linux-(.{1,80}?)-(?:x86_64|aarch64|ppc64le)")
_GLIBC = re.compile(r"-with-glibc(\d\.\d{1,2})$")


class ReportError(Exception):
    """A text in which nothing of a known report was found; the message is a clause."""


def parse(text: str) -> Facts:
    """The facts that a pasted report states; what it does not say is unknown.

    Raises ReportError for a text that is no report.
    """
    if len(text) > MAX_CHARACTERS:
        raise ReportError("is larger than 2 MB, which no report is")
    notes = Notes()
    read = lines(text)
    pairs = [found for found in map(pair, read) if found is not None]
    pairs += headed(read)
    for reader in _READERS:
        reader.read(pairs, read, notes)
    if not notes:
        raise ReportError(
            "no line is of a known report (collect_env, transformers env, pip or conda list, "
            "nvidia-smi, nvcc)"
        )
    return _Merge(notes).facts()


class _Merge:
    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.problems: List[str] = []
        self.platform = notes.statements.get("platform", [])
        self.installed = self._packages()

    # --- single values -----------------------------------------------------------------------

    def one(self, topic: str) -> Observed[str]:
        """What the report says of a topic."""
        statements = self.notes.statements.get(topic)
        if not statements:
            return unseen(NOT_SAID)
        statement, contradiction = decide(statements)
        if statement is None:
            return unseen(contradiction)
        return seen(statement.value, statement.where)

    def from_platform(self, pattern: re.Pattern[str]) -> Observed[str]:
        """A part of platform.platform(), "Linux-5.4.0-150-generic-x86_64-with-glibc2.27"."""
        found = [
            Statement(match[1], s.where, s.number, s.rank)
            for s in self.platform
            for match in [pattern.search(s.value)]
            if match
        ]
        statement = decide(found)[0] if found else None
        return unseen(NOT_SAID) if statement is None else seen(statement.value, statement.where)

    # --- the machine -------------------------------------------------------------------------

    def machine(self) -> Machine:
        """The operating system; Linux's facts are unknown elsewhere."""
        kernel = _first(self.one("kernel"), self.from_platform(_KERNEL))
        if self.system() != "linux":
            reason = f"the report is of {self.system()}"
            return Machine(os=unseen(reason), architecture=unseen(reason), glibc=unseen(reason))
        name = (kernel.value or "").lower()
        jetson: Observed[str] = unseen(NOT_SAID)
        if "tegra" in name:
            jetson = seen("of unknown release", kernel.origin)
        return Machine(
            os=self.one("os"),
            kernel=kernel,
            architecture=_first(self.one("architecture"), self.from_platform(_ARCHITECTURE)),
            glibc=self.glibc(),
            wsl=seen(True, kernel.origin) if "microsoft" in name else unseen(NOT_SAID),
            jetson=jetson,
        )

    def system(self) -> str:
        """The operating system: Linux, unless the report says otherwise."""
        said = self.one("system").value or ""
        for statement in self.platform:
            if statement.value.startswith(("Windows", "macOS", "Darwin")):
                said = statement.value
        if said.startswith(("win", "Win", "cygwin")):
            return "Windows"
        return "macOS" if said.startswith(("darwin", "Darwin", "macOS")) else "linux"

    def glibc(self) -> Observed[str]:
        """glibc; Python before 3.8 (3.9 in its platform) tells what itself was linked with."""
        python = _series(self.one("python").value)
        stated = self.one("glibc")
        if not stated.known and python >= (3, 8):
            stated = self.one("glibc.libc")
        if not stated.known and python >= (3, 9):
            stated = self.from_platform(_GLIBC)
        return stated

    # --- the accelerator ---------------------------------------------------------------------

    def accelerator(self) -> Accelerator:
        """GPUs, driver, and what it serves."""
        driver = _first(self.one("driver"), self.one("driver library"))
        gpus = self.gpus()
        return Accelerator(
            vendor=self.vendor(gpus, driver),
            gpus=gpus,
            driver=driver,
            kernel_module=self.one("kernel module"),
            serves=self.one("serves"),
            served=self.served(),
            refused={kind: fact for kind in REFUSALS if (fact := self.refusal(kind)).known},
        )

    def refusal(self, kind: str) -> Observed[str]:
        """What a tool said where the driver did not serve it; of several that say so, the first."""
        said = self.notes.statements.get(f"refused {kind}")
        return seen(said[0].value, said[0].where) if said else unseen(NOT_SAID)

    def vendor(self, gpus: Observed[Tuple[Gpu, ...]], driver: Observed[str]) -> Observed[str]:
        """Whose accelerator it is."""
        stated = self.one("vendor")
        hip = self.one("torch.hip")
        if stated.known:
            return stated
        if hip.known:
            return seen("amd", hip.origin)
        if self.one("torch.xpu").known and not gpus.value:
            return seen("intel", self.one("torch.xpu").origin)
        if gpus.value:
            amd = all(is_amd(gpu.name) for gpu in gpus.value)
            return seen("amd" if amd else "nvidia", gpus.origin)
        refusals = [self.refusal(kind) for kind in REFUSALS]
        for fact in (
            driver,
            self.one("kernel module"),
            self.one("serves"),
            self.served(),
            *refusals,
        ):
            if fact.known:
                return seen("nvidia", fact.origin)
        return unseen(NOT_SAID)

    def served(self) -> Observed[str]:
        """The CUDA of a build to which it is available.

        That one is served, whatever the driver's number: a container may have brought a libcuda of
        its own (cuda-compat).
        """
        available, cuda = self.one("available"), self.one("torch.cuda")
        number = version(cuda.value or "")
        if available.value != "yes" or not number:
            return unseen(NOT_SAID)
        return seen(number, f"{available.origin}: it is available to a build for {number}")

    def gpus(self) -> Observed[Tuple[Gpu, ...]]:
        """The devices, from the best source that names them all."""
        told = [(source, self.notes.cards.get(source)) for source in _SOURCES]
        whole = [(s, found) for s, found in told if found and not _cut(found)]
        # names that nvidia-smi's table had no room for, where nobody else names the devices
        for _, found in whole or [(s, found) for s, found in told if found]:
            gpus = []
            for index in sorted(found):
                card, contradiction = _same(found[index])
                if card is None:
                    return unseen(contradiction)
                gpus.append(Gpu(card.name, card.capability, self._memory(index)))
            where = min(found[min(found)], key=lambda card: card.number).where
            return seen(tuple(gpus), where)
        return unseen(NOT_SAID)

    def _memory(self, index: int) -> Optional[int]:
        sources = ("table", "queried", "yolo")
        cards = [c for s in sources for c in self.notes.cards.get(s, {}).get(index, [])]
        sizes = {card.memory_mib for card in cards if card.memory_mib}
        return sizes.pop() if len(sizes) == 1 else None

    # --- tools -------------------------------------------------------------------------------

    def tools(self) -> Tools:
        """What a source build would use, as far as it is told."""
        toolkit, gcc = self.one("toolkit"), self.one("gcc")
        home = self.one("cuda_home")
        path = home.value if home.value and home.value.startswith("/") else ""
        tools = Tools(cudnn=self.one("cudnn"))
        if toolkit.value is not None:
            found = Toolkit(path, toolkit.value, toolkit.origin)
            tools = Tools((found,), seen(found, toolkit.origin), cudnn=tools.cudnn)
        else:
            tools = Tools(toolkit=unseen(toolkit.unknown), cudnn=tools.cudnn)
        compiler: Observed[Compiler] = unseen(gcc.unknown)
        if gcc.value is not None:
            compiler = seen(Compiler("", "gcc", gcc.value), gcc.origin)
        return Tools(tools.toolkits, tools.toolkit, compiler, cudnn=tools.cudnn)

    # --- the environment ---------------------------------------------------------------------

    def target(self) -> Observed[Target]:
        """The Python environment, if anything of it is told."""
        python = self.one("python")
        torch = self.torch()
        distributions = tuple(self.distributions(torch))
        if not python.known and not distributions:
            return unseen(NOT_SAID if not python.unknown else python.unknown)
        codes = {d.name: self.code(d.name) for d in distributions}
        return seen(
            Target(
                python="",
                version=python.value or "",
                distributions=distributions,
                conda=tuple(self.conda()),
                torch=torch,
                gpu_code={name: code for name, code in codes.items() if code},
                problems=(f"{NOT_SAID} whether this is all of the environment", *self.problems),
            ),
            AS_REPORTED,
        )

    def torch(self) -> Optional[TorchFiles]:
        """What torch says of itself; None where the report names no torch."""
        stated = self.one("torch")
        listed = self.installed.get("torch")
        if not stated.known and listed is not None:
            stated = seen(listed.version, listed.where)
        if not stated.known:
            return None
        hip, cuda, xpu = self.one("torch.hip"), self.one("torch.cuda"), self.one("torch.xpu")
        if not cuda.known and listed is not None:
            cuda = _conda_cuda(listed)
        local = local_part(stated.value or "")
        marked = re.fullmatch(r"cu(\d{1,2})(\d)", local)
        if not cuda.known and (local == "cpu" or marked):
            cuda = seen(f"{marked[1]}.{marked[2]}" if marked else "cpu", stated.origin)
        if hip.known:
            cuda = unseen("torch is a build for ROCm")
        if xpu.known or local == "xpu":
            cuda = unseen("torch is a build for Intel's GPUs")
        abi = self.one("torch.abi")
        return TorchFiles(
            path="",
            version=stated,
            cuda=cuda,
            hip=hip,
            abi=seen(int(abi.value), abi.origin) if abi.value else unseen(abi.unknown),
            vendor={"xpu": xpu.value or ""} if xpu.known or local == "xpu" else {},
        )

    def code(self, name: str) -> Optional[GpuCode]:
        """The GPU code in a package. Of PTX the listing of an extension says nothing."""
        made = self.one(f"cuda {name}")
        listed = self.installed.get(name)
        if name == "torchvision" and listed is not None and _is_for_cpu(listed):
            return GpuCode((), (), "cpu", listed.where)
        if made.value == "cpu":
            return GpuCode((), (), "cpu", made.origin)
        sass = self.notes.statements.get(f"sass {name}", [])
        if not sass or not _one_listing(sass):
            cuda = version(made.value or "")
            return GpuCode(None, None, cuda, made.origin) if cuda else None
        numbers = tuple(sorted({s.value for s in sass}, key=_numeric))
        ptx: Optional[Tuple[str, ...]] = None
        if self.notes.statements.get(f"whole {name}"):
            stated = self.notes.statements.get(f"ptx {name}", [])
            if name == "torch" and self.notes.statements.get("no image"):
                stated = []  # whatever PTX it lists: the driver made nothing of it for this GPU
            ptx = tuple(sorted({s.value for s in stated}, key=_numeric))
        elif name != "torch" and len(numbers) == 1 and self._builds_without_ptx():
            ptx = ()
        return GpuCode(numbers, ptx, version(made.value or ""), sass[0].where)

    def _builds_without_ptx(self) -> bool:
        """Whether this torch compiles extensions for the GPU that it sees, adding no PTX.

        Since 1.8 it adds some (pytorch/pytorch pull request 48891).
        """
        torch = _series(self.one("torch").value)
        return (0, 0) < torch < (1, 8)

    def _packages(self) -> Dict[str, Package]:
        """One package for each distribution; where lines contradict each other, none."""
        by_name: Dict[str, List[Package]] = {}
        self._leave_out_others()
        for name, found in self.notes.packages.items():
            canonical = re.sub(r"[-_.]+", "-", name).lower()
            for package in found:
                if package.installer == "conda":
                    canonical = _CONDA_NAMES.get(canonical, canonical)
                by_name.setdefault(canonical, []).append(package)
        chosen: Dict[str, Package] = {}
        for name, found in sorted(by_name.items()):
            best, contradiction = _chosen(found)
            if best is None:
                self.problems.append(f"{name}: {contradiction}")
            else:
                chosen[name] = best
        python = chosen.pop("python", None)
        if python is not None and python.installer == "conda":
            statement = Statement(python.version, python.where, python.number, python.rank)
            self.notes.statements.setdefault("python", []).append(statement)
        return chosen

    def _leave_out_others(self) -> None:
        """Drop what collect_env's pip or conda listed where that is another environment's.

        They are those on PATH, and conda lists its base: their torch tells.
        """
        running = self.notes.statements.get("torch", [])
        torch = decide(running)[0] if running else None
        if torch is None or torch.rank < RUNNING:
            return
        listed: Dict[str, Package] = {}
        for name in ("torch", "pytorch"):
            for package in self.notes.packages.get(name, ()):
                section = package.where.partition(",")[0]
                if section.startswith("collect_env ["):
                    listed[section] = package
        others = [
            section
            for section, package in listed.items()
            if _release(package.version) != _release(torch.value)
        ]
        for section in others:
            version = listed[section].version
            self.problems.append(
                f"{section} is of another environment: its torch is {version}, not {torch.value}"
            )
        for name, found in self.notes.packages.items():
            kept = [p for p in found if p.where.partition(",")[0] not in others]
            self.notes.packages[name] = kept

    def distributions(self, torch: Optional[TorchFiles]) -> List[Distribution]:
        """The Python distributions, sorted by name."""
        packages = dict(self.installed)
        if torch is not None and torch.version.value:
            packages["torch"] = self._of_torch(torch.version)
        packages.update(self._mmcv(packages))
        for name in ("mmcv-full", "mmcv-lite"):
            if name in packages and "mmcv" not in packages:  # one module of several projects
                said = self.notes.statements.pop("import mmcv", [])
                self.notes.statements.setdefault(f"import {name}", []).extend(said)
        for topic in self.notes.statements:
            start, _, name = topic.partition(" ")
            if start == "import" and name not in packages:
                packages[name] = Package("", self.one(topic).origin, 0, RUNNING)
        found = []
        for name in sorted(packages):
            package = packages[name]
            if package.installer == "conda" and _CONDA_ALONE.fullmatch(name):
                continue
            found.append(
                Distribution(
                    name=name,
                    version=package.version,
                    path=package.where,
                    search_entry="",
                    installer=package.installer or self._installer(name),
                    direct_url=package.url,
                    import_error=self._import_error(name),
                    limits={} if f"imported {name}" in self.notes.statements else None,
                )
            )
        return found

    def _of_torch(self, stated: Observed[str]) -> Package:
        listed = self.installed.get("torch")
        value = stated.value or ""
        if listed is not None and agree(listed.version, value):
            return listed._replace(version=max(listed.version, value, key=len))
        return Package(value, stated.origin, 0, RUNNING)

    def _installer(self, name: str) -> str:
        """What conda lists, it lists whole: a project that it passed over is pip's."""
        listed = self.notes.conda_listed
        return "pip" if listed and name not in listed and name in ("torch", "torchvision") else ""

    def _import_error(self, name: str) -> str:
        said = self.notes.statements.get(f"import {name}")
        return said[0].value if said else ""  # of several tracebacks the first

    def _mmcv(self, packages: Dict[str, Package]) -> Dict[str, Package]:
        """The mmcv that is imported, under the name of its flavour.

        Before 2.0 the one with ops is called mmcv-full, from 2.0 on the one without mmcv-lite.
        """
        stated = self.one("mmcv")
        number = version(stated.value or "")
        listed = [name for name in ("mmcv", "mmcv-full", "mmcv-lite") if name in packages]
        compiler = (self.one("mmcv compiler").value or "").lower()
        full, lite = ("mmcv", "mmcv-lite") if _major(number) >= 2 else ("mmcv-full", "mmcv")
        name = listed[0] if listed else lite if compiler == "n/a" else full
        self.notes.statements[f"cuda {name}"] = [
            statement._replace(
                value="cpu" if statement.value == "not available" else statement.value
            )
            for statement in self.notes.statements.get("mmcv cuda compiler", [])
            if statement.value == "not available" or version(statement.value)
        ]
        if not number or listed:
            return {}
        return {name: Package(number, stated.origin, 0, RUNNING)}

    def conda(self) -> List[CondaPackage]:
        """The packages of conda, sorted by name."""
        rows = {
            (name.lower(), p.version, p.build, p.channel)
            for name, found in self.notes.packages.items()
            for p in found
            if p.installer == "conda"
        }
        return [CondaPackage(*row) for row in sorted(rows)]

    def facts(self) -> Facts:
        """All of it."""
        return Facts(
            machine=self.machine(),
            accelerator=self.accelerator(),
            tools=self.tools(),
            target=self.target(),
        )


def _cut(found: Dict[int, List[Card]]) -> bool:
    return any(truncated(card.name) for cards in found.values() for card in cards)


def _first(*facts: Observed[str]) -> Observed[str]:
    return next((fact for fact in facts if fact.known), facts[0])


def _series(python: Optional[str]) -> Tuple[int, int]:
    parts = re.findall(r"\d{1,9}", python or "")[:2]
    return (int(parts[0]), int(parts[1])) if len(parts) == 2 else (0, 0)


def _release(number: str) -> str:
    return number.partition("+")[0]


def _major(number: str) -> int:
    digits = re.match(r"\d{1,18}", number)
    return int(digits[0]) if digits else 0


def _numeric(number: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in number.split("."))


def _one_listing(statements: List[Statement]) -> bool:
    """Whether all lines that list the code of a package list the same."""
    by_line: Dict[int, List[str]] = {}
    for statement in statements:
        by_line.setdefault(statement.number, []).append(statement.value)
    return len({tuple(sorted(set(values))) for values in by_line.values()}) == 1


def _same(cards: List[Card]) -> Tuple[Optional[Card], str]:
    """One card of several lines about it, or why they are not about one."""
    best = min(cards, key=lambda c: (c.capability is None, -len(c.name), c.name, c.number))
    for card in cards:
        ours, theirs = set(_words(best.name)), set(_words(card.name))
        if not (ours <= theirs or theirs <= ours):
            return None, (
                f"the report says {best.name} (line {best.number}) "
                f"and {card.name} (line {card.number})"
            )
    return best, ""


def _words(name: str) -> List[str]:
    return re.findall(r"[a-z0-9]+", name.lower().replace("nvidia", ""))


def _chosen(found: List[Package]) -> Tuple[Optional[Package], str]:
    """The package that the most trusted lines agree on, with what others add to it."""
    statements = [Statement(p.version, p.where, p.number, p.rank) for p in found]
    statement, contradiction = decide(statements)
    if statement is None:
        return None, contradiction
    alike = [p for p in found if agree(p.version, statement.value)]
    best = next(p for p in alike if p.version == statement.value and p.rank == statement.rank)
    longest = max((p.version for p in alike), key=len)
    for other in sorted(alike, key=lambda p: (-len(p.build), p.build, -len(p.installer), p.number)):
        best = best._replace(
            version=longest if statement.rank > WRITTEN else best.version,
            build=best.build or other.build,
            installer=best.installer or other.installer,
            url=best.url or other.url,
        )
    return best, ""


def _is_for_cpu(package: Package) -> bool:
    """Whether conda's build says so by its name: py36_cpu, cpu_py39ha229d99_0."""
    return package.installer == "conda" and bool(re.search(r"(?:^|_)cpu(?:_|$)", package.build))


def _conda_cuda(package: Package) -> Observed[str]:
    """The CUDA of torch by the name of conda's build: py3.8_cuda11.1_cudnn8.0.5_0, py3.6_cpu_0."""
    match = _CONDA_CUDA.search(package.build)
    if match:
        return seen(f"{match[1]}.{match[2]}", package.where)
    if _is_for_cpu(package):
        return seen("cpu", package.where)
    return unseen(NOT_SAID)
