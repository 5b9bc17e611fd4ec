"""``kernreg evaluate``: solvers and kernels side by side, cross-validated, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from kernreg.cli.options import (
    check_task,
    data_argument,
    default_solver,
    json_option,
    make_predictor,
    seed_option,
    target_option,
    task_of,
)
from kernreg.cli.output import console, write_json
from kernreg.cli.tables import Table, table_options
from kernreg.errors import DataError, KernregError, ParameterError

#: What is measured, and whether more or less of it is better.
MEASURES: dict[str, Any] = {"accuracy": max, "macro_f1": max, "r2": max, "rmse": min}


@click.command("evaluate")
@data_argument
@target_option
@click.option("--solver", "-s", "solvers", metavar="SPEC", multiple=True, help="A solver; may be given several times.")
@click.option("--kernel", "-k", "kernels", metavar="SPEC", multiple=True, help="A kernel; may be given several times.")
@click.option("--cv", type=click.IntRange(2), default=5, show_default=True, help="Folds.")
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="How often to repeat it, with new folds."
)
@seed_option
@table_options
@json_option
def command(
    data: Path,
    target: str | None,
    solvers: tuple[str, ...],
    kernels: tuple[str, ...],
    cv: int,
    repeats: int,
    seed: int,
    table: Table,
    as_json: bool,
) -> None:
    """Cross-validate every solver with every kernel on the table in DATA.

    \b
    kernreg evaluate iris.csv -t species -s ls-svm -s "ask-ls(gamma='loo')" -k "rbf(sigma=2)" -k "sne(sigma=2)"
    """
    from kernreg.common.progress import progress
    from kernreg.factory import make_kernel

    X, y, names = table.read(data, target)
    task = task_of(y)
    pairs = [(solver, kernel) for solver in solvers or (default_solver(y),) for kernel in (kernels or (None,))]
    for spec in kernels:
        make_kernel(spec)  # refuses what cannot be read before anything is computed
    estimators = [make_predictor(solver, kernel) for solver, kernel in pairs]
    for estimator in estimators:
        check_task(estimator, y)
    require_enough(y, cv, classes=task == "classification")
    rows, cleaning = [], {}
    with progress("evaluate", len(pairs)) as report:
        for number, ((solver, kernel), estimator) in enumerate(zip(pairs, estimators, strict=True)):
            report(number)
            used = kernel or estimator.kernel or getattr(estimator, "default_kernel", None)
            row: dict[str, Any] = {"solver": solver, "kernel": str(used)}
            try:
                row.update(cross_validated(table.chain(estimator, X, names), X, y, cv, repeats, seed))
            except KernregError as error:
                row["error"] = str(error)
            rows.append(row)
            cleaning.update(dict.fromkeys(table.story))
    if as_json:
        write_json(
            {"data": str(data), "task": task, "folds": cv, "repeats": repeats, "cleaning": [*cleaning], "results": rows}
        )
    else:
        _print(rows, cv, repeats)
        for line in cleaning:
            console().print(line)
    if all("error" in row for row in rows):
        raise ParameterError(f"nothing could be evaluated: {rows[0]['error']}")


def require_enough(y: np.ndarray, cv: int, *, classes: bool) -> None:
    """Raise DataError where the samples are fewer than the folds."""
    most = int(np.unique(y, return_counts=True)[1].max(initial=0)) if classes else len(y)
    if most < cv:
        what = "the largest class has" if classes else "there are"
        raise DataError(f"{what} {most} samples, too few for {cv} folds; use fewer folds")


def cross_validated(estimator: Any, X: Any, y: np.ndarray, cv: int, repeats: int, seed: int) -> dict[str, float]:
    """Return mean and standard deviation of the measures over the folds."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, cross_validate

    classes = is_classifier(estimator)
    require_enough(y, cv, classes=classes)
    folds = (RepeatedStratifiedKFold if classes else RepeatedKFold)(n_splits=cv, n_repeats=repeats, random_state=seed)
    scorers = {"r2": "r2", "rmse": "neg_root_mean_squared_error"}
    if classes:
        scorers = {"accuracy": "accuracy", "macro_f1": "f1_macro"}
    scores = cross_validate(estimator, X, y, cv=folds, scoring=scorers, error_score="raise")
    found = {}
    for name, scorer in scorers.items():
        values = -scores[f"test_{name}"] if scorer.startswith("neg_") else scores[f"test_{name}"]
        found[name], found[f"{name}_std"] = float(np.mean(values)), float(np.std(values))
    return {**found, "seconds_per_fold": float(np.mean(scores["fit_time"] + scores["score_time"]))}


def _print(rows: list[dict[str, Any]], cv: int, repeats: int) -> None:
    from rich.table import Table

    times = f"{cv} folds" + (f", {repeats} times" if repeats > 1 else "")
    measures = [name for name in MEASURES if any(name in row for row in rows)]
    columns = ("solver", "kernel", *(measures or ["result"]), "s per fold")
    table = Table(*columns, title=times, title_justify="left", box=None, pad_edge=False)
    best = {name: MEASURES[name](row[name] for row in rows if name in row) for name in measures}
    for row in rows:
        cells = ["[red]failed: see below[/]"]
        if "error" not in row:
            cells = [_cell(row, name, best[name]) for name in measures]
            cells.append(f"{row['seconds_per_fold']:.3f}")
        table.add_row(row["solver"], row["kernel"], *cells)
    out = console()
    out.print(table)
    for row in rows:
        if "error" in row:
            out.print(f"{row['solver']} with {row['kernel']}: {row['error']}", markup=False)


def _cell(row: dict[str, Any], name: str, best: float) -> str:
    if name not in row:
        return ""
    text = f"{row[name]:.4f} ± {row[f'{name}_std']:.4f}"
    return f"[bold]{text}[/]" if row[name] == best else text
