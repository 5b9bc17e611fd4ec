"""CSV and other delimited text: a line of names, then a sample on each line."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.common.bounded import BoundedLines, open_bounded, require_room
from kernreg.common.display import listed
from kernreg.errors import DataError

_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*"')
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]")
#: Words for a number that is missing, where that is accepted.
MISSING = frozenset(("", "?", "na", "n/a", "nan", "null", "none"))
_BETWEEN_LOOKS = 10_000  # numbers between two looks at the memory budget, which cost more than reading a line
_CELL = 32  # bytes of a value that may be text, at least: it stands in a row and in a column
_CATEGORIES = 20  # different numbers; a column of more holds measurements, not categories that are written as numbers
_EXACT = 2.0**53
_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")


@contextmanager
def open_text(path: Path) -> Iterator[BoundedLines]:
    """Open a text file, unpacked where it ends in ``.gz``; what is not UTF-8 is refused with its place."""
    with io.TextIOWrapper(open_bounded(path), encoding="utf-8-sig", newline="") as file:
        try:
            yield BoundedLines(file, str(path))
        except UnicodeDecodeError as error:
            raise DataError(f"{path}{_undecodable(path)}: this is not UTF-8 text; save it as such") from error


def _undecodable(path: Path) -> str:
    with open_bounded(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return f", line {number}, byte {error.start + 1}"
    return ""


@contextmanager
def open_table(path: Path) -> Iterator[tuple[list[str], Iterator[tuple[int, list[str]]]]]:
    """Open a delimited file: the names of its columns, and its rows with their line numbers.

    The delimiter is the one the line of names uses most.
    """
    with open_text(path) as file:
        first = file.readline()
        if not first.strip():
            raise DataError(f"{path} is empty, or begins with an empty line; its first line names the columns")
        if "\0" in first:
            raise DataError(f"{path} is not text: its first line has a null character")
        delimiter = max(_DELIMITERS, key=_QUOTED.sub("", first).count)
        header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
        _check_header(path, header)
        yield header, _rows(path, csv.reader(iter(file), delimiter=delimiter, strict=True), len(header))


def _rows(path: Path, reader: Any, width: int) -> Iterator[tuple[int, list[str]]]:
    try:
        for row in reader:
            line = reader.line_num + 1
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if len(row) != width:
                raise DataError(f"{path}, line {line}: {len(row)} values, and the first line names {width} columns")
            yield line, row
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num + 1}: {error}") from error


def read_delimited(
    path: Path, target: str | None, columns: list[str] | None, text: Sequence[str] | str | None = None
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Return features, targets and names of a delimited file.

    With `text` (names of columns, or ``"auto"``) features may be text, in an array of objects, and numbers missing.
    """
    if text == "auto":
        with suppress(DataError):  # a column of text or a gap; a fault of the file is found below
            return read_delimited(path, target, columns)
    goals: list[str] = []
    places = array("q")  # the lines of the targets
    with open_table(path) as (header, rows):
        chosen = _features(path, header, target, columns)
        names = [header[column] for column in chosen]
        goal = None if target is None else _position(path, header, target, "target")

        def cells() -> Iterator[tuple[int, list[str]]]:
            for line, row in rows:
                if goal is not None:
                    if not row[goal].strip():
                        raise DataError(f"{path}, line {line}, column {target!r}: the target is missing")
                    goals.append(row[goal].strip())
                    places.append(line)
                yield line, [row[column] for column in chosen]

        X = _numbers(path, names, cells()) if text is None else _mixed(path, names, cells(), text)
    if goal is None:
        return X, None, names
    y = as_targets(goals)
    if y.dtype.kind == "U":
        _refuse_faulty_targets(path, str(target), places, goals)
    return X, y, names


def _numbers(path: Path, names: list[str], cells: Iterator[tuple[int, list[str]]]) -> np.ndarray:
    looked_at = 0
    numbers = array("d")  # eight bytes each, where a list of numbers takes thirty
    for line, row in cells:
        for name, value in zip(names, row, strict=True):
            numbers.append(_number(path, line, name, value))
        if len(numbers) >= looked_at:
            require_room(2 * numbers.itemsize * len(numbers), str(path))  # these, and the array made of them
            looked_at = len(numbers) + _BETWEEN_LOOKS
    return np.array(numbers, dtype=np.float64).reshape(-1, len(names))


def _mixed(
    path: Path, names: list[str], cells: Iterator[tuple[int, list[str]]], text: Sequence[str] | str
) -> np.ndarray:
    """Return numbers, NaN where one is missing; beside columns of text both are objects."""
    lines, rows = [], []
    for line, row in cells:
        lines.append(line)
        rows.append([sys.intern(value.strip()) for value in row])  # categories come again and again
        require_room(_CELL * len(rows) * len(names), str(path))
    found: list[Any] = []
    for name, column in zip(names, zip(*rows, strict=True), strict=False):
        if (
            name in text
            if text != "auto"
            else not all(value.casefold() in MISSING or _is_number(value) for value in column)
        ):
            if text == "auto":
                _refuse_decimal_commas(path, name, lines, column)
                _refuse_words_among_numbers(path, name, lines, column)
            found.append(np.array(column, dtype=object))
        else:
            places = zip(lines, column, strict=True)
            values = [math.nan if v.casefold() in MISSING else _number(path, line, name, v) for line, v in places]
            found.append(np.array(values))
    if any(column.dtype == object for column in found):
        return np.column_stack([column.astype(object) for column in found])
    return np.column_stack(found) if found else np.empty((0, len(names)))


