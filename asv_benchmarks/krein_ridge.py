"""Test accuracy of krein-ridge beside ls-svm(gamma="loo") on ten problems with indefinite kernels.

    python -m asv_benchmarks.krein_ridge [splits]

Five data sets of KERNREG_DATA, scaled to [0, 1] by the training half, with the kernels tl1(rho=0.3 d) and
tanh(c=2/d, t=-0.5), d features; random halves train and test. Prints a line for each problem and the means.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from kernreg_krein import KreinRidgeClassifier
from sklearn.preprocessing import MinMaxScaler

from kernreg.datasets import load
from kernreg.solvers import LSSVC

SETS = ("sonar", "heart_statlog", "ionosphere", "pima", "breast_wisconsin_original")
KERNELS = {"tl1": "tl1(rho={0})", "tanh": "tanh(c={1}, t=-0.5)"}
MACHINES = {
    "ls-svm": lambda spec: LSSVC(spec, gamma="loo"),
    "ridge": lambda spec: KreinRidgeClassifier(spec, gamma="auto"),
    "two gammas": lambda spec: KreinRidgeClassifier(spec, gamma="auto", gamma_negative="auto"),
    "fixed metric": lambda spec: KreinRidgeClassifier(spec, gamma="auto", selection="fixed-metric"),
}


def main(splits: int) -> None:
    """Print the table."""
    means = []
    print(f"{'':32s}{'signature':>12s}" + "".join(f"{name:>14s}" for name in MACHINES))
    for name in SETS:
        data = load(name)
        complete = ~np.isnan(data.X).any(axis=1)
        X, y = data.X[complete], data.y[complete]
        for kernel, form in KERNELS.items():
            spec = form.format(0.3 * X.shape[1], 2.0 / X.shape[1])
            scores = np.array([_scores(X, y, spec, seed) for seed in range(splits)])
            signature = KreinRidgeClassifier(spec).fit(MinMaxScaler().fit_transform(X), y).signature_
            means.append(scores.mean(axis=0))
            print(
                f"{name:26s}{kernel:6s}{signature!s:>12s}" + "".join(f"{score:14.4f}" for score in means[-1]),
                flush=True,
            )
    print(f"{'mean':44s}" + "".join(f"{score:14.4f}" for score in np.mean(means, axis=0)))
    gaps = np.array(means)[:, 1:] - np.array(means)[:, :1]
    print(f"{'least difference from ls-svm':44s}{'':14s}" + "".join(f"{gap:14.4f}" for gap in gaps.min(axis=0)))


def _scores(X: np.ndarray, y: np.ndarray, spec: str, seed: int) -> list[float]:
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    scaler = MinMaxScaler().fit(X[train])
    A, B = scaler.transform(X[train]), scaler.transform(X[test])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ends of grids
        return [float(make(spec).fit(A, y[train]).score(B, y[test])) for make in MACHINES.values()]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
