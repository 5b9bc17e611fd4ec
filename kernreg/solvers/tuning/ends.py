"""Whether the best of some values is at their end, so that others may be better."""

from __future__ import annotations

import re
from typing import Any

import numpy as np


def end_of_values(name: str, best: Any, tried: list[Any]) -> str:
    """Return what to say of the best of at least three numbers, or multiples of a word, that is at their end.

    >>> end_of_values("kernel__sigma", "4*scale", ["scale", "2*scale", "4*scale"])
    'kernel__sigma=4*scale is the largest of 3 values, and larger ones may be better: extend the grid'
    """
    sizes = {_size(value) for value in tried if value is not None}
    units, numbers = {size[0] for size in sizes if size}, [size[1] for size in sizes if size]
    if None in sizes or len(units) != 1 or len(numbers) < 3:
        return ""
    size = _size(best)
    assert size is not None
    if min(numbers) < size[1] < max(numbers):
        return ""
    which, other = ("largest", "larger") if size[1] == max(numbers) else ("smallest", "smaller")
    return f"{name}={best} is the {which} of {len(numbers)} values, and {other} ones may be better: extend the grid"


def _size(value: Any) -> tuple[str, float] | None:
    """Return the unit and the size of a number (no unit) or a multiple of a word; None for anything else."""
    if isinstance(value, int | float | np.number) and value is not True and value is not False:
        return "", float(value)
    match = re.fullmatch(r"\s*(?:([\d.eE+-]+)\s*\*\s*)?([a-z]+)\s*", value) if isinstance(value, str) else None
    return None if match is None else (match[2], float(match[1] or 1.0))
