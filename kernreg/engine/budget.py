"""The memory budget: what may be allocated at once, and what to say when something is larger."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernreg.common.sizes import readable
from kernreg.config import get_config, memory_budget
from kernreg.engine.arrays import is_sparse
from kernreg.engine.memory import SHARE, recent_share
from kernreg.errors import MemoryBudgetError, MemoryBudgetWarning

NEGLIGIBLE = 1 << 22  # bytes that any machine has
_CHUNK = 1 << 16  # samples looked at together


def check_fits(shape: tuple[int, int], dtype: np.dtype, name: str) -> None:
    """Raise MemoryBudgetError when an array of that shape is larger than the budget."""
    needed = shape[0] * shape[1] * dtype.itemsize
    setting = get_config().memory
    if isinstance(setting, float) and (needed < NEGLIGIBLE or needed < recent_share(setting)):
        return  # a share of the available memory: reading how much there is would cost more than the matrix
    budget = memory_budget()
    if needed > budget:
        raise MemoryBudgetError(
            f"the {shape[0]} × {shape[1]} {dtype} matrix of kernel {name!r} needs {readable(needed)}, and the memory "
            f"budget is {readable(budget)}. Stream it with k.blocks(X, Z), multiply with k.operator(X, Z) without "
            "ever holding it, take float32 samples (half the size), use a solver with strategy='iterative' or "
            "'lowrank', or raise the budget with kernreg.config_context(memory=…)"
        )


def recent_budget() -> float:
    """Return the memory budget, one that is a share of the available memory as it was within the last second.

    >>> from kernreg import config_context
    >>> with config_context(memory="10MB"):
    ...     recent_budget()
    10000000.0
    """
    setting = get_config().memory
    return recent_share(setting) / SHARE if isinstance(setting, float) else float(memory_budget())


def set_amount() -> int:
    """Return the memory budget where it was set to an amount, and one larger than any where it is a share of memory.

    >>> from kernreg import config_context
    >>> with config_context(memory="10MB"):
    ...     set_amount()
    10000000
    """
    setting = get_config().memory
    return sys.maxsize if isinstance(setting, float) else memory_budget()


def beyond_budget(needed: int, what: str, instead: str) -> str:
    """Return what to say before something takes more than the budget; nothing where it fits.

    >>> from kernreg import config_context
    >>> with config_context(memory=10_000_000):
    ...     print(beyond_budget(20_000_000, "this", "take less").partition(";")[0], [beyond_budget(9_000_000, "", "")])
    this needs about 20.0 MB, more than the memory budget of 10.0 MB ['']
    """
    if needed < NEGLIGIBLE or needed <= (budget := memory_budget()):
        return ""
    return (
        f"{what} needs about {readable(needed)}, more than the memory budget of {readable(budget)}; {instead}, or "
        "raise the budget with kernreg.set_config(memory=…)"
    )


def warn_beyond_budget(needed: int, what: str, instead: str) -> None:
    """Warn before something takes more than the budget."""
    if message := beyond_budget(needed, what, instead):
        warnings.warn(message, MemoryBudgetWarning, stacklevel=2)


def chunks(X: Any, largest: int = _CHUNK) -> Iterator[slice]:
    """Yield slices of samples that are looked at together: many, but few enough to be copied."""
    n = X.shape[0]
    step = largest
    if X.ndim == 2 and X.shape[1] > 0 and not is_sparse(X):
        step = max(256, min(8 * largest, rows_within(X.shape[1], 8, 1 / 16)))
    for start in range(0, max(n, 1), step):
        yield slice(start, min(start + step, n))


def rows_within(columns: int, itemsize: int, share: float = 0.25) -> int:
    """Return how many rows of that many columns fit in a share of the budget (at least one)."""
    return max(1, int(memory_budget() * share) // max(1, columns * itemsize))
