"""Kernel SVD of large sample sets from a subsample of rows and columns: the asymmetric Nyström method.

Williams & Seeger, Using the Nyström method to speed up kernel machines, NeurIPS 2000.
Tao, Tonin, Lambert, Chen, Patrinos & Suykens, Learning in feature spaces via coupled covariances: asymmetric kernel SVD
and Nyström method, ICML 2024.

The singular functions of a kernel satisfy λ u(x) = ∫ κ(x, z) v(z) dz and λ v(z) = ∫ κ(x, z) u(x) dx. With the integrals
replaced by averages over n and m landmarks, they are the singular vectors of a block of the kernel matrix, and the same
equations give them everywhere else::

    G_nm = U Λ Vᵀ,      u(x) ∝ Σ_j κ(x, z_j) v_j / λ,      v(z) ∝ Σ_i κ(x_i, z) u_i / λ

so that N + M samples cost N m + n M kernel values, and new samples m or n each. The algorithm, and what is done
beyond the paper, is in `kernreg.linalg.landmarks.nystrom`.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kernreg.common.checks import as_number, check_choice, is_whole
from kernreg.common.progress import progress
from kernreg.engine.dispatch import placed_once
from kernreg.errors import ParameterError, shown
from kernreg.kernels import Kernel
from kernreg.linalg.landmarks.approximation import Approximation
from kernreg.linalg.landmarks.nystrom import NystromSettings, nystrom_triplets
from kernreg.linalg.landmarks.sampled_matrix import NORMALIZERS, SectionedMatrix, check_methods
from kernreg.linalg.landmarks.sections import Swapped
from kernreg.linalg.randomness import generator
from kernreg.linalg.spectra.partial import SINGULAR_METHODS
from kernreg.solvers.advice import warn_beyond_budget
from kernreg.solvers.decompositions.centred_triplets import kernel_dtype
from kernreg.solvers.decompositions.compatibility.fixed_maps import COMPATIBILITIES
from kernreg.solvers.decompositions.scores import centred_scores
from kernreg.solvers.decompositions.two_sided import TwoSided
from kernreg.solvers.samples import check_samples
from kernreg.solvers.streamed import row_by_row

_LANDMARKS, _FIRST_LANDMARKS = 500, 100  # by default; and to begin with, where a tolerance is given
_UNRELIABLE = 0.25  # relative error of estimated normalisers beyond which a warning is due


class AsymmetricNystroem(TwoSided):
    """Asymmetric Nyström: singular vectors and scores for both sides of a large kernel matrix, from part of it.

    Approximates `KernelSVD` and is used as it is: one sample set, a pair ``(X, Z)``, or a data matrix with a
    compatibility. All landmarks on both sides give the exact result; a symmetric kernel on one sample set gives the
    classic Nyström method.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        Any kernel, for example ``"sne(sigma=2.0)"``.
        By default that of the chain around it, else ``rbf``.
    n_components : int
        How many triplets, r.
    n_landmarks : int, tuple of two, or None
        Landmarks among the samples of the left (rows of the kernel matrix) and of the right side (columns). Default:
        500, or 10 r where that is more; with ``tol`` 100 or 4 r to begin with. No more than there are samples.
    landmarks : str, array of int, or tuple of two
        ``"uniform"``, ``"kmeans++"``, ``"leverage"`` (rows and columns chosen by one another's scores: for sparse
        graphs, whose weight is in few rows), ``"entropy"``, ``"rpcholesky"`` (pivots of randomly pivoted Cholesky; of
        kernels that are not positive definite, rows and columns by what is left of their norms;
        `solver_report_.trace_error` tells what they leave), or indices; in a tuple for left and right. A symmetric
        kernel on one sample set has the same landmarks on both sides, any other one independent ones.
    tol : float, optional
        Double the landmarks until η is estimated to be at most this. η is `kernreg.metrics.singular_vector_error`,
        estimated, on the safe side, by the change from one size to the next; `solver_report_.levels` shows all sizes.
    max_landmarks : int, tuple of two, or None
        Where doubling stops, by default at 5000; a ConvergenceWarning says so.
    compatibility : {None, "a0", "a1", "a2", "identity"}
        As in `KernelSVD`.
    center, scale : bool
        As in `KernelSVD`: centre rows and columns of the kernel matrix, divide singular values by √(NM).
    normalizers : {"auto", "exact", "estimate"}
        Kernels such as ``sne`` divide each row by its sum over all M right samples. ``exact`` sums up N × M kernel
        values and keeps the right samples in the model; ``estimate`` takes the sums over the landmarks, with weights
        fitted to the exact sums of the landmark rows. ``auto`` is exact up to 25 million values (a fraction of a
        second) and for sparse samples that share few features, and estimates beyond: there the sums would take longer
        than all the rest, and their errors (`solver_report_.normalizer_error`) are far below those of the vectors.
    orthogonalize : bool
        True: singular triplets of the low-rank approximation G_Nm G_nm⁺ G_nM, orthonormal and far more accurate. Its
        rank is max(4 r, r + 30), or a third of the landmarks where that is less, at least r, and without singular
        values of the block below a tenth of the r-th (`solver_report_.rank`); (N + M) rank numbers are held at once,
        whatever the memory budget, on which no result depends. False:
        those of the block as they are extended, columns normalised, singular values scaled by √(NM/(nm)), as in the
        paper.
    svd_solver : {"auto", "dense", "krylov", "arpack", "randomized"}
        How the block is decomposed.
    random_state : int, Generator or None
        Of the landmarks, and of ``a2``.

    Attributes
    ----------
    singular_values_ : ndarray of shape (r,)
    left_vectors_, right_vectors_ : ndarray of shape (N, r) and (M, r)
        Columns of length one, orthogonal where ``orthogonalize``; the largest entry of each left one is positive. Zero
        where the subsample has fewer than r directions.
    left_scores_, right_scores_ : ndarray of shape (N, r) and (M, r)
        Those of the training samples: the vectors times the singular values, not scaled.
    row_landmarks_, column_landmarks_ : ndarray of int
        Indices of the landmarks among left and right samples.
    kernel_ : Kernel
        The kernel, bound to the right samples, or to the landmarks among them where normalisers are estimated.
    compatibility_ : Compatibility
    solver_report_ : NystromReport
        Sizes, estimated η, kernel values looked at.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((1000, 3)) * [3.0, 2.0, 1.0]
    >>> model = AsymmetricNystroem("sne(sigma=8.0)", 4, n_landmarks=200).fit(X)
    >>> from kernreg.solvers import KernelSVD
    >>> exact = KernelSVD("sne(sigma=8.0)", 4).fit(X)
    >>> bool(np.abs(model.singular_values_ / exact.singular_values_ - 1).max() < 0.02)
    True
    >>> np.allclose(model.transform(X), model.left_scores_), model.get_feature_names_out()[0]
    (True, 'left0')
    >>> model = AsymmetricNystroem("sne(sigma=8.0)", 4, tol=1e-3).fit(X)
    >>> [level.rows for level in model.solver_report_.levels], model.solver_report_.converged
    ([100, 200], True)
    """

    streams = True

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        n_components: int = 2,
        *,
        n_landmarks: Any = None,
        landmarks: Any = "uniform",
        tol: float | None = None,
        max_landmarks: Any = None,
        compatibility: str | None = None,
        center: bool = True,
        scale: bool = True,
        normalizers: str = "auto",
        orthogonalize: bool = True,
        svd_solver: str = "auto",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.tol = tol
        self.max_landmarks = max_landmarks
        self.compatibility = compatibility
        self.center = center
        self.scale = scale
        self.normalizers = normalizers
        self.orthogonalize = orthogonalize
        self.svd_solver = svd_solver
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> AsymmetricNystroem:
        """Decompose the kernel matrix of the training samples, approximately, from a subsample.

        Parameters
        ----------
        X : array-like or CSR of shape (N, d), or a tuple of two
            One sample set, a data matrix, or two sample sets, as `KernelSVD` takes them.
        y : ignored
        """
        kernel = self.resolve_kernel()
        self._check_parameters(kernel)
        left, right = self._sample_sets(X, kernel)
        r = self._count(left, right)
        self.compatibility_ = self._make_compatible(left, right)
        left_samples = self.compatibility_.left_samples(left)
        other = None if right is left else self.compatibility_.right_samples(right)
        matrix = SectionedMatrix(kernel, left_samples, other, self.normalizers)
        methods = check_methods(self.landmarks, matrix.one)
        sizes = self._sizes(methods, matrix.shape, r)
        settings = NystromSettings(
            methods=methods,
            center=bool(self.center),
            orthogonalize=bool(self.orthogonalize),
            tol=None if self.tol is None else float(self.tol),
            largest=_pair(self.max_landmarks, "max_landmarks", matrix.shape),
            svd_method=self.svd_solver,
            seed=int(generator(self.random_state).integers(2**62)),
        )
        with placed_once(), progress("landmarks", max(matrix.shape)) as report:
            triplets = nystrom_triplets(
                matrix, r, sizes, settings, callback=lambda count, eta: report(count), before=self._say_what_is_needed
            )
        self._keep(triplets, matrix, kernel_dtype(matrix.X, matrix.Z))
        return self

    def _say_what_is_needed(self, needed: int) -> None:
        what = f"n_components={self.n_components} on landmarks"
        warn_beyond_budget(needed, what, "take fewer landmarks (n_landmarks) or components", stacklevel=7)

    def _keep(self, triplets: Approximation, matrix: SectionedMatrix, dtype: np.dtype) -> None:
        factor = np.sqrt(matrix.shape[0] * matrix.shape[1]) if self.scale else 1.0
        self.singular_values_ = (triplets.values / factor).astype(dtype)
        self.left_vectors_ = triplets.left.astype(dtype, copy=False)
        self.right_vectors_ = triplets.right.astype(dtype, copy=False)
        self._values = triplets.values
        self.row_landmarks_, self.column_landmarks_ = triplets.rows, triplets.columns
        self._section = section = triplets.section
        self.kernel_ = section.inner.kernel if isinstance(section, Swapped) else section.kernel
        self._left_map = triplets.left_coefficients, triplets.left_offset
        self._right_map = triplets.right_coefficients, triplets.right_offset
        self.solver_report_ = report = triplets.report
        self.n_iter_ = len(report.levels)
        if not report.converged:
            estimate = "unknown from one size" if np.isnan(report.eta) else f"{report.eta:.2g}"
            warnings.warn(
                f"the estimated error η is {estimate} with {report.rows} and {report.columns} landmarks, and "
                f"tol={report.tolerance:.2g} was asked for. Raise max_landmarks or tol, try landmarks='leverage', or "
                "use KernelSVD",
                ConvergenceWarning,
                stacklevel=4,
            )
        if report.note and (report.rows, report.columns) != report.shape:
            warnings.warn(
                f"{report.note}. Take more landmarks than {report.rows} and {report.columns}, or landmarks='leverage', "
                "or fewer components",
                ConvergenceWarning,
                stacklevel=4,
            )
        if report.normalizer_error > _UNRELIABLE:
            warnings.warn(
                f"the sums by which rows are normalised are estimated with an error of about "
                f"{100 * report.normalizer_error:.0f} %: the kernel is too local for {report.columns} landmarks. Use "
                "normalizers='exact', or more landmarks",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check_parameters(self, kernel: Kernel) -> None:
        self._require_flags("center", "scale", "orthogonalize")
        check_choice("svd_solver", self.svd_solver, SINGULAR_METHODS)
        check_choice("normalizers", self.normalizers, NORMALIZERS)
        tol: Any = self.tol
        if tol is not None and not 0.0 < as_number(tol) < np.inf:
            raise ParameterError(f"tol={shown(tol)} is not accepted; give a positive number, or None for a fixed size")
        if self.n_components is None:
            raise ParameterError(
                "n_components=None is not accepted; a subsample gives some components, give an integer"
            )
        if self.compatibility is None:
            return
        check_choice("compatibility", self.compatibility, [name for name in COMPATIBILITIES if name != "a3"])
        self._require_features(kernel)

    def _sizes(self, methods: tuple[Any, Any], shape: tuple[int, int], r: int) -> tuple[int, int]:
        """Return the landmarks of both sides, to begin with where they grow."""
        given = [not isinstance(method, str) for method in methods]
        if any(given) and self.tol is not None:
            raise ParameterError("tol lets the landmarks grow, and their indices were given; give only one of the two")
        default = max(_LANDMARKS, 10 * r) if self.tol is None else max(_FIRST_LANDMARKS, 4 * r)
        most = _pair(self.max_landmarks, "max_landmarks", shape)
        asked = _pair(self.n_landmarks, "n_landmarks", shape)
        if asked is None:
            # Half of the largest size to begin with: one size alone gives no estimate.
            first = (
                [default, default] if most is None or self.tol is None else [max(r, min(default, n // 2)) for n in most]
            )
            asked = min(first[0], shape[0]), min(first[1], shape[1])
        elif most is not None and self.tol is not None and (most[0] < asked[0] or most[1] < asked[1]):
            raise ParameterError(
                f"max_landmarks={shown(self.max_landmarks)} is less than n_landmarks={shown(self.n_landmarks)}, from "
                "which the landmarks grow; raise one or lower the other"
            )
        # Of lists the length: those of different lengths make no array, and are refused with the indices.
        counts = [len(m) if isinstance(m, list | tuple) else np.size(m) for m in methods]
        sizes = [count if fixed else size for count, fixed, size in zip(counts, given, asked, strict=True)]
        if r > min(sizes):
            raise ParameterError(
                f"n_components={r} is more than the landmarks, {sizes[0]} rows and {sizes[1]} columns; take more of "
                "these (n_landmarks), or fewer components"
            )
        return sizes[0], sizes[1]

    # Scores -------------------------------------------------------------------------------------------------

    @row_by_row
    def transform(self, X: Any) -> np.ndarray:
        """Return the left scores of samples like those of the left side.

        Parameters
        ----------
        X : array-like or CSR of shape (k, d)
            Each is compared with the landmarks of the right side.
        """
        check_is_fitted(self)
        samples = self.compatibility_.left_samples(check_samples(self, X, self.kernel_, reset=False))
        coefficients, offset = self._left_map
        products, dtype = partial(self._section.left, samples, coefficients), self.left_vectors_.dtype
        return centred_scores(samples, products, offset, dtype)

    @row_by_row
    def transform_right(self, Z: Any) -> np.ndarray:
        """Return the right scores of samples like those of the right side.

        Parameters
        ----------
        Z : array-like or CSR of shape (k, features)
            In rows; each is compared with the landmarks of the left side. Of a data matrix: new columns.
        """
        check_is_fitted(self)
        samples = self.compatibility_.right_samples(self._right_side(Z))
        coefficients, offset = self._right_map
        products, dtype = partial(self._section.right, samples, coefficients), self.right_vectors_.dtype
        return centred_scores(samples, products, offset, dtype)

    @property
    def left_scores_(self) -> np.ndarray:  # type: ignore[override]  # as large as the vectors: not kept
        """The left vectors times the singular values (not scaled): the scores of the training samples."""
        return self.left_vectors_ * self._values.astype(self.left_vectors_.dtype)

    @property
    def right_scores_(self) -> np.ndarray:  # type: ignore[override]  # as large as the vectors: not kept
        """The right vectors times the singular values (not scaled)."""
        return self.right_vectors_ * self._values.astype(self.right_vectors_.dtype)


def _pair(value: Any, name: str, shape: tuple[int, int]) -> tuple[int, int] | None:
    """Return two positive integers, no larger than the sides, from one, a tuple of two, or None."""
    if value is None:
        return None
    pair = value if isinstance(value, tuple) else (value, value)
    whole = all(is_whole(number) for number in pair)
    if len(pair) != 2 or not whole or min(pair) < 1:
        raise ParameterError(
            f"{name}={shown(value)} is not accepted; give a positive integer, a tuple of two (left, right), or None"
        )
    return min(int(pair[0]), shape[0]), min(int(pair[1]), shape[1])
