"""Kernels of structured samples: packing, and everything that a kernel and a solver do with what is packed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict

import kernreg as kr
from kernreg import kernel, registry
from kernreg.errors import DataError, ParameterError
from kernreg.kernels import PackedSamples, Ragged, compose, positive, spectrum, symmetrize, width
from kernreg.kernels.domains import value_key
from kernreg.kernels.samples import identical_pairs, same_samples
from kernreg.kernels.sharing import digest, shared_matrices
from kernreg.solvers import LSSVC, LSSVR, SCGLDK, AsKLSClassifier, KernelPCA, KernelSVD
from kernreg.testing import kernel_checks, parametrize_with_checks

series = Ragged("ragged", "series")
represented: list[int] = []


def _moments(samples, sigma, skew):
    represented.append(len(samples))
    return np.array([x.mean() for x in samples]), samples.lengths.astype(float)


def _spread(samples, weights, parameters):
    counts = np.ones(len(samples)) if weights is None else weights
    return float(np.sqrt(np.average(samples.values[:, 0] ** 2, weights=np.repeat(counts, samples.lengths))))


def _example(rng, n):
    return moments(sigma=1.0), [rng.normal(size=(int(rng.integers(1, 6)), 2)) for _ in range(n)]


@kernel(
    of="blocks",
    inputs=series,
    represent=_moments,
    learn={"sigma": _spread},
    parameters={"sigma": width, "skew": positive},
    block=8,
    example=_example,
)
def moments(X, Z, sigma="scale", skew=1.0):
    """exp(-(mean x - mean z)² / sigma²) length(x)^skew / length(z)."""
    (x, n), (z, m) = X, Z
    return np.exp(-((x[:, None] - z) ** 2) / sigma**2) * n[:, None] ** skew / m


@kernel(
    of="blocks", inputs=series, symmetric=True, definite=True, example=lambda rng, n: (total(), _example(rng, n)[1])
)
def total(X, Z):
    """Σ x · Σ z: the function sees packed samples."""
    return np.outer(*([x.sum() for x in side] for side in (X, Z)))


def naive(X, Z, sigma, skew=1.0):
    return np.array(
        [[np.exp(-((x.mean() - z.mean()) ** 2) / sigma**2) * len(x) ** skew / len(z) for z in Z] for x in X]
    )


@pytest.fixture(autouse=True)
def _registered():
    with registry.isolated():
        kr.register("kernel", "moments-of-tests", moments)
        kr.register("kernel", "total-of-tests", total)
        yield


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(int(rng.integers(2, 9)), 2)) + (i % 2) for i in range(40)]
    return X, np.arange(40) % 2


@parametrize_with_checks(
    [moments, total, *kernel_checks(moments(skew=0.5), samples=lambda rng, n: _example(rng, n)[1])]
)
def test_laws(check):
    check()


def test_values_are_those_of_the_formula_in_every_form(problem):
    X, _ = problem
    k, Z = moments(sigma=0.7, skew=0.5), X[:17]
    K = naive(X, Z, 0.7, 0.5)
    np.testing.assert_allclose(k(X, Z), K, rtol=1e-13)
    np.testing.assert_allclose(k(X), naive(X, X, 0.7, 0.5), rtol=1e-13)
    np.testing.assert_allclose(k.operator(X, Z) @ np.eye(17), K, rtol=1e-13)
    np.testing.assert_allclose(k.diagonal(X), np.diag(naive(X, X, 0.7, 0.5)), rtol=1e-13)
    np.testing.assert_allclose(k.rows(X, Z, 3, 9), K[3:9], rtol=1e-13)
    np.testing.assert_allclose(np.vstack([block for _, block in k.blocks(X, Z, block_rows=7)]), K, rtol=1e-13)
    np.testing.assert_allclose(k.product(X, Z, np.arange(17.0)), K @ np.arange(17.0), rtol=1e-12)
    np.testing.assert_allclose(k.map_rows(X, Z, _row_sums), K.sum(axis=1), rtol=1e-12)


def _row_sums(rows, block):
    return block.sum(axis=1)


def test_combinations_see_one_packed_set(problem):
    X, _ = problem
    a, b = moments(sigma=0.7), moments(sigma=2.0)
    A, B = naive(X, X, 0.7), naive(X, X, 2.0)
    assert isinstance((a + 2.0 * b).check_samples(X), PackedSamples)
    np.testing.assert_allclose((a + 2.0 * b)(X), A + 2.0 * B, rtol=1e-13)
    np.testing.assert_allclose((a * b**2)(X), A * B**2, rtol=1e-13)
    np.testing.assert_allclose(a.T(X[:5], X), A[:, :5].T, rtol=1e-13)
    np.testing.assert_allclose(symmetrize(a, "mean")(X), (A + A.T) / 2, rtol=1e-13)
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    flipped = spectrum(symmetrize(a, "mean"), "flip").bind(X)(X)
    np.testing.assert_allclose(flipped, vectors * abs(values) @ vectors.T, atol=1e-9)


def test_a_table_and_a_structure_share_samples():
    X = np.random.default_rng(0).normal(size=(12, 4, 2))
    flat = compose("rbf(sigma=3.0)", _flat)
    K = (moments(sigma=1.0) + flat)(X)
    rbf = np.exp(-((X[:, None] - X).reshape(12, 12, -1) ** 2).sum(axis=2) / 9.0)
    np.testing.assert_allclose(K, naive(X, X, 1.0) + rbf, rtol=1e-12)


def _flat(X):
    return np.asarray(X).reshape(len(X), -1)


def test_words_become_numbers_of_the_training_samples(problem):
    X, _ = problem
    expected = np.sqrt(np.mean(np.concatenate(X)[:, 0] ** 2))
    assert moments().bind(X).sigma == pytest.approx(expected, rel=1e-14)
    np.testing.assert_allclose(moments()(X[:5], X), naive(X[:5], X, expected), rtol=1e-13)
    weights = np.arange(40) % 3
    copies = [x for x, count in zip(X, weights, strict=True) for _ in range(count)]
    assert moments().resolve_widths(X, weights).sigma == pytest.approx(moments().bind(copies).sigma, rel=1e-13)
    with pytest.raises(ParameterError, match="bind"):
        moments().scalar(X[0], X[1])
    with pytest.raises(ParameterError, match="there are none"):
        moments().bind([])


def test_a_sample_set_is_represented_once(problem):
    X, _ = problem
    k = moments(sigma=1.0)
    packed = k.check_samples(X)
    represented.clear()
    k(packed)
    list(k.blocks(packed, block_rows=5))
    k.operator(packed) @ np.ones(40)
    k(packed[5:9], packed[[3, 1]])  # parts of it
    assert represented == [40]
    moments(sigma=2.0)(packed)
    assert represented == [40, 40]


def test_packed_samples_are_cut_as_lists_are(problem):
    X, _ = problem
    packed = series.samples(X)
    for rows in (slice(3, 11), slice(None, None, -2), np.array([7, 7, 0]), np.arange(40) % 3 == 0, slice(5, 5), []):
        chosen = np.arange(40)[rows if not isinstance(rows, list) else np.array(rows, dtype=int)]
        cut = packed[rows if not isinstance(rows, list) else np.array(rows, dtype=int)]
        assert len(cut) == len(chosen)
        for one, number in zip(cut, chosen, strict=True):
            np.testing.assert_array_equal(one, X[number])
    np.testing.assert_array_equal(packed[-1], X[-1])
    with pytest.raises(IndexError):
        packed[40]
    assert not packed.values.flags.writeable
    assert packed.copy() is packed


def test_packed_samples_are_hashed_compared_and_pickled_by_contents(problem):
    X, _ = problem
    a, b, c = series.samples(X), series.samples([x.copy() for x in X]), series.samples([*X[:-1], X[-1] + 1.0])
    again = pickle.loads(pickle.dumps(a))
    for other, same in ((b, True), (again, True), (c, False), (a[:-1], False)):
        assert same_samples(a, other) is same
        assert (digest(a) == digest(other)) is same
        assert (value_key(a) == value_key(other)) is same
    assert not same_samples(a, np.eye(3))
    assert not same_samples(a, PackedSamples("other", a.values, a.offsets))
    rows, columns = identical_pairs(a, a[[3, 5]])
    assert rows.tolist() == [3, 5]
    assert columns.tolist() == [0, 1]
    with shared_matrices() as store:
        moments(sigma=1.0)(a)
        moments(sigma=1.0)(b)
    assert (store.evaluated, store.reused) == (1, 1)


SOLVERS = {
    "ls-svm": LSSVC(kernel="total-of-tests"),
    "ask-ls": AsKLSClassifier(kernel="moments-of-tests"),
    "loo": AsKLSClassifier(kernel=moments(sigma=1.0) + 0.5 * moments(sigma=2.0), gamma="loo"),
    "iterative": AsKLSClassifier(kernel="moments-of-tests", strategy="iterative", gamma=1.0, ensembler="average"),
    "lowrank": LSSVC(kernel="total-of-tests", strategy="lowrank", n_landmarks=9),
    "ls-svr": LSSVR(kernel="total-of-tests"),
    "scg-ldk": SCGLDK(kernel="total-of-tests"),
}


def answers(solver, X):
    return solver.predict(X) if hasattr(solver, "predict") else solver.transform(X)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_fit_predict_and_come_back_from_files(name, problem, tmp_path):
    X, y = problem
    new = [x.copy() for x in X[5:9]]
    solver = SOLVERS[name].fit(X, y)
    expected = answers(solver, new)
    for x in X:  # the caller's own arrays: the model has others
        x += 100.0
    kr.save(solver, tmp_path / "model.kern")
    for restored in (solver, kr.load(tmp_path / "model.kern"), pickle.loads(pickle.dumps(solver))):
        np.testing.assert_array_equal(answers(restored, new), expected)


def test_decompositions_equal_those_of_the_matrix(problem):
    X, _ = problem
    K = np.outer(*[[x.sum() for x in X]] * 2)
    pca = KernelPCA(kernel=total(), n_components=1).fit(X)
    matrix = KernelPCA(kernel=kr.make_kernel("precomputed", K=K), n_components=1).fit(np.arange(40))
    np.testing.assert_allclose(abs(pca.transform(X)), abs(matrix.transform(np.arange(40))), rtol=1e-9, atol=1e-9)
    held = kr.make_kernel("precomputed", K=naive(X, X, 1.0))
    for samples, numbers in ((X, np.arange(40)), ((X[:25], X[25:]), (np.arange(25), np.arange(25, 40)))):
        svd = KernelSVD(kernel=moments(sigma=1.0), n_components=2).fit(samples)
        matrix = KernelSVD(kernel=held, n_components=2).fit(numbers)
        np.testing.assert_allclose(svd.singular_values_, matrix.singular_values_, rtol=1e-9)
        np.testing.assert_allclose(abs(svd.transform(X[:3])), abs(matrix.transform(np.arange(3))), rtol=1e-7, atol=1e-9)


def test_a_pair_of_lists_is_a_pair_of_sample_sets(problem):
    X, y = problem
    model = AsKLSClassifier(kernel=moments(sigma=1.0)).fit((X, X[::-1]), y)
    held = AsKLSClassifier(kernel=kr.make_kernel("precomputed", K=naive(X, X, 1.0)))
    numbers = np.arange(40)
    held.fit((numbers, numbers[::-1]), y)
    for name, view in model.decision_views((X[:4], X[4:8])).items():
        expected = held.decision_views((numbers[:4], numbers[4:8]))[name]
        np.testing.assert_allclose(view, expected, rtol=1e-7, atol=1e-9)


def test_searches_and_chains_take_lists(problem):
    X, y = problem
    grid = {"kernel__sigma": [0.5, 2.0], "gamma": [1.0]}
    search = GridSearchCV(AsKLSClassifier(kernel=moments()), grid, cv=3).fit(X, y)
    assert search.best_params_["kernel__sigma"] in (0.5, 2.0)
    of_lists = cross_val_predict(LSSVC(kernel=total()), X, y, cv=4)
    of_packed = cross_val_predict(LSSVC(kernel=total()), series.samples(X), y, cv=4)
    np.testing.assert_array_equal(of_lists, of_packed)
    chain = kr.make_chain(KernelSVD(kernel=moments(sigma=1.0), n_components=3), "ls-svm(kernel='linear')").fit(X, y)
    assert chain.predict(X[:3]).shape == (3,)


def test_another_engine_gives_the_same_numbers(problem):
    from kernreg.engine import Engine, HeldSamples, RowTask, aligned_chunks, borders, combined, cut, run_chunk, whole

    class Chunked(Engine):
        def place(self, samples, check=None):
            if isinstance(samples, HeldSamples):
                return samples
            return HeldSamples(samples, check, aligned_chunks(samples.shape[0], 4))

        def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
            X, other = self.place(X), whole(X if Z is None else Z)
            task = pickle.loads(pickle.dumps(RowTask.of(kernel, function, combine, len(X), len(other), Z is None)))
            args = tuple(whole(arg) for arg in args)
            parts = [run_chunk(task, X[a:b], other, cut(args, slice(a, b)), a) for a, b in borders(X.chunks)]
            return combined(parts, combine)

    X, y = problem
    expected = moments()(X), AsKLSClassifier(kernel="moments-of-tests").fit(X, y).predict(X)
    with kr.config_context(engine=Chunked()):
        np.testing.assert_allclose(moments()(X), expected[0], rtol=1e-13)
        np.testing.assert_array_equal(AsKLSClassifier(kernel="moments-of-tests").fit(X, y).predict(X), expected[1])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([[1.0, 2.0], []], r"X\[1\] is empty"),
        ([np.zeros((2, 3)), np.zeros((2, 2))], "all samples have the same features"),
        ([[1.0, np.nan]], r"X\[0\] contains NaN"),
        ([["a", "b"]], "dtype"),
        ([np.zeros((2, 2, 2))], "shape"),
        (np.zeros((3, 4)), "accepted are series"),
        ({"a": [1.0]}, "is a dict"),
        ([np.ma.masked_array([1.0, 2.0], [True, False])], "masked"),
        ([[2**60 + 1]], r"2\*\*53"),
        (5, "is a int"),
    ],
)
def test_wrong_samples_are_refused(wrong, said):
    with pytest.raises(DataError, match=said):
        moments(sigma=1.0)(wrong)


def test_wrong_pairs_and_kinds_are_refused(problem):
    X, y = problem
    with pytest.raises(DataError, match="same features"):
        moments(sigma=1.0)(X, [[1.0, 2.0]])
    with pytest.raises(DataError, match="packed samples of the kind 'other'"):
        moments(sigma=1.0)(PackedSamples("other", np.eye(2)))
    with pytest.raises(DataError, match="no samples"):
        AsKLSClassifier(kernel=moments(sigma=1.0)).fit([], [])
    with pytest.raises(ValueError, match="inconsistent"):
        AsKLSClassifier(kernel=moments(sigma=1.0)).fit(X, y[:-1])
    with pytest.raises(DataError, match="X is a pair"):
        LSSVC(kernel=total()).fit((X[:20], X[20:]), y[:20])
    with pytest.raises(ParameterError, match="kmeans"):
        LSSVC(kernel=total(), strategy="lowrank", n_landmarks=9, landmarks="kmeans++").fit(X, y)
    for offsets in ([0, 3], [1, 2], [0, 2, 1, 2]):
        with pytest.raises(DataError, match="offsets"):
            PackedSamples("ragged", np.zeros((2, 1)), np.array(offsets))
    with pytest.raises(DataError, match="hold float64"):
        PackedSamples("ragged", np.zeros(2))


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"of": "rows", "inputs": series}, "of='blocks'"),
        ({"of": "blocks", "inputs": series, "normalize": "rows"}, "without normalize="),
        ({"of": "blocks", "inputs": series, "block": 1000, "example": _example}, "block=1000"),
        ({"of": "blocks", "inputs": series, "block": 0, "example": _example}, "block=0"),
        ({"of": "blocks", "represent": _moments}, "need a Structure"),
        ({"of": "blocks", "inputs": "lists"}, "and a Structure"),
    ],
)
def test_declarations_that_do_not_go_together_are_refused(declared, said):
    with pytest.raises(ParameterError, match=said):

        @kernel(**declared)
        def wrong(X, Z):
            """Nothing."""


def test_packed_samples_may_be_empty():
    samples = PackedSamples("ragged", np.ones((2, 1)), np.array([0, 0, 2]))
    assert samples.lengths.tolist() == [0, 2]


def test_blocks_may_be_of_one_sample():
    _, X = _example(np.random.default_rng(0), 5)

    @kernel(of="blocks", inputs=series, block=1, example=_example)
    def one_at_a_time(X, Z):
        """Σ x · Σ z."""
        sums = [x.sum() for x in X], [z.sum() for z in Z]
        return np.outer(*sums)

    assert one_at_a_time()(X) == pytest.approx(np.outer(*2 * [[x.sum() for x in X]]))


def test_kernels_of_a_notebook_travel_by_value():
    namespace = {"__name__": "__main__", "series": series}
    source = '''
import numpy as np
from kernreg import kernel

def example(rng, n):
    return firsts(), [rng.normal(size=3) for _ in range(n)]

@kernel(of="blocks", inputs=series, represent=lambda s: (np.array([x[0, 0] for x in s]),), example=example)
def firsts(X, Z):
    """x_1 z_1."""
    return np.outer(X[0], Z[0])
'''
    exec(source, namespace)
    k = namespace["firsts"]()
    again = pickle.loads(pickle.dumps(k))
    assert again == k
    assert again([[2.0, 1.0]], [[3.0]]).tolist() == [[6.0]]

    @kernel(of="blocks", inputs=series)
    def without(X, Z):
        """Nothing."""

    with pytest.raises(ParameterError, match="example="):
        without.example(np.random.default_rng(0), 3)


def test_forged_offsets_are_refused(problem, tmp_path):
    from kernreg.persistence.decode import Decoder

    arrays = [np.zeros((4, 1)), np.array([0, 9])]
    content = {"structure": "ragged", "values": {"array": 0}, "offsets": {"array": 1}, "about": {"dict": {}}}
    with pytest.raises(DataError, match="offsets"):
        Decoder(arrays, []).decode({"packed": content})
    arrays[1] = np.array([0, 4])
    assert len(Decoder(arrays, []).decode({"packed": content})) == 1
