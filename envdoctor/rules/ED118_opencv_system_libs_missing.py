"""OpenCV's wheel needs libraries of the system that are not there."""

from __future__ import annotations

from typing import Iterator

from envdoctor.model.finding import Fix
from envdoctor.model.language import say
from envdoctor.model.versions import try_parse
from envdoctor.relations.environment import imported
from envdoctor.rules.lookup import evidence, fix, label, name_of, pip, python_says
from envdoctor.rules.rule import Context, Fault
from envdoctor.rules.system_libraries import evidence_of, install, is_opencv, lacks

_FLAVOURS = (
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)


def examine(context: Context) -> Iterator[Fault]:
    """Report it of the one flavour that is there; of several, whose files are there is unknown."""
    installed = imported(context.target)
    if sum(flavour in installed for flavour in _FLAVOURS) != 1:
        return
    for lack in lacks(context):
        distribution = lack.distribution
        if not is_opencv(distribution):
            continue
        fixes = list(fix(*install(context, lack.libraries)))
        package = context.knowledge.packages.get(lack.headless)
        version = try_parse(distribution.version)
        if package is not None and version in package.releases:
            name = name_of(distribution)
            headless = f"{lack.headless}=={distribution.version}"
            commands = (
                pip(context.target, "uninstall", "-y", name),
                pip(context.target, "install", "--no-deps", headless),
            )
            fixes.append(
                Fix(
                    say(
                        context.language,
                        "where no window is shown: {package}, which needs none of them",
                        package=headless,
                    ),
                    commands if all(commands) else (),
                )
            )
        yield Fault(
            component=label(distribution),
            fields={
                "distribution": label(distribution),
                "libraries": say(context.language, ", ").join(lack.libraries),
            },
            evidence=(evidence(distribution), *evidence_of(context, lack.libraries)),
            fixes=tuple(fixes),
            verify=(python_says(context.target, "import cv2"),),
        )
