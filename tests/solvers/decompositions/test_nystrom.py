"""AsymmetricNystroem: what KernelSVD gives, from a subsample."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import kernreg as kr
from kernreg.errors import DataError, MemoryBudgetWarning, ParameterError
from kernreg.metrics import singular_vector_error
from kernreg.solvers import AsymmetricNystroem, KernelSVD

RNG = np.random.default_rng(3)
X = RNG.standard_normal((300, 5)) * [3.0, 2.0, 1.5, 1.0, 0.5]
Z = RNG.standard_normal((200, 5)) * [2.0, 3.0, 1.0, 1.0, 0.5]
NEW = RNG.standard_normal((11, 5))
SNE = "sne(sigma=6.0)"


def error(found, exact):
    """η, with singular values that are not scaled."""
    scale = np.sqrt(len(exact.left_vectors_) * len(exact.right_vectors_)) if exact.scale else 1.0
    parts = exact.left_vectors_, exact.singular_values_ * scale, exact.right_vectors_
    return singular_vector_error(*parts, found.left_vectors_, found.right_vectors_)


@pytest.mark.parametrize("given", ["one", "pair"])
@pytest.mark.parametrize("spec", [SNE, "rbf(sigma=6.0)", "t(sigma=3.0)"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
def test_all_landmarks_give_kernel_svd(given, spec, center, scale):
    samples = X if given == "one" else (X, Z)
    settings = {"n_components": 4, "center": center, "scale": scale}
    exact = KernelSVD(spec, **settings).fit(samples)
    found = AsymmetricNystroem(spec, n_landmarks=1000, **settings).fit(samples)
    np.testing.assert_allclose(found.singular_values_, exact.singular_values_, rtol=1e-9)
    assert error(found, exact) < 1e-9
    for side in ("left", "right"):
        np.testing.assert_allclose(
            np.abs(found.embed(side=side)), np.abs(exact.embed(side=side)), atol=1e-8 * exact.left_scores_.max()
        )
    signs = np.sign(np.einsum("ij,ij->j", found.left_vectors_, exact.left_vectors_))
    np.testing.assert_allclose(found.transform(NEW), exact.transform(NEW) * signs, atol=1e-8)
    np.testing.assert_allclose(found.transform_right(NEW), exact.transform_right(NEW) * signs, atol=1e-8)


@pytest.mark.parametrize("normalizers", ["exact", "estimate"])
@pytest.mark.parametrize("orthogonalize", [True, False])
@pytest.mark.parametrize("given", ["one", "pair"])
def test_scores_of_the_training_samples_are_those_of_transform(given, orthogonalize, normalizers):
    left, right = (X, X) if given == "one" else (X, Z)
    model = AsymmetricNystroem(SNE, 3, n_landmarks=(60, 40), orthogonalize=orthogonalize, normalizers=normalizers).fit(
        X if given == "one" else (X, Z)
    )
    np.testing.assert_allclose(model.transform(left), model.left_scores_, atol=1e-10)
    np.testing.assert_allclose(model.transform_right(right), model.right_scores_, atol=1e-10)
    factor = np.sqrt(len(left) * len(right))
    np.testing.assert_allclose(model.left_scores_, model.left_vectors_ * model.singular_values_ * factor, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(model.right_vectors_, axis=0), 1.0, rtol=1e-10)
    assert (len(model.row_landmarks_), len(model.column_landmarks_)) == (60, 40)


def test_orthogonal_triplets_are_closer_than_extended_ones():
    exact = KernelSVD(SNE, 4).fit(X)
    errors = {True: [], False: []}
    for seed in range(5):
        for way, found in errors.items():
            model = AsymmetricNystroem(SNE, 4, n_landmarks=60, orthogonalize=way, random_state=seed).fit(X)
            found.append(error(model, exact))
    assert np.median(errors[True]) < 0.2 * np.median(errors[False])
    assert np.median(errors[True]) < 0.005


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans++", "leverage", "entropy", ("uniform", "leverage")])
def test_every_choice_of_landmarks_approximates(landmarks):
    exact = KernelSVD(SNE, 3).fit((X, Z))
    model = AsymmetricNystroem(SNE, 3, n_landmarks=80, landmarks=landmarks).fit((X, Z))
    assert error(model, exact) < 0.01
    assert model.row_landmarks_.max() < 300
    assert model.column_landmarks_.max() < 200


def test_given_landmarks_are_taken():
    rows, columns = np.arange(0, 300, 4), np.arange(0, 200, 5)
    model = AsymmetricNystroem(SNE, 2, landmarks=(rows, columns)).fit((X, Z))
    assert np.array_equal(model.row_landmarks_, rows)
    assert np.array_equal(model.column_landmarks_, columns)
    one = AsymmetricNystroem(SNE, 2, landmarks=rows).fit(X)
    assert np.array_equal(one.row_landmarks_, one.column_landmarks_)


def test_a_symmetric_kernel_on_one_sample_set_has_one_set_of_landmarks():
    model = AsymmetricNystroem("rbf(sigma=6.0)", 3, n_landmarks=50).fit(X)
    assert np.array_equal(model.row_landmarks_, model.column_landmarks_)
    np.testing.assert_allclose(model.left_vectors_, model.right_vectors_, atol=1e-8)
    asymmetric = AsymmetricNystroem(SNE, 3, n_landmarks=50).fit(X)
    assert not np.array_equal(asymmetric.row_landmarks_, asymmetric.column_landmarks_)


def test_estimated_normalisers_change_little():
    exact = KernelSVD(SNE, 3).fit(X)
    models = [AsymmetricNystroem(SNE, 3, n_landmarks=80, normalizers=way).fit(X) for way in ("exact", "estimate")]
    assert [model.solver_report_.normalizers for model in models] == ["exact", "estimate"]
    assert models[0].solver_report_.normalizer_error == 0.0
    assert 0.0 < models[1].solver_report_.normalizer_error < 0.05
    assert abs(error(models[0], exact) - error(models[1], exact)) < 0.002
    np.testing.assert_allclose(models[1].transform(NEW), models[0].transform(NEW), atol=0.02)
    # The model of the second way holds landmarks only.
    assert models[1].kernel_.reference.shape[0] == 80
    assert models[0].kernel_.reference.shape[0] == 300


def test_normalisers_that_cannot_be_estimated_are_reported():
    with pytest.warns(ConvergenceWarning, match=r"estimated with an error of about \d+ %.*normalizers='exact'"):
        AsymmetricNystroem("sne(sigma=0.3)", 2, n_landmarks=40, normalizers="estimate").fit(X)


# Growth ------------------------------------------------------------------------------------------------------


def test_a_tolerance_lets_the_landmarks_grow():
    model = AsymmetricNystroem(SNE, 3, n_landmarks=20, tol=1e-3).fit(X)
    report = model.solver_report_
    assert report.converged
    assert report.tolerance == 1e-3
    assert report.eta <= 1e-3
    assert len(report.levels) == model.n_iter_ >= 2
    assert report.levels[0].rows == 20
    assert len(model.row_landmarks_) == report.rows
    assert error(model, KernelSVD(SNE, 3).fit(X)) < 2e-3


def test_a_bound_on_the_landmarks_gives_a_warning():
    with pytest.warns(ConvergenceWarning, match=r"estimated error η is .* with 60 and 40 landmarks.*max_landmarks"):
        model = AsymmetricNystroem("sne(sigma=1.0)", 3, n_landmarks=20, tol=1e-8, max_landmarks=(60, 40)).fit(X)
    assert not model.solver_report_.converged


def test_directions_that_the_subsample_does_not_have_are_zero_and_said():
    K = np.zeros((400, 400))
    K[:300, :300] = 1.0
    kernel = kr.make_kernel("precomputed", K=K)
    with pytest.warns(ConvergenceWarning, match="1 of 3 directions were found"):
        model = AsymmetricNystroem(kernel, 3, n_landmarks=50, center=False).fit(np.arange(400))
    np.testing.assert_allclose(model.singular_values_, [300 / 400, 0.0, 0.0], atol=1e-12)
    assert not model.left_vectors_[:, 1:].any()
    assert not model.transform(np.arange(5))[:, 1:].any()


# Samples -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalizers", ["exact", "estimate"])
def test_sparse_samples_give_what_dense_ones_give(normalizers):
    A = sp.random_array((400, 300), density=0.01, rng=np.random.default_rng(0), format="csr")
    B = sp.random_array((250, 300), density=0.01, rng=np.random.default_rng(1), format="csr")
    settings = {"n_components": 2, "n_landmarks": 150, "normalizers": normalizers}
    sparse = AsymmetricNystroem("sne(sigma=1.5)", **settings).fit((A, B))
    dense = AsymmetricNystroem("sne(sigma=1.5)", **settings).fit((A.toarray(), B.toarray()))
    np.testing.assert_allclose(sparse.singular_values_, dense.singular_values_, rtol=1e-8)
    np.testing.assert_allclose(sparse.transform(A), dense.left_scores_, atol=1e-8)
    np.testing.assert_allclose(sparse.transform_right(B), dense.right_scores_, atol=1e-8)


@pytest.mark.parametrize("normalizers", ["exact", "estimate"])
def test_float32_samples_give_float32_results(normalizers):
    single = AsymmetricNystroem(SNE, 3, n_landmarks=80, normalizers=normalizers).fit(X.astype(np.float32))
    double = AsymmetricNystroem(SNE, 3, n_landmarks=80, normalizers=normalizers).fit(X)
    for name in ("singular_values_", "left_vectors_", "right_vectors_", "left_scores_"):
        assert getattr(single, name).dtype == np.float32
        np.testing.assert_allclose(getattr(single, name), getattr(double, name), atol=1e-4)
    assert single.transform(NEW.astype(np.float32)).dtype == np.float32


def test_pandas_in_and_out():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = AsymmetricNystroem(SNE, 2, n_landmarks=50).set_output(transform="pandas").fit(frame)
    out = model.transform(frame)
    assert list(out.columns) == ["left0", "left1"]
    assert model.get_feature_names_out(side="both").tolist() == ["left0", "left1", "right0", "right1"]
    np.testing.assert_allclose(out.to_numpy(), model.left_scores_, atol=1e-10)


def test_a_data_matrix_with_compatibility():
    A = np.abs(RNG.standard_normal((150, 80)))
    for name in ("a0", "a1", "a2"):
        exact = KernelSVD("rbf(sigma=20.0)", 3, compatibility=name).fit(A)
        found = AsymmetricNystroem("rbf(sigma=20.0)", 3, compatibility=name, n_landmarks=150).fit(A)
        np.testing.assert_allclose(found.singular_values_, exact.singular_values_, rtol=1e-8)
        np.testing.assert_allclose(found.transform_right(A.T), found.right_scores_, atol=1e-9)
    with pytest.raises(ParameterError, match="compatibility='a3' is not accepted"):
        AsymmetricNystroem(compatibility="a3").fit(A)
    with pytest.raises(DataError, match=r"5 and 4 features.*compatibility"):
        AsymmetricNystroem().fit((X, Z[:, :4]))


def test_kernels_of_indices():
    K = RNG.random((90, 70))
    model = AsymmetricNystroem(kr.make_kernel("precomputed", K=K), 3, n_landmarks=90, scale=False)
    model.fit((np.arange(90), np.arange(70)))
    J = K - K.mean(axis=0)
    np.testing.assert_allclose(
        model.singular_values_, np.linalg.svd(J - J.mean(axis=1, keepdims=True))[1][:3], rtol=1e-10
    )


def test_transposed_kernels_are_normalised_by_columns():
    k = kr.make_kernel(SNE)
    for way in ("exact", "estimate"):
        model = AsymmetricNystroem(k, 3, landmarks=(np.arange(90), np.arange(70)), normalizers=way).fit((X, Z))
        turned = AsymmetricNystroem(k.T, 3, landmarks=(np.arange(70), np.arange(90)), normalizers=way).fit((Z, X))
        np.testing.assert_allclose(turned.singular_values_, model.singular_values_, rtol=1e-9)
        signs = np.sign(np.einsum("ij,ij->j", turned.left_vectors_, model.right_vectors_))
        np.testing.assert_allclose(turned.left_scores_, model.right_scores_ * signs, atol=1e-8)
        np.testing.assert_allclose(turned.transform(NEW), model.transform_right(NEW) * signs, atol=1e-8)
        np.testing.assert_allclose(turned.transform_right(NEW), model.transform(NEW) * signs, atol=1e-8)


# Around it ---------------------------------------------------------------------------------------------------


def test_the_solver_is_registered_and_searched():
    model = kr.make_solver("nystrom", kernel=SNE, n_components=3, n_landmarks=50)
    assert isinstance(model, AsymmetricNystroem)
    y = (X[:, 0] > 0).astype(int)
    pipeline = make_pipeline(model, kr.make_solver("ls-svm", kernel="linear", gamma=100.0))
    search = GridSearchCV(pipeline, {"asymmetricnystroem__kernel__sigma": [2.0, 6.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("normalizers", ["exact", "estimate"])
def test_a_saved_model_gives_the_same_scores(tmp_path, normalizers):
    model = AsymmetricNystroem(kr.make_kernel(SNE).T, 2, n_landmarks=50, normalizers=normalizers).fit((X, Z))
    kr.save(model, tmp_path / "model.kern")
    for loaded in (kr.load(tmp_path / "model.kern"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(loaded.transform(NEW), model.transform(NEW))
        assert np.array_equal(loaded.transform_right(NEW), model.transform_right(NEW))
        assert loaded.solver_report_ == model.solver_report_ or np.isnan(model.solver_report_.eta)


def test_the_same_seed_gives_the_same_result():
    first, again, other = (AsymmetricNystroem(SNE, 2, n_landmarks=50, random_state=s).fit(X) for s in (1, 1, 2))
    assert np.array_equal(first.left_vectors_, again.left_vectors_)
    assert not np.array_equal(first.row_landmarks_, other.row_landmarks_)


def test_memory_stays_within_the_budget():
    with kr.config_context(memory="3MB"):
        small = AsymmetricNystroem(SNE, 3, n_landmarks=60).fit(X)
    np.testing.assert_allclose(
        small.singular_values_, AsymmetricNystroem(SNE, 3, n_landmarks=60).fit(X).singular_values_, rtol=1e-9
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"landmarks": "entropy", "n_landmarks": 60},
        {"landmarks": "leverage"},
        {"tol": 1e-9},
        {"normalizers": "estimate", "kernel": SNE},
    ],
    ids=["default", "entropy", "leverage", "tolerance", "estimate"],
)
def test_no_number_depends_on_the_memory_budget(settings):
    # Entropy holds the matrix of its candidates; a tolerance that is not reached takes all samples, and says so.
    n = 1200 if "tol" in settings or settings.get("landmarks") == "entropy" else 12000
    samples = np.random.default_rng(0).standard_normal((n, 4))
    models = []
    for memory in ("8GB", "1GB", "30MB"):
        with kr.config_context(memory=memory), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if "tol" in settings:
                warnings.simplefilter("ignore", MemoryBudgetWarning)
            models.append(
                AsymmetricNystroem(**{"kernel": "rbf(sigma=4.0)", "n_components": 20, **settings}).fit(samples)
            )
    first = models[0]
    for model in models[1:]:
        assert model.solver_report_.rank == first.solver_report_.rank
        assert np.array_equal(model.row_landmarks_, first.row_landmarks_)
        np.testing.assert_allclose(model.singular_values_, first.singular_values_, rtol=1e-12)
        np.testing.assert_allclose(model.transform(samples[:9]), first.transform(samples[:9]), atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components=0 is not accepted"),
        ({"n_components": 301}, "n_components=301 is not accepted"),
        ({"n_components": None}, "n_components=None is not accepted"),
        ({"n_components": 30, "n_landmarks": 20}, "n_components=30 is more than the landmarks, 20 rows and 20"),
        ({"n_landmarks": 0}, r"n_landmarks=0 is not accepted; give a positive integer, a tuple of two"),
        ({"n_landmarks": 2.5}, r"n_landmarks=2.5 is not accepted"),
        ({"n_landmarks": (5, 5, 5)}, r"n_landmarks=\(5, 5, 5\) is not accepted"),
        ({"max_landmarks": -1, "tol": 0.1}, "max_landmarks=-1 is not accepted"),
        ({"n_landmarks": 50, "max_landmarks": 20, "tol": 0.1}, "max_landmarks=20 is less than n_landmarks=50"),
        ({"landmarks": "best"}, r"landmarks='best'; accepted are 'uniform'"),
        ({"landmarks": [0, 0]}, "landmark indices must be different"),
        ({"landmarks": [0, 1], "n_components": 3}, "more than the landmarks, 2 rows and 2 columns"),
        ({"landmarks": np.arange(50), "tol": 0.1}, "tol lets the landmarks grow, and their indices were given"),
        ({"tol": 0.0}, "tol=0.0 is not accepted"),
        ({"tol": "small"}, "tol='small' is not accepted"),
        ({"center": 1}, "center=1 is not accepted"),
        ({"orthogonalize": "yes"}, "orthogonalize='yes' is not accepted"),
        ({"normalizers": "none"}, "normalizers='none' is not accepted"),
        ({"normalizers": "estimate", "kernel": "rbf"}, "'rbf' is not one"),
        ({"svd_solver": "operator"}, "svd_solver='operator' is not accepted"),
        ({"random_state": "seed"}, "random_state='seed'"),
    ],
)
def test_errors_say_what_is_accepted(settings, message):
    with pytest.raises(ParameterError, match=message):
        AsymmetricNystroem(**{"kernel": SNE, **settings}).fit(X)


def test_data_that_cannot_be_decomposed():
    with pytest.raises(DataError, match="leaves nothing to decompose"):
        AsymmetricNystroem("rbf(sigma=1.0)", 1).fit(np.ones((20, 3)))
    with pytest.raises(ValueError, match="NaN"):
        AsymmetricNystroem().fit(np.array([[1.0], [np.nan]]))
    with pytest.raises(NotFittedError):
        AsymmetricNystroem().transform_right(X)
    model = AsymmetricNystroem(SNE, 2).fit((X, Z))
    with pytest.raises(DataError, match="Z has 4 features; right samples have 5"):
        model.transform_right(Z[:, :4])


def test_a_list_of_two_sample_sets_is_not_a_pair():
    with pytest.raises(DataError, match="X is a list of 2 tables; two sample sets are given as a tuple of two"):
        AsymmetricNystroem(SNE, 2).fit([X, Z])


def test_growth_begins_below_its_bound_so_that_there_is_an_estimate():
    with pytest.warns(ConvergenceWarning, match="the estimated error η is 0"):
        model = AsymmetricNystroem(SNE, 3, tol=1e-12, max_landmarks=60).fit(X)
    assert [level.rows for level in model.solver_report_.levels] == [30, 60]
    with pytest.warns(ConvergenceWarning, match="η is unknown from one size"):
        AsymmetricNystroem(SNE, 3, tol=1e-12, n_landmarks=60, max_landmarks=60).fit(X)


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")  # that is the subject
def test_a_kernel_with_infinite_values_is_refused_without_a_warning_of_numpy():
    with pytest.raises(DataError, match="the kernel is inf between sample"):
        AsymmetricNystroem("linear", 2).fit(1e160 * X)


def test_repeated_singular_values_span_the_right_space():
    # Four equal clusters: three equal singular values once centred, whose space is unique and whose vectors are not.
    centres = 50.0 * np.eye(4)
    samples = np.repeat(centres, 25, axis=0)
    exact = KernelSVD("rbf(sigma=10.0)", 3).fit(samples)
    model = AsymmetricNystroem("rbf(sigma=10.0)", 3, n_landmarks=40).fit(samples)
    np.testing.assert_allclose(model.singular_values_, exact.singular_values_, rtol=1e-8)
    cosines = np.linalg.svd(model.left_vectors_.T @ exact.left_vectors_)[1]
    np.testing.assert_allclose(cosines, 1.0, atol=1e-8)


def test_landmarks_in_lists_of_different_lengths_are_refused():
    with pytest.raises(ParameterError, match="landmarks="):
        kr.make_solver("nystrom", landmarks=[[1], [2, 3]]).fit(np.random.default_rng(0).normal(size=(30, 4)))
