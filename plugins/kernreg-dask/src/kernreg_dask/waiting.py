"""Until results are there: rows done are told, interrupts arrive, and workers that are gone are noticed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker

from kernreg.errors import EngineError

_POLL = 0.5  # seconds after which workers are counted while nothing is done


class LostData(Exception):
    """A worker is gone, and with it samples or arguments that only this process has."""


@contextmanager
def noticing_losses() -> Iterator[None]:
    """Raise LostData where Dask says that something is cancelled, which nobody here has done."""
    try:
        yield
    except CancelledError as error:
        raise LostData from error


def workers_of(client: Client, patience: float) -> dict[str, int]:
    """Return the threads of every worker by address; wait for the first one, but not for ever."""
    until = time.monotonic() + patience
    while True:
        try:
            found = client.nthreads()
        except (OSError, RuntimeError, AttributeError, TypeError) as error:  # what a client without scheduler raises
            raise _no_scheduler(client) from error
        if found:
            return dict(found)
        if time.monotonic() > until:
            raise EngineError(
                f"the cluster at {address_of(client)} has no worker, and none has come in {patience:g} s. Start some "
                "with `dask worker`, or give the engine more time: timeout=…"
            )
        time.sleep(min(_POLL, patience))


def results_of(
    client: Client, futures: list[Future], patience: float, done: Callable[[Future], None] | None = None
) -> list[Any]:
    """Return the results of futures, in their order.

    Parameters
    ----------
    client : Client
    futures : list of Future
    patience : float
        Seconds without a single worker after which there is no hope.
    done : callable, optional
        Told of each future when it is done.

    Raises
    ------
    LostData
        Where something that futures need has gone with a worker.
    """
    until_done(client, futures, patience, done)
    with noticing_losses():
        return client.gather(futures, direct=True)


def until_done(
    client: Client, futures: Iterable[Future], patience: float, done: Callable[[Future], None] | None = None
) -> None:
    """Return when all futures are done; raise what the first one raises that fails."""
    for future in as_done(client, futures, patience):
        if done is not None:
            done(future)


def as_done(client: Client, futures: Iterable[Future], patience: float) -> Iterator[Future]:
    """Yield futures when they are done; raise what one raises that fails."""
    pending, last_seen = set(futures), time.monotonic()
    while pending:
        finished: set[Future] = set()
        with suppress(TimeoutError), noticing_losses(), client.as_current():
            finished = wait(pending, timeout=_POLL, return_when="FIRST_COMPLETED").done
        for future in finished:
            _check(client, future)
            yield future
        pending -= finished
        if finished or _has_workers(client):
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > patience:
            raise EngineError(
                f"all workers of the cluster at {address_of(client)} are gone, and none is back after {patience:g} s; "
                f"{len(pending)} parts of the work were still to be done"
            )


def _check(client: Client, future: Future) -> None:
    status = future.status
    if status in ("cancelled", "lost"):
        raise LostData
    if status != "error":
        return
    with noticing_losses():
        error = future.exception()
    if isinstance(error, KilledWorker):
        raise EngineError(
            "a part of the work has ended several workers one after the other, most likely for lack of memory: give "
            f"workers more of it, or smaller chunks. Dask says: {error}"
        ) from error
    raise error.with_traceback(None)


def _has_workers(client: Client) -> bool:
    if client.status not in ("running", "connecting"):
        raise _no_scheduler(client)
    try:
        return bool(client.nthreads())
    except (OSError, RuntimeError, AttributeError, TypeError):  # a client that has lost its scheduler
        return False


def _no_scheduler(client: Client) -> EngineError:
    return EngineError(f"the Dask scheduler at {address_of(client)} no longer answers")


def address_of(client: Client) -> str:
    """Return the address of the scheduler."""
    return str(getattr(client.scheduler, "address", None) or "an address that is gone")
