"""Run a table: every cell that is not there yet, in this process or in several."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import accuracy_score, f1_score, normalized_mutual_info_score, roc_auc_score

from kernreg.errors import KernregError, MissingDataset, ParameterError
from kernreg.papers.cells import FORMAT, cell_path, is_done, read_cell, versions, write_cell
from kernreg.papers.description import Outcome, Row, Table
from kernreg.papers.figures.description import Figure
from kernreg.papers.splitting import load_row, make_split, seed_of

#: Measures computed from predictions.
MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": accuracy_score,
    "micro_f1": lambda y, predicted: f1_score(y, predicted, average="micro"),
    "macro_f1": lambda y, predicted: f1_score(y, predicted, average="macro", zero_division=0.0),
    "nmi": normalized_mutual_info_score,
    "rmse": lambda y, predicted: float(np.sqrt(np.mean((y - predicted) ** 2))),
}

#: Measures computed from a number that ranks the samples of two classes.
RANKINGS: dict[str, Callable[[Any, Any], float]] = {"auroc": roc_auc_score}

#: A grid may warn for many of its points; so many of the messages are kept.
MOST_WARNINGS = 10

#: What may go wrong with numbers; anything else is a mistake in a program, and stops the run.
FAILURES = (KernregError, ValueError, ArithmeticError, np.linalg.LinAlgError)


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
    """

    made: int
    kept: int
    failed: int
    missing: tuple[str, ...]
    seconds: float


def run(
    table: Table | Figure,
    out: str | os.PathLike[str],
    *,
    trials: int | None = None,
    jobs: int = 1,
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
    download: bool = False,
    rows: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
    tell: Callable[[str], None] | None = None,
) -> RunReport:
    """Run every cell of a table, or part of a figure, that `out` does not hold yet.

    Parameters
    ----------
    table : Table or Figure
    out : path
        Folder of results. Interrupt at any time; the next call goes on.
    trials : int, optional
        Trials of each row with a random split; by default the table's own number.
    jobs : int
        Processes.
    data : path, optional
        The data folder, by default the one KERNREG_DATA names.
    quick : bool
        Few trials on small subsets; kept apart from full results.
    download : bool
        Whether OpenML may be asked.
    rows, methods : tuple of str
        Only these; all by default. The rows of a figure are its parts.
    tell : callable, optional
        Called with a line about each cell.

    Returns
    -------
    RunReport
    """
    if trials is not None and trials < 1:
        raise ParameterError(f"trials={trials} is not accepted; give a positive number")
    folder, say = Path(out), tell or (lambda line: None)
    if isinstance(table, Figure):
        from kernreg.papers.figures.running import run_figure  # which needs this module

        return run_figure(table, folder, jobs=jobs, data=data, quick=quick, download=download, rows=rows, say=say)
    check_names(table.name, "row", rows, [row.name for row in table.rows])
    check_names(table.name, "method", methods, [method.name for method in table.methods])
    started = time.perf_counter()
    absent = {method.name: method.requires for method in table.methods if not method.is_installed}
    for name, module in absent.items():
        say(f"{name}: plugin not installed ({module})")
    todo, kept, missing = [], 0, []
    for row in table.rows:
        if rows and row.name not in rows:
            continue
        try:
            load_row(row, data, download)
        except MissingDataset as error:
            missing.append(f"{row.name}: {error}")
            say(f"{row.name}: data not available")
            continue
        for trial in range(table.trials_of(row, trials, quick)):
            for method in table.methods:
                if method.name in absent or (methods and method.name not in methods):
                    continue
                if row.name in method.too_large and not quick:
                    if trial == 0:
                        say(f"{row.name} {method.name}: too large, left out")
                    continue
                path = cell_path(folder, quick, table.name, row.name, method.name, trial)
                if is_done(read_cell(path), made_with(table, row.name, method.name, trial, quick)):
                    kept += 1
                else:
                    todo.append((row.name, method.name, trial))
    tasks = (delayed(run_cell)(table, *cell, folder, data, quick, download) for cell in todo)
    failed = 0
    for number, (done, line) in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), 1):
        failed += not done
        say(f"[{number}/{len(todo)}] {line}")
    return RunReport(len(todo) - failed, kept, failed, tuple(missing), time.perf_counter() - started)


