"""How commands are made and how they end: groups of options, help, exit codes, errors in one line."""

from __future__ import annotations

import difflib
import errno
import functools
import inspect
import json
import re
import shutil
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, suppress
from dataclasses import MISSING, Field, field, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ..files import noting_writes

DONE = 0
REFUSED = 1
USAGE = 2
UNFINISHED = 3
BUG = 4
INTERRUPTED = 130
EXIT_CODES = (
    "Exit codes: 0 done; 1 the input, the data or a value was refused; 2 the command was not understood; 3 done, but "
    "not converged (compare: a method failed; rerun: the graph differs; --group: a group is left out); 4 an "
    "error inside nashgraph; 130 interrupted."
)
HINT = " (--help lists the options)"
BUG_REPORT = "; this is a bug: run it again with --debug and report what it prints"
EVERY = "What is printed"  # the group of options that every command has
SET = "--set "  # how the option of a setting begins: --set NAME=VALUE
FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
FOR_PROGRAMMERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)
UsageError: Any = typer.BadParameter.__base__  # click's own, wherever this version of typer keeps it


def registered(where: str) -> Any:
    """Return what is at "module:attribute": a registry, or what a command does."""
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)


def load_matplotlib() -> None:
    """Import matplotlib from a folder of ours: it obeys a matplotlibrc in the current folder, which could run TeX."""
    try:
        with chdir(Path(__file__).parent):
            import_module("matplotlib")
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'nashgraph[plot]'") from error


def option(*names: str, default: Any = None, **more: Any) -> Any:
    """Return an option as a field of a group."""
    return field(default=default, metadata={"typer": typer.Option(*names, **more)})


def setting(*, default: Any = None, **more: Any) -> Any:
    """Return an option that is rarely needed, as a field of a group: it is typed as --set NAME=VALUE."""
    return field(default=default, metadata={"setting": more})


def argument(metavar: str, words: str, **more: Any) -> Any:
    """Return an argument that must be given as a field of a group."""
    return field(metadata={"typer": typer.Argument(metavar=metavar, help=words, show_default=False, **more)})


def choice(where: str, also: tuple[str, ...] = (), make: Callable[..., Any] = option, **more: Any) -> Any:
    """Return an option that takes a name out of a registry: any that is registered when the command runs."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in (*also, *registered(where)):
            known = registered(where)
            raise typer.BadParameter(f"{value!r} is not known{meant(value, known)}: there are {', '.join(known)}")
        return value

    return make(metavar=where, callback=check, autocompletion=completing(where), **more)


def completing(names: str | tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return what completes a name, of a registry or of a few."""

    def complete(incomplete: str) -> list[str]:
        known = registered(names) if isinstance(names, str) else names
        return [name for name in known if name.startswith(incomplete)]

    return complete


