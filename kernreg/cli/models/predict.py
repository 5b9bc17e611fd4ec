"""``kernreg predict``: a model file on new samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from kernreg.cli.options import data_argument, output_option, without_name_warnings, write_table
from kernreg.errors import ParameterError


@click.command("predict")
@click.argument("model", type=click.Path(path_type=Path))
@data_argument
@click.option("--views", is_flag=True, help="Also the decision value of every view.")
@click.option("--probabilities", is_flag=True, help="Also class probabilities, where the model has them.")
@output_option("A CSV file; standard output by default.")
def command(model: Path, data: Path, views: bool, probabilities: bool, output: Path | None) -> None:
    """Write what MODEL predicts for the samples in DATA, as CSV.

    Columns are found by the names the model was fitted with; others in DATA are left alone.
    """
    from kernreg.io import read_samples
    from kernreg.persistence import load

    loaded = load(model)
    if not hasattr(loaded, "predict"):
        raise ParameterError(f"{model} holds a {type(loaded).__name__}, which predicts nothing; use kernreg embed")
    names = getattr(loaded, "feature_names_in_", None)
    columns_of_model = None if names is None else [str(name) for name in names]
    samples = read_samples(data, columns=columns_of_model, n_features=getattr(loaded, "n_features_in_", None))
    with without_name_warnings():
        columns: list[tuple[str, Any]] = [("prediction", loaded.predict(samples.X))]
        if views:
            for name, values in loaded.decision_views(samples.X).items():
                columns += _columns(name, values, getattr(loaded, "classes_", None))
        if probabilities:
            if not hasattr(loaded, "predict_proba"):
                raise ParameterError(
                    f"{type(loaded).__name__} in {model} has no probabilities; fit it with "
                    "ensembler=\"stack(method='logistic')\""
                )
            columns += _columns("probability", loaded.predict_proba(samples.X), loaded.classes_)
    write_table([name for name, _ in columns], zip(*(values for _, values in columns), strict=True), output)


def _columns(name: str, values: np.ndarray, classes: Any) -> list[tuple[str, np.ndarray]]:
    if values.ndim == 1:
        return [(name, values)]
    labels = classes if classes is not None and len(classes) == values.shape[1] else range(values.shape[1])
    return [(f"{name}:{label}", values[:, column]) for column, label in enumerate(labels)]
