"""What domains of parameters accept, and how they say so."""

from __future__ import annotations

import math

import pytest

from kernreg.kernels.domains import interval


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        (interval(), "a finite number"),
        (interval(0.0), "a finite number >= 0"),
        (interval(0.0, open_low=True), "a finite number > 0"),
        (interval(-1.0, 1.0), "a number in [-1, 1]"),
        (interval(0.0, 1.0, open_low=True), "a number in (0, 1]"),
        (interval(-math.inf, 2.0), "a number in [-inf, 2]"),
    ],
)
def test_an_interval_says_what_it_accepts(domain, text):
    assert str(domain) == text
