"""Values beyond the range of numbers are refused by name, not by an error of the arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import DataError, KernregError, ParameterError

HUGE = 10**400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        *((name, {"gamma": HUGE}) for name in ("ls-svm", "ls-svr", "ask-ls", "ask-lsr", "scg-ldk", "ldk")),
        *((name, {"gamma": HUGE}) for name in ("krein-ridge", "ask-rff-ls", "ask-rff-lsr")),
        *((name, {"n_frequencies": HUGE}) for name in ("ask-rff", "ask-rff-ls", "ask-rff-lsr")),
        ("ask-rff-lsr", {"gamma": [1.0, HUGE]}),
        *((name, {"tol": HUGE}) for name in ("ls-svm", "ask-lsr", "kpca", "ksvd", "nystrom", "scg-osk", "ldk")),
        ("ls-svm", {"gamma": [1.0, HUGE]}),
        ("kpca", {"fit_inverse_transform": True, "alpha": HUGE}),
        ("ksvd", {"compatibility": "a3", "alpha": HUGE}),
        ("ksvd", {"compatibility": "a3", "learning_penalty": HUGE}),
        ("simple-npk", {"C": HUGE, "n_neighbors": 5}),
        ("fisher-score", {"ridge": HUGE, "method": "eigen"}),
        ("ideal-regularized", {"gamma": HUGE}),
        ("fisher-score", {"max_iter": HUGE}),
        ("bicluster", {"n_clusters": 2, "n_init": HUGE}),
    ],
    ids=str,
)
def test_an_integer_that_no_float_holds_is_refused_by_name(name, params):
    with pytest.raises(ParameterError, match="is not accepted"):
        kr.make_solver(name, **params).fit(X, y)


def test_an_ensembler_refuses_it_too():
    with pytest.raises(ParameterError, match="alpha"):
        kr.make_ensembler("stack", alpha=HUGE).fit({"a": [1.0, 2.0], "b": [0.0, 1.0]}, [1, -1])


@pytest.mark.parametrize("name", ["ls-svm", "ls-svr", "ask-ls", "ask-lsr", "kpca"])
def test_weights_whose_products_overflow_are_refused(name):
    with pytest.raises(DataError, match="as large as 1e\\+308"):
        kr.make_solver(name, kernel="rbf(sigma=2.0)").fit(X, y, sample_weight=np.full(40, 1e308))


@pytest.mark.parametrize("name", ["osk", "scg-osk", "simple-npk"])
@pytest.mark.parametrize("size", [1e200, 1e300])
def test_samples_whose_distances_overflow_have_no_neighbours(name, size):
    with pytest.raises(DataError, match="scale the features"):
        kr.make_solver(name, n_neighbors=5).fit(X * size, y)


@pytest.mark.parametrize("spec", ["rbf(" * 500 + ")" * 500, "add(" * 2000, "rbf(sigma=" + "9" * 10_000 + ")"])
def test_hostile_specs_are_refused(spec):
    with pytest.raises(KernregError):
        kr.make_kernel(spec)


@pytest.mark.parametrize("names", [["ann", "bob", "cid", "dee"], np.array(["0", "1", "2", "3"], dtype=object)])
def test_names_of_nodes_are_no_sample_numbers(names):
    model = kr.make_solver("ask-ls", kernel=kr.make_kernel("precomputed", K=np.eye(4)), gamma=0.5)
    with pytest.raises(DataError, match=r"X holds text; .*'precomputed' are node numbers 0 … n-1"):
        model.fit(names, [0, 1, 1, 0])
    model.fit(np.arange(4, dtype=object), [0, 1, 1, 0])  # numbers in an array of objects are numbers
    with pytest.raises(DataError, match="X holds text"):
        model.predict(names)


def test_a_list_deeper_than_arrays_are_is_no_gamma():
    deep = [1.0]
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ParameterError, match="a sequence of these to choose from"):
        kr.make_solver("ls-svm", gamma=deep).fit(X, y)


def test_a_message_shows_the_beginning_and_the_end_of_what_is_long():
    with pytest.raises(ParameterError) as error:
        kr.make_solver("ls-svm", gamma="x" * 1_000_000).fit(X, y)
    message = str(error.value)
    assert len(message) < 5000
    assert message.startswith("gamma='xxx")
    assert message.endswith("fitted to the kernel matrix")
    with pytest.raises(KernregError) as error:
        kr.make_kernel("rbf(sigma=2.0, " + "x" * 1_000_000 + ")")
    assert len(str(error.value)) < 5000
