"""The laws of engines: the engines of this repository keep them, and each way to break one is found."""

from __future__ import annotations

import time

import numpy as np
import pytest

from kernreg.engine import Engine, HeldSamples, RowTask, aligned_chunks, borders, combined, cut, run_chunk, whole
from kernreg.engine.local import LocalEngine
from kernreg.testing import LawViolation, check_engine, engine_checks, parametrize_with_checks, verdicts
from kernreg.testing.engines import ENGINE_LAWS, EngineCase


class Chunked(Engine):
    """Chunks one after the other, in this process: the smallest engine there is."""

    def place(self, samples, check=None):
        if isinstance(samples, HeldSamples):
            return samples
        return HeldSamples(samples, check, aligned_chunks(samples.shape[0], 4))

    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        X, other = self.place(X), whole(X if Z is None else Z)
        task = RowTask.of(kernel, function, combine, X.shape[0], other.shape[0], Z is None)
        args = tuple(whole(arg) for arg in args)
        chunks = [
            run_chunk(task, X[start:stop], other, cut(args, slice(start, stop)), start)
            for start, stop in borders(X.chunks)
        ]
        return self.combined(chunks, combine)

    def combined(self, results, combine):
        return combined(results, combine)


@parametrize_with_checks([LocalEngine, Chunked])
def test_laws_hold(check):
    check()


def test_verdicts_are_told_for_every_law():
    told = {verdict.law: verdict.outcome for verdict in verdicts(LocalEngine)}
    assert set(told) == {law.name for law in ENGINE_LAWS.laws}
    assert set(told.values()) == {"held"}


def test_an_engine_that_was_handed_in_is_not_closed():
    engine = Chunked()
    assert "closing" not in [check.law.name for check in engine_checks(engine)]
    check_engine(engine)
    assert not engine.closed


# Engines that break a law -----------------------------------------------------------------------------------


class OutOfOrder(Chunked):
    def combined(self, results, combine):
        return combined(results[::-1] if combine == "concatenate" else results, combine)


class Lost(Chunked):
    def combined(self, results, combine):
        return combined(results[:-1] or results, combine)


class Twice(Chunked):
    def combined(self, results, combine):
        return combined([*results, results[-1]] if combine == "add" and len(results) > 1 else results, combine)


class ArrivalOrder(Chunked):
    """Adds sums as they come: in order, on this machine, but not in the tree."""

    def combined(self, results, combine):
        if combine == "concatenate":
            return combined(results, combine)
        total = results[0]
        for result in results[1:]:
            total = total + result
        return total


class UnevenChunks(Chunked):
    """Cuts where blocks do not start, and so has other blocks."""

    def place(self, samples, check=None):
        if isinstance(samples, HeldSamples):
            return samples
        n = samples.shape[0]
        return HeldSamples(samples, check, (n // 3, n - n // 3))


class LocalNumbers(Chunked):
    """Tells functions the rows of the chunk, not those of the whole."""

    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        X, other = self.place(X), whole(X if Z is None else Z)
        task = RowTask.of(kernel, function, combine, X.shape[0], other.shape[0], Z is None)
        args = tuple(whole(arg) for arg in args)
        return combined(
            [run_chunk(task, X[a:b], other, cut(args, slice(a, b)), 0) for a, b in borders(X.chunks)], combine
        )


class NotCut(Chunked):
    """Gives every chunk the first rows of arguments by row."""

    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        X, other = self.place(X), whole(X if Z is None else Z)
        task = RowTask.of(kernel, function, combine, X.shape[0], other.shape[0], Z is None)
        args = tuple(whole(arg) for arg in args)
        return combined(
            [run_chunk(task, X[a:b], other, cut(args, slice(0, b - a)), a) for a, b in borders(X.chunks)], combine
        )


class Silent(Chunked):
    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        try:
            return super().map_rows(kernel, X, Z, function, combine, args=args)
        except ArithmeticError:
            return np.zeros((X.shape[0], 1))


class Reworded(Chunked):
    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        try:
            return super().map_rows(kernel, X, Z, function, combine, args=args)
        except ArithmeticError:
            raise ArithmeticError("a worker failed") from None


class Deaf(Chunked):
    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        try:
            return super().map_rows(kernel, X, Z, function, combine, args=args)
        except KeyboardInterrupt:
            return super().map_rows(kernel, X, Z, function, combine, args=args)


class OnceOnly(Chunked):
    def close(self):
        if self.closed:
            raise RuntimeError("closed already")
        super().close()


class NeverClosed(Chunked):
    def close(self):
        pass


class Single(Chunked):
    def matrix(self, kernel, X, Z=None, out=None):
        K = super().matrix(kernel, X, Z, out)
        return K.astype(np.float32).astype(K.dtype)


class ForgetsCheck(Chunked):
    def place(self, samples, check=None):
        return super().place(samples)


class PlacesAgain(Chunked):
    def place(self, samples, check=None):
        return HeldSamples(whole(samples), check, aligned_chunks(samples.shape[0], 4))


class NothingForNothing(Chunked):
    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        if X.shape[0] == 0:
            return None
        return super().map_rows(kernel, X, Z, function, combine, args=args)


class OneAtATime(Chunked):
    """Fails where another thread is inside."""

    busy = False

    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        if self.busy:
            raise RuntimeError("busy")
        self.busy = True
        try:
            time.sleep(0.05)
            return super().map_rows(kernel, X, Z, function, combine, args=args)
        finally:
            self.busy = False


class Wordless(Chunked):
    def describe(self):
        return "an engine"


class Boundless(Chunked):
    def fits(self, nbytes):
        return True


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("engine", "law"),
    [
        (OutOfOrder, "order of rows"),
        (OutOfOrder, "rows to the bit"),
        (Lost, "order of rows"),
        (Lost, "rows to the bit"),
        (Lost, "sums to the bit"),
        (Twice, "order of rows"),
        (Twice, "sums to the bit"),
        (ArrivalOrder, "sums to the bit"),
        (UnevenChunks, "sums to the bit"),
        (LocalNumbers, "order of rows"),
        (NotCut, "chunks as given"),
        (NotCut, "rows to the bit"),
        (Silent, "errors of functions"),
        (Reworded, "errors of functions"),
        (Deaf, "interruption"),
        (OnceOnly, "closing"),
        (NeverClosed, "closing"),
        (Single, "matrices and products"),
        (ForgetsCheck, "handles"),
        (PlacesAgain, "handles"),
        (NothingForNothing, "empty samples"),
        (OneAtATime, "several threads"),
        (Wordless, "in words"),
        (Boundless, "in words"),
    ],
)
def test_a_broken_law_is_found(engine, law, monkeypatch):
    monkeypatch.setattr("kernreg.testing.engines._PATIENCE", 0.5)
    case = EngineCase(engine)
    book = {known.name: known for known in ENGINE_LAWS.laws}
    with pytest.raises(LawViolation) as caught:
        book[law](case)
    assert caught.value.law == law
    assert engine.__name__ in str(caught.value)


@pytest.mark.parametrize("engine", [OutOfOrder, Lost, ArrivalOrder])
def test_check_engine_finds_it(engine):
    with pytest.raises(LawViolation, match=engine.__name__):
        check_engine(engine)
