from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from kernreg.errors import DataError
from kernreg.io import FORMATS, read_samples


def test_delimited_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\ufeffx; y ;who\n1;2.5;cat\n\n-3;4e2;dog\n", encoding="utf-8")
    samples = read_samples(path, target="who")
    assert samples.X.tolist() == [[1.0, 2.5], [-3.0, 400.0]]
    assert samples.y.tolist() == ["cat", "dog"]
    assert samples.names == ["x", "y"]
    assert read_samples(path, columns=["y"]).X.tolist() == [[2.5], [400.0]]
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_samples(packed, target="who").X.tolist() == samples.X.tolist()


@pytest.mark.parametrize(("text", "kind"), [("1\n2\n", "i"), ("1.5\n2\n", "f"), ("a\n2\n", "U"), ("nan\n1\n", "U")])
def test_types_of_targets(tmp_path, text, kind):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"0,{line}\n" for line in text.split()))
    assert read_samples(path, target="y").y.dtype.kind == kind


def test_arrays(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1])
    np.savez(tmp_path / "a.npz", X=X, y=y, other=y + 1)
    samples = read_samples(tmp_path / "a.npz")
    np.testing.assert_array_equal(samples.X, X)
    np.testing.assert_array_equal(samples.y, y)
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npz", target="other").y, y + 1)
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(X))
    np.testing.assert_array_equal(read_samples(tmp_path / "s.npz").X.toarray(), X)
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    assert read_samples(tmp_path / "a.npy").X.dtype == np.float32


def test_svmlight(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:0.5 3:2\n-1 2:1\n")
    samples = read_samples(path)
    assert samples.X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]
    assert samples.y.tolist() == [1, -1]


def test_graphs(tmp_path):
    (tmp_path / "a.edges").write_text("# a comment\n0 1\n2,0 0.5\n")
    assert read_samples(tmp_path / "a.edges").X.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0.5, 0, 0]]
    (tmp_path / "b.edgelist").write_text("ann bob\nbob cid\n")
    named = read_samples(tmp_path / "b.edgelist")
    assert named.names == ["ann", "bob", "cid"]
    assert named.X.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    mmwrite(tmp_path / "a.mtx", sp.coo_array([[0, 2.0], [1.0, 0]]))
    assert read_samples(tmp_path / "a.mtx").X.toarray().tolist() == [[0, 2], [1, 0]]


def test_parquet(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "who": ["x", "y"]}).to_parquet(tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet", target="who")
    assert samples.names == ["a", "b"]
    assert samples.y.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "x,y\n1,2\n3,oops\n", r"a\.csv, line 3, column 'y': 'oops' is not a number"),
        ("a.csv", "x,y\n1,\n", r"line 2, column 'y': is empty"),
        ("a.csv", "x,y\n1,nan\n", r"line 2, column 'y': nan is not finite"),
        ("a.csv", "x,y\n1,2,3\n", r"line 2: 3 values, and the first line names 2 columns"),
        ("a.csv", 'x,y\n1,"2\n', r"line \d+: unexpected end of data"),
        ("a.csv", "1,2\n3,4\n", "are numbers; the first line names the columns"),
        ("a.csv", "x,x\n1,2\n", "two columns are named 'x'"),
        ("a.csv", "", "is empty"),
        ("a.csv", "x,y\n", "holds no samples"),
        ("a.svm", "1 1:0.5\n1 2:oops\n", r"line 2, column 3: '2:oops'"),
        ("a.edges", "0 1\n2\n", "line 2: 1 words"),
        ("a.edges", "0 1 heavy\n", "line 1, column 5: the weight 'heavy' is not a number"),
        ("a.mtx", "not a matrix\n", "not a Matrix Market file"),
        ("a.npz", "not a zip", "not an NPZ file"),
        ("a.npy", "nothing", "not an NPY file"),
        ("a.xyz", "", "says no format"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_samples(tmp_path / name)


def test_other_refusals(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match="there is no file"):
        read_samples(tmp_path / "missing.csv")
    with pytest.raises(DataError, match="no target 'z'; its columns are x, y"):
        read_samples(tmp_path / "a.csv", target="z")
    with pytest.raises(DataError, match="there is no format 'excel'; there are csv"):
        read_samples(tmp_path / "a.csv", format="excel")
    np.savez(tmp_path / "p.npz", X=np.array([object()], dtype=object))
    with pytest.raises(DataError, match="plain arrays"):
        read_samples(tmp_path / "p.npz")
    np.savez(tmp_path / "n.npz", X=np.array([[1.0, np.nan]]))
    with pytest.raises(DataError, match="row 0, column 1: nan"):
        read_samples(tmp_path / "n.npz")
    assert set(FORMATS) == {"csv", "npz", "npy", "parquet", "svmlight", "edges", "mtx"}
