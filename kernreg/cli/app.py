"""The group of commands. A command is imported when it is called, so that ``kernreg list`` stays quick.

Exit codes: 0 all is well; 1 the command ran and found a problem (``doctor``, ``check``); 2 it could not run.
"""

from __future__ import annotations

import warnings
from textwrap import shorten
from typing import Any

import click

import kernreg
from kernreg.errors import KernregError, printable
from kernreg.registry import get_registry
from kernreg.registry.companions import advice_on
from kernreg.registry.messages import close_matches

#: Characters of what a distribution says of itself that ``kernreg --help`` shows.
SUMMARY_WIDTH = 100

#: The built-in commands in the order of ``kernreg --help``, each with its line there.
COMMANDS = {
    "fit": "Fit a solver to a table and write the model.",
    "predict": "Predict new samples with a model.",
    "report": "Write an HTML report on a model: scores, uncertainty, explanations.",
    "evaluate": "Compare solvers and kernels by cross-validation.",
    "tune": "Choose parameters by exact leave-one-out.",
    "embed": "Embed samples by kernel PCA or SVD, as coordinates or a picture.",
    "bicluster": "Group the rows and columns of a data matrix.",
    "gram": "Write a kernel matrix to a file, for other tools.",
    "run": "Fit the chain described in a file.",
    "show": "Show what is in a model file.",
    "list": "List kernels, solvers, ensemblers, engines and commands.",
    "info": "Show everything about one kernel, solver, ensembler, engine or command.",
    "doctor": "Check the installation: versions, threads, BLAS, cache, plugins.",
    "check": "Run the conformance kit on a plugin.",
    "cache": "Show, delete or prepare the compiled kernels on disk.",
    "new-plugin": "Write a ready plugin package of any kind.",
    "plugin-index": "Write a page about plugins and their checks.",
    "demo": "See in half a minute what an asymmetric kernel can do.",
}


class Refusal(click.ClickException):
    """An error that the user can do something about, written as one message without a traceback."""

    exit_code = 2


class LazyGroup(click.Group):
    """The commands of the registry, those of plugins too; one is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands: the built-in ones in the order of the table, then those of plugins."""
        return [*COMMANDS, *plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None when there is none of that name; ``distribution:name`` says whose."""
        commands = get_registry("command")
        try:
            if cmd_name in COMMANDS:  # nobody else's claim to the name takes it away
                found: click.Command = commands.get(f"kernreg:{cmd_name}")
            elif cmd_name in commands:
                found = commands.get(cmd_name)
            else:
                return None
        except KernregError:
            if ctx.resilient_parsing:  # a shell asks what there is, for completion
                return None
            raise
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; an error names those that are spelt alike."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = close_matches(args[0], self.list_commands(ctx))
            meant = f"Did you mean {' or '.join(map(repr, close))}?" if close else ""
            advice = advice_on("command", args[0]) or meant
            if not advice or "Did you mean" in error.message:
                raise
            raise click.UsageError(f"{error.message} {advice}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the tables of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        plugins = plugin_commands()
        if plugins:
            with formatter.section("Commands from plugins"):
                formatter.write_dl(list(plugins.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors are written without a traceback, and warnings in one line."""
        shown_by_python, warnings.showwarning = warnings.showwarning, show_warning
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # who reads the output has had enough; click knows
            raise
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            raise Refusal(printable(f"{where}{error.strerror or error}")) from error
        except (KernregError, ValueError, ImportError, MemoryError) as error:
            raise Refusal(printable(str(error)) or type(error).__name__) from error
        except RecursionError as error:
            raise Refusal("the input is nested too deeply") from error
        finally:
            warnings.showwarning = shown_by_python


def show_warning(message: Warning | str, *where: Any, **options: Any) -> None:
    """Write a warning as errors are written: where in the code it was raised tells the user nothing."""
    click.echo(f"Warning: {printable(str(message))}", err=True)


def plugin_commands() -> dict[str, str]:
    """Names of the commands that plugins add, each with a line about it: what its distribution says of itself.

    Nothing is imported. Commands that KERNREG_PLUGINS blocks are left out, and so are those with the name of a built-in
    one, which cannot be called by the name alone, or with one that is not accepted.
    """
    from kernreg.registry.discovery.metadata import installed_summary
    from kernreg.registry.record import problem_with_name

    lines = {}
    for entry in get_registry("command").entries():
        if entry.name in COMMANDS or entry.status == "blocked" or problem_with_name(entry.name):
            continue
        if entry.status not in ("available", "loaded"):
            lines[entry.name] = f"{entry.status.capitalize()}; run kernreg doctor to see why."
        elif entry.distribution is None:
            lines[entry.name] = get_registry("command").get(entry.name).get_short_help_str(SUMMARY_WIDTH)
        else:
            summary = shorten(installed_summary(entry.distribution).rstrip("."), SUMMARY_WIDTH, placeholder=" …")
            line = f"{summary} ({entry.distribution})." if summary else f"From {entry.distribution}."
            lines[entry.name] = printable(line)
    return lines


def load_files(ctx: click.Context, parameter: click.Parameter, files: tuple[str, ...]) -> None:
    """Load plugin files before the command is looked up: it may be one of theirs."""
    if ctx.resilient_parsing:  # a shell asks what there is, for completion: that runs no code
        return
    from kernreg.registry.plugin_files import load_plugin

    shown_by_python, warnings.showwarning = warnings.showwarning, show_warning
    try:
        for file in files:
            load_plugin(file)
    except KernregError as error:
        raise Refusal(printable(str(error))) from error
    finally:
        warnings.showwarning = shown_by_python


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--plugin",
    "files",
    type=click.Path(dir_okay=False),
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=load_files,
    help="A Python file with kernels, solvers … to use in this run; may be given several times.",
)
@click.version_option(kernreg.__version__, prog_name="kernreg", message="%(prog)s %(version)s")
def application() -> None:
    """Kernel methods for tables and graphs. See what is installed, check that it works, add more."""
