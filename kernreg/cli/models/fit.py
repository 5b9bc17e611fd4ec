"""``kernreg fit``: from a table to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import (
    check_task,
    data_argument,
    default_solver,
    json_option,
    kernel_option,
    make_predictor,
    report_score,
    save_model,
    solver_option,
    target_option,
    without_name_warnings,
)
from kernreg.cli.output import console, write_json
from kernreg.cli.tables import Table, table_options


@click.command("fit")
@data_argument
@target_option
@solver_option
@kernel_option
@output_option("The model file to write.", required=True)
@table_options
@json_option
def command(
    data: Path,
    target: str | None,
    solver: str | None,
    kernel: str | None,
    output: Path,
    force: bool,
    table: Table,
    as_json: bool,
) -> None:
    """Fit a solver to the table in DATA and write the model, which also keeps how the table was cleaned.

    \b
    kernreg fit iris.csv --target species --solver "ask-ls(gamma='loo')" --kernel "sne(sigma=2)" -o iris.kern
    """
    check_output(output, [data], force)
    given = None if solver is None else make_predictor(solver, kernel)
    X, y, names = table.read(data, target, streamed=True)
    estimator = given or make_predictor(default_solver(y), kernel)
    check_task(estimator, y)
    with without_name_warnings():
        model = table.chain(estimator, X, names).fit(X, y)
        told: dict[str, Any] = {
            "model": str(output),
            "solver": type(estimator).__name__,
            "cleaning": table.story,
            "samples": int(X.shape[0]),
            "features": int(X.shape[1]),
            **report_score(model),
        }
    save_model(model, names, output)
    if as_json:
        write_json(told)
        return
    out = console()
    out.print(f"[bold]{told['solver']}[/] fitted to {told['samples']} samples of {told['features']} features")
    for line in table.story:
        out.print(line)
    if "loo_score" in told:
        out.print(f"leave-one-out score {told['loo_score']:.4f}, gamma {told['gamma']:g}")
    out.print(f"written to {output}")
