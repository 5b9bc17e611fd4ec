"""Graphs and matrices as samples: the row of a node says whom it links to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.common.bounded import open_bounded, require_room
from kernreg.errors import DataError
from kernreg.graphs import graph_from_edges
from kernreg.io.arrays import checked
from kernreg.io.delimited import open_text, to_number

Read = tuple[Any, np.ndarray | None, list[str] | None]

_WORD = re.compile(r"[^\s,]+")
_NODE = re.compile(r"[0-9]{1,18}")
_LINE = re.compile(r"Line (\d+): ")
_ADVICE = "; if it is a line of headings, put a # before it"
_DIGITS = re.compile(r"[0-9]+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")  # from_node, FromNode and FROM_NODE
_HEADINGS = re.compile(
    "source|target|src|dst|dest|destination|from|to|head|tail|start|end|origin|citing|cited|parent|child|sender|receiver|"
    "follower|followee|subject|object|node|vertex|id|name",
    re.IGNORECASE,
)
# A graph may have nodes without edges, but not memory for many times more of them than there are edges.
_PIECE = 1 << 20  # bytes looked at together
_EDGE = 250  # bytes of an edge while it is text
_NODES_ANYWAY, _NODES_PER_EDGE = 10_000_000, 100


def read_edges(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the adjacency matrix of an edge list: ``source target [weight]`` on each line, # or % begins a comment.

    Nodes are numbers from 0, or names; names are numbered in the order in which they appear and become the names of
    the columns. The weights of an edge that is there more than once are added up.
    """
    _refuse_columns(path, target, columns)
    pairs: list[tuple[str, str]] = []
    weights: list[float] = []
    first = 0
    with open_text(path) as file:
        for number, text in enumerate(file, 1):
            words = list(_WORD.finditer(text.split("#")[0]))
            if not words or text.lstrip().startswith("%"):
                continue
            if len(words) not in (2, 3):
                raise DataError(
                    f"{path}, line {number}: {len(words)} words; an edge is 'source target' or 'source target weight'"
                )
            first = first or number
            pairs.append((words[0][0], words[1][0]))
            advice = _ADVICE if len(pairs) == 1 and not _are_numbers(pairs) else ""
            weights.append(1.0 if len(words) == 2 else _weight(path, number, words[2], advice))
            require_room(_EDGE * len(pairs), str(path))
    _refuse_headings(path, first, pairs)
    numbers, names = _numbered(pairs)
    n = len(names) if names is not None else int(numbers.max(initial=-1)) + 1
    _check_size(path, n, len(pairs))
    return graph_from_edges(numbers, n, weights), None, names


def _refuse_headings(path: Path, line: int, pairs: list[tuple[str, str]]) -> None:
    if not pairs or _are_numbers(pairs[:1]):
        return
    first = " and ".join(map(repr, pairs[0]))
    if len(pairs) > 1 and _are_numbers(pairs[1:]):
        raise DataError(f"{path}, line {line}: {first} are names, and all other nodes are numbers{_ADVICE}")
    if not all(map(_like_a_heading, pairs[0])):
        return
    # Nodes may be called node1, node2 …: a number in a name does not make it another word.
    later = {_DIGITS.sub("0", node) for pair in pairs[1:] for node in pair}
    if later.isdisjoint(_DIGITS.sub("0", node) for node in pairs[0]):
        raise DataError(
            f"{path}, line {line}: {first} look like headings, and are in no other line{_ADVICE}. If these are "
            "nodes, put another edge first"
        )


def _like_a_heading(word: str) -> bool:
    """Whether a word is made of words that head columns of edge lists: source, from_id, Node1, FromNodeId."""
    parts = _PART.findall(word)
    return bool(parts) and all(map(_HEADINGS.fullmatch, parts))


def _weight(path: Path, line: int, word: re.Match[str], advice: str) -> float:
    place = f"{path}, line {line}, column {word.start() + 1}: the weight {word[0]!r}"
    try:
        weight = to_number(word[0])
    except ValueError:
        raise DataError(f"{place} is not a number{advice}") from None
    if not np.isfinite(weight):
        raise DataError(f"{place} is not finite")
    return weight


def _are_numbers(pairs: list[tuple[str, str]]) -> bool:
    return all(_NODE.fullmatch(node) for pair in pairs for node in pair)


def _numbered(pairs: list[tuple[str, str]]) -> tuple[np.ndarray, list[str] | None]:
    if _are_numbers(pairs):
        return np.array(pairs, dtype=np.int64).reshape(-1, 2), None
    order: dict[str, int] = {}
    found = [[order.setdefault(node, len(order)) for node in pair] for pair in pairs]
    return np.array(found, dtype=np.int64).reshape(-1, 2), list(order)


def _check_size(path: Path, nodes: int, edges: int) -> None:
    if nodes > _NODES_ANYWAY + _NODES_PER_EDGE * edges:
        raise DataError(
            f"{path} has {edges} entries, and its largest node is {nodes - 1}; nodes are numbered from 0 without large "
            "gaps. Renumber them, or name them: n4000000000 instead of 4000000000"
        )


def read_matrix_market(path: Path, target: str | None, columns: list[str] | None) -> Read:
    """Return the matrix of a Matrix Market file: sparse where it lists coordinates, dense where it is an array."""
    from scipy.io import mminfo, mmread

    _refuse_columns(path, target, columns)
    try:
        with open_bounded(path) as file:
            rows, width, entries, form, *_ = mminfo(file)
        if form == "coordinate":
            _check_size(path, max(rows, width), entries)
        require_room(2 * (24 * entries if form == "coordinate" else 8 * rows * width), str(path))
        _refuse_null_bytes(path)
        with open_bounded(path) as file:
            matrix: Any = mmread(file, spmatrix=False)
    except DataError:
        raise
    except (ValueError, OverflowError, EOFError) as error:
        line = _LINE.match(str(error))
        place = f", line {line[1]}: {str(error)[line.end() :]}" if line else f" is not a Matrix Market file: {error}"
        raise DataError(f"{path}{place}") from error
    if matrix.dtype.kind == "c":
        raise DataError(f"{path} holds complex numbers; real ones are expected")
    X: Any = sp.csr_array(matrix) if form == "coordinate" else np.ascontiguousarray(matrix)
    return checked(path, X, None)


def _refuse_null_bytes(path: Path) -> None:
    """Raise DataError for a byte 0, of which no text has any: SciPy reads on beyond the end of its memory there."""
    with open_bounded(path) as file:
        while piece := file.read(_PIECE):
            if b"\0" in piece:
                raise DataError(f"{path} is not a Matrix Market file: it holds bytes 0, and text has none")


def _refuse_columns(path: Path, target: str | None, columns: list[str] | None) -> None:
    if target is not None or columns is not None:
        raise DataError(f"{path} is a graph, whose columns are nodes; it has no target or named features")
