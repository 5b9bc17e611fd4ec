"""How far leave-one-out values with the metric held fixed are from refits, for krein-ridge on indefinite kernels.

    python -m asv_benchmarks.krein_fixed_metric [samples]

For each problem of `krein_ridge`: the mean squared error and the accuracy of fixed-metric values and of as many
refits as there are samples, and the root mean square of their difference, at the γ that folds choose and at a hundred
times it.
"""

from __future__ import annotations

import sys

import numpy as np
from kernreg_krein import KreinRidgeClassifier
from sklearn.preprocessing import MinMaxScaler

from asv_benchmarks.krein_ridge import KERNELS, SETS
from kernreg.datasets import load


def main(samples: int) -> None:
    """Print the table."""
    print(f"{'':38s}{'squared error':>22s}{'accuracy':>20s}{'difference':>14s}")
    print(f"{'':32s}{'gamma':>10s}{'fixed':>9s}{'refits':>9s}{'fixed':>10s}{'refits':>10s}{'(rms)':>14s}")
    for name in SETS:
        data = load(name)
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(~np.isnan(data.X).any(axis=1)))[:samples]
        X, y = MinMaxScaler().fit_transform(data.X[chosen]), data.y[chosen]
        sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
        for kernel, form in KERNELS.items():
            spec = form.format(0.3 * X.shape[1], 2.0 / X.shape[1])
            gamma = KreinRidgeClassifier(spec, "auto").fit(X, y).gamma_
            for times in (1.0, 100.0):
                fixed = KreinRidgeClassifier(spec, gamma * times).fit(X, y).fixed_metric_values_
                refits = np.array([_left_out(spec, gamma * times, X, y, i) for i in range(len(y))])
                squares = [((sign - f) ** 2).mean() for f in (fixed, refits)]
                right = [(np.sign(f) == sign).mean() for f in (fixed, refits)]
                gap = np.sqrt(((fixed - refits) ** 2).mean())
                print(
                    f"{name:26s}{kernel:6s}{gamma * times:10.3g}{squares[0]:9.3f}{squares[1]:9.3f}{right[0]:10.3f}"
                    f"{right[1]:10.3f}{gap:14.3f}",
                    flush=True,
                )


def _left_out(spec: str, gamma: float, X: np.ndarray, y: np.ndarray, i: int) -> float:
    rest = np.arange(len(y)) != i
    return float(KreinRidgeClassifier(spec, gamma).fit(X[rest], y[rest]).decision_function(X[i : i + 1])[0])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
