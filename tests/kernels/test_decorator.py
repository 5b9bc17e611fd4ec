"""The `kernel` decorator: every kind of statistic, what a family tells, and what is refused."""

from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg import kernel
from kernreg.engine.tiles import store
from kernreg.errors import EngineError, ParameterError, PerformanceWarning
from kernreg.jit import exp, log
from kernreg.kernels import Parameter, choice, integer, interval, nonnegative, positive, real

X = np.random.default_rng(0).normal(size=(14, 3))
Z = np.random.default_rng(1).normal(size=(9, 3))


def test_a_function_of_each_statistic():
    @kernel(of="dot", symmetric=True)
    def of_dot(dot, c=1.0):
        return dot * dot + c

    @kernel(of="sqeuclidean", symmetric=True)
    def of_distance(d2):
        return exp(-d2)

    @kernel(of="l1", symmetric=True)
    def of_l1(l1):
        return 1.0 / (1.0 + l1)

    @kernel(of=lambda x, z: x * x * z)
    def of_term(total, power=2):
        return total**power

    @kernel(of="rows")
    def of_rows(x, z, a=2.0):
        total = 0.0
        for d in range(len(x)):
            total += max(x[d], z[d]) - a * z[d]
        return total

    @kernel(of="blocks")
    def of_blocks(X, Z, a=2.0):
        return a * X @ Z.T

    difference = X[:, None] - Z
    expected = {
        of_dot(c=0.5): (X @ Z.T) ** 2 + 0.5,
        of_distance(): np.exp(-(difference**2).sum(axis=2)),
        of_l1(): 1 / (1 + np.abs(difference).sum(axis=2)),
        of_term(power=3): (X**2 @ Z.T) ** 3,
        of_rows(a=1.5): (np.maximum(X[:, None], Z) - 1.5 * Z).sum(axis=2),
        of_blocks(a=3.0): 3 * X @ Z.T,
    }
    for k, K in expected.items():
        np.testing.assert_allclose(k(X, Z), K, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(k(X, Z), [[k.scalar(x, z) for z in Z] for x in X], rtol=1e-12, atol=1e-12)


def test_functions_may_call_plain_functions_and_use_constants_and_branches():
    table = np.array([1.0, 2.0, 4.0])
    scale = 0.5

    def helper(value):
        return scale * value

    @kernel(of="l1")
    def branching(l1, kind=0):
        if l1 < 1.0:
            return helper(l1) + table[kind]
        return log(l1)

    l1 = np.abs(X[:, None] - Z).sum(axis=2)
    np.testing.assert_allclose(branching(kind=2)(X, Z), np.where(l1 < 1, 0.5 * l1 + 4, np.log(l1)), rtol=1e-14)


def test_functions_that_return_integers_or_booleans():
    @kernel(of="l1", symmetric=True)
    def near(l1, radius=2.0):
        return l1 < radius

    @kernel(of="dot")
    def constant(dot):
        return 3

    assert near()(X).dtype == np.float64
    assert np.array_equal(near()(X), np.abs(X[:, None] - X).sum(axis=2) < 2.0)
    assert np.array_equal(constant()(X, Z), np.full((14, 9), 3.0))


def test_a_family_tells_what_it_is():
    @kernel(of="sqeuclidean", symmetric=True, definite=True, parameters={"sigma": positive, "order": integer(1, 4)})
    def my_own_kernel_(d2, sigma=1.5, order=2):
        """exp(-|x - y|² / sigma).

        More about it.
        """
        return exp(-d2 / sigma) ** order

    family = my_own_kernel_
    assert family.__kernreg_kernel__ is True
    assert family.name == "my-own-kernel"
    assert family.formula == "exp(-|x - y|² / sigma)."
    assert family.doc.endswith("More about it.")
    assert (family.of, family.symmetric, family.definite, family.normalize) == ("sqeuclidean", True, True, None)
    assert family.inputs == "real"
    assert family.function(4.0, 2.0, 1) == pytest.approx(np.exp(-2.0))
    assert [(p.name, p.default, str(p.domain)) for p in family.parameters] == [
        ("sigma", 1.5, "a finite number > 0"),
        ("order", 2, "an integer >= 1 and <= 4"),
    ]
    k, samples = family.example(np.random.default_rng(0), 7)
    assert k == family()
    assert k(samples).shape == (7, 7)


def test_parameters_without_default_are_required():
    @kernel(of="dot")
    def needs(dot, a):
        return dot + a

    assert needs.parameters[0].default is Parameter.required
    with pytest.raises(ParameterError, match="needs a="):
        needs()
    np.testing.assert_allclose(needs(a=1.0)(X), X @ X.T + 1.0, rtol=1e-12)


def test_domains_are_inferred_from_defaults_and_checked():
    @kernel(of="dot")
    def mixed(dot, whole=2, number=1.0, flag=True):
        return dot * whole + number if flag else dot

    assert mixed(whole=3.0).whole == 3
    np.testing.assert_allclose(mixed(flag=False)(X), X @ X.T, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(mixed(whole=3)(X), 3 * X @ X.T + 1, rtol=1e-12, atol=1e-15)
    for wrong in ({"whole": 1.5}, {"number": "x"}, {"flag": 2}):
        with pytest.raises(ParameterError, match="accepted is"):
            mixed(**wrong)


@pytest.mark.parametrize(
    ("domain", "inside", "outside", "text"),
    [
        (positive, [1e-300, 5, np.float32(2)], [0, -1, np.inf, np.nan, "1", None, True], "a finite number > 0"),
        (nonnegative, [0, 3.5], [-1e-9, np.inf], "a finite number >= 0"),
        (real, [-5, 0.0], [np.nan, "x", [1]], "a finite number"),
        (integer(2, 5), [2, 5, 3.0], [1, 6, 2.5, np.inf], "an integer >= 2 and <= 5"),
        (integer(), [-3, 10**9], [0.5], "an integer"),
        (choice("a", "b"), ["a"], ["c", 1, None], "one of 'a', 'b'"),
        (choice(0.5, 2), [0.5, 2.0], [1, True, "0.5"], "one of 0.5, 2"),
        (interval(0.0, 1.0), [0, 1, 0.5], [-0.1, 1.1], "a number in [0, 1]"),
        (interval(0.0, 1.0, open_low=True), [1, 0.5], [0.0], "a number in (0, 1]"),
    ],
)
def test_domains_accept_what_they_say(domain, inside, outside, text):
    parameter = Parameter("p", 1.0, domain)
    assert str(domain) == text
    for value in inside:
        assert parameter.accept(value, "k") == value
    for value in outside:
        with pytest.raises(ParameterError, match="k: p="):
            parameter.accept(value, "k")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"of": "dot", "name": "<lambda>"}, "cannot be the name of a kernel"),
        ({"of": "dot", "name": "../up"}, "cannot be the name of a kernel"),
        ({"of": "dot", "name": "two words"}, "cannot be the name of a kernel"),
        ({"of": "cosine"}, "accepted are 'dot', 'sqeuclidean', 'l1', 'rows', 'blocks' or a function"),
        ({"of": "term"}, "accepted are"),
        ({"of": 3}, "neither a statistic's name nor a function"),
        ({"of": "dot", "normalize": "columns"}, "'rows' and None"),
        ({"of": "dot", "log": True}, "needs normalize='rows'"),
        ({"of": "dot", "normalize": "rows", "symmetric": True}, "row-normalised kernel is not symmetric"),
        ({"of": "dot", "inputs": "text"}, "accepted are real, nonnegative, distribution, gaussian, index"),
        ({"of": "dot", "inputs": "index"}, "need of='blocks'"),
        ({"of": "dot", "prepare": lambda a: a}, "need of='blocks'"),
        ({"of": "dot", "parameters": {"b": positive}}, r"names \['b'\]"),
    ],
)
def test_contradictory_declarations_are_refused(options, said):
    with pytest.raises(ParameterError, match=said):

        @kernel(**options)
        def wrong(value, a=1.0):
            return value


