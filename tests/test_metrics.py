"""Measures against formulas written out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score, normalized_mutual_info_score

from kernreg import metrics
from kernreg.datasets import make_documents
from kernreg.errors import DataError


def naive_pmi(X):
    C = X.T @ X
    total = C.sum()
    found = np.zeros(C.shape)
    for s in range(len(C)):
        for t in range(len(C)):
            if C[s, t] > 0:
                found[s, t] = np.log((C[s, t] / total) / ((C[s].sum() / total) * (C[t].sum() / total)))
    return found


def naive_coherence(X, labels):
    information, total = naive_pmi(X), 0.0
    for c in set(labels.tolist()):
        inside, outside = np.flatnonzero(labels == c), np.flatnonzero(labels != c)
        intra = np.mean([information[s, t] for s in inside for t in inside])
        inter = np.mean([information[s, t] for s in inside for t in outside])
        total += (intra - inter) * len(inside) / len(labels)
    return total


@pytest.fixture(scope="module")
def documents():
    A, _, terms = make_documents(80, 30, 3, random_state=2)
    return A, terms


def test_pmi_is_the_log_ratio_of_probabilities(documents):
    A, _ = documents
    for X in (A, A.toarray(), sp.csc_matrix(A)):
        np.testing.assert_allclose(metrics.pmi(X), naive_pmi(A.toarray()), atol=1e-12)


def test_pmi_of_terms_that_never_meet_or_never_occur_is_zero():
    found = metrics.pmi([[1, 0, 0], [0, 1, 0]])
    assert np.count_nonzero(found) == 2
    assert found[0, 0] == pytest.approx(np.log(2))


def test_coherence_is_the_weighted_mean_over_clusters(documents):
    A, terms = documents
    rng = np.random.default_rng(0)
    for labels in (terms, rng.integers(4, size=30), np.arange(30)):
        assert metrics.coherence(A, labels) == pytest.approx(naive_coherence(A.toarray(), labels), abs=1e-12)
    assert metrics.coherence(A, terms) > metrics.coherence(A, rng.permutation(terms)) + 0.2


def test_coherence_does_not_depend_on_names_of_clusters_or_scale(documents):
    A, terms = documents
    named = np.array(["x", "y", "z"])[terms]
    assert metrics.coherence(7.5 * A, named) == pytest.approx(metrics.coherence(A, terms), abs=1e-12)


def test_coherence_refuses_what_it_cannot_mean(documents):
    A, terms = documents
    with pytest.raises(DataError, match="one cluster only"):
        metrics.coherence(A, np.zeros(30))
    with pytest.raises(DataError, match=r"shape \(29,\); give one label for each of the 30 columns"):
        metrics.coherence(A, terms[1:])
    for bad in (-1.0, np.nan, np.inf):
        B = A.toarray()
        B[0, 0] = bad
        with pytest.raises(DataError, match="negative, infinite or missing"):
            metrics.coherence(B, terms)


def test_scorers_ask_the_estimator(documents):
    A, terms = documents
    y = np.arange(80) % 3
    predicted = np.where(np.arange(80) < 70, y, 0)
    fitted = SimpleNamespace(predict=lambda X: predicted, column_labels_=terms)
    assert metrics.nmi_scorer(fitted, A, y) == normalized_mutual_info_score(y, predicted)
    assert metrics.coherence_scorer(fitted, A) == metrics.coherence(A, terms)


def test_f1_scores_are_micro_and_macro():
    rng = np.random.default_rng(0)
    y, p = rng.integers(4, size=50), rng.integers(4, size=50)
    assert metrics.f1_scores(y, p) == (f1_score(y, p, average="micro"), f1_score(y, p, average="macro"))


@pytest.mark.parametrize("shape", [(40, 30), (700, 600)], ids=["dense", "iterative"])
def test_induced_norms_are_column_sums_and_singular_values(shape):
    D = sp.random_array(shape, density=0.02, rng=np.random.default_rng(0)).tocsr()
    D.data -= 0.5
    expected = np.abs(D.toarray()).sum(axis=0).max(), np.linalg.norm(D.toarray(), 2)
    for matrix in (D, D.toarray(), sp.coo_matrix(D)):
        assert metrics.induced_norms(matrix) == pytest.approx(expected, rel=1e-9)
    assert metrics.induced_norms(D) == metrics.induced_norms(D)


def test_induced_norms_of_nothing():
    assert metrics.induced_norms(np.zeros((3, 4))) == (0.0, 0.0)
    with pytest.raises(DataError, match=r"shape \(0, 4\)"):
        metrics.induced_norms(np.zeros((0, 4)))


def test_singular_vector_error_by_hand():
    rng = np.random.default_rng(0)
    U, s, Vt = np.linalg.svd(rng.normal(size=(9, 6)), full_matrices=False)
    V, r = Vt.T, 4
    noisy_U, noisy_V = U + 0.1 * rng.normal(size=U.shape), V + 0.2 * rng.normal(size=V.shape)
    expected = 0.0
    for i in range(r):
        for exact, noisy in ((U, noisy_U), (V, noisy_V)):
            expected += s[i] * (1 - abs(exact[:, i] @ noisy[:, i]) / np.linalg.norm(noisy[:, i])) / r
    exact = U[:, :r], s[:r], V[:, :r]
    assert metrics.singular_vector_error(*exact, noisy_U[:, :r], noisy_V[:, :r]) == pytest.approx(expected, rel=1e-12)
    scale = rng.normal(size=r)
    scaled = metrics.singular_vector_error(*exact, noisy_U[:, :r] * scale, noisy_V[:, :r] / scale)
    assert scaled == pytest.approx(expected, rel=1e-10)


def test_a_vector_of_zeros_is_wholly_wrong():
    U = np.eye(4)[:, :2]
    assert metrics.singular_vector_error(U, [3.0, 1.0], U, 0 * U, U) == 2.0


def test_singular_vector_error_wants_matching_shapes():
    U = np.eye(4)[:, :2]
    with pytest.raises(DataError, match=r"left vectors have shape \(4, 2\), their approximation \(4, 1\)"):
        metrics.singular_vector_error(U, [1.0, 1.0], U, U[:, :1], U)
    with pytest.raises(DataError, match="3 values"):
        metrics.singular_vector_error(U, [1.0, 1.0, 1.0], U, U, U)
