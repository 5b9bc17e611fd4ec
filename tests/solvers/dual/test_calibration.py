"""Calibrations against likelihoods that are maximised by an optimiser that knows nothing of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from kernreg.solvers.dual import calibration
from kernreg.solvers.dual.calibration import calibrate, probabilities


def smoothed(codes, classes, weights):
    """Platt's targets: a class of N samples is (N + 1)/(N + C) certain of its own."""
    T = np.empty((len(codes), classes))
    for i, own in enumerate(codes):
        total = weights[codes == own].sum()
        T[i] = 1.0 / (total + classes)
        T[i, own] = (total + 1.0) / (total + classes)
    return T


def loss(a, b, F, T, weights):
    Z = a * F + b
    return -float((weights[:, None] * T * (Z - np.log(np.exp(Z).sum(axis=1, keepdims=True)))).sum())


def decisions(classes, seed=0, n=80, shift=0.0):
    """Noisy decision values of n samples, of which the class 0 is decided for too often where there is a shift."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, n)
    F = rng.normal(size=(n, classes)) + 1.2 * np.eye(classes)[codes]
    F[:, 0] += shift
    return F, codes, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_a_sigmoid_has_the_largest_likelihood(classes, weighted, shift):
    F, codes, weights = decisions(classes, shift=shift)
    given = F if classes > 2 else F[:, 1] - F[:, 0]
    F = F if classes > 2 else np.c_[-given / 2, given / 2]
    found = calibrate("sigmoid", given, codes, classes, weights if weighted else None)["sigmoid"]
    w = weights / weights.mean() if weighted else np.ones(len(codes))
    T = smoothed(codes, classes, w)
    tight = {"method": "BFGS", "options": {"gtol": 1e-7}}
    plain = minimize(lambda x: loss(x[0], 0.0, F, T, w), [1.0], **tight)
    free = minimize(lambda x: loss(x[0], np.append(x[1:], 0.0), F, T, w), [1.0] + [0.0] * (classes - 1), **tight)
    asked_for = plain.fun - free.fun > 0.5 * (classes - 1) * np.log(len(codes))  # the Bayes information criterion
    assert asked_for == (shift > 0.0)
    slope, offsets = found
    if asked_for:
        np.testing.assert_allclose(slope, free.x[0], rtol=1e-4)
        np.testing.assert_allclose(offsets - offsets[-1], np.append(free.x[1:], 0.0), atol=1e-3)
    else:
        np.testing.assert_allclose(slope, plain.x[0], rtol=1e-4)
        assert not offsets.any()
    without = calibrate("sigmoid", given, codes, classes, weights if weighted else None, offsets=False)["sigmoid"]
    np.testing.assert_allclose(without[0], plain.x[0], rtol=1e-4)
    assert not without[1].any()


@pytest.mark.parametrize("excess", [-0.3, 0.0, 0.3])
def test_offsets_are_taken_just_where_the_information_criterion_asks_for_them(excess, monkeypatch):
    F, codes, _ = decisions(3)
    losses = iter([np.log(80.0), -excess])  # two more parameters cost ½ · 2 · log 80
    theta = {False: np.array([1.0, 0.0, 0.0, 0.0]), True: np.array([2.0, 0.1, 0.2, 0.3])}
    monkeypatch.setattr(calibration, "_newton", lambda *_, offsets: (theta[offsets], next(losses)))
    _, offsets = calibrate("sigmoid", F, codes, 3, None)["sigmoid"]
    assert offsets.tolist() == (theta[True][1:] if excess > 0.0 else theta[False][1:]).tolist()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_scale_of_decisions_does_not_matter(scale):
    F, codes, weights = decisions(3, shift=2.0)
    once = probabilities(calibrate("sigmoid", F, codes, 3, weights), F)
    again = probabilities(calibrate("sigmoid", scale * F, codes, 3, weights), scale * F)
    np.testing.assert_allclose(again, once, atol=1e-6)


def test_decisions_that_are_all_equal_give_frequencies():
    codes = np.array([0, 1, 1, 1])
    P = probabilities(calibrate("sigmoid", np.zeros(4), codes, 2, None), np.array([-5.0, 5.0]))
    assert np.ptp(P, axis=0).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(P[0, 1], (1 / 3 + 3 * 4 / 5) / 4)  # of smoothed targets


@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_that_say_the_opposite_give_smoothed_frequencies(weighted):
    F, codes, weights = decisions(3)
    w = weights / weights.mean() if weighted else np.ones(80)
    slope, offsets = calibrate("sigmoid", -F, codes, 3, weights if weighted else None)["sigmoid"]
    assert slope == 0.0
    expected = (w[:, None] * smoothed(codes, 3, w)).sum(axis=0) / w.sum()
    np.testing.assert_allclose(np.exp(offsets), expected, rtol=1e-12)
    P = probabilities({"sigmoid": [slope, offsets]}, F[:2])
    np.testing.assert_allclose(P, np.tile(expected, (2, 1)), rtol=1e-12)


def test_classes_that_are_told_apart_exactly_have_a_finite_slope():
    f, codes = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1])
    P = probabilities(calibrate("sigmoid", f, codes, 2, None), f)
    assert 0.7 < P[3, 1] < 0.95


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_left_out_with_their_classes_and_weights(bad):
    F, codes, weights = decisions(3)
    G = F.copy()
    G[::7, 1] = bad
    keep = np.isfinite(G).all(axis=1)
    assert np.isfinite(probabilities(calibrate("sigmoid", G, codes, 3, weights), F)).all()
    without = probabilities(calibrate("isotonic", F[keep], codes[keep], 3, weights[keep]), F)
    np.testing.assert_allclose(probabilities(calibrate("isotonic", G, codes, 3, weights), F), without, atol=1e-12)


def test_steps_of_two_classes_never_fall_and_are_frequencies():
    f, codes = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.array([0, 1, 0, 0, 1, 1])
    found = calibrate("isotonic", f, codes, 2, None)
    assert len(found["isotonic"]) == 1
    P = probabilities(found, np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0]))
    np.testing.assert_allclose(P[:, 1], [0.0, 0.0, 1 / 3, 1 / 3, 1 / 3, 1.0, 1.0])  # 2 to 4 are pooled
    np.testing.assert_allclose(P[:, 0], 1.0 - P[:, 1])
    weighted = calibrate("isotonic", f, codes, 2, np.array([1.0, 4.0, 1.0, 1.0, 1.0, 1.0]))
    np.testing.assert_allclose(probabilities(weighted, np.array([3.0]))[:, 1], 4 / 6)


def test_steps_of_several_classes_are_scaled_to_sum_one_and_equal_where_none_is_possible():
    steps = [(np.array([0.0, 1.0]), np.array(p)) for p in ([0.0, 0.5], [0.0, 0.25], [0.0, 0.25])]
    P = probabilities({"isotonic": steps}, np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.5]]))
    np.testing.assert_allclose(P, [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25], [0.8, 0.0, 0.2]])


def test_three_classes_have_steps_each_against_the_rest():
    F = np.array([[0.0, 3.0, 1.0], [1.0, 2.0, 0.0], [2.0, 1.0, 2.0], [3.0, 0.0, 3.0]])
    codes = np.array([1, 1, 0, 2])
    steps = calibrate("isotonic", F, codes, 3, None)["isotonic"]
    assert len(steps) == 3
    for c, (expected, at) in enumerate([([0.0, 0.0, 0.5, 0.5], F[:, 0]), ([1.0, 1.0, 0.0, 0.0], F[:, 1])]):
        np.testing.assert_allclose(np.interp(at, *steps[c]), expected, atol=1e-12)


def test_newton_takes_whole_steps_near_the_end(monkeypatch):
    F, codes, w = decisions(3, shift=2.0)
    T = smoothed(codes, 3, w)
    long, _ = calibration._newton(F, T, w, np.zeros(4), offsets=True)
    monkeypatch.setattr(calibration, "_ITERATIONS", 8)
    short, _ = calibration._newton(F, T, w, np.zeros(4), offsets=True)
    np.testing.assert_allclose(short, long, atol=1e-6)


def test_newton_ends_where_no_step_helps():
    rng = np.random.default_rng(1)
    G, codes, w = 30.0 * rng.normal(size=(40, 2)), rng.integers(0, 2, 40), np.ones(40)
    T = smoothed(codes, 2, w)
    start = np.array([5.0, 40.0, -40.0])  # far away: whole steps go astray
    theta, value = calibration._newton(G, T, w, start, offsets=True)
    best = minimize(lambda x: loss(x[0], np.array([x[1], 0.0]), G, T, w), [0.0, 0.0], method="BFGS")
    np.testing.assert_allclose(value, best.fun, rtol=1e-6)
    np.testing.assert_allclose(loss(theta[0], theta[1:], G, T, w), value, rtol=1e-9)
