"""Commands on PATH that run another Python than the examined one."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Tuple

from envdoctor.model.facts import Command, Target
from envdoctor.model.finding import Evidence
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import (
    fix,
    folder_of,
    listed,
    pip,
)
from envdoctor.rules.rule import Context, Fault

#: {command: the distribution for whose sake the environment should have it}. mim reads the torch
#: of its own interpreter.
_OWNERS = {
    "pip": "pip",
    "pip3": "pip",
    "torchrun": "torch",
    "mim": "torch",
    "accelerate": "accelerate",
    "deepspeed": "deepspeed",
    "ninja": "ninja",
}
_MODULES = {"torchrun": "torch.distributed.run", "accelerate": "accelerate.commands.launch"}


def examine(context: Context) -> Iterator[Fault]:
    """Report commands of another Python, if `python` on PATH is the examined one."""
    target = context.target
    commands = {command.name: command for command in target.commands}
    python = commands.get("python") or commands.get("python3")
    # An environment that is named, not activated, has its commands off PATH: as it should be.
    if python is None or not _is_ours(python.path, target):
        return
    installed = imported(target)
    # Who names an interpreter calls it by its path, and no training runs pip.
    named = context.facts.target.origin.startswith("--")
    foreign: Dict[Tuple[str, str], List[Command]] = {}
    for name, owner in _OWNERS.items():
        command = commands.get(name)
        if not command or not command.interpreter or _is_ours(command.interpreter, target):
            continue
        if name == "ninja" and not _is_ours(command.path, target):
            continue  # another environment's ninja builds as well, one that was moved does not
        harmless = owner not in installed or (named and owner == "pip")
        severity = "info" if harmless else "warning"
        foreign.setdefault((severity, command.interpreter), []).append(command)
    for (severity, interpreter), found in foreign.items():
        names = [command.name for command in found]
        yield Fault(
            component=names[0],
            severity=severity,
            words="" if severity == "warning" else "aside",
            fields={
                "commands": listed(names),
                "interpreter": interpreter,
                "python": target.python,
            },
            evidence=tuple(
                Evidence(command.name, command.interpreter, command.path) for command in found
            ),
            fixes=fix(*_commands(target, names)),
        )


def _is_ours(interpreter: str, target: Target) -> bool:
    """Whether a path is, by its folder, one of the names of the examined interpreter."""
    folders = (folder_of(target.python), f"{target.prefix}/bin")
    if _known_as(folder_of(interpreter)) not in map(_known_as, folders):
        return False
    # python3.8 and python3.11 lie side by side in /usr/bin
    version = re.search(r"python(\d+(?:\.\d+)?)$", interpreter)
    return version is None or (target.version + ".").startswith(version[1] + ".")


def _known_as(folder: str) -> str:
    """What is the same under other mounts: an environment's name. /bin is a link to /usr/bin."""
    return "/usr/bin" if folder == "/bin" else "/".join(folder.split("/")[-2:])


def _commands(target: Target, names: List[str]) -> Iterator[str]:
    if {"pip", "pip3"} & set(names):
        yield pip(target, "install", "...")
    for name in names:
        if name not in ("pip", "pip3"):
            yield f"{target.python} -m {_MODULES.get(name, name)} ..."
