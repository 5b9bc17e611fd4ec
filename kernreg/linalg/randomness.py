"""Random states as users give them, as generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import ParameterError


def generator(random_state: Any) -> np.random.Generator:
    """Return a numpy Generator from a seed, a Generator or scikit-learn's kind of random state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"random_state={random_state!r}; accepted are a non-negative integer, a numpy Generator or RandomState, "
            "and None"
        ) from error
