"""How much each feature matters: see `FeatureRelevance`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from kernreg.engine.arrays import check_finite
from kernreg.errors import DataError, ParameterError, shown
from kernreg.kernels import Kernel
from kernreg.kernels.widths import is_open
from kernreg.linalg.randomness import generator
from kernreg.solvers.advice import warn_beyond_budget
from kernreg.solvers.dual.targets import ClassTargets, one_vs_rest
from kernreg.solvers.parameters import KernelParameters, check_choice, check_count
from kernreg.solvers.relevance.batches import BATCHES, Batches
from kernreg.solvers.relevance.descent import RelevanceReport, descend
from kernreg.solvers.relevance.loss import MATRICES, POWERS
from kernreg.solvers.samples import check_real_targets, check_samples
from kernreg.solvers.streamed import row_by_row

TASKS = ("auto", "classification", "regression")

_SEVERAL = 50  # different numbers beyond which whole numbers are no classes
_FEWEST = 5  # samples: one is held out, and two of the others are needed to say anything


class FeatureRelevance(OneToOneFeatureMixin, TransformerMixin, KernelParameters):
    """Multiply each feature by how much it matters, so that a kernel on what comes out predicts best.

    A kernel of distances takes all features alike, and those that say nothing drown those that do. The weights are
    found by gradient descent on the exact leave-one-out error of least squares (LS-SVM without an offset) in one small
    neighbourhood after another; half a million samples take as long as fifty thousand. A fifth of the samples is held
    out: where they are predicted no better than with equal weights of standardised features, those are used.

    The weights contain the width: they are those for ``kernel_``, whose width is one unless another number was given.
    After it comes a machine with that kernel, ``make_chain("relevance", "cells(kernel='laplacian(sigma=1.0)')")``, or
    one that chooses a width near that.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        Symmetric, of the l1 or the Euclidean distance: laplacian, rbf, matern, cauchy, rational-quadratic, or one of
        a plugin. A width that is a word, such as ``"scale"``, becomes one: the weights say the same.
        By default that of the chain around it, else ``laplacian``.
    batch_size : int
        Samples of a neighbourhood. A step takes as long as some inverses of matrices of that size.
    max_iter : int
        Steps.
    batches : {"near", "random"}
        Learn in neighbourhoods, as machines on many samples see them, or on samples drawn at random.
    task : {"auto", "classification", "regression"}
        What y is. ``auto`` takes numbers that are not whole, or of more than 50 values, for regression.
    random_state : int, Generator or None
        Of the batches.

    Attributes
    ----------
    weights_ : ndarray of shape (d,)
        By which features are multiplied; 0 for those that are constant.
    gamma_ : float
        γ that was learned with them.
    kernel_ : Kernel
        The kernel that the weights are for, its widths numbers.
    losses_ : ndarray of shape (max_iter,)
        The leave-one-out error of each batch, before the step it led to.
    n_iter_ : int
        The steps that were made.
    solver_report_ : RelevanceReport
        Errors at held-out samples, with equal weights and with those learned.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 10))
    >>> y = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2
    >>> scaler = FeatureRelevance("rbf", batch_size=200).fit(X, y)
    >>> sorted(scaler.weights_.argsort()[-2:].tolist()), bool(scaler.weights_[2:].max() < 0.5 * scaler.weights_[1])
    ([0, 1], True)
    >>> import kernreg as kr
    >>> from sklearn.model_selection import cross_val_score
    >>> chain = kr.make_chain(scaler, "ls-svr(kernel='rbf(sigma=1.0)', gamma=100.0)")
    >>> both = [cross_val_score(each, X[:600], y[:600], cv=3).mean() for each in (chain, kr.make_solver("ls-svr"))]
    >>> bool(both[0] > 0.95 > 0.8 > both[1])
    True
    """

    default_kernel = "laplacian"

    def __init__(
        self,
        kernel: Any = None,
        *,
        batch_size: int = 600,
        max_iter: int = 100,
        batches: str = "near",
        task: str = "auto",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.batches = batches
        self.task = task
        self.random_state = random_state

    weights_: np.ndarray
    gamma_: float
    kernel_: Kernel
    losses_: np.ndarray
    n_iter_: int
    solver_report_: RelevanceReport

    def fit(self, X: Any, y: Any) -> FeatureRelevance:
        """Learn the weights.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, outputs)
            Classes, or real numbers.
        """
        kernel = _with_widths(self.resolve_kernel())
        size, steps = check_count("batch_size", self.batch_size, _FEWEST), check_count("max_iter", self.max_iter)
        near = check_choice("batches", self.batches, BATCHES) == "near"
        task = check_choice("task", self.task, TASKS)
        if y is None:
            raise DataError("FeatureRelevance requires y to be passed, but the target y is None")
        X = check_samples(self, X, kernel, reset=True)
        if not isinstance(X, np.ndarray):
            raise DataError("X is sparse; relevance takes dense samples: X.toarray(), or features chosen before")
        check_consistent_length(X, y)
        if len(X) < _FEWEST:
            raise DataError(f"n_samples={len(X)}: relevance needs at least {_FEWEST} samples, one to check by")
        Y, most = _columns(np.asarray(y), task), min(size, len(X))
        what = f"relevance in batches of {most} samples"
        warn_beyond_budget(8 * MATRICES * most**2, what, "take a smaller batch_size", stacklevel=3)
        batches = Batches(X, Y, size, near, POWERS[kernel.family.of], generator(self.random_state))
        learned = descend(kernel, batches, steps, min(size, len(X) - batches.held_out))
        self.kernel_, self.weights_, self.gamma_ = kernel, learned.weights, learned.gamma
        self.losses_, self.n_iter_, self.solver_report_ = learned.losses, steps, learned.report
        return self

    @row_by_row
    def transform(self, X: Any) -> np.ndarray:
        """Return the samples with every feature multiplied by its weight, in the dtype they are in."""
        check_is_fitted(self, "weights_")
        X = check_samples(self, X, self.kernel_, reset=False)
        return np.asarray(X * self.weights_.astype(X.dtype))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _with_widths(kernel: Kernel) -> Kernel:
    """Return the kernel with numbers for widths; raise ParameterError where it takes no weights."""
    if kernel.family.of not in POWERS or not kernel.symmetric or kernel.normalize:
        raise ParameterError(
            f"kernel={shown(kernel)} is not accepted; give a symmetric one of the l1 or the Euclidean distance, such "
            "as laplacian, rbf, matern, cauchy or rational-quadratic"
        )
    given = kernel.get_params()
    return kernel.set_params(**{name: 1.0 for name in kernel.family.widths if is_open(given[name])})


def _columns(y: np.ndarray, task: str) -> np.ndarray:
    """Return targets as columns of numbers of about the same size."""
    if task != "regression":
        if y.dtype.kind == "f":
            check_finite(y, "y")
        kind = type_of_target(y, input_name="y")
        many = y.dtype.kind in "iuf" and len(np.unique(y)) > _SEVERAL
        task = "regression" if task == "auto" and (many or kind.startswith("continuous")) else "classification"
    if task == "classification":
        if y.ndim > 1 and y.shape[1] > 1:
            raise DataError(f"y has {y.shape[1]} columns of labels; relevance takes one, or task='regression'")
        targets = ClassTargets.of(y.ravel())
        return one_vs_rest(targets.codes(y.ravel()), len(targets.classes))
    Y = check_real_targets(y).reshape(len(y), -1)
    spread = Y.std(axis=0)
    if not np.any(spread > 0.0):
        raise DataError("y is constant: there is nothing that features could matter for")
    return Y[:, spread > 0.0] / spread[spread > 0.0]
