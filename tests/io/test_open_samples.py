"""Files that are read some rows at a time, against the arrays they were written from."""

from __future__ import annotations

import io
import os
import pickle
import re
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import DataError, MemoryBudgetError, MissingExtra

rng = np.random.default_rng(3)
X = rng.normal(size=(3000, 5))
y = rng.integers(0, 3, size=3000)
NAMES = ["a", "b", "c", "d", "e"]


def as_npy(folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy", None


def as_fortran_npy(folder):
    np.save(folder / "x.npy", np.asfortranarray(X))
    return folder / "x.npy", None


def as_parquet(folder, rows=(0, 3000), name="x.parquet", **options):
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    columns = {n: X[slice(*rows), i] for i, n in enumerate(NAMES)}
    pq.write_table(pa.table({**columns, "who": y[slice(*rows)]}), folder / name, row_group_size=1700, **options)
    return folder / name, "who"


def as_parquet_folder(folder):
    (folder / "parts").mkdir()
    for number, rows in enumerate([(0, 900), (900, 900), (900, 3000)]):
        as_parquet(folder / "parts", rows, f"{number}.parquet")
    return folder / "parts", "who"


def as_arrow(folder):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({**{n: X[:, i] for i, n in enumerate(NAMES)}, "who": y})
    with pa.OSFile(str(folder / "x.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=700)
    return folder / "x.arrow", "who"


def as_zarr(folder):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(folder / "x.zarr"), mode="w")
    group.create_array("X", shape=X.shape, chunks=(800, 3), dtype="f8")[:] = X
    group.create_array("y", shape=y.shape, chunks=(800,), dtype="i8")[:] = y
    return folder / "x.zarr", None


def as_npz_parts(folder):
    (folder / "parts").mkdir()
    for number, start in enumerate(range(0, 3000, 1100)):
        np.savez(folder / "parts" / f"part-{number}.npz", X=X[start : start + 1100], y=y[start : start + 1100])
    return folder / "parts", None


@pytest.mark.parametrize(
    "write", [as_npy, as_fortran_npy, as_parquet, as_parquet_folder, as_arrow, as_zarr, as_npz_parts]
)
def test_every_format_gives_the_rows_that_were_written(tmp_path, write):
    path, target = write(tmp_path)
    source = kr.open_samples(path, target)
    assert source.shape == X.shape
    assert source.dtype == np.float64
    for rows in (slice(0, 10), slice(1690, 1710), slice(2990, None), slice(5, 5), slice(0, 3000)):
        assert np.array_equal(source[rows], X[rows])
    index = rng.integers(0, 3000, size=200)
    assert np.array_equal(source[index], X[index])
    order = rng.permutation(30) * 100
    assert np.array_equal(np.vstack([source[i : i + 100] for i in order]), np.vstack([X[i : i + 100] for i in order]))
    assert np.array_equal(pickle.loads(pickle.dumps(source))[100:200], X[100:200])
    if write not in (as_npy, as_fortran_npy):
        assert np.array_equal(source.targets, y)
    if target:
        assert source.names == NAMES


def test_a_pass_in_order_reads_a_row_group_once(tmp_path, monkeypatch):
    from kernreg.io.sources import columns

    path, target = as_parquet(tmp_path)
    source, opened = kr.open_samples(path, target), []
    original = columns._ParquetFile.pieces
    monkeypatch.setattr(columns._ParquetFile, "pieces", lambda self, *a: opened.append(a[0]) or original(self, *a))
    with kr.config_context(memory=1000):  # two pieces are kept, whatever they take
        for start in range(0, 3000, 100):
            assert np.array_equal(source[start : start + 100], X[start : start + 100])
    assert opened == [0, 1]


def test_csr_parts(tmp_path):
    S = sp.csr_array(X * (rng.random(X.shape) < 0.3))
    for number, start in enumerate(range(0, 3000, 1100)):
        sp.save_npz(tmp_path / f"part-{number}.npz", S[start : start + 1100])
    source = kr.open_samples(tmp_path)
    assert source.sparse
    assert source.targets is None
    for rows in (slice(1000, 2300), slice(0, 0), np.array([2999, 5, 5])):
        assert (source[rows] != S[rows]).nnz == 0
        assert source[rows].shape == S[rows].shape
    k = kr.make_kernel("rbf(sigma=2.0)")
    np.testing.assert_allclose(k(source, X[:20]), k(S.toarray(), X[:20]), rtol=1e-10)


def test_columns_are_chosen_and_float32_stays(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    F = X.astype(np.float32)
    text = pa.array(["x"] * 3000)
    pq.write_table(pa.table({"a": F[:, 0], "t": text, "b": F[:, 1], "n": y}), tmp_path / "x.parquet")
    source = kr.open_samples(tmp_path / "x.parquet", target="t", columns=["b", "a"])
    assert source.dtype == np.float32
    assert np.array_equal(source[:], F[:, [1, 0]])
    assert source.targets.tolist() == ["x"] * 3000
    assert kr.open_samples(tmp_path / "x.parquet", columns=["b", "n"]).dtype == np.float64
    with pytest.raises(DataError, match="column 't': holds string; features are numbers"):
        kr.open_samples(tmp_path / "x.parquet")
    with pytest.raises(DataError, match="no column 'z'; its columns are a, t, b, n"):
        kr.open_samples(tmp_path / "x.parquet", target="z")


def test_missing_and_inexact_values_are_refused_with_their_place(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    values = pa.array([1.0] * 1999 + [None] + [1.0] * 500)
    pq.write_table(pa.table({"a": values, "b": values}), tmp_path / "x.parquet", row_group_size=1000)
    source = kr.open_samples(tmp_path / "x.parquet")
    assert source[:900].shape == (900, 2)
    with pytest.raises(DataError, match="row 1999, column 'a': the value is missing"):
        source[1500:2100]
    pq.write_table(pa.table({"a": pa.array([2**60, 1])}), tmp_path / "y.parquet")
    with pytest.raises(DataError, match=r"integers beyond 2\*\*53"):
        kr.open_samples(tmp_path / "y.parquet")[:]
    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [1.0, np.inf]}), tmp_path / "z.parquet")
    with pytest.raises(DataError, match="row 1, column 'b': inf; kernels need finite features"):
        kr.open_samples(tmp_path / "z.parquet")[:]


def test_what_cannot_be_opened_says_why(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "junk.npy").write_bytes(b"no array")
    (tmp_path / "junk.parquet").write_bytes(b"PAR1junkPAR1")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    np.save(tmp_path / "flat.npy", np.arange(3.0))
    np.save(tmp_path / "cut.npy", X)
    data = (tmp_path / "cut.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(data[:-8])
    for name, message in {
        "missing.npy": "there is no file",
        "missing.parquet": "there is no file",
        "missing.npz": "there is no file",
        "empty": "no NPZ, Parquet or Arrow files",
        "junk.npy": "not an NPY file",
        "junk.parquet": "not a Parquet or Arrow file",
        "a.csv": "read_samples reads other formats",
        "flat.npy": "a numeric matrix",
        "cut.npy": "is cut short",
    }.items():
        with pytest.raises(DataError, match=message):
            kr.open_samples(tmp_path / name)
    with pytest.raises(DataError, match="neither"):
        kr.open_samples([1, 2, 3])
    with pytest.raises(DataError, match="give y apart"):
        kr.open_samples(as_npy(tmp_path)[0], target="who")


@pytest.mark.parametrize(("package", "name"), [("pyarrow", "x.parquet"), ("zarr", "x.zarr")])
def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch, package, name):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=f"pip install {package}"):
        kr.open_samples(tmp_path / name)


