"""The laws of commands: click commands that plugins add to ``kernreg``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click

from kernreg.testing.laws import LawBook, fail

COMMAND_LAWS = LawBook("command")


@dataclass(frozen=True)
class CommandCase:
    """A command under test."""

    declared: Any

    @property
    def subject(self) -> str:
        """``command`` and its name."""
        return f"command {getattr(self.declared, 'name', None) or type(self.declared).__name__}"

    def paths(self) -> Iterator[tuple[list[str], click.Command]]:
        """Iterate over the command and all commands below it, each with the words that lead to it."""

        def below(words: list[str], command: click.Command, context: click.Context) -> Any:
            yield words, command
            if isinstance(command, click.Group):
                for name in command.list_commands(context):
                    inner = command.get_command(context, name)
                    if inner is None:
                        fail(f"{' '.join([*words, name])} is listed, and there is no such command")
                    yield from below([*words, name], inner, click.Context(inner, info_name=name, parent=context))

        return below([], self.declared, click.Context(self.declared, info_name=self.declared.name))


@COMMAND_LAWS.law("click command")
def click_command(case: CommandCase) -> None:
    """It is an object of the class click.Command."""
    if not isinstance(case.declared, click.Command):
        fail(f"a command is a click.Command, this is an object of type {type(case.declared).__name__!r}")


@COMMAND_LAWS.law("name")
def has_name(case: CommandCase) -> None:
    """It has a name, and so has every command below it."""
    for words, command in case.paths():
        if not command.name:
            fail(f"the command {' '.join(words)!r} has no name")


@COMMAND_LAWS.law("help text")
def has_help(case: CommandCase) -> None:
    """It says what it does, and so does every command below it."""
    for words, command in case.paths():
        if not (command.help or "").strip():
            fail(f"{' '.join([case.subject, *words])} has no help text; give its function a docstring")


@COMMAND_LAWS.law("--help")
def answers_help(case: CommandCase) -> None:
    """``--help`` prints the usage and ends with exit code 0, for every command below it, too."""
    from click.testing import CliRunner

    for words, _ in case.paths():
        line = " ".join([*words, "--help"])
        result = CliRunner().invoke(case.declared, [*words, "--help"])
        if result.exit_code != 0:
            fail(f"{line} ends with exit code {result.exit_code}: {result.exception or result.output.strip()}")
        if "Usage:" not in result.output:
            fail(f"{line} prints no usage: {result.output[:200]!r}")
