"""Random states as users give them, as generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.common.checks import is_whole
from kernreg.errors import ParameterError, shown

_LARGEST_SEED = 2**128 - 1  # as many bits as NumPy's generators begin with
_LARGEST_LEGACY_SEED = 2**32 - 1


def check_random_state(random_state: Any) -> None:
    """Raise ParameterError for what no solver accepts as a random state.

    >>> for accepted in (None, 0, np.int64(3), np.random.default_rng(0), np.random.RandomState(0)):
    ...     check_random_state(accepted)
    >>> check_random_state(-1)
    Traceback (most recent call last):
    kernreg.errors.ParameterError: random_state=-1 is not accepted; give a non-negative integer below 2¹²⁸, a numpy \
Generator or RandomState, or None
    """
    if random_state is None or isinstance(random_state, np.random.Generator | np.random.RandomState):
        return
    if is_whole(random_state) and 0 <= int(random_state) <= _LARGEST_SEED:
        return
    seeds = isinstance(random_state, np.random.BitGenerator | np.random.SeedSequence)
    hint = ", such as numpy.random.default_rng of what you gave" if seeds else ""
    raise ParameterError(
        f"random_state={shown(random_state)} is not accepted; give a non-negative integer below 2¹²⁸, a numpy "
        f"Generator or RandomState, or None{hint}"
    )


def generator(random_state: Any) -> np.random.Generator:
    """Return a numpy Generator from a seed, a Generator or scikit-learn's kind of random state.

    >>> int(generator(0).integers(10)) == int(generator(np.random.default_rng(0)).integers(10))
    True
    """
    check_random_state(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def legacy_seed(random_state: Any) -> Any:
    """Return what scikit-learn takes as a random state: seeds of its size as they are, others by a draw.

    >>> legacy_seed(7), legacy_seed(2**100) < 2**31
    (7, True)
    """
    check_random_state(random_state)
    small = is_whole(random_state) and int(random_state) <= _LARGEST_LEGACY_SEED
    if random_state is None or small or isinstance(random_state, np.random.RandomState):
        return random_state
    return int(generator(random_state).integers(2**31))
