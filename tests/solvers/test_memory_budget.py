"""A fit keeps the memory budget, or says before it starts that it will not."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import numpy as np
import pytest

from kernreg import config_context, get_config, make_kernel, make_solver
from kernreg.engine.memory import release
from kernreg.errors import KernregWarning, MemoryBudgetError, MemoryBudgetWarning
from kernreg.kernels import spectrum, symmetrize

BUDGET = 20_000_000
ALLOWED = 1.15 * BUDGET + 4e6
KERNELS = {"ksvd": "sne(sigma=2.0)", "kpca": "rbf(sigma=2.0)"}


def samples(m):
    X = np.random.default_rng(0).normal(size=(m, 3))
    return X, np.sin(X[:, 0])


def peak(run):
    """Return the bytes allocated at most, and whether it was said that the budget does not suffice."""
    run()  # compiled code and imports are not what is measured
    release()
    tracemalloc.start()
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            run()
        return tracemalloc.get_traced_memory()[1], any(w.category is MemoryBudgetWarning for w in heard)
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore::kernreg.errors.KernregWarning")
@pytest.mark.parametrize("solver", ["ls-svr", "ask-lsr"])
@pytest.mark.parametrize(
    ("strategy", "gamma"), [("auto", [1.0]), ("lowrank", 1.0), ("sketched", 1.0), ("iterative", 1.0)]
)
def test_dual_machines_without_the_matrix_keep_the_budget(solver, strategy, gamma):
    X, y = samples(2500)
    kernel = "rbf(sigma=2.0)" if solver == "ls-svr" else "sne(sigma=2.0)"
    model = make_solver(solver, kernel=kernel, gamma=gamma, strategy=strategy, max_iter=5, tol=0.1)
    with config_context(memory=BUDGET):
        most, said = peak(lambda: model.fit(X, y))
    assert most <= ALLOWED
    assert not said


@pytest.mark.parametrize("strategy", ["lowrank", "sketched"])
def test_more_landmarks_than_fit_are_told_before(strategy):
    X, y = samples(900)
    model = make_solver("ask-lsr", kernel="sne(sigma=2.0)", gamma=1.0, strategy=strategy, n_landmarks=500)
    with config_context(memory=BUDGET), pytest.warns(MemoryBudgetWarning, match="with 500 landmarks needs about"):
        model.fit(X, y)


@pytest.mark.parametrize("how", ["mean", "T"])
def test_combinations_that_need_the_other_half_keep_the_budget(how):
    X, _ = samples(int(np.sqrt(0.85 * BUDGET / 8)))
    kernel = make_kernel("sne(sigma=2.0)")
    combined = kernel.T if how == "T" else symmetrize(kernel, how)
    with config_context(memory=BUDGET):
        most, said = peak(lambda: combined(X))
    assert most <= ALLOWED
    assert not said
    np.testing.assert_allclose(
        combined(X[:50]), kernel(X[:50]).T if how == "T" else (kernel(X[:50]) + kernel(X[:50]).T) / 2
    )


def test_a_shifted_spectrum_keeps_the_budget_and_others_say_that_they_do_not():
    X, _ = samples(int(np.sqrt(0.9 * BUDGET / 8)))
    kernel = make_kernel("tanh")
    with config_context(memory=BUDGET):
        most, said = peak(lambda: spectrum(kernel, "shift").bind(X))
        assert most <= ALLOWED
        assert not said
        with pytest.warns(MemoryBudgetWarning, match=r"spectrum\(…, 'clip'\) of 1500 samples needs about"):
            spectrum(kernel, "clip").bind(X)
        with pytest.warns(MemoryBudgetWarning, match=r"symmetrize\(…, 'left'\) of 1500 samples needs about"):
            symmetrize(make_kernel("sne"), "left")(X)


#: Solver, kernel, components, samples; many components are told, few are not and keep the budget.
DECOMPOSED = [
    *((name, kernel, r, m) for name, kernel in KERNELS.items() for r, m in ((None, 500), (250, 500), (None, 350))),
    *((name, kernel, 3, 800) for name, kernel in KERNELS.items()),
]


@pytest.mark.filterwarnings("ignore::kernreg.errors.MemoryBudgetWarning")
@pytest.mark.parametrize(("name", "kernel", "r", "m"), DECOMPOSED)
def test_a_decomposition_keeps_the_budget_or_says_how_much_it_takes(name, kernel, r, m):
    X, _ = samples(m)
    budget = 6_000_000
    with config_context(memory=budget):
        most, said = peak(lambda: make_solver(name, kernel=kernel, n_components=r).fit(X))
        assert said == (r != 3 and (name, m) != ("kpca", 350))
        if not said:
            assert most <= 1.15 * budget + 4e6
            return
        with pytest.warns(MemoryBudgetWarning, match=f"n_components={r or m} of .*{m} samples needs about") as heard:
            make_solver(name, kernel=kernel, n_components=r).fit(X)
    assert heard[0].filename == __file__
    told = float(re.search(r"about ([0-9.]+) MB", str(heard[0].message))[1]) * 1e6
    assert told / 3 < most <= 1.15 * told


def test_the_dense_spectrum_of_a_graph_of_neighbours_is_told():
    X, y = samples(900)
    with config_context(memory=16_000_000), pytest.warns(MemoryBudgetWarning, match="of 900 samples and their neighb"):
        make_solver("scg-osk").fit(X, (y > 0).astype(int))


def test_what_was_asked_for_exactly_and_does_not_fit_is_told():
    X, y = samples(1000)
    with config_context(memory=BUDGET), pytest.warns(MemoryBudgetWarning, match="strategy='exact' with 1000 samples"):
        make_solver("ls-svr", gamma=[1.0], strategy="exact").fit(X, y)
    X, y = samples(1700)
    with config_context(memory=BUDGET), pytest.warns(KernregWarning), pytest.raises(MemoryBudgetError):
        make_solver("ls-svr", gamma=[1.0], strategy="exact").fit(X, y)


def told_before(run, share=1.0):
    """Return what was taken, the bytes named, and where; the warning comes before more than a share of the budget."""
    budget = get_config().memory
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        most, said = peak(run)
    assert said
    with warnings.catch_warnings():
        warnings.simplefilter("error", MemoryBudgetWarning)
        tracemalloc.start()
        try:
            with pytest.raises(MemoryBudgetWarning):
                run()
            assert tracemalloc.get_traced_memory()[1] <= share * budget
        finally:
            tracemalloc.stop()
    heard = [w for w in heard if w.category is MemoryBudgetWarning]
    named = [float(re.search(r"about ([0-9.]+) MB", str(w.message))[1]) * 1e6 for w in heard]
    return most, max(named), {w.filename for w in heard}


@pytest.mark.parametrize(("n", "r", "landmarks"), [(500, 60, 400), (12_000, 20, 60)])
def test_the_block_of_landmarks_and_its_extension_are_told_before(n, r, landmarks):
    X, _ = samples(n)
    with config_context(memory=5_000_000):
        most, named, where = told_before(
            lambda: make_solver("nystrom", kernel="rbf(sigma=2.0)", n_components=r, n_landmarks=landmarks).fit(X)
        )
    assert named / 3 < most <= 1.15 * named
    assert where == {__file__}


@pytest.mark.parametrize(
    ("name", "method"),
    [("kpca", "transform")] + [(name, f"transform{side}") for name in ("ksvd", "nystrom") for side in ("", "_right")],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_beyond_the_budget_are_told_before(name, method, dtype):
    X, new = (samples(n)[0].astype(dtype) for n in (150, 9000))
    landmarks = {"n_landmarks": 120} if name == "nystrom" else {}
    model = make_solver(name, kernel="rbf(sigma=2.0)", n_components=100, **landmarks).fit(X)
    with config_context(memory=5_000_000):
        most, named, where = told_before(lambda: getattr(model, method)(new))
    assert named == 8 * 9000 * 100 * (1 if dtype == np.float64 else 1.5)
    assert most <= 1.15 * named + 5e6
    assert where == {__file__}
    assert getattr(model, method)(new[:50]).dtype == dtype


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")
def test_gamma_of_a_learned_kernel_is_chosen_on_landmarks_where_its_matrix_is_too_large():
    X, y = samples(700)
    y = (y > 0).astype(int)
    with config_context(memory=6_000_000):
        learner = make_solver("scg-ldk", kernel="rbf(sigma=2.0)", gamma=[0.1, 1.0])
        most, said = peak(lambda: learner.fit(X, y))
        assert most <= 1.15 * 6_000_000 + 4e6
        assert not said
        assert len(learner.landmarks_) == 193  # twenty matrices of them
        more = make_solver("scg-ldk", gamma=[1.0], strategy="lowrank", n_landmarks=250)
        most, named, where = told_before(lambda: more.fit(X, y))
        assert named == 8 * 20 * 250**2 >= most / 1.15
        assert where >= {__file__}
    with config_context(memory="1GB"):  # the same landmarks, and the matrix of all labelled samples
        ample = make_solver("scg-ldk", kernel="rbf(sigma=2.0)", gamma=[0.1, 1.0], strategy="lowrank", n_landmarks=193)
        ample.fit(X, y)
    np.testing.assert_array_equal(ample.landmarks_, learner.landmarks_)
    np.testing.assert_allclose(ample.loo_path_["score"], learner.loo_path_["score"], atol=0.01)
    assert ample.gamma_ == learner.gamma_
