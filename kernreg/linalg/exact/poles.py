"""Poles: values of γ for which a system has no unique solution.

LS-SVM with an indefinite kernel is singular when -1/γ is an eigenvalue of K̃, AsK-LS when 1/γ is a singular value. Both
are met in practice, so they are looked for, and the message says where to go.
"""

from __future__ import annotations

import numpy as np

from kernreg.errors import ParameterError

#: 1/γ within this relative distance of a singular value is a pole: nine digits of the solution are gone.
RELATIVE_GAP = 1e-9
#: What a suggested γ keeps from every pole, relatively.
_SAFE_GAP = 1e-2


def is_pole(kappa: np.ndarray | float, poles: np.ndarray, scale: float) -> np.ndarray:
    """Return, for each κ = 1/γ, whether a pole is so near that κ cannot be told from it.

    Parameters
    ----------
    kappa : array
        Values of 1/γ.
    poles : ndarray
        The values of κ at which the system is singular (they may be negative or zero: then they matter only where κ
        itself is below rounding error).
    scale : float
        The largest magnitude in the spectrum, which sets the rounding error.
    """
    kappa = np.atleast_1d(np.asarray(kappa, dtype=np.float64))
    if not len(poles):
        return np.zeros(len(kappa), dtype=bool)
    gap = np.abs(kappa - nearest(kappa, poles))
    return (gap <= RELATIVE_GAP * kappa) | (gap <= _rounding(len(poles), scale))


def _rounding(count: int, scale: float) -> float:
    """Return how far the computed spectrum may be from the true one."""
    return float(4.0 * np.sqrt(count) * np.finfo(np.float64).eps * scale)


def nearest(kappa: np.ndarray, poles: np.ndarray) -> np.ndarray:
    """Return the pole nearest to each κ."""
    ordered = np.sort(poles)
    after = np.clip(np.searchsorted(ordered, kappa), 1, max(1, len(ordered) - 1))
    low, high = ordered[after - 1], ordered[np.minimum(after, len(ordered) - 1)]
    return np.where(np.abs(kappa - low) <= np.abs(kappa - high), low, high)


def safe_gamma(gamma: float, poles: np.ndarray) -> float:
    """Return a γ near the given one whose 1/γ is well away from every pole.

    >>> import numpy as np
    >>> float(1 / safe_gamma(1.0, np.array([1.0, 0.5]))) != 1.0
    True
    >>> safe_gamma(1e300, np.array([1e-17, -3.0])) < 1e14  # where 1/γ is more than a rounding error
    True
    """
    scale = float(np.abs(poles).max(initial=0.0))
    if scale == 0.0:
        return gamma
    steps = np.linspace(0.0, np.log(4.0), 400)
    with np.errstate(over="ignore"):
        near = gamma * np.exp(
            np.column_stack([-steps, steps]).ravel()
        )  # nearest first, the smaller γ before the larger
    last = 0.5 / scale  # 1/γ above every pole is always safe
    far = np.geomspace(gamma, last, 400) if last < gamma else np.array([last])
    candidates = np.concatenate([near, far])
    found = float(candidates[np.argmax(_clear(candidates, poles, scale, _SAFE_GAP))])
    short = float(f"{found:.3g}")
    return short if _clear(np.array([short]), poles, scale, 0.5 * _SAFE_GAP)[0] else found


def _clear(gammas: np.ndarray, poles: np.ndarray, scale: float, gap: float) -> np.ndarray:
    """Return which γ keep a relative distance from every pole, and 1/γ well above rounding errors."""
    kappa = 1.0 / gammas
    distance = np.abs(kappa - nearest(kappa, poles))
    return (distance >= gap * kappa) & (distance >= 1e4 * _rounding(len(poles), scale))


def pole_error(gamma: float, poles: np.ndarray, what: str, advice: str, safe: float | None = None) -> ParameterError:
    """Return the error that names γ, the pole next to it and a safe γ.

    Parameters
    ----------
    gamma : float
    poles : ndarray
        The values of 1/γ at which the system is singular.
    what : str
        ``"singular"`` or ``"eigen"``: what kind of value the pole is.
    advice : str
        What else can be done, a full sentence or nothing.
    safe : float, optional
        A safe γ, where it is already known.
    """
    kappa = 1.0 / gamma
    safe = safe_gamma(gamma, poles) if safe is None else safe
    value = float(nearest(np.array([kappa]), poles)[0])
    count = int((np.abs(poles - value) <= 1e-9 * max(abs(value), kappa)).sum())
    named = f"singular value {value:.10g}" if what == "singular" else f"eigenvalue {-value:.10g}"
    side = "1/gamma" if what == "singular" else "-1/gamma"
    many = f" ({count} of them coincide)" if count > 1 else ""
    return ParameterError(
        f"gamma={gamma:g} is at a pole: {side} = {kappa if what == 'singular' else -kappa:.10g} cannot be told from "
        f"the {named} of the centred kernel matrix{many}, and the system has no unique solution there. "
        f"Use for example gamma={safe:g}, or gamma='loo' to choose by leave-one-out.{advice}"
    )
