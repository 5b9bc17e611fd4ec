from __future__ import annotations

import re

import numpy as np
import pytest

from kernreg import (
    available,
    config_context,
    get_config,
    make_chain,
    make_engine,
    make_ensembler,
    make_kernel,
    make_solver,
    register,
)
from kernreg import kernel as kernel_from
from kernreg.engine import Engine, HeldSamples
from kernreg.engine.local import LocalEngine
from kernreg.errors import ConfigError, ParameterError, PluginError, PluginExists, SpecError, UnknownPlugin
from kernreg.registry import Entry, get_registry, isolated


class Kernel:
    """Stands for a kernel: immutable, with parameters."""

    def __init__(self, family, params):
        self.family, self.params = family, params

    def set_params(self, **params):
        return Kernel(self.family, {**self.params, **params})


class Parameter:
    def __init__(self, name):
        self.name = name


class Family:
    """Stands for what the kernel decorator returns."""

    __kernreg_kernel__ = True
    parameters = (Parameter("sigma"), Parameter("rho"))

    def __call__(self, sigma=1.0, rho=2.0):
        return Kernel(self, {"sigma": sigma, "rho": rho})


class Solver:
    def __init__(self, gamma=1.0, kernel="rbf"):
        self.gamma, self.kernel = gamma, kernel

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def get_params(self, deep=True):
        return {"gamma": self.gamma, "kernel": self.kernel}

    def set_params(self, **params):
        raise AssertionError("an instance given to make_solver must not be changed")


class Ensembler:
    def __init__(self, weight=0.5):
        self.weight = weight

    def fit(self, views, y):
        return self

    def merge(self, views):
        return self.weight


FAMILY = Family()


@pytest.fixture(autouse=True)
def registered():
    with isolated():
        register("kernel", "test-kernel", FAMILY)
        register("solver", "test-solver", Solver)
        register("ensembler", "test-ensembler", Ensembler)
        yield


@pytest.mark.parametrize(
    ("spec", "params", "expected"),
    [
        ("test-kernel", {}, {"sigma": 1.0, "rho": 2.0}),
        ("test-kernel(sigma=3)", {}, {"sigma": 3, "rho": 2.0}),
        ("test-kernel(3, 4)", {}, {"sigma": 3, "rho": 4}),
        ("test-kernel(3)", {"rho": 5}, {"sigma": 3, "rho": 5}),
        ("test-kernel", {"sigma": [1]}, {"sigma": [1], "rho": 2.0}),
        (FAMILY, {"rho": 5}, {"sigma": 1.0, "rho": 5}),
    ],
)
def test_kernel_from_spec_and_family(spec, params, expected):
    kernel = make_kernel(spec, **params)
    assert kernel.family is FAMILY
    assert kernel.params == expected


def test_kernel_from_kernel_is_itself_or_a_changed_copy():
    kernel = make_kernel("test-kernel")
    assert make_kernel(kernel) is kernel
    changed = make_kernel(kernel, sigma=9)
    assert changed.params == {"sigma": 9, "rho": 2.0}
    assert kernel.params == {"sigma": 1.0, "rho": 2.0}


@pytest.mark.parametrize("make", [make_kernel, make_solver, make_ensembler])
@pytest.mark.parametrize("spec", [None, 3, ["test-kernel"]])
def test_other_objects_are_refused(make, spec):
    with pytest.raises(SpecError, match="give a spec such as"):
        make(spec)


