"""Toys: data made on the spot, each with one property worth seeing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.errors import ParameterError
from kernreg.linalg.randomness import generator


def make_spheres(
    n_samples: int = 200,
    *,
    radii: Sequence[float] = (1.0, 3.0),
    dimension: int = 3,
    noise: float = 0.0,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Points on concentric spheres, one class for each: no line separates them.

    Parameters
    ----------
    n_samples : int
    radii : sequence of float
    dimension : int
    noise : float
        Standard deviation of Gaussian noise on every coordinate.
    random_state : int, Generator or None

    Returns
    -------
    X : ndarray of shape (n_samples, dimension)
    y : ndarray of shape (n_samples,)
        Index of the sphere.

    References
    ----------
    Huang, Maier, Hornegger & Suykens, Indefinite kernels in least squares support vector machines and principal
    component analysis, ACHA 43 (2017), figure 1.

    Examples
    --------
    >>> X, y = make_spheres(6, random_state=0)
    >>> np.linalg.norm(X, axis=1).round(12).tolist(), y.tolist()
    ([1.0, 3.0, 1.0, 3.0, 1.0, 3.0], [0, 1, 0, 1, 0, 1])
    """
    rng = generator(random_state)
    y = np.arange(n_samples) % len(radii)
    X = rng.standard_normal((n_samples, dimension))
    X *= (np.asarray(radii, dtype=np.float64)[y] / np.linalg.norm(X, axis=1))[:, None]
    return X + noise * rng.standard_normal(X.shape), y


def make_directed_communities(
    n_nodes: int = 400,
    n_communities: int = 4,
    *,
    within: float = 0.05,
    between: float = 0.005,
    careless: float = 0.0,
    careless_links: float = 0.15,
    random_state: Any = None,
) -> tuple[sp.csr_array, np.ndarray]:
    """A directed graph whose nodes link to their own community, except the careless, who link to anything.

    A careless node's outgoing links say nothing about it, while the links it receives still do: only one direction of
    a link can be trusted, and (A + Aᵀ)/2 mixes the two.

    Parameters
    ----------
    n_nodes, n_communities : int
    within, between : float
        Probability of a link inside a community and to another one.
    careless : float
        Fraction of the nodes that link to every node with probability `careless_links`.
    careless_links : float
    random_state : int, Generator or None

    Returns
    -------
    graph : csr_array of shape (n_nodes, n_nodes)
        ``graph[i, j] = 1`` for a link from i to j; no self-loops.
    y : ndarray of shape (n_nodes,)
        The community of each node.

    Examples
    --------
    >>> graph, y = make_directed_communities(100, 2, random_state=0)
    >>> graph.shape, bool((graph != graph.T).nnz > 0)
    ((100, 100), True)
    """
    _fractions(within=within, between=between, careless=careless, careless_links=careless_links)
    rng = generator(random_state)
    y = np.arange(n_nodes) % n_communities
    probability = np.where(y[:, None] == y, within, between)
    probability[rng.random(n_nodes) < careless] = careless_links
    np.fill_diagonal(probability, 0.0)
    return sp.csr_array((rng.random((n_nodes, n_nodes)) < probability).astype(np.float64)), y


def make_cycle(
    n_samples: int = 120, n_classes: int = 4, *, noise: float = 0.1, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """A similarity matrix in which every class points to the next one, and the last to the first.

    K = P[y, y] + noise, P[a, a + 1 mod C] = 1. With four classes the rows of (K + Kᵀ)/2 are, up to noise, the same for
    the first and the third class, and for the second and the fourth: made symmetric, the matrix no longer holds
    what tells them apart.

    Parameters
    ----------
    n_samples, n_classes : int
    noise : float
        Standard deviation of Gaussian noise on every entry.
    random_state : int, Generator or None

    Returns
    -------
    K : ndarray of shape (n_samples, n_samples)
        For the kernel ``precomputed``.
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> K, y = make_cycle(4, noise=0.0)
    >>> K.tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
    """
    rng = generator(random_state)
    y = np.arange(n_samples) % n_classes
    K = ((y[:, None] + 1) % n_classes == y).astype(np.float64)
    return K + noise * rng.standard_normal(K.shape), y


def make_documents(
    n_documents: int = 300,
    n_terms: int = 120,
    n_topics: int = 3,
    *,
    within: float = 0.2,
    between: float = 0.02,
    random_state: Any = None,
) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """A binary document-term matrix: each topic has documents and terms of its own.

    Parameters
    ----------
    n_documents, n_terms, n_topics : int
    within, between : float
        Probability that a document has a term of its own topic, and of another.
    random_state : int, Generator or None

    Returns
    -------
    A : csr_array of shape (n_documents, n_terms)
    document_topics : ndarray of shape (n_documents,)
    term_topics : ndarray of shape (n_terms,)

    Examples
    --------
    >>> A, documents, terms = make_documents(6, 4, 2, within=1.0, between=0.0)
    >>> A.toarray().astype(int)[:2].tolist(), documents.tolist(), terms.tolist()
    ([[1, 0, 1, 0], [0, 1, 0, 1]], [0, 1, 0, 1, 0, 1], [0, 1, 0, 1])
    """
    _fractions(within=within, between=between)
    rng = generator(random_state)
    documents, terms = np.arange(n_documents) % n_topics, np.arange(n_terms) % n_topics
    probability = np.where(documents[:, None] == terms, within, between)
    return sp.csr_array((rng.random(probability.shape) < probability).astype(np.float64)), documents, terms


def _fractions(**given: float) -> None:
    for name, value in given.items():
        if not 0.0 <= value <= 1.0:
            raise ParameterError(f"{name}={value!r} is not accepted; give a number between 0 and 1")