def test_a_file_that_has_become_shorter_is_noticed(tmp_path):
    path, _ = as_npy(tmp_path)
    source = kr.open_samples(path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DataError, match="shorter while it was being read"):
        source[2000:2100]


# Files from anybody --------------------------------------------------------------------------------------------


def header(shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_2_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.parquet", "x.arrow", "folder/1.npz", "folder/1.parquet"])
def test_a_pipe_is_refused_and_not_waited_for(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    with pytest.raises(DataError, match="is a pipe"):
        kr.open_samples(path if path.parent == tmp_path else path.parent)


@pytest.mark.parametrize("shape", [(-1, 3), (10**13, 8), (2**62, 2**62), (3,)])
def test_headers_that_lie_are_told(shape, tmp_path):
    (tmp_path / "x.npy").write_bytes(header(shape) + bytes(200))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as file:
        file.writestr("X.npy", header(shape) + bytes(200))
    with zipfile.ZipFile(tmp_path / "sparse.npz", "w") as file:
        for name in ("shape", "data", "indices", "indptr"):
            file.writestr(f"{name}.npy", header(shape) + bytes(200))
    for name in ("x.npy", "x.npz", "sparse.npz"):
        with pytest.raises(DataError, match=name):
            kr.open_samples(tmp_path / name)[0:1]


def test_a_damaged_header_is_told(tmp_path):
    (tmp_path / "x.npy").write_bytes(header((3, 2)).replace(b"}", b"(") + bytes(48))
    with pytest.raises(DataError, match="is not an NPY file"):
        kr.open_samples(tmp_path / "x.npy")


def test_targets_that_unpack_to_more_than_the_budget_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("X.npy", header((2, 2)) + bytes(32))
        file.writestr("y.npy", header((1 << 20,)) + bytes(8 << 20))
    with kr.config_context(memory="4MB"), pytest.raises(MemoryBudgetError):
        kr.open_samples(tmp_path / "x.npz")


def test_chunks_of_zarr_that_lie_or_are_damaged_are_told(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(str(tmp_path / "x.zarr"), shape=(12, 3), chunks=(5, 3), dtype="f8")[:] = X[:12, :3]
    for chunk in (tmp_path / "x.zarr" / "c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(b"nothing of the kind")
    with pytest.raises(DataError, match=r"rows 0 to 5 cannot be read"):
        kr.open_samples(tmp_path / "x.zarr")[0:2]
    meta = (tmp_path / "x.zarr" / "zarr.json").read_text()
    (tmp_path / "x.zarr" / "zarr.json").write_text(re.sub(r'"shape":\s*\[\s*12', '"shape": [100000000000', meta))
    with kr.config_context(memory="64MB"), pytest.raises(MemoryBudgetError, match="chunks"):
        kr.open_samples(tmp_path / "x.zarr")
    (tmp_path / "x.zarr" / "zarr.json").write_text("{")
    with pytest.raises(DataError, match="is not a zarr"):
        kr.open_samples(tmp_path / "x.zarr")
