"""Kernel principal component analysis for symmetric kernels, positive definite or not.

Schölkopf, Smola & Müller, Nonlinear component analysis as a kernel eigenvalue problem, Neural Computation 10 (1998).
Huang, Maier, Hornegger & Suykens, Indefinite kernels in least squares support vector machines and principal component
analysis, ACHA 43 (2017).

Eigenpairs of the centred kernel matrix, J = I - 11ᵀ/m::

    J K J = V diag(λ) Vᵀ

An indefinite kernel has eigenvalues of either sign. With s = sign(λ) the scores of the training samples and of new ones
are::

    T = V diag(√|λ|),        t_j(x) = s_j |λ_j|^(-1/2) Σ_i v_ij (k(x, x_i) - mean_l k(x_l, x_i))

so that J K J = T diag(s) Tᵀ: scores are coordinates in a space whose inner product counts component j with the sign
s_j, and the ordinary scores of kernel PCA where all signs are positive. (The other two terms of centring drop out,
because the entries of an eigenvector add up to zero.)

With sample weights w the matrix is P S K S P, S = diag(√w), P the projection away from √w; means are weighted ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError

from kernreg.common.checks import check_choice, check_flag, is_whole
from kernreg.common.progress import residual_progress
from kernreg.engine.dispatch import current_engine
from kernreg.errors import DataError, MemoryBudgetWarning, ParameterError, shown
from kernreg.linalg.spectra.basis import peak_signs
from kernreg.linalg.spectra.partial import ORDERS, Hints
from kernreg.linalg.spectra.products import NotFiniteError
from kernreg.linalg.spectra.report import PartialReport
from kernreg.solvers.advice import advise
from kernreg.solvers.declarations import refuse_false_declarations
from kernreg.solvers.decompositions.centred_eigenpairs import Components, principal_components
from kernreg.solvers.decompositions.preimages import default_kernel, learn_inverse, require_invertible
from kernreg.solvers.decompositions.room import doubt_of_pairs
from kernreg.solvers.decompositions.scores import centred_scores
from kernreg.solvers.finiteness import not_finite_error
from kernreg.solvers.parameters import KernelParameters
from kernreg.solvers.samples import check_fitted, check_samples, input_kind, without_zero_weights
from kernreg.solvers.streamed import reading_note, row_by_row
from kernreg.solvers.symmetry import require_symmetric, require_symmetric_on_some

EIGEN_SOLVERS = ("auto", "dense", "krylov", "arpack", "lobpcg", "randomized", "operator")

_FEW = 0.1  # up to this share of all components products alone may be faster than the matrix


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelParameters):
    """Kernel principal component analysis.

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        A symmetric kernel, definite or not, for example ``"rbf(sigma=2.0)"`` or ``"tl1(rho=3.0)"``; an asymmetric one
        is refused.
        By default that of the chain around it, else ``rbf``.
    n_components : int, optional
        How many components, at most as many as samples; by default all with an eigenvalue that is not zero.
    order : {"magnitude", "value"}
        Which eigenvalues come first: the largest |λ|, or the largest λ (negative ones last).
    eigen_solver : {"auto", "dense", "krylov", "arpack", "lobpcg", "randomized", "operator"}
        ``dense`` is LAPACK on the centred matrix, ``krylov`` a block Lanczos method, ``randomized`` subspace iteration
        (approximate). All of these hold the kernel matrix; ``operator`` never does, and runs the block Lanczos method
        on streamed products. ``auto`` takes what is fastest for the number of samples and components and fits the
        memory budget; it is as exact as ``dense``. `solver_report_` says what ran.
    fit_inverse_transform : bool
        Whether to learn the way back from scores to samples, by ridge regression.
    alpha : float or "loo"
        Ridge of that regression; of ``"loo"`` the best by leave-one-out.
    inverse_kernel : str, KernelFamily or Kernel, optional
        Kernel of that regression, between scores. By default the kernel itself where it is positive semi-definite, else
        ``rbf`` with the median distance between scores as its width.
    tol : float, optional
        Residual of eigenpairs to reach, relative to the largest |λ|; near rounding error by default (``randomized``: a
        fixed number of products).
    max_iter : int, optional
        Bound on the iterations; reaching it gives a ConvergenceWarning.
    random_state : int, Generator or None
        Of starting vectors.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, bound to the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        With their signs. Values below rounding error are zero, and so are the scores of these components.
    eigenvectors_ : ndarray of shape (m, n_components)
        Orthonormal columns; the largest score of each component is positive.
    signs_ : ndarray of shape (n_components,)
        Signs of the eigenvalues, 1, -1 or 0: the inner product of scores.
    signature_ : tuple of int
        The numbers (p, q) of positive and negative eigenvalues among the components.
    dual_coef_, intercept_ : ndarray
        Scores of new samples are k(x, X_fit) dual_coef_ + intercept_.
    X_fit_ : array or CSR
        The training samples, those of zero weight left out.
    inverse_ : LSSVR
        The regression from scores to samples, where asked for.
    solver_report_ : PartialReport
        What ran, products taken, and the residual reached.
    n_iter_ : int
        Iterations of the eigensolver, 1 for a direct one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> pca = KernelPCA(kernel="tl1(rho=2.1)", n_components=4).fit(X)
    >>> pca.transform(X).shape, pca.signature_
    ((50, 4), (4, 0))
    >>> last = KernelPCA(kernel="tl1(rho=2.1)").fit(X).eigenvalues_.min()
    >>> bool(last < 0)  # the kernel is indefinite
    True
    """

    #: Declared for the conformance kit, which then holds the solver to refusing asymmetric kernels.
    requires_symmetric_kernel = True

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        n_components: int | None = None,
        *,
        order: str = "magnitude",
        eigen_solver: str = "auto",
        fit_inverse_transform: bool = False,
        alpha: Any = 1.0,
        inverse_kernel: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.order = order
        self.eigen_solver = eigen_solver
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.inverse_kernel = inverse_kernel
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    # Fit ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelPCA:
        """Find the components of samples in rows.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), or sample indices for a kernel that holds its matrix
        y : ignored
        sample_weight : array-like of shape (m,), optional
            An integer weight is the same as repeating the sample, zero the same as leaving it out.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and return the scores of the samples without evaluating the kernel again; parameters as of `fit`."""
        scores, complete = self._fit(X, sample_weight)
        return scores if complete else self.transform(X)  # samples of zero weight have scores, too

    def _fit(self, X: Any, sample_weight: Any) -> tuple[np.ndarray, bool]:
        """Return the scores of the samples kept, and whether these are all."""
        check_choice("order", self.order, ORDERS)
        check_choice("eigen_solver", self.eigen_solver, EIGEN_SOLVERS)
        check_flag("fit_inverse_transform", self.fit_inverse_transform)
        kernel = self.resolve_kernel()
        if isinstance(X, tuple) and len(X) == 2 and np.ndim(X[0]) >= 1:
            raise DataError("X is a pair; KernelPCA takes one set of samples. For two of them use 'ksvd'")
        from_source = reading_note(X)
        X = check_samples(self, X, kernel, reset=True)
        if self.fit_inverse_transform:
            require_invertible(X, kernel, self.alpha)
        kept, _, weights = without_zero_weights(X, None, sample_weight)
        self.kernel_, self.X_fit_ = kernel.resolve_widths(kept, weights).bind(kept), kept
        refuse_false_declarations(self.kernel_, kept)
        scores = self._keep(self._decompose(weights, from_source), weights)
        self.__dict__.pop("inverse_", None)
        if self.fit_inverse_transform:
            given = self.inverse_kernel is not None
            own = self.resolve_kernel("inverse_kernel") if given else default_kernel(kernel, scores)
            self.inverse_ = learn_inverse(own, scores, self.X_fit_, self.alpha, weights)
        return scores, kept.shape[0] == X.shape[0]

    def _decompose(self, weights: np.ndarray | None, from_source: str) -> Components:
        m = self.X_fit_.shape[0]
        k = self._wanted(m)
        solver, K, note = self._matrix(m, k)
        options: dict[str, Any] = {
            "order": self.order,
            "method": {"operator": "krylov"}.get(solver, solver),
            "tol": self.tol,
            "max_iter": self.max_iter,
            "random_state": self.random_state,
        }
        block = _cheap_block(self.kernel_.mirrored_columns(m), k) if solver == "operator" else None
        try:
            with residual_progress(f"kpca of {m} samples") as callback:
                hints = Hints(self.kernel_.definite is True, overwrite=True, block=block, callback=callback)
                components = principal_components(K, k, weights, hints=hints, **options)
        except NotFiniteError:
            raise not_finite_error(self.kernel_, self.X_fit_) from None
        report = components.report
        return replace(
            components, report=replace(report, note="; ".join(filter(None, (note, report.note, from_source))))
        )

    def _wanted(self, m: int) -> int:
        k: Any = self.n_components
        if k is None:
            if self.eigen_solver == "operator":
                raise ParameterError(
                    "eigen_solver='operator' finds some components without holding the kernel matrix, and "
                    "n_components=None asks for all of them; give a number"
                )
            return m
        if not is_whole(k) or not 1 <= int(k) <= m:
            raise ParameterError(
                f"n_components={shown(k)} is not accepted; with n_samples = {m} give an integer from 1 to {m}, or "
                "None for all components with an eigenvalue that is not zero"
            )
        return int(k)

    def _matrix(self, m: int, k: int) -> tuple[str, Any, str]:
        """Return the eigensolver to use, the kernel matrix in the form it takes, and why."""
        kernel, X = self.kernel_, self.X_fit_
        solver, note = self.eigen_solver, ""
        if solver == "auto" and k < _FEW * m:
            if sp.issparse(X) or input_kind(kernel) == "index":
                operator = kernel.operator(X)
                if getattr(operator, "form", "") in ("separable", "held"):  # products cost what is stored, not m²
                    require_symmetric_on_some(kernel, X, who="KernelPCA", instead="ksvd")
                    return "operator", operator, "products with sparse data"
            if not current_engine().fits(2 * 8 * m * m):
                solver, note = "operator", "the kernel matrix would not fit in half of the memory budget"
        if doubt := doubt_of_pairs(m, k, solver, held=solver != "operator"):
            advise(doubt, MemoryBudgetWarning, stacklevel=6)
        if solver == "operator":
            require_symmetric_on_some(kernel, X, who="KernelPCA", instead="ksvd")
            return solver, kernel.operator(X), note
        K = kernel(X)
        require_symmetric(kernel, K, who="KernelPCA", instead="ksvd")
        return solver, K, note

    def _keep(self, components: Components, weights: np.ndarray | None) -> np.ndarray:
        """Keep the components in the shape users see; return the scores of the training samples."""
        m, dtype = self.X_fit_.shape[0], components.values.dtype
        values, vectors, mean = components.values, components.vectors, components.mean
        size = np.abs(values.astype(np.float64))
        present = size > components.floor
        if self.n_components is None:
            if not present.any():
                raise DataError(
                    f"the centred kernel matrix is zero (n_samples = {m}): the kernel is constant on these samples, "
                    "and there is no component. Check the samples and the kernel's parameters"
                )
            values, vectors, mean, size = values[present], vectors[:, present], mean[present], size[present]
            present = present[present]
        signs = np.where(present, np.sign(values), 0.0)
        root = np.where(present, np.sqrt(size), 0.0)
        divided = np.divide(signs, root, out=np.zeros_like(root), where=present)
        scores = vectors * root
        scale = None if weights is None else np.sqrt(weights)[:, None]
        if scale is not None:
            scores = scores / scale
            flips = peak_signs(scores)
            vectors, scores, mean = vectors * flips, scores * flips, mean * flips
        A = vectors * divided
        self.eigenvalues_ = np.where(present, values, 0.0).astype(dtype)
        self.eigenvectors_ = vectors.astype(dtype, copy=False)
        self.signs_ = signs.astype(dtype)
        self.signature_ = int((signs > 0).sum()), int((signs < 0).sum())
        self.dual_coef_ = (A if scale is None else scale * A).astype(dtype, copy=False)
        self.intercept_ = (-mean * divided).astype(dtype)
        self.solver_report_: PartialReport = components.report
        self.n_iter_ = max(1, components.report.iterations)
        return scores.astype(dtype, copy=False)

    # Results ------------------------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    @row_by_row
    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of samples, centred as the training samples were.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d), or sample indices for a kernel that holds its matrix

        Returns
        -------
        T : ndarray of shape (n, n_components)
        """
        check_fitted(self)
        X = check_samples(self, X, self.kernel_, reset=False)
        V, b = self.dual_coef_, self.intercept_
        products = partial(self.kernel_.product, X, self.X_fit_, V)
        return centred_scores(X, products, -b, V.dtype)

    def inverse_transform(self, T: Any) -> np.ndarray:
        """Return samples whose scores are near those given, by the regression that `fit` has learnt.

        Parameters
        ----------
        T : array-like of shape (n, n_components)

        Returns
        -------
        X : ndarray of shape (n, d)

        References
        ----------
        Bakır, Weston & Schölkopf, Learning to find pre-images, NeurIPS 16 (2003).
        """
        check_fitted(self)
        if not hasattr(self, "inverse_"):
            raise NotFittedError(
                "this KernelPCA was fitted without an inverse map; inverse_transform needs fit_inverse_transform=True"
            )
        return self.inverse_.predict(T).reshape(-1, self.n_features_in_)

    def __kernreg_restored__(self) -> None:
        """Check that the attributes read from a model file belong together."""
        if not hasattr(self, "dual_coef_"):
            return
        m, k = self.X_fit_.shape[0], len(self.eigenvalues_)
        shapes = {"dual_coef_": (m, k), "eigenvectors_": (m, k), "intercept_": (k,), "signs_": (k,)}
        if any(np.shape(getattr(self, name)) != shape for name, shape in shapes.items()):
            raise ValueError("the samples, the components and their coefficients do not fit together")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.fit_inverse_transform is not True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _cheap_block(widest: int, k: int) -> int | None:
    """Return the widest block whose product costs half, where that is about as wide as k components need."""
    return widest if k <= widest < k + max(6, k // 4) else None
