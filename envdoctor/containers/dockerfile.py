"""A stack as a Dockerfile and the files beside it. The same question gives the same bytes.

Blocks come in the order of how seldom they change; each says why it is there. Everything that comes
from elsewhere was checked where it was read (names, versions, URLs, paths), and is quoted here.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from envdoctor import __version__
from envdoctor.containers import plan as planned
from envdoctor.containers.patches import patches_json
from envdoctor.containers.plan import System
from envdoctor.containers.reasons import Reasons
from envdoctor.knowledge.load import Knowledge
from envdoctor.knowledge.location import data_folder
from envdoctor.knowledge.patches import patches
from envdoctor.knowledge.profiles import Profile
from envdoctor.model.resolution import Resolution
from envdoctor.resolver.lock.heading import encoded, heading
from envdoctor.resolver.lock.requirements import body_of, flags
from envdoctor.resolver.lock.steps import Installation, Package, Step, installation
from envdoctor.resolver.lock.written import told

#: From the oldest that knows the tags manylinux_2_X and resolves before it installs, to the last
#: that installs a tree of sources as editable whose setuptools cannot.
_PIP = "pip>=20.3,<25.3"
#: What brings a Python that the distribution lacks.
_UV = "uv>=0.5,<1"
_APPLIER = "apply_patches.py"
_TEMPLATE = "base/Dockerfile.jinja"
_ENVIRONMENT = "/opt/env"
_MOST_NAMES = 4
_SOURCES = "/tmp/sources"  # noqa: S108  # in an image
_UNPACK = (
    "import glob, shutil, sys;"
    " [shutil.unpack_archive(one, sys.argv[2]) for one in glob.glob(sys.argv[1] + '/*')]"
)
#: As many jobs as memory allows, one per processor at most; MAX_JOBS says another number.
_JOBS = (
    'export MAX_JOBS="${{MAX_JOBS:-$(awk -v all="$(nproc)"'
    " '/^MemAvailable:/ {{ n = int($2 / 1024 / {memory}); n = n > all ? all : n;"
    " print n < 1 ? 1 : n }}' /proc/meminfo)}}\""
)


class Options(NamedTuple):
    """What a user may choose."""

    base_image: str = ""  # in place of the stack's
    source: bool = False  # the code lies in the folder, under code/
    language: str = "en"


DEFAULT = Options()


class Emission(NamedTuple):
    """The files of a folder that an image is built in, by their names there."""

    files: Dict[str, str]
    needs_code: bool  # code/ has to be put there
    unlocked: bool  # the installer chooses a part of the stack when it is built

    @property
    def dockerfile(self) -> str:
        """The text of the Dockerfile."""
        return self.files["Dockerfile"]


def emitted(
    resolution: Resolution,
    profile: Optional[Profile],
    knowledge: Knowledge,
    options: Options = DEFAULT,
) -> Emission:
    """The Dockerfile of a stack and what it copies, but for code/ and doctor/.

    Raises PlanError and LockError for what no image can be made of.
    """
    import jinja2  # few answers need it

    writer = _Writer(resolution, profile, knowledge, options)
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701  # a Dockerfile: `q` and `label` quote
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["q"] = shlex.quote
    environment.filters["label"] = json.dumps
    text = (data_folder("images") / _TEMPLATE).read_text(encoding="utf-8")
    dockerfile = environment.from_string(text).render(writer.fields())
    lines = [line.rstrip() for line in dockerfile.split("\n")]
    files = {"Dockerfile": "\n".join(_without_gaps(lines)) + "\n", **writer.files}
    return Emission(dict(sorted(files.items())), options.source, not writer.plan.complete)


def _without_gaps(lines: Sequence[str]) -> List[str]:
    """Lines with at most one empty one between them."""
    kept: List[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return kept


class _Step(NamedTuple):
    """A step as the template tells it."""

    title: str
    why: Sequence[str]
    files: Sequence[str]  # that it reads
    memory: int
    before: Sequence[str]
    command: str


class _Writer:
    def __init__(
        self,
        resolution: Resolution,
        profile: Optional[Profile],
        knowledge: Knowledge,
        options: Options,
    ) -> None:
        self.plan: Installation = installation(resolution)
        self.files: Dict[str, str] = {}
        self._resolution = resolution
        self._profile = profile
        self._knowledge = knowledge
        self._options = options
        self._reasons = Reasons(resolution, profile)
        self._system: System = planned.system_of(resolution, knowledge, options.base_image)
        self._python = self.plan.python or self._system.pythons[0]
        self._name = planned.name_of(profile)
        self._known = patches()

    def fields(self) -> Dict[str, object]:
        """What the template is filled with; fills `files` as well."""
        planned.expect_inside(self.plan)
        bought = [name for package in self.plan.packages for name in package.patches]
        planned.expect_patches(bought, self._known)
        trees = [step for step in self.plan.steps if _is_tree(step)]
        others = [step for step in self.plan.steps if not _is_tree(step)]
        name, commit = planned.repository(self._profile)
        has_code = self._profile is not None and (bool(name) or self._options.source)
        planned.expect_code(self.plan, has_code)
        from_git = has_code and not self._options.source
        if self.plan.constraints:
            self.files["constraints.txt"] = encoded(self.plan.constraints)
        steps = [self._step(number, step) for number, step in enumerate(others, 1)]
        built = [self._step(len(others) + number, step) for number, step in enumerate(trees, 1)]
        code_patches = self._of_code()
        patch_code = self._applied(self._name, code_patches, ".") if code_patches else ""
        libraries = planned.libraries(self._resolution, self._knowledge)
        is_native = self._python in self._system.pythons
        return {
            "heading": heading(self._resolution, self.plan),
            "base": self._system.base,
            "apt_key": self._system.stale_lists,
            "packages": self._packages(libraries, is_native),
            "code_from_git": from_git,
            "has_code": has_code,
            "repository": f"https://github.com/{name}",
            "commit": commit,
            "workspace": f"/workspace/{self._name}",
            "doctor_python": f"python{self._system.doctor}",
            "python": self._python,
            "uv": "" if is_native else _UV,
            "pip": _PIP,
            "constraints": self.plan.constraints,
            "steps": steps,
            "trees": built,
            "patch_code": patch_code,
            "patch_files": f"{_APPLIER} {_patches_of(self._name)}",
            "why": self._why(libraries, is_native, name, commit),
            "labels": self._labels(name, commit),
            "variables": [],
        }

    def _step(self, number: int, step: Step) -> _Step:
        """One call of the installer, with what has to be done before it."""
        files: List[str] = []
        before: List[str] = []
        words = ["python -m pip install --disable-pip-version-check", *flags(step)]
        if self.plan.constraints and not step.no_deps:
            words.append("--constraint /tmp/stack/constraints.txt")
        patched = [p for p in step.packages if self._patches(p) and not p.tree]
        if patched:
            for package in patched:
                before += self._unpacked(package)
                words.append(f"{_SOURCES}/{package.name}/*/")
        elif _is_tree(step):
            for package in step.packages:
                if self._patches(package):
                    before.append(self._patched(package, shlex.quote(package.requirement)))
                words.append(_of_tree(package))
        else:
            files.append(f"requirements-{number}.txt")
            self.files[files[0]] = encoded(body_of(step))
            words.append(f"--requirement {files[0]}")
        variables = [f"{name}={shlex.quote(value)}" for name, value in step.variables]
        if step.job_memory:
            before.append(_JOBS.format(memory=step.job_memory))
        command = " \\\n        ".join(words)
        if variables:
            command = f"{' '.join(variables)} \\\n        {command}"
        names = [_patches_of(p.name) for p in step.packages if self._patches(p)]
        files += [_APPLIER, *names] if names else []
        why = self._of_step(step)
        return _Step(self._title(step), why, files, step.job_memory, before, command)

    def _unpacked(self, package: Package) -> List[str]:
        """Commands that leave the patched sources of a package below /tmp/sources."""
        folder = f"{_SOURCES}/{package.name}"
        return [
            f"python -m pip download --no-deps --no-build-isolation --no-binary {package.name}"
            f" --dest {folder}.archive {shlex.quote(package.requirement)}",
            f"python -c {shlex.quote(_UNPACK)} {folder}.archive {folder}",
            self._patched(package, f"{folder}/*/"),
        ]

    def _patches(self, package: Package) -> List[str]:
        """What its sources need: what the resolver bought, and what its tree always does."""
        trees = self._profile.trees if self._profile is not None else []
        always = [name for tree in trees if tree.package == package.name for name in tree.patches]
        bought = [name for name in package.patches if not self._is_of_code(name)]
        return list(dict.fromkeys([*bought, *(always if package.tree else [])]))

    def _is_of_code(self, name: str) -> bool:
        return self._known[name].of == self._name

    def _patched(self, package: Package, folder: str) -> str:
        """The command that applies the patches of a package."""
        return self._applied(package.name, self._patches(package), folder)

    def _applied(self, of: str, names: Sequence[str], folder: str) -> str:
        applier = Path(__file__).with_name(_APPLIER)
        self.files[_APPLIER] = applier.read_text(encoding="utf-8")
        self.files[_patches_of(of)] = patches_json(names, self._known)
        return f"python /tmp/stack/{_APPLIER} /tmp/stack/{_patches_of(of)} {folder}"

    def _of_code(self) -> List[str]:
        """The patches of the training code around what is compiled."""
        bought = [name for package in self.plan.packages for name in package.patches]
        return [name for name in dict.fromkeys(bought) if self._is_of_code(name)]

    def _title(self, step: Step) -> str:
        packages = step.packages or step.present
        names = [package.label for package in packages[:_MOST_NAMES]]
        if len(packages) > _MOST_NAMES:
            names.append(f"{len(packages) - _MOST_NAMES} more")
        return ", ".join(names)

    def _of_step(self, step: Step) -> List[str]:
        """Why the packages of a step are there in their versions."""
        why = [self._reasons.of(package.name) for package in step.packages]
        why += [self._why_patched(name) for p in step.packages for name in self._patches(p)]
        return list(dict.fromkeys(line for line in why if line))

    def _why_patched(self, name: str) -> str:
        patch = self._known[name]
        return told(f"patch {name}: {patch.why['en']}")

    def _packages(self, libraries: Dict[str, Tuple[str, ...]], is_native: bool) -> List[str]:
        """Packages of the system, sorted."""
        doctor = self._system.doctor
        wanted = {"ca-certificates", "tini", f"python{doctor}", f"python{doctor}-venv"}
        if is_native:
            wanted |= {f"python{self._python}{part}" for part in ("", "-venv", "-dev")}
        wanted.update(planned.compilers(self.plan, self._system), libraries)
        return sorted(wanted)

    def _why(
        self, libraries: Dict[str, Tuple[str, ...]], is_native: bool, name: str, commit: str
    ) -> Dict[str, List[str]]:
        """Reasons by the block that they are told at."""
        python = self._reasons.of("python")
        given = [] if is_native else [f"{self._system.name} has Python {self._system.pythons[0]}"]
        return {
            "base": [self._reasons.of("image")],
            "apt_key": [
                "table/apt_key: NVIDIA exchanged the key, and images of before hold the old one"
            ],
            "packages": [f"{one}: loaded by {', '.join(by)}" for one, by in libraries.items()]
            + [
                f"{one}: for what is compiled" for one in planned.compilers(self.plan, self._system)
            ],
            "code": [f"{name} at the commit that the profile was read at, {commit[:8]}"]
            if name
            else [],
            "doctor": ["it never lives in the environment that it examines"],
            "python": [*([python] if python else []), *given],
            "patches": [self._why_patched(one) for one in self._of_code()],
            "user": ["training as root writes files that nobody else can delete"],
            "index": ["what libraries hold is read once, so that the gate is quick"],
        }

    def _labels(self, name: str, commit: str) -> List[Tuple[str, str]]:
        """What the image says of itself."""
        found = [("org.opencontainers.image.title", self._name)]
        if name and not self._options.source:
            found.append(("org.opencontainers.image.source", f"https://github.com/{name}"))
            found.append(("org.opencontainers.image.revision", commit))
        found.append(("envdoctor.version", __version__))
        found.append(("envdoctor.matrices", self._resolution.matrices_date))
        if self._resolution.architectures:
            found.append(("envdoctor.architectures", " ".join(self._resolution.architectures)))
        return found


def _patches_of(name: str) -> str:
    return f"patches-{name}.json"


def _is_tree(step: Step) -> bool:
    return any(package.tree for package in step.packages)


def _of_tree(package: Package) -> str:
    option = "--editable " if package.editable else ""
    return f"{option}{shlex.quote(package.requirement)}"
