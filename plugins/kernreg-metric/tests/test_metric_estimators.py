"""scikit-learn's checks, the conformance kit, and learned kernels in every place where a kernel may stand."""

from __future__ import annotations

import pickle

import kernreg_metric
import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_metric import LDK, OSK, FisherScore, IdealRegularized, SimpleNPK, conformal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernreg
import kernreg.testing
from kernreg.solvers import LSSVC, AsKLSClassifier, KernelPCA

LEARNERS = {
    "ldk": LDK("rbf(sigma=4.0)"),
    "ldk-hard": LDK("rbf(sigma=2.0)", gamma=None, n_constraints=200, tol=1e-2),
    "ldk-linear": LDK("linear"),
    "osk": OSK(n_components=15),
    "osk-nnls": OSK(n_components=15, method="nnls", trivial="drop"),
    "ideal-regularized": IdealRegularized("rbf(sigma=4.0)", 2.0),
    "ideal-logdet": IdealRegularized("rbf(sigma=4.0)", 0.8, divergence="logdet", ideal="indicator"),
    "simple-npk": SimpleNPK(),
    "simple-npk-hinge": SimpleNPK(loss="squared-hinge", tol=0.05),
    "fisher-score": FisherScore("rbf(sigma=4.0)"),
    "fisher-eigen": FisherScore("rbf(sigma=8.0)", method="eigen", basis="rbf(sigma=4.0)", n_cores=20),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)

#: Every expected failure of a check of scikit-learn, with its reason: none.
EXPECTED: dict[str, dict[str, str]] = {}

CHECKED = [
    LDK(),
    LDK(gamma=None, tol=0.05, n_constraints=20),
    OSK(),
    OSK(n_neighbors=1, n_components=1),
    IdealRegularized(),
    SimpleNPK(),
    SimpleNPK(n_neighbors=1),
    FisherScore(),
    FisherScore(method="eigen"),
]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(X))
    X, y = X[chosen], y[chosen]
    return X, y, np.where(np.arange(len(y)) < 120, y, -1)  # two thirds of the labels


