"""Many γ from one decomposition: solutions, and exact leave-one-out, at O(m²) for each γ and class.

The direction u taken out by centring is given the largest eigenvalue before decomposing, which makes it the one vector
that is then dropped: what remains spans exactly the space the systems live in, and inverse diagonals need no
subtraction (γ u uᵀ from sums containing it would cancel catastrophically for a large γ).

Leave-one-out rests on one identity. If G is the inverse of a symmetric bordered matrix, z the solution, and S the
unknowns that belong to sample i, then G_SS e = z_S gives e, the residuals of sample i in the solution of the system
without it.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from kernreg.engine.threads import configured_blas, inside_task
from kernreg.linalg.exact.centring import CentredKernel, asymmetry, induced_norms
from kernreg.linalg.exact.poles import is_pole, pole_error
from kernreg.linalg.exact.report import SolveReport, relative
from kernreg.linalg.exact.rounding import matrix_error, residual_errors

_ROWS = 512
_ROUNDING = 64 * float(np.finfo(np.float64).eps)  # that centring leaves of the symmetry of a matrix
DAMP_INSTEAD = " on_pole='damp' takes the Tikhonov solution instead."


def _dominant_border(kernel: CentredKernel) -> np.ndarray:
    """Return K̃ with u raised to the top of the spectrum, in K̃'s own memory.

    K̃ is centred once more before: what centring leaves along u is a rounding error of K, and where K hardly varies (a
    saturated tanh) that is much of what is left of K̃. The dropped eigenvector would then not be u.
    """
    K, u = kernel.matrix, kernel.border
    right, left = K @ u, u @ K
    linalg.blas.dger(-1.0, u, right - float(u @ right) * u, a=K.T, overwrite_a=1)
    linalg.blas.dger(-1.0, left, u, a=K.T, overwrite_a=1)
    one, infinity = induced_norms(K)
    bound = min(float(np.sqrt(one * infinity)), float(np.linalg.norm(K)))
    linalg.blas.dger(2.0 * bound if bound > 0.0 else 1.0, u, u, a=K.T, overwrite_a=1)
    return K


def _eigenpairs(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, ascending, and eigenvectors of a symmetric matrix, which may be overwritten."""
    if inside_task():  # several decompositions at once: numpy's lets other threads run, scipy's needs less memory
        return np.linalg.eigh(K.T)
    values, vectors = linalg.eigh(K.T, driver="evd", overwrite_a=True, check_finite=False)
    return values, vectors