class Command(TyperCommand):
    """A command with a plain help; registered names are looked up when they are shown.

    A setting is typed as ``--set NAME=VALUE``, and its option is called ``--set NAME``.
    """

    panels: ClassVar[tuple[str, ...]] = ()  # the groups of options, in the order of the help

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters by their groups, with names in place of the registry that holds them."""
        parameters: list[Any] = self.params
        for parameter in parameters:
            if ":" in (parameter.metavar or ""):
                names = list(registered(str(parameter.metavar)))
                parameter.metavar = f"[{'|'.join(names)}]"
                if len(parameter.metavar) > 80 and parameter.opts[0].startswith("-"):  # it would be broken in words
                    parameter.metavar = str(parameter.name).upper()
                    parameter.help = f"{str(parameter.help).rstrip('.')}: {', '.join(names)}."
            if isinstance(default := getattr(parameter, "show_default", None), str):
                # Given as a text, Typer would put it in parentheses; the backslash is for Markdown.
                parameter.help = f"{parameter.help} \\[default: {default}]"
                parameter.show_default = False
        panels = {panel: place for place, panel in enumerate(self.panels)}
        shown = super().get_params(ctx)
        return sorted(shown, key=lambda parameter: panels.get(getattr(parameter, "rich_help_panel", ""), -1))

    def settings(self, ctx: Any) -> dict[str, Any]:
        """Return the settings by name."""
        return {str(each.name): each for each in self.get_params(ctx) if each.opts[0].startswith(SET)}

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Print the help if it is asked for, else parse."""
        if ctx.resilient_parsing:  # words are being completed, so the last may be cut off
            return super().parse_args(ctx, args)
        if {"-h", "--help"} & {*args}:
            typer.echo(self.help_of(ctx))
            ctx.exit()
        return super().parse_args(ctx, [*self._with_settings(ctx, args)])

    def _with_settings(self, ctx: Any, args: list[str]) -> Iterator[str]:
        """Yield the arguments with every setting as an option of its own; other names are left to the method."""
        settings = self.settings(ctx)
        typed = {f"--{name.replace('_', '-')}": name for name in settings}
        typed |= {f"--no-{name}": name for name, each in settings.items() if each.is_flag}
        words = iter(args)
        for word in words:
            option_typed, mark, value = word.partition("=")
            if option_typed in typed:
                name = typed[option_typed]
                raise typer.BadParameter(
                    f"{option_typed} is a setting: write --set {name}={example_of(settings[name])}"
                )
            if option_typed != "--set" or not settings:
                yield word
                continue
            item = value if mark else next(words, "")
            if item == "help":
                typer.echo(self.settings_help(ctx))
                ctx.exit()
            name, mark, value = item.partition("=")
            name = name.strip().replace("-", "_")
            if name not in settings or not mark:
                self._check_left_to_method(name, mark, settings)
                yield from ("--set", item)
            elif settings[name].is_flag:
                yield from _flag(settings[name], item, value)
            else:
                yield from (settings[name].opts[0], value)

    def _check_left_to_method(self, name: str, mark: str, settings: Mapping[str, Any]) -> None:
        """Refuse a name that is no setting if the command has no method that could have it."""
        if not mark:
            raise typer.BadParameter(
                f"--set {name} must read NAME=VALUE, for example --set tol=1e-8{meant(name, settings)}; --set help "
                "lists the names"
            )
        if all("--set" not in parameter.opts for parameter in self.params):
            raise typer.BadParameter(
                f"{name!r} is not a setting of this command{meant(name, settings)}: there are {', '.join(settings)}"
            )

    def help_of(self, ctx: Any) -> str:
        """Return the help: what the command does, its options by their groups, and an example."""
        parameters = self.get_params(ctx)
        arguments = [each for each in parameters if not each.opts[0].startswith("-")]
        options = [each for each in parameters if each not in arguments and not getattr(each, "hidden", False)]
        about, _, example = str(self.help).partition("Example: ")
        names = "".join(f"{each.metavar} " for each in arguments)
        lines = [f"Usage: nashgraph {self.name} {names}[OPTIONS]", "", about.strip(), ""]
        for each in arguments:
            lines += _entry(str(each.metavar), str(each.help))
        panel = None
        for each in options:
            if each.name == "help":
                continue
            if each.rich_help_panel != panel:
                panel = each.rich_help_panel
                lines += [f"{panel or 'Options'}:"]
            if each.show_default is False or each.default in (None, False):
                shown = ""
            else:
                shown = f" [default: {each.default}]"
            value = "" if each.is_flag else each.metavar or "VALUE"
            lines += _entry(f"{each.opts[0]} {value}".strip(), f"{each.help}{shown}")
        more = [each.opts[0] for each in parameters if getattr(each, "hidden", False) and each.rich_help_panel == EVERY]
        if more:
            lines += ["", f"Every command has {', '.join(more)} and --help."]
        if settings := self.settings(ctx):
            lines += textwrap.wrap(f"Settings (--set help describes them): {', '.join(settings)}.", width())
        lines += ["", *textwrap.wrap(EXIT_CODES, width())]
        return "\n".join([*lines, "", f"Example: {example.strip()}"])

    def settings_help(self, ctx: Any) -> str:
        """Return the settings, each with what it does."""
        lines = []
        for name, each in self.settings(ctx).items():
            lines += _entry(f"{name}={example_of(each)}", str(each.help))
        return "\n".join(lines)


def width() -> int:
    """Return how many letters a line of the help has."""
    return min(100, shutil.get_terminal_size().columns)


def _entry(left: str, words: str, column: int = 22) -> list[str]:
    """Return the lines of an option; a long name has a line of its own."""
    folded = textwrap.wrap(words.replace("\\[", "["), width() - column)
    left = f"  {left}"
    if len(left) >= column - 1:
        first = left
    else:
        first = left.ljust(column) + folded.pop(0)
    return [first, *(" " * column + line for line in folded)]


def example_of(parameter: Any) -> str:
    """Return what stands after the equals sign of a setting."""
    if parameter.is_flag:
        return "yes|no"
    return str(parameter.metavar or "VALUE")


def _flag(parameter: Any, item: str, value: str) -> list[str]:
    """Return the option that switches a setting on or off."""
    wanted = FLAGS.get(value.lower())
    if wanted is None:
        raise typer.BadParameter(f"--set {item}: {parameter.name} is {' or '.join(FLAGS)}")
    return [parameter.opts[0] if wanted else parameter.secondary_opts[0]]


def flat(groups: Callable[..., None], run: str) -> Callable[..., int]:
    """Return a command whose parameters are the fields of the groups that a function takes; it calls ``run`` with them.

    ``run`` is "module:function" and is imported when the command is called, so that help and completion are quick.
    """
    kinds = [*get_type_hints(groups).values()][:-1]  # without what is returned
    parameters = [item for kind in kinds for item in _fields_of(kind)]

    @functools.wraps(groups)
    def command(**given: Any) -> int:
        code: int = registered(run)(*(_gathered(kind, given) for kind in kinds))
        return code

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _fields_of(group: Any) -> Iterator[inspect.Parameter]:
    """Yield the parameters that a group stands for, and those of the groups in it."""
    hints = get_type_hints(group)
    for each in fields(group):
        if is_dataclass(kind := hints[each.name]):
            yield from _fields_of(kind)
        else:
            if each.default is MISSING:
                default = inspect.Parameter.empty
            else:
                default = each.default
            how = Annotated[kind, _declared(each, kind)]  # type: ignore[valid-type]
            yield inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=how)


