"""Each toy has the property it is made for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kernreg.datasets import make_cycle, make_directed_communities, make_documents, make_spheres
from kernreg.errors import ParameterError


def test_spheres_have_their_radii_and_no_line_between_them():
    X, y = make_spheres(400, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), np.array([1.0, 3.0])[y], rtol=1e-12)
    assert LogisticRegression().fit(X, y).score(X, y) < 0.65
    assert LogisticRegression().fit(X**2, y).score(X**2, y) == 1.0


def test_spheres_of_other_dimensions_with_noise():
    X, y = make_spheres(300, radii=(1, 2, 5), dimension=7, noise=0.01, random_state=1)
    assert X.shape == (300, 7)
    assert np.unique(y).tolist() == [0, 1, 2]
    spread = np.linalg.norm(X, axis=1) - np.array([1.0, 2.0, 5.0])[y]
    assert 0.001 < spread.std() < 0.05


def test_links_stay_inside_communities_except_those_of_the_careless():
    graph, y = make_directed_communities(600, 3, within=0.1, between=0.01, random_state=0)
    same = y[:, None] == y
    A = graph.toarray()
    off = ~np.eye(600, dtype=bool)
    assert A[same & off].mean() == pytest.approx(0.1, abs=0.005)
    assert A[~same].mean() == pytest.approx(0.01, abs=0.002)
    assert np.trace(A) == 0
    careless, _ = make_directed_communities(600, 3, careless=0.5, careless_links=0.3, random_state=0)
    busy = careless.sum(axis=1) > 100
    assert 0.4 < busy.mean() < 0.6
    assert careless.toarray()[busy].mean() == pytest.approx(0.3, abs=0.01)


def test_a_cycle_made_symmetric_loses_classes():
    K, y = make_cycle(40, noise=0.0)
    symmetric = (K + K.T) / 2
    np.testing.assert_array_equal(symmetric[y == 0][0], symmetric[y == 2][0])
    np.testing.assert_array_equal(symmetric[y == 1][0], symmetric[y == 3][0])
    assert not np.array_equal(K[y == 0][0], K[y == 2][0])
    noisy, _ = make_cycle(400, noise=0.5, random_state=0)
    assert (noisy - make_cycle(400, noise=0.0)[0]).std() == pytest.approx(0.5, rel=0.01)


def test_documents_have_terms_of_their_topic():
    A, documents, terms = make_documents(600, 300, 3, random_state=0)
    same = documents[:, None] == terms
    dense = A.toarray()
    assert set(np.unique(dense)) == {0.0, 1.0}
    assert dense[same].mean() == pytest.approx(0.2, abs=0.01)
    assert dense[~same].mean() == pytest.approx(0.02, abs=0.002)


def test_probabilities_are_checked():
    with pytest.raises(ParameterError, match=r"within=1.5 is not accepted; give a number between 0 and 1"):
        make_documents(within=1.5)
    with pytest.raises(ParameterError, match="careless=-1"):
        make_directed_communities(careless=-1)


@pytest.mark.parametrize("toy", [make_spheres, make_directed_communities, make_cycle, make_documents])
def test_a_seed_gives_the_same_toy(toy):
    first, second, third = (toy(50, random_state=seed)[0] for seed in (3, 3, 4))
    dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in (first, second, third)]
    np.testing.assert_array_equal(dense[0], dense[1])
    assert not np.array_equal(dense[0], dense[2])