def test_a_matrix_and_a_function_are_told_how_they_become_a_kernel():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ParameterError, match=r"make_kernel\('precomputed', K=K\).*row numbers") as error:
        make_solver("ls-svm", kernel=X @ X.T).fit(X, y)
    assert str(error.value).count("is not a kernel") == str(error.value).count("array(") == 1
    with pytest.raises(ParameterError, match=r"kernreg\.kernel\(of='rows'\)\(f\)\(\)"):
        make_solver("ls-svm", kernel=lambda x, z: x @ z).fit(X, y)
    with pytest.raises(ParameterError, match=r"precomputed needs K=.*make_kernel\('precomputed', K=K\)"):
        make_solver("ls-svm", kernel="precomputed").fit(X @ X.T, y)
    K = X + 1.0  # and what the messages say works
    assert (
        make_solver("ls-svm", kernel=make_kernel("precomputed", K=K)).fit(np.arange(len(K)), y).score(range(4), y) > 0
    )
    assert kernel_from(of="rows")(dot_of_rows)()(X).tolist() == (X @ X.T).tolist()


def dot_of_rows(x, z):
    return x @ z


@pytest.mark.parametrize(
    ("make", "spec", "params"),
    [
        (make_kernel, "test-kernel(sigma=1)", {"sigma": 2}),
        (make_kernel, "test-kernel(1)", {"sigma": 2}),
        (make_solver, "test-solver(gamma=1)", {"gamma": 1}),
        (make_solver, "test-solver(1)", {"gamma": 1}),
    ],
)
def test_parameter_given_in_the_spec_and_beside_it(make, spec, params):
    with pytest.raises(SpecError, match=r"'(sigma|gamma)' of 'test-.* is given both"):
        make(spec, **params)


@pytest.mark.parametrize(
    ("make", "spec", "params", "accepted"),
    [
        (make_kernel, "test-kernel(tau=1)", {}, "sigma, rho"),
        (make_kernel, "test-kernel(1, 2, 3)", {}, "sigma, rho"),
        (make_solver, "test-solver(gama=1)", {}, "gamma, kernel"),
        (make_solver, "test-solver", {"gama": 1}, "gamma, kernel"),
        (make_solver, "test-solver(1, 2, 3)", {}, "gamma, kernel"),
        (make_solver, "test-solver(1, gamma=3)", {}, "gamma, kernel"),
        (make_solver, Solver, {"gama": 1}, "gamma, kernel"),
        (make_ensembler, "test-ensembler(w=1)", {}, "weight"),
    ],
)
def test_unknown_parameters_name_the_accepted_ones(make, spec, params, accepted):
    with pytest.raises(ParameterError, match=f"Its parameters are: {accepted}"):
        make(spec, **params)


@pytest.mark.parametrize(
    ("make", "spec", "params", "advice"),
    [
        (make_solver, "ls-svm", {"C": 1.0}, "counterpart of C is gamma"),
        (make_solver, "ls-svr(alpha=0.1)", {}, "gamma=1/alpha"),
        (make_solver, "ls-svm", {"probability": True}, "predict_proba is always there"),
        (make_solver, "ls-svm", {"sigma": 2.0}, 'as in kernel="rbf(sigma=2.0)"'),
        (make_solver, "ls-svm", {"kernel__sigma": 2.0}, 'as in kernel="rbf(sigma=2.0)"'),
        (make_solver, "ask-ls(kernel='sne')", {"kernel__sigma": 2.0}, 'as in kernel="sne(sigma=2.0)"'),
        (make_solver, "ls-svm", {"kernel__degree": 2}, 'as in kernel="…(degree=2)"'),
        (make_kernel, "rbf", {"gamma": 0.1}, "gamma=g is sigma=1/√g"),
        (make_kernel, "rbf(length_scale=2.0)", {}, "length_scale=l is sigma=√2·l"),
        (make_kernel, "laplacian(gamma=2.0)", {}, "gamma=g is sigma=1/g"),
    ],
)
def test_words_of_scikit_learn_get_a_hint(make, spec, params, advice):
    with pytest.raises(ParameterError, match=re.escape(advice)):
        make(spec, **params)


def test_hints_are_given_only_where_they_are_true():
    with pytest.raises(ParameterError) as error:
        make_solver("test-solver", probability=True, tau=1)  # it has no predict_proba
    assert str(error.value).endswith("Its parameters are: gamma, kernel")
    with pytest.raises(ParameterError) as error:
        make_ensembler("test-ensembler", C=1.0, sigma=2.0)
    assert str(error.value).endswith("Its parameters are: weight")


