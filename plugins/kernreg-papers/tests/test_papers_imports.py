"""The plugin uses public names of kernreg only; its command keeps the laws and starts quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import kernreg_papers
from kernreg_papers.command import command

from kernreg.testing import check_command, private_imports


def test_only_public_names_of_kernreg_are_imported():
    assert private_imports(Path(__file__).parents[1] / "src") == []


def test_the_command_keeps_the_laws_of_commands():
    check_command(command)


def test_the_command_alone_imports_nothing_heavy():
    """In another process: this one has imported everything long ago."""
    code = (
        "import sys, kernreg_papers.command; print(sorted({'numpy', 'scipy', 'sklearn', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_names_of_the_package_are_there():
    assert all(getattr(kernreg_papers, name) is not None for name in kernreg_papers.__all__)
