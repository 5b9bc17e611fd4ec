"""What the runs of tables and of figures share: where results go, failures, times, several processes."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from kernreg.errors import KernregError, ParameterError

#: A grid may warn for many of its points; so many of the messages are kept.
MOST_WARNINGS = 10

#: What may go wrong with numbers; anything else is a mistake in a program, and stops the run.
FAILURES = (KernregError, ValueError, ArithmeticError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Place:
    """Where results go and data come from.

    Attributes
    ----------
    out : Path
        Folder of results.
    quick : bool
        Whether it is the quick profile.
    data : path or None
        The data folder, None for the one KERNREG_DATA names.
    download : bool
        Whether OpenML may be asked.
    """

    out: Path
    quick: bool = False
    data: str | os.PathLike[str] | None = None
    download: bool = False


@dataclass(frozen=True)
class Selection:
    """Which part of a table or figure is run; all of it by default.

    Attributes
    ----------
    rows, methods : tuple of str
        Only these. The rows of a figure are its parts.
    trials : int, optional
        Trials of each row with a random split; by default the table's own number.

    Examples
    --------
    >>> Selection(rows=("iris",), trials=2).trials
    2
    """

    rows: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    trials: int | None = None

    def __post_init__(self) -> None:
        if self.trials is not None and self.trials < 1:
            raise ParameterError(f"trials={self.trials} is not accepted; give a positive number")


@dataclass(frozen=True)
class RunReport:
    """What `run` did.

    Attributes
    ----------
    made, kept, failed : int
        Cells run now, found from before, and failed.
    missing : tuple of str
        Rows whose data are not available, each with the reason.
    seconds : float

    Examples
    --------
    >>> RunReport(made=3, kept=0, failed=0, missing=(), seconds=1.5).made
    3
    """

    made: int
    kept: int
    failed: int
    missing: tuple[str, ...]
    seconds: float


@dataclass
class Work:
    """What is to be run, what is there already, and whose data are not."""

    todo: list[tuple[Any, ...]]
    kept: int
    missing: list[str]


def execute(
    function: Callable[..., tuple[bool, str]], work: Work, jobs: int, say: Callable[[str], None], started: float
) -> RunReport:
    """Call a function with each of the arguments to do, in several processes, and tell how each went."""
    tasks = (delayed(function)(*arguments) for arguments in work.todo)
    failed = 0
    for number, (done, line) in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), 1):
        failed += not done
        say(f"[{number}/{len(work.todo)}] {line}")
    made = len(work.todo) - failed
    return RunReport(made, work.kept, failed, tuple(work.missing), time.perf_counter() - started)


def timed(cell: dict[str, Any], compute: Callable[[], Any]) -> Any:
    """Return what a function returns; its time, and what it warned about, are kept in the cell."""
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as warned:  # kept in the result instead of printed
        warnings.simplefilter("always")
        result = compute()
    cell["warnings"] = sorted({f"{item.category.__name__}: {item.message}" for item in warned})[:MOST_WARNINGS]
    cell["seconds"] = time.perf_counter() - started
    return result


def check_names(table: str, kind: str, given: Sequence[str], known: Sequence[str]) -> None:
    """Raise ParameterError for a row, method or part that is not there."""
    for name in given:
        if name not in known:
            raise ParameterError(f"{table} has no {kind} {name!r}; it has {', '.join(known)}")
