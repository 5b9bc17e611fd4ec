"""Square roots of a sketched system, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm

from kernreg.linalg.landmarks.sketched_roots import CholeskyRoot, SketchedGram, SpectralRoot

SIZE, KAPPA = 7, 0.3


def gram():
    A = np.random.default_rng(0).standard_normal((SIZE, SIZE + 3))
    return A @ A.T


def definite_root():
    G = gram()
    return CholeskyRoot(SketchedGram(np.asfortranarray(np.tril(G))), KAPPA), G + KAPPA * np.eye(SIZE)


def indefinite_root():
    M = gram() - 8.0 * np.eye(SIZE)
    return SpectralRoot(np.asfortranarray(M), KAPPA), np.real(sqrtm(M @ M))


@pytest.mark.parametrize("made", [definite_root, indefinite_root])
def test_a_root_squared_is_the_system_without_its_signs(made):
    root, system = made()
    P = root.inverse(np.eye(SIZE))
    np.testing.assert_allclose(P.T @ P, system, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("made", [definite_root, indefinite_root])
def test_apply_inverts_a_root_and_adjoint_is_its_transpose(made):
    root, _ = made()
    applied = root.apply(np.eye(SIZE))
    assert applied @ root.inverse(np.eye(SIZE)) == pytest.approx(np.eye(SIZE), abs=1e-9)
    assert root.adjoint(np.eye(SIZE)) == pytest.approx(applied.T, abs=1e-12)


def test_distance_to_a_pole_is_the_smallest_eigenvalue_relative_to_kappa():
    values = np.array([-2.0, -0.006, 1.0, 5.0])
    assert SpectralRoot(np.asfortranarray(np.diag(values)), KAPPA).distance_to_pole == pytest.approx(0.02)


def test_eigenvalues_near_zero_are_not_believed():
    root = SpectralRoot(np.asfortranarray(np.diag([1e-9, 4.0])), KAPPA)
    assert np.linalg.norm(root.inverse(np.eye(2)), axis=0) == pytest.approx([np.sqrt(1e-2 * KAPPA), 2.0])
