"""Comparing arrays, and showing the one entry where they differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.testing.laws import fail

# Relative to the largest entry. Two ways of computing one kernel value differ by rounding only; a law that
# is really broken is broken by far more than this.
TOLERANCE = 1e-9
TOLERANCE_FLOAT32 = 1e-3


def show(value: Any) -> str:
    """Short readable form of a row or a number, for a counter-example."""
    with np.printoptions(precision=6, threshold=12, edgeitems=3, linewidth=200):
        return " ".join(str(np.asarray(value)).split())


def scale(*arrays: np.ndarray) -> float:
    """Largest magnitude among the entries, at least the smallest positive normal number."""
    largest = max((float(np.max(np.abs(a))) for a in arrays if a.size), default=0.0)
    return max(largest, float(np.finfo(float).tiny))


def worst_entry(got: np.ndarray, expected: np.ndarray) -> tuple[tuple[int, ...], float]:
    """Index of the entry that differs most, and the difference there (inf for NaN)."""
    difference = np.abs(np.asarray(got, dtype=float) - np.asarray(expected, dtype=float))
    difference = np.where(np.isnan(difference), np.inf, difference)
    index = np.unravel_index(int(np.argmax(difference)), difference.shape)
    return tuple(int(i) for i in index), float(difference[index])


def require_close(
    got: Any,
    expected: Any,
    what: str,
    *,
    names: tuple[str, str] = ("got", "expected"),
    tolerance: float = TOLERANCE,
) -> None:
    """Fail unless two arrays agree; the message holds the entry that differs most."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        fail(f"{what}: {names[0]} has shape {got.shape}, {names[1]} has shape {expected.shape}")
    if got.size == 0:
        return
    index, difference = worst_entry(got, expected)
    if not difference <= tolerance * scale(expected):
        fail(
            f"{what}: at {index}, {names[0]} = {float(got[index])!r} "
            f"but {names[1]} = {float(expected[index])!r} "
            f"(difference {difference:.3g}, allowed {tolerance * scale(expected):.3g})"
        )


def unchanged(now: Any, before: Any) -> bool:
    """Return whether samples are what they were: arrays of numbers, where NaN stays NaN, or arrays of such arrays.

    >>> unchanged(np.array([1.0, np.nan]), np.array([1.0, np.nan])), unchanged(np.zeros(2), np.ones(2))
    (True, False)
    """
    if isinstance(now, np.ndarray) and now.dtype == object:
        return len(now) == len(before) and all(map(unchanged, now, before))
    return bool(np.all((now == before) | ((now != now) & (before != before))))


def require_same(got: Any, expected: Any, what: str) -> None:
    """Fail unless two arrays are equal entry by entry."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        fail(f"{what}: shapes {got.shape} and {expected.shape}")
    same = (got == expected) | ((got != got) & (expected != expected))  # NaN counts as equal to NaN
    if not np.all(same):
        index = tuple(int(i) for i in np.argwhere(~same)[0])
        fail(f"{what}: at {index}, {got[index]!r} and {expected[index]!r}")


def require_error(expected: type[BaseException], action: Any, what: str) -> None:
    """Fail unless calling `action` raises `expected` with a message."""
    try:
        action()
    except expected as error:
        if not str(error).strip():
            fail(f"{what}: {type(error).__name__} was raised without a message")
    except Exception as error:
        fail(f"{what}: expected {expected.__name__}, but {type(error).__name__} was raised: {error}")
    else:
        fail(f"{what}: expected {expected.__name__}, but nothing was raised")
