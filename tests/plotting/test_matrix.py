"""Which numbers a picture of a kernel matrix shows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.datasets import make_cycle
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import rbf
from kernreg.plotting import KernelMatrixDisplay
from kernreg.solvers import AsKLSClassifier


def image(ax):
    return np.asarray(ax.images[0].get_array())


def test_rows_and_columns_are_sorted_by_class():
    K, y = make_cycle(12, 3, random_state=0)
    order = np.argsort(y, kind="stable")
    display = KernelMatrixDisplay(K, y).plot()
    np.testing.assert_array_equal(image(display.axes_[0]), K[np.ix_(order, order)])
    np.testing.assert_allclose(image(display.axes_[1]), 0.5 * (K - K.T)[np.ix_(order, order)])
    assert display.boundaries.tolist() == [4, 8]
    assert len(display.axes_[0].lines) == 4


def test_asymmetry_is_the_share_of_the_skew_part():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(6, 6))
    expected = np.linalg.norm(K - K.T) / (2 * np.linalg.norm(K))
    assert KernelMatrixDisplay(K).asymmetry == pytest.approx(expected)
    assert KernelMatrixDisplay(K + K.T).asymmetry == 0.0
    assert KernelMatrixDisplay(K - K.T).asymmetry == pytest.approx(1.0)
    assert KernelMatrixDisplay(np.zeros((2, 2))).asymmetry == 0.0
    assert KernelMatrixDisplay(K[:3]).asymmetry is None


def test_a_symmetric_or_rectangular_matrix_has_one_panel(moons):
    X, _ = moons
    symmetric = KernelMatrixDisplay.from_kernel("rbf(sigma=1.0)", X)
    assert len(symmetric.axes_) == 1
    np.testing.assert_array_equal(image(symmetric.axes_[0]), rbf(sigma=1.0)(X))
    rectangular = KernelMatrixDisplay.from_kernel(rbf(sigma=1.0), X, X[:5])
    assert image(rectangular.axes_[0]).shape == (60, 5)
    assert len(KernelMatrixDisplay(np.eye(3)).plot(skew=True).axes_) == 2
    with pytest.raises(DataError, match="only a square matrix has a skew part"):
        KernelMatrixDisplay(np.ones((2, 3))).plot(skew=True)


def test_large_matrices_are_means_of_blocks():
    K = np.arange(35.0).reshape(5, 7)
    display = KernelMatrixDisplay(K, max_size=3).plot()
    expected = [[K[i : i + 2, j : j + 3].mean() for j in (0, 3, 6)] for i in (0, 2, 4)]
    np.testing.assert_allclose(image(display.axes_[0]), expected)
    assert display.figure_.axes[1].get_ylabel() == "mean of 2 × 3 entries"


def test_a_few_large_entries_do_not_hide_the_rest():
    K = np.random.default_rng(0).random((100, 100))
    K[3, 4] = 1000.0
    display = KernelMatrixDisplay(sp.csr_array(K)).plot(skew=False)
    low, high = display.axes_[0].images[0].get_clim()
    assert 0.0 <= low < 0.01
    assert 0.9 < high <= 1.0
    plain = KernelMatrixDisplay(np.eye(3)).plot()
    assert plain.axes_[0].images[0].get_clim() == (0.0, 1.0)


def test_colours_of_signed_matrices_are_centred():
    display = KernelMatrixDisplay([[1.0, -2.0], [0.5, 0.0]]).plot()
    for ax in display.axes_:
        low, high = ax.images[0].get_clim()
        assert low == -high
    assert display.axes_[0].images[0].get_clim() == (-2.0, 2.0)


def test_the_training_matrix_of_a_solver(moons):
    X, y = moons
    solver = AsKLSClassifier(kernel="sne(sigma=0.5)", gamma=0.5).fit(X, y)
    display = KernelMatrixDisplay.from_estimator(solver)
    np.testing.assert_array_equal(display.K, solver.kernel_(X))
    pair = AsKLSClassifier(kernel="sne(sigma=0.5)", gamma=0.5).fit((X, X[::-1].copy()), y)
    np.testing.assert_array_equal(KernelMatrixDisplay.from_estimator(pair).K, pair.kernel_(X, X[::-1]))
    with pytest.raises(DataError, match="no kernel_ and X_fit_"):
        KernelMatrixDisplay.from_estimator(SimpleNamespace())


def test_wrong_input_is_refused(plt):
    with pytest.raises(DataError, match="not finite"):
        KernelMatrixDisplay([[np.nan]])
    with pytest.raises(DataError, match=r"labels has shape \(2,\) and K \(3, 3\)"):
        KernelMatrixDisplay(np.eye(3), [0, 1])
    _, axes = plt.subplots(1, 3)
    with pytest.raises(ParameterError, match="ax has 3 axes, and this display has 2 panels"):
        KernelMatrixDisplay([[0.0, 1.0], [0.0, 0.0]]).plot(axes)
