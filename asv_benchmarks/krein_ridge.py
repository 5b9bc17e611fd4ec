"""Test accuracy of krein-ridge beside ls-svm(gamma="loo") on ten problems with indefinite kernels.

    python -m asv_benchmarks.krein_ridge [splits [first seed [set ...]]]

Five data sets of KERNREG_DATA, or those that are named, scaled to [0, 1] by the training half, with the kernels
tl1(rho=0.3 d) and tanh(c=2/d, t=-0.5), d features; random halves train and test, one for each seed. Prints a line for
each problem: mean accuracies, the mean of paired differences of each machine and ls-svm, and their standard errors.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

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


def main(splits: int, first: int, sets: Sequence[str]) -> None:
    """Print the table."""
    means, errors = [], []
    print(f"seeds {first} to {first + splits - 1}; in brackets: difference from ls-svm ± its standard error")
    print(f"{'':32s}{'signature':>12s}{'ls-svm':>9s}" + "".join(f"{name:>24s}" for name in list(MACHINES)[1:]))
    for name in sets:
        data = load(name)
        complete = ~np.isnan(data.X).any(axis=1)
        X, y = data.X[complete], data.y[complete]
        for kernel, form in KERNELS.items():
            spec = form.format(0.3 * X.shape[1], 2.0 / X.shape[1])
            scores = np.array([_scores(X, y, spec, seed) for seed in range(first, first + splits)])
            signature = KreinRidgeClassifier(spec).fit(MinMaxScaler().fit_transform(X), y).signature_
            means.append(scores.mean(axis=0))
            errors.append(np.std(scores[:, 1:] - scores[:, :1], axis=0, ddof=1) / np.sqrt(splits))
            print(f"{name:26s}{kernel:6s}{signature!s:>12s}" + _line(means[-1], errors[-1]), flush=True)
    # Splits of one data set overlap, and its two kernels share them: the error of the mean is a rough one.
    print(f"{'mean':44s}" + _line(np.mean(means, axis=0), np.sqrt(np.mean(np.square(errors), axis=0) / len(errors))))
    gaps = np.array(means)[:, 1:] - np.array(means)[:, :1]
    print(f"{'least difference from ls-svm':53s}" + "".join(f"{gap:24.4f}" for gap in gaps.min(axis=0)))


def _line(scores: np.ndarray, errors: np.ndarray) -> str:
    others = zip(scores[1:], scores[1:] - scores[0], errors, strict=True)
    return f"{scores[0]:9.4f}" + "".join(f"{score:8.4f} ({gap:+.4f}±{error:.4f})" for score, gap, error in others)


def _scores(X: np.ndarray, y: np.ndarray, spec: str, seed: int) -> list[float]:
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    scaler = MinMaxScaler().fit(X[train])
    A, B = scaler.transform(X[train]), scaler.transform(X[test])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ends of grids
        return [float(make(spec).fit(A, y[train]).score(B, y[test])) for make in MACHINES.values()]


if __name__ == "__main__":
    splits, first, *sets = sys.argv[1:] + ["10", "0"][len(sys.argv) - 1 :]
    main(int(splits), int(first), sets or SETS)
