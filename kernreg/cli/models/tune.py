"""``kernreg tune``: kernel parameters and γ by exact leave-one-out."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import click

from kernreg.cli.options import (
    check_task,
    data_argument,
    json_option,
    kernel_option,
    make_predictor,
    output_option,
    read_labelled,
    save_model,
    target_option,
    without_name_warnings,
    write_table,
)
from kernreg.cli.output import console, write_json
from kernreg.errors import SpecError


def parse_grid(texts: tuple[str, ...]) -> dict[str, list[Any]]:
    """Read ``name=value,value,…`` or ``name=low:high:count`` (as many values, evenly spaced in the logarithm).

    >>> parse_grid(("kernel__sigma=1,2.5", "gamma=0.1:10:3"))
    {'kernel__sigma': [1, 2.5], 'gamma': [0.1, 1.0, 10.0]}
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
    except (ValueError, SyntaxError):
        return [value.strip() for value in values.split(",")]


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
@click.option("--table", type=click.Path(path_type=Path), help="A CSV file with every combination.")
@json_option
def command(
    data: Path,
    target: str | None,
    solver: str,
    kernel: str | None,
    grids: tuple[str, ...],
    output: Path | None,
    table: Path | None,
    as_json: bool,
) -> None:
    """Choose parameters by exact leave-one-out, without refits.

    \b
    kernreg tune iris.csv -t species -k rbf -g kernel__sigma=0.5,1,2,4 -g gamma=0.01:1000:30 -o best.kern
    """
    from kernreg.solvers.tuning import tune

    grid = parse_grid(grids) if grids else None
    estimator = make_predictor(solver, kernel)
    X, y, names = read_labelled(data, target)
    check_task(estimator, y)
    with without_name_warnings():
        found = tune(estimator, grid, X, y)
    rows = found.table if isinstance(found.table, list) else found.table.to_dict("records")
    if table is not None:
        header = list(rows[0])
        write_table(header, ([row.get(name, "") for name in header] for row in rows), table)
    if output is not None:
        save_model(found.best_estimator, names, output)
    told = {"score": found.best_score, "parameters": found.best_params, "combinations": len(rows)}
    if as_json:
        write_json({**told, "model": None if output is None else str(output)})
        return
    out = console()
    out.print(f"{len(rows)} combinations; best leave-one-out score [bold]{found.best_score:.4f}[/]")
    for name, value in found.best_params.items():
        out.print(f"  {name} = {value}")
    if output is not None:
        out.print(f"written to {output}")