@pytest.mark.parametrize("taken", ["self_term", "a__b", "_hidden"])
def test_names_that_mean_something_else_cannot_be_parameters(taken):
    names = {}
    exec(f"def function(dot, {taken}=1.0): return dot", names)
    with pytest.raises(ParameterError, match=f"cannot be called '{taken}'"):
        kernel(names["function"], of="dot")


def test_what_is_no_function_of_plain_parameters_is_refused():
    with pytest.raises(ParameterError, match="decorates a function"):
        kernel(3.0, of="dot")
    with pytest.raises(ParameterError, match="is not allowed"):

        @kernel(of="dot")
        def many(dot, *more):
            return dot

    with pytest.raises(ParameterError, match="is not a number"):

        @kernel(of="dot")
        def texts(dot, kind="a"):
            return dot


def test_a_choice_of_texts_cannot_reach_compiled_code_and_says_so():
    @kernel(of="dot", parameters={"kind": choice("a", "b")})
    def texts(dot, kind="a"):
        return dot

    with pytest.raises(ParameterError, match=r"'a'.*numbers only"):
        texts()(X)


def test_a_choice_of_texts_reaches_block_functions():
    @kernel(of="blocks", parameters={"kind": choice("plain", "double")})
    def texts(X, Z, kind="plain"):
        return X @ Z.T * (2.0 if kind == "double" else 1.0)

    np.testing.assert_allclose(texts(kind="double")(X), 2 * X @ X.T)


def test_prepare_is_called_once_per_kernel():
    calls = []

    def prepare(a=2.0):
        calls.append(a)
        return np.full(3, a)

    @kernel(of="blocks", prepare=prepare)
    def prepared(X, Z, weights):
        return (X * weights) @ Z.T

    k = prepared(a=3.0)
    np.testing.assert_allclose(k(X), 3 * X @ X.T, rtol=1e-12, atol=1e-12)
    k(X, Z)
    assert calls == [3.0]


# already jitted ------------------------------------------------------------------------------------------------


