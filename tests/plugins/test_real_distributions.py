"""Plugins of this repository as their users get them: installed with pip, found by their entry points."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[2] / "plugins"

LISTING = """
    import json, sys
    import kernreg
    entries = [[e.name, e.distribution, e.version, e.status] for e in kernreg.available("kernel")]
    imported = sorted({"kernreg_graph", "kernreg_histogram", "numba", "scipy"} & set(sys.modules))
    print(json.dumps([entries, imported]))
"""


def declared(distribution):
    project = tomllib.loads((PLUGINS / distribution / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["entry-points"]["kernreg.kernels"])


def listing(environment, **variables):
    entries, imported = environment.json(LISTING, **variables)
    return entries, imported


def test_without_the_plugins_none_of_their_kernels_is_there(bare):
    entries, _ = listing(bare)
    assert {distribution for _, distribution, _, _ in entries} == {"kernreg"}


def test_installed_plugins_are_listed_without_being_imported(installed):
    entries, imported = listing(installed)
    assert imported == []
    for distribution in ("kernreg-histogram", "kernreg-graph"):
        found = {name for name, provider, version, status in entries if provider == distribution}
        assert found == declared(distribution)
    assert {status for _, _, _, status in entries} == {"available"}
    assert {version for _, provider, version, _ in entries if provider != "kernreg"} == {"0.1.0"}


def test_their_names_clash_with_no_built_in(bare):
    built_in = {name for name, *_ in listing(bare)[0]}
    assert not built_in & (declared("kernreg-histogram") | declared("kernreg-graph"))


def test_installed_kernels_evaluate(installed):
    values, files = installed.json("""
        import json
        import kernreg, kernreg_graph, kernreg_histogram
        papers = [[0, 0], [1, 0]]
        graph = {name: kernreg.make_kernel(name, graph=papers, **more)([1], [0]).item() for name, more in [
            ("graph-adjacency", {"direction": "citing"}), ("katz", {"beta": 0.25}),
            ("pagerank", {}), ("shortest-path", {}),
        ]}
        histogram = {name: kernreg.make_kernel(name)([[2.0, 0.0]], [[2.0, 2.0]]).item() for name in [
            "containment", "bhattacharyya", "additive-chi2", "histogram-intersection", "hellinger",
        ]}
        statuses = {e.status for e in kernreg.available("kernel") if e.name in {**graph, **histogram}}
        assert statuses == {"loaded"}, statuses
        print(json.dumps([{**graph, **histogram}, [kernreg_graph.__file__, kernreg_histogram.__file__]]))
    """)
    assert values == pytest.approx(
        {
            "graph-adjacency": 0.5,
            "katz": 0.25,
            "pagerank": 0.85 / 1.85,  # alpha and dangling nodes as by default
            "shortest-path": math.exp(-1),
            "containment": 1.0,
            "bhattacharyya": 2.0,
            "additive-chi2": 2.0,
            "histogram-intersection": 2.0,
            "hellinger": math.exp(-1),
        },
        rel=1e-14,
    )
    assert all(str(installed.python.parents[1]) in file for file in files)  # the installed copy, not the source tree


def test_they_say_which_interface_they_were_written_for(installed):
    versions = installed.json("""
        import json
        import kernreg_graph, kernreg_histogram
        from kernreg.registry import API_VERSION
        print(json.dumps([kernreg_graph.__kernreg_api__, kernreg_histogram.__kernreg_api__, API_VERSION]))
    """)
    assert len(set(versions)) == 1


def test_the_command_line_checks_an_installed_plugin(installed):
    findings = json.loads(installed.command("check", "kernreg-graph", "--json"))
    assert {finding["name"] for finding in findings} == declared("kernreg-graph") | {"ksvd-cluster"}
    assert [finding for finding in findings if finding["outcome"] == "broken"] == []


def test_only_the_named_distribution_is_allowed(installed):
    code = """
        import json, sys
        import kernreg
        from kernreg.errors import PluginBlocked
        try:
            kernreg.make_kernel("hellinger")
            said = None
        except PluginBlocked as error:
            said = str(error)
        kernreg.make_kernel("katz", graph=[[0.0]], beta=1.0)
        print(json.dumps([said, "kernreg_histogram" in sys.modules]))
    """
    said, imported = installed.json(code, KERNREG_PLUGINS="kernreg-graph")
    assert "hellinger" in said
    assert "kernreg-histogram 0.1.0" in said
    assert not imported


def test_two_distributions_that_claim_one_name(installed, rival):
    code = """
        import json
        import kernreg
        from kernreg.errors import PluginConflict
        said = []
        for ask in (lambda: kernreg.make_kernel("katz"), lambda: kernreg.make_kernel("katz(beta=0.1)")):
            try:
                ask()
            except PluginConflict as error:
                said.append(str(error))
        ours = kernreg.make_kernel("kernreg_graph:katz", graph=[[0, 1], [0, 0]], beta=0.5)([0], [1]).item()
        theirs = kernreg.make_kernel("rival-kernels:katz()")([[2.0]], [[3.0]]).item()
        others = kernreg.make_kernel("pagerank", graph=[[0.0]])([0]).item()
        claims = [[e.distribution, e.version, e.status] for e in kernreg.available("kernel") if e.name == "katz"]
        print(json.dumps([said, ours, theirs, others, claims]))
    """
    said, ours, theirs, others, claims = installed.json(code, PYTHONPATH=str(rival))
    assert len(said) == 2
    for message in said:
        for part in ("kernreg-graph 0.1.0", "rival-kernels 2.5", "kernreg-graph:katz", "rival-kernels:katz"):
            assert part in message
    assert (ours, theirs, others) == (0.5, 7.0, 1.0)
    assert sorted(distribution for distribution, _, _ in claims) == ["kernreg-graph", "rival-kernels"]


def test_a_conflict_is_listed_before_anything_is_imported(installed, rival):
    entries, imported = listing(installed, PYTHONPATH=str(rival))
    assert imported == []
    contested = [entry for entry in entries if entry[0] == "katz"]
    assert contested == [
        ["katz", "kernreg-graph", "0.1.0", "conflicting"],
        ["katz", "rival-kernels", "2.5", "conflicting"],
    ]
    assert {status for name, *_, status in entries if name != "katz"} == {"available"}


def test_installed_files_are_the_package_and_its_licence(installed):
    files = installed.json("""
        import json
        from importlib.metadata import files
        print(json.dumps([str(f) for d in ("kernreg-graph", "kernreg-histogram") for f in files(d)]))
    """)
    tops = {Path(file).parts[0].split("-")[0] for file in files}
    assert tops == {"kernreg_graph", "kernreg_histogram"}
    assert sum(file.endswith("LICENSE") for file in files) == 2
    assert sum(file.endswith("py.typed") for file in files) == 2


def test_an_installed_command_is_shown_and_runs(bare, installed):
    assert "papers" not in bare.command("--help")
    assert "(kernreg-papers)." in installed.command("--help")
    assert "papers" not in installed.command("--help", KERNREG_PLUGINS="kernreg-graph")
    assert "ask-table4" in {row["name"] for row in json.loads(installed.command("papers", "list", "--json"))}
    findings = json.loads(installed.command("check", "kernreg-papers", "--json"))
    assert {(finding["kind"], finding["name"], finding["outcome"]) for finding in findings} == {
        ("command", "papers", "held")
    }
