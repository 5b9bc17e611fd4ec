"""What decompositions between two sample sets share: which samples come in on which side, and scores of both sides."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernreg.common.checks import check_choice, check_flag, is_whole, is_word
from kernreg.errors import DataError, ParameterError, shown
from kernreg.kernels import Kernel
from kernreg.solvers.decompositions.compatibility.fixed_maps import Compatibility, make_compatibility
from kernreg.solvers.parameters import KernelParameters
from kernreg.solvers.samples import check_samples, check_second, count_samples, input_kind

SIDES = ("source", "target", "both")
_ALIASES = {"left": "source", "right": "target"}  # the words of the literature on the SVD


class TwoSided(TransformerMixin, KernelParameters):
    """Scores of two sides: samples as they are given to `fit`, and what is asked of them afterwards.

    A subclass finds ``singular_values_``, ``left_scores_``, ``right_scores_`` and ``kernel_``, and has the parameters
    ``n_components``, ``compatibility``, ``center``, ``scale`` and ``random_state``.
    """

    #: Whether a fit works with rows that are read block by block.
    streams: ClassVar[bool] = False

    n_components: Any
    compatibility: str | None
    center: bool
    scale: bool
    random_state: Any
    kernel_: Kernel
    singular_values_: np.ndarray
    left_scores_: np.ndarray
    right_scores_: np.ndarray

    @abstractmethod
    def transform(self, X: Any) -> np.ndarray:
        """Return the left scores of samples like those of the left side."""

    @abstractmethod
    def transform_right(self, Z: Any) -> np.ndarray:
        """Return the right scores of samples like those of the right side."""

    def transform_target(self, Z: Any) -> np.ndarray:
        """Return the scores of targets: `transform_right` by its other name."""
        return self.transform_right(Z)

    @property
    def source_scores_(self) -> np.ndarray:
        """Scores of the training samples as sources: ``left_scores_`` by its other name."""
        return self.left_scores_

    @property
    def target_scores_(self) -> np.ndarray:
        """Scores of the training samples as targets: ``right_scores_`` by its other name."""
        return self.right_scores_

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the left scores of the training samples."""
        return self.fit(X, y).left_scores_

    # Samples ------------------------------------------------------------------------------------------------

    def _require_flags(self, *names: str) -> None:
        for name in names:
            check_flag(name, getattr(self, name))

    def _require_features(self, kernel: Kernel) -> None:
        if input_kind(kernel) != "table":
            raise ParameterError(
                f"compatibility={shown(self.compatibility)} maps features, and the samples of kernel {kernel.name!r} "
                "are not rows of features; use compatibility=None"
            )

    def _sample_sets(self, X: Any, kernel: Kernel) -> tuple[Any, Any]:
        """Return left and right samples, checked; the same object where they are one set."""
        pair = _as_pair(X, kernel)
        table = input_kind(kernel) == "table"
        self._mode = "pair" if pair else "one" if self.compatibility is None else "matrix"
        given, name = (pair[0], "X[0]") if pair else (X, "X")
        streamed = self.streams and self.compatibility is None
        left = check_samples(self, given, kernel, reset=True, name=name, streamed=streamed)
        if pair:
            right = check_second(pair[1], kernel, reset=True, name="X[1]", streamed=streamed)
        else:
            right = left if self._mode == "one" else _transposed(left)
        self._right_features = right.shape[1] if table else None
        if table and self.compatibility is None and left.shape[1] != right.shape[1]:
            raise DataError(
                f"X is a pair whose samples have {left.shape[1]} and {right.shape[1]} features; a kernel compares rows "
                "of equal length. Give a compatibility, 'a1', 'a2' or 'a3', which makes them comparable"
            )
        return left, right

    def _count(self, left: Any, right: Any) -> int:
        n, m = map(count_samples, (left, right))
        if self.center and min(n, m) == 1:
            of = " (A has 1 feature(s))" if self._mode == "matrix" and m == 1 else ""
            raise DataError(
                f"the {'left' if n == 1 else 'right'} side has 1 sample{of}, and centring leaves nothing of one; give "
                "more samples, or use center=False"
            )
        if self.n_components is None:
            return min(n, m)
        r = self.n_components
        if not is_whole(r) or not 1 <= int(r) <= min(n, m):
            raise ParameterError(
                f"n_components={shown(r)} is not accepted; with {n} sample{'s' * (n != 1)} on the left and {m} on the "
                f"right give an integer from 1 to {min(n, m)}, or None for all"
            )
        return int(r)

    def _right_side(self, Z: Any) -> Any:
        """Return samples like those of the right side, checked."""
        if self._mode == "one":
            return check_samples(self, Z, self.kernel_, reset=False, name="Z")
        Z = check_second(Z, self.kernel_, reset=False, name="Z")
        if self._right_features is not None and Z.shape[1] != self._right_features:
            what = "one for each row of the training matrix" if self._mode == "matrix" else "as in training"
            raise DataError(f"Z has {Z.shape[1]} features; right samples have {self._right_features}, {what}")
        return Z

    def _make_compatible(self, left: Any, right: Any) -> Compatibility:
        if self.compatibility is None:
            return Compatibility("none")
        both = self._mode == "matrix"
        return make_compatibility(
            self.compatibility, left, right, rows_and_columns=both, random_state=self.random_state
        )

    # Scores -------------------------------------------------------------------------------------------------

    def embed(self, X: Any = None, *, side: str = "both") -> np.ndarray:
        """Return the scores of the sources, of the targets, or both next to each other.

        Parameters
        ----------
        X : samples, or a tuple of two, optional
            By default the training samples. New ones as `transform` (sources) or `transform_right` (targets) take them;
            for both sides a tuple of them, or, where both sides are one sample set, the samples.
        side : {"source", "target", "both"}
            The sources are the left side of the SVD and the targets the right one: ``"left"`` and ``"right"`` are
            accepted too. Both sides can be put together where they have as many samples, as the nodes of a graph do.
        """
        check_is_fitted(self)
        side = _side(side)
        if side != "both":
            if X is None:
                return self.left_scores_ if side == "source" else self.right_scores_
            return self.transform(X) if side == "source" else self.transform_right(X)
        if X is None:
            left, right = self.left_scores_, self.right_scores_
        else:
            pair = _as_pair(X, self.kernel_) or ((X, X) if self._mode == "one" else None)
            if pair is None:
                raise DataError("both sides of new samples are asked for: give a tuple, left and right samples")
            left, right = self.transform(pair[0]), self.transform_right(pair[1])
        if len(left) != len(right):
            raise DataError(
                f"there are {len(left)} left and {len(right)} right samples, which cannot be put side by side; ask for "
                "side='source' or side='target'"
            )
        return np.hstack([left, right])

    def get_feature_names_out(self, input_features: Any = None, side: str = "left") -> np.ndarray:
        """Return the names of the scores: left0, left1, … for `transform`; those of the other side if asked for.

        Asked for by ``"source"`` or ``"target"`` they are named so.
        """
        check_is_fitted(self)
        _side(side)
        sides = ("left", "right") if side == "both" else (side,)
        return np.array([f"{name}{i}" for name in sides for i in range(len(self.singular_values_))], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = is_word(self.compatibility, "a3")
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _side(side: str) -> str:
    """Return the side that is meant, by either pair of words."""
    check_choice("side", side, (*SIDES, *_ALIASES))
    return _ALIASES.get(side, side)


def _as_pair(X: Any, kernel: Kernel) -> tuple[Any, Any] | None:
    """Return two sample sets where a tuple of them was given (a tuple of two rows is a table, as in scikit-learn)."""
    if not isinstance(X, tuple) or len(X) != 2:
        tables = isinstance(X, list | tuple) and X and all(len(getattr(side, "shape", ())) == 2 for side in X)
        if tables and input_kind(kernel) != "structured":  # of which a list of tables is one sample set
            raise DataError(
                f"X is a {type(X).__name__} of {len(X)} tables; two sample sets are given as a tuple of two, (X, Z), "
                "and one as a table"
            )
        return None
    if input_kind(kernel) == "structured":
        return X
    least = 2 if input_kind(kernel) == "table" else 1
    return X if all(len(getattr(side, "shape", None) or np.shape(side)) >= least for side in X) else None


def _transposed(A: Any) -> Any:
    """Return the columns of a matrix as samples in rows."""
    return A.T.tocsr() if hasattr(A, "tocsr") else np.ascontiguousarray(A.T)
