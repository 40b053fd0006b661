"""`envdoctor inspect`: what one binary is, and whether it would load."""

from __future__ import annotations

import os
from typing import Optional

import click

from envdoctor.commands.errors import COULD_NOT_EXAMINE, FINDINGS, Failure, told
from envdoctor.commands.options import format_option, help_option, language
from envdoctor.commands.output import view, write
from envdoctor.commands.program import as_called
from envdoctor.commands.session import Inputs, gather
from envdoctor.model.text import clean


@click.command("inspect", short_help="Tell what a binary is, and whether it would load.")
@click.argument("path")
@click.option("--python", metavar="PATH", help="The interpreter that is to load it.")
@click.option(
    "--env", metavar="NAME_OR_PREFIX", help="The environment that is to load it, by name or folder."
)
@format_option
@click.option("-o", "--output", metavar="FILE", help="Write the answer here, not to stdout.")
@click.option("-v", "--verbose", is_flag=True, help="Everything that is loaded with it.")
@help_option
def command(
    path: str,
    python: Optional[str],
    env: Optional[str],
    form: str,
    output: Optional[str],
    verbose: bool,
) -> int:
    """Tell what a binary is: what it needs, its symbols, its GPU code, and whether it would load.

    PATH is a shared object, a program, an object file or a cubin. It is read and never executed.
    Whether it would load is simulated for the interpreter of --python or --env, else for the one
    that `check` examines.

    Exit code: 0 it loads, or is nothing that is loaded, 1 it does not load, 2 wrong usage, 3 it
    cannot be read or its loading could not be simulated.
    """
    if python and env:
        raise click.UsageError("--python and --env exclude each other")
    if os.path.isdir(path):  # noqa: PTH112
        raise Failure(
            f"{clean(path)} is a folder",
            "Name a file of it; envdoctor check examines all files of an environment.",
        )
    from envdoctor.linking.inspection import inspect
    from envdoctor.report import inspection as report

    with told():
        facts, _ = gather(Inputs(python=python, env=env, deep=False))
        try:
            inspection = inspect(path, facts.target.value)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise Failure(f"{clean(path)}: cannot be read: {reason}") from None
        if form == "json":
            write(report.as_json(inspection, language()), output)
        else:
            write(as_called(report.as_text(inspection, view(output, verbose), language())), output)
    if inspection.fault is not None:
        return FINDINGS
    unknown = inspection.kind == "no binary" or inspection.not_simulated
    return COULD_NOT_EXAMINE if unknown else 0
