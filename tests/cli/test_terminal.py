"""What others have named does nothing to a terminal, and what a model predicts runs in no spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest
from click.testing import CliRunner

from kernreg.cli.app import application
from kernreg.cli.options import inert, write_table
from kernreg.cli.output import console
from kernreg.errors import UnknownPlugin, printable

ESCAPE = "\x1b[2J\x9b31m\x07"


def test_names_are_printed_without_control_characters(capsys):
    from rich.markup import escape
    from rich.table import Table

    out = console()
    table = Table("name")
    table.add_row(escape(f"plugin{ESCAPE}"))
    out.print(table)
    out.print(f"and {ESCAPE} as text, σ", markup=False)
    printed = capsys.readouterr().out
    assert not any(character in printed for character in "\x1b\x9b\x07")
    assert "plugin\\x1b[" in printed
    assert "σ" in printed
    assert printable("two\nlines\tσ") == "two\nlines\tσ"


@pytest.mark.parametrize("command", ["info", "check"])
def test_errors_about_names_are_printed_so_too(command):
    done = CliRunner().invoke(application, [command, f"no{ESCAPE}such"])
    assert done.exit_code == 2
    assert not any(character in done.output for character in "\x1b\x9b\x07")


def test_messages_hold_no_control_characters_in_python_either():
    error = UnknownPlugin(f"no{ESCAPE}such\n  σ\tx")
    assert str(error) == "no\\x1b[2J\\x9b31m\\x07such\n  σ\tx"


def test_files_with_such_names_too(tmp_path):
    done = CliRunner().invoke(application, ["show", str(tmp_path / f"no{ESCAPE}such.kern")])
    assert (done.exit_code, "\x1b" in done.output) == (2, False)


def test_formulas_in_labels_are_text(tmp_path):
    labels = ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1+1", "-2+3", "\t=1", "-1.5", "plain", "a=b", "1e5"]
    write_table(["=name", "label"], [[number, label] for number, label in enumerate(labels)], tmp_path / "a.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert rows[0] == ["'=name", "label"]
    assert [row[1] for row in rows[1:]] == [f"'{label}" for label in labels[:5]] + labels[5:]
    assert inert(None) is None


def test_fewer_samples_than_folds_are_told(tmp_path):
    (tmp_path / "a.csv").write_text("x,who\n" + "\n".join(f"{i},{'ab'[i % 2]}" for i in range(4)))
    done = CliRunner().invoke(application, ["evaluate", str(tmp_path / "a.csv"), "-t", "who", "--cv", "5"])
    assert done.exit_code in (1, 2)
    assert "too few for 5 folds" in " ".join(done.output.split())
