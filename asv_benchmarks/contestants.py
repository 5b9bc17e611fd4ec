"""The problems of *time to accuracy*, and who takes part: kernreg's machines and what one would use instead.

Each contestant is a series of settings, from quick to thorough, so that its points are a curve. Nothing is tuned on
test samples; settings of peers are their defaults but for the size that the curve runs over, and for a penalty where
boosting with the default one diverges (hundreds of large trees for seven classes); features are standardised for all of
them (pixels divided by 255).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Training and test samples, and how an answer is judged."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    regression: bool

    def error(self, predicted: np.ndarray) -> float:
        """Return the share of wrong classes, or the root mean square error of standardised targets."""
        if self.regression:
            return float(np.sqrt(np.mean((predicted - self.y_test) ** 2)))
        return float(np.mean(predicted != self.y_test))

    def first(self, rows: int | None) -> Problem:
        """Return the problem with its first training samples only; these are in random order."""
        return self if rows is None else replace(self, X=self.X[:rows], y=self.y[:rows])


def covtype() -> Problem:
    """Return forest cover types: a random 80/20 split, standardised."""
    X, y = _loaded("covtype")
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[: int(0.8 * len(X))], order[int(0.8 * len(X)) :]
    X, X_test = _standardised(X[train].astype(np.float64), X[test].astype(np.float64))
    return Problem(X, y[train], X_test, y[test], False)


def mnist() -> Problem:
    """Return handwritten digits: the customary 60 000 and 10 000, pixels from 0 to 1 in float32."""
    X, y = _loaded("mnist")
    order = np.random.default_rng(0).permutation(60_000)
    X = X.astype(np.float32) / np.float32(255.0)
    return Problem(X[:60_000][order], y[:60_000][order], X[60_000:], y[60_000:], False)


def kin40k(split: int = 0) -> Problem:
    """Return the forward kinematics of a robot arm: one of the ten customary splits, targets standardised, too."""
    X, y = _loaded("kin40k")
    test = _file("kin40k")["test_mask"][:, split]
    X, X_test = _standardised(X[~test], X[test])
    mean, size = y[~test].mean(), y[~test].std()
    return Problem(X, (y[~test] - mean) / size, X_test, (y[test] - mean) / size, True)


PROBLEMS: dict[str, Callable[[], Problem]] = {"kin40k": kin40k, "mnist": mnist, "covtype": covtype}


def _file(name: str) -> Mapping[str, np.ndarray]:
    folder = os.environ.get("KERNREG_DATA")
    if not folder or not (Path(folder) / f"{name}.npz").is_file():
        raise FileNotFoundError(f"{name}.npz is not there: set KERNREG_DATA to the folder of data sets")
    return np.load(Path(folder) / f"{name}.npz")


def _loaded(name: str) -> tuple[np.ndarray, np.ndarray]:
    found = _file(name)
    return found["X"], found["y"]


def _standardised(X: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean, size = X.mean(axis=0), X.std(axis=0)
    size[size == 0.0] = 1.0
    return (X - mean) / size, (X_test - mean) / size


Maker = Callable[[Any], Any]


@dataclass(frozen=True)
class Contestant:
    """Who takes part in a problem.

    Attributes
    ----------
    name : str
    make : callable
        Returns an estimator for one of the settings.
    settings : tuple
        From quick to thorough.
    needs : str
        The package it comes from.
    """

    name: str
    make: Maker
    settings: tuple[Any, ...]
    needs: str = "sklearn"

    @property
    def ours(self) -> bool:
        """Whether it is a machine of kernreg."""
        return self.needs == "kernreg"


def _kernreg(name: str, spec: str, *settings: Any, **further: Any) -> Contestant:
    """Return a machine of kernreg; ``{}`` of its spec is the setting."""

    def make(setting: Any) -> Any:
        import kernreg as kr

        return kr.make_solver(spec.format(setting), **further)

    return Contestant(name, make, settings, "kernreg")


def _chain(name: str, steps: tuple[str, ...], *settings: Any) -> Contestant:
    """Return a chain of kernreg; ``{}`` of its last step is the setting."""

    def make(setting: Any) -> Any:
        import kernreg as kr

        return kr.make_chain(*steps[:-1], steps[-1].format(setting))

    return Contestant(name, make, settings, "kernreg")


def _nystroem(name: str, last: Callable[[], Any], *settings: int) -> Contestant:
    def make(components: int) -> Any:
        from sklearn.kernel_approximation import Nystroem
        from sklearn.pipeline import make_pipeline

        # The width that kernreg calls "scale", as scikit-learn's SVC does; Nystroem's own default is 1/d.
        return make_pipeline(_scaled(Nystroem(n_components=components, random_state=0)), last())

    return Contestant(name, make, settings)


def _scaled(nystroem: Any) -> Any:
    from sklearn.base import BaseEstimator, TransformerMixin

    class Scaled(TransformerMixin, BaseEstimator):
        """Nyström features of an rbf kernel whose width comes from the data."""

        def fit(self, X: np.ndarray, y: Any = None) -> Any:
            self.features = nystroem.set_params(gamma=1.0 / (X.shape[1] * X.var())).fit(X)
            return self

        def transform(self, X: np.ndarray) -> np.ndarray:
            return self.features.transform(X)

    return Scaled()


def _ridge(regression: bool) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.linear_model import Ridge, RidgeClassifier

        return Ridge(1e-3) if regression else RidgeClassifier(1e-3)

    return make


def _linear_svc() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=0)


def _sgd() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(random_state=0, n_jobs=-1)


def _forest(regression: bool) -> Maker:
    def make(trees: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        return (RandomForestRegressor if regression else RandomForestClassifier)(trees, n_jobs=-1, random_state=0)

    return make


def _boosted(regression: bool) -> Maker:
    def make(setting: tuple[int, int]) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
        return kind(
            max_iter=setting[0],
            max_leaf_nodes=setting[1],
            l2_regularization=_penalty(setting),
            early_stopping=False,
            random_state=0,
        )

    return make


def _penalty(setting: tuple[int, int]) -> float:
    """Return the penalty on the values of leaves: that of XGBoost for many large trees, none for the default."""
    return 1.0 if setting[0] > 100 else 0.0


def _lightgbm(regression: bool) -> Maker:
    def make(setting: tuple[int, int]) -> Any:
        import lightgbm

        kind = lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier
        penalty = {"reg_lambda": 1.0, "min_child_weight": 1.0} if _penalty(setting) else {}
        return kind(n_estimators=setting[0], num_leaves=setting[1], **penalty, verbose=-1, random_state=0)

    return make


def _xgboost(regression: bool) -> Maker:
    def make(setting: tuple[int, int]) -> Any:
        import xgboost

        kind = xgboost.XGBRegressor if regression else xgboost.XGBClassifier
        return kind(n_estimators=setting[0], max_depth=setting[1], tree_method="hist", random_state=0)

    return make


def _kernel_machine(regression: bool) -> Maker:
    """Return SVC, or KernelRidge, on the first rows only: how many is its setting."""

    def make(rows: int) -> Any:
        from sklearn.kernel_ridge import KernelRidge
        from sklearn.svm import SVC

        return OnFirst(KernelRidge(kernel="rbf", alpha=1e-3) if regression else SVC(), rows)

    return make


class OnFirst:
    """An estimator fitted to the first rows."""

    def __init__(self, estimator: Any, rows: int):
        self.estimator, self.rows = estimator, rows

    def fit(self, X: np.ndarray, y: np.ndarray) -> OnFirst:
        self.estimator.fit(X[: self.rows], y[: self.rows])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.estimator.predict(X)


class TunedOnFirst:
    """A machine of kernreg whose width and γ are chosen by leave-one-out on the first rows, then fitted to all."""

    def __init__(self, spec: str, kernel: str, widths: tuple[float, ...], rows: int, **settings: Any):
        self.spec, self.kernel, self.widths, self.rows = spec, kernel, widths, rows
        self.weighted = settings.pop("weighted", False)  # features times their relevance; widths are near one then
        self.settings = settings

    def fit(self, X: np.ndarray, y: np.ndarray) -> TunedOnFirst:
        import kernreg as kr

        self.weights = kr.make_solver("relevance", kernel=self.kernel).fit(X, y).weights_ if self.weighted else 1.0
        X = X * self.weights
        scale = 1.0 if self.weighted else float(np.sqrt(X.shape[1] * X.var()))
        grid = {"kernel__sigma": [width * scale for width in self.widths], "gamma": np.logspace(1.0, 6.0, 21)}
        found = kr.tune(kr.make_solver(self.spec, kernel=self.kernel), grid, X[: self.rows], y[: self.rows])
        self.chosen = {name: float(value) for name, value in found.best_params.items()}
        self.model = kr.make_solver(self.spec, kernel=self.kernel).set_params(**self.chosen, **self.settings).fit(X, y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X * self.weights)


def _tuned(name: str, spec: str, kernel: str, widths: tuple[float, ...], *rows: int, **settings: Any) -> Contestant:
    return Contestant(name, lambda first: TunedOnFirst(spec, kernel, widths, first, **settings), rows, "kernreg")


def _iterative(seconds: float) -> TunedOnFirst:
    """Return the machine of kin40k whose iteration ends after so many seconds, with the best solution so far."""
    bounds = {"tol": 1e-4, "max_iter": 10_000, "max_seconds": seconds, "n_landmarks": 2000}
    widths = (0.7, 1.0, 1.4, 2.0)
    return TunedOnFirst("ls-svr", "rational-quadratic", widths, 2500, strategy="iterative", weighted=True, **bounds)


def peers(regression: bool, *, forests: tuple[int, ...], boosted: tuple[tuple[int, int], ...]) -> list[Contestant]:
    """Return what one would use instead of kernreg."""
    machine = "KernelRidge, first rows" if regression else "SVC, first rows"
    linear = [] if regression else [("LinearSVC", _linear_svc), ("SGD", _sgd)]
    return [
        Contestant("RandomForest", _forest(regression), forests),
        Contestant("HistGradientBoosting", _boosted(regression), boosted),
        Contestant("LightGBM", _lightgbm(regression), boosted, "lightgbm"),
        Contestant("XGBoost", _xgboost(regression), ((100, 6), (500, 12)), "xgboost"),
        *(_nystroem(f"Nystroem + {name}", last, 300, 1000) for name, last in [("Ridge", _ridge(regression)), *linear]),
        Contestant(machine, _kernel_machine(regression), (2000, 10_000)),
    ]


def contestants(problem: str) -> list[Contestant]:
    """Return who takes part in a problem."""
    if problem == "covtype":
        return [
            _kernreg("kernreg lowrank", "ls-svm(strategy='lowrank', n_landmarks={})", 500, 2000),
            _kernreg(
                "kernreg cells", "cells(kernel='laplacian', cell_size={}, widths=[0.0625, 0.125, 0.25])", 500, 3000
            ),
            _chain(
                "kernreg relevance + cells",
                ("relevance", "cells(kernel='laplacian(sigma=1.0)', cell_size={}, widths=[0.5, 1.0, 2.0])"),
                250,
                500,
                1000,
                2000,
            ),
            *peers(False, forests=(20, 200), boosted=((100, 31), (500, 255))),
        ]
    if problem == "mnist":
        return [
            _kernreg("kernreg lowrank", "ls-svm(strategy='lowrank', n_landmarks={})", 500, 2000),
            _kernreg(
                "kernreg sketched",
                "ls-svm(kernel=\"rbf(sigma='0.7*scale')\", strategy='sketched', gamma=100.0, n_landmarks={})",
                3000,
                12000,
            ),
            _kernreg(
                "kernreg cells",
                "cells(kernel=\"rbf(sigma='0.7*scale')\", solver='ls-svm(gamma=100.0)', cell_size={}, overlap=1.0, "
                "widths=None)",
                1500,
                7500,
            ),
            *peers(False, forests=(20, 200), boosted=((100, 31),)),
        ]
    return [
        _kernreg("kernreg lowrank", "ls-svr(strategy='lowrank', n_landmarks={}, gamma=1000.0)", 500, 2000, 5000),
        _tuned(
            "kernreg relevance + exact, rational-quadratic",
            "ls-svr",
            "rational-quadratic",
            (0.7, 1.0, 1.4, 2.0, 2.8),
            4000,
            strategy="exact",
            weighted=True,
        ),
        Contestant("kernreg relevance + iterative, rational-quadratic", _iterative, (30, 120, 300), "kernreg"),
        *peers(True, forests=(20, 200), boosted=((100, 31), (1000, 255))),
    ]
