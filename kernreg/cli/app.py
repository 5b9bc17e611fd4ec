"""The group of commands. A command is imported when it is called, so that ``kernreg list`` stays quick.

Exit codes: 0 all is well; 1 the command ran and found a problem (``doctor``, ``check``); 2 it could not run.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

import kernreg
from kernreg.errors import KernregError

#: Name of the command: its module, and its line in ``kernreg --help`` (shown without importing the module).
COMMANDS = {
    "fit": ("kernreg.cli.models.fit", "Fit a solver to a table and write the model."),
    "predict": ("kernreg.cli.models.predict", "What a model predicts for new samples."),
    "evaluate": ("kernreg.cli.models.evaluate", "Solvers and kernels side by side, cross-validated."),
    "tune": ("kernreg.cli.models.tune", "Choose parameters by exact leave-one-out."),
    "embed": ("kernreg.cli.models.embed", "Coordinates or a picture by kernel PCA or SVD."),
    "bicluster": ("kernreg.cli.models.bicluster", "Groups of rows and columns of a data matrix."),
    "gram": ("kernreg.cli.models.gram", "Write a kernel matrix for other tools."),
    "run": ("kernreg.cli.models.run", "Fit the chain described in a file."),
    "show": ("kernreg.cli.models.show", "Tell what is in a model file."),
    "papers": ("kernreg.cli.papers", "Run the papers' tables again and report them."),
    "list": ("kernreg.cli.installation.list", "List kernels, solvers, ensemblers and engines."),
    "info": ("kernreg.cli.installation.info", "Tell all about one of them."),
    "doctor": ("kernreg.cli.installation.doctor", "Look for problems: versions, threads, BLAS, cache, plugins."),
    "check": ("kernreg.cli.installation.check", "Run the conformance kit on a plugin."),
    "cache": ("kernreg.cli.installation.cache", "Look at, delete or make the compiled kernels on disk."),
    "new-plugin": ("kernreg.cli.installation.new_plugin", "Write a ready plugin package."),
}


class Refusal(click.ClickException):
    """A kernreg error, told to the user in one message without a traceback."""

    exit_code = 2


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error that kernreg raised on purpose needs no traceback."""
        try:
            return super().invoke(ctx)
        except KernregError as error:
            raise Refusal(str(error)) from error


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(kernreg.__version__, prog_name="kernreg", message="%(prog)s %(version)s")
def application() -> None:
    """Kernel methods on tables and graphs; what is installed, whether it works, how to add more."""
