from __future__ import annotations

import io
import json
import os

import pytest
from rich.console import Console

import kernreg
from kernreg import registry
from kernreg.cli.installation.list import KINDS, listing, show, summary

BROKEN = """
    raise RuntimeError("needs a licence [bold]now[/]")
"""


def test_json_holds_every_field_of_every_entry(run):
    records = json.loads(run("list", "--json").stdout)
    assert len(records) == len(kernreg.available())
    (rbf,) = [record for record in records if record["kind"] == "kernel" and record["name"] == "rbf"]
    assert rbf["distribution"] == "kernreg"
    assert rbf["version"] == kernreg.__version__
    assert rbf["origin"] == "entry point"
    assert set(rbf) == {"kind", "name", "target", "distribution", "version", "origin", "status", "reason", "file"}


def test_kind_restricts_the_listing(run):
    assert {entry.kind for entry in listing("engine")} == {"engine"}
    text = run("list", "--kind", "engine").stdout
    assert "local" in text
    assert "rbf" not in text
    assert run("list", "--kind", "planet").exit_code == 2


def test_entries_are_ordered_by_kind_and_name():
    keys = [(KINDS.index(entry.kind), entry.name) for entry in listing()]
    assert keys == sorted(keys)


def test_a_plugin_is_listed_without_being_imported(run, install):
    install("bad-plugin", BROKEN, kernels={"licensed": "licensed"})
    result = run("list")
    assert result.exit_code == 0
    (line,) = [line for line in result.stdout.splitlines() if "licensed" in line]
    assert line.split() == ["kernel", "licensed", "bad-plugin", "1.0", "available"]


def test_the_reason_of_a_failure_is_listed(run, install):
    install("bad-plugin", BROKEN, kernels={"licensed": "licensed"})
    assert run("info", "kernel", "licensed").exit_code == 2
    (line,) = [line for line in run("list").stdout.splitlines() if "licensed" in line]
    assert "broken" in line
    assert "needs a licence [bold]now[/]" in line  # foreign text is not markup


def test_every_built_in_has_a_line_that_says_what_it_is(run):
    lines = run("list").stdout.splitlines()
    start = lines[0].index("what it is")
    for line in lines[1:]:
        assert line[start:].strip(), line
    (rbf,) = [line for line in lines if line.split()[:2] == ["kernel", "rbf"]]
    assert "exp(-|x - y|² / sigma²)" in rbf


def test_a_runtime_registration_has_its_line_too(run):
    with registry.isolated():

        @kernreg.register("ensembler", "first")
        class First:
            """The first view."""

            def fit(self, views, y):
                return self

            def merge(self, views):
                return next(iter(views.values()))

        (line,) = [line for line in run("list").stdout.splitlines() if line.split()[1:2] == ["first"]]
    assert line.rstrip().endswith("The first view")


def printed(entries, width, *, terminal=True):
    out = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)
    show(entries, out)
    return out.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 60])
def test_a_narrow_terminal_gives_most_of_its_width_to_what_things_are_and_cuts_nothing(width):
    entries = listing("kernel")
    lines = printed(entries, width)
    start = lines[0].index("what it is")
    assert lines[0].split() == ["kind", "name", "what", "it", "is"]
    assert start <= 40
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(line[start:] for line in lines).split())
    for entry in entries:
        assert " ".join(summary(entry).split()[:2]) in words
    assert sum(line.startswith("kernel") for line in lines) == len(entries)
    assert "…" not in words


def test_a_narrow_terminal_still_tells_where_plugins_come_from_and_what_is_broken(run, install):
    install("bad-plugin", BROKEN, kernels={"licensed": "licensed"})
    assert run("info", "kernel", "licensed").exit_code == 2
    text = " ".join(" ".join(printed(listing("kernel"), 80)).split())
    assert "licensed broken: RuntimeError" in text
    assert "(bad-plugin)" in text


def test_a_wide_terminal_has_every_column():
    assert printed(listing("engine"), 160)[0].split()[:5] == ["kind", "name", "distribution", "version", "status"]


def test_in_a_pipe_every_entry_has_one_whole_line(run):
    long = "A very long line about it, " * 20 + "which ends here"
    with registry.isolated():
        kernreg.register("ensembler", "talkative", type("Talkative", (), {"__doc__": long, "fit": max, "merge": max}))
        lines = run("list").stdout.splitlines()
        assert len(lines) == len(listing()) + 1
        for line, entry in zip(lines[1:], listing(), strict=True):
            assert line.rstrip().endswith(summary(entry))
    assert any(line.rstrip().endswith(long) for line in lines)


def entry_of(name, version):
    return registry.Entry("kernel", name, "module:kernel", "plugin", version, "entry point", "broken", "x" * 1_000_000)


def test_versions_are_no_markup_and_what_is_long_is_shortened():
    out = Console(file=io.StringIO(), width=200)
    show([entry_of("x" * 100_000, "1[/b]"), entry_of("short", "2.0")], out)
    text = out.file.getvalue()
    assert "1[/b]" in text
    assert len(text) < 10_000


def test_json_holds_no_control_characters(run, install):
    install("bad-plugin", BROKEN, kernels={"a\x1b\x9b2J\x7f\U000e0001": "licensed"})
    text = run("list", "--json").stdout
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "a\x1b\x9b2J\x7f\U000e0001" in {record["name"] for record in json.loads(text)}


@pytest.mark.parametrize("source", ["x = " + "-" * 100_000 + "1", "x = '\\d'", "\0"])
def test_a_module_whose_text_cannot_be_read_is_listed_without_a_line(run, install, recwarn, source):
    install("odd-plugin", source, kernels={"odd": "odd"})
    result = run("list", "--kind", "kernel")
    (line,) = [line for line in result.stdout.splitlines() if line.split()[:2] == ["kernel", "odd"]]
    assert line.split() == ["kernel", "odd", "odd-plugin", "1.0", "available"]
    assert result.stderr == ""
    assert not recwarn.list


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("module", ["pipe", "x" * 5000])
def test_no_module_is_waited_for(run, install, module):
    place = install("odd-plugin", "", kernels={"odd": "odd"})
    (place / "package").mkdir()
    (place / "package/__init__.py").touch()
    os.mkfifo(place / "package/pipe.py")
    path = place / "odd_plugin-1.0.dist-info/entry_points.txt"
    path.write_text(f"[kernreg.kernels]\nodd = package.{module}:odd\n")
    registry.refresh()
    assert run("list", "--kind", "kernel").exit_code == 0


def test_methods_called_help_and_doc_are_no_text(run, tmp_path):
    path = tmp_path / "helpful.py"
    path.write_text(
        "from kernreg.solvers import LSSVC\n"
        "class Helpful(LSSVC):\n    'Helps.'\n    def help(self): ...\n    doc = help\n"
    )
    with registry.isolated():
        result = run("--plugin", str(path), "list", "--kind", "solver")
    assert result.exit_code == 0
    assert "Helps" in result.stdout