def test_type_error_inside_a_constructor_is_not_taken_for_a_wrong_parameter():
    class Fails(Solver):
        def __init__(self, gamma=1.0):
            raise TypeError("of its own")

    register("solver", "fails", Fails)
    with pytest.raises(TypeError, match="of its own"):
        make_solver("fails")


def test_solver_and_ensembler_from_spec_class_and_instance():
    solver = make_solver("test-solver(kernel='sne(sigma=2)')", gamma=3)
    assert isinstance(solver, Solver)
    assert (solver.gamma, solver.kernel) == (3, "sne(sigma=2)")
    assert make_solver(Solver, gamma=4).gamma == 4
    assert make_solver(solver) is solver
    changed = make_solver(solver.fit(None), gamma=5)
    assert (changed.gamma, changed.kernel, hasattr(changed, "fitted_")) == (5, "sne(sigma=2)", False)
    assert solver.gamma == 3
    assert make_ensembler("test-ensembler(0.25)").weight == 0.25


def test_unknown_names_and_kinds():
    with pytest.raises(UnknownPlugin, match="Did you mean 'test-solver'"):
        make_solver("test-solvr")
    with pytest.raises(UnknownPlugin, match="kernel, solver, ensembler, engine"):
        register("solvers", "x", Solver)
    with pytest.raises(UnknownPlugin, match="kernel, solver, ensembler, engine"):
        available("solvers")


def test_specs_that_cannot_be_read():
    with pytest.raises(SpecError, match="position 12"):
        make_kernel("test-kernel(sigma)")


def test_available_lists_all_kinds_or_one():
    everything = available()
    assert all(isinstance(entry, Entry) for entry in everything)
    ours = [(entry.kind, entry.name) for entry in everything if entry.origin == "runtime"]
    assert ours == [("kernel", "test-kernel"), ("solver", "test-solver"), ("ensembler", "test-ensembler")]
    assert {entry.kind for entry in available("solver")} == {"solver"}


def test_register_returns_the_object_and_is_a_decorator():
    assert register("solver", "again", Solver) is Solver

    @register("solver", "decorated")
    class Decorated(Solver):
        pass

    assert isinstance(Decorated, type)
    assert get_registry("solver").get("decorated") is Decorated
    with pytest.raises(PluginExists):
        register("solver", "decorated")(Solver)
    register("solver", "decorated", replace=True)(Solver)
    assert get_registry("solver").get("decorated") is Solver
    with pytest.raises(PluginError):
        register("solver", "none", None)


# Engines ----------------------------------------------------------------------------------------------------


class Counting(Engine):
    """An engine that takes a parameter and is made as seldom as possible."""

    made = 0

    def __init__(self, rows=7):
        type(self).made += 1
        self.rows, self.calls = rows, 0

    def place(self, samples, check=None):
        n = samples.shape[0]
        chunks = tuple(min(self.rows, n - start) for start in range(0, n, self.rows))
        return samples if isinstance(samples, HeldSamples) else HeldSamples(samples, check, chunks)

    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        self.calls += 1
        return LocalEngine().map_rows(kernel, self.place(X), Z, function, combine, args=args)


@pytest.mark.parametrize("spec", ["local", "local()", " local( ) ", "kernreg:local", "kernreg:local()"])
def test_the_engine_is_set_by_name_or_spec(spec):
    X = np.arange(6.0)[:, None]
    k = make_kernel("rbf")
    with config_context(engine=spec):
        sums = k.map_rows(X, None, lambda rows, block: block.sum(axis=1))
    np.testing.assert_allclose(sums, k(X).sum(axis=1))


