"""What must fit together in a restored estimator.

A file can be whole, and its arrays each well formed, and still not be a model: coefficients for more samples than there
are, say. Compiled code would read beyond an array then, and Python code fail much later. Any class can check itself in
a method ``__kernreg_restored__(self)``, which is called once the attributes are back and raises what it likes; here are
the checks of classes that have none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.kernels.domains import check_learnt


def check_restored(model: Any) -> None:
    """Raise an error, of any kind, where the attributes of a restored object do not fit together."""
    for module, name, check in _CHECKS:
        # A class that is not imported has no objects.
        cls = getattr(sys.modules.get(module), name, None)
        if cls is not None and isinstance(model, cls):
            check(model)
    own = getattr(type(model), "__kernreg_restored__", None)
    if own is not None:
        own(model)


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(f"{what} do not fit together")


def _section(section: Any) -> None:
    # The kernel's program is run on these without another look.
    sizes = [
        section.kernel.check_samples(side, "samples").shape[0] for side in (section.row_samples, section.column_samples)
    ]
    for name, size in (("row_normalizers", sizes[0]), ("weights", sizes[1])):
        if hasattr(section, name):
            check_learnt("a section", name, getattr(section, name), (size,))


def _libsvm(model: Any) -> None:
    # libsvm takes lengths from some of these arrays and reads the others.
    if not hasattr(model, "support_"):
        return
    count, classifies = len(model.support_), model._impl in ("c_svc", "nu_svc")
    classes = len(model.classes_) if classifies else 2
    pairs = classes * (classes - 1) // 2
    vectors = model.support_vectors_
    rows = 0 if model.kernel == "precomputed" else count
    _require(vectors.ndim == 2 and vectors.shape[0] == rows, "the support vectors and their indices")
    _require(model.support_.ndim == 1 and model.support_.dtype == np.int32, "the indices of support vectors")
    inside = bool(np.all((model.support_ >= 0) & (model.support_ < model.shape_fit_[0])))
    _require(inside, "the indices of support vectors and the samples")
    _require(model._dual_coef_.shape == (classes - 1, count), "the coefficients and the support vectors")
    numbers = model._n_support
    _require(numbers.dtype == np.int32 and numbers.shape == (classes,), "the numbers of support vectors")
    _require(not classifies or (numbers.min() >= 0 and numbers.sum() == count), "the numbers of support vectors")
    _require(model._intercept_.shape == (pairs,), "the intercepts and the classes")
    for each in (getattr(model, name, np.empty(0)) for name in ("_probA", "_probB")):
        _require(each.shape in ((0,), (pairs,)), "the probabilities and the classes")


_CHECKS: tuple[tuple[str, str, Callable[[Any], None]], ...] = (
    ("kernreg.linalg.landmarks.sections", "Section", _section),
    ("sklearn.svm._base", "BaseLibSVM", _libsvm),
)
