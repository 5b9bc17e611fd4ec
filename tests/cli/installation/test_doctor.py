from __future__ import annotations

import json
import textwrap

import kernreg
from kernreg import config_context
from kernreg.cli.installation.doctor import examine

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
    assert result.stdout.endswith("no plugin has a problem\n")


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
