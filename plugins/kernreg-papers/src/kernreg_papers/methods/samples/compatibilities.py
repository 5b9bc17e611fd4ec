"""Rows and columns of a table of data, made comparable and embedded by kernel SVD; then a linear head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from kernreg import make_kernel
from kernreg.errors import KernregError, ParameterError
from kernreg.solvers import LSSVC, LSSVR, AsymmetricNystroem, KernelPCA, KernelSVD, tune
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome

#: Beyond so many samples kernel PCA and machines take landmarks; parameters are chosen on so many.
MANY, CHOOSING = 3000, 1500


def embed_and_predict(
    split: Split, *, embedding: str, squared_widths: Mapping[str, float], components: int, kernel: str = "rbf"
) -> Outcome:
    """Embed the rows of the data matrix, and predict by a linear classifier or by linear regression.

    Parameters
    ----------
    split : Split
        ``options["width"]`` is the name under which `squared_widths` has the row, ``options["standardise"]`` says that
        its features are brought to mean 0 and deviation 1.
    embedding : {"kpca", "a0", "a1", "a2", "a3", "nonlinear-svd"}
        Kernel PCA; kernel SVD of rows and columns with one of the compatibilities; the SVD of all monomials up to
        degree two.
    squared_widths : mapping
        γ² of each row, the paper's notation: exp(-‖x - z‖²/γ²), so that σ = γ; ``"default"`` for rows not named.
    components : int
    kernel : {"rbf", "sne", "poly"}
    """
    width = squared_widths.get(split.options["width"], squared_widths["default"]) if squared_widths else 1.0
    family = "poly(degree=2, c=1.0)" if kernel == "poly" else f"{kernel}(sigma={np.sqrt(width)})"
    X, X_test = split.X_train, split.X_test
    if split.options.get("standardise"):
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    train, test = _embedded(X, X_test, split, embedding, family, components)
    if split.y_train.dtype.kind == "f":
        head: Any = make_pipeline(StandardScaler(), LinearRegression()).fit(train, split.y_train)
        return Outcome(head.predict(test))
    head = make_pipeline(StandardScaler(), LogisticRegression(C=100.0, max_iter=2000)).fit(train, split.y_train)
    return Outcome(head.predict(test), decision=head.decision_function(test) if len(head.classes_) == 2 else None)


def _embedded(
    X: np.ndarray, X_test: np.ndarray, split: Split, embedding: str, family: str, r: int
) -> tuple[np.ndarray, np.ndarray]:
    kernel = make_kernel(family)
    if embedding == "kpca":
        if len(X) <= MANY:
            model: Any = KernelPCA(kernel, r).fit(X)
        else:
            model = AsymmetricNystroem(kernel, r, n_landmarks=1000, random_state=split.seed).fit(X)
        return model.transform(X), model.transform(X_test)
    if embedding == "nonlinear-svd":
        monomials = PolynomialFeatures(2).fit(X)
        phi = monomials.transform(X)
        U, s, Vt = np.linalg.svd(phi, full_matrices=False)
        return U[:, :r], monomials.transform(X_test) @ (Vt[:r].T / s[:r])
    if embedding in ("a0", "a1", "a2", "a3"):
        y = split.y_train if embedding == "a3" else None
        model = KernelSVD(kernel, r, compatibility=embedding, random_state=split.seed).fit(X, y)
        return model.left_scores_, model.transform(X_test)
    raise ParameterError(f"embedding={embedding!r} is not accepted; give kpca, a0, a1, a2, a3 or nonlinear-svd")


def tuned_machine(split: Split, *, widths: Sequence[float]) -> Outcome:
    """Scale the features, and predict by LS-SVM, kernel and γ by leave-one-out on training samples.

    Parameters
    ----------
    split : Split
    widths : sequence of float
        σ of RBF and Laplacian kernels, as multiples of √d and d for d features.
    """
    scaler = StandardScaler().fit(split.X_train)
    X, X_test = scaler.transform(split.X_train), scaler.transform(split.X_test)
    d = X.shape[1]
    kernels = [f"rbf(sigma={w * np.sqrt(d)})" for w in widths] + [f"laplacian(sigma={w * d})" for w in widths]
    is_regression = split.y_train.dtype.kind == "f"
    solver: Any = LSSVR() if is_regression else LSSVC()
    some = CHOOSING if len(X) > MANY else len(X)
    found = tune(solver, {"kernel": kernels, "gamma": "loo"}, X[:some], split.y_train[:some])
    model = found.best_estimator
    if len(X) > MANY:
        strategy: dict[str, Any] = {"strategy": "lowrank", "n_landmarks": 1000, "random_state": split.seed}
        try:
            model = LSSVR(found.best_params["kernel"], model.gamma_ * len(X) / some, **strategy).fit(X, split.y_train)
        except KernregError as error:
            raise ParameterError(f"the chosen machine could not be fitted to all samples: {error}") from error
    decision = None if is_regression or len(model.classes_) != 2 else model.decision_function(X_test)
    return Outcome(model.predict(X_test), found.best_params, decision=decision)
