"""The laws of commands, kept and broken."""

from __future__ import annotations

import click
import pytest

from kernreg.testing import LawViolation, check_command, command_checks, parametrize_with_checks, verdicts


@click.group("outer")
def outer():
    """Do several things."""


@outer.command("inner")
@click.argument("name")
def inner(name):
    """Do one of them."""


@parametrize_with_checks([outer, inner])
def test_laws(check):
    check()


def broken_laws(command):
    return [verdict.law for verdict in verdicts(command) if verdict.outcome == "broken"]


def test_a_command_without_words_or_name():
    assert broken_laws(click.Command("mute")) == ["help text"]
    assert broken_laws(click.Command(None, help="Something.")) == ["name"]
    assert broken_laws(click.Command("closed", help="Something.", add_help_option=False)) == ["--help"]


def test_the_commands_of_a_group_are_held_to_the_laws_too():
    group = click.Group("outer", help="Several things.", commands=[click.Command("mute")])
    with pytest.raises(LawViolation, match="command outer mute has no help text"):
        check_command(group)


def test_a_command_that_is_listed_and_not_there():
    class Absent(click.Group):
        def list_commands(self, ctx):
            return ["absent"]

    with pytest.raises(LawViolation, match="absent is listed"):
        check_command(Absent("outer", help="Several things."))


def test_a_help_that_fails():
    class Failing(click.Command):
        def format_help(self, ctx, formatter):
            raise RuntimeError("no paper left")

    with pytest.raises(LawViolation, match="--help ends with exit code 1: no paper left"):
        check_command(Failing("failing", help="Something."))


def test_something_that_only_looks_like_a_command():
    class Alike:
        name = help = "alike"
        main = make_context = invoke = get_help = print

    assert "click command" in broken_laws(Alike())


def test_every_law_has_a_statement():
    assert all(check.law.statement for check in command_checks(inner))
