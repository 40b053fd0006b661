"""Options that commands share: what is examined, and within what time."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import sys
from types import FrameType
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, TypeVar

import click

from envdoctor.commands.configuration import Configurable, Configuration
from envdoctor.commands.errors import Failure, told
from envdoctor.commands.invocation import current
from envdoctor.commands.output import say, write
from envdoctor.commands.session import Inputs, Said, matrices_with
from envdoctor.model.language import ENGLISH, LANGUAGES, VARIABLE, preferred, translate

F = TypeVar("F", bound=Callable[..., Any])

#: Components that an option of their own replaces; `--python` is a path, so python is not one.
SHORTS = {
    "gpu": ("GPU[,GPU]", "a100, rtx4090, sm_90 or a100,h100; help lists them"),
    "driver": ("VERSION", "535.129.03; of a branch, 535, its lowest release known"),
    "glibc": ("VERSION", "2.31"),
    "gcc": ("VERSION", "11.4"),
    "toolkit": ("VERSION", "nvcc's CUDA, 12.1"),
    "cudnn": ("VERSION", "8.9"),
    "os": ("ID:VERSION", "ubuntu:20.04"),
}

#: Read by `cli.run`, since errors and help, too, are told in the language.
language_option = click.option(
    "--lang",
    cls=Configurable,
    type=click.Choice(LANGUAGES),
    expose_value=False,
    help="Answer in English or Chinese. Default: ENVDOCTOR_LANG, else the configuration, else the "
    "locale.",
)

#: Read by `cli.run`, since it is about what stands in for the other options.
isolated_option = click.option(
    "--isolated",
    is_flag=True,
    expose_value=False,
    help="Leave out [tool.envdoctor] of pyproject.toml.",
)

#: For whom the answer is; a command receives it as `form`.
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)

#: Assumptions for everything that is run, as CI sets it.
ASSUME_VARIABLE = "ENVDOCTOR_ASSUME"
# Values hold commas: one ends a setting only where the next begins.
_BETWEEN_SETTINGS = re.compile(r"[\s;]+|,\s*(?=[A-Za-z]+=)")


def _once(context: click.Context, option: click.Parameter, values: Sequence[str]) -> Optional[str]:
    """The value of an option that may be given once. Raises UsageError."""
    if len(values) > 1:
        raise click.UsageError(f"{option.opts[-1]} is given twice", context)
    return values[0] if values else None


#: Which machine and environment is looked at.
_OBSERVED = [
    click.option(
        "--python",
        multiple=True,
        callback=_once,
        metavar="PATH",
        help="The interpreter of the environment to examine. Default: VIRTUAL_ENV, CONDA_PREFIX, "
        "then python3 on PATH.",
    ),
    click.option(
        "--env",
        multiple=True,
        callback=_once,
        metavar="NAME_OR_PREFIX",
        help="The environment to examine, by name or folder.",
    ),
    click.option(
        "--facts",
        multiple=True,
        callback=_once,
        metavar="FILE",
        help="Examine a snapshot (envdoctor facts -o FILE), or a report as it is pasted into a "
        "tracker (collect_env, pip list, nvidia-smi, ...), in place of this machine; - is stdin.",
    ),
]
#: What is read of it besides.
_READ = [
    click.option(
        "--project",
        cls=Configurable,
        names_a_file=True,
        metavar="DIR",
        multiple=True,
        help="Read this source tree, too: what of it cannot run here, or be compiled. Nothing "
        "of it is executed. Repeatable.",
    ),
    click.option(
        "--path",
        metavar="PATH",
        multiple=True,
        help="Examine these binaries, too, as if they were imported: a folder, a file, or a wheel "
        "before it is installed. Repeatable.",
    ),
    click.option(
        "--deep/--no-deep",
        default=None,
        help="Read the binaries, too: what the dynamic loader would refuse. Default: --deep.",
    ),
]
_ASSUMED = [
    click.option(
        "--assume",
        cls=Configurable,
        metavar="KEY=VALUE",
        multiple=True,
        help="Judge as if a component were this: gpu=a100, driver=535.129.03, python=3.8, ... "
        "Repeatable, and beside what ENVDOCTOR_ASSUME holds.",
    ),
    *(
        click.option(
            f"--{key}",
            multiple=True,
            callback=_once,
            metavar=metavar,
            help=f"Short for --assume {key}=...: {example}.",
        )
        for key, (metavar, example) in SHORTS.items()
    ),
]
_MATRICES = [
    click.option(
        "--matrices",
        cls=Configurable,
        names_a_file=True,
        metavar="DIR",
        multiple=True,
        help="Put the matrices of this folder over those that ship: packages/*.yaml and "
        "platform/*.yaml. Repeatable.",
    ),
]
_TIME = [
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=float,
        callback=lambda _, __, value: _seconds(value),
        help="Give up after this time.",
    ),
]


def language_of(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    configuration: Optional[Configuration] = None,
) -> str:
    """The language of a command line: what --lang says last, else what the variables ask for.

    A configuration is weaker than ENVDOCTOR_LANG, and stronger than the locale.
    """
    chosen = preferred(environ)
    if configuration is not None and not environ.get(VARIABLE):
        chosen = configuration.values.get("lang", chosen)
    following = [*arguments[1:], ""]
    for word, after in zip(arguments, following):
        if word == "--":
            break
        name, given, value = word.partition("=")
        value = value if given else after
        if name == "--lang" and value in LANGUAGES:
            chosen = value
    return chosen


def language() -> str:
    """The language of the command that runs."""
    return current().language


#: What lists the GPUs; `--gpu help` is short for it.
_LIST_GPUS = "gpu=help"
_COLUMNS = 80
# What an alarm can be set to everywhere; past a day nobody waits.
_SHORTEST, _LONGEST = 0.001, 86_400.0
_AGAIN = 0.5


def _seconds(value: Optional[float]) -> Optional[float]:
    if value is None or _SHORTEST <= value <= _LONGEST:  # which nan is not
        return value
    raise click.BadParameter(f"{value:g} is not between {_SHORTEST:g} and {_LONGEST:.0f} seconds.")


class _OutOfTimeError(BaseException):
    """Not an Exception, so that nothing on the way takes it for a fault of its own."""


@contextlib.contextmanager
def _deadline(seconds: Optional[float]) -> Iterator[None]:
    if seconds is None:
        yield
        return
    is_due = True

    def ring(_: int, __: Optional[FrameType]) -> None:
        if is_due:
            raise _OutOfTimeError

    def silent(unraisable: Any) -> None:
        if unraisable.exc_type is not _OutOfTimeError:
            hook(unraisable)

    previous, hook = signal.getsignal(signal.SIGALRM), sys.unraisablehook
    try:
        try:
            sys.unraisablehook = silent
            signal.signal(signal.SIGALRM, ring)
            # again and again: it may ring in a finalizer or a hook, out of which nothing comes
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
            yield
        finally:
            is_due = False  # from here on it would ring where nobody listens
    except _OutOfTimeError:
        raise Failure(
            f"gave up after {seconds:g} s (--timeout)",
            "A slow file system or a hanging driver may need more.",
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        sys.unraisablehook = hook


@contextlib.contextmanager
def patience() -> Iterator[None]:
    """Tell a waiting person after a second that work goes on."""
    if not sys.stderr.isatty():
        yield
        return
    import threading

    timer = threading.Timer(1.0, say, [translate(language(), "envdoctor: still working ...")])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


#: Read by `cli.run` itself, where a command of its own does not use it.
traceback_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    help="Of an internal error, show paths as they are.",
)


def _show_help(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        if language() != ENGLISH:
            from envdoctor.commands.help import ChineseHelp

            context.formatter_class = ChineseHelp
        write(context.get_help() + "\n")
        context.exit()


def help_option(function: F) -> F:
    """What click has, but for a stdout that cannot be written to and the language of the help."""
    helped = click.help_option("-h", "--help", callback=_show_help)
    return isolated_option(language_option(helped(function)))


def input_options(function: F) -> F:
    """Give a command the options that say what is examined; it receives them as `inputs`.

    The command runs within `--timeout`, and the errors of the layers below reach the user as
    messages.
    """
    return _with_inputs(function, [*_OBSERVED, *_READ, *_ASSUMED, *_MATRICES, *_TIME])


def machine_options(function: F) -> F:
    """Give a command those of them that say for which machine and interpreter it answers."""
    return _with_inputs(function, [*_OBSERVED, *_ASSUMED, *_MATRICES, *_TIME])


def assumption_options(function: F) -> F:
    """Give a command those of them that say what is assumed, where nothing is observed.

    Whether the configuration can be read is for the command to ask, as it does not always obey it.
    """
    return _with_inputs(function, [*_ASSUMED, *_MATRICES, *_TIME], heeds_configuration=False)


def run_options(function: F) -> F:
    """Give a command that runs another those of them that say of what its failure is judged.

    Nothing limits its time, and of nothing that others print is told that it goes on.
    """
    return _with_inputs(function, [*_OBSERVED, *_ASSUMED, *_MATRICES], is_awaited=False)


def _with_inputs(
    function: F,
    options_: Sequence[Callable[[F], F]],
    heeds_configuration: bool = True,
    is_awaited: bool = True,
) -> F:

    @functools.wraps(function)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        seconds = options.pop("timeout", None)
        problem = current().problem
        if problem is not None and heeds_configuration and _is_the_one_called():
            raise problem
        inputs = _inputs(options)
        with told(), _deadline(seconds), patience() if is_awaited else contextlib.nullcontext():
            return function(*arguments, inputs=inputs, **options)

    command: Any = wrapper
    for option in reversed(options_):
        command = option(command)
    result: F = command
    return result


def _is_the_one_called() -> bool:
    return click.get_current_context().invoked_subcommand is None


def _gpus(added: Sequence[str]) -> str:
    """The GPUs that can be assumed, each with its compute capability, in columns."""
    table = matrices_with(added)().tables["gpu"]
    named = [f"{name} ({row['cc']})" for name, row in table.rows.items()]
    width = max(map(len, named)) + 2
    columns = max(1, (_COLUMNS + 2) // width)
    height = -(-len(named) // columns)
    rows = ("".join(f"{one:{width}}" for one in named[row::height]) for row in range(height))
    head = translate(
        language(), "GPUs known by name, with their compute capability; any other: --gpu sm_90"
    )
    return "\n".join([head, "", *map(str.rstrip, rows), ""])


def _inputs(options: Any) -> Inputs:
    """Takes the input options out of a command's options. Raises UsageError."""
    chosen = {name: options.pop(name, None) for name in ("python", "env", "facts")}
    named: List[str] = [f"--{name}" for name, value in chosen.items() if value is not None]
    if len(named) > 1:
        raise click.UsageError(f"{named[0]} and {named[1]} exclude each other")
    shorts = [(key, options.pop(key)) for key in SHORTS]
    settings = [*options.pop("assume"), *(f"{k}={v}" for k, v in shorts if v is not None)]
    added = tuple(options.pop("matrices", ()))
    if _LIST_GPUS in settings:
        with told():
            write(_gpus(added))
        click.get_current_context().exit()
    project = tuple(options.pop("project", ()))
    more = {"path": tuple(options.pop("path", ())), "deep": options.pop("deep", None)}
    if more["path"] and (chosen["facts"] is not None or more["deep"] is False):
        other = "--no-deep" if more["deep"] is False else "--facts"
        raise click.UsageError(f"--path and {other} exclude each other")
    said = tuple(_said())
    return Inputs(
        **chosen, assume=tuple(settings), project=project, said=said, matrices=added, **more
    )


def _said() -> Iterator[Said]:
    """What is assumed though the command line does not say it, the weaker first."""
    configuration = current().configuration
    if configuration is not None:
        for setting in configuration.texts("assume"):
            yield setting, configuration.places["assume"]
    for setting in _BETWEEN_SETTINGS.split(os.environ.get(ASSUME_VARIABLE, "").strip(" \t\n;,")):
        if setting:
            yield setting, ASSUME_VARIABLE


def given(inputs: Inputs, short: bool = False) -> List[str]:
    """The options of what is looked at once more, for a command that is to look at the same.

    With `short` an assumption that has an option of its own is written as that.
    """
    options: List[str] = []
    for name in ("python", "env", "facts"):
        value = getattr(inputs, name)
        if value is not None:
            options += [f"--{name}", value]
    for folder in inputs.project:
        options += ["--project", folder]
    for path in inputs.path:
        options += ["--path", path]
    for setting in inputs.assume:
        key, _, value = setting.partition("=")
        is_short = short and key in SHORTS and value
        options += [f"--{key}", value] if is_short else ["--assume", setting]
    for folder in inputs.matrices:
        options += ["--matrices", folder]
    return options