def _declared(each: Field[Any], kind: Any) -> Any:
    """Return what typer needs to know of a field; the option of a setting has its name."""
    if "setting" not in each.metadata:
        return each.metadata["typer"]
    name = f"{SET}{each.name}"
    if bool in (kind, *get_args(kind)):
        name += f"/{SET}no_{each.name}"
    return typer.Option(name, hidden=True, **each.metadata["setting"])


def _gathered(group: Any, given: Mapping[str, Any]) -> Any:
    """Return a group out of the flat parameters."""
    kinds = {name: kind for name, kind in get_type_hints(group).items() if is_dataclass(kind)}
    names = [each.name for each in fields(group)]
    return group(**{name: _gathered(kinds[name], given) if name in kinds else given[name] for name in names})


class Commands(TyperGroup):
    """A group of commands that ends every run with one of the exit codes, and every failure with one line."""

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run, and leave with the exit code."""
        arguments = [str(argument) for argument in (sys.argv[1:] if args is None else args)]
        with noting_writes() as written:
            try:
                code = super().main(arguments, **{**extra, "standalone_mode": False})
            except Exception as error:
                code = _explain(error, arguments, written)
            except KeyboardInterrupt:
                code = INTERRUPTED
        if code == INTERRUPTED:
            _fail(f"interrupted: {_left_by(written)}", INTERRUPTED, arguments)
        sys.exit(code if isinstance(code, int) else DONE)


def _explain(error: Exception, arguments: list[str], written: Sequence[Path]) -> int:
    """Print what went wrong and return the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help, already printed by some versions
        typer.echo(getattr(error, "message", ""), err=True)
        return USAGE
    if isinstance(error, typer.Abort):
        return INTERRUPTED
    message, code = message_of(error, written)
    if "--debug" in arguments:
        traceback.print_exception(error, file=sys.stderr)
    elif code == BUG:
        message += BUG_REPORT
    _fail(message, code, arguments)
    return code


def message_of(error: Exception, written: Sequence[Path] = ()) -> tuple[str, int]:
    """Return the sentence and the exit code of an error of a run that had written some files before."""
    if isinstance(error, UsageError):
        return f"{_plain_usage(error.format_message())}{HINT}", USAGE
    from ..validation import InputError  # noqa: PLC0415 (help and completion stay fast)

    if not isinstance(error, InputError) and (said := _limit_reached(error)):
        return said, REFUSED
    if isinstance(error, InputError):
        from .phrases import phrased  # noqa: PLC0415 (it imports the options, which import this module)

        return phrased(error), REFUSED
    if isinstance(error, ImportError):
        return str(error), REFUSED
    if isinstance(error, OSError):
        return _of_the_system(error, written), REFUSED
    return f"{type(error).__name__}: {error}", BUG


def _plain_usage(message: str) -> str:
    """Return what the parser says without its own words, with the value that may have been meant."""
    plain = message.replace("Value error, ", "").partition(", unable to parse string as")[0]
    plain = plain.replace("Input should be", "it must be").rstrip(".")
    value, mark, choices = plain.rpartition(": ")[2].partition(" is not one of ")
    return plain + (meant(value.strip("'"), re.findall(r"'([^']*)'", choices)) if mark else "")


def meant(value: str, known: Iterable[str]) -> str:
    """Return which of the known names a value may have meant, in parentheses, or nothing."""
    close = difflib.get_close_matches(value, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _limit_reached(error: Exception) -> str:
    """Return the sentence of an error that a limit of the machine or the system has made; else nothing."""
    if isinstance(error, MemoryError):
        if str(error):
            return f"not enough memory: {error}"
        return "not enough memory"
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "the system gives no more threads, because a limit on memory or processes (ulimit -v, -u) is reached"
    return ""


def _of_the_system(error: OSError, written: Sequence[Path]) -> str:
    if error.errno == errno.ENOSPC:
        return f"the disk is full: {_left_by(written)}"
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror.lower()}"


def _left_by(written: Sequence[Path]) -> str:
    """Return what a run that broke off has left: its files are all there, or none is."""
    if written:
        return f"{written[-1]} had been written before"
    return "nothing was written"


def _fail(message: str, code: int, arguments: list[str]) -> None:
    line = printable(" ".join(message.split()))
    if "--json" in arguments:
        with suppress(OSError):  # the error may be that nothing can be written there: then stderr has it
            typer.echo(json.dumps({"error": line, "code": code}))
            return
    if arguments and arguments[0].isidentifier():
        command = arguments[0]
    else:
        command = ""
    with suppress(OSError):  # the exit code says that it failed
        typer.echo(f"nashgraph {command}".rstrip() + f": {line}", err=True)


def printable(text: str) -> str:
    r"""Return text fit for a terminal: what a name could do to it is written out instead."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in str(text))
