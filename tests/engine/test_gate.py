"""The gate to parallel work: many Python threads, forks, joblib, BLAS limits, and no place to cache anything."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading

import cvxopt
import joblib
import naive
import numpy as np
import pytest
import scipy.linalg
import threadpoolctl

import kernreg as kr
from kernreg import kernel
from kernreg.engine import threads as gate
from kernreg.engine.compiler import cache
from kernreg.engine.threads import configured_blas, run_tasks, single_threaded_blas, thread_count
from kernreg.kernels.builtin import rbf, sne
from kernreg.solvers import LSSVC, AsKLSClassifier, KernelSVD

SPECS = ("rbf", "laplacian", "poly(c=0.5)", "sne", "t", "tanh(c=0.01)", "matern", "cauchy")
X = np.random.default_rng(0).normal(size=(520, 64))


def blas_threads():
    """Threads of every BLAS that has any: that of cvxopt is built without, and stays at one."""
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    return [pool["num_threads"] for pool in pools if pool.get("threading_layer") != "disabled"]


def test_eight_threads_evaluating_different_kernels_at_once_get_what_one_gets():
    expected = {spec: kr.make_kernel(spec)(X) for spec in SPECS}
    barrier, wrong = threading.Barrier(len(SPECS)), []

    def work(spec):
        k = kr.make_kernel(spec)
        barrier.wait()
        for _ in range(3):
            if not np.array_equal(k(X), expected[spec]):
                wrong.append(spec)
            v = k.operator(X) @ np.ones(520)
            if not np.allclose(v, expected[spec].sum(axis=1), rtol=1e-9, atol=1e-9):
                wrong.append(f"{spec} operator")

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        threads = [threading.Thread(target=work, args=(spec,)) for spec in SPECS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert blas_threads() == before
    assert wrong == []


def test_a_kernel_first_compiled_by_many_threads_at_once():
    @kernel(of="sqeuclidean")
    def fresh(d2, a=1.0):
        return 1.0 / (a + d2 * d2)

    results = [None] * 6
    barrier = threading.Barrier(6)

    def work(i):
        barrier.wait()
        results[i] = fresh(a=2.0)(X[:50])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    exact = naive.pairs(lambda x, z: 1 / (2 + naive.sqeuclidean(x, z) ** 2), X[:50])
    assert naive.relative_error(results[0], exact) <= 1e-13
    assert all(np.array_equal(K, results[0]) for K in results)


def test_blas_threads_are_restored_after_a_result_and_after_an_error():
    @kernel(of="blocks")
    def fails(X, Z):
        raise ZeroDivisionError("inside")

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert set(before) == {2}
        rbf()(X)
        assert blas_threads() == before
        with pytest.raises(ZeroDivisionError, match="inside"):
            fails()(X)
        assert blas_threads() == before
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
            rbf()(X)
            with single_threaded_blas():
                pass
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


FITS = {
    "potrf": lambda: LSSVC(kernel="rbf(sigma=8.0)").fit(X[:100], X[:100, 0] > 0),
    "getrf": lambda: LSSVC(kernel="tl1(rho=400.0)", gamma=1.0).fit(X[:100], X[:100, 0] > 0),
    "inverse": lambda: LSSVC(kernel="rbf(sigma=8.0)", gamma=[0.1, 1.0]).fit(X[:100], X[:100, 0] > 0),
    "eigh": lambda: LSSVC(kernel="rbf(sigma=8.0)", gamma=np.logspace(-2, 1, 9)).fit(X[:100], X[:100, 0] > 0),
    "lowrank": lambda: LSSVC(kernel="rbf(sigma=8.0)", strategy="lowrank").fit(X[:100], X[:100, 0] > 0),
    "svd": lambda: AsKLSClassifier(kernel="sne(sigma=8.0)", gamma=[0.1, 0.3]).fit(X[:100], X[:100, 0] > 0),
    "ksvd": lambda: KernelSVD(kernel="sne(sigma=8.0)", svd_solver="dense").fit(X[:100]),
}


@pytest.mark.parametrize("name", FITS)
def test_threads_of_the_configuration_are_those_of_blas_inside_lapack(monkeypatch, name):
    seen, called = [], []

    def watched(original):
        def call(*given, **options):
            called.append(original.__name__ if hasattr(original, "__name__") else str(original))
            seen.append(tuple(blas_threads()))
            return original(*given, **options)

        return call

    for module, functions in (
        (scipy.linalg.lapack, ("dpotrf", "dgetrf", "dpotrs", "dgetrs", "dsytrd")),
        (scipy.linalg, ("eigh", "svd", "qr", "cholesky", "cho_factor")),
        (np.linalg, ("eigh", "svd", "qr", "cholesky")),
    ):
        for function in functions:
            monkeypatch.setattr(module, function, watched(getattr(module, function)))
    results = []
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        for threads, expected in ((1, {1}), (2, {2}), (8, {2}), (None, {2})):
            seen.clear()
            with kr.config_context(threads=threads):
                results.append(FITS[name]())
            assert called
            assert {count for counts in seen for count in counts} == expected
            assert blas_threads() == before
    for model in results[1:]:
        for attribute in ("dual_coef_", "singular_values_"):
            if hasattr(model, attribute):
                np.testing.assert_allclose(getattr(model, attribute), getattr(results[0], attribute), rtol=1e-9)


def test_blas_is_held_to_one_thread_by_any_thread_whoever_did_so_first():
    """threadpoolctl, from 3.8 on, listens to the first thread only; the bits of row blocks depend on this limit."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"), single_threaded_blas():
        pass
    inside: list[int] = []

    def hold() -> None:
        with single_threaded_blas():
            inside.extend(info["num_threads"] for info in threadpoolctl.threadpool_info() if info["user_api"] == "blas")

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert inside
    assert set(inside) == {1}


