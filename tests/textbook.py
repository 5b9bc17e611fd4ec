"""The systems of LS-SVM and AsK-LS as the papers print them, borders included, solved as they stand."""

from __future__ import annotations

import numpy as np


def textbook_block(K, Y, gamma, weights=None):
    """The (2m+2) system of AsK-LS; returns a, c, b1, b2."""
    m = len(K)
    D = np.diag(1.0 / (gamma * (np.ones(m) if weights is None else weights)))
    one, zero = np.ones((m, 1)), np.zeros((m, 1))
    A = np.block(
        [[D, K, one, zero], [K.T, D, zero, one], [one.T, zero.T, np.zeros((1, 2))], [zero.T, one.T, np.zeros((1, 2))]]
    )
    z = np.linalg.solve(A, np.vstack([Y, Y, np.zeros((2, Y.shape[1]))]))
    return z[:m], z[m : 2 * m], z[-2], z[-1]


def textbook_symmetric(K, Y, gamma, weights=None):
    """The (m+1) system of LS-SVM; returns a, b."""
    m = len(K)
    D = np.diag(1.0 / (gamma * (np.ones(m) if weights is None else weights)))
    A = np.block([[K + D, np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    z = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return z[:m], z[-1]
