from __future__ import annotations

import json

import kernreg
from kernreg import registry
from kernreg.cli.installation.list import KINDS, listing

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
