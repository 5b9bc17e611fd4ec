"""``kernreg fit``: from a table to a model file."""

from __future__ import annotations

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
    report_score,
    save_model,
    target_option,
    without_name_warnings,
)
from kernreg.cli.output import console, write_json


@click.command("fit")
@data_argument
@target_option
@click.option("--solver", "-s", metavar="SPEC", default="ls-svm(gamma='loo')", show_default=True)
@kernel_option
@output_option("The model file to write.", required=True)
@json_option
def command(data: Path, target: str | None, solver: str, kernel: str | None, output: Path, as_json: bool) -> None:
    """Fit a solver to the table in DATA and write the model.

    \b
    kernreg fit iris.csv --target species --solver "ask-ls(gamma='loo')" --kernel "sne(sigma=2)" -o iris.kern
    """
    estimator = make_predictor(solver, kernel)
    X, y, names = read_labelled(data, target)
    check_task(estimator, y)
    with without_name_warnings():
        model = estimator.fit(X, y)
        told: dict[str, Any] = {
            "model": str(output),
            "solver": type(model).__name__,
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
    if "loo_score" in told:
        out.print(f"leave-one-out score {told['loo_score']:.4f}, gamma {told['gamma']:g}")
    out.print(f"written to {output}")