def _refuse_decimal_commas(path: Path, name: str, lines: list[int], column: Sequence[str]) -> None:
    """Numbers with commas are no categories."""
    there = [(line, value) for line, value in zip(lines, column, strict=True) if value.casefold() not in MISSING]
    if all(_DECIMAL_COMMA.fullmatch(value) or _is_number(value) for _, value in there):
        line, value = next((line, value) for line, value in there if not _is_number(value))
        _number(path, line, name, value)


def _refuse_words_among_numbers(path: Path, name: str, lines: list[int], column: Sequence[str]) -> None:
    """One word in a column of measurements does not make categories of them all."""
    there = [(line, value) for line, value in zip(lines, column, strict=True) if value.casefold() not in MISSING]
    words = [(line, value) for line, value in there if not _is_number(value)]
    numbers = {value for _, value in there if _is_number(value)}
    many = len(numbers) > _CATEGORIES and 10 * len(words) < len(there)
    if many or any(map(_is_fraction, numbers)):
        line, word = words[0]
        raise DataError(
            f"{path}, line {line}, column {name!r}: {word!r} is not a number, but {len(there) - len(words)} of the "
            f"{len(there)} values in this column are. Correct it, write NA if the number is missing, or leave the "
            "column out"
        )


def _refuse_faulty_targets(path: Path, name: str, lines: Sequence[int], column: Sequence[str]) -> None:
    """Real numbers are no classes because one of them is missing or mistyped."""
    for line, value in zip(lines, column, strict=True):
        if (value.casefold() in MISSING or _is_number(value)) and not _is_finite(value):
            if all(_is_number(other) or other.casefold() in MISSING for other in column):
                raise DataError(
                    f"{path}, line {line}, column {name!r}: the target is {value!r}, and others are numbers; leave the "
                    "line out"
                )
        elif not _is_number(value) and any(map(_is_fraction, column)):
            raise DataError(
                f"{path}, line {line}, column {name!r}: the target {value!r} is not a number, and others are. Correct "
                "it or leave the line out; if they are classes, write them as text, such as 'c1.5'"
            )


def _is_fraction(text: str) -> bool:
    return _is_number(text) and _is_finite(text) and not to_number(text).is_integer()


def _is_finite(text: str) -> bool:
    return _is_number(text) and math.isfinite(to_number(text))


def to_number(text: str) -> float:
    """Return the number that a text is, or raise ValueError; float itself also takes 1_000 and digits of any script.

    >>> to_number(" 1.5e3 ")
    1500.0
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def as_targets(texts: list[str]) -> np.ndarray:
    """Return targets as whole numbers or real ones where all of them are, else as text.

    Text that begins with a zero, such as a postal code, stays text: 007 and 7 are two classes.

    >>> as_targets(["1", "2"]).dtype.kind, as_targets(["1.5", "2"]).dtype.kind, as_targets(["1", "x"]).dtype.kind
    ('i', 'f', 'U')
    >>> as_targets(["007", "7"]).tolist()
    ['007', '7']
    """
    if all(map(_WHOLE.fullmatch, texts)):
        try:
            return np.array([int(text) for text in texts], dtype=np.int64)
        except (OverflowError, ValueError):  # of more digits than a number has
            return np.array(texts, dtype=str)
    try:
        values = [to_number(text) for text in texts]
    except ValueError:
        return np.array(texts, dtype=str)
    if any(map(_LEADING_ZERO.match, texts)) or not all(map(math.isfinite, values)):
        return np.array(texts, dtype=str)
    return np.array(values, dtype=np.float64)


def _check_header(path: Path, header: list[str]) -> None:
    if all(_is_number(name) for name in header):
        raise DataError(
            f"{path}, line 1: {', '.join(header[:4])}{'…' if len(header) > 4 else ''} are numbers; the first line "
            "names the columns"
        )
    if "" in header:
        raise DataError(
            f"{path}, line 1: column {header.index('') + 1} has no name; if it numbers the rows, leave it out (in "
            "pandas, to_csv(index=False)), else name it"
        )
    twice = [name for name, times in Counter(header).items() if times > 1]
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
        raise DataError(f"{path} has no {what} {name!r}; its columns are {listed(header)}")
    return header.index(name)


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = to_number(text)
    except ValueError:
        what = "is empty" if not text.strip() else f"{text!r} is not a number"
        advice = "Leave the column or the line out, or encode it"
        if _DECIMAL_COMMA.fullmatch(text):
            advice = "Write decimal points, not commas"
        raise DataError(f"{path}, line {line}, column {column!r}: {what}; features are numbers. {advice}") from None
    if not math.isfinite(value):
        raise DataError(f"{path}, line {line}, column {column!r}: {text} is not finite; kernels need finite features")
    if abs(value) >= _EXACT and _WHOLE.fullmatch(text.strip()) and int(text) != value:
        raise DataError(
            f"{path}, line {line}, column {column!r}: {text.strip()} is beyond 2**53, and a number beside it in "
            "float64. If it names something, leave the column out or keep it as text; if it counts, scale it"
        )
    return value


def _is_number(text: str) -> bool:
    try:
        to_number(text)
    except ValueError:
        return False
    return True
