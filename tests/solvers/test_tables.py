"""Tables that hold no numbers: the error says where, and what to do."""

import numpy as np
import pytest

from kernreg import make_solver
from kernreg.errors import DataError

Y = np.array([0, 1, 0, 1])
TEXT = r"holds text \('red'\), and this kernel compares numbers.*OneHotEncoder.*'gower'"


@pytest.mark.parametrize("solver", ["ls-svm", "ls-svr", "ask-ls", "cells", "kpca", "ksvd", "scg-ldk", "scg-osk"])
def test_text_is_named_with_its_column(solver):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"]})
    for table in (frame, frame.astype({"colour": "category"})):
        with pytest.raises(DataError, match=f"^column 'colour' of X {TEXT}"):
            make_solver(solver).fit(table, Y)
    for table in (frame.to_numpy(), frame.to_numpy().tolist()):
        with pytest.raises(DataError, match=f"^X {TEXT}"):
            make_solver(solver).fit(table, Y)


def test_text_is_named_when_predicting_too():
    model = make_solver("ls-svm").fit(np.arange(8.0).reshape(4, 2), Y)
    with pytest.raises(DataError, match=TEXT):
        model.predict([["red", 1.0]])


def test_rows_of_different_lengths_need_another_kernel():
    with pytest.raises(DataError, match=r"rows of X differ in length.*'gak'.*kernreg-structured"):
        make_solver("ls-svm").fit([[1.0, 2.0], [1.0], [2.0, 3.0], [1.0]], Y)


def test_other_faults_keep_the_words_of_scikit_learn():
    with pytest.raises(ValueError, match="NaN"):
        make_solver("ls-svm").fit([[np.nan], [1.0], [2.0], [3.0]], Y)
