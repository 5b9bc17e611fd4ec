"""The cells of a table: which are to be run, what each depends on, how one is run and scored."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, normalized_mutual_info_score, roc_auc_score

from kernreg.errors import MissingDataset
from kernreg_papers.data.splits import load_row, make_split, seed_of
from kernreg_papers.description import Outcome, Row, Table
from kernreg_papers.runner.cells import FORMAT, cell_path, is_done, read_cell, versions, write_cell
from kernreg_papers.runner.execution import FAILURES, Place, RunReport, Selection, Work, check_names, execute, timed

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


def run_table(table: Table, place: Place, only: Selection, jobs: int, say: Callable[[str], None]) -> RunReport:
    """Run every cell of a table that is not there yet; `run` calls it."""
    check_names(table.name, "row", only.rows, [row.name for row in table.rows])
    check_names(table.name, "method", only.methods, [method.name for method in table.methods])
    started = time.perf_counter()
    methods = [method for method in table.methods if method.is_installed]
    for method in table.methods:
        if method not in methods:
            say(f"{method.name}: plugin not installed ({method.requires})")
    methods = [method for method in methods if not only.methods or method.name in only.methods]
    work = Work([], 0, [])
    for row in table.rows:
        if only.rows and row.name not in only.rows:
            continue
        try:
            load_row(row, place.data, place.download)
        except MissingDataset as error:
            work.missing.append(f"{row.name}: {error}")
            say(f"{row.name}: data not available")
            continue
        runnable = [method for method in methods if place.quick or row.name not in method.too_large]
        for method in methods:
            if method not in runnable:
                say(f"{row.name} {method.name}: too large, left out")
        for trial in range(table.trials_of(row, only.trials, place.quick)):
            for method in runnable:
                path = cell_path(place.out, place.quick, table.name, row.name, method.name, trial)
                if is_done(read_cell(path), made_with(table, row.name, method.name, trial, place.quick)):
                    work.kept += 1
                else:
                    work.todo.append((table, row.name, method.name, trial, place))
    return execute(run_cell, work, jobs, say, started)


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


def run_cell(table: Table, row: str, method: str, trial: int, place: Place) -> tuple[bool, str]:
    """Run one cell and write its file; return whether it went well, and a line about it.

    A numerical failure is written down too: the report shows it, and the next run tries again.
    """
    here, column = table.row(row), table.method(method)
    quick = place.quick
    how = made_with(table, row, method, trial, quick)
    split, y_test = make_split(table, here, load_row(here, place.data, place.download), how["seed"], quick)
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
    try:
        outcome = timed(cell, lambda: column.function(split, **column.settings_of(quick)))
        cell["scores"] = _scores(table, here, outcome, y_test, split.n_unseen)
        cell["chosen"] = dict(outcome.chosen)
    except FAILURES as error:
        cell["error"] = f"{type(error).__name__}: {error}"
    write_cell(cell_path(place.out, quick, table.name, row, method, trial), cell)
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