def made_with(table: Table, row: str, method: str, trial: int, quick: bool) -> dict[str, Any]:
    """Return all that a result depends on, but for versions."""
    here, column = table.row(row), table.method(method)
    # What a table does not use is not named, so that results outlive new kinds of tables.
    special = {
        "unseen": table.unseen,
        "stratify": table.stratify,
        "subset": here.subset,
        "n_train": here.n_train,
        "revision": column.revision,
    }
    return {
        "seed": seed_of(table.name, row, trial),
        "quick": quick,
        "data": here.data,
        "missing": here.missing,
        "official": here.official,
        "options": dict(here.options),
        "train": table.train,
        "scale": table.scale,
        "samples": table.quick_samples if quick else None,
        "settings": column.settings_of(quick),
        **{name: value for name, value in special.items() if value},
    }


def run_cell(
    table: Table, row: str, method: str, trial: int, out: Path, data: Any, quick: bool, download: bool
) -> tuple[bool, str]:
    """Run one cell and write its file; return whether it went well, and a line about it.

    A numerical failure is written down too: the report shows it, and the next run tries again.
    """
    here, column = table.row(row), table.method(method)
    how = made_with(table, row, method, trial, quick)
    split, y_test = make_split(table, here, load_row(here, data, download), how["seed"], quick)
    cell: dict[str, Any] = {
        "format": FORMAT,
        "table": table.name,
        "row": row,
        "method": method,
        "trial": trial,
        "made_with": how,
        "versions": versions(),
        "n_train": len(split.y_train),
        "n_test": len(y_test),
    }
    started = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as warned:  # kept in the result instead of printed
            warnings.simplefilter("always")
            outcome = column.function(split, **column.settings_of(quick))
        cell["warnings"] = sorted({f"{item.category.__name__}: {item.message}" for item in warned})[:MOST_WARNINGS]
        cell["seconds"] = time.perf_counter() - started
        cell["scores"] = _scores(table, here, outcome, y_test, split.n_unseen)
        cell["chosen"] = dict(outcome.chosen)
    except FAILURES as error:
        cell["error"] = f"{type(error).__name__}: {error}"
    write_cell(cell_path(out, quick, table.name, row, method, trial), cell)
    if "error" in cell:
        return False, f"{row} {method} {trial}: failed, {cell['error']}"
    told = ", ".join(f"{name} {value:.4f}" for name, value in cell["scores"].items())
    return True, f"{row} {method} {trial}: {told} ({cell['seconds']:.1f} s)"


def _scores(table: Table, row: Row, outcome: Outcome, y_test: np.ndarray, n_unseen: int) -> dict[str, float]:
    scores = {name: float(value) for name, value in outcome.scores.items()}
    wanted, predicted = row.measures or table.measures, outcome.predicted
    if predicted is not None:
        scores.update({name: float(MEASURES[name](y_test, predicted)) for name in wanted if name in MEASURES})
        if n_unseen:
            scores["unlabelled"] = float(np.mean(predicted[:-n_unseen] == y_test[:-n_unseen]))
            scores["unseen"] = float(np.mean(predicted[-n_unseen:] == y_test[-n_unseen:]))
    if outcome.decision is not None:
        scores.update({name: float(RANKINGS[name](y_test, outcome.decision)) for name in wanted if name in RANKINGS})
    return scores


def check_names(table: str, kind: str, given: tuple[str, ...], known: list[str]) -> None:
    """Raise ParameterError for a row, method or part that is not there."""
    for name in given:
        if name not in known:
            raise ParameterError(f"{table} has no {kind} {name!r}; it has {', '.join(known)}")
