"""The example of the README runs, and the README names everything there is."""

from __future__ import annotations

import doctest
from pathlib import Path

import kernreg_krein

import kernreg
from kernreg.testing import private_imports

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_of_the_readme_runs():
    examples = doctest.DocTestParser().get_doctest(README, {}, "README", None, 0)
    assert examples.examples
    runner = doctest.DocTestRunner()
    said: list[str] = []
    runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_the_readme_lists_every_solver():
    listed = {line.split("`")[1] for line in README.splitlines() if line.startswith("| `")}
    solvers = {entry.name for entry in kernreg.available("solver") if entry.distribution == "kernreg-krein"}
    assert listed == solvers == {"krein-svm", "iksvm-dc", "krein-ridge", "krein-ridge-regressor"}


def test_public_names():
    assert all(hasattr(kernreg_krein, name) for name in kernreg_krein.__all__)


def test_only_public_names_of_kernreg_are_imported():
    assert private_imports(Path(__file__).parents[1] / "src") == []
