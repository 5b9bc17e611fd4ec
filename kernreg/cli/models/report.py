"""``kernreg report``: one page about a model and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import data_argument, target_option, without_name_warnings
from kernreg.cli.output import console
from kernreg.cli.tables import read_for
from kernreg.errors import DataError, ParameterError


@click.command("report")
@click.argument("model", type=click.Path(path_type=Path))
@data_argument
@target_option
@click.option(
    "--coverage", type=float, default=0.9, show_default=True, help="Coverage of intervals and prediction sets."
)
@output_option("The HTML file to write.", required=True)
def command(model: Path, data: Path, target: str | None, coverage: float, output: Path, force: bool) -> None:
    """Write an HTML report on MODEL and the samples in DATA: scores, uncertainty, influence, explanations, the kernel.

    The page is a single file that loads nothing else. Without --target, the target is the one column of DATA that is
    not a feature. Best use a table that the model was not fitted to.

    \b
    kernreg report iris.kern new_flowers.csv -o report.html
    """
    from kernreg.common.atomic import replacing
    from kernreg.persistence import load
    from kernreg.report import make_report

    check_output(output, [model, data], force)
    loaded = load(model)
    if not hasattr(loaded, "predict"):
        raise ParameterError(f"{model} holds a {type(loaded).__name__}, which makes no predictions; use kernreg show")
    X, y = read_for(loaded, data), _targets(loaded, data, target)
    names = getattr(loaded, "feature_names_in_", None)
    with without_name_warnings():
        page = make_report(
            loaded,
            X,
            y,
            feature_names=None if names is None else [str(name) for name in names],
            title=f"{model.name} on {data.name}",
            subtitle=f"{type(loaded).__name__}, {len(y)} samples",
            coverage=coverage,
        )
    with replacing(output) as file:
        file.write(page.encode())
    console().print(f"written to {output}", markup=False)


def _targets(model: Any, data: Path, target: str | None) -> Any:
    """Return the targets of a file: of the column named, or of the only one that is no feature of the model."""
    from kernreg.io import format_of, read_samples
    from kernreg.io.delimited import open_table

    names = getattr(model, "feature_names_in_", None)
    if target is None and names is not None and format_of(data) == "csv":
        with open_table(data) as (header, _):
            others = [name for name in header if name not in set(map(str, names))]
        if len(others) != 1:
            listed = ", ".join(others) or "none"
            raise DataError(
                f"which column of {data} is the target? Name it with --target; columns that are not features: {listed}"
            )
        (target,) = others
    found = read_samples(data, target=target, text="auto", n_features=getattr(model, "n_features_in_", None)).y
    if found is None:
        raise DataError(f"{data} holds no targets; name the column with --target")
    return found
