from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import kernreg as kr
from kernreg.errors import AsymmetryError, DataError, ParameterError
from kernreg.linalg.spectra.lanczos import Settings, block_golub_kahan, block_lanczos
from kernreg.linalg.spectra.partial import Hints, eigenpairs, singular_triplets

EXACT = ("auto", "dense", "krylov", "arpack")
N = 240


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Small products on several BLAS threads wait for each other when the tests run side by side."""
    with threadpool_limits(1, user_api="blas"):
        yield


def orthogonal(n, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]


def with_spectrum(d, seed=0):
    Q = orthogonal(len(d), seed)
    A = (Q * d) @ Q.T
    return 0.5 * (A + A.T)


def rectangle(n, m, d, seed=0):
    return orthogonal(n, seed)[:, : len(d)] @ np.diag(d) @ orthogonal(m, seed + 1)[:, : len(d)].T


def decaying(n=N):
    i = np.arange(n)
    return 0.85**i * np.where(i % 3 == 1, -1.0, 1.0)


def require_pairs(A, values, vectors, tolerance=1e-10):
    scale = max(np.abs(values).max(), 1e-300)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=tolerance * scale)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-11)


def wanted(d, k, order):
    key = -np.abs(d) if order == "magnitude" else -d
    return d[np.argsort(key, kind="stable")][:k]


@pytest.mark.parametrize("order", ["magnitude", "value"])
@pytest.mark.parametrize("method", [*EXACT, "lobpcg"])
@pytest.mark.parametrize("k", [1, 7])
def test_eigenpairs_are_those_of_the_spectrum(method, order, k):
    d = decaying()
    A = with_spectrum(d)
    values, vectors, report = eigenpairs(A, k, order=order, method=method)
    np.testing.assert_allclose(values, wanted(d, k, order), atol=1e-10)
    require_pairs(A, values, vectors, 1e-8 if method == "lobpcg" else 1e-10)
    assert report.converged
    assert report.residual < (1e-9 if method == "lobpcg" else 1e-11)
    assert report.components == k
    assert report.shape == (N, N)
    assert method == "auto" or report.method == method


@pytest.mark.parametrize("method", EXACT)
def test_vectors_equal_those_of_lapack_up_to_sign(method):
    A = with_spectrum(decaying(), seed=3)
    full, basis = np.linalg.eigh(A)
    top = np.argsort(-np.abs(full))[:6]
    values, vectors, _ = eigenpairs(A, 6, method=method)
    np.testing.assert_allclose(values, full[top], atol=1e-12)
    np.testing.assert_allclose(np.abs((vectors * basis[:, top]).sum(axis=0)), 1.0, atol=1e-12)


@pytest.mark.parametrize("form", [sp.csr_array, aslinearoperator, np.asfortranarray])
@pytest.mark.parametrize("method", ["auto", "dense", "krylov", "arpack", "lobpcg", "randomized"])
def test_every_form_of_a_matrix_gives_the_same(form, method):
    A = with_spectrum(0.5 ** np.arange(N))
    expected = eigenpairs(A, 4, method="dense")
    values, vectors, _ = eigenpairs(form(A), 4, method=method)
    np.testing.assert_allclose(values, expected[0], atol=1e-10)
    np.testing.assert_allclose(vectors, expected[1], atol=1e-7 if method == "lobpcg" else 1e-9)


def test_largest_entry_of_every_vector_is_positive():
    _, vectors, _ = eigenpairs(with_spectrum(decaying()), 8)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(8)] > 0).all()
    U, _, _, _ = singular_triplets(rectangle(60, 40, 0.8 ** np.arange(40)), 8)
    assert (U[np.abs(U).argmax(axis=0), np.arange(8)] > 0).all()


@pytest.mark.parametrize("method", ["auto", "dense", "krylov"])
@pytest.mark.parametrize("order", ["magnitude", "value"])
@pytest.mark.parametrize("times", [30, 110])
def test_repeated_eigenvalues_are_all_found(method, order, times):
    """Also those repeated more often than a block of the iteration has columns."""
    d = np.concatenate([np.full(times, 2.0), np.full(20, -1.5), 0.9 ** np.arange(300 - times)])
    A = with_spectrum(d)
    for k in (10, times + 5):
        values, vectors, _ = eigenpairs(A, k, order=order, method=method)
        np.testing.assert_allclose(values, wanted(d, k, order), atol=1e-10)
        require_pairs(A, values, vectors)


@pytest.mark.parametrize("method", ["auto", "dense", "krylov", "arpack", "lobpcg", "randomized"])
@pytest.mark.parametrize("k", [1, 9])
def test_matrix_of_zeros_and_of_rank_one(method, k):
    for d in (np.zeros(N), np.eye(1, N)[0] * -3.0):
        A = with_spectrum(d)
        values, vectors, report = eigenpairs(A, k, method=method)
        np.testing.assert_allclose(values, wanted(d, k, "magnitude"), atol=1e-12)
        require_pairs(A, values, vectors)
        assert report.converged


@pytest.mark.parametrize("method", ["auto", "dense", "krylov", "arpack", "lobpcg"])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 2), (5, 5), (40, 39), (40, 40)])
def test_as_many_pairs_as_there_are(method, n, k):
    d = np.linspace(-1.0, 2.3, n)
    A = with_spectrum(d)
    values, vectors, report = eigenpairs(A, k, method=method)
    np.testing.assert_allclose(values, wanted(d, k, "magnitude"), atol=1e-12)
    require_pairs(A, values, vectors)
    assert report.method in ("dense", "krylov")


@pytest.mark.parametrize("factor", [1e-200, 1e150])
@pytest.mark.parametrize("method", ["dense", "krylov", "arpack", "lobpcg", "randomized"])
def test_tiny_and_huge_matrices(factor, method):
    d = 0.5 ** np.arange(60)
    values, vectors, _ = eigenpairs(with_spectrum(d) * factor, 3, method=method)
    np.testing.assert_allclose(values / factor, d[:3], rtol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
    _, s, _, _ = singular_triplets(rectangle(70, 60, d) * factor, 3, method="krylov" if method == "lobpcg" else method)
    np.testing.assert_allclose(s / factor, d[:3], rtol=1e-9)


def test_slow_spectra_end_with_lapack():
    """A spectrum without decay: products would cost more than the reduction of the matrix."""
    d = np.linspace(-1.0, 1.001, 700)
    values, _, report = eigenpairs(with_spectrum(d), 12)
    np.testing.assert_allclose(values, wanted(d, 12, "magnitude"), atol=1e-12)
    assert report.method == "dense"
    assert "dense took over" in report.note


def test_auto_takes_products_where_they_pay():
    A = with_spectrum(0.7 ** np.arange(700))
    _, _, held = eigenpairs(A, 5)
    _, _, implicit = eigenpairs(aslinearoperator(A), 5)
    _, _, many = eigenpairs(A, 100)  # a tenth of all; of an operator it would be a quarter
    assert (held.method, implicit.method, many.method) == ("krylov", "krylov", "dense")
    assert held.passes == held.iterations < 15
    assert held.products == 11 * held.passes


@pytest.mark.parametrize(
    ("size", "k", "method"), [(60, 2, "dense"), (520, 140, "dense"), (520, 80, "krylov"), (520, 5, "krylov")]
)
def test_auto_makes_an_operator_an_array_if_it_is_small_or_many_components_are_asked_for(size, k, method):
    d = 0.9 ** np.arange(size)
    values, _, report = eigenpairs(aslinearoperator(with_spectrum(d)), k)
    np.testing.assert_allclose(values, d[:k], atol=1e-9)
    assert report.method == method


@pytest.mark.parametrize("method", ["arpack", "lobpcg"])
@pytest.mark.parametrize(("size", "k", "direct"), [(60, 20, True), (60, 3, False)])
def test_dense_is_taken_where_a_method_needs_more_samples_for_each_pair(method, size, k, direct):
    _, _, report = eigenpairs(with_spectrum(0.8 ** np.arange(size)), k, method=method)
    assert report.method == ("dense" if direct else method)
    assert ("needs more samples" in report.note) == direct


def test_one_pass_multiplies_a_whole_block():
    A = with_spectrum(0.7 ** np.arange(600))
    widths = []

    def matmat(V):
        widths.append(V.shape[1])
        return A @ V

    operator = LinearOperator(A.shape, matvec=lambda v: matmat(v.reshape(-1, 1)).ravel(), matmat=matmat, dtype=A.dtype)
    _, _, report = eigenpairs(operator, 10, method="krylov")
    assert min(widths) == 16
    assert len(widths) == report.passes
    assert sum(widths) == report.products


def test_restarts_keep_the_residual_true():
    """A basis that fills up many times: the residual reported is that of the vectors returned."""
    d = 1.0 / (1.0 + 0.02 * np.arange(900))
    A = with_spectrum(d)
    values, vectors, report = eigenpairs(A, 6, method="krylov", tol=1e-10)
    true = np.linalg.norm(A @ vectors - vectors * values, axis=0).max() / values[0]
    assert report.iterations > 12
    assert report.residual <= 1e-10
    np.testing.assert_allclose(true, report.residual, atol=1e-12)
    np.testing.assert_allclose(values, d[:6], atol=1e-12)


@pytest.mark.parametrize("method", ["krylov", "arpack", "lobpcg", "randomized"])
def test_iterations_are_bounded_and_say_so(method):
    A = with_spectrum(np.linspace(0.9, 1.0, N))
    with pytest.warns(ConvergenceWarning, match=rf"{method} stopped after .* tol=1e-1\d was asked for"):
        values, vectors, report = eigenpairs(A, 5, method=method, max_iter=2, tol=1e-12)
    assert not report.converged
    assert report.residual > 1e-12
    assert values.shape == (5,)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-11)
    if method not in ("lobpcg", "randomized"):
        with pytest.warns(ConvergenceWarning):
            U, s, V, _ = singular_triplets(A, 5, method=method, max_iter=2, tol=1e-12)
        assert (U.shape, s.shape, V.shape) == ((N, 5), (5,), (N, 5))


def test_randomized_is_approximate_and_reports_how_much():
    d = 1.0 / np.arange(1, N + 1) ** 2
    A = with_spectrum(d)
    values, vectors, report = eigenpairs(A, 10, method="randomized")
    true = np.linalg.norm(A @ vectors - vectors * values, axis=0).max() / values[0]
    assert report.passes == 15
    assert 1e-12 < report.residual < 1e-3
    np.testing.assert_allclose(report.residual, true, rtol=1e-6)
    np.testing.assert_allclose(values, d[:10], rtol=1e-3)
    values, vectors, report = eigenpairs(A, 10, method="randomized", tol=1e-9)
    assert report.residual <= 1e-9
    require_pairs(A, values, vectors, 1e-8)
    U, s, V, report = singular_triplets(A, 10, method="randomized")
    assert report.passes == 16
    true = np.linalg.norm(A.T @ U - V * s, axis=0).max() / s[0]
    np.testing.assert_allclose(report.residual, true, rtol=1e-6)
    np.testing.assert_allclose(s, d[:10], rtol=1e-3)


@pytest.mark.parametrize("k", [4, 30])
def test_randomized_takes_ten_columns_more_than_asked_for_or_half_as_many_more(k):
    A = with_spectrum(0.9 ** np.arange(N))
    _, _, report = eigenpairs(A, k, method="randomized")
    _, _, _, of_triplets = singular_triplets(A, k, method="randomized")
    assert report.products == report.passes * (k + max(10, k // 2))
    assert of_triplets.products == of_triplets.passes * (k + max(10, k // 2))


def test_the_basis_has_room_for_the_pairs_and_two_blocks():
    settings = Settings(1e-9, 100, np.random.default_rng(0), block=4, columns=3)
    assert settings.sizes(50, 5) == (4, 13)
    assert settings.sizes(10, 5) == (4, 10)


@pytest.mark.parametrize("method", ["auto", "dense", "krylov", "arpack", "lobpcg", "randomized"])
def test_float32_is_kept(method):
    d = 0.6 ** np.arange(N)
    A = with_spectrum(d)
    values, vectors, report = eigenpairs(A.astype(np.float32), 5, method=method)
    assert values.dtype == vectors.dtype == np.float32
    assert report.converged
    np.testing.assert_allclose(values, d[:5], atol=2e-6)
    if method != "lobpcg":
        U, s, V, _ = singular_triplets(A.astype(np.float32), 5, method=method)
        assert U.dtype == s.dtype == V.dtype == np.float32
        np.testing.assert_allclose(s, d[:5], atol=2e-6)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("shape", [(80, 50), (50, 80), (60, 60)])
@pytest.mark.parametrize("k", [1, 6])
def test_singular_triplets_equal_those_of_lapack(method, shape, k):
    A = rectangle(*shape, 0.8 ** np.arange(min(shape)))
    U, s, V, report = singular_triplets(A, k, method=method)
    left, full, right = np.linalg.svd(A)
    np.testing.assert_allclose(s, full[:k], atol=1e-12)
    np.testing.assert_allclose(np.abs((U * left[:, :k]).sum(axis=0)), 1.0, atol=1e-11)
    np.testing.assert_allclose(np.abs((V * right[:k].T).sum(axis=0)), 1.0, atol=1e-11)
    np.testing.assert_allclose(A @ V, U * s, atol=1e-10)
    np.testing.assert_allclose(A.T @ U, V * s, atol=1e-10)
    assert report.residual < 1e-11


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, aslinearoperator])
@pytest.mark.parametrize("shape", [(700, 620), (620, 700)])
def test_singular_triplets_of_large_matrices_in_any_form(form, shape):
    d = np.concatenate([np.full(25, 3.0), 1.0 / np.arange(1, 300)])
    A = rectangle(*shape, d)
    U, s, V, report = singular_triplets(form(A), 30)
    assert report.method == "krylov"
    np.testing.assert_allclose(s, d[:30], atol=1e-10)
    np.testing.assert_allclose(A @ V, U * s, atol=1e-9)
    np.testing.assert_allclose(U.T @ U, np.eye(30), atol=1e-11)
    np.testing.assert_allclose(V.T @ V, np.eye(30), atol=1e-11)


@pytest.mark.parametrize("method", ["auto", "dense", "krylov", "arpack", "randomized"])
@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (1, 5), (5, 1)])
def test_singular_triplets_of_zeros_of_low_rank_and_all_of_them(method, shape):
    small = min(shape)
    for d in (np.zeros(small), np.eye(1, small)[0], np.ones(small)):
        A = rectangle(*shape, d)
        for k in {1, small}:
            U, s, V, _ = singular_triplets(A, k, method=method)
            np.testing.assert_allclose(s, d[:k], atol=1e-12)
            np.testing.assert_allclose(A.T @ U, V * s, atol=1e-10)
            np.testing.assert_allclose(U.T @ U, np.eye(k), atol=1e-11)
            np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-11)


def test_singular_values_far_below_the_largest_are_right():
    """They would be lost in AᵀA."""
    d = 10.0 ** -np.arange(12.0)
    A = rectangle(300, 200, d)
    _, s, _, _ = singular_triplets(A, 11, method="krylov")
    np.testing.assert_allclose(s, d[:11], atol=1e-14)


def test_kernel_operators_of_sparse_samples_are_decomposed_exactly():
    rng = np.random.default_rng(0)
    X = sp.random_array((700, 5000), density=0.002, format="csr", rng=rng)
    k = kr.make_kernel("rbf(sigma=1.0)")
    operator = k.operator(X)
    assert operator.form == "separable"
    values, vectors, report = eigenpairs(operator, 6)
    full = np.linalg.eigvalsh(k(X))
    assert report.method == "krylov"
    np.testing.assert_allclose(values, full[::-1][:6], rtol=1e-11)
    require_pairs(k(X), values, vectors)


def test_same_seed_same_bits():
    A = with_spectrum(decaying(600))
    first, again = (eigenpairs(A, 5, random_state=7) for _ in range(2))
    assert np.array_equal(first[1], again[1])
    other = eigenpairs(A, 5, random_state=np.random.default_rng(1))
    np.testing.assert_allclose(other[1], first[1], atol=1e-9)


def test_matrix_given_is_left_alone_unless_allowed():
    A = with_spectrum(decaying())
    before = A.copy()
    for method in ("dense", "krylov"):
        eigenpairs(A, 3, method=method)
        singular_triplets(A, 3, method=method)
    assert np.array_equal(A, before)
    values, vectors, report = eigenpairs(A, 3, method="dense", hints=Hints(overwrite=True))
    require_pairs(before, values, vectors)
    assert not np.array_equal(A, before)
    assert report.converged


@pytest.mark.parametrize("method", ["auto", "dense", "krylov", "arpack", "lobpcg", "randomized"])
def test_asymmetric_matrices_are_refused(method):
    A = with_spectrum(decaying(600))
    A[0, 1] += 1e-3
    with pytest.raises(AsymmetryError, match=r"asymmetric.*singular_triplets"):
        eigenpairs(A, 3, method=method)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda A: eigenpairs(A[:-1], 1), DataError, r"shape \(9, 10\); eigenpairs need a square one"),
        (lambda A: eigenpairs(A[0], 1), DataError, "two dimensions"),
        (lambda A: eigenpairs(A * np.nan, 1), DataError, "NaN"),
        (lambda A: singular_triplets(A * np.inf, 1), DataError, "NaN"),
        (lambda A: eigenpairs(aslinearoperator(A * np.nan), 1), DataError, "NaN"),
        (lambda A: eigenpairs(A.astype(complex), 1), DataError, "complex128; real numbers"),
        (lambda A: eigenpairs(A, 11), ParameterError, "k=11 is not accepted.*1 to 10"),
        (lambda A: eigenpairs(A, 0), ParameterError, "k=0"),
        (lambda A: eigenpairs(A, 2.0), ParameterError, "k=2.0"),
        (lambda A: singular_triplets(A[:4], 5), ParameterError, "k=5.*1 to 4"),
        (lambda A: eigenpairs(A, 1, method="qr"), ParameterError, "method='qr' is not accepted; give 'auto'"),
        (lambda A: singular_triplets(A, 1, method="lobpcg"), ParameterError, "method='lobpcg'"),
        (lambda A: eigenpairs(A, 1, order="size"), ParameterError, "order='size'"),
        (lambda A: eigenpairs(A, 1, tol=0.0), ParameterError, "tol=0.0"),
        (lambda A: eigenpairs(A, 1, max_iter=0), ParameterError, "max_iter=0"),
        (lambda A: eigenpairs(A, 1, random_state="x"), ParameterError, "random_state='x'"),
    ],
    ids=lambda value: "" if not isinstance(value, str) else value[:12],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(with_spectrum(np.arange(10.0)))


@pytest.mark.parametrize("method", ["krylov", "randomized"])
def test_a_callback_sees_every_step_and_the_residual_relative_to_the_tolerance(method):
    A = with_spectrum(0.7 ** np.arange(N))
    of_pairs, of_triplets = [], []
    report = eigenpairs(A, 5, method=method, tol=1e-9, hints=Hints(callback=lambda *seen: of_pairs.append(seen)))[-1]
    other = singular_triplets(A, 5, method=method, tol=1e-9, callback=lambda *seen: of_triplets.append(seen))[-1]
    for seen, said in ((of_pairs, report), (of_triplets, other)):
        assert [step for step, _ in seen] == list(range(1, said.iterations + 1))
        assert all(ratio > 1.0 for _, ratio in seen[:-1])
        assert seen[-1][1] == pytest.approx(said.residual / 1e-9)
        assert seen[-1][1] <= 1.0


def test_narrow_blocks_find_values_that_are_repeated_more_often_than_they_have_columns():
    d = np.concatenate([np.full(3, 3.0), 0.8 ** np.arange(60)])
    settings = Settings(1e-10, 400, np.random.default_rng(0), block=2)
    pairs = block_lanczos(lambda V: d[:, None] * V, len(d), 4, "magnitude", settings)
    triplets = block_golub_kahan(lambda V: d[:, None] * V, lambda U: d[:, None] * U, (len(d), len(d)), 4, settings)
    for spectrum in (pairs, triplets):
        np.testing.assert_allclose(spectrum.values, [3.0, 3.0, 3.0, 1.0], atol=1e-8)
        np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(4), atol=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_narrow_blocks_miss_no_copy_at_either_end(seed):
    rng = np.random.default_rng(seed)
    n, block = int(rng.integers(60, 300)), int(rng.integers(1, 5))
    k = int(rng.integers(block + 1, 13))
    repeated = [np.full(rng.integers(1, 9), rng.choice([-1, 1]) * rng.uniform(1, 5)) for _ in range(3)]
    rest = [rng.uniform(-0.5, 0.5, n), 0.8 ** np.arange(n), np.zeros(n)][seed % 3]
    d = np.concatenate([*repeated, rest])[:n]
    settings = Settings(1e-10, 1000, rng, block=block)

    def product(V):
        return d[:, None] * V

    assert_allclose = partial(np.testing.assert_allclose, atol=1e-8)
    largest = block_lanczos(product, n, k, "value", settings)
    assert_allclose(largest.values, np.sort(d)[::-1][:k])
    both = block_lanczos(product, n, k, "magnitude", settings)
    assert_allclose(np.abs(both.values), np.sort(np.abs(d))[::-1][:k])
    triplets = block_golub_kahan(product, product, (n, n), k, settings)
    assert_allclose(triplets.values, np.sort(np.abs(d))[::-1][:k])
    for spectrum in (largest, both, triplets):
        assert spectrum.converged
        assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(k))


def test_more_copies_than_the_widest_block_are_found():
    d = np.concatenate([np.full(110, 2.0), np.linspace(0.0, 1.0, 500)])
    operator = aslinearoperator(np.diag(d))
    values, _, report = eigenpairs(operator, 112, method="krylov")
    np.testing.assert_allclose(values, np.sort(d)[::-1][:112], rtol=1e-10)
    assert report.converged
    np.testing.assert_allclose(singular_triplets(operator, 112, method="krylov")[1], values, rtol=1e-10)


def test_too_few_iterations_to_be_sure_of_copies_give_a_warning():
    d = np.concatenate([np.full(6, 2.0), np.zeros(80)])
    hints = Hints(block=2)
    needed = eigenpairs(np.diag(d), 8, method="krylov", hints=hints)[-1].iterations
    with pytest.warns(ConvergenceWarning, match="residuals in order, but unsure whether a repeated value"):
        report = eigenpairs(np.diag(d), 8, method="krylov", max_iter=needed - 1, hints=hints)[-1]
    assert not report.converged


def test_reports_say_how_products_are_made():
    A = with_spectrum(0.7 ** np.arange(60))
    forms = [eigenpairs(form(A), 2, method="krylov")[-1].form for form in (np.asarray, sp.csr_array, aslinearoperator)]
    assert forms == ["array", "sparse", "products"]


@pytest.mark.parametrize(("memory", "method"), [(80_000, "krylov"), (100_000, "dense")])
def test_auto_makes_an_operator_an_array_if_lapack_keeps_the_memory_budget(memory, method):
    A = aslinearoperator(with_spectrum(0.8 ** np.arange(60)))  # of 29 kB, three of which LAPACK needs
    with kr.config_context(memory=memory):
        assert eigenpairs(A, 2)[-1].method == method


def test_a_decomposition_by_lapack_takes_no_iterations():
    A = with_spectrum(0.8 ** np.arange(60))
    assert eigenpairs(A, 2, method="dense")[-1].iterations == 0
    assert singular_triplets(A, 2, method="dense")[-1].iterations == 0


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (50, 50)])
def test_triplets_by_lapack_may_work_in_the_memory_of_the_matrix(shape):
    A = np.random.default_rng(0).standard_normal(shape)
    kept = A.copy()
    U, s, V, report = singular_triplets(A, 7, method="dense")
    np.testing.assert_array_equal(A, kept)
    again = singular_triplets(kept, 7, method="dense", overwrite=True)
    for one, other in zip((U, s, V), again, strict=False):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(A, kept)
    assert report.residual < 1e-13
    assert again[3].residual == np.finfo(float).eps
    np.testing.assert_allclose((U * s).T @ A, (V * s**2).T, atol=1e-11)
