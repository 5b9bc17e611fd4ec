"""The laws of engines: whatever one does elsewhere, it does as the engine of this machine does.

Functions are functions of this module, so that they can be pickled; samples are more than one block of rows.
"""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.common.lazy import computed_once
from kernreg.config import config_context
from kernreg.engine import ByRow, Engine, Handle
from kernreg.engine.arrays import is_sparse
from kernreg.engine.dispatch import LOCAL
from kernreg.factory import make_engine
from kernreg.kernels.base import Kernel
from kernreg.kernels.builtin import laplacian, linear, rbf, sne
from kernreg.kernels.combinations.algebra import compose
from kernreg.kernels.combinations.reference import centered
from kernreg.registry.checks import problem_with
from kernreg.testing.arrays import require_close, require_error, require_same
from kernreg.testing.laws import LawBook, fail

ENGINE_LAWS = LawBook("engine")

TOLERANCE = 1e-12
_ROWS, _COLUMNS, _FEATURES = 1300, 90, 3  # six blocks of rows
_PATIENCE = 60.0  # seconds after which a call that was interrupted counts as not to be interrupted


class EngineCase:
    """An engine under test.

    Parameters
    ----------
    declared : class, spec or engine
        A class is made with its defaults, a spec by `make_engine`. Both are closed by the last law.
    seed : int
        Seed of the random samples.
    """

    def __init__(self, declared: Any, seed: int = 0):
        self.declared, self.seed = declared, seed
        self._engine: Any = None

    @property
    def subject(self) -> str:
        """``engine``, and the spec or the class."""
        if isinstance(self.declared, str):
            return f"engine {self.declared}"
        return f"engine {(self.declared if self.shared is None else type(self.declared)).__name__}"

    @property
    def shared(self) -> Any:
        """The engine, where one was handed in that others may use."""
        return None if isinstance(self.declared, str | type) else self.declared

    @property
    def engine(self) -> Engine:
        """The engine, made when it is first needed, and again after it was closed."""
        if self._engine is None or self._engine.closed:
            self._engine = make_engine(self.declared)
        return self._engine

    def close(self) -> None:
        """Close the engine, unless it was handed in."""
        if self._engine is not None and self.shared is None:
            self._engine.close()

    @computed_once
    def problems(self) -> dict[str, tuple[Kernel, Any, Any]]:
        """Kernels with two sample sets each (None for K(X)), by what is special about them."""
        rng = np.random.default_rng(self.seed)
        X, Z = rng.normal(size=(_ROWS, _FEATURES)), rng.normal(size=(_COLUMNS, _FEATURES))
        sparse = [sp.csr_array(S * (rng.random(S.shape) < 0.5)) for S in (X, Z)]
        return {
            "dense": (rbf(sigma=2.0), X, Z),
            "square": (rbf(sigma=2.0), X[:600], None),
            "sparse": (rbf(sigma=2.0), *sparse),
            "float32": (laplacian(sigma=2.0), X.astype(np.float32), Z.astype(np.float32)),
            "row-normalised": (sne(sigma=1.5), X, Z),
            "transposed": (sne(sigma=1.5).T, X, Z),
            "combined": (rbf(sigma=2.0) * linear() + 0.5 * sne(sigma=1.5), X, Z),
            "samples mapped": (rbf(sigma=2.0) + compose(linear(), np.tanh), X, Z),
            "bound, new rows": (sne(sigma=1.5).bind(Z), X, X[:50]),
            "bound, its own rows": (sne(sigma=1.5).bind(X), X, Z),
            "centred": (centered(sne(sigma=1.5)).bind(Z), X, X[:40]),
        }

    def checked(self, name: str) -> tuple[Any, Any, Any]:
        """Return what engines run of a problem: the kernel and checked samples."""
        kernel, X, Z = self.problems[name]
        X, Z = kernel.check_sample_pair(X, Z)
        return kernel.for_engine(X, Z), X, Z


# Functions of row blocks ------------------------------------------------------------------------------------


