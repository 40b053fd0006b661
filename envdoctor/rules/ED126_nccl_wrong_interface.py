"""NCCL or Gloo is told of a network interface that this machine does not have."""

from __future__ import annotations

from typing import Iterator, Sequence

from envdoctor.model.finding import Evidence
from envdoctor.model.language import say
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import fix
from envdoctor.rules.rule import Context, Fault

_FRAMEWORKS = ("torch", "paddlepaddle-gpu")


def examine(context: Context) -> Iterator[Fault]:
    """Report it where GPUs are: on a login node the variable may be meant for others."""
    interfaces, gpus = context.facts.machine.interfaces, context.facts.accelerator.gpus
    target = context.target
    names = interfaces.value
    if not names or not gpus.value or gpus.assumed:
        return
    if not any(name in imported(target) for name in _FRAMEWORKS):
        return
    for variable in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"):
        value = target.environ.get(variable, "").strip()
        exact = variable.startswith("GLOO")
        if not value or (_by_name if exact else _by_prefix)(value, names):
            continue
        yield Fault(
            component=variable,
            fields={
                "variable": variable,
                "value": value,
                "interfaces": say(context.language, ", ").join(names),
            },
            evidence=(
                Evidence(variable, value, "environment"),
                Evidence("interfaces", ", ".join(names), interfaces.origin),
            ),
            fixes=fix(f"unset {variable}"),
            verify=("ip -brief link",),
        )


def _by_prefix(value: str, names: Sequence[str]) -> bool:
    """Whether NCCL finds an interface: by prefix, "=" by name, "^" all others."""
    others = value.startswith("^")
    rest = value[1:] if others else value
    exact = rest.startswith("=")
    # Of "name:port" NCCL reads the name alone.
    wanted = [part.partition(":")[0] for part in rest.lstrip("=").split(",") if part]
    if not wanted:
        return True

    def matches(name: str) -> bool:
        return any(name == one if exact else name.startswith(one) for one in wanted)

    return any(matches(name) != others for name in names)


def _by_name(value: str, names: Sequence[str]) -> bool:
    """Whether Gloo finds each interface of its list."""
    return all(part in names for part in value.split(",") if part)