def test_the_libraries_of_blas_are_looked_up_once(monkeypatch):
    with kr.config_context(threads=1), threadpoolctl.threadpool_limits(2, user_api="blas"):
        with configured_blas():
            assert set(blas_threads()) == {1}
        monkeypatch.setattr(threadpoolctl, "ThreadpoolController", None)
        with configured_blas(), configured_blas():
            pass


def test_blas_that_comes_with_cvxopt_later_is_held_too(monkeypatch):
    looked_up = []

    class Counted(threadpoolctl.ThreadpoolController):
        def __init__(self):
            looked_up.append("cvxopt" in sys.modules)
            super().__init__()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Counted)
    monkeypatch.setattr(gate, "_blas", gate._BlasLimit())
    monkeypatch.delitem(sys.modules, "cvxopt", raising=False)
    for _ in range(2):
        with configured_blas(), single_threaded_blas():
            pass
    assert looked_up == [False]
    monkeypatch.setitem(sys.modules, "cvxopt", cvxopt)
    for _ in range(2):
        with single_threaded_blas():
            pass
    assert looked_up == [False, True]
    with single_threaded_blas():
        assert set(blas_threads()) == {1}


def test_kernels_called_inside_kernels():
    @kernel(of="blocks", symmetric=True)
    def nested(X, Z):
        return rbf(sigma=8.0)(X, Z) + sne(sigma=8.0)(X, Z).sum()

    assert nested()(X).shape == (520, 520)
    with kr.config_context(threads=2):
        assert np.array_equal(nested()(X), nested()(X))


def test_tasks_run_once_each_and_the_first_error_is_raised():
    done = []
    with kr.config_context(threads=3):
        run_tasks(done.append, 100)
        assert sorted(done) == list(range(100))

        def task(number):
            assert thread_count() == 1  # a task starts no threads of its own
            if number == 7:
                raise LookupError(number)

        with pytest.raises(LookupError, match="7"):
            run_tasks(task, 50)
        assert thread_count() == 3


def test_threads_are_as_configured_and_as_before_afterwards():
    before = thread_count()
    with kr.config_context(threads=1):
        assert thread_count() == 1
        rbf()(X)
    assert thread_count() == before


def test_settings_reach_the_worker_threads():
    seen = set()

    @kernel(of="blocks")
    def look(X, Z):
        seen.add(kr.get_config().memory)
        return np.zeros((len(X), len(Z)))

    with kr.config_context(threads=2, memory=123_000_000):
        look()(X)
    assert seen == {123_000_000}


def test_no_thread_is_left_behind():
    before = threading.active_count()
    with kr.config_context(threads=4):
        rbf()(X)
    assert threading.active_count() == before


# other processes -----------------------------------------------------------------------------------------------

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
# Python warns of forks in processes with threads: the fork is what is tested, and no thread of ours is alive.
fork_warning = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@needs_fork
@fork_warning
def test_a_forked_child_evaluates_kernels():
    expected = {spec: kr.make_kernel(spec)(X) for spec in ("rbf", "sne", "laplacian")}
    child = os.fork()
    if child == 0:  # nothing of pytest may run in the child
        try:
            with kr.config_context(threads=2):
                right = all(np.array_equal(kr.make_kernel(spec)(X), K) for spec, K in expected.items())
            os._exit(0 if right else 3)
        except BaseException:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(rbf()(X), expected["rbf"])


@needs_fork
@fork_warning
def test_a_child_forked_while_blas_is_held_gets_its_threads_back():
    with threadpoolctl.threadpool_limits(2, user_api="blas"), single_threaded_blas():
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if set(blas_threads()) == {2} and rbf()(X).shape == (520, 520) else 3)
            except BaseException:
                os._exit(4)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@needs_fork
