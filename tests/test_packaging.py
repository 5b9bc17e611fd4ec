"""What goes into the wheel, and what its metadata promise."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

import kernreg
from kernreg.cli.app import COMMANDS
from kernreg.cli.installation.new_plugin import FILES, USAGE
from kernreg.registry import KINDS

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (path,) = place.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_version_is_that_of_the_package(wheel):
    assert Path(wheel.filename).name == f"kernreg-{kernreg.__version__}-py3-none-any.whl"


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = set(wheel.namelist())
    assert "kernreg/py.typed" in names
    templates = {file.replace("KIND", kind) for file in (*FILES, USAGE) for kind in KINDS}
    assert {f"kernreg/cli/installation/plugin_template/{file}" for file in templates} <= names
    assert {name.split("/")[0] for name in names} == {"kernreg", f"kernreg-{kernreg.__version__}.dist-info"}
    assert not [name for name in names if "papers" in name]


def test_the_built_ins_are_entry_points_whose_modules_are_in_the_wheel(wheel):
    parser = ConfigParser(delimiters=["="])
    (path,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    parser.read_string(wheel.read(path).decode())
    assert parser["console_scripts"]["kernreg"] == "kernreg.cli:main"
    assert parser["kernreg.kernels"]["rbf"] == "kernreg.kernels.builtin:rbf"
    assert set(parser["kernreg.commands"]) == set(COMMANDS)
    for group in parser.sections():
        for target in parser[group].values():
            module = target.partition(":")[0].replace(".", "/")
            assert {f"{module}.py", f"{module}/__init__.py"} & set(wheel.namelist()), target
