"""Views: the decision functions of a solver by name, and the ensemblers that merge them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from kernreg.errors import ParameterError
from kernreg.factory import make_ensembler

Views: TypeAlias = dict[str, np.ndarray]


def new_ensembler(spec: Any) -> Any:
    """Return a new, unfitted ensembler from a spec such as ``"average"``, a class or an object (which is copied)."""
    if isinstance(spec, str | type):
        return make_ensembler(spec)
    if hasattr(spec, "fit") and hasattr(spec, "merge"):
        return clone(spec, safe=False)
    raise ParameterError(
        f"ensembler={spec!r} is not accepted; give a name such as 'average' (`kernreg list` shows them), a class, or "
        "an object with fit(views, y) and merge(views)"
    )


def learns(ensembler: Any) -> bool:
    """Whether the ensembler learns from views, and so needs leave-one-out ones.

    An ensembler that does not says so with the class attribute ``uses_targets = False``; any other is taken to learn.
    """
    return bool(getattr(ensembler, "uses_targets", True))
