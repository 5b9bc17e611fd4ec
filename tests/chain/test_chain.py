"""Chains against the same steps taken by hand."""

from __future__ import annotations

import json
import pickle
import tomllib

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernreg as kr
from kernreg.chain import Chain, make_chain, parallel
from kernreg.chain.passing import with_kernel
from kernreg.chain.toml import to_toml
from kernreg.ensemblers import Average, Stack
from kernreg.errors import ChainError, ParameterError, SpecError, UnknownPlugin
from kernreg.factory import make_kernel
from kernreg.kernels.builtin import rbf
from kernreg.kernels.sharing import shared_matrices
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier
from kernreg.solvers.parameters import KernelParameters


class Learner(KernelParameters):
    """The smallest kernel learner: twice the kernel it is given."""

    learns_kernel = True

    def __init__(self, kernel="rbf", unlabelled=-1):
        self.kernel = kernel
        self.unlabelled = unlabelled

    def fit(self, X, y=None):
        self.kernel_ = 2.0 * make_kernel(self.kernel)
        self.seen_ = len(X)
        return self


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_a_kernel_learner_passes_its_kernel_on(iris):
    X, y = iris
    chain = make_chain(Learner(), "ls-svm(gamma=3.0)", kernel="rbf(sigma=1.5)").fit(X, y)
    by_hand = LSSVC(2.0 * rbf(sigma=1.5), 3.0).fit(X, y)
    np.testing.assert_array_equal(chain.decision_function(X), by_hand.decision_function(X))
    assert chain.named_steps_["lssvm"].kernel == 2.0 * rbf(sigma=1.5)
    assert chain.kernel_ == by_hand.kernel_


def test_a_learnt_kernel_reaches_estimators_of_scikit_learn(iris):
    X, y = iris
    chain = make_chain(Learner(), SVC(), kernel="rbf(sigma=1.5)").fit(X, y)
    np.testing.assert_array_equal(chain.predict(X), SVC(kernel=2.0 * rbf(sigma=1.5)).fit(X, y).predict(X))


def test_predictors_after_a_learner_see_labelled_samples_only(iris):
    X, y = iris
    partly = np.where(np.arange(150) % 3 == 0, -1, y)
    chain = make_chain(Learner(), "ls-svm", kernel="rbf(sigma=1.5)").fit(X, partly)
    assert chain.classes_.tolist() == [0, 1, 2]
    assert chain.named_steps_["learner"].seen_ == 150
    by_hand = LSSVC(2.0 * rbf(sigma=1.5)).fit(X[partly >= 0], y[partly >= 0])
    np.testing.assert_array_equal(chain.decision_function(X), by_hand.decision_function(X))
    stacked = make_chain(Learner(), "ls-svm", "stack", kernel="rbf(sigma=1.5)").fit(X, partly)
    assert stacked.classes_.tolist() == [0, 1, 2]


def test_a_decomposer_passes_features_and_the_kernel_after_it_is_linear(iris):
    X, y = iris
    chain = make_chain("kpca(n_components=3)", "ls-svm(gamma=3.0)", kernel="rbf(sigma=1.5)").fit(X, y)
    kpca = kr.make_solver("kpca", n_components=3, kernel="rbf(sigma=1.5)").fit(X)
    by_hand = LSSVC("linear", 3.0).fit(kpca.transform(X), y)
    np.testing.assert_allclose(chain.decision_function(X), by_hand.decision_function(kpca.transform(X)), rtol=1e-10)
    own = make_chain("kpca(n_components=3)", "ls-svm(kernel='rbf(sigma=9.0)')", kernel="rbf(sigma=1.5)").fit(X, y)
    assert own.named_steps_["lssvm"].kernel_ == rbf(sigma=9.0)


def test_both_sides_of_an_asymmetric_decomposition_are_features(iris):
    X, y = iris
    chain = make_chain("ksvd(n_components=3)", "ls-svm", kernel="sne(sigma=1.5)").fit(X, y)
    assert chain.named_steps_["lssvm"].n_features_in_ == 6
    svd = kr.make_solver("ksvd", n_components=3, kernel="sne(sigma=1.5)").fit(X)
    features = np.hstack([svd.transform(X[:9]), svd.transform_right(X[:9])])
    np.testing.assert_allclose(
        chain.decision_function(X[:9]), chain.named_steps_["lssvm"].decision_function(features), rtol=1e-9
    )