def test_a_jitted_function_works_with_exactly_one_warning():
    @numba.njit
    def decay(d2, a=1.0):
        return 1.0 / (a + d2)

    k = kernel(decay, of="sqeuclidean", symmetric=True)(a=2.0)
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.testing.assert_allclose(k(X), 1 / (2 + d2), rtol=1e-13)
        np.testing.assert_allclose(k(X.astype(np.float32)), 1 / (2 + d2), rtol=1e-5)
        np.testing.assert_allclose(k(sp.csr_array(X)), 1 / (2 + d2), rtol=1e-13)
        np.testing.assert_allclose(k.operator(X) @ np.ones(14), (1 / (2 + d2)).sum(axis=1), rtol=1e-13)
        k.set_params(a=3.0)(X)
    assert [warning.category for warning in caught] == [PerformanceWarning]
    assert k.scalar(X[0], X[1]) == pytest.approx(1 / (2 + d2[0, 1]))


def test_a_jitted_term_works_with_exactly_one_warning():
    @numba.njit
    def squared(x, z):
        return x * x * z

    @kernel(of=squared)
    def jitted_term(total):
        return total

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.testing.assert_allclose(jitted_term()(X), X**2 @ X.T, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(jitted_term()(sp.csr_array(X)), X**2 @ X.T, rtol=1e-11, atol=1e-12)
    assert [warning.category for warning in caught] == [PerformanceWarning]


def test_plain_functions_give_no_warning():
    @kernel(of="rows")
    def quiet(x, z):
        return x[0] * z[1]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(quiet()(X), np.outer(X[:, 0], X[:, 1]), rtol=1e-15)


def test_a_function_that_cannot_be_compiled_is_an_error_that_names_the_kernel():
    @kernel(of="dot", name="uncompilable")
    def wrong(dot):
        return open("x").read(dot)

    with pytest.raises(EngineError, match=r"'uncompilable' cannot be compiled.*'open'"):
        wrong()(X)
    with pytest.raises(EngineError, match="'uncompilable'"):
        wrong().operator(X) @ np.ones(14)

    @kernel(of="sqeuclidean")
    def undefined(d2):
        return no_such_name * d2  # noqa: F821 - that is the error

    with pytest.raises(EngineError, match="'undefined' cannot be compiled: NameError: name 'no_such_name' is not"):
        undefined()(X)


def test_an_import_inside_a_kernel_function_is_named():
    @kernel(of="rows")
    def local_import(x, y):
        import math

        return math.exp(-abs(x[0] - y[0]))

    with pytest.raises(EngineError, match=r"'local-import'.*import statement; import what it needs outside"):
        local_import()(np.eye(2))


def squared_distances(A, B, out):
    out[...] = ((A[:, None] - B) ** 2).sum(axis=2)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_function_of_blocks_may_fill_the_array_it_is_given(symmetric, threads, monkeypatch):
    seen = []

    @kernel(of="blocks", symmetric=symmetric, blas=False)
    def filling(A, B, shift=1.0, *, out=None):
        out = np.empty((len(A), len(B)), dtype=A.dtype) if out is None else out
        squared_distances(A, B, out)
        out += shift
        if A is B:  # half of a block on the diagonal is enough
            out[np.triu_indices(len(A), 1)] = np.nan
        seen.append(out)
        return out

    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(600, 3)), rng.normal(size=(270, 3))
    expected = [((A[:, None] - other) ** 2).sum(axis=2) + 2.0 for other in (A, B)]
    k = filling(shift=2.0)
    assert [parameter.name for parameter in filling.parameters] == ["shift"]
    with kr.config_context(threads=threads):
        results = k(A), k(A, B)
        for found, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            assert any(np.shares_memory(block, found) for block in seen)  # filled in place
        np.testing.assert_allclose(k(A.astype(np.float32), B.astype(np.float32)), expected[1], rtol=1e-4)
        monkeypatch.setattr(store, "STREAM_FROM", 0)  # past the cache: blocks are copied
        np.testing.assert_array_equal(k(A), results[0])
        np.testing.assert_array_equal(k(A, B), results[1])
        np.testing.assert_allclose(k.operator(A) @ np.ones(600), expected[0].sum(axis=1), rtol=1e-12)
        np.testing.assert_allclose(k.diagonal(A), np.full(600, 2.0))
        np.testing.assert_allclose(k.scalar(A[0], B[0]), expected[1][0, 0], rtol=1e-12)


def test_a_function_of_blocks_need_not_fill_the_array_it_is_given():
    @kernel(of="blocks", symmetric=True)
    def ignoring(A, B, *, out=None):
        return A @ B.T

    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 3))
    np.testing.assert_allclose(ignoring()(A), A @ A.T, atol=1e-13)


def test_out_is_for_functions_of_blocks_and_so_is_blas():
    with pytest.raises(ParameterError, match="plain names"):

        @kernel(of="rows")
        def of_rows(x, z, *, out=None):
            return x[0]

    with pytest.raises(ParameterError, match="blas=False"):

        @kernel(of="dot", blas=False)
        def of_dot(dot):
            return dot

    with pytest.raises(ParameterError, match="blas='no'"):

        @kernel(of="blocks", blas="no")
        def worded(A, B):
            return A @ B.T
