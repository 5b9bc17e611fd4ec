"""Sections of kernel matrices, quadrature of normalisers, leverage of both sides, and Nyström triplets made of them."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.engine.reference_sums import normalizers_over
from kernreg.errors import DataError, ParameterError
from kernreg.linalg.landmarks.nystrom import NystromSettings, _estimate, change, nystrom_triplets
from kernreg.linalg.landmarks.sampled_matrix import SectionedMatrix, check_methods
from kernreg.linalg.landmarks.sections import _ratio, quadrature
from kernreg.linalg.landmarks.selection import leverage_of_both

RNG = np.random.default_rng(11)
X = RNG.standard_normal((70, 4)) * [2.0, 1.5, 1.0, 0.5]
Z = RNG.standard_normal((50, 4))
NEW = RNG.standard_normal((9, 4))
ROWS, COLUMNS = np.array([1, 5, 8, 20, 33, 69]), np.array([0, 4, 17, 30, 49])

#: Kernels, and the matrix between two sample sets by the plain formula, normalised over the second training set.
ORACLES = {
    "rbf(sigma=2.0)": lambda A, B, R: naive.rbf(A, B, 2.0),
    "kl(a=0.5)": lambda A, B, R: naive.kl(A, B, 0.5),
    "sne(sigma=2.0)": lambda A, B, R: naive.sne(A, B, 2.0, reference=R),
    "t(sigma=2.0)": lambda A, B, R: naive.t(A, B, 2.0, reference=R),
}


def pieces_of_seven(samples, largest=0):
    n = samples.shape[0]
    return (slice(start, min(start + 7, n)) for start in range(0, n, 7))


def prepared(spec, A):
    if not spec.startswith("kl"):
        return A
    A = np.abs(A) + 0.1
    return A / A.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("one", [False, True], ids=["pair", "one"])
@pytest.mark.parametrize("turned", [False, True], ids=["as-is", "transposed"])
@pytest.mark.parametrize("spec", ORACLES)
def test_a_section_gives_the_products_of_the_matrix(spec, turned, one):
    A, B, new = (prepared(spec, side) for side in (X, X[:50] if one else Z, NEW))
    if one:
        A = B
    k = kr.make_kernel(spec)

    def oracle(left, right):  # of the kernel or its transpose, whose reference set is the first one
        found = ORACLES[spec](right, left, A).T if turned else ORACLES[spec](left, right, B)
        return found.astype(float)

    rows = ROWS[:5]
    matrix = SectionedMatrix(k.T if turned else k, A, None if one else B, "exact")
    section = matrix.section(rows, COLUMNS)
    V, U = RNG.standard_normal((len(COLUMNS), 3)), RNG.standard_normal((len(rows), 3))
    G = oracle(A, B)
    np.testing.assert_allclose(section.block(), G[np.ix_(rows, COLUMNS)], rtol=1e-12)
    left, right = matrix.products(section, V, U)
    np.testing.assert_allclose(left, G[:, COLUMNS] @ V, atol=1e-12)
    np.testing.assert_allclose(right, G[rows].T @ U, atol=1e-12)
    np.testing.assert_allclose(section.left(new, V), oracle(new, B[COLUMNS]) @ V, atol=1e-12)
    np.testing.assert_allclose(section.right(new, U), oracle(A[rows], new).T @ U, atol=1e-12)


#: Only row-normalised kernels have normalisers to estimate.
WAYS = [(spec, way) for spec in ("sne(sigma=2.0)", "t(sigma=2.0)") for way in ("exact", "estimate")]
WAYS += [("rbf(sigma=2.0)", "auto"), ("tl1(rho=4.0)", "auto")]


@pytest.mark.parametrize(("spec", "normalizers"), WAYS)
def test_sparse_samples_are_as_dense_ones(spec, normalizers):
    A = sp.random_array((300, 400), density=0.004, rng=np.random.default_rng(0), format="csr")
    B = sp.random_array((250, 400), density=0.004, rng=np.random.default_rng(1), format="csr")
    found = []
    for left, right in ((A, B), (A.toarray(), B.toarray())):
        matrix = SectionedMatrix(kr.make_kernel(spec), left, right, normalizers)
        section = matrix.section(ROWS, COLUMNS)
        ones = np.ones((len(COLUMNS), 1)), np.ones((len(ROWS), 1))
        found.append([section.block(), *matrix.products(section, *ones)])
    for sparse, dense in zip(*found, strict=True):
        np.testing.assert_allclose(sparse, dense, rtol=1e-10)


def test_combined_kernels_with_a_reference_set_have_sections():
    k = kr.make_kernel("sne(sigma=2.0)") + 0.5 * kr.make_kernel("rbf(sigma=1.0)")
    G = (naive.sne(X, Z, 2.0) + naive.rbf(X, Z, 1.0) / 2).astype(float)
    matrix = SectionedMatrix(k, X, Z)
    section = matrix.section(ROWS, COLUMNS)
    left, right = matrix.products(section, np.eye(len(COLUMNS)), np.eye(len(ROWS)))
    np.testing.assert_allclose(left, G[:, COLUMNS], rtol=1e-12)
    np.testing.assert_allclose(right, G[ROWS].T, rtol=1e-12)
    assert matrix.normalizers == "none"


def test_one_product_serves_both_sides_of_a_symmetric_matrix():
    k = kr.make_kernel("rbf(sigma=2.0)")
    matrix = SectionedMatrix(k, X)
    assert matrix.mirrored
    assert not SectionedMatrix(kr.make_kernel("sne"), X).mirrored
    left, right = matrix.products(matrix.section(ROWS, ROWS), np.eye(6), np.eye(6))
    np.testing.assert_allclose(left, k(X, X[ROWS]), rtol=1e-12)
    np.testing.assert_allclose(right, left, rtol=1e-12)
    assert matrix.evaluations(6, 6) == 36 + 70 * 6
    assert matrix.evaluations(6, 5) == 30 + 70 * 5 + 70 * 6


# Normalisers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["sne(sigma=0.7)", "t(sigma=0.7)", "sne(sigma=0.7, self_term=False)"])
def test_normalisers_are_sums_over_all_pieces(spec, monkeypatch):
    monkeypatch.setattr("kernreg.linalg.landmarks.sections.chunks", pieces_of_seven)
    program = kr.make_kernel(spec).program
    weights = naive.pairs(lambda x, z: naive.sqeuclidean(x, z) / 0.49, X, X)
    weights = np.exp(-weights) if program.log else 1 / (1 + weights)
    if "self_term" in spec:
        np.fill_diagonal(weights, 0.0)
    sums = weights.sum(axis=1).astype(float)
    found = normalizers_over(program, X, X)
    np.testing.assert_allclose(np.exp(found) if program.log else found, sums, rtol=1e-12)


def test_rows_without_any_weight_stay_zero():
    lonely = np.zeros((1, 4))
    k = kr.make_kernel("sne", sigma=1.0, self_term=False)
    assert np.isposinf(normalizers_over(k.program, lonely, lonely)).all()


def test_quadrature_is_exact_with_all_columns_and_near_with_some():
    G = naive.sne(X, Z, 4.0).astype(float)
    weights, error = quadrature(G, Z.shape[0])
    np.testing.assert_allclose(weights, 1.0, rtol=1e-12)
    assert error < 1e-12
    some = np.arange(0, 50, 3)
    weights, error = quadrature(G[:30, some], 50)
    fitted = np.abs(G[30:, some] @ weights - 1.0)
    plain = np.abs(G[30:, some].sum(axis=1) * 50 / len(some) - 1.0)
    assert np.sqrt((fitted**2).mean()) < 0.3 * np.sqrt((plain**2).mean())
    assert 0.2 < error / np.sqrt((fitted**2).mean()) < 5.0  # what is said about rows that were not fitted is so


def test_estimated_normalisers_are_exact_where_all_columns_are_landmarks():
    everything = np.arange(50)
    matrix = SectionedMatrix(kr.make_kernel("sne(sigma=2.0)"), X, Z, "estimate")
    section = matrix.section(ROWS, everything)
    V = RNG.standard_normal((50, 2))
    np.testing.assert_allclose(section.left(NEW, V), naive.sne(NEW, Z, 2.0).astype(float) @ V, atol=1e-10)


def test_rows_far_from_every_landmark_do_not_blow_up():
    matrix = SectionedMatrix(kr.make_kernel("sne(sigma=0.05)"), X, Z, "estimate")
    section = matrix.section(ROWS, COLUMNS)
    found = section.left(1e3 * NEW, np.eye(len(COLUMNS)))
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 1.0 / (0.1 * section.weights.mean())


def test_normalisers_are_summed_up_while_that_is_quick(monkeypatch):
    k = kr.make_kernel("sne")
    assert SectionedMatrix(k, X, Z).normalizers == "exact"
    monkeypatch.setattr("kernreg.linalg.landmarks.sampled_matrix._QUICKLY_SUMMED", 3499)
    assert SectionedMatrix(k, X, Z).normalizers == "estimate"
    # Sparse samples that share nothing have little to sum up.
    eye = sp.eye_array(300, format="csr")
    assert SectionedMatrix(k, eye).normalizers == "estimate"
    monkeypatch.setattr("kernreg.linalg.landmarks.sampled_matrix._QUICKLY_SUMMED", 6000)
    assert SectionedMatrix(k, eye).normalizers == "exact"
    assert SectionedMatrix(kr.make_kernel("rbf"), X, Z).normalizers == "none"
    with pytest.raises(ParameterError, match=r"'estimate' is for row-normalised kernels.*'rbf' is not one"):
        SectionedMatrix(kr.make_kernel("rbf"), X, Z, "estimate")


# Landmarks ---------------------------------------------------------------------------------------------------


def test_uniform_landmarks_are_nested_and_independent_on_both_sides():
    matrix = SectionedMatrix(kr.make_kernel("sne"), X)
    small, large = (matrix.landmarks((n, n), ("uniform", "uniform"), 2, 5) for n in (10, 20))
    for side in (0, 1):
        assert set(small[side]) < set(large[side])
        assert (np.diff(large[side]) > 0).all()
    assert not np.array_equal(*large)
    again = matrix.landmarks((20, 20), ("uniform", "uniform"), 2, 5)
    assert all(map(np.array_equal, large, again))


@pytest.mark.parametrize("method", ["uniform", "kmeans++", "leverage", "entropy"])
def test_every_method_gives_as_many_as_asked_for(method):
    for k, Z_or_none in ((kr.make_kernel("sne"), Z), (kr.make_kernel("sne").T, Z), (kr.make_kernel("rbf"), None)):
        matrix = SectionedMatrix(k, X, Z_or_none)
        rows, columns = matrix.landmarks((12, 9), (method, method), 3, 0)
        assert (len(np.unique(rows)), len(np.unique(columns))) == (12, 9)
        assert rows.max() < 70
        assert columns.max() < matrix.shape[1]


@pytest.mark.parametrize("normalizers", ["exact", "estimate"])
def test_leverage_finds_the_few_rows_that_matter(normalizers):
    # A star: nodes 0 … 19 point to node 500, everybody else to a node of their own.
    edges = [(i, 500) for i in range(20)] + [(i, 1000 + i) for i in range(20, 900)]
    A = sp.csr_array((np.ones(len(edges)), tuple(zip(*edges, strict=True))), shape=(2000, 2000))
    matrix = SectionedMatrix(kr.make_kernel("sne(sigma=0.7)"), A, sp.csr_array(A.T), normalizers)
    G = kr.make_kernel("sne(sigma=0.7)")(A, sp.csr_array(A.T))
    weight = ((G - G.mean(axis=0)) ** 2).sum(axis=0)

    def seen(method):
        shares = [
            weight[matrix.landmarks((60, 60), (method, method), 4, seed)[1]].sum() / weight.sum() for seed in range(5)
        ]
        return np.median(shares)

    assert seen("leverage") > 2 * seen("uniform")


def test_leverage_of_a_matrix_without_structure_is_a_choice_like_any_other():
    rows, columns = leverage_of_both(lambda i, j: np.ones((len(i), len(j))), (40, 30), (8, 6), 2, random_state=0)
    assert (len(np.unique(rows)), len(np.unique(columns))) == (8, 6)


@pytest.mark.parametrize(
    ("landmarks", "message"),
    [("best", r"'entropy'.*tuple of two"), (np.arange(4), r"two sample sets; give a tuple")],
)
def test_landmarks_that_are_not_accepted(landmarks, message):
    with pytest.raises(ParameterError, match=message):
        check_methods(landmarks, one=False)


# Triplets ----------------------------------------------------------------------------------------------------


def exact_triplets(G, r, center):
    G = np.asarray(G, dtype=float)
    if center:
        G = G - G.mean(axis=0)
        G = G - G.mean(axis=1, keepdims=True)
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    return U[:, :r], s[:r], Vt[:r].T


def same_up_to_sign(found, expected, tolerance=1e-8):
    np.testing.assert_allclose(np.abs(np.einsum("ij,ij->j", found, expected)), 1.0, atol=tolerance)


@pytest.mark.parametrize("orthogonalize", [True, False], ids=["orthogonal", "extension"])
@pytest.mark.parametrize("center", [True, False], ids=["centred", "raw"])
@pytest.mark.parametrize(("spec", "normalizers"), WAYS)
def test_all_landmarks_give_the_exact_triplets(spec, normalizers, center, orthogonalize):
    k = kr.make_kernel(spec)
    U, s, V = exact_triplets(k(X, Z), 4, center)
    matrix = SectionedMatrix(k, X, Z, normalizers)
    found = nystrom_triplets(matrix, 4, (70, 50), NystromSettings(center=center, orthogonalize=orthogonalize))
    np.testing.assert_allclose(found.values, s, rtol=1e-9)
    same_up_to_sign(found.left, U)
    same_up_to_sign(found.right, V)
    assert found.report.eta == 0.0


def test_the_extension_is_that_of_the_paper():
    k = kr.make_kernel("sne(sigma=2.0)")
    G = naive.sne(X, Z, 2.0).astype(float)
    matrix = SectionedMatrix(k, X, Z)
    found = nystrom_triplets(matrix, 3, (20, 15), NystromSettings(center=False, orthogonalize=False))
    C, R = G[:, found.columns], G[found.rows]
    U, s, Vt = np.linalg.svd(R[:, found.columns])
    left, right = C @ Vt[:3].T / s[:3], R.T @ U[:, :3] / s[:3]
    np.testing.assert_allclose(found.values, s[:3] * np.sqrt(70 * 50 / (20 * 15)), rtol=1e-10)
    same_up_to_sign(found.left, left / np.linalg.norm(left, axis=0))
    same_up_to_sign(found.right, right / np.linalg.norm(right, axis=0))
    np.testing.assert_allclose(np.linalg.norm(found.left, axis=0), 1.0, rtol=1e-12)


def test_the_orthogonal_result_is_the_svd_of_the_low_rank_approximation(monkeypatch):
    monkeypatch.setattr("kernreg.linalg.landmarks.approximation._ANYWAY", 7)
    monkeypatch.setattr("kernreg.linalg.landmarks.approximation._OVERSAMPLING", 1)
    monkeypatch.setattr("kernreg.linalg.landmarks.approximation._WORTHWHILE", 0.0)
    G = naive.sne(X, Z, 2.0).astype(float)
    found = nystrom_triplets(
        SectionedMatrix(kr.make_kernel("sne(sigma=2.0)"), X, Z), 3, (40, 30), NystromSettings(center=False)
    )
    C, R = G[:, found.columns], G[found.rows]
    U, s, Vt = np.linalg.svd(R[:, found.columns])
    low = C @ (Vt[:10].T / s[:10]) @ U[:, :10].T @ R
    U, s, V = exact_triplets(low, 3, center=False)
    assert found.report.rank == 10
    np.testing.assert_allclose(found.values, s, rtol=1e-9)
    same_up_to_sign(found.left, U)
    same_up_to_sign(found.right, V)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(3), atol=1e-10)


def test_a_symmetric_kernel_gives_the_classic_nystrom_method():
    k = kr.make_kernel("rbf(sigma=3.0)")
    K = naive.rbf(X, X, 3.0).astype(float)
    found = nystrom_triplets(SectionedMatrix(k, X), 4, (25, 25), NystromSettings(center=False, orthogonalize=False))
    assert np.array_equal(found.rows, found.columns)
    values, vectors = np.linalg.eigh(K[np.ix_(found.rows, found.rows)])
    values, vectors = values[::-1][:4], vectors[:, ::-1][:, :4]
    # Williams & Seeger: λ̃ = (N/m) λ, ũ = √(m/N) K_Nm u / λ, of length one up to the approximation.
    extended = np.sqrt(25 / 70) * K[:, found.rows] @ vectors / values
    np.testing.assert_allclose(found.values, 70 / 25 * values, rtol=1e-10)
    for side in (found.left, found.right):
        same_up_to_sign(side, extended / np.linalg.norm(extended, axis=0))


def test_orthogonal_triplets_of_a_symmetric_kernel_are_the_eigenpairs_of_the_classic_approximation(monkeypatch):
    monkeypatch.setattr("kernreg.linalg.landmarks.approximation._count", lambda shape, r: 12)
    monkeypatch.setattr("kernreg.linalg.landmarks.approximation._WORTHWHILE", 0.0)
    K = naive.rbf(X, X, 3.0).astype(float)
    found = nystrom_triplets(
        SectionedMatrix(kr.make_kernel("rbf(sigma=3.0)"), X), 4, (25, 25), NystromSettings(center=False)
    )
    values, vectors = np.linalg.eigh(K[np.ix_(found.rows, found.rows)])
    features = K[:, found.rows] @ (vectors[:, -12:] / np.sqrt(values[-12:]))
    values, vectors = np.linalg.eigh(features @ features.T)
    np.testing.assert_allclose(found.values, values[::-1][:4], rtol=1e-9)
    same_up_to_sign(found.left, vectors[:, ::-1][:, :4])


def test_indefinite_symmetric_kernels_keep_the_sign_of_their_eigenvalues_between_the_sides():
    k = kr.make_kernel("tl1(rho=3.0)")
    K = naive.pairs(lambda x, z: max(3.0 - naive.l1(x, z), 0.0), X, X).astype(float)
    found = nystrom_triplets(SectionedMatrix(k, X), 6, (70, 70), NystromSettings(center=True))
    J = np.eye(70) - 1 / 70
    values = np.linalg.eigvalsh(J @ K @ J)
    expected = values[np.argsort(-np.abs(values))][:6]
    np.testing.assert_allclose(found.values * np.einsum("ij,ij->j", found.left, found.right), expected, rtol=1e-9)


def test_coefficients_give_the_vectors_of_the_training_samples():
    matrix = SectionedMatrix(kr.make_kernel("sne(sigma=2.0)"), X, Z, "estimate")
    found = nystrom_triplets(matrix, 3, (30, 25))
    left = found.section.left(X, found.left_coefficients) - found.left_offset
    right = found.section.right(Z, found.right_coefficients) - found.right_offset
    np.testing.assert_allclose(left, found.left * found.values, atol=1e-12)
    np.testing.assert_allclose(right, found.right * found.values, atol=1e-12)
    np.testing.assert_allclose(np.concatenate([left, right]).mean(axis=0), 0.0, atol=1e-10)
    peaks = found.left[np.abs(found.left).argmax(axis=0), np.arange(3)]
    assert (peaks > 0).all()


# Growth ------------------------------------------------------------------------------------------------------


def true_eta(found, U, s, V):
    """η by its formula."""
    total = 0.0
    for i in range(len(s)):
        for exact, got in ((U, found.left), (V, found.right)):
            total += s[i] * (1 - abs(exact[:, i] @ got[:, i]) / np.linalg.norm(got[:, i])) / len(s)
    return total


@pytest.mark.parametrize("seed", range(3))
def test_the_subsample_grows_until_the_tolerance_is_reached(seed):
    samples = np.random.default_rng(seed).standard_normal((900, 3)) * [3.0, 2.0, 1.0]
    k = kr.make_kernel("sne(sigma=6.0)")
    matrix = SectionedMatrix(k, samples)
    found = nystrom_triplets(matrix, 4, (16, 16), NystromSettings(tol=1e-3, seed=seed))
    report = found.report
    assert report.converged
    assert report.eta <= 1e-3
    assert true_eta(found, *exact_triplets(k(samples), 4, True)) <= 1e-3
    assert [level.rows for level in report.levels] == [16 * 2**i for i in range(len(report.levels))]
    assert np.isnan(report.levels[0].eta)
    assert all(level.eta > 1e-3 for level in report.levels[1:-1])
    assert report.rows == report.levels[-1].rows < 900
    counts = [900 * 900 + 16 * (16 + 1800)] + [m * (m + 1800) for m in (level.rows for level in report.levels[1:])]
    assert [level.evaluations for level in report.levels] == counts
    assert report.evaluations == sum(counts)


def test_the_estimate_does_not_believe_a_single_small_change():
    assert np.isnan(_estimate([]))
    assert _estimate([0.1]) == pytest.approx(0.4)
    assert _estimate([0.4, 0.01]) == pytest.approx(0.2)
    assert _estimate([0.4, 0.3]) == pytest.approx(0.3)


@pytest.mark.parametrize("share", [0.1, 0.03])
def test_the_true_error_is_below_the_tolerance(share):
    # The change alone, without its margins, is below the tolerance too early for one of these seeds in each case.
    samples = np.random.default_rng(0).standard_normal((600, 3)) * [3.0, 2.0, 1.0]
    k = kr.make_kernel("sne(sigma=3.7)")
    exact = exact_triplets(k(samples), 4, True)
    tol = share * float(exact[1].mean())
    sizes = []
    for seed in range(6):
        found = nystrom_triplets(SectionedMatrix(k, samples), 4, (25, 25), NystromSettings(tol=tol, seed=seed))
        assert found.report.converged
        assert true_eta(found, *exact) <= tol
        sizes.append(found.report.rows)
    assert min(sizes) < 600


def test_growth_ends_at_its_bound_and_says_so():
    matrix = SectionedMatrix(kr.make_kernel("sne(sigma=0.5)"), X, Z)
    found = nystrom_triplets(matrix, 2, (10, 10), NystromSettings(tol=1e-9, largest=(35, 30)))
    assert not found.report.converged
    assert [(level.rows, level.columns) for level in found.report.levels] == [(10, 10), (20, 20), (35, 30)]


def test_growth_to_all_samples_is_exact():
    matrix = SectionedMatrix(kr.make_kernel("sne(sigma=0.5)"), X, Z)
    found = nystrom_triplets(matrix, 2, (20, 20), NystromSettings(tol=1e-12))
    assert found.report.levels[-1][:3] == (70, 50, 0.0)
    np.testing.assert_allclose(found.values, exact_triplets(kr.make_kernel("sne(sigma=0.5)")(X, Z), 2, True)[1])


def test_change_is_eta_between_two_results():
    matrix = SectionedMatrix(kr.make_kernel("sne(sigma=2.0)"), X, Z)
    first, second = (nystrom_triplets(matrix, 3, (n, n)) for n in (15, 30))
    expected = true_eta(first, second.left, second.values, second.right)
    assert change(first, second) == pytest.approx(expected, abs=1e-12)


def test_a_direction_that_only_the_larger_subsample_has_counts_in_full():
    K = np.zeros((40, 40))
    K[:20, :20], K[30, 30] = 1.0, 5.0
    matrix = SectionedMatrix(kr.make_kernel("precomputed", K=K), np.arange(40))
    first = nystrom_triplets(matrix, 2, (1, 1), NystromSettings(methods=(np.arange(20),) * 2, center=False))
    second = nystrom_triplets(matrix, 2, (1, 1), NystromSettings(methods=(np.arange(40),) * 2, center=False))
    assert first.report.note
    np.testing.assert_allclose(first.values[1], 0.0)
    assert change(first, second) == pytest.approx(5.0)  # (1/2) λ_2 (1 + 1)
    assert change(first, first) == pytest.approx(0.0)


def test_a_subsample_that_sees_nothing_grows_or_is_refused():
    K = np.zeros((64, 64))
    K[5, 40] = 1.0
    matrix = SectionedMatrix(kr.make_kernel("precomputed", K=K), np.arange(64))
    found = nystrom_triplets(matrix, 1, (4, 4), NystromSettings(tol=1e-6, center=False))
    assert found.values == pytest.approx([1.0])
    with pytest.raises(DataError, match=r"it is zero for every pair of samples of the 2 × 2 that.*more landmarks"):
        nystrom_triplets(matrix, 1, (2, 2), NystromSettings(methods=(np.array([0, 1]),) * 2, center=False))
    zero = SectionedMatrix(kr.make_kernel("precomputed", K=np.ones((9, 9))), np.arange(9))
    with pytest.raises(DataError, match=r"its value is the same for every pair of samples\. Check"):
        nystrom_triplets(zero, 1, (9, 9))


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")
def test_a_kernel_that_is_not_finite_is_refused():
    matrix = SectionedMatrix(kr.make_kernel("poly(degree=300)"), 1e3 * X, Z)
    with pytest.raises(DataError, match=r"kernel is inf between sample \d+ of the left and sample \d+ of the right"):
        nystrom_triplets(matrix, 1, (9, 9))


@pytest.mark.parametrize(("spec", "normalizers"), WAYS)
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_products_do_not_depend_on_the_pieces(spec, normalizers, form, monkeypatch):
    A = sp.random_array((150, 60), density=0.05, rng=np.random.default_rng(0), format="csr")
    A = A.toarray() if form == "dense" else A

    def triplets():
        return nystrom_triplets(SectionedMatrix(kr.make_kernel(spec), A, None, normalizers), 3, (50, 50))

    expected = triplets()
    monkeypatch.setattr("kernreg.linalg.landmarks.sections.chunks", pieces_of_seven)
    found = triplets()
    np.testing.assert_allclose(found.left, expected.left, atol=1e-10)
    np.testing.assert_allclose(found.right, expected.right, atol=1e-10)


def test_memory_does_not_change_how_many_triplets_are_extended():
    matrix = SectionedMatrix(kr.make_kernel("rbf(sigma=2.0)"), X, Z)
    with kr.config_context(memory=8 * 120 * 90):
        assert nystrom_triplets(matrix, 2, (40, 40)).report.rank == 40 // 3
    assert nystrom_triplets(matrix, 2, (40, 40)).report.rank == 40 // 3


def test_weights_of_a_quadrature_are_those_of_ridge_regression():
    rng = np.random.default_rng(0)
    G = rng.random((30, 6))
    weights, error = quadrature(G, 60)
    ridge = 1e-3 * np.trace(G.T @ G) / 6 * np.eye(6)
    np.testing.assert_allclose(weights, 10.0 + np.linalg.solve(G.T @ G + ridge, G.T @ (1.0 - 10.0 * G.sum(axis=1))))
    left_out = [
        1.0 - G[i] @ (10.0 + np.linalg.solve(A.T @ A + ridge, A.T @ (1.0 - 10.0 * A.sum(axis=1))))
        for i, A in ((i, np.delete(G, i, axis=0)) for i in range(30))
    ]
    assert error == pytest.approx(np.sqrt(np.mean(np.square(left_out))))


def test_sums_far_below_the_plain_estimate_are_not_believed():
    products = np.array([[6.0, 2.0], [6.0, 0.5], [6.0, 0.1], [6.0, -1.0]])  # the last column are sums
    np.testing.assert_allclose(_ratio(products, 4.0), [[3.0], [12.0], [1.5], [1.5]])


def test_the_quadrature_is_factorised_in_blocks_where_it_is_large(monkeypatch):
    from kernreg.engine import gram
    from kernreg.linalg.exact import large_matrices
    from kernreg.linalg.landmarks.sections import quadrature

    G = np.random.default_rng(0).random((40, 30))
    G /= 10.0 * G.sum(axis=1, keepdims=True)
    weights, error = quadrature(G, 300)
    for module, block in ((gram, "_HIGH"), (large_matrices, "_BLOCK")):
        monkeypatch.setattr(module, "LARGEST", 0)
        monkeypatch.setattr(module, block, 7)
    found, found_error = quadrature(G, 300)
    np.testing.assert_allclose(found, weights, rtol=1e-9)
    assert abs(found_error - error) <= 1e-9
