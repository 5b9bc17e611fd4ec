"""scikit-learn's checks, the conformance kit, model files, and whatever else an estimator of kernreg does."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_krein import IndefiniteDCSVC, KreinRidgeClassifier, KreinRidgeRegressor, KreinSVC
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernreg
import kernreg.testing
from kernreg.errors import DamagedModelFile, DataError

KERNEL = "tl1(rho=8.0)"
MACHINES = {
    "krein-svm": KreinSVC(KERNEL, C=2.0),
    "krein-svm-pairs": KreinSVC(KERNEL, multi_class="one-vs-one"),
    "krein-svm-landmarks": KreinSVC(KERNEL, strategy="lowrank", n_landmarks=40),
    "krein-ridge": KreinRidgeClassifier(KERNEL, [0.01, 0.1, 1.0, 10.0], gamma_negative=0.1),
    "krein-ridge-landmarks": KreinRidgeClassifier(KERNEL, 1.0, strategy="lowrank", n_landmarks=40),
    "krein-ridge-regressor": KreinRidgeRegressor(KERNEL, 1.0),
    "iksvm-dc": IndefiniteDCSVC(KERNEL, on_unbounded="ignore"),
    "iksvm-dc-landmarks": IndefiniteDCSVC(KERNEL, on_unbounded="ignore", strategy="lowrank", n_landmarks=40),
}
every_machine = pytest.mark.parametrize("name", MACHINES)

CHECKED = [
    KreinSVC(),
    KreinSVC(strategy="lowrank", multi_class="one-vs-one"),
    KreinRidgeClassifier(gamma="auto"),
    KreinRidgeRegressor(),
    KreinRidgeRegressor(strategy="lowrank", gamma="auto", gamma_negative="auto"),
    IndefiniteDCSVC(),
]

#: Every expected failure of a check of scikit-learn, with its reason.
EXPECTED = {
    repr(machine): {
        f"check_sample_weight_equivalence_on_{kind}_data": "one of two equal samples may be held out without the "
        "other: probabilities, and a gamma that is chosen, are not those of a weight of two; decisions are the same"
        for kind in ("dense", "sparse")
    }
    for machine in CHECKED
    if repr(machine) != repr(KreinRidgeRegressor())
}


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = StandardScaler().fit_transform(X)[order], y[order]
    return X[:120], y[:120], X[120:], y[120:]


@pytest.fixture(scope="module")
def fitted(wine):
    return {name: clone(machine).fit(wine[0], wine[1]) for name, machine in MACHINES.items()}


def results(machine, X):
    return machine.predict(X) if is_regressor(machine) else machine.decision_function(X)


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda machine: EXPECTED.get(repr(machine), {}))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::kernreg.errors.KernregWarning")  # kernels that say nothing about the check's data
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@kernreg.testing.parametrize_with_checks(list(MACHINES.values()))
@pytest.mark.filterwarnings("ignore::kernreg.errors.KernregWarning")
def test_laws_of_solvers(check):
    check()


@every_machine
def test_learns(name, fitted, wine):
    _, _, new, y = wine
    rough = is_regressor(fitted[name]) or name.endswith("landmarks")
    assert fitted[name].score(new, y) > (0.7 if rough else 0.93)


@every_machine
def test_registered_under_its_name(name):
    machine = MACHINES[name]
    registered = name.removesuffix("-landmarks").removesuffix("-pairs")
    made = kernreg.make_solver(registered, **machine.get_params(deep=False))
    assert type(made) is type(machine)
    assert made.get_params() == machine.get_params()


@every_machine
def test_model_files(name, fitted, wine, tmp_path):
    model, new = fitted[name], wine[2]
    if not is_regressor(model):
        model.predict_proba(new)  # a calibration is kept, too
    kernreg.save(model, tmp_path / "model.kern")
    again = kernreg.load(tmp_path / "model.kern")
    np.testing.assert_array_equal(results(again, new), results(model, new))
    assert again.solver_report_ == model.solver_report_
    assert again.signature_ == model.signature_
    if not is_regressor(model):
        np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
        assert again.classes_.tolist() == [0, 1, 2]


@every_machine
def test_probabilities_after_loading(name, wine, tmp_path):
    X, y, new, _ = wine
    if name == "krein-ridge-regressor":
        pytest.skip("no classes")
    model = clone(MACHINES[name]).fit(X, y)
    kernreg.save(model, tmp_path / "model.kern")
    np.testing.assert_array_equal(kernreg.load(tmp_path / "model.kern").predict_proba(new), model.predict_proba(new))


def test_model_files_that_do_not_fit_together_are_refused(fitted, tmp_path):
    broken = clone(fitted["krein-svm"])
    broken.__dict__.update(fitted["krein-svm"].__dict__)
    broken.dual_coef_ = broken.dual_coef_[:-1]
    kernreg.save(broken, tmp_path / "model.kern")
    with pytest.raises(DamagedModelFile, match="coefficients and the samples"):
        kernreg.load(tmp_path / "model.kern")


@every_machine
def test_pickles(name, fitted, wine):
    again = pickle.loads(pickle.dumps(fitted[name]))
    np.testing.assert_array_equal(results(again, wine[2]), results(fitted[name], wine[2]))


@every_machine
def test_sparse_samples_are_as_good_as_dense_ones(name, fitted, wine):
    X, y, new, _ = wine
    model = clone(MACHINES[name]).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(results(model, sp.csr_array(new)), results(fitted[name], new), atol=1e-3)


@every_machine
def test_single_precision_stays(name, fitted, wine):
    X, y, new, _ = wine
    model = clone(MACHINES[name]).fit(X.astype(np.float32), y)
    assert results(model, new.astype(np.float32)).dtype == np.float32
    assert model.dual_coef_.dtype == np.float32
    if not is_regressor(model):
        assert (model.predict(new) == fitted[name].predict(new)).mean() > 0.95


@every_machine
def test_labels_of_any_type(name, wine, fitted):
    X, y, new, _ = wine
    if name == "krein-ridge-regressor":
        pytest.skip("no classes")
    names = np.array(["barbera", "barolo", "grignolino"])
    model = clone(MACHINES[name]).fit(X, names[y])
    np.testing.assert_array_equal(model.predict(new), names[fitted[name].predict(new)])


def test_samples_may_be_indices_of_a_held_matrix(wine):
    X, y, _, _ = wine
    held = kernreg.make_kernel("precomputed", K=kernreg.make_kernel(KERNEL)(X))
    for machine in MACHINES.values():
        by_index = clone(machine).set_params(kernel=held).fit(np.arange(len(X)), y)
        with_samples = clone(machine).fit(X, y)
        np.testing.assert_allclose(results(by_index, np.arange(9)), results(with_samples, X[:9]), rtol=1e-6, atol=1e-6)


def test_parameters_of_the_kernel_in_a_grid_search(wine):
    X, y, new, y_new = wine
    search = GridSearchCV(KreinSVC("tl1"), {"kernel__rho": [4.0, 8.0], "C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.score(new, y_new) > 0.9


def test_in_a_chain(wine):
    X, y, new, y_new = wine
    for name in ("krein-svm", "krein-ridge", "iksvm-dc(on_unbounded='ignore')"):
        chain = kernreg.make_chain("kpca(n_components=5)", name, kernel=KERNEL).fit(X, y)
        assert chain.score(new, y_new) > 0.85, name


def test_several_columns_of_labels_are_refused(wine):
    with pytest.raises(DataError, match="MultiOutputClassifier"):
        KreinSVC(KERNEL).fit(wine[0], np.column_stack([wine[1], wine[1]]))


def test_balanced_classes_count_the_same(wine):
    X, y, new, _ = wine
    few = np.flatnonzero((y == 0) | ((y == 1) & (np.cumsum(y == 1) <= 8)))
    for machine in (KreinSVC(KERNEL, C=0.001), KreinRidgeClassifier(KERNEL, 0.001)):
        plain = clone(machine).fit(X[few], y[few])
        balanced = clone(machine).set_params(class_weight="balanced").fit(X[few], y[few])
        assert balanced.decision_function(new).mean() > plain.decision_function(new).mean() + 0.01
