"""Systems with the matrix in memory: what they say of errors, how problems are put together, which γ are handled."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.errors import DataError
from kernreg.linalg import SolveReport
from kernreg.solvers.dual import exact
from kernreg.solvers.dual.ask_ls import BlockSystem
from kernreg.solvers.dual.exact import ExactSystem, Path
from kernreg.solvers.dual.ls_svm import SymmetricSystem
from kernreg.solvers.dual.targets import ClassTargets, Problem

EPS = np.finfo(np.float64).eps
rng = np.random.default_rng(3)
A = rng.normal(size=(12, 12))
K = A @ A.T / 12
Y = rng.normal(size=(12, 2))
WEIGHTS = rng.uniform(0.3, 2.0, 12)


def path(errors, residuals, poles=2):
    return Path(residuals, np.zeros(poles, dtype=bool), errors)


def test_errors_are_relative_to_the_largest_target_or_value():
    targets = np.array([[1.0, -4.0], [2.0, 0.0]])
    small = np.zeros((2, 2, 2))
    large = np.array([np.zeros((2, 2)), [[0.0, 0.0], [-8.0, 0.0]]])  # at the second γ a value of 10
    errors = np.array([[[1.0, 2.0], [0.0, 0.0]], [[0.0, 0.0], [5.0, 1.0]]])
    assert path(errors, {"source": small, "target": large}).relative_errors(targets).tolist() == [0.5, 0.5]
    assert path(errors, {"source": large, "target": small}).relative_errors(targets).tolist() == [0.5, 0.5]
    assert path(errors, {"decision": small}).relative_errors(targets).tolist() == [0.5, 1.25]
    assert path(errors, {"decision": small}).relative_errors(0.0 * targets).tolist() == [0.0, 0.0]
    assert path(None, {"decision": small}).relative_errors(targets).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("make", [SymmetricSystem, BlockSystem])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_scale_is_the_root_mean_square_of_singular_values(make, weights):
    system = make(K, Y, weights)
    values = np.linalg.svd(system.centred.matrix, compute_uv=False)
    assert system.scale == pytest.approx(np.sqrt(np.mean(values**2)))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_what_cancels_is_a_bound_on_the_mean_row_times_coefficients(weights):
    system = SymmetricSystem(K, Y, weights)
    solution = system.direct(3.0)
    w = np.ones(12) if weights is None else weights
    mean_row = np.abs(w @ K) / w.sum()
    expected = EPS * (mean_row @ np.abs(solution.coefficients["decision"])).max() / np.abs(Y).max()
    assert solution.cancelled == pytest.approx(expected)
    assert SymmetricSystem(K, 0.0 * Y, weights).direct(3.0).cancelled == 0.0


@pytest.mark.parametrize("transposed", [False, True])
def test_of_two_views_the_one_that_cancels_more_counts(transposed):
    M = A + 50.0 * rng.normal(size=12)  # its columns have large means, its rows have not
    M = M.T.copy() if transposed else M
    solution = BlockSystem(M, Y, None).at(0.3)
    source = np.abs(M.mean(axis=0)) @ np.abs(solution.coefficients["source"])
    target = np.abs(M.mean(axis=1)) @ np.abs(solution.coefficients["target"])
    assert (source.max() > target.max()) != transposed
    assert solution.cancelled == pytest.approx(EPS * max(source.max(), target.max()) / np.abs(Y).max())


def pairs():
    y = np.arange(12) % 3
    return y, ClassTargets.of(y, pairwise=True).problems(y)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_problems_of_pairs_are_put_together(textbook, weights):
    _, problems = pairs()
    system = ExactSystem(SymmetricSystem, K.copy(), problems, weights)
    assert system.scale == max(
        SymmetricSystem(K[np.ix_(p.rows, p.rows)], p.Y, None if weights is None else weights[p.rows]).scale
        for p in problems
    )
    solution = system.solve(2.0)
    assert solution.coefficients["decision"].shape == (12, 3)
    assert "the worst of 3 pairwise problems" in solution.report.note
    cancelled = []
    for column, p in enumerate(problems):
        inner = None if weights is None else weights[p.rows]
        part = K[np.ix_(p.rows, p.rows)]
        a, b = textbook.ls_svm(part, p.Y, 2.0, inner)
        expected = np.zeros(12)
        expected[p.rows] = a[:, 0]
        textbook.close(solution.coefficients["decision"][:, column], expected)
        textbook.close(solution.intercepts["decision"][column], b[0])
        cancelled.append(SymmetricSystem(part, p.Y, inner).direct(2.0).cancelled)
    assert solution.cancelled == pytest.approx(max(cancelled))


def test_values_left_out_of_pairs_are_decisions_for_samples_outside(textbook):
    _, problems = pairs()
    gammas = np.array([0.5, 2.0])
    views, poles, errors = ExactSystem(SymmetricSystem, K.copy(), problems, None).leave_one_out(gammas)
    assert views["decision"].shape == (2, 12, 3)
    assert not poles.any()
    assert errors.shape == (2,)
    for g, gamma in enumerate(gammas):
        for column, p in enumerate(problems):
            outside = np.setdiff1d(np.arange(12), p.rows)
            a, b = textbook.ls_svm(K[np.ix_(p.rows, p.rows)], p.Y, gamma)
            inside = textbook.ls_svm_refits(K[np.ix_(p.rows, p.rows)], p.Y, gamma)
            textbook.close(views["decision"][g, p.rows, column], inside[:, 0], 1e-8)
            textbook.close(views["decision"][g, outside, column], (K[np.ix_(outside, p.rows)] @ a + b)[:, 0], 1e-8)


def test_a_pole_of_one_pair_is_a_pole():
    y, problems = pairs()
    M = K.copy()
    rows = problems[0].rows
    J = np.eye(8) - 1 / 8
    lowest = np.linalg.eigvalsh(J @ (M[np.ix_(rows, rows)] - 2.0 * np.eye(8)) @ J)[0]
    M -= 2.0 * np.eye(12)
    views, poles, _ = ExactSystem(SymmetricSystem, M, problems, None).leave_one_out(np.array([0.01, -1.0 / lowest]))
    assert poles.tolist() == [False, True]
    assert np.isnan(views["decision"][1, y == 2, 0]).all()
    assert np.isfinite(views["decision"][0]).all()


def test_a_matrix_with_one_problem_is_overwritten_and_with_several_is_not():
    one, several = K.copy(), K.copy()
    ExactSystem(SymmetricSystem, one, [Problem(Y)], None)
    ExactSystem(SymmetricSystem, several, [Problem(Y), Problem(Y)], None)
    assert not np.array_equal(one, K)
    assert np.array_equal(several, K)


@pytest.mark.parametrize("make", [SymmetricSystem, BlockSystem])
@pytest.mark.parametrize("values", [1, 5, 6, 11])
def test_every_gamma_is_a_candidate_in_its_place(make, values):
    gammas = np.logspace(-2, 1, values)
    found = list(ExactSystem(make, K.copy(), [Problem(Y)], None).candidates(gammas))
    assert len(found) == values
    for gamma, candidate in zip(gammas, found, strict=True):
        alone, _, errors = ExactSystem(make, K.copy(), [Problem(Y)], None).leave_one_out(np.array([gamma] * 5))
        assert candidate.solution is None
        assert candidate.error == pytest.approx(errors[0], rel=0.5, abs=1e-12)
        for name, view in alone.items():
            np.testing.assert_allclose(candidate.views[name], view[0], atol=1e-9)


def test_many_gammas_are_handled_a_few_at_a_time(monkeypatch):
    seen = []
    whole = ExactSystem.leave_one_out
    monkeypatch.setattr(
        ExactSystem, "leave_one_out", lambda self, gammas: seen.append(len(gammas)) or whole(self, gammas)
    )
    system = ExactSystem(SymmetricSystem, K.copy(), [Problem(Y)], None)
    assert len(list(system.candidates(np.logspace(-2, 1, 11)))) == 11
    assert seen == [5, 5, 1]
    del seen[:]
    B = rng.normal(size=(80, 80))
    system = ExactSystem(SymmetricSystem, B @ B.T, [Problem(rng.normal(size=(80, 2)))], None)
    assert len(list(system.candidates(np.logspace(-2, 1, 11)))) == 11
    assert seen == [10, 1]  # 80 / (4 · 2)


def test_one_sample_cannot_be_left_out_and_two_can():
    with pytest.raises(DataError, match=r"at least 2 samples, and n_samples=1"):
        next(ExactSystem(SymmetricSystem, np.eye(1), [Problem(np.ones((1, 1)))], None).candidates(np.ones(1)))
    two = ExactSystem(SymmetricSystem, np.eye(2), [Problem(np.array([[1.0], [3.0]]))], None)
    (candidate,) = two.candidates(np.ones(1))
    assert candidate.views["decision"].ravel().tolist() == pytest.approx([3.0, 1.0])  # each is the mean of the other


def test_of_several_reports_the_one_with_the_largest_residual_is_kept():
    reports = [SolveReport("exact", "cholesky", 4, 1.0, r, 1.0) for r in (1e-9, 1e-3, 1e-6)]
    worst = exact._worst(reports)
    assert worst.residual == 1e-3
    assert "3 pairwise" in worst.note


def test_a_symmetric_system_answers_after_inverses_and_after_a_decomposition(textbook):
    gammas = np.array([0.3, 2.0])
    a, b = textbook.ls_svm(K, Y, 2.0, WEIGHTS)
    few, many = (SymmetricSystem(K.copy(), Y, WEIGHTS, overwrite=True) for _ in range(2))
    by_inverses = few.path(gammas)
    assert by_inverses.errors is None
    assert "spectrum" not in vars(few)
    decomposed = many.path(np.append(gammas, [3.0, 4.0, 5.0]))
    assert decomposed.errors.shape == (5, 12, 2)
    np.testing.assert_allclose(by_inverses.residuals["decision"], decomposed.residuals["decision"][:2], atol=1e-9)
    for system, method in ((few, "cholesky"), (many, "eigh")):
        for _ in range(2):  # any number of questions
            solution = system.at(2.0)
            textbook.close(solution.coefficients["decision"], a)
            textbook.close(solution.intercepts["decision"], b)
            assert solution.report.method == method
    again = many.path(gammas)  # the decomposition is there: inverses would find the matrix overwritten
    np.testing.assert_allclose(again.residuals["decision"], by_inverses.residuals["decision"], atol=1e-9)
