"""Where a chain file may write to: beside itself, and over nothing that kernreg did not write."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from kernreg.cli.app import application

CHAIN = """
kernreg_chain = 1
kernel = "rbf(sigma=1.5)"
[run]
data = "table.csv"
target = "who"
{settings}
[[steps]]
name = "lssvm"
solver = "ls-svm"
"""


@pytest.fixture
def folder(tmp_path):
    rows = [f"{i},{i * i % 7},{'ab'[i % 2]}" for i in range(20)]
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "table.csv").write_text("\n".join(["x,z,who", *rows]))
    return tmp_path / "inner"


def run(folder, settings, *arguments):
    (folder / "chain.toml").write_text(CHAIN.format(settings=settings))
    return CliRunner().invoke(application, ["run", str(folder / "chain.toml"), *arguments])


def test_beside_the_chain_file_a_model_is_written(folder):
    done = run(folder, 'output = "model.kern"')
    assert done.exit_code == 0, done.output
    assert run(folder, 'output = "model.kern"').exit_code == 0  # its own file may be replaced
    assert (folder / "model.kern").is_file()


def test_nowhere_else(folder, tmp_path):
    (folder / "link.kern").symlink_to(tmp_path / "elsewhere.kern")
    (folder / "below").mkdir()
    for place in (str(tmp_path / "out.kern"), "../out.kern", "below/out.kern", "link.kern", "below/../../out.kern"):
        done = run(folder, f'output = "{place}"', "--force")
        assert done.exit_code == 2
        assert "not next to the chain file" in " ".join(done.output.split())
    assert not list(tmp_path.glob("*.kern"))
    assert run(folder, 'output = "../out.kern"', "--output", str(tmp_path / "mine.kern")).exit_code == 2
    assert run(folder, "", "--output", str(tmp_path / "mine.kern")).exit_code == 0


def test_over_no_foreign_file_without_force(folder):
    (folder / "notes.txt").write_text("important")
    done = run(folder, 'output = "notes.txt"')
    assert (done.exit_code, (folder / "notes.txt").read_text()) == (2, "important")
    assert "--force" in done.output
    assert run(folder, 'output = "table.csv"', "--force").exit_code == 2  # an input
    assert run(folder, 'output = "chain.toml"', "--force").exit_code == 2
    assert run(folder, 'output = "notes.txt"', "--force").exit_code == 0


def test_settings_of_the_wrong_type_are_refused_in_one_line(folder):
    for settings in ("output = 5", "cv = '3'", "cv = 1", "cv = true", 'data2 = "x"'):
        done = run(folder, settings)
        assert (done.exit_code, done.exception.__class__.__name__) == (2, "SystemExit"), done.output
        assert "[run]" in done.output
    (folder / "chain.toml").write_text("run = 5\nkernreg_chain = 1\n")
    done = CliRunner().invoke(application, ["run", str(folder / "chain.toml")])
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.toml", "a = " + "[" * 100_000),
        ("deep.json", "[" * 1_000_000),
        ("deep2.json", '{"a":' * 100_000),
        ("long.toml", "a = " + "9" * 10_000),
        ("long.json", '{"a": ' + "9" * 10_000 + "}"),
    ],
)
def test_hostile_chain_files_are_refused_in_one_line(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    done = CliRunner().invoke(application, ["run", str(tmp_path / name)])
    assert (done.exit_code, done.exception.__class__.__name__) == (2, "SystemExit"), done.exception
    assert name in done.output