def test_transformers_of_scikit_learn_are_steps(wine):
    X, y = wine
    chain = make_chain(StandardScaler(), "ls-svm", kernel="rbf(sigma=4.0)").fit(X * 7 + 3, y)
    np.testing.assert_allclose(
        chain.decision_function(X * 7 + 3), LSSVC("rbf(sigma=4.0)").fit(X, y).decision_function(X), rtol=1e-9
    )
    assert make_chain("kpca(n_components=2)", LogisticRegression()).fit(X, y).predict_proba(X).shape == (178, 3)


def test_branches_are_merged_by_leave_one_out_views(wine):
    X, y = wine
    branches = parallel(near="ls-svm(kernel='rbf(sigma=2.0)')", far="ask-ls(kernel='sne(sigma=6.0)', gamma=0.4)")
    chain = make_chain(branches, "stack").fit(X, y)
    near, far = LSSVC("rbf(sigma=2.0)").fit(X, y), AsKLSClassifier("sne(sigma=6.0)", 0.4).fit(X, y)
    views = {"near": near.loo_views_["decision"], **{f"far.{name}": view for name, view in far.loo_views_.items()}}
    expected = Stack().fit(views, y)
    new = {"near": near.decision_views(X)["decision"]}
    new.update({f"far.{name}": view for name, view in far.decision_views(X).items()})
    assert chain.learnt_from_ == "loo"
    assert set(chain.decision_views(X)) == {"near", "far.source", "far.target"}
    np.testing.assert_allclose(chain.decision_function(X), expected.merge(new), rtol=1e-8)
    assert chain.score(X, y) > 0.97


def test_folds_refit_everything_before_the_ensembler(wine):
    X, y = wine
    chain = make_chain("kpca(n_components=4)", GaussianNB(), "stack", kernel="rbf(sigma=4.0)", cv=4).fit(X, y)
    assert chain.learnt_from_ == "folds"
    assert chain.score(X, y) > 0.9
    forced = make_chain("ls-svm", "stack", kernel="rbf(sigma=4.0)", learn_from="folds").fit(X, y)
    assert forced.learnt_from_ == "folds"
    with pytest.raises(ParameterError, match="no leave-one-out views"):
        make_chain(GaussianNB(), "stack", learn_from="loo").fit(X, y)


def test_regression_chains(wine):
    X, _ = wine
    target = X[:, 0] * X[:, 1]
    chain = make_chain(parallel("ls-svr(kernel='rbf(sigma=3.0)')", Ridge()), "stack").fit(X, target)
    assert chain.score(X, target) > 0.8
    simple = make_chain("kpca(n_components=60)", "ls-svr(gamma=1e4)", kernel="rbf(sigma=4.0)").fit(X, target)
    assert simple.score(X, target) > 0.8
    assert isinstance(simple.named_steps_["lssvr"], LSSVR)


def test_branches_of_features_are_put_side_by_side(iris):
    X, y = iris
    both = parallel("kpca(n_components=2, kernel='rbf')", StandardScaler())
    chain = make_chain(both, "ls-svm(gamma=5.0)").fit(X, y)
    assert chain.named_steps_["lssvm"].n_features_in_ == 6
    assert make_chain(both).fit(X).transform(X).shape == (150, 6)


def test_nested_chains(iris):
    X, y = iris
    inner = make_chain("kpca(n_components=3)", "ls-svm")
    outer = make_chain(parallel(deep=inner, flat="ls-svm"), "average", kernel="rbf(sigma=1.5)").fit(X, y)
    deep = outer.named_steps_["parallel"].branches_[0][1]
    assert deep.named_steps_["kpca"].kernel_ == rbf(sigma=1.5)
    assert deep.named_steps_["lssvm"].kernel == "linear"
    flat = make_chain("kpca(n_components=3)", "ls-svm", kernel="rbf(sigma=1.5)").fit(X, y)
    np.testing.assert_allclose(deep.decision_function(X), flat.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (("rbf(sigma=2.0)", "ls-svm"), r"is a kernel.*make_chain\(…, kernel='rbf\(sigma=2\.0\)'\)"),
        (("ls-svm", "kpca"), "'kpca', a decomposer, cannot follow 'lssvm', a predictor"),
        (("kpca", "stack"), "'stack' merges decision views, and 'kpca', a decomposer"),
        (("stack",), "'stack' comes first"),
        (("ls-svm", "stack", "ls-svm"), "'lssvm2', a predictor, cannot follow 'stack'"),
        ((Learner(), StandardScaler(), "ls-svm"), "'standardscaler' changes these before any step has used it"),
        ((Learner(), LogisticRegression()), "'logisticregression', a predictor, takes none"),
        ((Learner(), "ls-svm(kernel='tl1')"), "'lssvm' has its own kernel, 'tl1', and follows 'learner'"),
        ((), "at least one step"),
        ((("a", "ls-svm"), object()), "is not an estimator"),
    ],
)
def test_steps_that_do_not_fit_together_are_refused(steps, message):
    with pytest.raises(ChainError, match=message):
        make_chain(*steps)


