"""Samples of every kind: dtypes, layouts, tables, files, sparse forms; and changes to them afterwards."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from typing import Any

import numpy as np

DTYPES = ("float64", "float32", "float16", "longdouble", "int64", "int8", "uint16", "bool", ">f8", "object")
LAYOUTS = ("fortran", "strided", "reversed", "read-only", "memmap", "unaligned", "list", "subclass", "broadcast")
TABLES = tuple(name for name in ("pandas", "polars") if importlib.util.find_spec(name))
SPARSE = tuple(f"sparse {form}" for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia", "csr matrix", "unsorted"))
FORMS = ("plain", *DTYPES[1:], *LAYOUTS, *TABLES, *SPARSE)


def in_form(X: np.ndarray, form: str, folder: str) -> Any:
    """The same samples, as far as a dtype can hold them, in another form; files are made in a folder."""
    if form == "plain":
        return X.copy()
    if form in DTYPES:
        return X.astype(form)
    if form.startswith("sparse "):
        return _sparse(X, form.removeprefix("sparse "))
    if form in LAYOUTS:
        return _laid_out(X, form, folder)
    if form == "pandas":
        import pandas

        return pandas.DataFrame(X.copy(), columns=[f"feature {number}" for number in range(X.shape[1])])
    if form == "polars":
        import polars

        return polars.DataFrame(X.copy())
    raise ValueError(form)


def _laid_out(X: np.ndarray, form: str, folder: str) -> Any:
    if form == "fortran":
        return np.asfortranarray(X.copy())
    if form == "strided":
        wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if form == "reversed":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if form == "read-only":
        copy = X.copy()
        copy.flags.writeable = False
        return copy
    if form == "memmap":
        handle, path = tempfile.mkstemp(suffix=".bin", dir=folder)
        os.close(handle)
        mapped = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape) if X.size else X.copy()
        mapped[...] = X
        return mapped
    if form == "unaligned":
        room = np.zeros(X.nbytes + 1, dtype=np.uint8)
        moved = room[1:].view(X.dtype).reshape(X.shape)
        moved[...] = X
        return moved
    if form == "list":
        return X.tolist()
    if form == "broadcast":
        return np.broadcast_to(X[:1], X.shape)
    return X.copy().view(type("Rows", (np.ndarray,), {}))  # subclass


def unsorted_rows(X: np.ndarray) -> Any:
    """CSR whose rows are stored backwards, as scipy leaves products and slices of columns."""
    import scipy.sparse as sp

    rows = sp.csr_array(X)
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[start:stop] = rows.indices[start:stop][::-1].copy()
        rows.data[start:stop] = rows.data[start:stop][::-1].copy()
    rows.has_sorted_indices = False
    return rows


def _sparse(X: np.ndarray, form: str) -> Any:
    import scipy.sparse as sp

    if form == "csr matrix":
        return sp.csr_matrix(X)
    if form == "unsorted":
        return unsorted_rows(X)
    return sp.coo_array(X).asformat(form)


def changed(given: Any) -> None:
    """Overwrite what the caller holds, in place, as far as it can be written to."""
    if isinstance(given, list):
        _replace_items(given, given)
    elif type(given).__module__.startswith("pandas"):
        given.iloc[:, :] = 7.5
    elif isinstance(given, np.ndarray) and given.dtype == object:
        _replace_items(given.ravel(), given.flat)
    elif isinstance(given, np.ndarray) and not given.flags.writeable:
        if isinstance(given.base, np.ndarray) and given.base.flags.writeable:
            changed(given.base)
        elif given.flags.owndata:
            given.flags.writeable = True
            changed(given)
    elif isinstance(given, np.ndarray):
        if given.size:
            given[...] = np.roll(given, 1, axis=0)[::-1] if given.dtype.kind in "USOb" else _other(given)
    elif hasattr(given, "tocsr"):
        for part in ("data", "indices", "row", "col"):
            if isinstance(getattr(given, part, None), np.ndarray):
                changed(getattr(given, part))


def _replace_items(items: Any, target: Any) -> None:
    for number, item in enumerate(items):
        if isinstance(item, np.ndarray | list):
            changed(item)
        else:
            target[number] = 7.5


def _other(values: np.ndarray) -> np.ndarray:
    """Other values of the same dtype; indices stay within bounds, codes and classes become others."""
    return values[::-1].copy() if len(np.unique(values)) > 1 and values.dtype.kind in "iu" else np.full_like(values, 7)
