from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from kernreg import registry
from kernreg.cli.installation.check import matching
from kernreg.registry import Entry

PLUGIN = '''
    import numpy as np
    from kernreg import kernel
    from sklearn.base import BaseEstimator

    @kernel(of="blocks", symmetric=True, definite=True)
    def right(X, Z):
        """⟨x, z⟩."""
        return X @ Z.T

    @kernel(of="blocks", symmetric=True)
    def wrong(X, Z):
        """x_1 + 2 z_1, which is not symmetric."""
        return X[:, :1] + 2.0 * Z[:, 0]

    class Largest(BaseEstimator):
        """The largest of the views."""
        idempotent = True
        def fit(self, views, y):
            if not views:
                raise ValueError("no views")
            self.fitted_ = True
            return self
        def merge(self, views):
            if len({view.shape for view in views.values()}) != 1:
                raise ValueError("views of one shape are needed")
            return np.max(list(views.values()), axis=0)
'''


def entry(kind: str, name: str, distribution: str) -> Entry:
    return Entry(kind, name, "module:object", distribution, "1.0", "entry point", "available")


ENTRIES = [
    entry("kernel", "demo", "kernreg-demo"),
    entry("kernel", "other", "kernreg-demo"),
    entry("kernel", "rbf", "kernreg"),
    entry("kernel", "twice", "one"),
    entry("kernel", "twice", "two"),
]


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("kernreg-demo", ["demo", "other"]),
        ("Kernreg_Demo", ["demo", "other"]),
        ("demo", ["demo", "other"]),  # the distribution kernreg-demo, before the kernel of that name
        ("other", ["other"]),
        ("rbf", ["rbf"]),
        ("twice", ["twice", "twice"]),
        ("two:twice", ["twice"]),
        ("two:rbf", []),
        ("nothing", []),
    ],
)
def test_what_a_word_means(what, names):
    assert [found.name for found in matching(what, ENTRIES)] == names


def test_a_right_plugin_passes_law_by_law(run, install):
    install("right-plugin", PLUGIN, kernels={"right": "right"}, ensemblers={"largest": "Largest"})
    result = run("check", "right-plugin")
    assert result.exit_code == 0, result.stdout
    assert "kernel right (right-plugin)\n  loads: held\n  shape: held\n" in result.stdout
    assert "ensembler largest (right-plugin)\n  loads: held\n" in result.stdout
    assert "identical views: held" in result.stdout
    assert " 0 broken" in result.stdout


def test_a_wrong_plugin_fails_and_the_law_is_named(run, install):
    install("mixed-plugin", PLUGIN, kernels={"right": "right", "wrong": "wrong"})
    result = run("check", "mixed-plugin")
    assert result.exit_code == 1
    (line,) = [line for line in result.stdout.splitlines() if "declared symmetry: broken" in line]
    assert "k(x, z) = " in line
    assert run("check", "mixed-plugin:right").exit_code == 0
    assert run("check", "wrong").exit_code == 1


def test_findings_as_json(run, install):
    install("mixed-plugin", PLUGIN, kernels={"wrong": "wrong"})
    result = run("check", "wrong", "--json")
    assert result.exit_code == 1
    broken = [finding["law"] for finding in json.loads(result.stdout) if finding["outcome"] == "broken"]
    assert "declared symmetry" in broken


def test_a_plugin_that_does_not_load_breaks_the_first_law(run, install):
    install("bad-plugin", "import no_such_module_anywhere", kernels={"bad": "bad"})
    result = run("check", "bad-plugin")
    assert result.exit_code == 1
    assert "loads: broken" in result.stdout
    assert "no_such_module_anywhere" in result.stdout


def test_an_unknown_plugin_cannot_be_checked(run):
    result = run("check", "no-such-plugin")
    assert result.exit_code == 2
    assert "pip install" in result.stderr


def test_a_built_in_kernel_and_engine_can_be_checked(run):
    assert run("check", "rbf").exit_code == 0
    result = run("check", "local", "--kind", "engine")
    assert result.exit_code == 0
    assert "sums to the bit: held" in result.stdout