def test_an_engine_is_made_once_for_each_spec():
    before = Counting.made
    X = np.arange(20.0)[:, None]
    sizes = []
    for spec in ("counting(rows=3)", "counting", "counting(rows=3)"):
        with isolated(), config_context(engine=spec):
            register("engine", "counting", Counting)
            make_kernel("rbf").map_rows(X, None, lambda rows, block: sizes.append(len(block)) or block[:, :1])
    assert Counting.made == before + 2
    assert sizes == [3] * 6 + [2] + [7, 7, 6] + [3] * 6 + [2]


def test_a_name_that_is_registered_anew_has_the_new_engine():
    class Other(Counting):
        pass

    with isolated():
        register("engine", "counting", Counting)
        assert type(make_engine("counting")) is Counting
        register("engine", "counting", Other, replace=True)
        assert type(make_engine("counting")) is Other


def test_an_engine_that_is_closed_is_made_anew():
    with isolated():
        register("engine", "counting", Counting)
        with make_engine("counting(rows=5)") as first:
            assert make_engine("counting(rows=5)") is first
        second = make_engine("counting(rows=5)")
        assert second is not first
        assert first.closed
        assert not second.closed
        with config_context(engine=first), pytest.raises(SpecError, match="is closed"):
            make_kernel("rbf")(np.eye(2))


def test_an_engine_with_parameters_beside_its_name_is_a_new_one():
    with isolated():
        register("engine", "counting", Counting)
        assert make_engine("counting", rows=2).rows == 2
        assert make_engine("counting", rows=2) is not make_engine("counting", rows=2)
        assert make_engine(Counting, rows=4).rows == 4
        with pytest.raises(SpecError, match="made already"):
            make_engine(Counting(), rows=2)
        with pytest.raises(SpecError, match="both in the spec"):
            make_engine("counting(rows=3)", rows=2)


def test_the_setting_takes_an_engine_itself():
    engine = Counting(rows=3)
    X = np.arange(20.0)[:, None]
    with config_context(engine=engine):
        assert get_config().engine is engine
        K = make_kernel("rbf(sigma=3.0)")(X)
    assert engine.calls == 1
    np.testing.assert_allclose(K, make_kernel("rbf(sigma=3.0)")(X), rtol=1e-14)


def test_what_is_no_engine_is_refused_by_name_of_the_method():
    class Wrong(Counting):
        def map_rows(self, kernel, X): ...

    with config_context(engine=Wrong()), pytest.raises(SpecError, match=r"map_rows.*Wrong"):
        make_kernel("rbf")(np.eye(2))
    for value in (3, None, Counting, ""):
        with (
            pytest.raises(ConfigError, match="is not accepted; give the name of an engine"),
            config_context(engine=value),
        ):
            pass


@pytest.mark.parametrize("spec", ["nowhere", "nowhere()", "local(", "local(rows=3)"])
def test_engines_that_cannot_be_had_say_why(spec):
    with config_context(engine=spec), pytest.raises((UnknownPlugin, SpecError, ParameterError)):
        make_kernel("rbf").map_rows(np.eye(2), None, lambda rows, block: block)


@pytest.mark.parametrize(
    ("make", "word", "meant"),
    [
        (make_kernel, "gaussian", "rbf"),
        (make_kernel, "Gaussian(sigma=2.0)", "rbf"),
        (make_kernel, "sigmoid", "tanh"),
        (make_kernel, "polynomial", "poly"),
        (make_kernel, "squared-exponential", "rbf"),
        (make_solver, "SVC", "ls-svm"),
        (make_solver, "svr", "ls-svr"),
        (make_solver, "ridge", "ls-svr"),
        (make_solver, "kernel ridge", "ls-svr"),
        (make_solver, "kernel-ridge", "ls-svr"),
        (make_solver, "KernelPCA", "kpca"),
        (make_solver, "Nystroem", "nystrom"),
        (make_chain, "SVC", "ls-svm"),
    ],
)
def test_words_of_others_are_understood(make, word, meant):
    with pytest.raises((UnknownPlugin, SpecError), match=f"Did you mean '{meant}'"):
        make(word)