def test_other_refusals(iris):
    X, y = iris
    with pytest.raises(ChainError, match="'lssvm' is a predictor, 'kpca' is a decomposer"):
        parallel("ls-svm", "kpca")
    with pytest.raises(UnknownPlugin, match="no solver or ensembler 'no-such'"):
        make_chain("no-such")
    with pytest.raises(ChainError, match="put an ensembler after it"):
        make_chain(parallel("ls-svm", "ask-ls(gamma=0.4)")).fit(X, y).predict(X)
    with pytest.raises(ParameterError, match="none of the steps takes it"):
        make_chain("ksvd", SVC_without_weights()).fit(X, y, sample_weight=np.ones(150))
    with pytest.raises(ChainError, match="is given twice"):
        Chain([("a", LSSVC()), ("a", Average())])
    with pytest.raises(ParameterError, match="learn_from"):
        make_chain("ls-svm", learn_from="magic")


class SVC_without_weights(LSSVC):
    def fit(self, X, y):
        return super().fit(X, y)


def test_weights_reach_the_steps_that_take_them(iris):
    X, y = iris
    weights = np.random.default_rng(0).random(150) + 0.1
    chain = make_chain("kpca(n_components=3)", "ls-svm", kernel="rbf").fit(X, y, sample_weight=weights)
    inner = chain.named_steps_["kpca"].transform(X)
    by_hand = LSSVC("linear").fit(inner, y, sample_weight=weights)
    np.testing.assert_allclose(chain.decision_function(X), by_hand.decision_function(inner), rtol=1e-9)


def test_grid_search_clone_and_pickle(iris):
    X, y = iris
    chain = make_chain("kpca(n_components=3)", "ls-svm", kernel="rbf(sigma=1.5)")
    search = GridSearchCV(chain, {"kernel__sigma": [0.5, 2.0], "lssvm__gamma": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert set(search.best_params_) == {"kernel__sigma", "lssvm__gamma"}
    two = make_chain("ls-svm(kernel='rbf(sigma=1.0)')").set_params(lssvm__kernel__sigma=4.0)
    assert two.steps[0][1].kernel == rbf(sigma=4.0)
    assert clone(chain).get_params()["kernel"] == "rbf(sigma=1.5)"
    fitted = chain.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert cross_val_score(chain, X, y, cv=3).mean() > 0.9
    shown = chain._repr_html_()
    assert shown.count("KernelPCA") > 1  # as a box, not only in the text that stands in for boxes
    assert "LSSVC" in shown


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # of three values one is at an end
def test_spec_round_trips_through_json_and_toml(iris):
    X, y = iris
    chain = make_chain(
        StandardScaler(with_mean=False),
        "kpca(n_components=3)",
        parallel(
            one=("ls-svm", {"gamma": np.array([0.1, 1.0, 10.0])}),
            two=make_chain("ask-ls(gamma=(0.4, 0.7), ensembler='stack')", kernel=0.5 * rbf(sigma=3.0)),
        ),
        "stack(method='logistic')",
        kernel="rbf(sigma=1.5)",
        cv=3,
    )
    spec = chain.spec()
    for again in (json.loads(json.dumps(spec, allow_nan=False)), tomllib.loads(to_toml(spec))):
        assert again == spec
        twin = Chain.from_spec(again)
        assert twin.spec() == spec
        np.testing.assert_array_equal(twin.fit(X, y).predict_proba(X), chain.fit(X, y).predict_proba(X))
    assert spec["kernreg_chain"] == 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "not the spec of a chain"),
        ({"kernreg_chain": 99, "steps": []}, "reads versions 1 to 1"),
        ({"kernreg_chain": 1, "steps": [{"name": "a", "solver": "no-such"}]}, "cannot be used"),
        ({"kernreg_chain": 1, "steps": [{"name": "a", "scikit-learn": "os:system"}]}, "cannot be used"),
        ({"kernreg_chain": 1, "steps": [{"name": "a", "solver": "ls-svm", "code": "x"}]}, "'code', which is not known"),
        ({"kernreg_chain": 1, "steps": [{"name": "a", "solver": "ls-svm", "params": {"no": 1}}]}, "no"),
        ({"kernreg_chain": 1, "steps": [{"name": "a"}]}, "none of them"),
        ({"kernreg_chain": 1, "steps": [], "extra": 1}, "'extra', which is not known"),
        (
            {"kernreg_chain": 1, "steps": [{"name": "a", "solver": "ls-svm", "params": {"gamma": {"$x": 1}}}]},
            "not known to this",
        ),
    ],
)
def test_specs_that_are_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        Chain.from_spec(spec)


