"""The examples of the README and of the kernels' docstrings run."""

from __future__ import annotations

import doctest
from pathlib import Path

import kernreg_structured
import numpy as np
import pytest

README = Path(__file__).parents[1] / "README.md"
FAMILIES = {name: family for name, family in vars(kernreg_structured).items() if hasattr(family, "__kernreg_kernel__")}
TEXTS = {name: family.doc for name, family in FAMILIES.items()}
TEXTS["README"] = README.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TEXTS)
def test_examples_run(name):
    examples = doctest.DocTestParser().get_doctest(TEXTS[name], {"np": np, **FAMILIES}, name, None, 0)
    assert examples.examples
    runner = doctest.DocTestRunner()
    said: list[str] = []
    runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_the_readme_lists_every_kernel():
    listed = {line.split("`")[1].split("(")[0] for line in TEXTS["README"].splitlines() if line.startswith("| `")}
    assert listed == {family.name for family in FAMILIES.values()}
