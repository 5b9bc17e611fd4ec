"""From side information to lists of pairs, all of them or some at random."""

from __future__ import annotations

import numpy as np

from kernreg import get_config
from kernreg.errors import MemoryBudgetError
from kernreg.solvers import SideInformation

BYTES_PER_PAIR = 80  # indices, signs, bounds and multipliers, and what is needed on the way to them


def labelled_pairs(
    side: SideInformation, count: int | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two samples and the sign (1 similar, -1 dissimilar) of every pair, or of ``count`` of them."""
    codes = getattr(side, "codes", None)
    if codes is None:
        similar, dissimilar = side.pairs()
        both = np.concatenate([similar, dissimilar])
        signs = np.concatenate([np.ones(len(similar)), -np.ones(len(dissimilar))])
        chosen = np.arange(len(both)) if count is None else np.sort(rng.permutation(len(both))[:count])
        return both[chosen, 0], both[chosen, 1], signs[chosen]
    labelled = np.flatnonzero(codes >= 0)
    total = len(labelled) * (len(labelled) - 1) // 2
    taken = total if count is None else min(count, total)
    budget = get_config().memory_budget()
    if taken * BYTES_PER_PAIR > budget:
        raise MemoryBudgetError(
            f"{len(labelled)} labels make {taken} pairs, which do not fit in the memory budget of {budget} bytes; take "
            f"some of them at random, n_constraints={budget // (2 * BYTES_PER_PAIR)} at most"
        )
    numbers = np.arange(total) if taken == total else np.sort(rng.choice(total, taken, replace=False))
    i, j = pairs_of_numbers(numbers)
    rows, columns = labelled[j], labelled[i]
    return rows, columns, np.where(codes[rows] == codes[columns], 1.0, -1.0)


def pairs_of_numbers(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return i > j of the pairs numbered 0: (1, 0), 1: (2, 0), 2: (2, 1), 3: (3, 0), …

    >>> [array.tolist() for array in pairs_of_numbers(np.arange(4))]
    [[1, 2, 2, 3], [0, 0, 1, 0]]
    """
    i = ((1.0 + np.sqrt(1.0 + 8.0 * numbers)) / 2.0).astype(np.int64)
    # The root may be one too large or too small by rounding.
    i -= i * (i - 1) // 2 > numbers
    i += i * (i + 1) // 2 <= numbers
    return i, numbers - i * (i - 1) // 2
