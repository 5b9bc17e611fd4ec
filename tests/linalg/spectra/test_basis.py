"""An orthonormal basis that grows: what is new in some columns, and what takes its place where nothing is."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.linalg.spectra.basis import extend

SIZE, HAD, NEW = 80, 20, 4


def extended(beyond, recent=None):
    """V, W and what `extend` makes of them; the last columns of W are in the span of V but for this much."""
    rng = np.random.default_rng(0)
    V, _ = np.linalg.qr(rng.normal(size=(SIZE, HAD)))
    W = V @ rng.normal(size=(HAD, NEW)) + beyond * rng.normal(size=(SIZE, NEW))
    return V, W, *extend(W.copy(order="F"), V, NEW, 10.0, np.random.default_rng(1), recent=recent)


@pytest.mark.parametrize("recent", [None, 7])
@pytest.mark.parametrize("beyond", [1.0, 1e-6, 1e-11, 1e-14, 0.0])
def test_old_and_new_columns_are_orthonormal_and_give_what_was_there(beyond, recent):
    V, W, Q, H, R = extended(beyond, recent)
    whole = np.hstack([V, Q])
    np.testing.assert_allclose(whole.T @ whole, np.eye(HAD + NEW), atol=1e-13)
    np.testing.assert_allclose(V @ H + Q @ R, W, atol=1e-13)


def test_what_is_nothing_but_rounding_errors_is_given_no_weight():
    _, _, Q, _, R = extended(0.0)
    assert not R.any()
    np.testing.assert_allclose(np.linalg.norm(Q, axis=0), 1.0)
