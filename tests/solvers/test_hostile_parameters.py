"""Values that are no parameters, given to every parameter there is: one kind of error, short, with the name in it."""

from __future__ import annotations

import inspect
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import ConfigError, KernregError, ParameterError, shown
from kernreg.linalg import generator, legacy_seed
from kernreg.registry import get_registry

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
    assert np.isfinite(kr.make_kernel("poly", degree=1e20)([[0.5]], [[0.5]])).all() in (
        True,
        False,
    )  # no overflow error


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
