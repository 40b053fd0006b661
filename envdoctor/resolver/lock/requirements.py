"""Stacks as requirements files, which pip and uv install.

One file if one can say it. `--index-url` holds for a whole file, so a project's own index is named
by its page of that one project (`INDEX/NAME/`, PEP 503) as `--find-links`: nothing else is on it,
and what is taken from it is one exact version with a local part that PyPI does not serve. Where the
address of the file is known, the file itself is named, and no page at all.

Several files, to be installed in their order, are written where that cannot be said in one: what is
built needs what was installed before (no requirements file can say `--no-build-isolation`), and a
version that both the project's index and PyPI may serve needs a file with that index alone.

pip verifies hashes of all distributions of a file or of none. So a file has them where they are
known for all that it names and nothing is left to the installer; otherwise it says which are
missing. The hash in a direct reference is verified in any case.
"""

from __future__ import annotations

import shlex
from typing import List, Tuple

from envdoctor.model.language import say
from envdoctor.model.resolution import Resolution
from envdoctor.resolver.lock.heading import commented, encoded, heading, told_list
from envdoctor.resolver.lock.steps import BUILD, TOOLS, Installation, Package, Step, installation
from envdoctor.resolver.lock.written import File, LockError

_MOST_NAMED = 6


def requirements(resolution: Resolution) -> Tuple[File, ...]:
    """The files, in the order in which they are installed; a last one may hold constraints.

    Raises LockError where there is no stack, and for what a requirements file cannot say.
    """
    plan = installation(resolution)
    parts = joined(plan)
    constraints = _constraints(resolution, plan, parts)
    names = [f"requirements-{n}.txt" for n in range(1, len(parts) + 1)]
    if len(parts) == 1:
        names = ["requirements.txt"]
    files = []
    for number, (name, step) in enumerate(zip(names, parts), 1):
        _refuse_patched(step)
        lines = heading(resolution, plan)
        if len(parts) > 1:
            lines.append(
                say(
                    resolution.language,
                    "Part {number} of {size}: install the parts in their order",
                    number=number,
                    size=len(parts),
                )
            )
        lines += _how(resolution, plan, name, step)
        # Without dependencies nothing is taken that a constraint could speak of.
        body = body_of(step, "constraints.txt" if constraints and not step.no_deps else "")
        files.append(File(name, encoded([*commented(lines), "", *body])))
    return (*files, *constraints)


def joined(plan: Installation) -> Tuple[Step, ...]:
    """The steps as files: what one file can say stands in one."""
    files: List[Step] = []
    for step in plan.steps:
        step = in_file(step)  # noqa: PLW2901  # the same step, as files say it
        last = files[-1] if files else None
        alone = not _may_join(step, plan.complete)
        if last is None or alone or not _may_join(last, plan.complete):
            files.append(step)
            continue
        files[-1] = last._replace(
            packages=(*last.packages, *step.packages),
            pages=tuple(dict.fromkeys((*last.pages, *step.pages))),
            only_binary=tuple(sorted({*last.only_binary, *step.only_binary})),
            no_binary=tuple(sorted({*last.no_binary, *step.no_binary})),
            no_cache=last.no_cache or step.no_cache,
            no_deps=last.no_deps and step.no_deps,
        )
    return tuple(_without_twice(step, files[:n]) for n, step in enumerate(files))


def in_file(step: Step) -> Step:
    """A step, whose index is named by pages where that is safe."""
    if step.index_url and all(package.url or "+" in package.version for package in step.packages):
        base = step.index_url.rstrip("/")
        pages = (f"{base}/{package.name}/" for package in step.packages if not package.url)
        return step._replace(index_url="", pages=(*step.pages, *pages))
    return step


def body_of(step: Step, constraints: str = "") -> List[str]:
    """The lines of a file that pip reads, without comments for people."""
    lines = [f"--constraint {constraints}"] if constraints else []
    lines += [f"--index-url {step.index_url}"] if step.index_url else []
    lines += [f"--find-links {page}" for page in step.pages]
    lines += [f"--only-binary {name}" for name in step.only_binary]
    lines += [f"--no-binary {name}" for name in step.no_binary]
    lines += [""] if lines else []
    with_hashes = hashed(step)
    for package in step.packages:
        # What "==2.0.1" says, 2.0.1+cpu of a page fits, too, and is newer. "===" compares the text.
        strictly = bool(step.pages) and package.name not in step.only_binary
        lines += _lines(package, with_hashes, "===" if strictly else "==")
    lines += [f"{package.name}=={package.version}" for package in step.present if package.version]
    return lines


def hashed(step: Step) -> bool:
    """Whether a step's hashes are known for everything that it names and installs."""
    return step.no_deps and not step.present and all(p.hashes for p in step.packages)


def unhashed(step: Step) -> List[str]:
    """The packages of which no hash is known."""
    return [package.label for package in step.packages if package.version and not package.hashes]


