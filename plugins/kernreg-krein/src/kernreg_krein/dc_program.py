"""Difference-of-convex programming for the squared hinge loss of an indefinite kernel.

In coordinates z of f = S⁻¹A z + b, with a diagonal or full B (A = B = S K S, or A = U Λ and B = Λ)::

    J(z, b) = ½ zᵀB z + C Σ_i v_i max(0, 1 - y_i f_i)²
            = [½ zᵀ(B + ρI) z + C Σ …]  -  [½ ρ ‖z‖²],      ρ ≥ -λ_min

Each step replaces the second convex function by its tangent at the last z and minimises, by Newton's method with
conjugate gradients. J never rises.

J may have no minimum. Along a direction (d, e) it behaves as t² Q(d, e), with

    Q(d, e) = ½ dᵀB d + C Σ_i v_i max(0, -y_i (S⁻¹A d + e)_i)²

so Q < 0 proves that J is unbounded below. For an eigenvector d of eigenvalue λ < 0 one of ±d has Q ≤ ½ λ + ½ C λ²: any
eigenvalue between -1/C and 0 is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

_NEWTON, _CONJUGATE = 50, 500  # steps at most
_ARMIJO = 1e-4
_FLAT = 1e-8  # gradient, in the units of √J, at which a convex problem is solved
_ROUNDING = 1e-15  # relative decrease of which nothing can be said
_FAR = 1e9  # times the objective at zero: as far below it, nothing holds the steps any more
_HALVINGS = 40


@dataclass(frozen=True)
class Geometry:
    """The coordinates.

    Attributes
    ----------
    size : int
        Of z.
    both : callable
        z ↦ (A z, B z).
    adjoint : callable
        v ↦ Aᵀ v.
    root : ndarray of shape (m,)
        √v, of the sample weights.
    diagonal : ndarray of shape (size,) or None
        B where it is diagonal, which conditions the systems.
    """

    size: int
    both: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    adjoint: Callable[[np.ndarray], np.ndarray]
    root: np.ndarray
    diagonal: np.ndarray | None = None


class DCSolution(NamedTuple):
    """z and b, J after each step, the length of the last step relative to ‖z‖, and a certificate of unboundedness.

    ``certificate`` is (d, e, Q) with Q < 0, or None where no such direction was found.
    """

    z: np.ndarray
    intercept: float
    objectives: np.ndarray
    moved: float
    certificate: tuple[np.ndarray, float, float] | None


class DCProgram:
    """The problem of one column of signs.

    Parameters
    ----------
    geometry : Geometry
    y : ndarray of shape (m,)
        ±1.
    C : float
    rho : float
    """

    def __init__(self, geometry: Geometry, y: np.ndarray, C: float, rho: float):
        self._geometry, self._y, self._C, self._rho = geometry, y, C, rho

    def solve(self, tol: float, max_iter: int) -> DCSolution:
        """Take steps from zero until they are short."""
        g, y = self._geometry, self._y
        z, b = np.zeros(g.size), float(np.average(y, weights=g.root**2))
        objectives, moved = [self.objective(z, b)], np.inf
        for _ in range(max_iter):
            following, b = self._convex(z, b)
            change, size = float(np.linalg.norm(following - z)), float(np.linalg.norm(following))
            moved, step, z = change / max(1.0, size), following - z, following
            objectives.append(self.objective(z, b))
            if moved <= tol or objectives[-1] < -_FAR * objectives[0]:
                break
        certificate = None
        for direction in (z, step):
            found = self.recession(direction)
            if found is not None and certificate is None:
                certificate = found
        return DCSolution(z, b, np.array(objectives), moved, certificate)

    def objective(self, z: np.ndarray, b: float) -> float:
        """Return J."""
        g = self._geometry
        A, B = g.both(z)
        slack = np.maximum(0.0, g.root - self._y * (A + b * g.root))
        return 0.5 * float(z @ B) + self._C * float(slack @ slack)

    def recession(self, d: np.ndarray) -> tuple[np.ndarray, float, float] | None:
        """Return (d, e, Q) with Q < 0 beyond rounding for ``d`` or ``-d`` of length one, or None."""
        g, size = self._geometry, float(np.linalg.norm(d))
        if not size > 0.0:
            return None
        A, B = g.both(d / size)
        linear = 0.5 * float(d @ B) / size
        for sign in (1.0, -1.0):
            e = _best_shift(self._y * sign * A, self._y * g.root)
            lost = np.minimum(0.0, self._y * (sign * A + e * g.root))
            value = linear + self._C * float(lost @ lost)
            if value < -1e-10 * max(1.0, float(np.linalg.norm(B))):
                return sign * d / size, e, value
        return None

    def _convex(self, centre: np.ndarray, b: float) -> tuple[np.ndarray, float]:
        """Return the minimum of ½ zᵀ(B + ρI)z - ρ centreᵀz + C Σ …, by Newton's method from the centre."""
        g, y, C, rho, root = self._geometry, self._y, self._C, self._rho, self._geometry.root
        z = centre.copy()

        def value(z: np.ndarray, b: float) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
            A, B = g.both(z)
            slack = np.maximum(0.0, root - y * (A + b * root))
            quadratic = 0.5 * float(z @ B) + 0.5 * rho * float(z @ z) - rho * float(centre @ z)
            pull = -2.0 * C * y * slack
            gradient = np.append(B + rho * (z - centre) + g.adjoint(pull), float(root @ pull))
            return quadratic + C * float(slack @ slack), gradient, slack > 0.0, z

        f, gradient, active, _ = value(z, b)
        first = 0.0
        for _ in range(_NEWTON):
            scale = self._scale(active)
            size = float(np.sqrt((gradient * gradient / scale).sum()))
            first = max(first, size)
            if size <= _FLAT * np.sqrt(max(1.0, abs(f))):
                break
            step = self._newton_step(gradient, active, scale, min(0.1, np.sqrt(size / first)))
            slope, t = float(gradient @ step), 1.0
            for _ in range(_HALVINGS):
                new_z, new_b = z + t * step[:-1], b + t * float(step[-1])
                new = value(new_z, new_b)
                if new[0] <= f + _ARMIJO * t * slope:
                    break
                t *= 0.5
            else:
                break  # rounding errors are all that is left
            z, b, gained = new_z, new_b, f - new[0]
            f, gradient, active, _ = new
            if gained <= _ROUNDING * max(1.0, abs(f)):
                break
        return z, b

    def _scale(self, active: np.ndarray) -> np.ndarray:
        """Return about the diagonal of the second derivative, which measures gradients and conditions systems."""
        g, C = self._geometry, self._C
        own = g.root[active] @ g.root[active]
        scale = np.full(g.size + 1, self._rho)
        if g.diagonal is not None:
            scale[:-1] = np.maximum(g.diagonal + self._rho, 0.0) + 2.0 * C * own / len(active) * g.diagonal**2
        scale[-1] = 2.0 * C * own
        return np.where(scale > 0.0, scale, 1.0)

    def _newton_step(self, gradient: np.ndarray, active: np.ndarray, scale: np.ndarray, accuracy: float) -> np.ndarray:
        """Return -H⁻¹ gradient by conjugate gradients, H the second derivative where the active samples stay so."""
        g, C, rho = self._geometry, self._C, self._rho
        root = np.where(active, g.root, 0.0)

        def product(v: np.ndarray) -> np.ndarray:
            A, B = g.both(v[:-1])
            inner = np.where(active, A, 0.0) + v[-1] * root
            return np.append(B + rho * v[:-1] + 2.0 * C * g.adjoint(inner), 2.0 * C * float(root @ inner))

        x, r = np.zeros_like(gradient), -gradient
        p = r / scale
        rz = float(r @ p)
        target = accuracy**2 * rz
        for _ in range(_CONJUGATE):
            Hp = product(p)
            curvature = float(p @ Hp)
            if curvature <= 0.0:
                break
            alpha = rz / curvature
            x, r = x + alpha * p, r - alpha * Hp
            preconditioned = r / scale
            rz, last = float(r @ preconditioned), rz
            if rz <= target:
                break
            p = preconditioned + rz / last * p
        return x if x.any() else -gradient / scale


def _best_shift(values: np.ndarray, y: np.ndarray) -> float:
    """Return the e that makes Σ min(0, values + e y)² least: convex in e, by Newton's method."""
    e = 0.0
    for _ in range(100):
        lost = np.minimum(0.0, values + e * y)
        slope = float(lost @ y)
        curvature = float((y * y)[lost < 0.0].sum())
        if curvature == 0.0 or abs(slope) <= 1e-14 * curvature:
            break
        e -= slope / curvature
    return e
