"""The example of the README runs, and the README names every kernel and solver there is."""

from __future__ import annotations

import doctest
from pathlib import Path

import kernreg

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_of_the_readme_runs():
    examples = doctest.DocTestParser().get_doctest(README, {}, "README", None, 0)
    assert examples.examples
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_the_readme_lists_every_kernel_and_solver():
    listed = {line.split("`")[1].split("(")[0] for line in README.splitlines() if line.startswith("| `")}
    entries = {entry.name for entry in kernreg.available() if entry.distribution == "kernreg-asymmetric"}
    assert listed == entries
