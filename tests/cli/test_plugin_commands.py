"""Commands from plugins: found by entry points, shown without being imported, imported when called."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

import kernreg
from kernreg.cli.app import COMMANDS, application
from kernreg.registry import get_registry

DOCUMENT = Path(__file__).parents[2] / "docs/extend/writing_a_command.md"

GREETING = '''
    import click
    from kernreg.errors import DataError

    @click.command("greet")
    @click.argument("name")
    def greet(name):
        """Say hello."""
        if name == "nobody":
            raise DataError("nobody is not a name; give one")
        click.echo(f"hello {name}")
'''


def test_a_command_is_shown_without_being_imported_and_run_when_called(run, install):
    install("greeting-plugin", GREETING, summary="Greets people.", commands={"greet": "greet"})
    text = run("--help").stdout
    assert re.search(r"Commands from plugins:\n  greet  Greets people \(greeting-plugin\)\.\n", text)
    assert text.index("new-plugin") < text.index("Commands from plugins")
    assert "greeting_plugin" not in sys.modules
    assert run("greet", "Ada").stdout == "hello Ada\n"
    assert "Usage: kernreg greet" in run("greet", "--help").stdout


def test_without_a_summary_the_help_names_the_distribution(run, install):
    install("greeting-plugin", GREETING, commands={"greet": "greet"})
    assert "greet  From greeting-plugin." in run("--help").stdout


def test_a_long_summary_is_shortened(run, install):
    install("greeting-plugin", GREETING, summary="Greets " + "very " * 40 + "many.", commands={"greet": "greet"})
    assert "very … (greeting-plugin)." in " ".join(run("--help").stdout.split())


def test_without_commands_of_plugins_the_help_has_no_section_for_them(run, install):
    install("greeting-plugin", GREETING)
    assert "Commands from plugins" not in run("--help").stdout


def test_an_error_of_kernreg_is_one_message(run, install):
    install("greeting-plugin", GREETING, commands={"greet": "greet"})
    result = run("greet", "nobody")
    assert (result.exit_code, result.stderr) == (2, "Error: nobody is not a name; give one\n")


def test_broken_commands_break_nothing_else(run, install):
    install("bad-plugin", "import no_such_module_anywhere", commands={"bad": "bad"})
    install("exit-plugin", "import sys\nsys.exit(3)", commands={"leaving": "leaving"})
    install("plain-plugin", "def plain(): pass", commands={"plain": "plain"})
    install("greeting-plugin", GREETING, commands={"greet": "greet"})
    assert run("--help").exit_code == 0
    for name, reason in [("bad", "no_such_module"), ("leaving", "sys.exit(3)"), ("plain", "@click.command()")]:
        result = run(name)
        assert result.exit_code == 2
        assert f"cannot load the command '{name}'" in result.stderr
        assert reason in result.stderr
    assert run("greet", "Ada").exit_code == 0
    assert "bad      Broken; run kernreg doctor to see why." in run("--help").stdout
    told = run("doctor").stdout
    assert "command bad of bad-plugin 1.0 is broken: ModuleNotFoundError" in told
    assert "command plain of plain-plugin 1.0 is broken: a command is a click.Command" in told


def test_an_incompatible_command_says_so(run, install):
    install("old-plugin", "__kernreg_api__ = '0.1'\n" + "greet = None", commands={"greet": "greet"})
    result = run("greet")
    assert result.exit_code == 2
    assert "written for plugin API 0.1" in result.stderr


def test_a_blocked_command_is_not_imported(run, install, monkeypatch):
    install("greeting-plugin", GREETING, commands={"greet": "greet"})
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    assert "greet" not in run("--help").stdout
    result = run("greet", "Ada")
    assert result.exit_code == 2
    assert "KERNREG_PLUGINS='none' does not allow the distribution greeting-plugin" in result.stderr
    assert "greeting_plugin" not in sys.modules
    assert run("list", "--kind", "command").stdout.count("available") >= len(COMMANDS) - 1


def test_two_claims_to_one_name_are_told_and_either_can_be_called(run, install):
    install("one-plugin", GREETING, commands={"greet": "greet"})
    install("other-plugin", GREETING.replace("hello", "good day"), commands={"greet": "greet"})
    assert "greet  Conflicting; run kernreg doctor to see why." in run("--help").stdout
    result = run("greet", "Ada")
    assert result.exit_code == 2
    assert "Say which: 'one-plugin:greet' or 'other-plugin:greet'" in result.stderr
    assert run("other-plugin:greet", "Ada").stdout == "good day Ada\n"


def test_the_name_of_a_built_in_command_cannot_be_taken(run, install):
    install("taking-plugin", GREETING, commands={"list": "greet"})
    assert "kernel" in run("list", "--kind", "kernel").stdout
    assert "taking" not in run("--help").stdout
    assert run("taking-plugin:list", "Ada").stdout == "hello Ada\n"
    result = run("doctor")
    assert result.exit_code == 1
    assert "command list of taking-plugin 1.0 is conflicting" in result.stdout


def test_completion_survives_a_broken_command(install):
    install("bad-plugin", "import no_such_module_anywhere", commands={"badly": "bad"})
    install("greeting-plugin", GREETING, commands={"greet": "greet"})
    completion = ShellComplete(application, {}, "kernreg", "_KERNREG_COMPLETE")
    assert [item.value for item in completion.get_completions([], "b")] == ["bicluster"]
    assert [item.value for item in completion.get_completions([], "gr")] == ["gram", "greet"]


def test_a_command_registered_at_runtime(run):
    from kernreg.registry import isolated

    @click.command("brief")
    def brief():
        """Say little."""
        click.echo("yes")

    with isolated():
        kernreg.register("command", "brief", brief)
        assert "brief" in [entry.name for entry in kernreg.available("command")]
        assert re.search(r"brief +Say little\.", run("--help").stdout)
        assert run("brief").stdout == "yes\n"


def test_every_built_in_command_is_an_entry_point():
    ours = {entry.name for entry in get_registry("command").entries() if entry.distribution == "kernreg"}
    assert ours == set(COMMANDS)


def test_the_command_of_the_documentation_works_as_a_plugin(run, install):
    (source,) = (
        block
        for block in re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
        if "@click.command" in block
    )
    install("kernreg-signature", source, summary="Counts eigenvalues.", commands={"signature": "signature"})
    assert "signature  Counts eigenvalues (kernreg-signature)." in run("--help").stdout
    assert run("signature", "rbf", "--samples", "20").stdout == "20 positive, 0 negative\n"
    counts = list(map(int, re.findall(r"\d+", run("signature", "tl1(rho=2.0)").stdout)))
    assert sum(counts) == 50
    assert counts[1] > 0
    assert run("signature", "no-such-kernel").exit_code == 2
    assert run("check", "kernreg-signature").exit_code == 0


@pytest.mark.parametrize("word", ["fitt", "kernreg:fitt", "nobody:fit"])
def test_an_unknown_name_is_a_usage_error(run, word):
    result = run(word)
    assert result.exit_code == 2
    assert f"No such command '{word}'" in result.stderr


def test_a_name_that_is_not_accepted_stands_in_no_help_and_no_completion(run, install):
    install("odd-plugin", GREETING, summary="Greets\x1b[2J.", commands={"a\x1b[2J": "greet", "greet": "greet"})
    text = run("--help").stdout
    assert "\x1b" not in text
    assert "odd-plugin" in text
    completion = ShellComplete(application, {}, "kernreg", "_KERNREG_COMPLETE")
    assert [item.value for item in completion.get_completions([], "a")] == []
    assert "command a\\x1b[2J of odd-plugin 1.0 is broken" in run("doctor").stdout
