"""The Python of the README runs as printed, and the commands it shows are there."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner
from kernreg_papers import names
from kernreg_papers.command import command

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_python_runs():
    namespace: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        exec(compile(block, "README.md", "exec"), namespace)


def test_the_commands_are_there():
    shown = set(re.findall(r"kernreg papers ([a-z-]+)", README))
    assert shown == set(command.commands)


def test_every_table_and_figure_is_listed():
    assert set(re.findall(r"^\| `([a-z]+-(?:table|figure)\d)` \| ", README, re.MULTILINE)) == set(names())


def test_the_command_is_shown_by_kernreg():
    from kernreg.cli.app import application

    assert re.search(r"papers  Reproduce the tables and figures", CliRunner().invoke(application, ["--help"]).stdout)
