"""The command line: which commands there are, and how each of them ends."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import click

from envdoctor import __version__
from envdoctor.commands import configuration
from envdoctor.commands.errors import COULD_NOT_EXAMINE, Failure, told
from envdoctor.commands.invocation import Invocation
from envdoctor.commands.options import (
    help_option,
    input_options,
    language,
    language_of,
    traceback_option,
)
from envdoctor.commands.output import open_standard_streams, say, show, write
from envdoctor.commands.policy import Policy, policy_options
from envdoctor.commands.program import program
from envdoctor.commands.session import Inputs
from envdoctor.model.language import VARIABLE, is_known, translate
from envdoctor.model.text import clean

#: Modules beside this one, imported when they are called: start-up time is part of every answer.
_COMMANDS = (
    "check",
    "diagnose",
    "explain",
    "facts",
    "inspect",
    "matrix",
    "repair",
    "resolve",
    "run",
    "what-if",
)


class Commands(click.Group):
    """A group whose commands are modules of this package, each with a `command`."""

    def list_commands(self, ctx: click.Context) -> List[str]:  # noqa: ARG002
        """The names of the commands."""
        return list(_COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> Optional[click.Command]:
        """The command of that name, or None."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"envdoctor.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: List[str]
    ) -> Tuple[Optional[str], Optional[click.Command], List[str]]:
        """The command that is called; from here on its defaults count, and not the group's.

        Click keeps both in one map, where `facts` is an option of the group and a command.
        """
        found = super().resolve_command(ctx, args)
        ctx.default_map = ctx.ensure_object(Invocation).defaults
        return found


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from envdoctor.knowledge.load import load

        with told():
            version = f"envdoctor {__version__}, matrices of {load().date}"
            write(translate(language(), version) + "\n")
        context.exit()


@click.group(cls=Commands, invoke_without_command=True)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and the date of the matrices.",
)
@input_options
@policy_options(shown=False)
@traceback_option
@help_option
@click.pass_context
def cli(context: click.Context, inputs: Inputs, policy: Policy) -> int:
    """Say, before GPU time is burnt, whether a training stack can run.

    Without a command: this machine, the target environment and the verdict, at a glance. Reads
    only; never imports the packages it examines, never changes them, sends nothing.

    Models, the last answer, are the profiles that ship with envdoctor. "ready": this environment
    holds the stack that the authors pin, and nothing in it is broken. "new env": it does not, but
    this machine runs that stack in an environment of its own. "not as pinned": the GPU, the driver
    or the system rules that stack out; other versions are needed. "GPU unknown", "not judged": it
    cannot be told here.

    Exit code: 0 no error was found, 1 one was, 2 wrong usage, 3 the environment could not be
    examined.
    """
    if context.invoked_subcommand is not None:
        given = [
            option.opts[-1]
            for option in context.command.params
            if option.name not in (None, "lang", "isolated")  # which may stand anywhere
            and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
        ]
        if given:
            raise click.UsageError(
                f"{given[0]} belongs after the command: "
                f"{program()} {context.invoked_subcommand} {given[0]} ..."
            )
        return 0
    from envdoctor.commands.overview import overview

    return overview(inputs, policy)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; return the exit code, having printed what went wrong if anything did.

    KeyboardInterrupt is left to the caller.
    """
    open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal's encoding may know less than a path or a name holds.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    chosen = language_of(arguments, os.environ)
    invocation = Invocation(chosen)
    wanted = os.environ.get(VARIABLE, "")
    if wanted and not is_known(wanted) and "--lang" not in " ".join(arguments):
        named = clean(wanted, 40)
        say(f"envdoctor: ENVDOCTOR_LANG={named} is neither en nor zh: answering in English")
    try:
        defaults = _configured(invocation, arguments)
        chosen = invocation.language
        code = cli.main(
            args=list(arguments),
            prog_name=program(),
            standalone_mode=False,
            obj=invocation,
            default_map=defaults,
        )
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        show(error, chosen)
        return error.exit_code
    except Exception as error:
        from envdoctor.commands import crash

        show(crash.failure(error), chosen)
        redacted = not {"-v", "--verbose"} & set(arguments)
        say(crash.report(error, arguments, invocation, redacted))
        return COULD_NOT_EXAMINE
    return code if isinstance(code, int) else 0


def _configured(invocation: Invocation, arguments: Sequence[str]) -> Dict[str, Any]:
    """What stands in for options that are not given; the invocation learns where it is from.

    Why it cannot be read is told by the commands that would obey it.
    """
    given = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--isolated" in given:
        return {}
    try:
        found = configuration.read(_Options(), os.environ)
    except Failure as error:
        invocation.problem = error
        return {}
    if found is None:
        return {}
    invocation.configuration = found
    invocation.language = language_of(arguments, os.environ, found)
    for name, command in _commands():
        invocation.defaults[name] = configuration.defaults(found, command)
    return configuration.defaults(found, cli)


def _commands() -> Iterator[Tuple[str, click.Command]]:
    context = click.Context(cli)
    for name in _COMMANDS:
        command = cli.get_command(context, name)
        if command is not None:
            yield name, command


class _Options:
    """The options of all commands, whose modules are imported once somebody asks."""

    def __iter__(self) -> Iterator[click.Parameter]:
        for command in (cli, *(command for _, command in _commands())):
            yield from command.params
