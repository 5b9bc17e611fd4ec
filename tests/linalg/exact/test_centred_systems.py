"""The structured solves against the textbook systems, solved as they are written."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from textbook import textbook_block, textbook_symmetric

from kernreg.engine import memory
from kernreg.errors import DataError, ParameterError
from kernreg.linalg import (
    BlockSpectrum,
    SymmetricSpectrum,
    asymmetry,
    centre,
    safe_gamma,
    solve_block,
    solve_block_or_spectrum,
    solve_symmetric,
)
from kernreg.linalg.exact.block_solve import BlockFactor, refuse_pole
from kernreg.linalg.exact.centring import induced_norms
from kernreg.linalg.exact.poles import pole_error
from kernreg.linalg.exact.symmetric_solve import left_out_by_inverse


def close(got, expected, tolerance=1e-9):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def problem(request):
    rng = np.random.default_rng(3)
    weights = 0.2 + rng.random(40) if request.param else None
    return rng.normal(size=(40, 40)), rng.normal(size=(40, 3)), weights


def symmetric_matrices(K):
    return {"definite": K @ K.T / 40, "indefinite": K + K.T}


def test_centring_equals_multiplication_by_j(problem):
    K, _, _ = problem
    J = np.eye(40) - 1.0 / 40
    close(centre(K).matrix, J @ K @ J, 1e-13)


def test_centring_in_place_needs_no_second_matrix(problem):
    K = problem[0].copy()
    assert centre(K, overwrite=True).matrix is K
    kept = problem[0].copy()
    centre(kept)
    assert np.array_equal(kept, problem[0])


@pytest.mark.parametrize("kind", ["definite", "indefinite"])
@pytest.mark.parametrize("gamma", [1e-3, 0.3, 10.0])
def test_symmetric_solve_equals_the_textbook_system(problem, kind, gamma):
    K, Y, weights = problem
    S = symmetric_matrices(K)[kind]
    a, b = textbook_symmetric(S, Y, gamma, weights)
    kernel = centre(S, weights)
    A, report = solve_symmetric(kernel, kernel.targets(Y), gamma)
    close(kernel.coefficients(A), a)
    close(kernel.source_intercept(Y, A), b)
    assert report.residual < 1e-11
    assert report.method == ("lu" if kind == "indefinite" and gamma > 0.1 else "cholesky")


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 10.0])
def test_block_solve_equals_the_textbook_system(problem, gamma):
    K, Y, weights = problem
    a, c, b1, b2 = textbook_block(K, Y, gamma, weights)
    kernel = centre(K, weights)
    A, C, report = solve_block(kernel, kernel.targets(Y), gamma)
    close(kernel.coefficients(A), a)
    close(kernel.coefficients(C), c)
    close(kernel.source_intercept(Y, C), b1)
    close(kernel.target_intercept(Y, A), b2)
    assert report.residual < 1e-11
    assert report.method == ("cholesky" if gamma == 1e-3 else "lu")


def test_paths_equal_direct_solves(problem):
    K, Y, weights = problem
    gammas = np.array([1e-3, 0.3, 10.0])
    S = symmetric_matrices(K)["indefinite"]
    for matrix, spectrum in ((S, SymmetricSpectrum), (K, BlockSpectrum)):
        kernel = centre(matrix, weights)
        T = kernel.targets(Y)
        path = spectrum(centre(matrix, weights)).solve(T, gammas)
        for g, gamma in enumerate(gammas):
            if spectrum is BlockSpectrum:
                A, C, _ = solve_block(kernel, T, gamma)
                close(path[0][g], A)
                close(path[1][g], C)
            else:
                close(path[g], solve_symmetric(centre(matrix, weights), T, gamma)[0])


@pytest.mark.parametrize("kind", ["definite", "indefinite"])
def test_symmetric_leave_one_out_equals_refits(problem, kind):
    K, Y, weights = problem
    S, gammas = symmetric_matrices(K)[kind], np.array([0.3, 10.0])
    kernel = centre(S, weights)
    spectrum = SymmetricSpectrum(kernel)
    residuals = spectrum.leave_one_out(spectrum.solve(kernel.targets(Y), gammas), gammas)
    for g, gamma in enumerate(gammas):
        for i in range(len(S)):
            rest = np.delete(np.arange(len(S)), i)
            a, b = textbook_symmetric(S[np.ix_(rest, rest)], Y[rest], gamma, None if weights is None else weights[rest])
            close(residuals[g, i], Y[i] - S[i, rest] @ a - b, 1e-8)


def test_leave_one_out_by_an_inverse_equals_that_of_the_spectrum(problem):
    K, Y, weights = problem
    for gamma in (1e-3, 0.3, 10.0):
        S = symmetric_matrices(K)["definite"] + 1e3  # a large mean, which centring takes out
        spectrum = SymmetricSpectrum(kernel := centre(S, weights))
        gammas = np.array([gamma])
        expected = spectrum.leave_one_out(spectrum.solve(kernel.targets(Y), gammas), gammas)[0]
        again = centre(S, weights)
        close(left_out_by_inverse(again, again.targets(Y), gamma), expected, 1e-8)


def test_leave_one_out_by_an_inverse_says_where_it_is_inexact(problem):
    K, Y, weights = problem
    lone = np.full(40, 1e-3)
    lone[0] = 1.0  # nearly all the weight there is
    definite, indefinite = symmetric_matrices(K).values()
    for S, w, gamma in (
        (indefinite, weights, 10.0),
        (definite[:, :1] @ definite[:1], weights, 1e9),
        (definite, lone, 1),
    ):
        kernel = centre(S, w)
        before = kernel.matrix.copy()
        assert left_out_by_inverse(kernel, kernel.targets(Y), gamma) is None
        close(kernel.matrix, before, 1e-14)  # to be decomposed instead


@pytest.mark.parametrize("gamma", [0.01, 0.3, 10.0])
def test_block_leave_one_out_equals_refits(problem, gamma):
    K, Y, weights = problem
    kernel = centre(K, weights)
    T, gammas = kernel.targets(Y), np.array([gamma])
    spectrum = BlockSpectrum(kernel)
    source, target = spectrum.leave_one_out(T, *spectrum.solve(T, gammas), gammas)
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        a, c, b1, b2 = textbook_block(K[np.ix_(rest, rest)], Y[rest], gamma, None if weights is None else weights[rest])
        close(source[0, i], Y[i] - K[i, rest] @ c - b1, 1e-8)
        close(target[0, i], Y[i] - K[rest, i] @ a - b2, 1e-8)


def damped_projected(K, Y, gamma, weights=None):
    """(B² + λ)⁻¹ B r, λ = 1, of the projected block B, by forming everything; returns a, c, b1, b2."""
    m = len(K)
    root = np.sqrt(np.ones(m) if weights is None else weights)
    u = root / np.linalg.norm(root)
    basis = np.linalg.svd(u[:, None])[0][:, 1:]  # of the space orthogonal to u
    Kt = basis.T @ (root[:, None] * K * root) @ basis
    B = np.block([[np.eye(m - 1) / gamma, Kt], [Kt.T, np.eye(m - 1) / gamma]])
    r = np.vstack([basis.T @ (root[:, None] * Y)] * 2)
    z = np.linalg.solve(B @ B + np.eye(len(B)), B @ r)
    a, c = root[:, None] * (basis @ z[: m - 1]), root[:, None] * (basis @ z[m - 1 :])
    w = root**2 / (root**2).sum()
    return a, c, w @ (Y - K @ c), w @ (Y - K.T @ a)


def test_damped_solution_and_its_leave_one_out_equal_the_definition(problem):
    K, Y, weights = problem
    sigma = np.linalg.svd(centre(K, weights).matrix, compute_uv=False)
    gamma = 1.0 / sigma[7]
    kernel = centre(K, weights)
    T = kernel.targets(Y)
    A, C, report = solve_block_or_spectrum(kernel, T, gamma, "damp")
    assert report.damped
    a, c, b1, b2 = damped_projected(K, Y, gamma, weights)
    close(kernel.coefficients(A), a)
    close(kernel.coefficients(C), c)
    close(kernel.source_intercept(Y, C), b1)
    close(kernel.target_intercept(Y, A), b2)
    kernel = centre(K, weights)
    spectrum, gammas = BlockSpectrum(kernel), np.array([gamma])
    damped = spectrum.poles(gammas)
    assert damped.tolist() == [True]
    source, target = spectrum.leave_one_out(T, *spectrum.solve(T, gammas, damped), gammas, damped)
    for i in range(0, len(K), 7):
        rest = np.delete(np.arange(len(K)), i)
        a, c, b1, b2 = damped_projected(
            K[np.ix_(rest, rest)], Y[rest], gamma, None if weights is None else weights[rest]
        )
        close(source[0, i], Y[i] - K[i, rest] @ c - b1, 1e-8)
        close(target[0, i], Y[i] - K[rest, i] @ a - b2, 1e-8)


def test_block_pole_is_named_with_a_safe_gamma(problem):
    K, Y, _ = problem
    sigma = np.linalg.svd(centre(K).matrix, compute_uv=False)
    gamma = 1.0 / sigma[7]
    kernel = centre(K)
    with pytest.raises(ParameterError, match=r"pole.*singular value.*Use for example gamma=.*on_pole='damp'") as error:
        solve_block_or_spectrum(kernel, kernel.targets(Y), gamma)
    assert f"{sigma[7]:.8g}"[:8] in str(error.value)
    safe = safe_gamma(gamma, sigma[:-1])
    assert np.abs(1 / safe - sigma).min() > 1e-3 / safe
    kernel = centre(K)
    assert solve_block_or_spectrum(kernel, kernel.targets(Y), safe)[2].residual < 1e-10


def test_symmetric_pole_is_named_with_a_safe_gamma(problem):
    K, Y, _ = problem
    S = symmetric_matrices(K)["indefinite"]
    lowest = np.linalg.eigvalsh(centre(S).matrix)[2]
    kernel = centre(S)
    with pytest.raises(ParameterError, match=r"pole.*eigenvalue -.*Use for example gamma="):
        solve_symmetric(kernel, kernel.targets(Y), -1.0 / lowest)


def test_gamma_lost_in_rounding_errors_is_refused_with_one_that_is_not():
    rng = np.random.default_rng(2)
    B = rng.normal(size=(40, 3))
    Y = rng.normal(size=(40, 1))
    for solve in (solve_symmetric, solve_block_or_spectrum):
        kernel = centre(B @ B.T)
        with pytest.raises(ParameterError, match="cannot be told from") as error:
            solve(kernel, kernel.targets(Y), 1e300)
        safe = float(str(error.value).split("Use for example gamma=")[1].split(",")[0])
        kernel = centre(B @ B.T)
        assert solve(kernel, kernel.targets(Y), safe)[-1].residual < 1e-6


def test_no_pole_where_the_singular_values_are_zero():
    kernel = centre(np.full((6, 6), 3.0))
    Y = np.arange(6.0)[:, None]
    A, C, _ = solve_block_or_spectrum(kernel, kernel.targets(Y), 2.0)
    close(A, 2.0 * (Y - Y.mean()))
    close(C, A)


def test_huge_gamma_interpolates_where_the_kernel_allows_it():
    x = np.linspace(0, 1, 12)
    K = np.exp(-np.abs(x[:, None] - x))
    Y = np.sin(9 * x)[:, None]
    kernel = centre(K)
    A, _ = solve_symmetric(kernel, kernel.targets(Y), 1e15)
    close(K @ kernel.coefficients(A) + kernel.source_intercept(Y, A), Y, 1e-9)


def test_constant_targets_are_an_intercept_and_nothing_else():
    rng = np.random.default_rng(0)
    kernel, Y = centre(rng.normal(size=(20, 20))), np.full((20, 1), 0.1)
    A, C, report = solve_block_or_spectrum(kernel, kernel.targets(Y), 0.7)
    assert not A.any()
    assert not C.any()
    assert report.residual == 0.0
    close(kernel.source_intercept(Y, C), [0.1], 1e-15)


def test_one_sample_leaves_only_the_intercept():
    kernel, Y = centre(np.array([[2.0]])), np.array([[3.0]])
    A, _ = solve_symmetric(kernel, kernel.targets(Y), 1.0)
    assert np.abs(A).max() < 1e-15
    close(kernel.source_intercept(Y, A), [3.0])


def test_asymmetry_is_found_across_blocks():
    K = np.ones((700, 700))
    assert asymmetry(K) == 0.0
    K[690, 3] = 1.5
    assert asymmetry(K) == pytest.approx(0.5 / 1.5)


def test_matrices_that_are_not_square_are_refused():
    with pytest.raises(DataError, match="square"):
        centre(np.ones((3, 4)))


@pytest.mark.parametrize(("overwrite", "allowed"), [(False, 2.0), (True, 1.0)])
@pytest.mark.parametrize("kind", ["definite", "indefinite", "asymmetric"])
def test_memory_beyond_the_given_matrix(overwrite, allowed, kind, monkeypatch):
    monkeypatch.setattr(memory, "SMALLEST", 1 << 40)  # nothing is kept for the next matrix
    m = 700
    rng = np.random.default_rng(0)
    K = rng.normal(size=(m, m)) / 20
    K = {"definite": K @ K.T, "indefinite": K + K.T, "asymmetric": K}[kind]
    Y = np.sign(rng.normal(size=(m, 2)))
    tracemalloc.start()
    try:
        kernel = centre(K, overwrite=overwrite)
        T = kernel.targets(Y)
        report = (solve_block if kind == "asymmetric" else solve_symmetric)(kernel, T, 3.0)[-1]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.method == ("cholesky" if kind == "definite" else "lu")
    assert peak / K.nbytes < allowed + 0.35  # blocks of rows and right-hand sides


@pytest.mark.parametrize(
    ("size", "scale", "gamma", "precision"),
    [
        (420, 1.0, 0.311, "single"),
        (420, 1e-9, 3e8, "single"),
        (420, 1e9, 3e-10, "single"),
        (420, 1.0, 1e-4, "single"),
        (420, 1e14, 1e-15, "double"),  # out of the range of squares in single precision
        (60, 1.0, 0.311, "double"),  # too small to be worth it
    ],
)
def test_block_solve_in_single_precision_reaches_double_accuracy(size, scale, gamma, precision, monkeypatch):
    import kernreg.linalg.exact.block_solve as block

    made = []
    factor = block.BlockFactor
    monkeypatch.setattr(block, "BlockFactor", lambda *args: made.append(args[3:]) or factor(*args))
    rng = np.random.default_rng(5)
    K, Y = scale * rng.normal(size=(size, size)) / 20, rng.normal(size=(size, 3))
    a, c, _, _ = textbook_block(K, Y, gamma)
    centred = centre(K)
    A, C, report = solve_block(centred, centred.targets(Y), gamma)
    close(A / np.abs(a).max(), a / np.abs(a).max(), 1e-11)
    close(C / np.abs(c).max(), c / np.abs(c).max(), 1e-11)
    assert report.residual < 1e-14
    assert made == ([(np.float32,)] if precision == "single" else [()])
    assert (1 if precision == "single" else 0) <= report.refinements <= (12 if precision == "single" else 3)


def test_block_solve_is_repeated_in_double_where_single_precision_cannot_tell_the_pole():
    rng = np.random.default_rng(6)
    U, _ = np.linalg.qr(rng.normal(size=(450, 450)))
    V, _ = np.linalg.qr(rng.normal(size=(450, 450)))
    J = np.eye(450) - 1 / 450
    values = np.linspace(0.1, 3.0, 450)
    K = J @ (U * values) @ V.T @ J
    nearest = np.linalg.svd(K, compute_uv=False)[200]
    gamma, Y = float(1.0 / (nearest * (1 + 1e-5))), rng.normal(size=(450, 2))
    a, c, _, _ = textbook_block(K, Y, gamma)
    centred = centre(K)
    A, C, report = solve_block(centred, centred.targets(Y), gamma)
    close(A / np.abs(a).max(), a / np.abs(a).max(), 1e-9)
    close(C / np.abs(c).max(), c / np.abs(c).max(), 1e-9)
    assert report.condition > 1e4


def test_a_pole_is_refused_without_a_decomposition_where_others_are_not_far():
    rng = np.random.default_rng(8)
    U, V = (np.linalg.qr(np.column_stack([np.ones(6), rng.normal(size=(6, 5))]))[0][:, 1:] for _ in range(2))
    kernel = centre((U * [4.0, 2.0, 1.0, 0.5, 0.25]) @ V.T)
    for gamma in (0.5, 1.0, 2.0):
        with pytest.raises(ParameterError, match=f"gamma={gamma:g}"):
            refuse_pole(kernel, gamma)
    for gamma in (0.3, 0.7, 1.5):
        refuse_pole(kernel, gamma)


def test_induced_norms_are_those_of_numpy():
    for size in (1e-6, 1.0, 1e6):
        M = size * np.random.default_rng(0).normal(size=(40, 40))
        assert induced_norms(M) == pytest.approx((np.linalg.norm(M, 1), np.linalg.norm(M, np.inf)), rel=1e-13)


def test_a_factor_in_single_precision_solves_right_hand_sides_of_any_size():
    rng = np.random.default_rng(4)
    kernel = centre(rng.normal(size=(30, 30)))
    factor = BlockFactor(kernel, 0.01, float(np.linalg.norm(kernel.matrix)), np.float32)
    r = kernel.project(rng.normal(size=(30, 3)))
    sizes = np.array([1e-60, 1.0, 1e60])
    close(
        factor.solve(r * sizes) / sizes,
        np.linalg.solve(100.0 * np.eye(30) - 0.01 * kernel.matrix.T @ kernel.matrix, r),
        1e-5,
    )


@pytest.mark.parametrize(("values", "said"), [([2.0, 1.0, 1.0], "2 of them coincide"), ([2.0, 1.0, 0.5], None)])
def test_poles_that_coincide_are_counted(values, said):
    message = str(pole_error(1.0, np.array(values), "singular", ""))
    assert "singular value 1 " in message
    assert ("coincide" in message) == (said is not None)
    assert said is None or said in message


def test_a_solution_that_needs_no_refinement_says_so():
    kernel = centre(np.zeros((6, 6)))
    _, report = solve_symmetric(kernel, kernel.targets(np.arange(6.0)[:, None]), 2.0)
    assert report.refinements == 0


def test_of_two_safe_gammas_at_the_same_distance_the_smaller_is_proposed():
    safe = safe_gamma(1.0, np.array([1.0]))
    assert 0.95 < safe < 1.0
    assert abs(1.0 / safe - 1.0) > 0.005
