from __future__ import annotations

import json
import textwrap

import pytest

import kernreg
from kernreg import config_context, registry
from kernreg.cli.installation.doctor import examine
from kernreg.errors import PluginLoadError

RIGHT = '''
    from kernreg import kernel

    @kernel(of="dot", symmetric=True, definite=True)
    def right(s):
        """⟨x, z⟩."""
        return 1.0 * s
'''


def test_without_problems_the_exit_code_is_0(run, monkeypatch):
    monkeypatch.setenv("KERNREG_PLUGINS", "none")  # whatever else is installed here
    result = run("doctor")
    assert result.exit_code == 0, result.stdout
    for piece in [
        "python",
        kernreg.__version__,
        "numba",
        "openblas",
        "cache directory",
        "found by",
        "threading",
    ]:
        assert piece in result.stdout
    assert result.stdout.endswith("no problems with plugins\n")


ENGINE = """
    from kernreg.engine import Engine, HeldSamples, combined

    class Cluster(Engine):
        def __init__(self, workers=3):
            self.workers = workers

        def place(self, samples, check=None):
            return HeldSamples(samples, check)

        def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
            raise NotImplementedError

        def describe(self):
            return {"workers": self.workers}
"""


def test_the_engine_in_force_is_shown(run, install):
    install("cluster-plugin", ENGINE, engines={"cluster": "Cluster"})
    with config_context(engine="cluster(workers=5)"):
        diagnosis = json.loads(run("doctor", "--json").stdout)
    assert diagnosis["settings"]["engine"] == "cluster(workers=5)"
    assert diagnosis["engine"]["class"] == "Cluster"
    assert diagnosis["engine"]["workers"] == "5"
    with config_context(engine=kernreg.make_engine("cluster")):
        assert examine().settings["engine"] == "Cluster"
    with config_context(engine="nowhere"):
        assert "nowhere" in examine().engine["problem"]


def test_an_engine_with_a_wrong_method_is_named(run, install):
    install("wrong-plugin", ENGINE.replace(", *, args=()", ""), version="0.4", engines={"wrong": "Cluster"})
    result = run("doctor")
    assert result.exit_code == 1
    shown = " ".join(result.stdout.split())
    assert "engine wrong of wrong-plugin 0.4 is broken" in shown
    assert "cannot be called as map_rows(kernel, X, Z, function, combine, args=…)" in shown
    with config_context(engine="wrong"), pytest.raises(PluginLoadError, match=r"wrong-plugin 0.4.*map_rows"):
        kernreg.make_kernel("rbf")([[1.0]])


def test_a_broken_plugin_is_reported_with_reason_and_remedy(run, install):
    install("bad-plugin", "import no_such_module_anywhere", version="2.3", kernels={"bad": "bad"})
    result = run("doctor")
    assert result.exit_code == 1
    assert "kernel bad of bad-plugin 2.3 is broken:" in result.stdout
    assert "no_such_module_anywhere" in result.stdout
    assert "what to do: upgrade or uninstall bad-plugin" in result.stdout


def test_conflicting_plugins_are_reported_though_each_works(run, install):
    install("one-plugin", RIGHT, kernels={"same": "right"})
    install("other-plugin", RIGHT, kernels={"same": "right"})
    result = run("doctor")
    assert result.exit_code == 1
    assert "ask for it as 'one-plugin:same'" in result.stdout
    assert "ask for it as 'other-plugin:same'" in result.stdout


def test_an_incompatible_plugin_is_reported(run, install):
    install("old-plugin", "__kernreg_api__ = '0.1'\nright = None", kernels={"old": "right"})
    problems = json.loads(run("doctor", "--json").stdout)["problems"]
    assert [(problem["entry"]["name"], problem["entry"]["status"]) for problem in problems] == [("old", "incompatible")]


def test_a_plugin_for_a_newer_minor_version_is_a_note_not_a_problem(install):
    install("new-plugin", f"__kernreg_api__ = '1.99'\n{textwrap.dedent(RIGHT)}", kernels={"newer": "right"})
    diagnosis = examine()
    assert not [problem for problem in diagnosis.problems if problem.entry.name == "newer"]
    assert any("1.99" in note for note in diagnosis.notes)


def test_a_blocked_plugin_is_the_users_choice(run, install, monkeypatch):
    install("bad-plugin", "raise SystemExit", kernels={"bad": "bad"})
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    result = run("doctor")
    assert result.exit_code == 0
    assert "blocked" in result.stdout


def test_foreign_metadata_that_cannot_be_read_is_named(install):
    place = install("right-plugin", RIGHT, kernels={"right": "right"})
    foreign = place / "foreign-1.0.dist-info"
    foreign.mkdir()
    (foreign / "entry_points.txt").write_text("this is no entry point file\n")
    kernreg.registry.refresh()
    diagnosis = examine()
    assert diagnosis.discovery["found by"] == "importlib.metadata"
    assert any("foreign-1.0.dist-info" in note for note in diagnosis.notes)
    assert not diagnosis.problems


def test_a_plugin_that_prints_does_not_spoil_the_json(run, install):
    install("loud-plugin", 'print("hello")\n' + textwrap.dedent(RIGHT), kernels={"loud": "right"})
    result = run("doctor", "--json")
    assert json.loads(result.stdout)["plugins"]["loaded"] >= 1
    assert "hello" in result.stderr


def test_a_cache_that_cannot_be_written_is_noted(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    with config_context(cache_dir=str(blocked / "cache")):
        diagnosis = examine()
    assert "not writable" in diagnosis.settings["cache directory"]
    assert any("KERNREG_CACHE_DIR" in note for note in diagnosis.notes)


def test_damaged_metadata_of_a_dependency_do_not_stop_it(run, install):
    place = install("good-plugin", RIGHT, kernels={"right": "right"})
    (place / "numpy-0.1.dist-info").mkdir()
    (place / "numpy-0.1.dist-info/METADATA").write_bytes(b"\xff")
    (place / "numpy-0.1.dist-info/entry_points.txt").symlink_to("entry_points.txt")
    registry.refresh()
    result = run("doctor")
    assert result.exit_code == 0
    assert "numpy" in result.stdout
    assert "numpy-0.1.dist-info/entry_points.txt" in result.stdout
