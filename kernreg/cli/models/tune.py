"""``kernreg tune``: kernel parameters and γ by exact leave-one-out."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import click

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import (
    check_task,
    data_argument,
    json_option,
    kernel_option,
    make_predictor,
    save_model,
    target_option,
    without_name_warnings,
    write_table,
)
from kernreg.cli.output import console, write_json
from kernreg.cli.tables import Table, table_options
from kernreg.errors import SpecError


def parse_grid(texts: tuple[str, ...]) -> dict[str, list[Any]]:
    """Read ``name=value,value,…`` or ``name=low:high:count`` (as many values, evenly spaced in the logarithm).

    >>> parse_grid(("kernel__sigma=1,2.5", "gamma=0.1:10:3"))
    {'kernel__sigma': [1, 2.5], 'gamma': [0.1, 1.0, 10.0]}
    >>> parse_grid(("kernel__sigma=scale,2,median",))
    {'kernel__sigma': ['scale', 2, 'median']}
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, mark, values = text.partition("=")
        if not mark or not name.strip() or not values.strip():
            raise SpecError(f"--grid {text!r} cannot be read; write name=value,value or name=low:high:count")
        if name.strip() in grid:
            raise SpecError(f"--grid names {name.strip()!r} twice; give all its values together")
        grid[name.strip()] = _range(text, values) if values.count(":") == 2 else _list(values)
    return grid


def _range(text: str, values: str) -> list[float]:
    import numpy as np

    try:
        low, high, count = (float(part) for part in values.split(":"))
        if not (0 < low < high < math.inf and count >= 2 and count.is_integer()):
            raise ValueError
    except ValueError:
        raise SpecError(
            f"--grid {text!r} cannot be read; a range is low:high:count with 0 < low < high and at least 2 values"
        ) from None
    return [float(f"{value:.12g}") for value in np.geomspace(low, high, int(count))]


def _list(values: str) -> list[Any]:
    try:
        return list(ast.literal_eval(f"({values},)"))
    except (ValueError, SyntaxError):  # words without quotes are among them
        return [_value(value.strip()) for value in values.split(",")]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


@click.command("tune")
@data_argument
@target_option
@click.option("--solver", "-s", metavar="SPEC", default="ls-svm", show_default=True)
@kernel_option
@click.option(
    "--grid",
    "-g",
    "grids",
    metavar="NAME=VALUES",
    multiple=True,
    help="Values to try: kernel__sigma=0.5,1,2 or gamma=0.01:1000:30; may be given several times. "
    "Without it, widths of the kernel and gamma are searched.",
)
@output_option("The model file to write, fitted with the best parameters.")
@click.option("--table", "every", type=click.Path(path_type=Path), help="A CSV file with every combination.")
@table_options
@json_option
def command(
    data: Path,
    target: str | None,
    solver: str,
    kernel: str | None,
    grids: tuple[str, ...],
    output: Path | None,
    force: bool,
    every: Path | None,
    table: Table,
    as_json: bool,
) -> None:
    """Choose parameters by exact leave-one-out, without refits.

    \b
    kernreg tune iris.csv -t species -k rbf -g kernel__sigma=0.5,1,2,4 -g gamma=0.01:1000:30 -o best.kern
    """
    from sklearn.base import clone

    from kernreg.solvers.tuning import tune

    grid = parse_grid(grids) if grids else None
    check_output(output, [data, every], force)
    check_output(every, [data, output], force)
    estimator = make_predictor(solver, kernel)
    X, y, names = table.read(data, target)
    check_task(estimator, y)
    model = table.chain(estimator, X, names, grid)
    with without_name_warnings():
        # The cleaning uses no targets: fitted once to all rows, it leaves the decompositions to the solver.
        cleaning = [] if model is estimator else [(name, step) for name, step in model.steps[:-1]]
        cleaned = X
        for _, step in cleaning:
            cleaned = step.fit(cleaned).transform(cleaned)
        found = tune(estimator, grid, cleaned, y)
    best = found.best_estimator
    if cleaning:
        model.steps_ = [*cleaning, (model.steps[-1][0], best)]
        model.steps = [*cleaning, (model.steps[-1][0], clone(best))]
        model.n_features_in_ = X.shape[1]
        if hasattr(best, "classes_"):
            model.classes_ = best.classes_
        best = model
    rows = found.table if isinstance(found.table, list) else found.table.to_dict("records")
    if every is not None:
        header = list(rows[0])
        write_table(header, ([row.get(name, "") for name in header] for row in rows), every)
    if output is not None:
        save_model(best, names, output)
    told = {"score": found.best_score, "parameters": found.best_params, "combinations": len(rows)}
    if as_json:
        write_json({**told, "model": None if output is None else str(output)})
        return
    out = console()
    out.print(f"{len(rows)} combinations; best leave-one-out score [bold]{found.best_score:.4f}[/]")
    for line in table.story:
        out.print(line)
    for name, value in found.best_params.items():
        out.print(f"  {name} = {value}")
    if output is not None:
        out.print(f"written to {output}")
