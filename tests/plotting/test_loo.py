"""What a picture of leave-one-out over γ shows, and where the poles are."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import sne, tl1
from kernreg.plotting import LooPathDisplay
from kernreg.plotting.loo import find_poles
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier

GAMMAS = np.logspace(-3, 2, 25)


def centred(K):
    J = np.eye(len(K)) - 1.0 / len(K)
    return J @ K @ J


def test_the_path_is_that_of_the_solver(moons):
    X, y = moons
    clf = LSSVC(kernel="rbf(sigma=1.0)", gamma=GAMMAS[::-1]).fit(X, y)
    display = LooPathDisplay.from_estimator(clf)
    (line,) = [line for line in display.ax_.lines if line.get_label() == "accuracy"]
    np.testing.assert_array_equal(line.get_xdata(), GAMMAS)
    np.testing.assert_array_equal(line.get_ydata(), clf.loo_path_["score"][::-1])
    np.testing.assert_array_equal(display.error_ax_.lines[0].get_ydata(), clf.loo_path_["squared_error"][::-1])
    chosen = [line for line in display.ax_.lines if line.get_label().startswith("chosen")]
    assert chosen[0].get_xdata()[0] == clf.gamma_
    assert display.poles.size == 0
    assert display.ax_.get_xscale() == "log"


def test_poles_of_an_indefinite_kernel_are_its_negative_eigenvalues(moons):
    X, y = moons
    clf = LSSVC(kernel="tl1(rho=2.5)", gamma=GAMMAS).fit(X, y)
    eigenvalues = np.linalg.eigvalsh(centred(tl1(rho=2.5)(X)))
    expected = np.sort(-1.0 / eigenvalues[eigenvalues < -1e-10])
    assert len(expected) > 3
    np.testing.assert_allclose(find_poles(clf), expected, rtol=1e-8)
    display = LooPathDisplay.from_estimator(clf)
    shown = expected[(expected >= GAMMAS[0]) & (expected <= GAMMAS[-1])]
    drawn = [lines for lines in display.ax_.collections if "pole" in lines.get_label()]
    assert len(drawn[0].get_segments()) == len(shown)


def test_at_every_pole_the_solver_refuses(moons):
    X, y = moons
    clf = AsKLSClassifier(kernel="sne(sigma=0.7)", gamma=GAMMAS).fit(X, y)
    values = np.linalg.svd(centred(sne(sigma=0.7)(X)), compute_uv=False)
    poles = find_poles(clf)
    np.testing.assert_allclose(poles[:20], np.sort(1.0 / values)[:20], rtol=1e-8)
    with pytest.raises(ParameterError, match="is at a pole"):
        AsKLSClassifier(kernel="sne(sigma=0.7)", gamma=float(poles[3])).fit(X, y)


def test_a_gamma_at_a_pole_is_marked(moons):
    X, y = moons
    first = AsKLSClassifier(kernel="sne(sigma=0.7)", gamma=GAMMAS).fit(X, y)
    at_pole = float(find_poles(first)[2])
    clf = AsKLSClassifier(kernel="sne(sigma=0.7)", gamma=[0.1, at_pole, 20.0]).fit(X, y)
    display = LooPathDisplay.from_estimator(clf)
    (cross,) = [line for line in display.ax_.lines if line.get_label() == "γ at a pole"]
    assert cross.get_xdata().tolist() == [at_pole]


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # the path is what is drawn, not the choice
def test_many_poles_are_ticks(moons):
    X, y = moons
    clf = AsKLSClassifier(kernel="sne(sigma=0.3)", gamma=np.logspace(-3, 6, 10)).fit(X, y)
    display = LooPathDisplay.from_estimator(clf)
    (lines,) = [lines for lines in display.ax_.collections if "pole" in lines.get_label()]
    assert "ticks" in lines.get_label()
    assert len(lines.get_segments()) > 40
    assert lines.get_segments()[0][:, 1].max() < 0.1


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # targets without noise
def test_regression_shows_r2_and_poles_may_be_left_out(moons):
    X, _ = moons
    display = LooPathDisplay.from_estimator(LSSVR(gamma="loo").fit(X, X[:, 0] ** 2 + 0.1 * X[:, 1]), poles=False)
    assert display.score_name == "R²"
    assert display.poles.size == 0


def test_wrong_input_is_refused(moons):
    X, y = moons
    with pytest.raises(DataError, match=r"LSSVC has no leave-one-out path; fit it with gamma='loo'"):
        LooPathDisplay.from_estimator(LSSVC(gamma=1.0).fit(X, y))
    with pytest.raises(DataError, match="no γ with a finite"):
        LooPathDisplay([1.0], [-np.inf])
    labels = np.arange(60) % 3
    clf = LSSVC(gamma="loo", multi_class="one-vs-one").fit(X, labels)
    with pytest.raises(DataError, match="poles of its own"):
        LooPathDisplay.from_estimator(clf)
    assert LooPathDisplay.from_estimator(clf, poles=False).poles.size == 0
