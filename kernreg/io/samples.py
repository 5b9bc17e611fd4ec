"""One function for every format."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.common.bounded import require_readable
from kernreg.errors import DataError, KernregError, MemoryBudgetError
from kernreg.io.arrays import read_npy, read_npz, read_parquet
from kernreg.io.delimited import read_delimited
from kernreg.io.graphs import read_edges, read_matrix_market
from kernreg.io.svmlight import read_svmlight


@dataclass(frozen=True)
class Samples:
    """Samples in rows, with what the file says of them.

    Attributes
    ----------
    X : ndarray or CSR of shape (n, d)
        Of objects where text was asked for and there is some.
    y : ndarray of shape (n,) or None
        The targets, where one was named or the format has them: text, whole numbers or real ones, as in the file.
    names : list of str or None
        Of the columns of X, where the file has them; of a graph the names of its nodes, or None where they are numbers.

    Examples
    --------
    >>> samples = Samples([[1.0, 2.0]], names=["height", "width"])
    >>> samples.names, samples.y is None
    (['height', 'width'], True)
    """

    X: Any
    y: np.ndarray | None = None
    names: list[str] | None = None


#: What `read_samples` reads. From the name of each format to the suffixes by which it is known and the function that
#: reads it:
#:
#: - ``"csv"``: delimited text; ``.csv``, ``.tsv``, ``.txt``, ``.data``
#: - ``"npz"``, ``"npy"``: arrays of NumPy; ``.npz``, ``.npy``
#: - ``"parquet"``: tables, with pandas and pyarrow; ``.parquet``, ``.pq``
#: - ``"svmlight"``: sparse samples with targets; ``.svm``, ``.svmlight``, ``.libsvm``
#: - ``"edges"``: edge lists of graphs; ``.edges``, ``.edgelist``, ``.cites``
#: - ``"mtx"``: matrices in the Matrix Market format; ``.mtx``
FORMATS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "csv": ((".csv", ".tsv", ".txt", ".data"), read_delimited),
    "npz": ((".npz",), read_npz),
    "npy": ((".npy",), read_npy),
    "parquet": ((".parquet", ".pq"), read_parquet),
    "svmlight": ((".svm", ".svmlight", ".libsvm"), read_svmlight),
    "edges": ((".edges", ".edgelist", ".cites"), read_edges),
    "mtx": ((".mtx",), read_matrix_market),
}


def read_samples(
    path: str | Path,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    format: str | None = None,
    *,
    n_features: int | None = None,
    text: Sequence[str] | str | None = None,
) -> Samples:
    """Return the samples in a file.

    Parameters
    ----------
    path : str or Path
        The suffix says the format: see `FORMATS`. A file that ends in ``.gz`` is unpacked (text formats).
    target : str, optional
        The column that holds the targets; of an NPZ file, the array. Formats that keep targets apart (svmlight, NPZ
        with an array ``y``) need none.
    columns : sequence of str, optional
        The columns to take as features, in this order; all but the target by default.
    format : str, optional
        One of `FORMATS`, where the suffix does not say it.
    n_features : int, optional
        How many features there are, for svmlight files, whose last ones may be zero throughout: those of the model
        that the samples are for.
    text : sequence of str or "auto", optional
        Columns of delimited text that hold categories; ``"auto"`` takes those that do not hold numbers. X is then an
        array of objects, and numbers that are missing are NaN. By default both are refused.

    Returns
    -------
    Samples

    Raises
    ------
    DataError
        If the file cannot be read, naming it, and for text the line and the column.

    Notes
    -----
    An edge list has one edge on each line, ``source target`` or ``source target weight``, separated by commas or
    blanks. What follows a ``#`` is a comment, and so is a line that begins with ``%``; put a ``#`` before a line of
    headings. X is the adjacency matrix: ``X[i, j]`` is the weight of the edge from node i to node j, 1 where none is
    given, and the sum where an edge occurs more than once. Nodes are either numbers from 0 or names. Numbers that are
    skipped are nodes without edges. Names are numbered in the order in which they first appear, as in
    ``Samples.names``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = path.write_text(chr(10).join(["height,weight,who", "1.5,60,ann", "1.7,70,bob"]))
    >>> samples = read_samples(path, target="who")
    >>> samples.X.tolist(), samples.y.tolist(), samples.names
    ([[1.5, 60.0], [1.7, 70.0]], ['ann', 'bob'], ['height', 'weight'])

    An edge list; a file called ``links.edges`` would need no `format`:

    >>> path = path.with_name("links.csv")
    >>> _ = path.write_text(chr(10).join(["# source,target", "ann,bob", "cid,ann"]))
    >>> graph = read_samples(path, format="edges")
    >>> graph.X.toarray().tolist(), graph.names
    ([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], ['ann', 'bob', 'cid'])
    """
    path = Path(path)
    kind = format_of(path, format)
    more: dict[str, Any] = {"n_features": n_features} if kind == "svmlight" else {"text": text} if kind == "csv" else {}
    try:
        require_readable(path)
        X, y, names = FORMATS[kind][1](path, target, None if columns is None else list(columns), **more)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise DataError(f"{path} is a folder; give a file") from error
    except MemoryError as error:
        if isinstance(error, KernregError):
            raise
        raise MemoryBudgetError(f"{path} does not fit in memory: {error}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if X.shape[0] == 0:
        raise DataError(f"{path} holds no samples")
    return Samples(X, y, names)


def format_of(path: Path, given: str | None = None) -> str:
    """Return the name of the format of a file: the one given, or the one its suffix says.

    Examples
    --------
    >>> from pathlib import Path
    >>> format_of(Path("table.csv")), format_of(Path("graph.mtx"))
    ('csv', 'mtx')
    """
    if given is not None:
        if given not in FORMATS:
            raise DataError(f"there is no format {given!r}; known formats are {', '.join(FORMATS)}")
        return given
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes[-1] if suffixes else "")
    for name, (known, _) in FORMATS.items():
        if suffix in known:
            return name
    listed = ", ".join(suffix for known, _ in FORMATS.values() for suffix in known)
    raise DataError(f"{path} has the suffix {suffix!r}, which names no known format; known are {listed}")
