"""Every kernel of the package keeps the laws of kernels, with its default and with its other parameters."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_graph import graph_adjacency, katz, katz_limit, pagerank, shortest_path

from kernreg.testing import kernel_checks, parametrize_with_checks

RNG = np.random.default_rng(5)
GRAPH = np.where(RNG.random((22, 22)) < 0.15, RNG.random((22, 22)), 0.0)  # as many nodes as the kit takes samples
VARIANTS = [
    graph_adjacency(graph=GRAPH, direction="citing", self_loops=False, normalize="symmetric"),
    graph_adjacency(graph=GRAPH, normalize="none"),
    katz(graph=GRAPH, beta=0.9 * katz_limit(GRAPH)),
    pagerank(graph=GRAPH, alpha=0.4, dangling="stay"),
    pagerank(graph=GRAPH, dangling="uniform"),
    shortest_path(graph=GRAPH, sigma=0.3, weighted=True),
]


def nodes(rng, n):
    return rng.integers(0, len(GRAPH), n)


@parametrize_with_checks(
    [
        *(graph_adjacency, katz, pagerank, shortest_path),
        *(check for kernel in VARIANTS for check in kernel_checks(kernel, samples=nodes)),
    ]
)
def test_laws(check):
    check()


@pytest.mark.parametrize("kernel", VARIANTS, ids=lambda kernel: kernel.name)
def test_all_are_declared_asymmetric_and_are(kernel):
    K = kernel(np.arange(len(GRAPH)))
    assert not kernel.symmetric
    assert kernel.definite is None
    assert np.abs(K - K.T).max() > 0.1 * np.abs(K).max()
