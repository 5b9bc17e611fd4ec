"""Values that are no parameters, given to every parameter there is: one kind of error, short, with the name in it."""

from __future__ import annotations

import inspect
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

import kernreg as kr
from kernreg.errors import ConfigError, KernregError, ParameterError, RangeWarning, shown
from kernreg.linalg import generator, legacy_seed
from kernreg.registry import get_registry
from kernreg.solvers import CrossConformalClassifier

HUGE = 10**5000  # Python refuses to print it
RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
y = (X[:, 0] > 0).astype(int)
SOLVERS = get_registry("solver").names()
KERNELS = get_registry("kernel").names()
REGRESSIONS = ("ls-svr", "ask-lsr", "ask-rff-lsr", "cells-regression", "krein-ridge-regressor", "lab-rbf")


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


def fit(name, **params):
    base = {"bicluster": {"n_clusters": 2}, "cells": {"cell_size": 10}, "cells-regression": {"cell_size": 10}}
    target = X[:, 0] if name in REGRESSIONS else y
    table = np.abs(X) if name == "bicluster" else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kr.make_solver(name, **{**base.get(name, {}), **params}).fit(table, target)


def parameters(solver):
    return list(inspect.signature(get_registry("solver").get(solver)).parameters)


@pytest.mark.parametrize("name", SOLVERS)
def test_an_integer_that_python_does_not_print_is_accepted_or_refused_by_a_solver(name):
    for parameter in parameters(name):
        said = ""
        try:
            fit(name, **{parameter: HUGE})
        except KernregError as error:
            said = str(error)
        assert not said or parameter in said
        assert len(said) < 1000


@pytest.mark.parametrize(
    "value", [HUGE, Fraction(HUGE, 3), [HUGE], Unprintable()], ids=["int", "Fraction", "list", "object"]
)
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_refuses_what_cannot_be_printed(name, value):
    family = get_registry("kernel").get(name)
    kernel, _ = family.example(np.random.default_rng(0), 5)
    for parameter in family.parameters:
        with pytest.raises(ParameterError, match=parameter.name) as error:
            kr.make_kernel(name, **{**kernel.get_params(deep=False), parameter.name: value})
        assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    "value", [HUGE, -HUGE, 2**63, [HUGE], Unprintable(), np.array([2.0]), np.array("2"), "x" * 10**5], ids=shown
)
def test_settings_refuse_what_cannot_be_printed_or_counted_to(value):
    for setting in ("memory", "threads", "progress", "advice"):
        with pytest.raises(ConfigError, match=setting) as error, kr.config_context(**{setting: value}):
            pass
        assert len(str(error.value)) < 1000


@pytest.mark.parametrize("path", ["a\0b", "\ud800", ""])
def test_a_path_that_no_system_opens_is_no_cache(path):
    with pytest.raises(ConfigError, match="cache_dir"), kr.config_context(cache_dir=path):
        pass


BAD_SEEDS = {
    "text": "0",
    "float": 1.0,
    "negative": -1,
    "array": np.array([1, 2]),
    "list": [1, 2],
    "bool": True,
    "numpy bool": np.True_,
    "huge": HUGE,
    "long list": list(range(200_000)),
    "time": np.timedelta64(1, "s"),
    "SeedSequence": np.random.SeedSequence(0),
    "BitGenerator": np.random.PCG64(0),
    "module": np.random,
}
SEEDED = [name for name in SOLVERS if "random_state" in parameters(name)]


@pytest.mark.parametrize("kind", BAD_SEEDS)
def test_a_bad_random_state_is_refused_alike_by_all(kind):
    messages = set()
    for name in SEEDED:
        with pytest.raises(ParameterError, match="random_state") as error:
            fit(name, random_state=BAD_SEEDS[kind])
        messages.add(str(error.value))
    with pytest.raises(ParameterError, match="random_state") as error:
        generator(BAD_SEEDS[kind])
    messages.add(str(error.value))
    assert len(messages) == 1
    assert len(messages.pop()) < 1000


@pytest.mark.parametrize("name", SEEDED)
def test_every_kind_of_random_state_is_taken_by_all(name):
    for seed in (None, 3, np.uint8(3), 2**100, np.random.default_rng(3), np.random.RandomState(3)):
        fit(name, random_state=seed)


def test_seeds_for_scikit_learn_are_those_given_where_they_fit():
    legacy = np.random.RandomState(0)
    assert legacy_seed(None) is None
    assert legacy_seed(2**32 - 1) == 2**32 - 1
    assert legacy_seed(legacy) is legacy
    assert legacy_seed(2**32) == legacy_seed(2**32) < 2**31


