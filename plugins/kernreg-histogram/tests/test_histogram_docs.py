"""The examples of the README and of the kernels' docstrings run."""

from __future__ import annotations

import doctest
from pathlib import Path

import kernreg_histogram
import numpy as np
import pytest

README = Path(__file__).parents[1] / "README.md"
TEXTS = {name: getattr(kernreg_histogram, name).doc for name in kernreg_histogram.__all__}
TEXTS["README"] = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TEXTS)
def test_examples_run(name):
    names = {"np": np, **{family: getattr(kernreg_histogram, family) for family in kernreg_histogram.__all__}}
    examples = doctest.DocTestParser().get_doctest(TEXTS[name], names, name, None, 0)
    assert examples.examples
    runner = doctest.DocTestRunner()
    said: list[str] = []
    runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_the_readme_lists_every_kernel():
    listed = {line.split("`")[1].split("(")[0] for line in TEXTS["README"].splitlines() if line.startswith("| `")}
    assert listed == {getattr(kernreg_histogram, name).name for name in kernreg_histogram.__all__}
