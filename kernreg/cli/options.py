"""What the commands that work on data share: options, samples, estimators, and where results go."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import numpy as np

from kernreg.cli.output import json_option as json_option  # beside the others, for commands that take several
from kernreg.errors import DataError, ParameterError

_TEXT = 1 << 16  # characters that are written together

#: Words on the command line for the same thing everywhere.
data_argument = click.argument("data", type=click.Path(path_type=Path))
kernel_option = click.option("--kernel", "-k", metavar="SPEC", help="A kernel, for example 'rbf(sigma=2.0)'.")
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Seed for everything random.")
solver_option = click.option(
    "--solver", "-s", metavar="SPEC", help="A solver [default: ls-svm(gamma='loo'), or ls-svr for real numbers]."
)
target_option = click.option("--target", "-t", metavar="COLUMN", help="The column that holds classes or values.")


def task_of(y: np.ndarray) -> str:
    """Return ``"classification"`` or ``"regression"``: text and few whole numbers are classes."""
    if y.dtype.kind not in "fiu":
        return "classification"
    values = np.unique(y)
    whole = bool(np.all(values == np.round(values)))
    return "classification" if whole and len(values) <= max(20, len(y) // 50) and len(values) < len(y) else "regression"


def default_solver(y: np.ndarray) -> str:
    """Return the spec of the solver for targets where none is named."""
    return "ls-svm(gamma='loo')" if task_of(y) == "classification" else "ls-svr(gamma='loo')"


def make_predictor(spec: str, kernel: str | None) -> Any:
    """Return a solver from its spec, with the kernel where one is given beside it."""
    from kernreg.chain.steps import PREDICTOR, own_kernel, role_of
    from kernreg.factory import make_solver

    solver = make_solver(spec)
    if role_of(solver) != PREDICTOR:
        raise ParameterError(
            f"{spec!r} makes no predictions; give a solver such as 'ls-svm' or 'ask-ls' (or several steps in a file: "
            "kernreg run chain.toml)"
        )
    if kernel is not None:
        if own_kernel(solver) is not None:
            raise ParameterError(f"{spec!r} has its own kernel, and --kernel {kernel!r} is given too; give only one")
        solver.kernel = kernel
    return solver


def check_task(solver: Any, y: np.ndarray) -> None:
    """Refuse a classifier for real numbers and a regression for text, and name the solver to use."""
    from sklearn.base import is_classifier, is_regressor

    name = type(solver).__name__
    if is_classifier(solver) and y.dtype.kind == "f" and not np.all(y == np.round(y)):
        raise DataError(f"the target holds real numbers, and {name} predicts classes; use 'ls-svr' or 'ask-lsr'")
    if is_regressor(solver) and y.dtype.kind not in "fiu":
        raise DataError(f"the target holds text, and {name} predicts numbers; use 'ls-svm' or 'ask-ls'")


@contextmanager
def without_name_warnings() -> Iterator[None]:
    """Models made here know the names of features; samples come as arrays whose columns were put in order by name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def save_model(model: Any, names: Sequence[str] | None, path: Path) -> None:
    """Write a model file; the names of the features are kept in the model, as scikit-learn does for data frames."""
    from kernreg.persistence import save

    if names is not None:
        model.feature_names_in_ = np.asarray(list(names), dtype=object)
    save(model, path)


def inert(value: Any) -> Any:
    """Return a cell of a table; text that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> inert("=HYPERLINK(A1)"), inert("-1.5"), inert("a-b"), inert(3)
    ("'=HYPERLINK(A1)", '-1.5', 'a-b', 3)
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def write_table(header: Sequence[str], rows: Iterable[Sequence[Any]], path: Path | None) -> None:
    """Write CSV to a file, whole or not at all, or to standard output, as the rows come."""
    if path is None:
        if sys.stdout is None:  # closed: click would write nothing, without a word
            raise DataError("there is no standard output to write the table to; name a file with --output")
        for text in _csv(header, rows):
            click.echo(text, nl=False)
        return
    from kernreg.common.atomic import replacing

    with replacing(path) as file:
        for text in _csv(header, rows):
            file.write(text.encode())


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield CSV, some lines at a time."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(inert, header))
    for row in rows:
        writer.writerow(
            [repr(float(value)) if isinstance(value, float | np.floating) else inert(value) for value in row]
        )
        if text.tell() > _TEXT:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def report_score(model: Any) -> dict[str, Any]:
    """Return what a fitted solver, alone or at the end of a chain, says of itself: leave-one-out score, γ, what ran."""
    model = model.steps_[-1][1] if hasattr(model, "steps_") else model
    found: dict[str, Any] = {}
    if hasattr(model, "gamma_"):
        found["gamma"] = float(model.gamma_)
    if hasattr(type(model), "loo_score_"):
        with suppress(ParameterError, DataError):  # an iterative fit, or one sample
            found["loo_score"] = float(model.loo_score_)
    if hasattr(model, "solver_report_"):
        report = model.solver_report_
        found["strategy"], found["residual"] = report.strategy, float(report.residual)
    return found