@pytest.fixture(scope="module")
def fitted(wine):
    X, _, known = wine
    return {name: clone(learner).fit(X, known) for name, learner in LEARNERS.items()}


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda learner: EXPECTED.get(repr(learner), {}))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::kernreg.errors.KernregWarning")  # pairs of one point in the check's data
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # random labels
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@kernreg.testing.parametrize_with_checks(CHECKED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_laws_of_solvers(check):
    check()


@kernreg.testing.parametrize_with_checks([conformal, conformal("linear", np.eye(4)[:2], [0.0, 1.0, -1.0])])
def test_laws_of_the_kernel_family(check):
    check()


@every_learner
def test_learned_kernels_keep_the_laws_of_kernels(name, wine):
    few = slice(100, 140)  # the definition of one value is a sum over the training samples; half of these are labelled
    X, known = wine[0][few], wine[2][few]
    kernel = clone(LEARNERS[name]).fit(X, known).kernel_

    def samples(rng, n):  # new ones and some of the training set
        return np.vstack([X[: n // 3], rng.normal(size=(n - n // 3, X.shape[1]))])

    for verdict in kernreg.testing.verdicts(kernel, samples=samples):
        assert verdict.outcome != "broken", verdict


@every_learner
def test_registered_under_its_name(name):
    learner = LEARNERS[name]
    names = {LDK: "ldk", OSK: "osk", IdealRegularized: "ideal-regularized", SimpleNPK: "simple-npk"}
    registered = names.get(type(learner), "fisher-score")
    made = kernreg.make_solver(registered, **learner.get_params(deep=False))
    assert type(made) is type(learner)
    assert made.learns_kernel
    assert made.get_params(deep=False) == learner.get_params(deep=False)


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # the kernel has seen the labels
@every_learner
def test_the_kernel_serves_every_solver(name, fitted, wine):
    X, y, known = wine
    kernel, labelled = fitted[name].kernel_, known >= 0
    kernel = float(len(X) / np.trace(kernel(X))) * kernel  # that of osk has trace one
    for model in (LSSVC(kernel=kernel, gamma="loo"), AsKLSClassifier(kernel=kernel, gamma="loo")):
        assert model.fit(X[labelled], y[labelled]).score(X[~labelled], y[~labelled]) > 0.8, model
    scores = KernelPCA(kernel=kernel, n_components=2).fit(X[labelled]).transform(X[~labelled])
    assert scores.shape == (58, 2)
    assert np.isfinite(scores).all()
    machine = SVC(kernel="precomputed").fit(kernel(X[labelled]), y[labelled])
    assert machine.score(kernel(X[~labelled], X[labelled]), y[~labelled]) > 0.8
    op = kernel.operator(X, X[:50])
    np.testing.assert_allclose(op @ np.ones(50), kernel(X, X[:50]) @ np.ones(50), rtol=1e-8, atol=1e-10)


@every_learner
def test_kernels_are_symmetric_and_positive(name, fitted, wine):
    K = fitted[name].kernel_(wine[0])
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * np.abs(K).max()
    assert fitted[name].kernel_.symmetric
    assert fitted[name].kernel_.definite


@every_learner
def test_as_a_step_before_a_support_vector_machine(name, wine):
    X, y, known = wine
    labelled = known >= 0
    pipeline = make_pipeline(clone(LEARNERS[name]), SVC(kernel="precomputed", C=1000.0)).fit(X[labelled], y[labelled])
    assert pipeline.score(X[~labelled], y[~labelled]) > 0.8


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # the kernel has seen the labels
@every_learner
def test_in_a_chain(name, wine):
    X, y, known = wine
    labelled = known >= 0
    chain = kernreg.make_chain(clone(LEARNERS[name]), "ls-svm(gamma='loo')").fit(X[labelled], y[labelled])
    assert chain.score(X[~labelled], y[~labelled]) > 0.8


@every_learner
def test_model_files_hold_learned_kernels(name, fitted, wine, tmp_path):
    X, y, known = wine
    labelled = known >= 0
    model = LSSVC(kernel=fitted[name].kernel_, gamma=0.05).fit(X[labelled], y[labelled])
    kernreg.save(model, tmp_path / "model.kern")
    again = kernreg.load(tmp_path / "model.kern")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@every_learner
def test_learners_and_kernels_pickle(name, fitted, wine):
    X = wine[0]
    again = pickle.loads(pickle.dumps(fitted[name]))
    np.testing.assert_array_equal(again.kernel_(X[:9]), fitted[name].kernel_(X[:9]))
    assert again.kernel_ == fitted[name].kernel_


@every_learner
def test_sparse_samples_give_the_kernel_of_dense_ones(name, fitted, wine):
    X, _, known = wine
    learner = clone(LEARNERS[name]).fit(sp.csr_array(X), known)
    np.testing.assert_allclose(
        learner.kernel_(sp.csr_array(X[:20])), fitted[name].kernel_(X[:20]), rtol=1e-5, atol=1e-6
    )


@every_learner
def test_single_precision_stays(name, wine):
    X, _, known = wine
    learner = clone(LEARNERS[name]).fit(X.astype(np.float32), known)
    assert learner.transform(X[:5].astype(np.float32)).dtype == np.float32
    assert learner.kernel_(X[:5].astype(np.float32)).dtype == np.float32


@every_learner
def test_labels_of_any_type_and_any_marker(name, fitted, wine):
    X, _, known = wine
    names = np.array(["barbera", "grignolino", "barolo"])
    text = np.where(known >= 0, names[known], "?")
    other = clone(LEARNERS[name]).set_params(unlabelled="?").fit(X, text)
    assert other.classes_.tolist() == ["barbera", "barolo", "grignolino"]
    missing = np.where(known >= 0, known, np.nan)
    same = clone(LEARNERS[name]).set_params(unlabelled=None).fit(X, missing)
    np.testing.assert_allclose(same.kernel_(X[:9]), fitted[name].kernel_(X[:9]), rtol=1e-9, atol=1e-12)


def test_samples_may_be_indices_of_a_held_matrix(wine):
    X, _, known = wine
    K = kernreg.make_kernel("rbf(sigma=4.0)")(X)
    held = kernreg.make_kernel("precomputed", K=K)
    for learner in (LDK(held, n_constraints=300), IdealRegularized(held), FisherScore(held)):
        with_samples = clone(learner).set_params(kernel="rbf(sigma=4.0)").fit(X, known).kernel_(X)
        by_index = learner.fit(np.arange(len(X)), known).kernel_(np.arange(len(X))[:, None])
        np.testing.assert_allclose(by_index, with_samples, rtol=1e-6, atol=1e-8)


def test_parameters_of_the_kernel_inside_are_set_by_name():
    learner = LDK("rbf(sigma=1.0)").set_params(kernel__sigma=3.0)
    assert learner.get_params()["kernel__sigma"] == 3.0


def test_public_names():
    assert all(hasattr(kernreg_metric, name) for name in kernreg_metric.__all__)
    solvers = {entry.name for entry in kernreg.available("solver") if entry.distribution == "kernreg-metric"}
    assert solvers == {"osk", "ldk", "ideal-regularized", "simple-npk", "fisher-score"}
