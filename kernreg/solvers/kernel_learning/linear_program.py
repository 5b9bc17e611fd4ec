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
_REACHED = 1e-8  # good enough to be called optimal
_ACCEPTABLE = 1e-5  # good enough to be returned, with a warning
# How cvxopt solves for a step. Cholesky's method is fast, but forms normal equations, whose condition is squared: near
# the optimum rounding makes them indefinite, sooner on one CPU than on another. Then LDLᵀ of the whole system goes on.
_FACTORISATIONS = ("chol2", "ldl")


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

    _check_equalities(A, b, what)
    options = {
        "show_progress": False,
        "maxiters": max_iter,
        "abstol": _TOLERANCE,
        "reltol": _TOLERANCE,
        "feastol": _TOLERANCE,
        "refinement": 2,
    }
    arguments = matrix(_column(c)), _sparse(G), matrix(_column(h)), _sparse(A), matrix(_column(b))
    attempts: list[Any] = []
    for factorisation in _FACTORISATIONS:
        try:
            attempts.append(solvers.lp(*arguments, kktsolver=factorisation, options=options))
        except (ValueError, ArithmeticError) as error:
            raise ParameterError(
                f"{what} cannot be solved for: {error}. Together they must bound every unknown"
            ) from error
        if attempts[-1]["status"] != "unknown":
            break
    found = min(attempts, key=_error)
    status, worst = found["status"], _error(found)
    if status == "primal infeasible":
        raise ParameterError(f"{what} contradict each other: no solution satisfies all of them. Relax some")
    if status == "dual infeasible":
        raise ParameterError(f"{what} leave the objective unbounded below: add bounds")
    if worst > _ACCEPTABLE:
        raise ParameterError(
            f"{what}: no optimum was found in {found['iterations']} iterations (gap and infeasibilities are up to "
            f"{worst:.2g}); rescale the constraints, whose numbers should be of ordinary size"
        )
    reached = worst <= _REACHED
    if not reached:
        warnings.warn(
            f"the linear program stopped at a gap of {worst:.2g}, and {_TOLERANCE:g} was asked for",
            ConvergenceWarning,
            stacklevel=2,
        )
    x, z, y = (np.array(found[name], dtype=np.float64).ravel() for name in ("x", "z", "y"))
    iterations = int(found["iterations"])
    return LinearProgram(x, float(c @ x), "optimal" if reached else "stopped", z, y, float(found["gap"]), iterations)


def _error(found: Any) -> float:
    """Return gap and infeasibilities, whichever is largest, where cvxopt stopped; 0 where it came to a conclusion."""
    if found["status"] != "unknown":
        return 0.0
    worst = np.max([found["gap"], found["primal infeasibility"], found["dual infeasibility"]])
    return float(np.nan_to_num(worst, nan=np.inf))


def _check_equalities(A: Any, b: np.ndarray, what: str) -> None:
    """Refuse rows of A that depend on each other: rounding decides whether cvxopt notices."""
    table = A.toarray() if hasattr(A, "toarray") else np.asarray(A, dtype=np.float64)
    lengths = np.linalg.norm(table, axis=1)
    lengths[lengths == 0.0] = 1.0
    table, b = table / lengths[:, None], b / lengths
    solution, _, rank, _ = np.linalg.lstsq(table, b, rcond=None)
    if rank == len(b):
        return
    if np.abs(table @ solution - b).max() > _REACHED * max(1.0, float(np.abs(b).max())):
        raise ParameterError(
            f"{what} contradict each other: no solution satisfies all equality constraints. Relax some"
        )
    raise ParameterError(
        f"{what} cannot be solved for: equality constraints must not follow from one another; leave out those that do"
    )


def _column(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype=np.float64).reshape(-1, 1)


def _sparse(table: Any) -> Any:
    from cvxopt import spmatrix

    entries = sp.coo_array(table)
    return spmatrix(
        entries.data.astype(np.float64).tolist(), entries.row.tolist(), entries.col.tolist(), entries.shape, tc="d"
    )
