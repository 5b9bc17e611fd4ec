"""Divergences between distributions, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_papers import Selection, find_table, run
from kernreg_papers.data.click_logs import load_generated
from kernreg_papers.data.mixtures import (
    COMPONENTS,
    DIMENSION,
    histogram_divergences,
    make_mixtures,
    mixture_divergences,
)


def gaussian(mean, variance):
    """A mixture all of whose components are the same Gaussian."""
    weights = np.full(COMPONENTS, 1.0 / COMPONENTS)
    return np.concatenate(
        [weights, np.tile(np.full(DIMENSION, mean), COMPONENTS), np.full(weights.size * DIMENSION, variance)]
    )


def test_mixtures_of_one_gaussian_have_the_closed_form():
    A = np.array([gaussian(0.0, 1.0), gaussian(0.5, 2.0)])
    found = mixture_divergences(A, 20_000, 0)
    expected = 0.5 * DIMENSION * np.array([np.log(2.0) + 1.25 / 2.0 - 1.0, -np.log(2.0) + 2.25 - 1.0])
    np.testing.assert_allclose([found[0, 1], found[1, 0]], expected, rtol=0.03)
    assert found[0, 0] == found[1, 1] == 0.0


def test_histograms_have_the_sum_over_entries():
    counts = np.array([[3.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 2.0, 2.0]])
    p = (counts + 0.1) / (counts + 0.1).sum(axis=1, keepdims=True)
    expected = [[sum(a * np.log(a / b) for a, b in zip(x, z, strict=True)) for z in p] for x in p]
    np.testing.assert_allclose(histogram_divergences(counts, 0.1), expected, atol=1e-12)


def test_mixtures_are_generated_by_name():
    data = load_generated("mixtures-40")
    np.testing.assert_array_equal(data.X, make_mixtures(40)[0])
    assert np.bincount(data.y).tolist() == [4] * 10


@pytest.mark.parametrize("method", ["svm", "ls-svm", "ask-average", "ask-stacked", "tuned"])
def test_columns_of_the_table_run_on_generated_mixtures(tmp_path, method):
    done = run(find_table("ask-table1"), tmp_path, Selection(rows=("mixtures",), methods=(method,)), quick=True)
    assert (done.made, done.failed) == (1, 0)
