"""Independent pieces of work, such as the combinations of a grid: each on one worker, whichever is free."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from distributed import Client, Future

import kernreg
from kernreg.errors import EngineError
from kernreg_dask.parcel import Parcel
from kernreg_dask.samples import new_key, scatter
from kernreg_dask.submission import SMALL
from kernreg_dask.waiting import LostData, as_done, results_of, workers_of
from kernreg_dask.worker import content_of, this_thread

_ATTEMPTS = 8  # workers that may go, one after the other


def each_item(
    client: Client, function: Callable[..., Any], items: list[Any], args: tuple[Any, ...], patience: float
) -> Iterator[tuple[int, Any]]:
    """Yield (number, result) of each item, as they are done; those of a worker that has gone are done by others.

    Parameters
    ----------
    client : Client
    function : callable
        ``function(item, *args)``, run with an engine of one machine and one thread.
    items : list
        Small.
    args : tuple
        They travel once.
    patience : float
    """
    waiting, parcel, key = dict(enumerate(items)), Parcel.of((function, args)), new_key("items")
    for _ in range(_ATTEMPTS):
        futures: dict[Future, int] = {}
        try:
            workers = workers_of(client, patience)
            message: Any = parcel
            if parcel.nbytes > SMALL:
                place = new_key("items")
                message = scatter(client, {next(iter(workers)): {place: parcel}})[place]
            for number, item in waiting.items():
                packed = Parcel.of(item)
                future = client.submit(_run_item, key, message, packed, key=new_key("item"), pure=False)
                futures[future] = number
            for future in as_done(client, futures, patience):
                (result,) = results_of(client, [future], patience)
                del waiting[futures[future]]
                yield futures[future], result
            return
        except LostData:
            continue
        finally:
            if futures:
                client.cancel(list(futures), force=True)
    raise EngineError(f"workers keep dying: {_ATTEMPTS} attempts failed, and {len(waiting)} items are left")


def _run_item(key: str, parcel: Parcel, item: Parcel) -> Any:
    function, args = content_of(key, parcel)
    with kernreg.config_context(**this_thread(), progress=False):
        return function(item.content(), *args)
