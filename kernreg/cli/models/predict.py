"""``kernreg predict``: a model file on new samples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import data_argument, without_name_warnings, write_table
from kernreg.cli.tables import read_for, row_names
from kernreg.errors import DataError, ParameterError


@click.command("predict")
@click.argument("model", type=click.Path(path_type=Path))
@data_argument
@click.option("--views", is_flag=True, help="Also write the decision values of every view.")
@click.option("--probabilities", is_flag=True, help="Also write class probabilities, if the model has them.")
@click.option(
    "--id", "ids", metavar="COLUMN", multiple=True, help="A column of DATA to copy in front of the predictions."
)
@click.option("--append", is_flag=True, help="Copy all columns of DATA in front of the predictions.")
@output_option("A CSV file; standard output by default.")
def command(
    model: Path,
    data: Path,
    views: bool,
    probabilities: bool,
    ids: tuple[str, ...],
    append: bool,
    output: Path | None,
    force: bool,
) -> None:
    """Write what MODEL predicts for the samples in DATA, as CSV.

    Columns are matched by the names the model was fitted with; other columns of DATA are ignored. Samples are cleaned
    in the same way as for the fit.
    """
    from kernreg.persistence import load

    check_output(output, [model, data], force)
    loaded = load(model)
    if not hasattr(loaded, "predict"):
        raise ParameterError(f"{model} holds a {type(loaded).__name__}, which makes no predictions; use kernreg embed")
    X = read_for(loaded, data)
    names, kept = row_names(data, ids, append)
    if probabilities and not hasattr(loaded, "predict_proba"):
        raise ParameterError(
            f"{type(loaded).__name__} in {model} has no probabilities; fit it with "
            "ensembler=\"stack(method='logistic')\""
        )
    with without_name_warnings():
        parts = (_predicted(loaded, part, views, probabilities) for part in _parts(X))
        first = next(parts)
        predicted = chain.from_iterable(zip(*(v for _, v in columns), strict=True) for columns in chain([first], parts))
        twice = {name for name, _ in first} & set(names)
        if twice:
            raise DataError(
                f"{data} has a column {sorted(twice)[0]!r} of its own, and the output would have two; name the columns "
                "to copy with --id, without it"
            )
        rows: Any = ([*name, *row] for name, row in zip(kept, predicted, strict=True)) if names else predicted
        write_table([*names, *(name for name, _ in first)], rows, output)


def _parts(X: Any) -> Iterator[Any]:
    """Yield the samples: all of them, or windows of rows of a source, with a progress bar."""
    from kernreg.common.progress import progress
    from kernreg.engine.sources.base import is_row_source
    from kernreg.engine.sources.views import as_row_source, windows

    if not is_row_source(X):
        yield X
        return
    source = as_row_source(X)
    with progress("predict", source.shape[0]) as report:
        for rows in windows(source):
            yield source[rows]
            report(rows.stop)


def _predicted(model: Any, X: Any, views: bool, probabilities: bool) -> list[tuple[str, Any]]:
    columns: list[tuple[str, Any]] = [("prediction", model.predict(X))]
    if views:
        for name, values in model.decision_views(X).items():
            columns += _columns(name, values, getattr(model, "classes_", None))
    if probabilities:
        columns += _columns("probability", model.predict_proba(X), model.classes_)
    return columns


def _columns(name: str, values: np.ndarray, classes: Any) -> list[tuple[str, np.ndarray]]:
    if values.ndim == 1:
        return [(name, values)]
    labels = classes if classes is not None and len(classes) == values.shape[1] else range(values.shape[1])
    return [(f"{name}:{label}", values[:, column]) for column, label in enumerate(labels)]
