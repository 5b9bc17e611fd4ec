"""Tests over data sets, against what Pan et al. 2016 print for the numbers they print."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_papers import friedman, nemenyi, wilcoxon
from kernreg_papers.report.rank_diagram import draw_difference
from kernreg_papers.statistics import groups

from kernreg.errors import DataError, ParameterError

# Table 3: Gaussian, FSK, SimpleNPK, IR-Gaussian, OSK, LDK, SCG-OSK, SCG-LDK
ACCURACY = [
    [70.2, 79.1, 73.9, 73.2, 70.0, 74.7, 71.1, 75.3],
    [95.7, 96.7, 95.3, 96.4, 95.3, 96.6, 95.7, 96.7],
    [95.3, 94.4, 96.9, 95.3, 97.6, 96.2, 97.8, 94.9],
    [78.1, 86.3, 81.3, 85.8, 80.3, 85.9, 85.2, 86.4],
    [56.0, 58.1, 52.1, 57.9, 56.4, 59.7, 55.0, 61.3],
    [82.3, 76.3, 85.5, 85.9, 66.3, 76.8, 65.5, 85.6],
    [66.8, 64.4, 67.3, 71.5, 66.8, 67.2, 66.0, 69.0],
    [94.8, 93.0, 87.9, 95.7, 89.1, 95.7, 87.9, 97.0],
    [95.2, 95.1, 92.7, 96.1, 94.5, 96.6, 94.4, 97.5],
    [93.5, 94.6, 95.1, 92.7, 91.2, 91.6, 90.3, 96.0],
]


def test_friedman_and_nemenyi_as_printed():
    found = friedman(ACCURACY)
    assert found.ranks.round(2).tolist() == [5.35, 4.25, 5.2, 3.5, 6.1, 3.45, 6.2, 1.95]
    assert found.statistic == pytest.approx(5.17, abs=0.02)
    assert found.p_value < 0.05
    assert nemenyi(8, 10) == pytest.approx(3.32, abs=0.005)


def test_wilcoxon_as_printed():
    unlabelled = [68.8, 96.0, 94.7, 80.2, 61.5, 82.3, 62.5, 96.1, 97.3, 93.5]
    test = [71.3, 98.0, 95.7, 79.5, 66.0, 81.7, 64.6, 93.4, 96.7, 90.4]
    assert wilcoxon(unlabelled, test)[1] == pytest.approx(0.6785, abs=0.03)
    assert wilcoxon(test, test) == (0.0, 1.0)


def test_the_same_order_everywhere_is_no_chance():
    found = friedman(np.tile([3.0, 2.0, 1.0], (5, 1)))
    assert found.ranks.tolist() == [1.0, 2.0, 3.0]
    assert (found.statistic, found.p_value) == (np.inf, 0.0)
    assert friedman(np.tile([3.0, 2.0, 1.0], (5, 1)), greater_is_better=False).ranks.tolist() == [3.0, 2.0, 1.0]


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(DataError, match="without gaps"):
        friedman([[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]])
    with pytest.raises(DataError, match="equal length"):
        wilcoxon([1.0], [1.0, 2.0])
    with pytest.raises(ParameterError, match="k=1"):
        nemenyi(1, 3)


def test_the_picture_shows_every_method_and_group():
    found = friedman(ACCURACY)
    labels = [f"m{i}" for i in range(8)]
    axes = draw_difference(labels, found.ranks, nemenyi(8, 10))
    texts = [text.get_text().strip() for text in axes.texts]
    assert {"m7 1.95", "m6 6.20", "critical difference 3.32"} <= set(texts)
    bars = [line for line in axes.lines if line.get_linewidth() == 3]
    assert len(bars) == len(groups(found.ranks, nemenyi(8, 10))) == 2
    axes.figure.clear()
