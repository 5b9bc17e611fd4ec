"""What domains of parameters accept, and how they say so."""

from __future__ import annotations

import math

import pytest

from kernreg.kernels.domains import interval


@pytest.mark.parametrize(
    ("ends", "open_low", "text"),
    [
        ((), False, "a finite number"),
        ((0.0,), False, "a finite number >= 0"),
        ((0.0,), True, "a finite number > 0"),
        ((-1.0, 1.0), False, "a number in [-1, 1]"),
        ((0.0, 1.0), True, "a number in (0, 1]"),
        ((-math.inf, 2.0), False, "a number in [-inf, 2]"),
    ],
)
def test_an_interval_says_what_it_accepts(ends, open_low, text):
    assert str(interval(*ends, open_low=open_low)) == text
