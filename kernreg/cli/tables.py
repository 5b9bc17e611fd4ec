"""Tables as commands read them: which columns, and the cleaning that goes into the model with the solver."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np

from kernreg.common.display import listed
from kernreg.errors import DataError, ParameterError, UnknownCategoryWarning

_SHARE = 8  # the part of the memory budget up to which a table is read at once
_PACKED = 8  # times that a compressed file may grow when it is read
_MANY = 20  # categories of a column, from which on it may be a name or a number of the row


_COLUMNS = (
    click.option("--id", "ids", metavar="COLUMN", multiple=True, help="A column of row names, not a feature."),
    click.option("--drop", metavar="COLUMNS", multiple=True, help="Columns to leave out: a,b; may be repeated."),
    click.option("--features", metavar="COLUMNS", multiple=True, help="Columns to use: a,b; may be repeated."),
)
_CLEANING = (
    click.option(
        "--scale/--no-scale",
        default=None,
        help="Standardise the features [default: unless numbers are given for the kernel].",
    ),
    click.option("--impute", type=click.Choice(["mean", "median", "most_frequent"]), help="Fill in missing numbers."),
)


def column_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that reads a table as it is; it is given a `Table` in their place."""

    @wraps(command)
    def with_table(*, features: Any, drop: Any, ids: Any, **others: Any) -> Any:
        return command(table=Table(features, drop, ids), **others)

    return _with(_COLUMNS, with_table)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that is fitted to a table; it is given a `Table` in their place."""

    @wraps(command)
    def with_table(*, features: Any, drop: Any, ids: Any, impute: Any, scale: Any, **others: Any) -> Any:
        return command(table=Table(features, drop, ids, impute, scale), **others)

    return _with((*_CLEANING, *_COLUMNS), with_table)


def _with(options: Sequence[Callable[..., Any]], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in options:
        command = option(command)
    return command


@dataclass
class Table:
    """Which columns to read and how to clean them: the words of the command line.

    `read` returns the samples, `chain` puts the cleaning before a solver, and `story` then says what is done.
    """

    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    ids: Sequence[str] = ()
    impute: str | None = None
    scale: bool | None = None
    story: list[str] = field(default_factory=list)

    def read(
        self, path: Path, target: str | None, *, streamed: bool = False, supervised: bool = True
    ) -> tuple[Any, Any, list[str] | None]:
        """Return features, targets and names of the features; formats that hold targets need none named.

        With `streamed` the features may be a row source. Without `supervised` there may be no targets: None.
        """
        columns = self.columns(path, target)
        samples = open_or_read(path, target=target, columns=columns, streamed=streamed, text="auto")
        if samples.y is None and supervised:
            known = "" if samples.names is None else f": {', '.join(samples.names)}"
            raise DataError(f"which column of {path} is to be predicted? Name it with --target{known}")
        self._check(path, samples.X, samples.names)
        return samples.X, samples.y, samples.names

    def chain(self, solver: Any, X: Any, names: Sequence[str] | None, grid: Mapping[str, Any] | None = None) -> Any:
        """Return the solver, or a chain of the cleaning steps that X needs and the solver.

        Features are standardised by default, but not where numbers are given for the kernel, in its spec or in a grid:
        these are in the units of the data.
        """
        from kernreg.chain import make_chain

        self.story = []
        steps = self._steps(X, names, self._scaled(solver, X, grid or {}))
        return make_chain(*steps, solver) if steps else solver

    def columns(self, path: Path, target: str | None) -> list[str] | None:
        """Return the names of the features, or None where all columns but the target are features."""
        if not (self.features or self.drop or self.ids):
            return None
        header = _header(path)
        wanted = _names(path, self.features, header) or header
        left = {*_names(path, self.drop, header), *_names(path, self.ids, header), target}
        columns = [name for name in wanted if name not in left]
        if not columns:
            raise DataError(f"no column of {path} is left as a feature; its columns are {listed(header)}")
        return columns

    def _check(self, path: Path, X: Any, names: Sequence[str] | None) -> None:
        for number in text_columns(X):
            column = names[number] if names else str(number)
            count = len(set(X[:, number]))
            if count > max(_MANY, len(X) // 2):
                raise DataError(
                    f"{path}, column {column!r}: text with {count} different values in {len(X)} rows says nothing "
                    f"about other rows; leave it out with --drop {column!r}, or keep it as row names with --id"
                )
        missing = missing_numbers(X)
        if missing.any() and self.impute is None:
            row, column = np.argwhere(missing)[0]
            raise DataError(
                f"{path}, row {row + 1}, column {(names[column] if names else column)!r}: the number is missing "
                f"({missing[:, column].sum()} of {len(X)} in this column); fill them in with --impute median (or mean, "
                "most_frequent), or leave the column out with --drop"
            )

    def _scaled(self, solver: Any, X: Any, grid: Mapping[str, Any]) -> bool:
        if self.scale is not None:
            return self.scale
        from kernreg.factory import make_kernel
        from kernreg.registry import parse_spec

        kernel = getattr(solver, "kernel", None) or getattr(solver, "default_kernel", None)
        inputs = "real" if kernel is None else getattr(make_kernel(kernel).family, "inputs", "real")
        if not _is_dense(X) or inputs != "real":  # histograms and counts are no longer such when centred
            return False
        given = parse_spec(kernel) if isinstance(kernel, str) else None
        values = [*given.args, *given.kwargs.values()] if given else []
        values += [value for name, each in grid.items() if name.startswith("kernel__") for value in each]
        if any(isinstance(value, int | float) for value in values):
            self.story.append("features not scaled: kernel parameters are in their units (--scale standardises them)")
            return False
        return True

    def _steps(self, X: Any, names: Sequence[str] | None, scaled: bool) -> list[tuple[str, Any]]:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        dense = _is_dense(X)
        if self.impute is not None and not isinstance(X, np.ndarray) and dense:
            raise ParameterError(
                f"--impute {self.impute} needs all numbers at once, and the table is read in blocks; fill in missing "
                "numbers before, or raise KERNREG_MEMORY so that it fits"
            )
        numbers: list[tuple[str, Any]] = []
        if self.impute is not None:
            numbers.append(("impute", SimpleImputer(strategy=self.impute, keep_empty_features=True)))
            self.story.append(f"missing numbers filled in ({self.impute})")
        if scaled:
            numbers.append(("scale", StandardScaler(with_mean=dense)))
            self.story.append("features standardised (--no-scale to switch off)")
        texts = text_columns(X)
        if not texts:
            return numbers
        others = [number for number in range(X.shape[1]) if number not in texts]
        # Without any step for numbers, one that only makes floating-point numbers of them.
        inner = Pipeline(numbers or [("scale", StandardScaler(with_mean=False, with_std=False))])
        parts = [("numbers", inner, others)] if others else []
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        encoded = ", ".join(str(names[number] if names else number) for number in texts)
        self.story.append(f"text columns one-hot encoded: {encoded}")
        return [("table", ColumnTransformer([*parts, ("categories", encoder, texts)], sparse_threshold=0.0))]


def read_for(model: Any, path: Path) -> Any:
    """Return the samples in a file for a model: its columns by name, text and gaps where its cleaning takes them."""
    names = getattr(model, "feature_names_in_", None)
    columns = None if names is None else [str(name) for name in names]
    cleaning = dict(getattr(model, "steps_", ()))
    parts = {name: (step, where) for name, step, where in getattr(cleaning.get("table"), "transformers", ())}
    numbers, categories = parts.get("numbers", (None, []))[0], parts.get("categories", (None, []))[1]
    filled = "impute" in cleaning or "impute" in getattr(numbers, "named_steps", ())
    text = None if not (filled or categories) else [columns[number] for number in categories] if columns else []
    X = open_or_read(path, columns=columns, n_features=getattr(model, "n_features_in_", None), text=text).X
    missing = missing_numbers(X)
    if missing.any() and not filled:
        row, column = np.argwhere(missing)[0]
        name = columns[column] if columns else column
        raise DataError(
            f"{path}, row {row + 1}, column {name!r}: the number is missing, and the model does not fill in any; fit "
            "it with --impute median, or leave the row out"
        )
    if categories:
        fitted = {name: step for name, step, _ in getattr(cleaning["table"], "transformers_", ())}
        _warn_of_new_categories(path, X, columns, categories, fitted.get("categories"))
    return X


def _warn_of_new_categories(
    path: Path, X: Any, columns: list[str] | None, categories: Sequence[int], encoder: Any
) -> None:
    """Say which text the model was not fitted with: a misspelt category counts as none."""
    for number, known in zip(categories, getattr(encoder, "categories_", ()), strict=False):
        column = np.asarray(X[:, number], dtype=object)
        new = ~np.isin(column.astype(str), np.asarray(known).astype(str))
        if new.any():
            row = int(np.argmax(new))
            warnings.warn(
                f"{path}, row {row + 1}, column {(columns[number] if columns else str(number))!r}: the model was not "
                f"fitted with {str(column[row])!r} ({new.sum()} of {len(column)} rows hold such text), and takes it "
                f"for none of {listed([str(value) for value in known])}",
                UnknownCategoryWarning,
                stacklevel=2,
            )


def open_or_read(
    path: Path, target: str | None = None, columns: list[str] | None = None, *, streamed: bool = True, **more: Any
) -> Any:
    """Return the samples in a file, as `kernreg.io.Samples`; X is a row source where they are too large to be held.

    That is more than an eighth of the memory budget, in a format that can be read some rows at a time. Without
    `streamed` they are read all the same, or refused where they are more than half of it.
    """
    from kernreg.config import memory_budget
    from kernreg.io import FORMATS, Samples, open_samples, read_samples
    from kernreg.io.sources.opening import STREAMED

    path, share = Path(path), memory_budget() // _SHARE
    known = {suffix for suffixes, _ in FORMATS.values() for suffix in suffixes}
    suffix = path.suffix.lower()
    small = not path.is_dir() and suffix in known and (not path.exists() or path.stat().st_size <= share // _PACKED)
    if small or (suffix not in STREAMED and not path.is_dir()):
        return read_samples(path, target=target, columns=columns, **more)
    source = open_samples(path, target, columns)
    names = None if source.names is None else list(source.names)
    X = source if streamed and source.nbytes > share else source.loaded("this command needs all samples at once")
    return Samples(X, source.targets, names)


def _is_dense(X: Any) -> bool:
    return isinstance(X, np.ndarray) or getattr(X, "sparse", None) is False


def text_columns(X: Any) -> list[int]:
    """Return the numbers of the columns that hold text."""
    if getattr(X, "dtype", np.dtype(float)).kind != "O":
        return []
    return [number for number in range(X.shape[1]) if any(isinstance(value, str) for value in X[:, number])]


def missing_numbers(X: Any) -> np.ndarray:
    """Return where numbers are missing; sparse features have them all."""
    # NaN differs from itself.
    return (X != X).astype(bool) if isinstance(X, np.ndarray) else np.zeros((1, 1), dtype=bool)


def row_names(path: Path, columns: Sequence[str], everything: bool) -> tuple[list[str], list[list[str]]]:
    """Return columns of a delimited file as they stand there, to go beside the predictions."""
    from kernreg.io import format_of
    from kernreg.io.delimited import open_table

    if not (columns or everything):
        return [], []
    if format_of(path) != "csv":
        raise ParameterError(f"{path} is not delimited text; --id and --append are for such tables only")
    header = _header(path)
    kept = header if everything else _names(path, columns, header)
    with open_table(path) as (_, rows):
        places = [header.index(name) for name in kept]
        return kept, [[row[place] for place in places] for _, row in rows]


def _header(path: Path) -> list[str]:
    from kernreg.io import format_of
    from kernreg.io.delimited import open_table
    from kernreg.io.sources.columns import column_names
    from kernreg.io.sources.opening import TABLES

    if path.suffix.lower() in TABLES and path.is_file():
        return column_names(path)
    if path.is_dir() or format_of(path) != "csv":
        raise ParameterError(f"{path} is not delimited text, so its columns have no names to choose by")
    try:
        with open_table(path) as (header, _):
            return header
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def _names(path: Path, texts: Sequence[str], header: Sequence[str]) -> list[str]:
    """Return the columns that texts such as ``a,b`` name; a name may itself hold commas."""
    found = []
    for text in texts:
        for name in [text] if text in header else text.split(","):
            if name.strip() not in header:
                raise DataError(f"{path} has no column {name.strip()!r}; its columns are {listed(header)}")
            found.append(name.strip())
    return found
