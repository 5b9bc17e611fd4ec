"""The plugin uses public names of kernreg only."""

from __future__ import annotations

from pathlib import Path

from kernreg.testing import private_imports


def test_only_public_names_of_kernreg_are_imported():
    assert private_imports(Path(__file__).parents[1] / "src") == []
