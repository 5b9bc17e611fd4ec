"""What both ridge machines share: the fit, the choice of γ, and what a fitted one says.

The formulas are in `ridge`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernreg.errors import DataError, GridEndWarning, ParameterError, shown
from kernreg.solvers import ClassTargets, RealTargets, TrainingSet, check_choice, check_count, check_flag, check_gamma
from kernreg_krein.machine import KreinMachine, deal
from kernreg_krein.report import KreinReport
from kernreg_krein.ridge_path import Candidates, Choice, RidgeSpectrum, choose, fixed_metric, held_out, kappas
from kernreg_krein.settings import pick_landmarks, pick_strategy
from kernreg_krein.spaces import LandmarkSpace

SELECTIONS = ("folds", "fixed-metric")

_ONE, _BOTH = 41, 17  # values of γ tried where one is to be chosen, and of each where two are
_SOME = 5000  # samples that choose γ on landmarks


@dataclass(frozen=True)
class _Grids:
    """Values of γ₊ and γ₋ to choose from, and whether they go together."""

    positive: np.ndarray
    negative: np.ndarray
    tied: bool
    fitted: bool

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        return self.positive, self.negative

    @property
    def chooses(self) -> bool:
        return len(self.positive) > 1 or len(self.negative) > 1


class KreinRidge(KreinMachine):
    """The fit of both machines."""

    gamma: Any
    gamma_negative: Any
    fit_intercept: bool
    selection: str
    n_folds: int
    strategy: str
    gamma_: float
    gamma_negative_: float
    fixed_metric_values_: np.ndarray
    fixed_metric_samples_: np.ndarray
    _y: np.ndarray
    _weights: np.ndarray | None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_gammas(lambda: 1.0)
        check_choice("selection", self.selection, SELECTIONS)
        check_count("n_folds", self.n_folds, 2)
        check_flag("fit_intercept", self.fit_intercept)
        data = self._training_set(X, y, sample_weight)
        targets = self._encode(data)
        Y = targets.problems(data.y)[0].Y
        if pick_strategy(self.strategy, data, stacklevel=5) == "exact":
            self._fit_exact(data, targets, Y)
        else:
            self._fit_landmarks(data, targets, Y)

    def _fit_exact(self, data: TrainingSet, targets: ClassTargets | RealTargets, Y: np.ndarray) -> None:
        # K̃ = U Λ Uᵀ.
        K = self._matrix(data)
        size = partial(data.size_of_values, K)
        spectrum = RidgeSpectrum(K, Y, data.weights, intercept=self.fit_intercept)
        grids = self._grids(spectrum.values, len(K), size)
        # γ₊ and γ₋, given or chosen by samples that are left out.
        features = spectrum.vectors / spectrum.root[:, None]
        of_all = partial(
            fixed_metric, features, spectrum.values, spectrum.products, Y, spectrum.mean, data.weights, spectrum.share
        )
        if not grids.chooses:
            choice = Choice(float(grids.positive[0]), float(grids.negative[0]), {})
        elif self.selection == "fixed-metric":
            choice = self._chosen(of_all(grids.pair), np.arange(len(K)), grids, Y, data)
        else:
            codes = targets.codes(data.y) if isinstance(targets, ClassTargets) else np.zeros(len(K), dtype=np.intp)
            fold = deal(codes, self.n_folds)
            if not (fold >= 0).any():
                raise DataError(
                    "no fold can be held out: every class has one sample only; use selection='fixed-metric'"
                )
            found, rows = held_out(K, Y, data.weights, fold, grids.pair, intercept=self.fit_intercept)
            choice = self._chosen(found, rows, grids, Y, data)
        # α = U diag(sign λ/(|λ| + κ)) Uᵀ y, and the mean of what is left.
        machine = spectrum.machine(choice.gamma, choice.gamma_negative)
        left_out = of_all(_single(choice)).decision(0, 0)
        p, q = spectrum.signature
        report = KreinReport("exact", "eigh", len(K), p, q, _residual(spectrum, choice), note=data.note)
        self._keep(data, targets, machine, choice, report, (left_out, np.arange(len(K))), None)

    def _fit_landmarks(self, data: TrainingSet, targets: ClassTargets | RealTargets, Y: np.ndarray) -> None:
        self._refuse_asymmetric(data)
        chosen, m = pick_landmarks(self, data), len(data.y)
        space = LandmarkSpace(data.kernel, data.X, data.weights, chosen, centred=self.fit_intercept, Y=Y)
        grids = self._grids(space.values, m, data.size_of_values)
        some = np.arange(m) if m <= _SOME else np.linspace(0, m - 1, _SOME).astype(np.intp)
        weights = None if data.weights is None else data.weights[some]
        mean, share = np.zeros(Y.shape[1]), np.zeros(len(some))
        if self.fit_intercept:
            mean = np.average(Y, axis=0, weights=data.weights)
            share = np.full(len(some), 1.0 / m)
            if data.weights is not None:
                share = data.weights[some] / data.weights.sum()
        features = space.features(some if len(some) < m else None)
        of_some = partial(fixed_metric, features, space.values, space.products, Y[some], mean, weights, share)
        choice = Choice(float(grids.positive[0]), float(grids.negative[0]), {})
        if grids.chooses:
            choice = self._chosen(of_some(grids.pair), some, grids, Y, data)
        # The same formula on landmarks.
        kappa = kappas(space.values, choice.gamma, choice.gamma_negative)
        divided = np.sign(space.values) / (np.abs(space.values) + kappa)
        machine = space.machine(divided[:, None] * space.products, mean)
        left_out = of_some(_single(choice)).decision(0, 0)
        p, q = space.signature
        report = KreinReport("lowrank", "eigh", m, p, q, 0.0, landmarks=len(chosen), note=data.note)
        self._keep(data, targets, machine, choice, report, (left_out, some), chosen)

    # γ ------------------------------------------------------------------------------------------------------

    def _check_gammas(self, size: Any) -> list[Any]:
        """Return γ₊ and γ₋ as numbers, arrays of them or None for a grid fitted to the spectrum; γ₋ "tied" as γ₊."""
        found: list[Any] = []
        for name in ("gamma", "gamma_negative"):
            value = getattr(self, name)
            if isinstance(value, str) and value in ("auto", "loo"):
                if value == "loo":
                    raise ParameterError(
                        f"{name}='loo' is not accepted: |K| without a sample is no part of |K|, so there is no exact "
                        f"leave-one-out without refits. Give {name}='auto', which chooses as selection says"
                    )
                found.append(None)
            elif name == "gamma_negative" and value is None:
                found.append("tied")
            else:
                try:
                    found.append(check_gamma(value, size))
                except ParameterError:
                    raise ParameterError(
                        f"{name}={shown(value)} is not accepted; give a positive finite number, 'scale' or a multiple "
                        "such "
                        "as '10*scale', a sequence of these to choose from, or 'auto' for a grid fitted to the kernel "
                        "matrix" + (", or None for the same as gamma" if name == "gamma_negative" else "")
                    ) from None
        return found

    def _grids(self, values: np.ndarray, m: int, size: Any) -> _Grids:
        gamma, negative = self._check_gammas(size)
        rms = float(np.sqrt((values * values).sum() / m)) if len(values) else 1.0
        count = _BOTH if gamma is None and negative is None else _ONE
        fitted = np.logspace(-3.0, 5.0, count) / rms
        first = fitted if gamma is None else np.sort(np.atleast_1d(gamma))
        tied = isinstance(negative, str)
        second = first if tied else fitted if negative is None else np.sort(np.atleast_1d(negative))
        return _Grids(first, second, tied, gamma is None or (negative is None and not tied))

    def _chosen(
        self,
        candidates: Candidates,
        rows: np.ndarray,
        grids: _Grids,
        Y: np.ndarray,
        data: TrainingSet,
    ) -> Choice:
        weights = None if data.weights is None else data.weights[rows]
        choice = choose(candidates, Y[rows], weights, grids.pair, tied=grids.tied)
        for name, value, grid in (
            ("gamma", choice.gamma, grids.positive),
            ("gamma_negative", choice.gamma_negative, grids.negative),
        ):
            if not grids.fitted and len(grid) >= 3 and value in (grid[0], grid[-1]):
                which, other = ("largest", "larger") if value == grid[-1] else ("smallest", "smaller")
                warnings.warn(
                    f"{name}={value:g} is the {which} of {len(grid)} values, and {other} ones may be better: extend "
                    "the grid",
                    GridEndWarning,
                    stacklevel=6,
                )
                break
        return choice

    # What is kept -------------------------------------------------------------------------------------------

    def _encode(self, data: TrainingSet) -> Any:
        raise NotImplementedError

    def _keep(
        self,
        data: TrainingSet,
        targets: Any,
        machine: tuple[np.ndarray, np.ndarray],
        choice: Choice,
        report: KreinReport,
        left_out: tuple[np.ndarray, np.ndarray],
        landmarks: np.ndarray | None,
    ) -> None:
        values, rows = targets.shaped(left_out[0]), left_out[1]
        self.gamma_, self.gamma_negative_ = choice.gamma, choice.gamma_negative
        self.fixed_metric_values_, self.fixed_metric_samples_ = values, rows
        self._keep_own(data, targets, None if landmarks is None else (values, rows))
        self._store(data, machine, report, landmarks, stacklevel=6)
        if choice.path:
            self.gamma_path_ = choice.path

    def _keep_own(self, data: TrainingSet, targets: Any, held_out: tuple[np.ndarray, np.ndarray] | None) -> None:
        raise NotImplementedError

    @property
    def fixed_metric_residuals_(self) -> np.ndarray:
        """Target minus leave-one-out decision with the metric held fixed (targets are ±1 for classes)."""
        check_is_fitted(self, "dual_coef_")
        return self._targets.values(self._y[self.fixed_metric_samples_]) - self.fixed_metric_values_

    @property
    def fixed_metric_score_(self) -> float:
        """Accuracy (classes) or R² (regression) of leave-one-out values with the metric held fixed."""
        check_is_fitted(self, "dual_coef_")
        rows = self.fixed_metric_samples_
        weights = None if self._weights is None else self._weights[rows]
        return self._targets.score(self.fixed_metric_values_, self._y[rows], weights)


def _single(choice: Choice) -> tuple[np.ndarray, np.ndarray]:
    return np.array([choice.gamma]), np.array([choice.gamma_negative])


def _residual(spectrum: RidgeSpectrum, choice: Choice) -> float:
    """Return by how much U is not orthonormal, the only error that the closed form has."""
    del choice
    U = spectrum.vectors
    some = U[:, :: max(1, U.shape[1] // 20)]
    return float(np.abs(some.T @ some - np.eye(some.shape[1])).max(initial=0.0))