def test_what_a_spec_cannot_hold():
    held = kr.make_kernel("precomputed", K=np.eye(3))
    with pytest.raises(SpecError, match=r"kernel is the kernel precomputed.*kernreg\.save"):
        make_chain("ls-svm", kernel=held).spec()
    with pytest.raises(SpecError, match="Learner is neither a registered solver"):
        make_chain(Learner(), "ls-svm").spec()


def test_a_kernel_matrix_is_computed_once(iris):
    X, y = iris
    with shared_matrices() as store:
        make_chain(parallel("ls-svm(gamma=1.0)", "ls-svm(gamma=2.0)", "ls-svm(gamma=3.0)"), "stack", kernel="rbf").fit(
            X, y
        )
    assert store.evaluated == 1
    assert store.reused >= 2


def test_shared_matrices_are_not_changed_by_their_users(iris):
    X, _ = iris
    with shared_matrices():
        first = rbf()(X)
        first[:] = 0.0
        np.testing.assert_array_equal(rbf()(X).diagonal(), np.ones(150))
        np.testing.assert_array_equal(rbf()(X.copy()), rbf()(X))
        assert not np.array_equal(rbf()(X[::-1].copy()), rbf()(X))


# The kernel of a step that was given one --------------------------------------------------------------------


@pytest.mark.parametrize("given", ["rbf", "rbf()", rbf, rbf(), "sne(sigma=1.5)"])
@pytest.mark.parametrize("name", ["ls-svm", "ask-ls", "kpca", "ksvd", "nystrom", "scg-ldk", "bicluster"])
def test_a_kernel_that_is_given_is_kept_also_where_it_is_the_default(name, given):
    chain = make_chain(kr.make_solver(name, kernel=given), kernel="tl1(rho=9.0)")
    again = Chain.from_spec(json.loads(json.dumps(chain.spec()))) if not callable(given) or given == rbf() else chain
    for each in (chain, clone(chain), pickle.loads(pickle.dumps(chain)), again):
        (fitted,) = (step for _, step in each.steps)
        assert with_kernel(clone(fitted), each.kernel, False).resolve_kernel() == make_kernel(given)


def test_the_chain_has_the_kernel_of_steps_that_were_given_none(iris):
    X, y = iris
    chain = make_chain("ls-svm(gamma=3.0)", kernel="tl1(rho=9.0)").fit(X, y)
    assert chain.kernel_ == make_kernel("tl1(rho=9.0)")
    plain = make_chain("ls-svm(gamma=3.0)").fit(X, y)
    assert plain.kernel_ == make_kernel("rbf").bind(X)
    explicit = make_chain("ls-svm(kernel='rbf', gamma=3.0)", kernel="tl1(rho=9.0)").fit(X, y)
    assert explicit.kernel_ == make_kernel("rbf").bind(X)
    np.testing.assert_array_equal(explicit.decision_function(X), plain.decision_function(X))


def test_a_given_default_kernel_after_a_learner_is_refused():
    with pytest.raises(ChainError, match="has its own kernel, 'rbf'"):
        make_chain(Learner(), "ls-svm(kernel='rbf')")
    make_chain(Learner(), "ls-svm")


def test_a_solver_without_a_kernel_has_the_default_one():
    solver = LSSVC()
    assert solver.get_params() == LSSVC().get_params()
    assert (solver.get_params()["kernel"], solver.get_params()["kernel__sigma"]) == (None, "scale")
    assert "kernel" not in repr(solver)
    assert clone(solver).set_params(kernel__sigma=2.0).kernel == rbf(sigma=2.0)
    assert kr.make_solver("bicluster").get_params()["kernel__sigma"] == 1.5
    assert [name for name in make_chain("ls-svm").get_params() if name.startswith("kernel__")] == []


