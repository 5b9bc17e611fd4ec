"""Samples that cannot be read as they are meant are refused: wide integers, masks, sparse arrays that point outside."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import DataError
from kernreg.registry import get_registry
from kernreg.solvers import LSSVC

BIG = 2**53 + 1
WIDE = {
    "objects": np.array([[BIG, 1], [2, 3]], dtype=object),
    "list with a float": [[BIG, 1.5], [2, 3]],
    "beyond 64 bits": [[2**70, 1], [2, 3]],
    "int64": np.array([[BIG, 1], [2, 3]]),
    "sparse": sp.csr_array(np.array([[BIG, 1], [2, 3]])),
}
MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
NEEDED = {"bicluster": {"n_clusters": 2}, "osk": {"n_neighbors": 1}, "simple-npk": {"n_neighbors": 1}}


def fit(name, X, y=(0, 1), **options):
    """Fit a solver by name."""
    return kr.make_solver(name, **NEEDED.get(name, {})).fit(X, np.array(y), **options)


SOLVERS = sorted({entry.name for entry in get_registry("solver").entries()})
READERS = {name: partial(fit, name) for name in SOLVERS} | {
    "kernel": lambda X: kr.make_kernel("linear")(X),
    "predict": lambda X: LSSVC(kernel="linear").fit(np.eye(2), [0, 1]).predict(X),
    "pair": lambda X: kr.make_solver("ask-ls", kernel="linear").fit((np.eye(2), X), [0, 1]),
    "chain": lambda X: kr.make_chain("kpca", "cells").fit(X, [0, 1]),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("form", WIDE)
def test_integers_that_float64_changes_are_refused(form, reader):
    takes_none = form == "sparse" and reader.startswith("lab-rbf")
    with pytest.raises(TypeError if takes_none else DataError, match="Sparse" if takes_none else r"beyond 2\*\*53"):
        READERS[reader](WIDE[form])


def test_columns_of_integers_beside_others_are_looked_at():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"id": [BIG, 2], "length": [0.5, 1.5]})
    for read in READERS.values():
        with pytest.raises(DataError, match=r"integers beyond 2\*\*53"):
            read(table)
    assert kr.make_kernel("linear")(table.assign(id=[1, 2])).shape == (2, 2)


@pytest.mark.parametrize("reader", READERS)
def test_masked_rows_in_a_list_are_refused(reader):
    for X in ([MASKED, MASKED], (MASKED, np.ones(2)), np.ma.stack([MASKED, MASKED])):
        if reader == "pair" or not isinstance(X, tuple):  # a tuple is a pair of sets to some
            with pytest.raises(DataError, match="masked values"):
                READERS[reader](X)
    assert kr.make_kernel("linear")([np.ma.array([1.0, 2.0]), np.ones(2)]).tolist() == [[5.0, 3.0], [3.0, 2.0]]


@pytest.mark.parametrize("name", SOLVERS)
def test_masked_targets_and_weights_are_refused(name):
    X, y = np.arange(8.0).reshape(4, 2), np.ma.array([0, 1, 0, 1], mask=[False, True, False, False])
    with pytest.raises(DataError, match="y has masked values"):
        kr.make_solver(name, **NEEDED.get(name, {})).fit(X, y)
    if "sample_weight" in inspect.signature(kr.make_solver(name).fit).parameters:
        with pytest.raises(DataError, match="sample_weight has masked values"):
            fit(name, X, [0, 1, 0, 1], sample_weight=y)


def test_a_held_matrix_is_read_as_strictly():
    for K in (WIDE["objects"], [MASKED, MASKED]):
        with pytest.raises(ValueError, match="precomputed: K"):
            kr.make_kernel("precomputed", K=K)


DAMAGES = {
    "column too large": lambda X: X.indices.__setitem__(3, 10**6),
    "column far too large": lambda X: X.indices.__setitem__(0, 2**31 - 1),
    "column negative": lambda X: X.indices.__setitem__(5, -7),
    "pointer too large": lambda X: X.indptr.__setitem__(-1, 10**6),
    "pointer falls": lambda X: X.indptr.__setitem__(4, 0),
    "pointer negative": lambda X: X.indptr.__setitem__(2, -(10**6)),
    "last pointer negative": lambda X: X.indptr.__setitem__(-1, -1),
    "first pointer": lambda X: X.indptr.__setitem__(0, 3),
    "fewer data": lambda X: setattr(X, "data", X.data[:4]),
    "floats for indices": lambda X: setattr(X, "indices", X.indices.astype(float)),
}
CHILD = """
    import sys, warnings
    import numpy as np, scipy.sparse as sp
    sys.path.insert(0, {folder!r})
    from test_readable import DAMAGES, READERS
    from kernreg.errors import DataError
    for reader, read in READERS.items():
        for format in ("csr", "csc", "bsr", "coo"):
            for name, damage in DAMAGES.items():
                X = sp.random_array((30, 30), density=0.2, format="csr", rng=np.random.default_rng(0)).asformat(format)
                if format == "coo":
                    if "column" not in name:
                        continue
                    X.coords[1][3] = 10**6 if "negative" not in name else -5
                else:
                    damage(X)
                try:
                    read(X)
                except TypeError as error:
                    assert "parse" in str(error), (reader, format, name, str(error))  # it takes no sparse arrays
                except (DataError, ValueError) as error:
                    assert isinstance(error, DataError) and "damaged" in str(error), (reader, format, name, str(error))
                else:
                    raise AssertionError((reader, format, name))
    print("refused")
"""


def test_sparse_arrays_that_point_outside_are_refused_and_do_not_crash():
    from pathlib import Path

    code = textwrap.dedent(CHILD).format(folder=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout.strip()) == (0, "refused"), done.stderr[-2000:]


def test_checking_does_not_change_the_callers_array():
    X = sp.csr_array(np.eye(3))
    X.data, X.indices = np.append(X.data, 9.0), np.append(X.indices, 1).astype(np.int32)  # one stored in vain
    kr.make_kernel("linear")(X)
    assert (len(X.data), len(X.indices)) == (4, 4)
