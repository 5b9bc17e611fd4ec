"""How a solver with several views uses an ensembler: found by name, fitted to leave-one-out views, asked to merge."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from kernreg.errors import ParameterError
from kernreg.registry import get_registry, parse_spec
from kernreg.solvers.dual.systems import Views


def make_ensembler(spec: Any) -> Any:
    """Return a new, unfitted ensembler from a spec such as ``"average"``, a class or an object (which is copied)."""
    if isinstance(spec, str):
        read = parse_spec(spec)
        return get_registry("ensembler").get(read.name)(*read.args, **read.kwargs)
    if isinstance(spec, type) and hasattr(spec, "merge"):
        return spec()
    if hasattr(spec, "fit") and hasattr(spec, "merge"):
        return clone(spec, safe=False)
    known = ", ".join(repr(name) for name in get_registry("ensembler").names())
    raise ParameterError(
        f"ensembler={spec!r} is not accepted; give a name ({known}), or an object with fit(views, y) and merge(views)"
    )


def learns(ensembler: Any) -> bool:
    """Whether the ensembler learns from views, and so needs leave-one-out ones.

    An ensembler that does not says so with the class attribute ``uses_targets = False``; any other is taken to learn.
    """
    return bool(getattr(ensembler, "uses_targets", True))


def average(views: Views) -> np.ndarray:
    """Return the mean of the views."""
    return np.mean(list(views.values()), axis=0)