FLAGS = [
    ("kpca", "fit_inverse_transform"),
    ("ksvd", "center"),
    ("ksvd", "scale"),
    ("nystrom", "center"),
    ("nystrom", "scale"),
    ("nystrom", "orthogonalize"),
    ("krein-ridge", "fit_intercept"),
    ("krein-ridge-regressor", "fit_intercept"),
    ("ksvd-cluster", "self_loops"),
]


@pytest.mark.parametrize(("name", "flag"), FLAGS)
def test_a_flag_is_true_or_false(name, flag):
    for value in ("no", 0, 1, None, np.array([True, False]), np.array(True), [True], HUGE):
        with pytest.raises(ParameterError, match=f"{flag}=.* is not accepted; give True or False"):
            fit(name, **{flag: value})
    fit(name, **{flag: np.True_})


def test_a_flag_of_a_kernel_may_be_that_of_numpy():
    assert kr.make_kernel("sne", self_term=np.False_) == kr.make_kernel("sne", self_term=False)
    for value in ("no", 0, 1, None, np.array([True, False]), np.array(True)):
        with pytest.raises(ParameterError, match=r"self_term=.*one of True, False"):
            kr.make_kernel("sne", self_term=value)


NO_NUMBERS = [
    np.complex128(2),
    2 + 0j,
    np.array(True),
    np.array("2"),
    np.array([2.0]),
    np.timedelta64(2, "s"),
    np.ma.masked,
    np.ma.array(2.0, mask=True),
    Decimal("NaN"),
    Decimal("sNaN"),
    1e-320,
    float("nan"),
    [2.0],
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_a_width_is_a_number_that_can_be_divided_by(value):
    with pytest.raises(ParameterError, match="rbf: sigma"):
        kr.make_kernel("rbf", sigma=value)


def test_numbers_of_all_kinds_are_widths():
    for value in (
        2,
        2.0,
        np.float16(2),
        np.longdouble(2),
        np.uint8(2),
        np.array(2),
        np.array(2.0),
        Fraction(2),
        Decimal(2),
    ):
        assert kr.make_kernel("rbf", sigma=value) == kr.make_kernel("rbf", sigma=2.0)


def test_integers_of_kernels_are_exact():
    with pytest.raises(ParameterError, match=r"n_neighbors is .*up to 2⁵³"):
        kr.make_kernel("local-rbf", n_neighbors=2**60)
    with pytest.raises(ParameterError, match="band"):
        kr.make_kernel("gak", band=2**31)
    with pytest.raises(ParameterError, match="components"):
        kr.make_kernel("gmm-kl", components=10**6)
    with pytest.warns(RangeWarning, match="inf"):  # and no overflow error
        assert np.isinf(kr.make_kernel("poly", degree=1e20)([[0.5]], [[0.5]])).all()


@pytest.mark.parametrize("value", [np.timedelta64(2, "s"), True, "2", 2.5, HUGE, None], ids=shown)
def test_counts_of_dual_machines_are_integers(value):
    with pytest.raises(ParameterError, match=r"max_iter=.* is not accepted; give an integer"):
        fit("ls-svm", max_iter=value)


def test_text_of_many_digits_is_no_gamma_and_takes_no_time():
    with pytest.raises(ParameterError, match="gamma="):
        fit("ls-svm", gamma="2" * 1_000_000)


@pytest.mark.parametrize("landmarks", [[[1], [1, 2]], [[1]], [0.5], [], list(range(1000))])
def test_landmarks_that_are_no_indices_are_shown(landmarks):
    with pytest.raises(ParameterError, match="landmarks="):
        fit("ls-svm", gamma=1.0, strategy="lowrank", landmarks=landmarks)


@pytest.mark.parametrize("weights", [{"a": 1.0}, {0: "x", 1: 1.0}, {0: None, 1: 1.0}])
def test_weights_of_classes_that_are_none(weights):
    with pytest.raises(KernregError, match="weight"):
        fit("ls-svm", class_weight=weights)


@pytest.mark.parametrize("alpha", ["2", True, np.complex64(2), np.array(2.0), HUGE, None], ids=shown)
def test_the_ridge_of_a_stack_is_a_number(alpha):
    views = {"a": [1.0, 2.0, 0.0], "b": [0.0, 1.0, 3.0]}
    with pytest.raises(ParameterError, match="alpha"):
        kr.make_ensembler("stack", alpha=alpha).fit(views, [1, -1, 1])


def test_a_ridge_that_is_too_small_for_equal_views_says_so():
    views = {"a": X[:, 0], "b": X[:, 0] + 0.1}
    with pytest.raises(ParameterError, match="alpha=1e-300 is too small"):
        kr.make_ensembler("stack", alpha=1e-300).fit(views, 2 * y - 1)


def test_what_a_message_shows_is_short():
    assert shown(Unprintable()) == "(a value of type Unprintable that cannot be printed)"
    assert shown(-HUGE) == "(an integer of more than 20 digits)"
    assert shown(list(range(1000))) == "(list of 1000 values that begins with [0, 1, 2, 3, 4])"
    assert "\n" not in shown(np.ones((3, 3)))
    assert len(shown(dict.fromkeys(range(1000), "x" * 100))) < 250


class Refusal(Exception):
    pass


def refuse(*_):
    raise Refusal("this object refuses")


RAISING = {
    "float": type("AngryFloat", (float,), {"__eq__": refuse, "__lt__": refuse, "__float__": refuse}),
    "int": type("AngryInt", (int,), {"__eq__": refuse, "__lt__": refuse, "__index__": refuse}),
    "str": type("AngryText", (str,), {"__eq__": refuse, "__hash__": refuse}),
    "list": type("AngryList", (list,), {"__len__": refuse}),
    "dict": type("AngryDict", (dict,), {"keys": refuse}),
    "object": type("Angry", (), {"__eq__": refuse, "__repr__": refuse}),
    "attributes": type("Secretive", (), {"__getattr__": refuse}),
}


@pytest.mark.parametrize("kind", RAISING)
@pytest.mark.parametrize("name", ["ls-svm", "ask-ls", "kpca", "ksvd", "bicluster", "cells", "scg-osk", "krein-svm"])
def test_a_parameter_whose_own_code_raises_is_refused_by_name(name, kind):
    for parameter in parameters(name):
        with pytest.raises(ParameterError, match=f"{parameter}=.* is not accepted"):
            fit(name, **{parameter: RAISING[kind]()})


@pytest.mark.parametrize("kind", ["float", "int", "object"])
def test_a_kernel_refuses_a_parameter_whose_own_code_raises(kind):
    with pytest.raises(ParameterError, match="rbf: sigma="):
        kr.make_kernel("rbf", sigma=type("Loud", (RAISING[kind],), {"__float__": refuse})())


def test_what_has_every_attribute_is_no_parameter():
    from unittest.mock import MagicMock

    for parameter in ("kernel", "ensembler", "gamma"):
        with pytest.raises(ParameterError, match=rf"{parameter}=.*mocks"):
            fit("ask-ls", **{parameter: MagicMock()})


@pytest.mark.parametrize("spec", ["", "(", "\x1b[31m", "x" * 10**5])
@pytest.mark.parametrize(
    ("name", "parameter"),
    [("ask-ls", "ensembler"), ("ask-rff-ls", "ensembler"), ("cells", "solver"), ("kpca", "kernel")],
)
def test_a_spec_that_cannot_be_read_is_named(name, parameter, spec):
    with pytest.raises(KernregError, match=f"^{parameter}: cannot read the spec"):
        fit(name, **{parameter: spec})


@pytest.mark.parametrize("kernel", ["", "no-such-kernel", 3, b"rbf"])
def test_the_kernel_of_the_inverse_is_named(kernel):
    with pytest.raises(KernregError, match="inverse_kernel"):
        fit("kpca", fit_inverse_transform=True, inverse_kernel=kernel)


@pytest.mark.parametrize(
    "alpha", [(i for i in range(3)), math, memoryview(b"x")], ids=["generator", "module", "memory"]
)
def test_an_ensembler_that_cannot_be_copied_says_so(alpha):
    with pytest.raises(ParameterError, match=r"ensembler=.*cannot be copied"):
        fit("ask-ls", ensembler=kr.make_ensembler("stack", alpha=alpha))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "gamma"),
    [
        *((name, gamma) for name in ("ask-ls", "ls-svm") for gamma in (1e-300, 1e-200, 1e300, [1e-300, 1.0, 1e300])),
        *(("ask-rff-ls", gamma) for gamma in (1e-300, 1e-200, 1e99, [1e-300, 1.0, 1e99])),
    ],
    ids=str,
)
def test_a_gamma_at_the_ends_of_numbers(name, gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        machine = kr.make_solver(name, gamma=gamma).fit(X, y)
        assert np.isfinite(machine.decision_function(X)).all()
        if hasattr(machine, "loo_score_"):
            assert np.isfinite(machine.loo_score_)


def test_leave_one_out_of_a_tiny_gamma_is_that_of_the_mean():
    found = kr.make_solver("ask-lsr", gamma=1e-250).fit(X, X[:, 0]).loo_residuals_
    mean_without = X[:, 0] - (X[:, 0].sum() - X[:, 0]) / (len(X) - 1)
    for view in found.values() if isinstance(found, dict) else [found]:
        np.testing.assert_allclose(view, mean_without, rtol=1e-9)


@pytest.mark.parametrize("gamma", [b"auto", bytearray(b"x"), 1e-308, "1.0"], ids=shown)
def test_a_gamma_of_features_is_a_number_or_a_list(gamma):
    with pytest.raises(ParameterError, match="gamma="):
        fit("ask-rff-ls", gamma=gamma)


@pytest.mark.parametrize("value", [1e100, 1e155, 1e308])
@pytest.mark.parametrize(("name", "parameter"), [("iksvm-dc", "C"), ("krein-svm", "C"), ("fisher-score", "step")])
def test_numbers_that_no_machine_computes_with(name, parameter, value):
    with pytest.raises(ParameterError, match=rf"{parameter}=.* above 0 and below 1e\+100"):
        fit(name, **{parameter: value})


@pytest.mark.parametrize("mark", [[[1, 2], [3]], (1, 2), np.void(b"ab"), Decimal("sNaN"), {"a": 1}], ids=str)
@pytest.mark.parametrize("name", ["fisher-score", "scg-ldk", "osk"])
def test_the_mark_of_missing_labels_is_one_value(name, mark):
    with pytest.raises(ParameterError, match="unlabelled="):
        fit(name, unlabelled=mark)


@pytest.mark.parametrize("widths", [np.array(1.0), [[1, 2], [3]], "auto", 1.0, np.ma.masked, {}], ids=shown)
def test_widths_of_cells_are_numbers(widths):
    with pytest.raises(ParameterError, match="widths="):
        fit("cells", widths=widths)


@pytest.mark.parametrize("gamma", [[[1, 2], [3]], np.void(b"ab"), None, np.longdouble("1e4000")], ids=shown)
def test_gamma_of_the_machines_in_cells(gamma):
    with pytest.raises(ParameterError, match="gamma="):
        fit("cells", solver=kr.make_solver("ls-svm", gamma=gamma))


@pytest.mark.parametrize("value", [np.void(b"ab"), np.array(["a3", "graph"])], ids=["void", "array"])
@pytest.mark.parametrize(
    ("name", "parameter"), [("ksvd", "compatibility"), ("ksvd-cluster", "affinity"), ("bicluster", "scaling")]
)
def test_tags_do_not_depend_on_what_is_no_word(name, parameter, value):
    tags = kr.make_solver(name, **{parameter: value}).__sklearn_tags__()
    assert tags == kr.make_solver(name, **{parameter: "no such word"}).__sklearn_tags__()


@pytest.mark.parametrize("value", [np.float16("inf"), np.float16("nan")], ids=str)
def test_supports_in_half_precision(value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParameterError, match="n_supports="):
            kr.make_solver("lab-rbf", n_supports=value).fit(X, X[:, 0])


def test_a_machine_that_was_refused_an_array_is_not_fitted():
    machine = kr.make_solver("ls-svm", multi_class=np.array(["one-vs-one", "one-vs-rest"]))
    with pytest.raises(ParameterError, match="multi_class="):
        machine.fit(X, y)
    for ask in (machine.predict, machine.decision_function, machine.predict_set):
        with pytest.raises(NotFittedError):
            ask(X)


def test_an_ensemble_without_members_is_a_parameter_like_others():
    forest = RandomForestClassifier(5, random_state=0)
    with pytest.raises(AttributeError):
        len(forest)
    model = CrossConformalClassifier(forest, cv=2).fit(X, y)
    assert model.predict(X).shape == (len(X),)


@pytest.mark.parametrize("gamma", [1e16, 1e100, 1e308])
@pytest.mark.parametrize("name", ["ls-svr", "ask-lsr"])
def test_a_gamma_of_any_size_ends_in_a_result_or_says_why(name, gamma):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = kr.make_solver(name, strategy="iterative", gamma=gamma).fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()


def test_a_machine_with_an_ensembler_that_is_none_is_not_fitted():
    with pytest.raises(NotFittedError):
        check_is_fitted(kr.make_solver("ask-ls", ensembler=float("inf")))


class AngryText(str):
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        raise RuntimeError("this object refuses")


def test_words_that_cannot_be_compared_do_not_keep_a_fitted_machine_from_answering():
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = kr.make_solver("nystrom").fit(X)
    expected = model.transform(X)
    model.set_params(compatibility=AngryText("angry"))
    with pytest.raises(ParameterError, match="compatibility"):
        model.fit(X)
    np.testing.assert_array_equal(model.transform(X), expected)
