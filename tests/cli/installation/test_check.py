from __future__ import annotations

import json

import pytest

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
