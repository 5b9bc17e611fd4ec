from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import kernreg
from kernreg.cli.installation.new_plugin import CLASSES, PluginNames, contents, write_plugin
from kernreg.errors import ParameterError
from kernreg.registry import KINDS
from kernreg.testing import private_imports


def files(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("kind", "obj"), [(kind, "HeatFlow" if kind in CLASSES else "heat_flow") for kind in KINDS])
def test_the_package_is_complete_and_its_files_are_well_formed(tmp_path, run, kind, obj):
    result = run("new-plugin", "heat-flow", "--kind", kind, "--into", str(tmp_path))
    assert result.exit_code == 0
    assert "kernreg check heat-flow" in result.stdout
    plugin = tmp_path / "heat-flow"
    assert files(plugin) == {
        ".github/workflows/test.yml",
        "README.md",
        "docs/index.md",
        "pyproject.toml",
        "src/kernreg_heat_flow/__init__.py",
        "tests/test_heat_flow.py",
    }
    project = tomllib.loads((plugin / "pyproject.toml").read_text())["project"]
    assert project["name"] == "kernreg-heat-flow"
    # Without a bound, a package index may give an unrelated package of the same name.
    (bound,) = [line for line in project["dependencies"] if line.startswith("kernreg")]
    assert Version(kernreg.__version__) in Requirement(bound).specifier
    assert Version("0.0.9") not in Requirement(bound).specifier
    assert f'KERNREG: "{bound}"' in (plugin / ".github/workflows/test.yml").read_text()
    assert 'run: pip install "$KERNREG"' in (plugin / ".github/workflows/test.yml").read_text()
    assert project["entry-points"] == {f"kernreg.{kind}s": {"heat-flow": f"kernreg_heat_flow:{obj}"}}
    for path in plugin.rglob("*.py"):
        ast.parse(path.read_text())
    texts = contents(PluginNames.of("heat-flow", kind))
    # What is left of that form are expressions of the workflow.
    assert not any(re.search(r"\$\{(?!\{)", text) for text in texts.values())
    assert "python-version: ${{ matrix.python }}" in texts[".github/workflows/test.yml"]
    assert private_imports(plugin / "src") == []
    assert plugin.stat().st_mode & 0o777 == 0o755


def test_the_commands_printed_are_the_commands_to_run(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = run("new-plugin", "demo").stdout.splitlines()
    assert lines[-4:] == ["next:", '  pip install -e "./demo[test]"', "  kernreg check demo", '  pytest "./demo"']


@pytest.mark.parametrize(
    "name", ["", "Demo", "de mo", "demo_two", "-demo", "demo--two", "2d", "lambda", "kernel", "../x"]
)
def test_names_that_make_no_package_are_refused(tmp_path, name):
    with pytest.raises(ParameterError, match="cannot name a plugin"):
        write_plugin(name, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("kind", "name"), [("engine", "held-samples"), ("ensembler", "none"), ("command", "run")])
def test_names_that_would_hide_those_of_the_template_are_refused(tmp_path, kind, name):
    with pytest.raises(ParameterError, match=f"cannot name a plugin.*--kind {kind}"):
        write_plugin(name, tmp_path, kind)


def test_a_prefix_that_is_there_already_is_not_doubled():
    assert PluginNames.of("kernreg-heat") == PluginNames.of("heat")


def test_the_name_of_an_installed_kernel_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="'rbf' is provided by kernreg already"):
        write_plugin("rbf", tmp_path)
    with pytest.raises(ParameterError, match="the command 'fit' is provided by kernreg already"):
        write_plugin("fit", tmp_path, "command")


@pytest.mark.parametrize("what", ["directory", "file", "dangling link"])
def test_nothing_is_overwritten(tmp_path, run, what):
    target = tmp_path / "demo"
    if what == "directory":
        target.mkdir()
    elif what == "file":
        target.write_text("mine")
    else:
        target.symlink_to(tmp_path / "nowhere")
    result = run("new-plugin", "demo", "--into", str(tmp_path))
    assert result.exit_code == 2
    assert "exists and is not overwritten" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    assert not files(target) or what == "file"


def test_a_failure_half_way_leaves_nothing(tmp_path, run, monkeypatch):
    written = []
    original = Path.write_text

    def full_disk(self, *args, **kwargs):
        if len(written) == 2:
            raise OSError(28, "No space left on device")
        written.append(self)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full_disk)
    result = run("new-plugin", "demo", "--into", str(tmp_path))
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert len(written) == 2
    assert not list(tmp_path.iterdir())


def test_an_interrupt_half_way_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_plugin("demo", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_place_that_does_not_exist_is_named(tmp_path, run):
    result = run("new-plugin", "demo", "--into", str(tmp_path / "nowhere"))
    assert result.exit_code == 2
    assert "nowhere" in result.stderr
    assert "--into" in result.stderr


def test_new_plugins_of_every_kind_pass_their_own_tests_and_the_check_unedited(tmp_path):
    """In processes of their own, in which the packages are on the path as pip would put them there."""
    names = [f"trial-{kind}" for kind in KINDS]
    for kind, name in zip(KINDS, names, strict=True):
        folder = write_plugin(name, tmp_path, kind)
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        metadata = folder / "src" / f"kernreg_trial_{kind}-0.1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
        ((group, points),) = project["entry-points"].items()
        lines = [f"[{group}]", *(f"{point} = {target}" for point, target in points.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    path = os.pathsep.join(str(tmp_path / name / "src") for name in names)
    checks = "\n".join(f"application(['check', 'kernreg-{name}'], standalone_mode=False)" for name in names)
    for arguments, expected in (
        (["-m", "pytest", "-q", "-p", "no:cacheprovider", *names], " passed"),
        (["-c", f"from kernreg.cli.app import application\n{checks}"], " 0 broken"),
    ):
        done = subprocess.run(
            [sys.executable, "-W", "error", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count(expected) == (1 if expected == " passed" else len(names))


@pytest.mark.slow
def test_a_new_plugin_installs_and_passes_the_check_and_its_own_tests_unedited(tmp_path):
    """The three commands of the documentation, with a true pip, in an environment of their own."""
    environment = tmp_path / "environment"
    venv.EnvBuilder(with_pip=False).create(environment)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    # What is installed here is visible there (editable installs too), what is installed there is not here.
    here = sysconfig.get_paths()["purelib"]
    there = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    (Path(there) / "outer.pth").write_text(f"import site; site.addsitedir({here!r})\n")

    def call(*arguments):
        done = subprocess.run(list(map(str, arguments)), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call(python, "-m", "kernreg.cli", "new-plugin", "demo")
    # Without isolation, dependencies and index: the network is no part of this test.
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    call(*pip, "--no-build-isolation", "--no-deps", "--no-index", "./demo")
    text = call(python, "-m", "kernreg.cli", "check", "demo")
    assert "kernel demo (kernreg-demo)" in text
    assert " 0 broken" in text
    assert "kernreg-demo" in call(python, "-m", "kernreg.cli", "list")
    assert " passed" in call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "demo")
