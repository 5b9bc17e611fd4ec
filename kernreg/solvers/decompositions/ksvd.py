"""Kernel singular value decomposition for asymmetric kernels and for pairs of sample sets.

Suykens, SVD revisited: a new variational principle, compatible feature maps and nonlinear extensions, ACHA 40 (2016).
Tao, Tonin, Lambert, Chen, Patrinos & Suykens, Learning in feature spaces via coupled covariances: asymmetric kernel SVD
and Nyström method, ICML 2024.

Let κ(x, z) = ⟨φ(x), ψ(z)⟩ compare samples x_1 … x_n with samples z_1 … z_m, both feature maps centred. The coupled
covariances eigenproblem looks for directions w_φ, w_ψ in feature space with::

    Σ_φ w_ψ = λ w_φ,   Σ_ψ w_φ = λ w_ψ,        Σ_φ = (1/n) Σ_i φ(x_i) φ(x_i)*,   Σ_ψ = (1/m) Σ_j ψ(z_j) ψ(z_j)*

It is solved by the singular value decomposition of the centred kernel matrix, G̃ / √(nm) = U Λ Vᵀ. The scores are the
projections on the directions of the other side, left ones Σ_j κ̃(x, z_j) v_j and right ones Σ_i κ̃(x_i, z) u_i. For a
symmetric kernel on one sample set this is kernel PCA, up to signs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernreg.common.checks import as_number, check_choice, is_whole
from kernreg.errors import ParameterError, shown
from kernreg.kernels import Kernel
from kernreg.solvers.declarations import refuse_false_declarations
from kernreg.solvers.decompositions.centred_triplets import SVD_SOLVERS, SVDSettings, decompose, kernel_dtype
from kernreg.solvers.decompositions.compatibility.fixed_maps import COMPATIBILITIES, Compatibility
from kernreg.solvers.decompositions.compatibility.heads import HEADS, targets
from kernreg.solvers.decompositions.compatibility.learned_map import DownstreamLoss, learn_compatibility
from kernreg.solvers.decompositions.scores import centred_scores
from kernreg.solvers.decompositions.two_sided import TwoSided
from kernreg.solvers.samples import check_samples
from kernreg.solvers.streamed import reading_note, row_by_row


class KernelSVD(TwoSided):
    """Kernel SVD: singular vectors and scores for both sides of an asymmetric kernel matrix.

    What the two sides are is said by `compatibility` and by what is given to `fit`:

    ===============  ======================  ==========================================================
    given            compatibility           the two sample sets
    ===============  ======================  ==========================================================
    ``X``            None                    the rows of X, on both sides (an asymmetric kernel)
    ``(X, Z)``       None                    the rows of X and the rows of Z, with as many features
    ``A``            ``"a0"`` … ``"a3"``,    the rows and the columns of the data matrix A
                     ``"identity"``
    ``(X, Z)``       ``"a1"``, ``"a2"``,     the rows of X and the rows of Z, of different dimension
                     ``"a3"``
    ===============  ======================  ==========================================================

    Parameters
    ----------
    kernel : str, KernelFamily or Kernel, optional
        Any kernel, for example ``"sne(sigma=2.0)"``.
        By default that of the chain around it, else ``rbf``.
    n_components : int or None
        How many triplets; None for all min(n, m).
    compatibility : {None, "a0", "a1", "a2", "a3", "identity"}
        The linear map that makes samples of different dimension comparable: pseudo-inverse, principal directions,
        random, learned, none (see `kernreg.solvers.decompositions.compatibility`). ``a3`` needs y, and one of the
        kernels linear, poly, tanh, rbf, cauchy, rational-quadratic, sne, t.
    center : bool
        Centre rows and columns of the kernel matrix.
    scale : bool
        Divide singular values by √(nm), so that they do not grow with the number of samples. Scores do not depend on
        it.
    svd_solver : {"auto", "dense", "krylov", "arpack", "randomized", "operator"}
        ``operator`` never holds the kernel matrix; the others do. ``randomized`` is approximate. ``auto`` takes
        products where sparse samples make them cheap or the matrix is beyond the memory budget.
    tol, max_iter : float, int, optional
        Residual to reach, relative to the largest singular value (1e-12 by default), and bound on the iterations.
    head : {"auto", "least-squares", "logistic"}
        ``a3``: the downstream loss; ``auto`` takes the logistic one for classes.
    alpha : float
        ``a3``: ridge penalty of the head, relative to the size of the scores.
    learning_penalty : float
        ``a3``: how strongly C is held near ``a1``.
    learning_iter : int
        ``a3``: bound on the iterations of L-BFGS. Stopping early is a way to regularise, and `learning_report_` says
        whether it did.
    random_state : int, Generator or None
        Of ``a2`` and of starting vectors.

    Attributes
    ----------
    singular_values_ : ndarray of shape (r,)
    left_vectors_, right_vectors_ : ndarray of shape (n, r) and (m, r)
        Orthonormal columns; the largest entry of each left one is positive. Those of equal singular values are one
        basis of many, those of a singular value zero arbitrary, with scores of zero.
    left_scores_, right_scores_ : ndarray of shape (n, r) and (m, r)
        Those of the training samples: G̃ V and G̃ᵀ U, with G̃ not scaled.
    kernel_ : Kernel
        The kernel, bound to the right samples.
    compatibility_ : Compatibility
    learning_report_ : LearningReport
        Of ``a3``.
    solver_report_ : PartialReport
        What ran, and the residual reached.
    X_fit_, Z_fit_ : array or CSR
        The samples of both sides as the kernel sees them.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [2.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    >>> svd = KernelSVD("linear", 2, compatibility="a0", center=False, scale=False).fit(A)
    >>> np.allclose(svd.singular_values_, np.linalg.svd(A)[1][:2])  # the SVD of A is a special case
    True
    >>> svd = KernelSVD("sne(sigma=2.0)", 2).fit(A)
    >>> np.allclose(svd.transform(A), svd.left_scores_), svd.embed(side="both").shape
    (True, (4, 4))
    >>> svd.get_feature_names_out(side="both").tolist()
    ['left0', 'left1', 'right0', 'right1']
    """

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        kernel: Any = None,
        n_components: Any = 2,
        *,
        compatibility: str | None = None,
        center: bool = True,
        scale: bool = True,
        svd_solver: str = "auto",
        tol: Any = None,
        max_iter: Any = None,
        head: str = "auto",
        alpha: Any = 1e-3,
        learning_penalty: Any = 0.1,
        learning_iter: Any = 100,
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.compatibility = compatibility
        self.center = center
        self.scale = scale
        self.svd_solver = svd_solver
        self.tol = tol
        self.max_iter = max_iter
        self.head = head
        self.alpha = alpha
        self.learning_penalty = learning_penalty
        self.learning_iter = learning_iter
        self.random_state = random_state

    # Fit ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> KernelSVD:
        """Decompose the kernel matrix of the training samples.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d), or a tuple of two
            One sample set, a data matrix, or two sample sets: see the table above. Indices for a kernel that holds its
            matrix.
        y : array-like of shape (n,) or (n, outputs), optional
            Targets of the left samples, for ``compatibility="a3"``; otherwise not used.
        """
        kernel = self.resolve_kernel()
        self._check_parameters(kernel)
        left, right = self._sample_sets(X, kernel)
        r = self._count(left, right)
        self.compatibility_ = self._learned(self._make_compatible(left, right), kernel, left, right, y, r)
        self.X_fit_ = self.compatibility_.left_samples(left)
        self.Z_fit_ = self.X_fit_ if right is left else self.compatibility_.right_samples(right)
        self.kernel_ = kernel.bind(self.Z_fit_)
        if self.Z_fit_ is self.X_fit_:
            refuse_false_declarations(self.kernel_, self.X_fit_)
        settings = SVDSettings(self.svd_solver, self.tol, self.max_iter, self.random_state)
        triplets = decompose(self.kernel_, self.X_fit_, self.Z_fit_, r, settings, center=self.center)
        dtype = kernel_dtype(self.X_fit_, self.Z_fit_)
        factor = np.sqrt(len(triplets.left) * len(triplets.right)) if self.scale else 1.0
        self.singular_values_ = (triplets.values / factor).astype(dtype)
        self.left_vectors_ = triplets.left.astype(dtype, copy=False)
        self.right_vectors_ = triplets.right.astype(dtype, copy=False)
        self.left_scores_ = triplets.left_scores.astype(dtype, copy=False)
        self.right_scores_ = triplets.right_scores.astype(dtype, copy=False)
        self._left_offset, self._right_offset = triplets.left_offset, triplets.right_offset
        notes = triplets.report.note, *map(reading_note, X if isinstance(X, tuple) else (X,))
        self.solver_report_ = replace(triplets.report, note="; ".join(filter(None, notes)))
        self.n_iter_ = max(1, triplets.report.iterations)
        return self

    def _check_parameters(self, kernel: Kernel) -> None:
        self._require_flags("center", "scale")
        check_choice("svd_solver", self.svd_solver, SVD_SOLVERS)
        if self.compatibility is None:
            return
        check_choice("compatibility", self.compatibility, COMPATIBILITIES)
        self._require_features(kernel)
        if self.compatibility == "a3":
            check_choice("head", self.head, ("auto", *HEADS))
            if not 0.0 < as_number(self.alpha) < np.inf:
                raise ParameterError(f"alpha={shown(self.alpha)} is not accepted; give a positive number")
            if not 0.0 <= as_number(self.learning_penalty) < np.inf:
                raise ParameterError(
                    f"learning_penalty={shown(self.learning_penalty)} is not accepted; give a number that is not "
                    "negative"
                )
            if not is_whole(self.learning_iter) or self.learning_iter < 1:
                raise ParameterError(
                    f"learning_iter={shown(self.learning_iter)} is not accepted; give a positive integer"
                )

    def _learned(self, start: Compatibility, kernel: Kernel, left: Any, right: Any, y: Any, r: int) -> Compatibility:
        """Return the compatibility to use: where it is to be learned, from y."""
        self.__dict__.pop("learning_report_", None)
        if self.compatibility != "a3":
            return start
        head, Y = targets(self.head, y, left.shape[0])
        loss = DownstreamLoss(head, r, bool(self.center), float(self.alpha), float(self.learning_penalty))
        learned, self.learning_report_ = learn_compatibility(
            kernel, left, right, start, Y, loss, max_iter=int(self.learning_iter)
        )
        return learned

    # Scores -------------------------------------------------------------------------------------------------

    @row_by_row
    def transform(self, X: Any) -> np.ndarray:
        """Return the left scores of samples like those of the left side, centred with the training means.

        Parameters
        ----------
        X : array-like or CSR of shape (k, d)
            Of a data matrix: new rows.
        """
        check_is_fitted(self)
        samples = self.compatibility_.left_samples(check_samples(self, X, self.kernel_, reset=False))
        products = partial(self.kernel_.product, samples, self.Z_fit_, self.right_vectors_)
        return centred_scores(samples, products, self._left_offset, self.left_scores_.dtype)

    @row_by_row
    def transform_right(self, Z: Any) -> np.ndarray:
        """Return the right scores of samples like those of the right side, centred with the training means.

        Parameters
        ----------
        Z : array-like or CSR of shape (k, features)
            In rows. Of a data matrix A with N rows: new columns, each a row of N numbers; ``A.T`` gives the training
            scores.
        """
        check_is_fitted(self)
        samples = self.compatibility_.right_samples(self._right_side(Z))
        products = partial(self.kernel_.T.product, samples, self.X_fit_, self.left_vectors_)
        dtype = self.right_scores_.dtype
        return centred_scores(samples, products, self._right_offset, dtype)
