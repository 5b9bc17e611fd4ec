"""The slow, obvious oracles: textbook systems solved as they are written, leave-one-out by refitting."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest


def ls_svm(K, Y, gamma, weights=None):
    """The (m+1) system of LS-SVM; returns a, b."""
    m = len(K)
    D = np.diag(1.0 / (gamma * (np.ones(m) if weights is None else weights)))
    A = np.block([[K + D, np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    z = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return z[:m], z[-1]


def ls_svm_with_labels(K, y, gamma):
    """The classifier's system as printed: [0 yᵀ; y H + I/γ] (b, α) = (0, 1), H = diag(y) K diag(y); returns y∘α, b."""
    m = len(K)
    H = y[:, None] * K * y
    A = np.block([[np.zeros((1, 1)), y[None]], [y[:, None], H + np.eye(m) / gamma]])
    z = np.linalg.solve(A, np.concatenate([[0.0], np.ones(m)]))
    return y * z[1:], z[0]


def ask_ls(K, Y, gamma, weights=None):
    """The (2m+2) system of AsK-LS; returns a, c, b1, b2."""
    m = len(K)
    D = np.diag(1.0 / (gamma * (np.ones(m) if weights is None else weights)))
    one, zero = np.ones((m, 1)), np.zeros((m, 1))
    A = np.block(
        [[D, K, one, zero], [K.T, D, zero, one], [one.T, zero.T, np.zeros((1, 2))], [zero.T, one.T, np.zeros((1, 2))]]
    )
    z = np.linalg.solve(A, np.vstack([Y, Y, np.zeros((2, Y.shape[1]))]))
    return z[:m], z[m : 2 * m], z[-2], z[-1]


def ls_svm_refits(K, Y, gamma):
    """f⁽⁻ⁱ⁾(x_i) of LS-SVM by m refits."""
    values = np.empty_like(Y)
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        a, b = ls_svm(K[np.ix_(rest, rest)], Y[rest], gamma)
        values[i] = K[i, rest] @ a + b
    return values


def ask_ls_refits(K, Y, gamma):
    """f_s⁽⁻ⁱ⁾(x_i) and f_t⁽⁻ⁱ⁾(x_i) of AsK-LS by m refits."""
    source, target = np.empty_like(Y), np.empty_like(Y)
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        a, c, b1, b2 = ask_ls(K[np.ix_(rest, rest)], Y[rest], gamma)
        source[i], target[i] = K[i, rest] @ c + b1, K[rest, i] @ a + b2
    return source, target


def close(got, expected, tolerance=1e-9):
    """Assert equality relative to the largest entry."""
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.fixture(scope="session")
def textbook():
    """The oracles, by name."""
    return SimpleNamespace(
        ls_svm=ls_svm,
        ls_svm_with_labels=ls_svm_with_labels,
        ls_svm_refits=ls_svm_refits,
        ask_ls=ask_ls,
        ask_ls_refits=ask_ls_refits,
        close=close,
    )


@pytest.fixture
def blobs():
    """60 points in 3 overlapping classes with string labels, and some new points."""
    rng = np.random.default_rng(5)
    codes = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 1.2 * np.eye(4)[codes]
    return X, np.array(["ape", "bee", "cat"])[codes], rng.normal(size=(9, 4))
