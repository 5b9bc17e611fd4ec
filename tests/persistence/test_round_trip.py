"""What comes back from a model file says the same, to the last bit."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from persistence.answers import require_identical, says
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import kernreg as kr
import kernreg.linalg
import kernreg.solvers
from kernreg.ensemblers import ViewEnsemble
from kernreg.errors import DamagedModelFile
from kernreg.kernels import Kernel, centered, compose, spectrum, symmetrize
from kernreg.kernels.builtin import laplacian, linear, rbf, sne, tanh_, tl1
from kernreg.kernels.indexed import adjacency, precomputed
from kernreg.registry import get_registry
from kernreg.registry.naming.allowed_classes import OWN

SOLVERS = sorted(entry.name for entry in kr.available("solver") if entry.origin == "entry point")
ENSEMBLERS = sorted(entry.name for entry in kr.available("ensembler") if entry.origin == "entry point")
KERNELS = sorted(entry.name for entry in kr.available("kernel") if entry.origin == "entry point")


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_comes_back(name, table, there_and_back):
    X, y, new = table
    solver = get_registry("solver").get(name)().fit(X, y)
    again = there_and_back(solver)
    assert type(again) is type(solver)
    assert vars(again).keys() == vars(solver).keys()
    require_identical(says(again, new), says(solver, new))
    if getattr(solver, "learns_kernel", False):
        np.testing.assert_array_equal(again.kernel_(new, X), solver.kernel_(new, X))
    assert repr(again) == repr(solver)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_comes_back_unfitted(name, there_and_back):
    solver = get_registry("solver").get(name)()
    again = there_and_back(solver)
    assert again.get_params(deep=False) == solver.get_params(deep=False)


@pytest.mark.parametrize("name", ENSEMBLERS)
def test_every_ensembler_comes_back(name, there_and_back):
    rng = np.random.default_rng(0)
    views = {"source": rng.normal(size=30), "target": rng.normal(size=30)}
    ensembler = kr.make_ensembler(name).fit(views, np.sign(views["source"]))
    again = there_and_back(ensembler)
    np.testing.assert_array_equal(again.merge(views), ensembler.merge(views))


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_comes_back(name, there_and_back):
    if name == "compose":
        pytest.skip("what it is composed with is tested below")
    k, X = get_registry("kernel").get(name).example(np.random.default_rng(0), 12)
    again = there_and_back(k)
    assert again == k
    assert again.family is k.family
    np.testing.assert_array_equal(again(X), k(X))


BOUND = {
    "sne": lambda: sne(sigma=0.7),
    "centered": lambda: centered(tl1(rho=2.0)),
    "clip": lambda: spectrum(tanh_(c=0.5, t=-1.0), "clip"),
    "shift": lambda: spectrum(tanh_(c=0.5, t=-1.0), "shift"),
    "left": lambda: symmetrize(sne(), "left"),
    "transposed": lambda: sne().T,
    "sum": lambda: 0.5 * centered(sne()) + rbf() ** 2,
    "composed": lambda: centered(rbf() + compose(linear(), np.tanh)),
}


@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
@pytest.mark.parametrize("name", BOUND)
def test_bound_kernels_come_back_with_what_they_learnt(name, kind, table, there_and_back, monkeypatch):
    if (name, kind) == ("composed", "sparse"):
        pytest.skip("the feature map takes arrays")
    X, _, new = (part.astype(np.float32) if kind == "float32" else part for part in table)
    X, new = (sp.csr_array(np.where(part > 0, part, 0.0)) if kind == "sparse" else part for part in (X, new))
    k = BOUND[name]().bind(X)
    expected = k(new, X), k(X, new), k(X)
    # Nothing is learnt again: it is in the file.
    for bound in ("BoundCentered", "BoundSpectrum"):
        learn = f"kernreg.kernels.combinations.reference.{bound}._learn"
        monkeypatch.setattr(learn, lambda self: pytest.fail("learnt again"))
    again = there_and_back(k)
    assert again == k
    for ours, theirs in zip((again(new, X), again(X, new), again(X)), expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_a_feature_map_may_be_a_fitted_estimator(table, there_and_back):
    X, y, new = table
    scaler = StandardScaler().fit(X)
    model = kr.make_solver("ls-svm", kernel=compose(rbf(), scaler.transform)).fit(X, y)
    again = there_and_back(model)
    require_identical(says(again, new), says(model, new))
    assert again.kernel.feature_map.__self__ is again.kernel_.feature_map.__self__


SETTINGS = {
    "ls-svm one-vs-one": ("ls-svm", {"kernel": "rbf(sigma=2.0)", "multi_class": "one-vs-one", "gamma": "loo"}),
    "ls-svm iterative": ("ls-svm", {"kernel": laplacian(sigma=2.0), "strategy": "iterative"}),
    "ls-svm lowrank": ("ls-svm", {"kernel": rbf, "strategy": "lowrank", "n_landmarks": 12}),
    "ls-svm sketched": ("ls-svm", {"kernel": rbf, "strategy": "sketched", "n_landmarks": 12}),
    "ls-svm generator": ("ls-svm", {"strategy": "lowrank", "random_state": np.random.default_rng(3)}),
    "ls-svr": ("ls-svr", {"kernel": rbf() + linear(), "gamma": [0.1, 1.0, 10.0]}),
    "ask-ls stack": ("ask-ls", {"kernel": "sne(sigma=1.5)", "ensembler": "stack(method='logistic')"}),
    "ask-ls object": ("ask-ls", {"kernel": sne(sigma=1.5).T, "ensembler": kr.make_ensembler("best")}),
    "ask-ls class": ("ask-ls", {"kernel": centered(sne()), "ensembler": type(kr.make_ensembler("best"))}),
    "ask-lsr": ("ask-lsr", {"kernel": "sne", "landmarks": np.arange(5), "strategy": "lowrank"}),
}


DECOMPOSERS = {
    "kpca": ("kpca", {"kernel": centered(laplacian()), "n_components": 3}),
    "ksvd": ("ksvd", {"kernel": sne(sigma=1.5), "n_components": 3}),
    "nystrom exact": ("nystrom", {"kernel": "sne", "n_components": 2, "normalizers": "exact"}),
    "nystrom estimate": ("nystrom", {"kernel": "sne", "n_components": 2, "normalizers": "estimate"}),
    "nystrom": ("nystrom", {"kernel": "rbf", "n_components": 2, "random_state": np.random.RandomState(0)}),
}


@pytest.mark.parametrize("name", DECOMPOSERS)
def test_decomposers_come_back(name, table, there_and_back):
    X, _, new = table
    solver, parameters = DECOMPOSERS[name]
    model = kr.make_solver(solver, **parameters).fit(X)
    again = there_and_back(model)
    require_identical(says(again, new), says(model, new))
    assert repr(again.solver_report_) == repr(model.solver_report_)


def test_a_section_that_does_not_fit_together_is_refused(table, tmp_path):
    """Compiled code would read beyond the end of an array that is too short."""
    model = kr.make_solver("nystrom", kernel="sne", n_components=2, normalizers="exact").fit(table[0])
    section = model._section
    for change in ({"row_normalizers": np.ones(3)}, {"row_samples": np.full((4, 4), np.nan)}):
        model._section = dataclasses.replace(section, **change)
        kr.save(model, tmp_path / "model.kern")
        with pytest.raises(DamagedModelFile, match="does not fit together"):
            kr.load(tmp_path / "model.kern")


def test_solvers_and_machines_that_do_not_fit_together_are_refused(table, tmp_path):
    X, y, _ = table
    for make, changes in (
        (
            lambda: kr.make_solver("ls-svm").fit(X, y),
            (
                {"_intercepts": np.ones((1, 2))},
                {"X_fit_": X[:5]},
                {"classes_": np.arange(7)},
                {"X_fit_": X.astype(int)},
            ),
        ),
        (
            lambda: SVC().fit(X, y),
            (
                {"_dual_coef_": np.ones((2, 3))},
                {"_n_support": np.array([9, 9, 9], np.int32)},
                {"support_vectors_": X[:1]},
            ),
        ),
    ):
        for change in changes:
            model = make()
            vars(model).update(change)
            kr.save(model, tmp_path / "model.kern")
            with pytest.raises(DamagedModelFile, match="do not fit together"):
                kr.load(tmp_path / "model.kern")


@pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "read"])
@pytest.mark.parametrize("name", SETTINGS)
def test_solvers_come_back_with_their_settings(name, mmap, table, there_and_back):
    X, y, new = table
    solver, parameters = SETTINGS[name]
    model = kr.make_solver(solver, **parameters).fit(X, y)
    again = there_and_back(model, mmap=mmap)
    require_identical(says(again, new), says(model, new))
    assert again.solver_report_ == model.solver_report_ or np.isnan(model.solver_report_.condition)
    require_identical(says(again.fit(X, y), new), says(model.fit(X, y), new))  # and it can be used as any other


def test_samples_of_every_kind_come_back(table, there_and_back):
    X, y, new = table
    names = np.array(["apple", "pear", "fig"], dtype=object)[y]
    sparse, sparse_new = sp.csr_array(np.maximum(X, 0)), sp.csr_matrix(np.maximum(new, 0))
    nodes = np.arange(45)
    for model, samples in (
        (kr.make_solver("ls-svm").fit(X.astype(np.float32), y), new.astype(np.float32)),
        (kr.make_solver("ls-svm").fit(np.asfortranarray(X), y), new),
        (kr.make_solver("ls-svm").fit(sparse, names), sparse_new),
        (kr.make_solver("ls-svm").fit(X, names.astype(str)), new),
        (kr.make_solver("ask-ls", kernel="sne").fit((X, X[:, :4] * 2), y), (new, new)),
        (kr.make_solver("ask-ls", kernel="sne").fit(X, y, sample_weight=np.arange(45) % 3), new),
        (kr.make_solver("ls-svr").fit(X, np.column_stack([X[:, 0], X[:, 1]])), new),
        (kr.make_solver("ask-ls", kernel=adjacency(graph=sp.csr_array(X @ X.T > 1))).fit(nodes, y), nodes[:9]),
        (kr.make_solver("ls-svm", kernel=precomputed(K=X @ X.T)).fit(nodes, y), nodes[:9]),
    ):
        again = there_and_back(model)
        require_identical(says(again, samples), says(model, samples))


def test_leave_one_out_of_a_loaded_model_is_that_of_the_saved(table, there_and_back):
    X, y, _ = table
    model = kr.make_solver("ls-svm", kernel="rbf(sigma=2.0)").fit(X, y)
    again = there_and_back(model)
    np.testing.assert_array_equal(again.loo_views_["decision"], model.loo_views_["decision"])


def make_ensemble() -> ViewEnsemble:
    return ViewEnsemble(
        [("a", "ask-ls(kernel='sne(sigma=2.0)')"), ("b", kr.make_solver("ls-svm")), ("c", RidgeClassifier())],
        ensembler="stack",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    )


SKLEARN = {
    "scaled": lambda: make_pipeline(StandardScaler(), kr.make_solver("ask-ls", kernel="sne(sigma=2.0)", gamma="loo")),
    "ensemble": make_ensemble,
    "deep": lambda: Pipeline(
        [
            ("both", FeatureUnion([("pca", PCA(2)), ("map", Nystroem(n_components=5, random_state=0))])),
            ("inner", make_pipeline(FunctionTransformer(np.tanh), StandardScaler())),
            ("last", make_ensemble()),
        ]
    ),
    "columns": lambda: make_pipeline(
        ColumnTransformer(
            [("scale", StandardScaler(), [0, 1]), ("bins", OneHotEncoder(dtype=np.float32), slice(2, 3))]
        ),
        kr.make_solver("ls-svm"),
    ),
    "voting": lambda: VotingClassifier([("ls", kr.make_solver("ls-svm")), ("lda", LinearDiscriminantAnalysis())]),
    "stacking": lambda: StackingClassifier([("ls", kr.make_solver("ls-svm")), ("svc", SVC())], LogisticRegression()),
    "svc": lambda: SVC(kernel="rbf", decision_function_shape="ovo"),
    "lda": LinearDiscriminantAnalysis,
    "svr": lambda: SVR(),
    "ridge": lambda: Ridge(random_state=np.random.RandomState(3)),
}


WRAPPERS = {
    "sigmoid": lambda inner: CalibratedClassifierCV(inner),
    "isotonic": lambda inner: CalibratedClassifierCV(inner, method="isotonic", ensemble=False),
    "temperature": lambda inner: CalibratedClassifierCV(inner, method="temperature"),
    "one-vs-rest": OneVsRestClassifier,
    "outputs": MultiOutputClassifier,
    "tuned threshold": TunedThresholdClassifierCV,
    "tuned by F1": lambda inner: TunedThresholdClassifierCV(inner, scoring="f1", cv=3),
    "fixed threshold": lambda inner: FixedThresholdClassifier(inner, threshold=0.3),
    "columns": lambda inner: make_pipeline(
        ColumnTransformer([("a", StandardScaler(), [0])], remainder="passthrough"), inner
    ),
}


@pytest.mark.parametrize("solver", ["ls-svm(kernel='rbf(sigma=2.0)')", "ask-ls(kernel='sne(sigma=2.0)', gamma=3.0)"])
@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_come_back_with_classifiers_inside(name, solver, table, there_and_back):
    X, y, new = table
    y = (np.asarray(y) == np.unique(y)[0]).astype(int)
    if name in ("one-vs-rest", "outputs"):
        y = np.column_stack([y, X[:, 0] > 0, np.ones(len(y))][: 3 if name == "one-vs-rest" else 2]).astype(int)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Label 2 is present in all")  # that is the constant predictor
        model = WRAPPERS[name](kr.make_solver(solver)).fit(X, y)
    again = there_and_back(model)
    require_identical(says(again, new), says(model, new))


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("asked", [False, True])
def test_probabilities_and_labels_come_back(calibration, asked, table, there_and_back):
    X, y, new = table
    for labels in (y, np.column_stack([np.asarray(y) == name for name in np.unique(y)]).astype(int)):
        model = kr.make_solver("ls-svm", kernel="rbf(sigma=2.0)", calibration=calibration).fit(X, labels)
        if asked:
            model.predict_proba(new)
        again = there_and_back(model)
        np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
        np.testing.assert_array_equal(again.predict(new), model.predict(new))


@pytest.mark.parametrize("name", SKLEARN)
def test_estimators_of_scikit_learn_come_back_with_solvers_inside(name, table, there_and_back):
    X, y, new = table
    if name == "columns":
        X, new = (np.column_stack([part[:, :2], np.digitize(part[:, 2], [0.0])]) for part in (X, new))
    model = SKLEARN[name]().fit(X, y)
    again = there_and_back(model)
    require_identical(says(again, new), says(model, new))


def test_text_goes_through_a_pipeline(there_and_back):
    texts = np.array(["red apple", "green apple", "red fox", "fast fox", "slow fox", "apple pie"], dtype=object)
    model = make_pipeline(TfidfVectorizer(), kr.make_solver("ls-svm", kernel="linear")).fit(texts, [0, 0, 1, 1, 1, 0])
    require_identical(says(there_and_back(model), texts), says(model, texts))


def test_a_new_process_predicts_the_same(table, tmp_path):
    X, y, new = table
    model = SKLEARN["deep"]().fit(X, y)
    kr.save(model, tmp_path / "model.kern")
    np.save(tmp_path / "new.npy", new)
    code = (
        "import sys; folder = sys.argv[1]; import numpy as np, kernreg as kr;"
        "model = kr.load(folder + '/model.kern');"
        "np.savez(folder + '/said.npz', d=model.decision_function(np.load(folder + '/new.npy')),"
        "p=model.predict(np.load(folder + '/new.npy')))"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(tmp_path)], check=True, timeout=120)
    said = np.load(tmp_path / "said.npz")
    assert said["d"].tobytes() == model.decision_function(new).tobytes()
    np.testing.assert_array_equal(said["p"], model.predict(new))


def test_what_is_one_object_stays_one_object(table, there_and_back):
    X, y, _ = table
    solver = kr.make_solver("ls-svm").fit(X, y)
    both = ViewEnsemble([("a", solver), ("b", kr.make_solver("ls-svr"))])
    both.twice = [solver, solver, both.solvers]
    again = there_and_back(both)
    assert again.twice[0] is again.twice[1] is again.solvers[0][1]
    assert again.twice[2] is again.solvers
    assert isinstance(again.solvers[0][1].kernel_, Kernel)


def test_every_class_that_files_may_name_exists():
    for target in OWN.values():
        module, _, name = target.partition(":")
        assert inspect.isclass(getattr(importlib.import_module(module), name))


def test_every_report_of_a_solver_may_stand_in_a_model():
    """Whoever adds one adds it to the list of classes that files may name."""
    for package in (kernreg.linalg, kernreg.solvers):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for name, cls in inspect.getmembers(module, inspect.isclass):
                if name.endswith("Report") and cls.__module__ == module.__name__:
                    assert f"{cls.__module__}:{name}" in OWN.values()
