"""Stacks as a shell script that makes an environment and installs them in it, step by step.

It is written for POSIX shells and asks each index for its own packages alone. What comes from
anywhere else than envdoctor is checked (`written.py`), and quoted all the same.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence, Tuple

from envdoctor.model.language import say
from envdoctor.model.resolution import HOST, Resolution
from envdoctor.resolver.lock.heading import commented, heading, told_list
from envdoctor.resolver.lock.requirements import body_of, flags, hashed
from envdoctor.resolver.lock.steps import Installation, Package, Step, installation
from envdoctor.resolver.lock.written import LockError, told

_TEMPLATE = Path(__file__).with_name("script.sh.jinja")
#: The oldest that knows the tags manylinux_2_X, and resolves before it installs.
_PIP = "pip>=20.3"
# No line of a requirements file: names have no capitals, paths begin with a dot or a slash.
_END = "END_OF_FILE"
# Requirements that a person still reads on a command line.
_MOST = 12
_WIDTH = 100
_CUDA = "cuda"


def script(resolution: Resolution) -> str:
    """The text of the script, ended by a newline.

    Raises LockError where there is no stack, and for what cannot be said safely.
    """
    import jinja2  # few answers need it

    plan = installation(resolution)
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701  # a shell script: `q` quotes
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["q"] = shlex.quote
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(_Telling(resolution, plan).fields()) + "\n"


class _Telling:
    def __init__(self, resolution: Resolution, plan: Installation) -> None:
        self._resolution = resolution
        self._plan = plan
        self._patched = any(_sources_of(step) for step in plan.steps)
        self._of_code = any(_of_code(package) for package in plan.packages)
        self._makes = resolution.target != HOST

    def fields(self) -> Dict[str, object]:
        """What the template is filled with."""
        plan = self._plan
        return {
            "heading": commented([*heading(self._resolution, plan), "", *self._usage()]),
            "makes": self._makes,
            "of_code": self._of_code,
            "patched": self._patched,
            "cuda": any(step.compiles == _CUDA for step in plan.steps),
            "memory": any(step.job_memory for step in plan.steps),
            "version": plan.python,
            "pip": _PIP,
            "constraints": plan.constraints,
            "end": _END,
            "steps": [self._step(number, step) for number, step in enumerate(plan.steps, 1)],
            "say": self._say,
        }

    def _say(self, template: str, **values: object) -> str:
        return say(self._resolution.language, template, **values)

    def _usage(self) -> List[str]:
        if self._makes:
            lines = [
                self._say("sh FILE [FOLDER] makes the environment in FOLDER, .venv if not said")
            ]
        else:
            lines = [
                self._say(
                    "sh FILE [PYTHON] installs into the environment of PYTHON, python3 if not said"
                )
            ]
        if self._of_code:
            lines.append(
                self._say("CODE: the folder of the training code, the current one if not said")
            )
        if self._patched:
            lines.append(self._say("PATCHES: the folder with the patches of envdoctor, NAME.patch"))
        return lines

    def _step(self, number: int, step: Step) -> _Step:
        patches = [name for package in step.packages for name in package.patches]
        in_file = hashed(step) or len(step.packages) > _MOST
        return _Step(
            title=f"[{number}/{len(self._plan.steps)}] {self._names(step)}",
            patches=told_list(self._resolution.language, patches),
            cuda=step.compiles == _CUDA,
            toolkit=step.toolkit,
            patched=_sources_of(step),
            file=tuple(body_of(step)) if in_file else (),
            command=self._command(step, f'"$work/{number}.txt"' if in_file else ""),
        )

    def _names(self, step: Step) -> str:
        """What a step installs, and from where if not from the configured index."""
        language = self._resolution.language
        packages = step.packages or step.present
        said = told_list(language, [package.label for package in packages[:_MOST]])
        if len(packages) > _MOST:
            more = self._say("{number} more", number=len(packages) - _MOST)
            said = self._say(", ").join((said, more))
        places = [*([step.index_url] if step.index_url else []), *step.pages]
        if not step.packages:
            return self._say("what {names} needs", names=told(said))
        return f"{told(said)} ({told_list(language, places)})" if places else told(said)

    def _command(self, step: Step, file: str) -> str:
        """The call of pip; the requirements are in a file if one is named."""
        words = [" ".join(['"$python" -m pip install', *flags(step)])]
        variables = [f"{name}={shlex.quote(value)}" for name, value in step.variables]
        if step.job_memory:
            variables.append(f'MAX_JOBS="${{MAX_JOBS:-$(jobs {step.job_memory})}}"')
        if variables:
            words.insert(0, " ".join(["env", *variables]))
        if self._plan.constraints and not step.no_deps:
            words.append('--constraint "$work/constraints.txt"')
        if _sources_of(step):
            words.append('"$folder"')
        elif file:
            words.append(f"-r {file}")
        else:
            words += [f"--index-url {shlex.quote(step.index_url)}"] if step.index_url else []
            words += [f"--find-links {shlex.quote(page)}" for page in step.pages]
            words += [f"--only-binary {name}" for name in step.only_binary]
            words += [f"--no-binary {name}" for name in step.no_binary]
            words += [_word(package) for package in step.packages]
            words += [shlex.quote(f"{p.name}=={p.version}") for p in step.present if p.version]
        return _on_lines(words)


class _Step(NamedTuple):
    """A step as the template tells it."""

    title: str
    patches: str
    cuda: bool
    toolkit: str
    patched: Tuple[Package, ...]  # whose sources are unpacked and patched first
    file: Tuple[str, ...]  # lines of its requirements, if they stand in a file
    command: str


def _of_code(package: Package) -> bool:
    """Whether it lies in the folder of the training code."""
    return bool(package.tree) and not package.tree.startswith(("/", "."))


def _sources_of(step: Step) -> Tuple[Package, ...]:
    return tuple(package for package in step.packages if package.patches and not package.tree)


def _word(package: Package) -> str:
    """A requirement as one word of the shell, with the option that it needs."""
    if package.tree:
        path = shlex.quote(package.tree)
        place = f'"$code"/{path}' if _of_code(package) else path
        return f"--editable {place}" if package.editable else place
    return shlex.quote(package.verified)


def _on_lines(words: Sequence[str]) -> str:
    """A command on one line, or on several where that is too long."""
    line = " ".join(words)
    return line if len(line) <= _WIDTH else " \\\n    ".join(words)


__all__ = ["LockError", "script"]
