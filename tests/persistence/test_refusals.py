"""What a model file does not hold is refused when saving, with the attribute named, and nothing is written."""

from __future__ import annotations

import functools
from collections import defaultdict, namedtuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import kernreg as kr
from kernreg.errors import UnsavableModel
from kernreg.kernels import compose
from kernreg.kernels.builtin import rbf

X = np.random.default_rng(0).normal(size=(30, 3))
y = (X[:, 0] > 0).astype(int)


class Mine(BaseEstimator):
    """An estimator of a script."""

    def fit(self, X, y):
        return self


def fitted_with(**attributes):
    model = kr.make_solver("ls-svm").fit(X, y)
    vars(model).update(attributes)
    return model


Point = namedtuple("Point", "x y")

REFUSED = {
    "function": (lambda: FunctionTransformer(functools.partial(np.add, 1)), r"FunctionTransformer\.func .*is code"),
    "lambda": (lambda: make_pipeline(FunctionTransformer(lambda x: x)), r"Pipeline\.steps\[0\]\[1\]\.func .*is code"),
    "feature map": (lambda: kr.make_solver("ls-svm", kernel=compose(rbf(), len)), r"LSSVC\.kernel\.feature_map .*code"),
    "method": (lambda: fitted_with(call=StandardScaler().fit), r"LSSVC\.call .*is code"),
    "module": (lambda: fitted_with(library=np), r"LSSVC\.library .*it is a builtins\.module"),
    "open file": (lambda: fitted_with(file=open(__file__)), r"LSSVC\.file .*TextIOWrapper"),  # noqa: SIM115
    "own class": (lambda: make_pipeline(Mine()), r"Pipeline\.steps\[0\]\[1\] .*Mine is an estimator that is not reg"),
    "class": (lambda: fitted_with(kind=Mine), r"LSSVC\.kind .*the class .*Mine is neither registered"),
    "named tuple": (lambda: fitted_with(point=Point(1, 2)), r"LSSVC\.point .*Point"),
    "default dict": (lambda: fitted_with(count=defaultdict(int)), r"LSSVC\.count .*defaultdict"),
    "forest": (lambda: RandomForestClassifier(2).fit(X, y), r"estimators_\[0\]\.tree_ .*pickle or a skops file"),
    "search": (lambda: GridSearchCV(Ridge(), {"alpha": [1.0]}).fit(X, y), r"GridSearchCV\.\w+.*save best_estimator_"),
    "tree of neighbours": (
        lambda: KNeighborsClassifier(algorithm="kd_tree").fit(X, y),
        r"\._tree .*sklearn\.neighbors",
    ),
    "process": (lambda: GaussianProcessRegressor().fit(X, y), r"GaussianProcessRegressor\.kernel_ .*sklearn\.gaussian"),
    "long double": (lambda: fitted_with(long=np.zeros(2, np.longdouble)), r"LSSVC\.long .*arrays of dtype"),
    "long scalar": (lambda: fitted_with(long=np.longdouble(1)), r"LSSVC\.long cannot be saved"),
    "records": (lambda: fitted_with(table=np.zeros(2, [("a", "f8")])), r"LSSVC\.table .*arrays of dtype"),
    "masked": (lambda: fitted_with(table=np.ma.zeros(2)), r"LSSVC\.table .*MaskedArray is a special kind"),
    "matrix": (lambda: fitted_with(table=np.asmatrix(np.eye(2))), r"LSSVC\.table .*matrix is a special kind"),
    "sparse lists": (lambda: fitted_with(table=sp.lil_array((2, 2))), r"LSSVC\.table .*\.tocsr\(\)"),
    "key": (lambda: fitted_with(table={rbf(): 1}), r"LSSVC\.table .*key or item of type FunctionKernel"),
    "method hidden": (lambda: fitted_with(predict=1), r"LSSVC cannot be saved: its attribute 'predict' would hide"),
    "deep": (
        lambda: fitted_with(deep=functools.reduce(lambda x, _: [x], range(200), [])),
        r"more than 100 levels deep",
    ),
    "deep in objects": (
        lambda: fitted_with(items=np.array([{"f": len}], dtype=object)),
        r"LSSVC\.items\.flat\[0\]\['f'\]",
    ),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_place_in_a_file_is_refused_by_name(name, tmp_path):
    make, message = REFUSED[name]
    path = tmp_path / "model.kern"
    path.write_bytes(b"old")
    with pytest.raises(UnsavableModel, match=message):
        kr.save(make(), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_circle_is_refused(tmp_path):
    model = fitted_with()
    model.circle = [model]
    with pytest.raises(UnsavableModel, match=r"LSSVC\.circle\[0\] cannot be saved: .* holds no circles"):
        kr.save(model, tmp_path / "model.kern")


@pytest.mark.parametrize("value", [None, 3, [1], {"a": 1}, np.eye(2), StandardScaler, "ls-svm"], ids=str)
def test_only_models_are_saved(value, tmp_path):
    with pytest.raises(UnsavableModel, match=r"is not a model; save takes an estimator, an ensembler or a kernel"):
        kr.save(value, tmp_path / "model.kern")


def test_more_values_outside_of_arrays_than_a_file_takes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("kernreg.persistence.container.MAX_JSON_VALUES", 1000)
    with pytest.raises(UnsavableModel, match=r"too many values outside of arrays: .* 1000 is the limit"):
        kr.save(fitted_with(many=list(range(2000))), tmp_path / "model.kern")
    monkeypatch.setattr("kernreg.persistence.container.MAX_JSON_BYTES", 1000)
    with pytest.raises(UnsavableModel, match=r"as JSON it has \d+ bytes"):
        kr.save(fitted_with(long="x" * 2000), tmp_path / "model.kern")


def test_a_number_of_arrays_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("kernreg.persistence.files.MAX_MEMBERS", 10)
    with pytest.raises(UnsavableModel, match=r"holds \d+ arrays, and 8 is the limit"):
        kr.save(fitted_with(many=[np.full(3, n) for n in range(20)]), tmp_path / "model.kern")