def test_features_of_a_chain_have_names_and_a_container():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(20, 3))
    chain = make_chain(StandardScaler(), "kpca(n_components=2, kernel='rbf(sigma=2.0)')").fit(X)
    assert chain.get_feature_names_out().tolist() == ["kernelpca0", "kernelpca1"]
    framed = chain.set_output(transform="pandas").transform(X)
    assert isinstance(framed, pd.DataFrame)
    assert framed.columns.tolist() == ["kernelpca0", "kernelpca1"]
    assert isinstance(chain.set_output(transform="default").fit_transform(X), np.ndarray)
    sides = make_chain("ksvd(n_components=2, kernel='sne(sigma=2.0)')").set_output(transform="pandas")
    assert sides.fit_transform(X).columns.tolist() == ["left0", "left1", "right0", "right1"]
    branches = make_chain(parallel(StandardScaler(), kpca="kpca(n_components=1, kernel='rbf(sigma=2.0)')")).fit(X)
    names = ["standardscaler__a", "standardscaler__b", "standardscaler__c", "kpca__kernelpca0"]
    assert branches.get_feature_names_out(["a", "b", "c"]).tolist() == names
    assert not hasattr(make_chain("ls-svm"), "get_feature_names_out")


@pytest.mark.parametrize("key", ["sklearn", "scikit-learn", "solver"])
def test_a_spec_names_estimators_of_scikit_learn_by_class(key):
    steps = [
        {"name": "scale", key: "StandardScaler", "params": {"with_mean": False}},
        {"name": "m", "solver": "ls-svm"},
    ]
    chain = Chain.from_spec({"kernreg_chain": 1, "steps": steps})
    assert isinstance(chain.steps[0][1], StandardScaler)
    assert chain.steps[0][1].with_mean is False
    assert Chain.from_spec(chain.spec()).spec() == chain.spec()
    with pytest.raises(SpecError, match="NoSuchScaler"):
        Chain.from_spec({"kernreg_chain": 1, "steps": [{"name": "scale", key: "NoSuchScaler"}]})


@pytest.mark.parametrize(
    "value",
    [
        {"$float": [1]},
        {"$float": "x"},
        {"$float": {"name": "x"}},
        {"$tuple": 3},
        {"$array": 5},
        {"$array": [1], "dtype": "nonsense"},
        {"$array": [[1], [1, 2]]},
        {"$array": [float("inf")], "dtype": "<i4"},
        {"$array": ["a"], "dtype": "<U99999999"},
        {"$object": 1},
        {"$kernel": 1},
        [16**4000],
    ],
    ids=lambda value: f"{value!r:.40}" if isinstance(value, dict) else "wide integer",
)
def test_values_of_a_spec_that_cannot_be_read_are_told(value):
    step = {"name": "s", "solver": "ls-svm", "params": {"gamma": value}}
    with pytest.raises(SpecError):
        Chain.from_spec({"kernreg_chain": 1, "steps": [step]})


@pytest.mark.parametrize(
    "step",
    [
        {"name": "s", "sklearn": {"a": 1}},
        {"name": "s", "solver": ["kpca"]},
        {"name": "s", "parallel": 3},
        {"name": "s", "solver": "x" * 5000},
        {"name": "x" * 5000, "solver": "kpca"},
        {"name": "s", "solver": "kpca", "params": {"x" * 5000: 1}},
        {"name": "s", "solver": "ls-svm", "params": {"gamma": {"$float": "x" * 5000}}},
        "x" * 5000,
    ],
)
def test_steps_of_a_spec_that_are_none_are_told_in_short(step):
    with pytest.raises(SpecError) as told:
        Chain.from_spec({"kernreg_chain": 1, "steps": [step]})
    assert len(str(told.value)) < 1000


@pytest.mark.parametrize("steps", [np.recarray(3, dtype=[("a", float)]), dict, [("a", "b", "c")], None, [], "kpca"])
def test_what_set_params_refuses_changes_nothing(steps):
    X, y = load_iris(return_X_y=True)
    chain = make_chain("kpca(n_components=2)", "ls-svm", kernel="rbf(sigma=2.0)").fit(X, y)
    before, expected = chain.get_params(), chain.predict_proba(X)
    with pytest.raises(ChainError, match=r"steps|one step"):
        chain.set_params(steps=steps, cv=3)
    with pytest.raises(ParameterError, match="learn_from"):
        chain.set_params(kernel="linear", learn_from="nowhere")
    assert chain.get_params() == before
    np.testing.assert_array_equal(chain.predict_proba(X), expected)