def _triplets(K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return left singular vectors, values and right singular vectors, the vectors as columns.

    Divide and conquer (gesdd) may fail to converge where many values are equal, as on graphs; gesvd does not.
    """
    try:
        if inside_task():  # as above
            left, values, right = np.linalg.svd(K)
        else:
            left, values, right = linalg.svd(K, check_finite=False, lapack_driver="gesdd")
    except np.linalg.LinAlgError:
        left, values, right = linalg.svd(K, overwrite_a=True, check_finite=False, lapack_driver="gesvd")
    return left, values, right.T


def _symmetric_triplets(K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the singular triplets of a symmetric matrix, from its eigenpairs: they take a third of the time."""
    values, vectors = _eigenpairs(K)
    order = np.argsort(-np.abs(values), kind="stable")
    vectors = vectors[:, order]
    return vectors, np.abs(values)[order], vectors * np.where(values[order] < 0.0, -1.0, 1.0)


def _diagonals(left: np.ndarray, right: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Return diag(left · diag(f) · rightᵀ) for each column f, as columns."""
    found = np.empty((len(left), functions.shape[1]))
    for start in range(0, len(left), _ROWS):
        rows = slice(start, start + _ROWS)
        found[rows] = (left[rows] * right[rows]) @ functions
    return found


def _reciprocal(t: np.ndarray) -> np.ndarray:
    """Return 1/t, and 0 for 0: solutions at an exact pole mean nothing, and must not spoil those next to them."""
    return np.divide(1.0, t, out=np.zeros_like(t), where=t != 0.0)


class SymmetricSpectrum:
    """Eigenpairs of a symmetric K̃: LS-SVM for every γ.

    Parameters
    ----------
    kernel : CentredKernel
        Its matrix is overwritten.

    Attributes
    ----------
    values, vectors : ndarray
        The m - 1 eigenpairs on the space orthogonal to the border, values ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.linalg import centre
    >>> SymmetricSpectrum(centre(np.diag([1.0, 2.0, 3.0]))).values.shape
    (2,)
    """

    @configured_blas()
    def __init__(self, kernel: CentredKernel):
        self.kernel = kernel
        values, vectors = _eigenpairs(_dominant_border(kernel))
        self.values, self.vectors = values[:-1], vectors[:, :-1]

    @property
    def scale(self) -> float:
        """The largest magnitude among the eigenvalues."""
        return float(np.abs(self.values).max(initial=0.0))

    def poles(self, gammas: np.ndarray) -> np.ndarray:
        """Return which γ are at a pole: -1/γ is an eigenvalue, or 1/γ drowns in rounding error."""
        return is_pole(1.0 / gammas, -self.values, self.scale)

    def _filters(self, gammas: np.ndarray) -> np.ndarray:
        return _reciprocal(self.values[:, None] + 1.0 / gammas)

    @configured_blas()
    def solve(self, T: np.ndarray, gammas: np.ndarray) -> np.ndarray:
        """Return Â of shape (len(gammas), m, C): (K̃ + I/γ) Â = T for every γ. Meaningless at poles."""
        projected = self.vectors.T @ T
        coefficients = self._filters(gammas)[:, :, None] * projected[:, None, :]
        found = self.vectors @ coefficients.reshape(len(self.values), len(gammas) * T.shape[1])
        return np.ascontiguousarray(found.reshape(len(T), len(gammas), T.shape[1]).transpose(1, 0, 2))

    @configured_blas()
    def leave_one_out(self, solutions: np.ndarray, gammas: np.ndarray) -> np.ndarray:
        """Return y_i - f⁽⁻ⁱ⁾(x_i) for every γ, sample and class: â_i / (√w_i R_ii)."""
        R = _diagonals(self.vectors, self.vectors, self._filters(gammas)).T
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # where the system without i has a pole
            residuals = solutions / R[:, :, None]
        return residuals if self.kernel.root is None else residuals / self.kernel.root[:, None]

    @configured_blas()
    def rounding_errors(self, solutions: np.ndarray, residuals: np.ndarray, gammas: np.ndarray) -> np.ndarray:
        """Return how far rounding may have moved what `leave_one_out` returned, in the same shape."""
        filters = self._filters(gammas)
        R, rows = (_diagonals(self.vectors, self.vectors, f).T[:, :, None] for f in (filters, filters * filters))
        root = 1.0 if self.kernel.root is None else self.kernel.root[:, None]
        sizes = np.linalg.norm(solutions, axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            inverse = 1.0 / np.abs(R)
        return (
            residual_errors(matrix_error(self.kernel, self.scale), inverse, rows, sizes, np.abs(residuals) * root)
            / root
        )

    @configured_blas()
    def solution(self, T: np.ndarray, gamma: float) -> tuple[np.ndarray, SolveReport]:
        """Return Â of one γ and the report, the residual measured in the eigenbasis; raise at a pole."""
        gammas = np.array([gamma])
        if self.poles(gammas)[0]:
            raise pole_error(gamma, -self.values, "eigen", " A positive semi-definite kernel has no poles.")
        A = self.solve(T, gammas)[0]
        shifted = np.abs(self.values + 1.0 / gamma)
        rest = T - self.vectors @ ((self.values + 1.0 / gamma)[:, None] * (self.vectors.T @ A))
        return A, _report("eigh", self.kernel.size, gamma, rest, T, shifted)


class BlockSpectrum:
    """Singular triplets of K̃ = U diag(σ) Vᵀ: AsK-LS for every γ.

    On each triplet the block is [[κ, σ], [σ, κ]], κ = 1/γ, with eigenvalues κ ± σ. Its inverse and the Tikhonov
    inverse t / (t² + λ) that replaces 1/t at a pole are functions of these two numbers.

    Parameters
    ----------
    kernel : CentredKernel
        Its matrix is overwritten.
    damping : float
        λ of the Tikhonov solution.

    Attributes
    ----------
    values, left, right : ndarray
        The m - 1 triplets on the space orthogonal to the border, values descending.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.linalg import centre
    >>> spectrum = BlockSpectrum(centre(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])))
    >>> spectrum.values.round(12).tolist()  # 1/γ = 1 is a pole
    [1.0, 1.0]
    """

    @configured_blas()
    def __init__(self, kernel: CentredKernel, damping: float = 1.0):
        self.kernel, self.damping = kernel, damping
        symmetric = asymmetry(kernel.matrix) <= _ROUNDING
        K = _dominant_border(kernel)
        left, values, right = _symmetric_triplets(K) if symmetric else _triplets(K)
        self.values, self.left, self.right = values[1:], left[:, 1:], right[:, 1:]

    def poles(self, gammas: np.ndarray) -> np.ndarray:
        """Return which γ are at a pole: 1/γ is a singular value, or drowns in rounding error."""
        return is_pole(1.0 / gammas, self.values, float(self.values.max(initial=0.0)))

    def _shifted(self, gammas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kappa = 1.0 / gammas
        return kappa + self.values[:, None], kappa - self.values[:, None]

    def _filters(self, gammas: np.ndarray, damped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the inverse of κ + σ and of κ - σ, damped where asked."""
        regular = np.where(damped, self.damping, 0.0)
        plus, minus = self._shifted(gammas)
        first, second = (
            np.where(damped, t * _reciprocal(np.where(damped, t, 0.0) ** 2 + regular), _reciprocal(t))
            for t in (plus, minus)
        )
        return first, second

    def _sizes(self, gammas: np.ndarray) -> np.ndarray:
        """Return powers of two about as large as κ + σ₁: products of the inverse's entries are zero for a tiny γ."""
        return np.exp2(np.clip(np.rint(np.log2(1.0 / gammas + self.values.max(initial=0.0))), -1000.0, 1000.0))

    @configured_blas()
    def solve(
        self, T: np.ndarray, gammas: np.ndarray, damped: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return Â and Ĉ, each of shape (len(gammas), m, C), for every γ. Meaningless at poles that are not damped."""
        damped = np.zeros(len(gammas), dtype=bool) if damped is None else damped
        plus, minus = self._filters(gammas, damped)
        p, q = self.left.T @ T, self.right.T @ T
        even = plus[:, :, None] * (0.5 * (p + q))[:, None, :]
        odd = minus[:, :, None] * (0.5 * (p - q))[:, None, :]
        return self._expand(self.left, even + odd), self._expand(self.right, even - odd)

    def _expand(self, vectors: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        r, G, columns = coefficients.shape
        found = vectors @ coefficients.reshape(r, G * columns)
        return np.ascontiguousarray(found.reshape(len(vectors), G, columns).transpose(1, 0, 2))

    @configured_blas()
    def leave_one_out(
        self, T: np.ndarray, A: np.ndarray, C: np.ndarray, gammas: np.ndarray, damped: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return y_i - f_s⁽⁻ⁱ⁾(x_i) and y_i - f_t⁽⁻ⁱ⁾(x_i) for every γ, sample and class.

        Parameters
        ----------
        T : ndarray of shape (m, C)
            The right-hand sides.
        A, C : ndarray of shape (len(gammas), m, C)
            What `solve` returned for them.
        gammas, damped : ndarray
            As given to `solve`.
        """
        damped = np.zeros(len(gammas), dtype=bool) if damped is None else damped
        size = self._sizes(gammas)
        plus, minus = (filters * size for filters in self._filters(gammas, damped))
        aa, ac, cc = (d.T[:, :, None] for d in self._inverse_diagonals(plus, minus))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # where the system without i has a pole
            determinant = aa * cc - ac * ac
            scaled_A, scaled_C = size[:, None, None] * A, size[:, None, None] * C
            source = (cc * scaled_A - ac * scaled_C) / determinant
            target = (aa * scaled_C - ac * scaled_A) / determinant
        for g in np.flatnonzero(damped):
            source[g], target[g] = self._damped_leave_one_out(T, A[g], C[g], float(gammas[g]))
        if self.kernel.root is not None:
            source, target = source / self.kernel.root[:, None], target / self.kernel.root[:, None]
        return source, target

    @configured_blas()
    def rounding_errors(
        self, A: np.ndarray, C: np.ndarray, source: np.ndarray, target: np.ndarray, gammas: np.ndarray
    ) -> np.ndarray:
        """Return how far rounding may have moved either of what `leave_one_out` returned, in the same shape.

        Of solutions that are not damped: the Tikhonov solution is not sensitive to the pole.
        """
        plus, minus = self._filters(gammas, np.zeros(len(gammas), dtype=bool))
        aa, ac, cc = (d.T[:, :, None] for d in self._inverse_diagonals(plus, minus))
        first, _, last = (d.T[:, :, None] for d in self._inverse_diagonals(plus * plus, minus * minus))
        middle, radius = 0.5 * (aa + cc), np.hypot(0.5 * (aa - cc), ac)  # eigenvalues of G_SS: middle ± radius
        root = 1.0 if self.kernel.root is None else self.kernel.root[:, None]
        sizes = np.hypot(np.linalg.norm(A, axis=1, keepdims=True), np.linalg.norm(C, axis=1, keepdims=True))
        with np.errstate(divide="ignore"):
            inverse = 1.0 / np.abs(np.abs(middle) - radius)
        error = matrix_error(self.kernel, float(self.values.max(initial=0.0)))
        return residual_errors(error, inverse, first + last, sizes, np.hypot(source, target) * root) / root

    def _inverse_diagonals(self, plus: np.ndarray, minus: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the diagonals of the three m×m blocks of a function of the block matrix."""
        same, cross = 0.5 * (plus + minus), 0.5 * (plus - minus)
        return (
            _diagonals(self.left, self.left, same),
            _diagonals(self.left, self.right, cross),
            _diagonals(self.right, self.right, same),
        )

    def _damped_leave_one_out(
        self, T: np.ndarray, A: np.ndarray, C: np.ndarray, gamma: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same for the Tikhonov solution z = (B² + λ)⁻¹ B r of B z = r.

        With ρ = √λ (B² + λ)⁻¹ r it solves the symmetric system [[√λ, B], [B, -√λ]] (ρ, z) = (r, 0), so the identity
        holds with four unknowns for a sample instead of two.
        """
        root = np.sqrt(self.damping)
        plus, minus = (t[:, 0] for t in self._shifted(np.array([gamma])))
        g_plus, g_minus = 1.0 / (plus * plus + self.damping), 1.0 / (minus * minus + self.damping)
        p, q = self.left.T @ T, self.right.T @ T
        even, odd = g_plus[:, None] * (0.5 * (p + q)), g_minus[:, None] * (0.5 * (p - q))
        rho_a, rho_c = root * (self.left @ (even + odd)), root * (self.right @ (even - odd))
        g = self._inverse_diagonals(g_plus[:, None], g_minus[:, None])
        bg = self._inverse_diagonals((plus * g_plus)[:, None], (minus * g_minus)[:, None])
        G, BG = (np.stack([np.hstack([aa, ac]), np.hstack([ac, cc])], axis=1) for aa, ac, cc in (g, bg))  # (m, 2, 2)
        inverse = np.concatenate(
            [np.concatenate([root * G, BG], axis=2), np.concatenate([BG, -root * G], axis=2)], axis=1
        )
        unknowns = np.stack([rho_a, rho_c, A, C], axis=1)  # (m, 4, C)
        e = np.linalg.solve(inverse, unknowns)
        return e[:, 0], e[:, 1]

    @configured_blas()
    def solution(
        self, T: np.ndarray, gamma: float, on_pole: str = "raise"
    ) -> tuple[np.ndarray, np.ndarray, SolveReport]:
        """Return Â, Ĉ of one γ and the report; at a pole raise, or damp."""
        gammas = np.array([gamma])
        damped = self.poles(gammas)
        if damped[0] and on_pole != "damp":
            raise pole_error(gamma, self.values, "singular", DAMP_INSTEAD)
        A, C = (found[0] for found in self.solve(T, gammas, damped))
        rest = T - A / gamma - self.left @ (self.values[:, None] * (self.right.T @ C))
        plus, minus = self._shifted(gammas)
        report = _report("svd", self.kernel.size, gamma, rest, T, np.abs(np.vstack([plus, minus])), bool(damped[0]))
        return A, C, report


def _report(
    method: str, size: int, gamma: float, rest: np.ndarray, T: np.ndarray, spectrum: np.ndarray, damped: bool = False
) -> SolveReport:
    smallest, largest = spectrum.min(initial=np.inf), spectrum.max(initial=0.0)
    condition = float(largest / smallest) if smallest > 0.0 else float("inf")
    note = "Tikhonov solution: the residual is that of the undamped equations" if damped else ""
    return SolveReport("exact", method, size, gamma, relative(rest, T), condition, 0, damped, note)
