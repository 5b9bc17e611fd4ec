"""Which samples choose, and the best of several candidates by the mean score of its folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from kernreg.errors import KernregError, ParameterError

T = TypeVar("T")
S = TypeVar("S")


def choosing_samples(n: int, most: int, seed: int) -> np.ndarray:
    """Return the numbers of all of n samples, or of so many of them at random."""
    return np.random.default_rng(seed).permutation(n)[:most] if n > most else np.arange(n)


def best_candidate(
    candidates: Iterable[T],
    settings: Sequence[S],
    hits: Callable[[T], Sequence[Sequence[float]]],
    *,
    label: Callable[[T], str],
    what: str,
    refusals: tuple[type[Exception], ...] = (KernregError,),
) -> tuple[float, T, S, list[str]]:
    """Return score, candidate and setting, the first of equals, and what was skipped.

    Parameters
    ----------
    candidates : iterable
    settings : sequence
        Of the machine that follows, say every C.
    hits : callable
        The scores of a candidate: one row for each fold, one column for each setting.
    label : callable
        What a skipped candidate is called.
    what : str
        What cannot be done if every candidate is refused, for the error.
    refusals : tuple of exception types
        A candidate that raises one of these is skipped.
    """
    best: tuple[float, T, S] | None = None
    skipped = []
    for candidate in candidates:
        try:
            scores = np.mean(hits(candidate), axis=0)
        except refusals as error:
            skipped.append(f"{label(candidate)}: {error}")
            continue
        place = int(scores.argmax())
        if best is None or scores[place] > best[0]:
            best = float(scores[place]), candidate, settings[place]
    if best is None:
        raise ParameterError(f"{what}: {'; '.join(skipped)}")
    return (*best, skipped)
