"""CSV and other delimited text: a line of names, then a sample on each line."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from kernreg.errors import DataError

_DELIMITERS = ",;\t|"


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Open a text file, unpacked where it ends in ``.gz``."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        yield file


def read_delimited(
    path: Path, target: str | None, columns: list[str] | None
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Return features, targets and names of a delimited file; the delimiter is the one the line of names uses most."""
    with open_text(path) as file:
        first = file.readline()
        if not first.strip():
            raise DataError(f"{path} is empty, or begins with an empty line; its first line names the columns")
        delimiter = max(_DELIMITERS, key=first.count)
        header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
        _check_header(path, header)
        chosen = _features(path, header, target, columns)
        goal = None if target is None else _position(path, header, target, "target")
        rows: list[list[float]] = []
        goals: list[str] = []
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            for row in reader:
                line = reader.line_num + 1
                if not row or (len(row) == 1 and not row[0].strip()):
                    continue
                if len(row) != len(header):
                    raise DataError(
                        f"{path}, line {line}: {len(row)} values, and the first line names {len(header)} columns"
                    )
                rows.append([_number(path, line, header[column], row[column]) for column in chosen])
                if goal is not None:
                    if not row[goal].strip():
                        raise DataError(f"{path}, line {line}, column {target!r}: the target is missing")
                    goals.append(row[goal].strip())
        except csv.Error as error:
            raise DataError(f"{path}, line {reader.line_num + 1}: {error}") from error
    X = np.array(rows, dtype=np.float64).reshape(len(rows), len(chosen))
    return X, None if goal is None else as_targets(goals), [header[column] for column in chosen]


def as_targets(texts: list[str]) -> np.ndarray:
    """Return targets as whole numbers or real ones where all of them are, else as text.

    >>> as_targets(["1", "2"]).dtype.kind, as_targets(["1.5", "2"]).dtype.kind, as_targets(["1", "x"]).dtype.kind
    ('i', 'f', 'U')
    """
    for kind in (int, float):
        try:
            values = [kind(text) for text in texts]
        except ValueError:
            continue
        if kind is float and not all(math.isfinite(value) for value in values):
            continue
        try:
            return np.array(values, dtype=np.int64 if kind is int else np.float64)
        except OverflowError:
            continue
    return np.array(texts, dtype=str)


def _check_header(path: Path, header: list[str]) -> None:
    if all(_is_number(name) for name in header):
        raise DataError(
            f"{path}, line 1: {', '.join(header[:4])}{'…' if len(header) > 4 else ''} are numbers; the first line "
            "names the columns"
        )
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise DataError(f"{path}, line 1: two columns are named {twice[0]!r}")


def _features(path: Path, header: list[str], target: str | None, columns: list[str] | None) -> list[int]:
    if columns is not None:
        return [_position(path, header, name, "column") for name in columns]
    chosen = [number for number, name in enumerate(header) if name != target]
    if not chosen:
        raise DataError(f"{path} has no column but the target {target!r}")
    return chosen


def _position(path: Path, header: list[str], name: str, what: str) -> int:
    if name not in header:
        raise DataError(f"{path} has no {what} {name!r}; its columns are {', '.join(header)}")
    return header.index(name)


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        what = "is empty" if not text.strip() else f"{text!r} is not a number"
        raise DataError(
            f"{path}, line {line}, column {column!r}: {what}; features are numbers. Leave the column or the line out, "
            "or encode it"
        ) from None
    if not math.isfinite(value):
        raise DataError(f"{path}, line {line}, column {column!r}: {text} is not finite; kernels need finite features")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
