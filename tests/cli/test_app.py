"""The command line as a whole: start-up, help, errors and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import kernreg
from kernreg.cli.app import COMMANDS

HEAVY = ["numba", "numpy", "scipy", "sklearn", "pandas", "cvxopt"]


def test_without_standard_output_a_table_is_not_lost_in_silence(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("a,b\n" + "".join(f"{n},{n * n % 7}\n" for n in range(12)))
    code = "import sys; sys.stdout = None; from kernreg.cli.app import application; application(sys.argv[1:])"
    command = [sys.executable, "-c", code, "bicluster", str(data), "-n", "2", "-k", "linear"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no standard output" in done.stderr
    assert "--output" in done.stderr


def test_version(run):
    assert run("--version").stdout == f"kernreg {kernreg.__version__}\n"


def test_help_lists_every_command(run):
    text = run("--help").stdout
    for name, summary in COMMANDS.items():
        assert name in text
        assert summary in " ".join(text.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run, name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Usage: kernreg {name}" in result.stdout


def test_an_unknown_command_is_a_usage_error(run):
    result = run("lst")
    assert result.exit_code == 2
    assert "No such command 'lst'. Did you mean 'list'?" in result.stderr
    assert "Did you mean" not in run("zzzzzz").stderr


def test_a_kernreg_error_is_one_message_without_a_traceback(run):
    result = run("info", "kernel", "no-such-kernel")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert "no-such-kernel" in result.stderr
    assert "Traceback" not in result.stderr + result.stdout


def test_listing_imports_nothing_heavy():
    """In another process: this one has imported everything long ago."""
    program = (
        "import json, sys\n"
        "from kernreg.cli import main\n"
        "sys.argv = ['kernreg', 'list', '--kind', 'kernel']\n"
        "try:\n    main()\n"
        "except SystemExit as stop:\n    print(json.dumps([stop.code, sorted(sys.modules)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    assert "rbf" in done.stdout
    assert not [name for name in HEAVY if name in modules]


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "kernreg.cli", "info", "kernel", "rbf("],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
