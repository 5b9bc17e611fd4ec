"""One task for each chunk of rows, where the chunk lies; sums are added in a fixed tree, on workers too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from distributed import Client, Future

from kernreg.engine import ByRow, Handle, RowTask, borders
from kernreg_dask.parcel import Parcel
from kernreg_dask.samples import DaskSamples, new_key, scatter
from kernreg_dask.worker import Slot, added, run_part

SMALL = 1 << 12  # bytes that may go along with a task, through the scheduler


@dataclass
class Call:
    """What is done to rows ``first`` to ``last`` of K(X, Z).

    Attributes
    ----------
    task : RowTask
    X, Z : DaskSamples
    args : tuple
        For the function of the task.
    first, last : int
        Rows of X; `start` is what the first of them is called.
    """

    task: RowTask
    X: DaskSamples
    Z: DaskSamples
    args: tuple[Any, ...]
    first: int
    last: int
    start: int = 0
    parts: list[Future] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    @property
    def placed(self) -> list[DaskSamples]:
        """All samples that it needs."""
        inside = [arg.values if isinstance(arg, ByRow) else arg for arg in self.args]
        return [self.X, self.Z, *(each for each in inside if isinstance(each, DaskSamples))]


def submit(client: Client, call: Call, workers: Mapping[str, int]) -> list[Future]:
    """Submit the parts of a call that are not done yet, and return the futures of its result, in order.

    They are the chunks to be concatenated, or one sum. What is large goes from here to a worker and from there to
    others, each time once.
    """
    pieces = _pieces(call)
    where = [call.X.where[number] or next(iter(workers)) for number, _, _, _ in pieces]
    common, apart = _arguments(call)
    parcel = Parcel.of((call.task, common))
    key = new_key("task")
    message: Any = parcel
    if parcel.nbytes > SMALL:
        message = scatter(client, {where[0] if where[0] in workers else next(iter(workers)): {key: parcel}})[key]
    mine = _own_arguments(client, call, apart, pieces, where, workers)
    alone = [max(1, workers.get(address, 1) // max(1, where.count(address))) for address in where]
    call.parts, call.rows = [], []
    for (number, first, last, start), address, threads, own in zip(pieces, where, alone, mine, strict=True):
        call.parts.append(
            client.submit(
                run_part,
                key,
                message,
                call.X.futures[number],
                call.Z.whole_at(address),
                own,
                (first, last, start, threads),
                key=new_key(_name(call.task)),
                workers=[address],
                allow_other_workers=True,
                pure=False,
            )
        )
        call.rows.append(last - first)
    return call.parts if call.task.combine == "concatenate" else [_tree(client, call.parts, where)]


def _name(task: RowTask) -> str:
    return getattr(task.function, "__name__", "rows").strip("_").replace("_", "-")


def _pieces(call: Call) -> list[tuple[int, int, int, int]]:
    """Return for each chunk with rows of the call: its number, its first and last row, the number of the first."""
    pieces: list[tuple[int, int, int, int]] = []
    for number, (start, stop) in enumerate(borders(call.X.chunks)):
        first, last = max(start, call.first), min(stop, call.last)
        if first < last or (call.first == call.last and not pieces):
            pieces.append((number, first - start, max(first, last) - start, first - call.first + call.start))
    return pieces


def _arguments(call: Call) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the arguments for the parcel, and those that travel by themselves: by row, or placed already."""
    common: list[Any] = []
    apart: list[Any] = []
    for arg in call.args:
        if isinstance(arg, ByRow | Handle):
            common.append(Slot(len(apart), isinstance(arg, ByRow)))
            apart.append(arg)
        else:
            common.append(arg)
    return tuple(common), apart


def _own_arguments(
    client: Client,
    call: Call,
    apart: list[Any],
    pieces: list[tuple[int, int, int, int]],
    where: list[str],
    workers: Mapping[str, int],
) -> list[list[Any]]:
    """Return the arguments of each piece: futures of what is large, sent to where the piece is; the rest as it is."""
    found: list[list[Any]] = []
    groups: dict[str, dict[str, Any]] = {}
    for (number, first, last, _), address in zip(pieces, where, strict=True):
        own: list[Any] = []
        for arg in apart:
            if isinstance(arg, DaskSamples):
                own.append(arg.whole_at(address))
                continue
            if isinstance(arg, Handle):
                own.append(arg[:])
                continue
            values = arg.values
            if isinstance(values, DaskSamples) and values.chunks == call.X.chunks:
                own.append(values.futures[number])  # the rows of a part are taken where they are
                continue
            offset = sum(call.X.chunks[:number])
            piece = values[offset + first : offset + last]
            if _size(piece) <= SMALL:
                own.append(piece)
                continue
            key = new_key("argument")
            groups.setdefault(address if address in workers else next(iter(workers)), {})[key] = piece
            own.append(key)
        found.append(own)
    if groups:
        futures = scatter(client, groups)
        found = [[futures.get(item, item) if isinstance(item, str) else item for item in own] for own in found]
    return found


def _size(values: Any) -> int:
    if isinstance(values, np.ndarray):
        return values.nbytes
    return SMALL + 1  # of any other kind, by itself


def _tree(client: Client, parts: list[Future], where: list[str]) -> Future:
    """Return the sum, level by level: neighbours are added, and one without a neighbour goes up as it is."""
    level = list(zip(parts, where, strict=True))
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [
            pair[0]
            if len(pair) == 1
            else (
                client.submit(
                    added,
                    pair[0][0],
                    pair[1][0],
                    key=new_key("sum"),
                    workers=[pair[0][1]],
                    allow_other_workers=True,
                    pure=False,
                ),
                pair[0][1],
            )
            for pair in pairs
        ]
    return level[0][0]