@fork_warning
def test_a_child_forked_while_blas_is_held_can_leave_the_block():
    child = 0
    try:
        with single_threaded_blas():
            child = os.fork()
    finally:
        if child == 0:
            os._exit(0 if sys.exc_info()[0] is None else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@needs_fork
@fork_warning
def test_a_child_forked_while_another_thread_restores_blas_has_all_threads(monkeypatch):
    """The call has left, and BLAS still has one thread."""
    leaving, forked, restore = threading.Event(), threading.Event(), gate._set_threads

    def slowly(library, threads):
        if threads > 1 and threading.current_thread() is not threading.main_thread():
            leaving.set()
            forked.wait(60)
        restore(library, threads)

    monkeypatch.setattr(gate, "_set_threads", slowly)

    def work():
        with single_threaded_blas():
            pass

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        thread = threading.Thread(target=work)
        thread.start()
        assert leaving.wait(60)
        child = os.fork()
        if child == 0:
            os._exit(0 if set(blas_threads()) == {2} else 3)
        forked.set()
        thread.join()
        assert set(blas_threads()) == {2}
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@needs_fork
@fork_warning
def test_multiprocessing_by_fork():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = pool.map(rbf(sigma=3.0), [X[:100], X[100:300]])
    assert np.array_equal(results[0], rbf(sigma=3.0)(X[:100]))
    assert np.array_equal(results[1], rbf(sigma=3.0)(X[100:300]))


def test_joblib_workers_evaluate_built_in_and_local_kernels():
    @kernel(of="sqeuclidean", symmetric=True)
    def local(d2, sigma=1.0):
        return sigma / (sigma + d2)

    kernels = [rbf(sigma=3.0), local(sigma=5.0), sne(sigma=4.0)]
    results = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(_evaluate)(k, X) for k in kernels)
    for k, (K, seen) in zip(kernels, results, strict=True):
        assert np.array_equal(K, k(X))
        assert seen == repr(k)


def _evaluate(k, X):
    return k(X), repr(k)


# nothing can be kept on disk -----------------------------------------------------------------------------------

SMALL = """
    import json, sys, warnings
    import numpy as np
    import kernreg as kr
    from kernreg.engine.compiler import cache
    X = np.arange(12.0).reshape(4, 3) / 7 + 0.1
    values = {spec: kr.make_kernel(spec)(X).tolist() for spec in SPECS}
    problem = str(cache.describe()["cache problem"])
    print(json.dumps({"values": values, "cache": cache.statistics(), "problem": problem}))
"""


def test_a_cache_directory_that_cannot_be_made_leaves_kernels_uncached(fresh_python, tmp_path):
    (tmp_path / "file").write_text("a file is where the directory would be")
    code = SMALL.replace("SPECS", "['rbf']")
    found = fresh_python(code, KERNREG_CACHE_DIR=tmp_path / "file" / "cache")
    table = np.arange(12.0).reshape(4, 3) / 7 + 0.1
    np.testing.assert_allclose(found["values"]["rbf"], rbf()(table), rtol=1e-14)
    assert found["cache"]["hits"] == 0
    assert found["problem"] != "None"


def test_a_directory_that_is_not_writable_leaves_kernels_uncached(monkeypatch, tmp_path):
    @kernel(of="dot")
    def uncached(dot):
        return dot + 0.125

    def refuse(path, content):
        raise PermissionError(f"{path} is not writable")

    monkeypatch.setattr("os.access", lambda *arguments, **options: False)
    monkeypatch.setattr("kernreg.engine.compiler.entry_files._write_own", refuse)  # as the system would
    before = cache.statistics()
    with kr.config_context(cache_dir=str(tmp_path)):
        np.testing.assert_allclose(uncached()(X), X @ X.T + 0.125, rtol=1e-12, atol=1e-12)
    assert cache.statistics()["hits"] == before["hits"]
    assert "not writable" in str(cache.describe()["cache problem"])
    assert not list(tmp_path.rglob("*.code"))


def test_kernels_work_without_compilation(fresh_python):
    specs = ["rbf", "laplacian", "poly", "sne", "matern", "chi2", "kl-gaussian"]
    found = fresh_python(SMALL.replace("SPECS", repr(specs[:-1])), NUMBA_DISABLE_JIT=1)["values"]
    table = np.arange(12.0).reshape(4, 3) / 7 + 0.1
    for spec in specs[:-1]:
        np.testing.assert_allclose(found[spec], kr.make_kernel(spec)(table), rtol=1e-13, atol=1e-300)


@pytest.mark.skipif(sys.platform == "win32", reason="spawn is the only way there, and joblib's")
@pytest.mark.parametrize("layer", ["workqueue", "omp"])
def test_numbas_threading_layer_does_not_matter(fresh_python, layer):
    code = """
        import json, threading
        import numpy as np
        import kernreg as kr
        X = np.random.default_rng(0).normal(size=(600, 5))
        results = []
        threads = [threading.Thread(target=lambda: results.append(kr.make_kernel("rbf")(X))) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(json.dumps(all(np.array_equal(K, results[0]) for K in results) and len(results) == 4))
    """
    assert fresh_python(code, NUMBA_THREADING_LAYER=layer) is True


def test_blas_that_has_one_thread_is_not_set(monkeypatch):
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        monkeypatch.setattr(gate, "_set_threads", lambda library, threads: pytest.fail("set"))
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
