"""The example of the README runs, and the README names everything there is."""

from __future__ import annotations

import doctest
from pathlib import Path

import kernreg_metric

import kernreg

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_of_the_readme_runs():
    examples = doctest.DocTestParser().get_doctest(README, {}, "README", None, 0)
    assert examples.examples
    runner = doctest.DocTestRunner()
    said: list[str] = []
    runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_the_readme_lists_every_learner_and_function():
    listed = {line.split("`")[1].split("(")[0] for line in README.splitlines() if line.startswith("| `")}
    solvers = {entry.name for entry in kernreg.available("solver") if entry.distribution == "kernreg-metric"}
    functions = {name for name in kernreg_metric.__all__ if name.islower()} - {"conformal"}  # a kernel family
    assert listed == solvers | functions
