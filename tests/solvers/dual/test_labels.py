"""Labels that are none are refused with their place, and with what to do."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import DataError

X = np.random.default_rng(0).random((8, 2))


@pytest.mark.parametrize("solver", ["ls-svm", "ask-ls"])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            np.array([1, 2, np.nan, 1, 2, 1, 2, 1.0]),
            "contains NaN: the label of sample 2 is .*Leave such",
        ),
        (np.array([1, 2, np.inf, 1, 2, 1, 2, 1.0]), "contains infinity: the label of sample 2"),
        (np.array([1, 2j] * 4), "Complex data not supported: y holds complex numbers; labels are"),
        (np.array([1, None] * 4, dtype=object), "the label of sample 1 is None"),
        (np.array(["a", np.nan] * 4, dtype=object), "the label of sample 1 is nan"),
        (["a", None] * 4, "the label of sample 1 is None"),
        (np.array([1, "a"] * 4, dtype=object), r"y holds text, and 1, which is none.*y\.astype\(str\)"),
    ],
)
def test_what_is_no_label_is_refused_with_its_place(solver, y, message):
    with pytest.raises(DataError, match=message):
        kr.make_solver(solver, kernel="rbf").fit(X, y)


def test_labels_of_every_kind_are_accepted():
    for y in (["a", "b"] * 4, [True, False] * 4, np.array([1.0, 2.0] * 4), np.array(["a", "b"] * 4, dtype=object)):
        assert len(kr.make_solver("ls-svm", kernel="rbf", gamma=1.0).fit(X, y).classes_) == 2
    table = np.column_stack([np.array([0, 1] * 4), np.array([1, 1, 0, 0] * 2)])
    kr.make_solver("ls-svm", kernel="rbf", gamma=1.0).fit(X, table)
