"""The example of the README runs."""

from __future__ import annotations

import doctest
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs():
    examples = doctest.DocTestParser().get_doctest(README.read_text(encoding="utf-8"), {}, "README", None, 0)
    assert examples.examples
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.failures == 0