def weighted_gram(rows: slice, block: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Σ w_i k_i k_iᵀ over the rows of a block."""
    return (block * weights[:, None]).T @ block


def mapped_rows(rows: slice, block: np.ndarray, V: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Return the rows times V, plus a number of each row."""
    return block @ V + shifts[:, None]


def row_numbers(rows: slice, block: np.ndarray) -> np.ndarray:
    """Return the numbers of the rows."""
    return np.arange(rows.start, rows.stop)


def row_counts(rows: slice, block: np.ndarray) -> np.ndarray:
    """Return how many rows there are, and the sum of their numbers."""
    return np.array([rows.stop - rows.start, sum(range(rows.start, rows.stop))])


def itself(rows: slice, block: np.ndarray) -> np.ndarray:
    """Return the block."""
    return block


def failing(rows: slice, block: np.ndarray, row: int) -> np.ndarray:
    """Raise at the block that holds a row."""
    if rows.start <= row < rows.stop:
        raise ArithmeticError(f"row {row} cannot be computed")
    return block


def slow(rows: slice, block: np.ndarray, seconds: float) -> np.ndarray:
    """Take some time."""
    time.sleep(seconds)
    return block[:, :1]


# Laws -------------------------------------------------------------------------------------------------------


@ENGINE_LAWS.law("signatures")
def signatures(case: EngineCase) -> None:
    """Every method can be called as the contract calls it."""
    problem = problem_with("engine", type(case.engine))
    if problem:
        fail(problem)


@ENGINE_LAWS.law("order of rows")
def order_of_rows(case: EngineCase) -> None:
    """Results are concatenated in the order of the rows, each of which is looked at once."""
    problem = case.checked("dense")
    require_same(case.engine.map_rows(*problem, row_numbers), np.arange(_ROWS), "numbers of the rows")
    counted = case.engine.map_rows(*problem, row_counts, "add")
    require_same(counted, [_ROWS, _ROWS * (_ROWS - 1) // 2], "number of rows, and the sum of their numbers")


@ENGINE_LAWS.law("rows to the bit")
def rows_to_the_bit(case: EngineCase) -> None:
    """Concatenated results are those of the engine of this machine, to the bit."""
    for name in case.problems:
        kernel, X, Z = case.checked(name)
        rng, m = np.random.default_rng(case.seed), (X if Z is None else Z).shape[0]
        args = rng.normal(size=(m, 2)), ByRow(rng.normal(size=X.shape[0]))
        expected = LOCAL.map_rows(kernel, X, Z, mapped_rows, args=args)
        require_same(case.engine.map_rows(kernel, X, Z, mapped_rows, args=args), expected, name)


@ENGINE_LAWS.law("sums to the bit")
def sums_to_the_bit(case: EngineCase) -> None:
    """Sums are added in the fixed tree: they are those of the engine of this machine, to the bit, each time."""
    for name in case.problems:
        kernel, X, Z = case.checked(name)
        args = (ByRow(np.random.default_rng(case.seed).normal(size=X.shape[0])),)
        expected = LOCAL.map_rows(kernel, X, Z, weighted_gram, "add", args=args)
        for _ in range(2):
            require_same(case.engine.map_rows(kernel, X, Z, weighted_gram, "add", args=args), expected, name)
        require_same(case.engine.reduce(kernel, X, Z, weighted_gram, args=args), expected, f"{name}, reduce")


@ENGINE_LAWS.law("matrices and products")
def matrices_and_products(case: EngineCase) -> None:
    """Matrices, blocks, operators, their adjoints and predictions agree with those of this machine to 1e-12."""
    for name, (kernel, X, Z) in case.problems.items():
        K = kernel(X, Z)
        tolerance = TOLERANCE if K.dtype == np.float64 else 1e-5
        rng = np.random.default_rng(case.seed)
        V, U = rng.normal(size=(K.shape[1], 2)), rng.normal(size=(K.shape[0], 2))
        products = {"operator": K @ V, "adjoint": K.T @ U, "prediction": K @ V}
        with config_context(engine=case.engine):
            operator = kernel.operator(X, Z)
            given = {
                "matrix": (kernel(X, Z), K),
                "matrix in out": (kernel(X, Z, out=np.empty_like(K)), K),
                "blocks": (np.vstack([block for _, block in kernel.blocks(X, Z, block_rows=500)]), K),
                "operator": (operator @ V, products["operator"]),
                "adjoint": (operator.T @ U, products["adjoint"]),
                "one vector": (operator @ V[:, 0], products["operator"][:, 0]),
                "prediction": (kernel.product(X, X if Z is None else Z, V), products["prediction"]),
            }
        for what, (got, expected) in given.items():
            require_close(got, expected, f"{name}, {what}", names=("engine", "here"), tolerance=tolerance)
            if np.asarray(got).dtype != expected.dtype and what.startswith("matrix"):
                fail(f"{name}, {what}: {np.asarray(got).dtype} instead of {expected.dtype}")


@ENGINE_LAWS.law("normalisers")
def normalisers(case: EngineCase) -> None:
    """Normalisers of row-normalised kernels are those of this machine."""
    kernel, X, Z = case.problems["row-normalised"]
    expected = kernel.row_normalizers(X, Z)
    own = kernel.bind(X).normalizers
    with config_context(engine=case.engine):
        require_close(kernel.row_normalizers(X, Z), expected, "over other samples", tolerance=TOLERANCE)
        require_close(kernel.bind(X).normalizers, own, "over the samples themselves", tolerance=TOLERANCE)


@ENGINE_LAWS.law("handles")
def handles(case: EngineCase) -> None:
    """Placed samples are known by shape, dtype and chunks, can be brought back, and serve in place of the samples."""
    engine = case.engine
    for name in ("dense", "sparse", "float32", "square"):
        kernel, X, Z = case.checked(name)
        x, z = engine.place(X), None if Z is None else engine.place(Z)
        if not isinstance(x, Handle):
            fail(f"place returned a {type(x).__name__}, which is no kernreg.engine.Handle")
        if x.shape != X.shape or x.dtype != X.dtype or sum(x.chunks) != X.shape[0]:
            fail(f"{name}: shape {x.shape}, dtype {x.dtype}, chunks {x.chunks} of {X.shape}, {X.dtype}")
        if engine.place(x) is not x:
            fail(f"{name}: placing a handle again must give the handle itself")
        back, some = x[5:300], x[np.array([700 % X.shape[0], 3])]
        for got, expected in ((back, X[5:300]), (some, X[np.array([700 % X.shape[0], 3])])):
            require_same(_dense(got), _dense(expected), f"{name}: rows brought back")
        require_same(
            engine.map_rows(kernel, x, z, itself), engine.map_rows(kernel, X, Z, itself), f"{name}: handles, samples"
        )
        with config_context(engine=engine):
            plain = case.problems[name][0]
            require_close(plain(x, z), plain(X, Z), f"{name}: k(handle)", tolerance=TOLERANCE)
    raw = np.arange(12).reshape(6, 2)
    require_same(_dense(engine.place(raw, _as_float)[1:3]), raw[1:3].astype(float) / 2, "samples checked when placed")


def _as_float(samples: np.ndarray) -> np.ndarray:
    return samples.astype(np.float64) / 2


def _dense(samples: Any) -> np.ndarray:
    return samples.toarray() if is_sparse(samples) else np.asarray(samples)


@ENGINE_LAWS.law("chunks as given")
def chunks_as_given(case: EngineCase) -> None:
    """Row numbers and arguments by row belong together wherever an engine cuts, and arguments may be handles."""
    kernel, X, Z = case.checked("dense")
    numbers = ByRow(np.arange(_ROWS, dtype=np.float64)[:, None])
    together = case.engine.map_rows(kernel, X, Z, _numbers_apart, args=(numbers, case.engine.place(Z)))
    if together.shape != (_ROWS, 2) or np.any(together[:, 0]):
        fail("arguments in ByRow are not those of the rows of the block")
    require_same(together[:, 1], np.full(_ROWS, float(np.sum(Z))), "a handle among the arguments arrives as samples")


def _numbers_apart(rows: slice, block: np.ndarray, numbers: np.ndarray, samples: np.ndarray) -> np.ndarray:
    apart = numbers[:, 0] - np.arange(rows.start, rows.stop)
    return np.column_stack([apart, np.full(len(block), np.sum(samples))])


@ENGINE_LAWS.law("empty samples")
def empty_samples(case: EngineCase) -> None:
    """No rows give what the function makes of no rows; no columns give rows of no entries."""
    kernel, X, Z = case.checked("dense")
    V = np.ones((_COLUMNS, 2))
    none = case.engine.map_rows(kernel, X[:0], Z, mapped_rows, args=(V, ByRow(np.ones(0))))
    require_same(none, np.empty((0, 2)), "no rows")
    total = case.engine.map_rows(kernel, X[:0], Z, weighted_gram, "add", args=(ByRow(np.ones(0)),))
    require_same(total, np.zeros((_COLUMNS, _COLUMNS)), "the sum over no rows")
    require_same(case.engine.map_rows(kernel, X, Z[:0], itself), np.empty((_ROWS, 0)), "no columns")


@ENGINE_LAWS.law("errors of functions")
def errors_of_functions(case: EngineCase) -> None:
    """What a function raises arrives with its type and message, and the engine works on."""
    kernel, X, Z = case.checked("dense")
    for row in (0, 700, _ROWS - 1):
        try:
            case.engine.map_rows(kernel, X, Z, failing, args=(row,))
        except ArithmeticError as error:
            if f"row {row} cannot be computed" not in str(error):
                fail(f"the message of the error was lost: {error}")
        else:
            fail(f"a function raised at row {row}, and nothing arrived")
    require_same(case.engine.map_rows(kernel, X, Z, row_numbers), np.arange(_ROWS), "after errors")
    require_error(
        ValueError, lambda: case.engine.map_rows(kernel, X, Z, itself, "multiply"), "an unknown way to combine"
    )


def _elsewhere(case: EngineCase) -> str | None:
    if threading.current_thread() is not threading.main_thread():
        return "only the main thread is interrupted"
    usual = signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL  # a process in the background ignores them
    return None if signal.getsignal(signal.SIGINT) in usual else "interrupts are handled elsewhere"


@ENGINE_LAWS.law("interruption", excuse=_elsewhere)
def interruption(case: EngineCase) -> None:
    """Ctrl-C ends a call with KeyboardInterrupt, and the engine works on."""
    kernel, X, Z = case.checked("dense")
    case.engine.map_rows(kernel, X, Z, row_numbers)  # whatever starts at the first call has started
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    done, before = False, signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        case.engine.map_rows(kernel, X, Z, slow, args=(1.0,))
        done = True
        time.sleep(_PATIENCE)  # the interrupt is still to come where the call was faster
    except KeyboardInterrupt:
        if done:
            fail("a call ended as if nobody had interrupted it")
    else:
        fail("an interrupt was lost")
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    require_same(case.engine.map_rows(kernel, X, Z, row_numbers), np.arange(_ROWS), "after an interrupt")


@ENGINE_LAWS.law("several threads")
def several_threads(case: EngineCase) -> None:
    """Threads share an engine: calls at the same time give what they give alone."""
    kernel, X, Z = case.checked("dense")
    engine = case.engine
    expected = [engine.map_rows(kernel, X[i:], Z, itself) for i in range(3)]
    found: list[Any] = [None] * 3

    def call(number: int) -> None:
        found[number] = engine.map_rows(kernel, X[number:], Z, itself)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(3):
        if found[number] is None:
            fail("a call from another thread failed")
        require_same(found[number], expected[number], "calls at the same time")


@ENGINE_LAWS.law("in words")
def in_words(case: EngineCase) -> None:
    """What it says about itself, and what fits, are plain values."""
    described = case.engine.describe()
    if not isinstance(described, dict) or not all(isinstance(key, str) for key in described):
        fail(f"describe() returned {described!r}; a dict of words is expected")
    if case.engine.fits(1) is not True or case.engine.fits(1 << 62) is not False:
        fail("fits(nbytes) says whether so many bytes may be held here: True for 1, False for 2**62")


@ENGINE_LAWS.law(
    "closing", excuse=lambda case: None if case.shared is None else "it was handed in, and others may use it"
)
def closing(case: EngineCase) -> None:
    """close() may be called twice, marks the engine as closed, and the engine is its own context manager."""
    engine = case.engine
    with engine as inside:
        if inside is not engine:
            fail("with engine as e: e is another object")
    if engine.closed is not True:
        fail("after close() `closed` is not True; call super().close()")
    engine.close()
    if case.engine is engine:
        fail("make_engine gave back an engine that is closed")
    case.close()