def _lines(package: Package, with_hashes: bool, pinned: str) -> List[str]:
    if package.tree:
        path = package.requirement
        # pip splits the arguments of an option as a shell does, and takes a path alone as it is.
        return [f"--editable {shlex.quote(path)}" if package.editable else path]
    requirement = package.requirement
    if not package.url and "+" not in package.version:
        requirement = requirement.replace("==", pinned, 1) if package.version else requirement
    if package.url and package.hashes:
        return [package.verified]
    if not with_hashes:
        return [requirement]
    hashes = [f"    --hash={one}" for one in package.hashes]
    return [f"{requirement} \\", *(f"{one} \\" for one in hashes[:-1]), hashes[-1]]


def _may_join(step: Step, complete: bool) -> bool:
    """Whether it can stand in a file with others: no index of its own, nothing that is built.

    Where the installer need not look for dependencies, tools are apart: theirs are not listed.
    """
    if step.index_url or step.kind == BUILD or (step.kind == TOOLS and complete):
        return False
    return not any(package.tree for package in step.packages)


def _without_twice(step: Step, earlier: List[Step]) -> Step:
    """A file in which nothing stands as installed already that the same file installs."""
    names = {package.name for package in step.packages}
    before = {package.name for known in earlier for package in known.packages}
    kept = tuple(p for p in step.present if p.name not in names and p.name in before)
    return step._replace(present=kept)


def _refuse_patched(step: Step) -> None:
    for package in step.packages:
        if package.patches and not package.tree:
            raise LockError(
                f"{package.label} is built from patched sources, which no requirements file can"
                " say: --lock script writes a script that patches and builds them"
            )


def _how(resolution: Resolution, plan: Installation, name: str, step: Step) -> List[str]:
    """How a file is installed, and what is to be known of it."""
    language = resolution.language
    lines = []
    trees = [package for package in step.packages if package.tree]
    if any(not package.tree.startswith(("/", ".")) for package in trees):
        lines.append(say(language, "In the folder of the training code:"))
    lines.append(say(language, "Install: {command}", command=command_of(step, name)))
    if step.toolkit:
        lines.append(say(language, "nvcc of CUDA {version} compiles", version=step.toolkit))
    if step.job_memory:
        memory = say(
            language,
            "Each job of the compiler takes {size} MiB of memory: MAX_JOBS limits them",
            size=step.job_memory,
        )
        lines.append(memory)
    patches = [patch for package in trees for patch in package.patches]
    if patches:
        patched = told_list(language, patches)
        lines.append(
            say(language, "Apply these patches to the sources first: {names}", names=patched)
        )
    if step.index_url:
        lines.append(say(language, "Nothing but these packages is to come from that index"))
    missing = unhashed(step)
    if hashed(step):
        lines.append(say(language, "The hashes are of the files for this machine and this Python"))
    elif missing and plan.complete and not trees:
        named = missing if len(missing) <= _MOST_NAMED else missing[:_MOST_NAMED]
        names = told_list(language, named)
        if len(missing) > len(named):
            more = say(language, "{number} more", number=len(missing) - len(named))
            names = say(language, ", ").join((names, more))
        lines.append(
            say(
                language,
                "No hashes: pip takes all or none, and none is known of {names}",
                names=names,
            )
        )
    if not plan.complete and step.kind != BUILD:
        lines.append(
            say(
                language,
                "Versions of the stack alone are locked: what else it needs, the installer chooses",
            )
        )
        lines += [
            say(
                language,
                "pip may refuse it, since the authors contradict each other: {sides}",
                sides=told_list(language, one.sides),
            )
            for one in resolution.overrides
        ]
    return lines


def command_of(step: Step, name: str) -> str:
    """The command that installs a file."""
    words = [f"{variable}={shlex.quote(value)}" for variable, value in step.variables]
    words += ["python", "-m", "pip", "install", *flags(step), "-r", name]
    return " ".join(words)


def flags(step: Step) -> List[str]:
    """Options that a command has to say, since no requirements file can."""
    found = ["--no-deps"] if step.no_deps else []
    found += ["--no-cache-dir"] if step.no_cache else []
    return found + ([] if step.isolated else ["--no-build-isolation"])


def _constraints(
    resolution: Resolution, plan: Installation, parts: Tuple[Step, ...]
) -> Tuple[File, ...]:
    """A file with what the parts do not say themselves, if there is anything."""
    said = {package.requirement for package in parts[0].packages} if len(parts) == 1 else set()
    if said.issuperset(plan.constraints):
        return ()
    lines = heading(resolution, plan)
    lines.append(say(resolution.language, "What no requirements file of this stack may change"))
    return (File("constraints.txt", encoded([*commented(lines), "", *plan.constraints])),)


__all__ = [
    "File",
    "LockError",
    "body_of",
    "command_of",
    "flags",
    "hashed",
    "in_file",
    "requirements",
]