def test_a_command_can_be_checked(run, install):
    install(
        "spoken-plugin",
        """
        import click

        @click.command("told")
        def told():
            "Say something."

        @click.command("mute")
        def mute():
            pass
        """,
        commands={"told": "told", "mute": "mute"},
    )
    assert run("check", "told").exit_code == 0
    result = run("check", "spoken-plugin")
    assert result.exit_code == 1
    assert "command mute has no help text; give its function a docstring" in result.stdout
    assert result.stdout.count("broken") == 2  # that law, and the count


def test_a_badge_says_how_many_laws_held(run, install, tmp_path, monkeypatch):
    install("mixed-plugin", PLUGIN, kernels={"right": "right", "wrong": "wrong"})
    monkeypatch.chdir(tmp_path)
    found = json.loads(run("check", "mixed-plugin", "--json").stdout)
    held, broken = (sum(finding["outcome"] == outcome for finding in found) for outcome in ("held", "broken"))
    result = run("check", "mixed-plugin", "--badge")
    assert result.exit_code == 1
    assert result.stdout.endswith("wrote mixed-plugin-badge.svg and mixed-plugin-badge.json\n")
    badge = json.loads((tmp_path / "mixed-plugin-badge.json").read_text())
    assert (badge["passed"], badge["total"], badge["api"]) == (held, held + broken, "1.0")
    assert (badge["distribution"], badge["version"]) == ("mixed-plugin", "1.0")
    assert badge["entries"] == ["kernel right", "kernel wrong"]
    assert "kernel wrong: declared symmetry" in badge["broken"]
    assert badge["color"] == "c62828"
    picture = ElementTree.parse(tmp_path / "mixed-plugin-badge.svg").getroot()
    assert f"{held}/{held + broken}, API 1.0" in [
        text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")
    ]


def test_a_badge_has_the_name_it_is_given_and_is_replaced_whole(run, install, tmp_path):
    install("right-plugin", PLUGIN, kernels={"right": "right"})
    for _ in range(2):
        result = run("check", "right", "--badge", str(tmp_path / "laws.svg"), "--json")
        assert result.exit_code == 0
        json.loads(result.stdout)  # nothing but the findings
    assert sorted(path.name for path in tmp_path.glob("laws*")) == ["laws.json", "laws.svg"]
    badge = json.loads((tmp_path / "laws.json").read_text())
    assert badge["passed"] == badge["total"] > 20
    assert badge["color"] == "2e7d32"


@pytest.mark.parametrize("name", ["badge.png", "nowhere/badge.svg"])
def test_a_badge_that_cannot_be_written_is_refused_before_the_check(run, install, tmp_path, monkeypatch, name):
    install("right-plugin", PLUGIN, kernels={"right": "right"})
    monkeypatch.chdir(tmp_path)
    result = run("check", "right", "--badge", name)
    assert result.exit_code == 2
    assert "--badge" in result.stderr
    assert "held" not in result.stdout


def test_a_plugin_file_is_checked_without_installing(run, tmp_path):
    file = tmp_path / "loose.py"
    file.write_text(PLUGIN.replace("\n    ", "\n"))
    with registry.isolated():
        result = run("--plugin", str(file), "check", "loose.py", "--kind", "ensembler")
        assert result.exit_code == 0, result.output
        assert f"ensembler largest ({file})\n  loads: held" in result.stdout
        listed = [entry for entry in json.loads(run("--plugin", str(file), "list", "--json").stdout) if entry["file"]]
        assert [(entry["name"], entry["file"]) for entry in listed] == [
            ("right", str(file)),
            ("wrong", str(file)),
            ("largest", str(file)),
        ]


def test_a_plugin_file_that_fails_is_told_in_one_message(run, tmp_path, monkeypatch):
    file = tmp_path / "bad.py"
    file.write_text("import nothing_of_that_name")
    result = run("--plugin", str(file), "list")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: cannot load the plugin file")
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    assert "KERNREG_PLUGINS='none'" in run("--plugin", str(file), "list").stderr
