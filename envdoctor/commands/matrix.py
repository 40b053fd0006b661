"""`envdoctor matrix`: a grid of what fits what."""

from __future__ import annotations

from typing import Optional, Tuple

import click

from envdoctor.commands.errors import told
from envdoctor.commands.options import help_option, language, machine_options
from envdoctor.commands.output import view, write
from envdoctor.commands.program import as_called
from envdoctor.commands.session import Inputs, gather

#: What stands in the place of a package, of columns alone.
_COLUMNS = ("gpu", "python")
#: More grids nobody reads.
_MOST = 6


@click.command("matrix", short_help="Show which releases fit which, as a grid.")
@click.argument("packages", nargs=-1, required=True, metavar="PACKAGE...")
@machine_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="For people, for programs, or a page to print.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the grid here, not to stdout.")
@click.option("-v", "--verbose", is_flag=True, help="All reasons, and their sources.")
@help_option
def command(
    packages: Tuple[str, ...], inputs: Inputs, form: str, output: Optional[str], verbose: bool
) -> int:
    """Show which releases of a package fit which of another: prebuilt, from source, or not at all.

    The rows are releases of the first PACKAGE, folded where they are alike, the columns those of
    each other: torch mmcv-full. Ranges are understood: 'torch>=2.0'. In place of another package
    "gpu" stands for GPUs (those of --gpu, else all), "python" for Pythons; one package alone is
    shown against GPUs if it has code for them, else against Pythons.

    The grid is for this machine and its environment's Python, or for what --assume says. What
    neither knows is not asked. Below it stands why cells are no.

    Exit code: 0 it was shown, 2 wrong usage, 3 the machine could not be examined.
    """
    from envdoctor.relations.judge import Relations
    from envdoctor.relations.question import QuestionError, world_of
    from envdoctor.relations.wanted import WantedError, read_wanted
    from envdoctor.report import matrix as report
    from envdoctor.report.sources import Matrices

    if len(packages) > _MOST + 1:
        raise click.UsageError(f"{_MOST} grids are as many as can be shown together")
    if packages[0].lower() in _COLUMNS:
        turned = " ".join([*packages[1:2], packages[0].lower()])
        raise click.UsageError(f"{packages[0].lower()} can only be columns: matrix {turned}")
    with told():
        from envdoctor.model.grid import Grids
        from envdoctor.relations.grid import GPU, default_axis, described, grid

        facts, matrices = gather(inputs._replace(deep=False))
        knowledge = matrices()
        relations = Relations(knowledge)
        world = world_of(facts, knowledge)
        try:
            rows = read_wanted(packages[0], knowledge)
            others = packages[1:] or (default_axis(rows.name, relations),)
            # GPUs that were named are the columns, and the heading names them.
            named = facts.accelerator.gpus.assumed
            found = Grids(
                described(world, [other for other in others if not (named and other == GPU)]),
                tuple(grid(rows, other, world, relations, language(), named) for other in others),
            )
        except (WantedError, QuestionError) as error:
            raise click.UsageError(str(error)) from None
    stated = Matrices(knowledge.date, knowledge.added)
    if form == "json":
        write(report.as_json(found, stated, language()), output)
    elif form == "html":
        write(report.as_html(found, stated, language()), output)
    else:
        text = report.as_text(found, stated, view(output, verbose), language())
        write(as_called(text), output)
    return 0
