"""LS-SVM for one γ: how it was solved, how often refined, and how well conditioned that was; dense numbers beside."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.errors import ParameterError
from kernreg.linalg import BlockSpectrum, SymmetricSpectrum, centre, solve_symmetric
from kernreg.linalg.exact import leave_one_out, smoothers, symmetric_solve
from kernreg.linalg.exact.smoothers import SmoothedSystem, block_smoother, symmetric_smoother
from kernreg.linalg.exact.symmetric_solve import _refined, _row_squares, inverse_or_inf, left_out_by_inverse

EPS = np.finfo(np.float64).eps
rng = np.random.default_rng(0)
B = rng.normal(size=(9, 9))
DEFINITE, INDEFINITE = B @ B.T, B + B.T
WEIGHTS = 0.2 + rng.random(9)
Y = rng.normal(size=(9, 2))


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def weights(request):
    return WEIGHTS if request.param else None


@pytest.mark.parametrize("gamma", [0.3, 5.0])
@pytest.mark.parametrize(("K", "method"), [(DEFINITE, "cholesky"), (INDEFINITE, "lu")])
def test_solutions_conditions_and_refinements(weights, K, method, gamma):
    kernel = centre(K, weights)
    before = kernel.matrix.copy()
    level = np.abs(before.diagonal()).mean()
    M = before + np.eye(9) / gamma + level * np.outer(kernel.border, kernel.border)
    T = kernel.targets(Y)
    A, report = solve_symmetric(kernel, T, gamma)
    assert report.method == method
    assert report.refinements <= 2  # the last bits decide whether one is enough
    assert report.residual <= 1e-14
    assert (report.strategy, report.size, report.gamma) == ("exact", 9, gamma)
    np.testing.assert_allclose(A, np.linalg.solve(M, T), atol=1e-12 * np.abs(A).max())
    np.testing.assert_allclose(kernel.border @ A, 0.0, atol=1e-14)
    norm = np.linalg.norm(before, 1) + 1.0 / gamma + level if method == "cholesky" else np.linalg.norm(M, 1)
    true = norm * np.linalg.norm(np.linalg.inv(M), 1)
    # LAPACK never estimates too much; the last bits decide whether it finds all or less than half.
    assert 0.3 * true < report.condition < 1.000001 * true


def test_what_is_suspicious_is_decomposed(monkeypatch):
    for name, value in (("SUSPICIOUS_GAP", np.inf), ("SUSPICIOUS_RESIDUAL", -1.0), ("EPS", 1.0)):
        with monkeypatch.context() as patched:
            patched.setattr(symmetric_solve, name, value)
            kernel = centre(INDEFINITE)
            T = kernel.targets(Y)
            before = kernel.matrix.copy()
            A, report = solve_symmetric(kernel, T, 2.0)
        assert report.method == "eigh"
        np.testing.assert_allclose(before @ A + A / 2.0, T, atol=1e-12)
    monkeypatch.setattr(symmetric_solve, "SUSPICIOUS_GAP", np.inf)
    kernel = centre(DEFINITE)
    T, before = kernel.targets(Y), kernel.matrix.copy()
    A, report = solve_symmetric(kernel, T, 2.0)
    assert report.method == "eigh"
    np.testing.assert_allclose(before @ A + A / 2.0, T, atol=1e-12)


@pytest.mark.parametrize(
    ("left", "most", "steps"), [(0.1, 3, 3), (0.1, 0, 0), (0.45, 2, 2), (0.55, 3, 1), (1e-17, 3, 0), (1e-9, 3, 1)]
)
def test_refinement_goes_on_while_it_halves_the_residual(monkeypatch, left, most, steps):
    monkeypatch.setattr(symmetric_solve, "MAX_REFINEMENTS", most)
    kernel = centre(DEFINITE)
    T, M = kernel.targets(Y[:, :1]), kernel.matrix + 2.0 * np.eye(9)
    A, residual, taken = _refined(kernel, T, lambda r: (1.0 - left) * np.linalg.solve(M, r), lambda x: T - M @ x)
    assert taken == steps
    kept = 0 if left > 0.5 else steps
    assert residual == pytest.approx(left ** (kept + 1), rel=1e-3, abs=8 * EPS)
    np.testing.assert_allclose(T - M @ A, left ** (kept + 1) * T, atol=1e-13)


@pytest.mark.parametrize("columns", [1, 4, 9, 100])
def test_squares_of_rows_are_summed_in_pieces_above_the_diagonal(monkeypatch, columns):
    monkeypatch.setattr(symmetric_solve, "_COLUMNS", columns)
    U = np.asfortranarray(B)
    np.testing.assert_allclose(_row_squares(U), (np.triu(B) ** 2).sum(axis=1), rtol=1e-14)


def test_reciprocals_of_condition_numbers():
    assert inverse_or_inf(0.25) == 4.0
    assert inverse_or_inf(0.0) == np.inf


@pytest.mark.parametrize(("name", "value"), [("_INVERTIBLE", 1.0), ("_LARGEST_SHARE", 1.0 / 9.0 - 1e-9)])
def test_an_inverse_is_not_trusted_beyond_its_limits(monkeypatch, name, value):
    kernel = centre(DEFINITE)
    T, before = kernel.targets(Y), kernel.matrix.copy()
    with monkeypatch.context() as patched:
        patched.setattr(symmetric_solve, name, value)
        assert left_out_by_inverse(kernel, T, 0.5) is None
        np.testing.assert_allclose(kernel.matrix, before, atol=1e-14)
    assert left_out_by_inverse(kernel, T, 0.5) is not None
    with monkeypatch.context() as patched:
        patched.setattr(smoothers, name, value)
        by_spectrum = symmetric_smoother(DEFINITE.copy(), WEIGHTS, 0.5)
    by_inverse = symmetric_smoother(DEFINITE.copy(), WEIGHTS, 0.5)
    for part in ("coefficients", "intercepts"):
        one, other = (getattr(system.smoothers["decision"], part)["decision"] for system in (by_spectrum, by_inverse))
        np.testing.assert_allclose(one, other, atol=1e-12)


# spectra -----------------------------------------------------------------------------------------------------------


def dense_inverse(kernel_matrix, border, gamma):
    """(K̃ + I/γ)⁻¹ on the space orthogonal to the border."""
    full = np.linalg.inv(kernel_matrix + np.eye(len(border)) / gamma)
    return full - gamma * np.outer(border, border)


@pytest.mark.parametrize("gamma", [0.2, 4.0])
def test_rounding_errors_of_a_symmetric_spectrum_are_those_written_down(weights, gamma):
    kernel = centre(INDEFINITE, weights)
    before, T, gammas = kernel.matrix.copy(), kernel.targets(Y), np.array([gamma])
    spectrum = SymmetricSpectrum(kernel)
    solutions = spectrum.solve(T, gammas)
    residuals = spectrum.leave_one_out(solutions, gammas)
    R = dense_inverse(before, kernel.border, gamma)
    root = np.ones((9, 1)) if weights is None else np.sqrt(weights)[:, None]
    np.testing.assert_allclose(residuals[0], solutions[0] / R.diagonal()[:, None] / root, rtol=1e-9)
    scale = np.abs(np.linalg.eigvalsh(before)).max()
    assert spectrum.scale == pytest.approx(scale)
    means = max(np.linalg.norm(kernel.left), np.linalg.norm(kernel.right))
    error = EPS * (scale + 2.0 * means / 3.0)
    rows = (R @ R).diagonal()[:, None]
    sizes = np.linalg.norm(solutions[0], axis=0)
    expected = error / np.abs(R.diagonal())[:, None] * (np.sqrt(rows) * sizes + rows * np.abs(residuals[0]) * root)
    np.testing.assert_allclose(spectrum.rounding_errors(solutions, residuals, gammas)[0], expected / root, rtol=1e-9)
    A, report = spectrum.solution(T, gamma)
    np.testing.assert_allclose(A, solutions[0])
    shifted = np.abs(np.linalg.eigvalsh(before)[np.abs(np.linalg.eigvalsh(before)) > 1e-12] + 1.0 / gamma)
    assert report.condition == pytest.approx(shifted.max() / shifted.min(), rel=1e-9)
    assert report.residual <= 1e-13


@pytest.mark.parametrize("K", [B, INDEFINITE], ids=["asymmetric", "symmetric"])
@pytest.mark.parametrize("gamma", [0.2, 4.0])
def test_rounding_errors_of_a_block_spectrum_are_those_written_down(weights, gamma, K):
    kernel = centre(K, weights)
    before, T, gammas = kernel.matrix.copy(), kernel.targets(Y), np.array([gamma])
    spectrum = BlockSpectrum(kernel)
    A, C = spectrum.solve(T, gammas)
    source, target = spectrum.leave_one_out(T, A, C, gammas)
    P = np.eye(9) - np.outer(kernel.border, kernel.border)
    PP, kappa = np.kron(np.eye(2), P), 1.0 / gamma
    G = np.linalg.pinv(PP @ np.block([[kappa * np.eye(9), before], [before.T, kappa * np.eye(9)]]) @ PP)
    root = np.ones((9, 1)) if weights is None else np.sqrt(weights)[:, None]
    means = max(np.linalg.norm(kernel.left), np.linalg.norm(kernel.right))
    error = EPS * (np.linalg.norm(before, 2) + 2.0 * means / 3.0)
    sizes = np.hypot(np.linalg.norm(A[0], axis=0), np.linalg.norm(C[0], axis=0))
    found = spectrum.rounding_errors(A, C, source, target, gammas)[0]
    for i in range(9):
        own = np.ix_([i, 9 + i], [i, 9 + i])
        e = np.linalg.solve(G[own], np.stack([A[0, i], C[0, i]])) / root[i]
        np.testing.assert_allclose(np.stack([source[0, i], target[0, i]]), e, rtol=1e-8)
        rows = (G @ G)[own].trace()
        both = np.hypot(e[0], e[1]) * root[i]
        inverse = np.linalg.norm(np.linalg.inv(G[own]), 2)
        expected = error * inverse * (np.sqrt(rows) * sizes + rows * both) / root[i]
        np.testing.assert_allclose(found[i], expected, rtol=1e-7)


def test_conditions_of_a_block_and_its_damped_solution():
    kernel = centre(B)
    sigma = np.linalg.svd(kernel.matrix, compute_uv=False)[:-1]
    T = kernel.targets(Y)
    gamma = 0.7
    _, _, report = BlockSpectrum(kernel).solution(T, gamma)
    shifted = np.abs(np.concatenate([1.0 / gamma + sigma, 1.0 / gamma - sigma]))
    assert report.condition == pytest.approx(shifted.max() / shifted.min(), rel=1e-9)
    assert (report.method, report.damped, report.note) == ("svd", False, "")
    gamma = float(1.0 / sigma[3])
    with pytest.raises(ParameterError, match="on_pole='damp'"):
        BlockSpectrum(centre(B)).solution(T, gamma)
    _, _, damped = BlockSpectrum(centre(B)).solution(T, gamma, "damp")
    assert damped.damped
    assert "Tikhonov" in damped.note


@pytest.mark.parametrize("damping", [0.25, 1.0])
def test_the_damping_is_that_of_the_tikhonov_solution(damping):
    kernel = centre(B)
    before, T = kernel.matrix.copy(), kernel.targets(Y)
    spectrum = BlockSpectrum(kernel, damping)
    gammas, damped = np.array([0.5, 2.0]), np.array([True, False])
    A, C = spectrum.solve(T, gammas, damped)
    P = np.kron(np.eye(2), np.eye(9) - 1.0 / 9.0)
    block = P @ np.block([[2.0 * np.eye(9), before], [before.T, 2.0 * np.eye(9)]]) @ P
    expected = P @ np.linalg.solve(block @ block + damping * np.eye(18), block @ np.vstack([T, T]))
    np.testing.assert_allclose(np.vstack([A[0], C[0]]), expected, atol=1e-11)
    np.testing.assert_allclose(A[1] / 2.0 + before @ C[1], T, atol=1e-11)
    np.testing.assert_allclose(C[1] / 2.0 + before.T @ A[1], T, atol=1e-11)


@pytest.mark.parametrize("rows", [1, 4, 9, 50])
def test_diagonals_are_computed_in_pieces_of_rows(monkeypatch, rows):
    monkeypatch.setattr(leave_one_out, "_ROWS", rows)
    functions = rng.normal(size=(4, 3))
    found = leave_one_out._diagonals(B[:, :4], B[:, 5:], functions)
    expected = np.column_stack([((B[:, :4] * f) @ B[:, 5:].T).diagonal() for f in functions.T])
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_reciprocals_and_triplets_of_a_symmetric_matrix():
    assert leave_one_out._reciprocal(np.array([2.0, 0.0, -4.0])).tolist() == [0.5, 0.0, -0.25]
    left, values, right = leave_one_out._symmetric_triplets(INDEFINITE.copy())
    np.testing.assert_allclose((left * values) @ right.T, INDEFINITE, atol=1e-12)
    np.testing.assert_allclose(values, np.linalg.svd(INDEFINITE, compute_uv=False), atol=1e-12)
    np.testing.assert_allclose(right.T @ right, np.eye(9), atol=1e-12)


def test_triplets_are_found_where_divide_and_conquer_fails(monkeypatch):
    original = leave_one_out.linalg.svd

    def svd(K, **how):
        if how["lapack_driver"] == "gesdd":
            raise np.linalg.LinAlgError
        return original(K, **how)

    monkeypatch.setattr(leave_one_out.linalg, "svd", svd)
    left, values, right = leave_one_out._triplets(B.copy())
    np.testing.assert_allclose((left * values) @ right.T, B, atol=1e-12)


@pytest.mark.parametrize("inside", [False, True])
def test_decompositions_inside_of_a_task_are_the_same(monkeypatch, inside):
    monkeypatch.setattr(leave_one_out, "inside_task", lambda: inside)
    values, vectors = leave_one_out._eigenpairs(INDEFINITE.copy())
    np.testing.assert_allclose((vectors * values) @ vectors.T, INDEFINITE, atol=1e-12)
    assert (np.diff(values) > 0).all()
    left, values, right = leave_one_out._triplets(B.copy())
    np.testing.assert_allclose((left * values) @ right.T, B, atol=1e-12)


# smoothers ---------------------------------------------------------------------------------------------------------


def test_what_a_smoother_predicts_and_what_it_leaves_out(weights):
    """f⁽⁻ⁱ⁾(x_i) by the smoother is that of a machine without the sample."""
    from textbook import textbook_block, textbook_symmetric

    gamma = 0.7
    one, two = symmetric_smoother(DEFINITE.copy(), weights, gamma), block_smoother(B.copy(), weights, gamma)
    assert (one.unknowns, two.unknowns) == (("decision",), ("target", "source"))
    assert (one.inverse.shape, two.inverse.shape) == ((9, 1, 1), (9, 2, 2))
    a, _ = textbook_symmetric(DEFINITE, Y, gamma, weights)
    left_out = one.residuals({"decision": a})
    b, c, _, _ = textbook_block(B, Y, gamma, weights)
    of_views = two.residuals({"target": b, "source": c})
    for i in range(9):
        rest = np.delete(np.arange(9), i)
        some = None if weights is None else weights[rest]
        ai, bi = textbook_symmetric(DEFINITE[np.ix_(rest, rest)], Y[rest], gamma, some)
        np.testing.assert_allclose(left_out["decision"][i], Y[i] - DEFINITE[i, rest] @ ai - bi, rtol=1e-7, atol=1e-9)
        at, ct, b1, b2 = textbook_block(B[np.ix_(rest, rest)], Y[rest], gamma, some)
        np.testing.assert_allclose(of_views["source"][i], Y[i] - B[i, rest] @ ct - b1, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(of_views["target"][i], Y[i] - B[rest, i] @ at - b2, rtol=1e-6, atol=1e-8)
    new = rng.normal(size=(3, 9))
    H = one.smoothers["decision"].weights(new)["decision"]
    a, b0 = textbook_symmetric(DEFINITE, Y, gamma, weights)
    np.testing.assert_allclose(H @ Y, new @ a + b0, atol=1e-9)


def test_a_system_that_has_a_pole_without_a_sample_says_so_by_infinity():
    system = SmoothedSystem({"decision": None}, np.zeros((1, 1, 1)), ("decision",))
    assert np.isinf(system.residuals({"decision": np.ones((1, 1))})["decision"]).all()
