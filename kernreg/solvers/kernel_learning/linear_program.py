"""Linear programs with sparse constraints, through cvxopt: min cᵀx subject to G x ≤ h, A x = b."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from kernreg.errors import ParameterError

_TOLERANCE = 1e-10  # asked for
_REACHED = 1e-8  # good enough to be called optimal: near a degenerate optimum rounding errors end the iteration before
_ACCEPTABLE = 1e-5  # good enough to be returned, with a warning


@dataclass(frozen=True)
class LinearProgram:
    """A solved linear program.

    Attributes
    ----------
    x : ndarray
    objective : float
        cᵀx.
    status : str
        ``"optimal"``, or ``"stopped"`` where the tolerance was not reached, but nearly.
    inequality, equality : ndarray
        Dual variables z ≥ 0 and y: c + Gᵀz + Aᵀy = 0.
    gap : float
        Duality gap.
    iterations : int
    """

    x: np.ndarray
    objective: float
    status: str
    inequality: np.ndarray
    equality: np.ndarray
    gap: float
    iterations: int


def solve_linear_program(
    c: np.ndarray, G: Any, h: np.ndarray, A: Any, b: np.ndarray, *, what: str = "the constraints", max_iter: int = 200
) -> LinearProgram:
    """Solve min cᵀx subject to G x ≤ h, A x = b by an interior point method.

    Parameters
    ----------
    c : ndarray of shape (r,)
    G, A : sparse arrays or ndarrays of shapes (p, r) and (q, r)
    h, b : ndarrays of shapes (p,) and (q,)
    what : str
        What messages call the constraints.
    max_iter : int

    Raises
    ------
    ParameterError
        If the program is infeasible or unbounded, or its equality constraints depend on each other.

    Examples
    --------
    >>> import numpy as np
    >>> c, one = np.array([1.0, 2.0]), np.ones((1, 2))
    >>> found = solve_linear_program(c, -np.eye(2), np.zeros(2), one, np.ones(1))
    >>> found.x.round(6).tolist(), found.status
    ([1.0, 0.0], 'optimal')
    """
    from cvxopt import matrix, solvers

    options = {
        "show_progress": False,
        "maxiters": max_iter,
        "abstol": _TOLERANCE,
        "reltol": _TOLERANCE,
        "feastol": _TOLERANCE,
        "refinement": 2,
    }
    arguments = matrix(_column(c)), _sparse(G), matrix(_column(h)), _sparse(A), matrix(_column(b))
    try:
        found = solvers.lp(*arguments, options=options)
    except (ValueError, ArithmeticError) as error:
        if _contradictory(A, b):
            raise ParameterError(
                f"{what} contradict each other: no solution satisfies all equality constraints. Relax some"
            ) from error
        raise ParameterError(
            f"{what} cannot be solved for: {error}. Equality constraints must not follow from one another; leave out "
            "those that do"
        ) from error
    status = found["status"]
    if status == "primal infeasible":
        raise ParameterError(f"{what} contradict each other: no solution satisfies all of them. Relax some")
    if status == "dual infeasible":
        raise ParameterError(f"{what} leave the objective unbounded below: add bounds")
    gap, parts = found["gap"], (found["primal infeasibility"], found["dual infeasibility"])
    worst = max(gap, *parts) if gap is not None and None not in parts else np.inf
    if not worst <= _ACCEPTABLE:
        raise ParameterError(
            f"{what}: no optimum was found in {found['iterations']} iterations (gap and infeasibilities are up to "
            f"{worst:.2g}); rescale the constraints, whose numbers should be of ordinary size"
        )
    reached = status == "optimal" or worst <= _REACHED
    if not reached:
        warnings.warn(
            f"the linear program stopped at a gap of {worst:.2g}, and {_TOLERANCE:g} was asked for",
            ConvergenceWarning,
            stacklevel=2,
        )
    x, z, y = (np.array(found[name], dtype=np.float64).ravel() for name in ("x", "z", "y"))
    iterations = int(found["iterations"])
    return LinearProgram(x, float(c @ x), "optimal" if reached else "stopped", z, y, float(gap), iterations)


def _contradictory(A: Any, b: np.ndarray) -> bool:
    """Return whether A x = b has no solution."""
    table = A.toarray() if hasattr(A, "toarray") else np.asarray(A, dtype=np.float64)
    rest = table @ np.linalg.lstsq(table, b, rcond=None)[0] - b
    return bool(np.abs(rest).max(initial=0.0) > _REACHED * max(1.0, float(np.abs(b).max(initial=0.0))))


def _column(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype=np.float64).reshape(-1, 1)


def _sparse(table: Any) -> Any:
    from cvxopt import spmatrix

    entries = sp.coo_array(table)
    return spmatrix(
        entries.data.astype(np.float64).tolist(), entries.row.tolist(), entries.col.tolist(), entries.shape, tc="d"
    )
