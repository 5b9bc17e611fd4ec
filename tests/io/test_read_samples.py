from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from kernreg.errors import DataError
from kernreg.io import FORMATS, read_samples

MARKET = "%%MatrixMarket matrix coordinate real general\n"


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


def test_a_delimiter_inside_of_quotes_is_no_delimiter(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"a,b,c";d\n1;"2"\n')
    assert read_samples(path).names == ["a,b,c", "d"]
    assert read_samples(path).X.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1\n2\n", "i"),
        ("-1\n0\n", "i"),
        ("1.5\n2\n", "f"),
        ("a\n2\n", "U"),
        ("nan\nb\n", "U"),
        ("1\ninf\nb\n", "U"),
        ("007\n7\n", "U"),
        ("1_0\n10\n", "U"),
        ("00.5\n1\n", "U"),
        ("99999999999999999999\n1\n", "U"),
    ],
)
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


def test_svmlight_may_have_fewer_features_than_a_model(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:0.5 3:2\n1e30 2:1\n")
    assert read_samples(path, n_features=5).X.toarray().tolist() == [[0.5, 0, 2, 0, 0], [0, 1, 0, 0, 0]]
    assert read_samples(path).y.tolist() == [1.0, 1e30]  # which is no whole number that an integer holds
    with pytest.raises(DataError, match="has 3 features, and 2 are expected"):
        read_samples(path, n_features=2)
    path.write_text("0 0:1 2:3\n")
    assert read_samples(path).X.toarray().tolist() == [[1, 0, 3]]  # counted from 0


def test_graphs(tmp_path):
    (tmp_path / "a.edges").write_text("# a comment\n0 1\n2,0 0.5\n")
    assert read_samples(tmp_path / "a.edges").X.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0.5, 0, 0]]
    (tmp_path / "b.edgelist").write_text("ann bob\nbob cid\n")
    named = read_samples(tmp_path / "b.edgelist")
    assert named.names == ["ann", "bob", "cid"]
    assert named.X.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    mmwrite(tmp_path / "a.mtx", sp.coo_array([[0, 2.0], [1.0, 0]]))
    assert read_samples(tmp_path / "a.mtx").X.toarray().tolist() == [[0, 2], [1, 0]]
    mmwrite(tmp_path / "d.mtx", np.array([[1.0, 2.0], [3.0, 4.0]]))
    dense = read_samples(tmp_path / "d.mtx").X
    assert isinstance(dense, np.ndarray)
    assert dense.tolist() == [[1, 2], [3, 4]]
    (tmp_path / "c.edges").write_text("% of KONECT\n0 1\n0 1 2\n")
    assert read_samples(tmp_path / "c.edges").X.toarray().tolist() == [[0, 3], [0, 0]]  # edges add up


@pytest.mark.parametrize(
    ("edges", "names"),
    [
        ("# source,target\nann,bob\n", ["ann", "bob"]),
        ("head neck\nneck heart\n", ["head", "neck", "heart"]),  # one word of two
        ("head tail\nann bob\ntail head\n", ["head", "tail", "ann", "bob"]),  # again further down
        ("ann bob\nsource target\n", ["ann", "bob", "source", "target"]),  # not in the first line
        ("node1 node2\nnode3 node4\n", ["node1", "node2", "node3", "node4"]),
    ],
)
def test_nodes_that_are_called_like_headings(tmp_path, edges, names):
    (tmp_path / "a.edges").write_text(edges)
    assert read_samples(tmp_path / "a.edges").names == names


def test_parquet(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "who": ["x", "y"]}).to_parquet(tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet", target="who")
    assert samples.names == ["a", "b"]
    assert samples.y.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0, 2.0], "who": ["x", None]}, "row 1, column 'who': the value is missing"),
        ({"a": [1.0, None], "who": ["x", "y"]}, "row 1, column 'a': the value is missing"),
        ({"a": ["1", "2"], "who": ["x", "y"]}, "column 'a': holds .*; features are numbers"),
        ({"a": [2**53 + 1, 1], "who": ["x", "y"]}, r"column 'a' holds integers beyond 2\*\*53"),
        ({"a": [1.0, float("inf")], "who": ["x", "y"]}, "column 'a' contains NaN or infinity"),
        ({"a": [1.0, 2.0], "who": [["l"], ["m"]]}, "column 'who': holds .*; targets are numbers or text"),
        ({"a": [1.0, 2.0]}, "no column 'who'"),
    ],
)
def test_parquet_that_cannot_be_read_is_refused_with_its_place(tmp_path, columns, message):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame(columns).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=message):
        read_samples(tmp_path / "a.parquet", target="who")


def test_what_is_no_parquet_is_refused(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    (tmp_path / "a.parquet").write_bytes(b"PAR1junkPAR1")
    with pytest.raises(DataError, match="not a Parquet file"):
        read_samples(tmp_path / "a.parquet")


def npz(path, **arrays):
    np.savez(path, **arrays)
    return path


CSR = {"format": np.array(b"csr"), "shape": np.array([1, 1]), "data": np.ones(1)}
ONE = {"indices": np.zeros(1, np.int32), "indptr": np.array([0, 1], np.int32)}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.array([[2**53 + 1]])}, r"beyond 2\*\*53"),
        ({"X": np.eye(2, dtype=complex)}, "type complex128"),
        ({"X": np.arange(3.0)}, r"shape \(3,\)"),
        ({"X": np.eye(2), "y": np.ones((2, 1))}, "targets of shape"),
        ({"X": np.eye(2), "y": np.ones(2, dtype=complex)}, "targets are of type complex128"),
        ({"Z": np.eye(2)}, "no array 'X'"),
        # Compiled code would write beyond the end of memory for these.
        ({**CSR, **ONE, "indices": np.array([7], np.int32)}, "parts do not fit together"),
        ({**CSR, **ONE, "indices": np.array([-1], np.int32)}, "parts do not fit together"),
        ({**CSR, **ONE, "indptr": np.array([0, 5], np.int32)}, "parts do not fit together"),
        ({**CSR, **ONE, "indptr": np.array([-3, 1], np.int32)}, "parts do not fit together"),
        ({**CSR, **ONE, "shape": np.array([2**40, 1])}, "parts do not fit together"),
        ({**CSR, **ONE, "format": np.array(b"coo")}, "format 'coo'"),
    ],
)
def test_arrays_that_are_no_samples_are_refused(tmp_path, arrays, message):
    with pytest.raises(DataError, match=message):
        read_samples(npz(tmp_path / "a.npz", **arrays))


def test_damaged_arrays_are_refused(tmp_path):
    path = npz(tmp_path / "a.npz", X=np.random.default_rng(0).normal(size=(20, 5)))
    whole = path.read_bytes()
    np.save(tmp_path / "a.npy", np.eye(4))
    array = (tmp_path / "a.npy").read_bytes()
    for position in range(0, len(whole), 7):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        try:
            found = read_samples(path)
        except DataError:
            continue
        np.testing.assert_array_equal(found.X.shape, (20, 5))  # a time stamp, say
    (tmp_path / "a.npy").write_bytes(array[:-8])
    with pytest.raises(DataError, match="cut short"):
        read_samples(tmp_path / "a.npy")
    (tmp_path / "a.npy").write_bytes(array.replace(b"(4, 4), }        ", b"(4, 900000000), }"))
    with pytest.raises(DataError, match=r"cut short: an array of shape \(4, 900000000\)"):
        read_samples(tmp_path / "a.npy")


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
        ("a.csv", "x,y\n1_000,2\n", r"line 2, column 'x': '1_000' is not a number"),
        ("a.csv", "x,y\n１,2\n", r"line 2, column 'x': '１' is not a number"),
        ("a.csv", "x,y\n1,9007199254740993\n", r"line 2, column 'y': 9007199254740993 is beyond 2\*\*53"),
        ("a.csv", "x;y\n1,5;2\n", r"line 2, column 'x': '1,5' is not a number.*decimal points"),
        ("a.csv", ",x\n0,1\n", r"line 1: column 1 has no name.*index=False"),
        ("a.csv", b"x,y\n1,2\n3,\xff\n", r"line 3, byte 3: this is not UTF-8"),
        ("a.csv", "x,y\n1,2\n".encode("utf-16"), r"line 1, byte 1: this is not UTF-8"),
        ("a.csv", 'x,y\n"1\n2",3\n', r"line 3, column 'x'"),
        ("a.csv.gz", gzip.compress(b"x,y\n1,2\n", mtime=0)[:-6], "cannot be read"),
        ("a.csv.gz", b"\x1f\x8b\x08\x00" + bytes(6) + b"\xff" * 20, "cannot be read"),
        ("a.svm", "1 1:0.5\n1 2:oops\n", r"line 2, column 3: '2:oops'"),
        ("a.svm", "1 1:0.5\n1 2:nan\n", r"line 2, column 3: '2:nan' is not finite"),
        ("a.svm", "inf 1:0.5\n", r"line 1, column 1: 'inf' is not finite"),
        ("a.svm", "1 3:1 2:1\n", r"line 1, column 7: '2:1' comes after index 3"),
        ("a.svm", "1 4294967296:1\n", r"line 1, column 3: '4294967296:1' is not index:value"),
        ("a.svm", "1 99999999999999999999:1\n", r"line 1, column 3"),
        ("a.svm", "1 -1:1\n", r"line 1, column 3: '-1:1' is not index:value"),
        ("a.svm", "1,2 1:1\n", r"line 1, column 1: '1,2' is not a number"),
        ("a.edges", "0 1\n2\n", "line 2: 1 words"),
        ("a.edges", "0 1 heavy\n", "line 1, column 5: the weight 'heavy' is not a number"),
        ("a.edges", "10 1 1e999\n", "line 1, column 6: the weight '1e999' is not finite"),
        ("a.edges", "12 12 12x\n", "line 1, column 7: the weight '12x'"),
        ("a.edges", "source,target\n0,1\n1,2\n", "line 1: 'source' and 'target' are names.*headings"),
        ("a.edges", "source,target\nann,bob\nbob,cid\n", "line 1: 'source' and 'target' look like.*put a # before it"),
        ("a.edges", "\n# mine\nFrom\tTo\nann\tbob\n", "line 3: 'From' and 'To' look like headings"),
        ("a.edges", '"citing_id","cited_id"\nann,bob\n', "line 1: .*look like headings"),
        ("a.edges", "node1,node2\nann,bob\n", "line 1: 'node1' and 'node2' look like headings"),
        ("a.edges", "FromNodeId ToNodeId 1\nann bob 1\n", "line 1: .*look like headings"),
        (
            "a.edges",
            "source target weight\nann bob 1\n",
            "line 1, column 15: the weight 'weight' is .*put a # before it",
        ),
        ("a.edges", "4000000000 1\n", "largest node is 4000000000"),
        ("a.mtx", "not a matrix\n", r"line 1: Not a Matrix Market file|not a Matrix Market file"),
        ("a.mtx", MARKET + "2 2 1\n1 1 x\n", "line 3: Invalid floating-point value"),
        ("a.mtx", MARKET + "2 2 1\n3 1 2.0\n", "line 3: Row index out of bounds"),
        ("a.mtx", MARKET + "2 2 2\n1 1 2.0\n", "Truncated file"),
        ("a.mtx", MARKET + "2 2 1\n1 1 19\0.0\n", "holds bytes 0"),
        ("a.mtx", MARKET + "2 2 1\n2 1 nan\n", "row 1, column 0: nan"),
        ("a.mtx", MARKET + "1000000000 1000000000 1\n1 1 2.0\n", "has 1 entries, and its largest node is 999999999"),
        ("a.mtx", MARKET + "99999999999999999999 2 1\n1 1 2.0\n", "not a Matrix Market file"),
        ("a.mtx", MARKET.replace("real", "complex") + "1 1 1\n1 1 2.0 1\n", "complex numbers"),
        ("a.mtx", MARKET.replace("real", "integer") + "1 1 1\n1 1 9007199254740993\n", r"beyond 2\*\*53"),
        ("a.npz", "not a zip", "not an NPZ file"),
        ("a.npy", "nothing", "not an NPY file"),
        ("a.xyz", "", "names no known format"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        read_samples(tmp_path / name)


def test_other_refusals(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match="there is no file"):
        read_samples(tmp_path / "missing.csv")
    with pytest.raises(DataError, match="no target 'z'; its columns are x, y"):
        read_samples(tmp_path / "a.csv", target="z")
    with pytest.raises(DataError, match="there is no format 'excel'; known formats are csv"):
        read_samples(tmp_path / "a.csv", format="excel")
    np.savez(tmp_path / "p.npz", X=np.array([object()], dtype=object))
    with pytest.raises(DataError, match="plain array"):
        read_samples(tmp_path / "p.npz")
    np.savez(tmp_path / "n.npz", X=np.array([[1.0, np.nan]]))
    with pytest.raises(DataError, match="row 0, column 1: nan"):
        read_samples(tmp_path / "n.npz")
    assert set(FORMATS) == {"csv", "npz", "npy", "parquet", "svmlight", "edges", "mtx"}


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ("1 2 nan 1", r"line 4, column 'y': the target is 'nan', and others are numbers"),
        ("1 NA 2", "line 3, column 'y': the target is 'NA'"),
        ("1.5 2.5 1e400", "line 4, column 'y': the target is '1e400'"),
        ("-inf 2.5", "line 2, column 'y': the target is '-inf'"),
        ("1.5 2.5 3,5 4.5", r"line 4, column 'y': the target '3,5' is not a number, and others are"),
        ("1.5 oops 2", "line 3, column 'y': the target 'oops' is not a number"),
    ],
)
def test_targets_that_are_numbers_but_for_some_are_no_classes(tmp_path, targets, message):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f'0,"{target}"\n' for target in targets.split()))
    for text in (None, "auto"):
        with pytest.raises(DataError, match=message):
            read_samples(path, target="y", text=text)


@pytest.mark.parametrize("wrong", ["heavy", "1,050.5", "50kg", "-", "1_0"])
def test_measurements_are_no_categories_because_one_is_mistyped(tmp_path, wrong):
    path = tmp_path / "a.csv"
    for numbers in ((1.5, 2.5, 1.5, 2.5) * 6, range(24)):  # few fractions, many whole numbers
        path.write_text("x,y\n" + "".join(f"{number},a\n" for number in numbers) + f'"{wrong}",b\n')
        with pytest.raises(DataError, match=rf"line 26, column 'x': '{wrong}' is not a number, but 24 of the 25"):
            read_samples(path, target="y", text="auto")
    path.write_text("x,y\n1,a\n2,b\nK,a\n,b\n")  # grades of a school
    assert read_samples(path, target="y", text="auto").X.ravel().tolist() == ["1", "2", "K", ""]


def test_numbers_with_commas_are_no_categories(tmp_path):
    path = tmp_path / "comma.csv"
    path.write_text("height;weight;who\n1,5;50,5;a\n1,6;60,5;b\n")
    with pytest.raises(DataError, match=r"line 2, column 'height'.*decimal points"):
        read_samples(path, target="who", text="auto")
    path.write_text("height;who\n1,5 or so;a\n1,6;b\n")  # text that happens to hold one is text
    assert read_samples(path, target="who", text="auto").X.tolist() == [["1,5 or so"], ["1,6"]]


def test_one_word_does_not_make_categories_of_measurements(tmp_path):
    path = tmp_path / "mistyped.csv"
    lines = [f"{20 + number / 2},{number % 3},a" for number in range(40)]
    lines[6] = "unknown,5more,b"
    path.write_text("\n".join(["age,doors,who", *lines]))
    with pytest.raises(DataError, match=r"line 8, column 'age': 'unknown' is not a number, but 39 of the 40 values"):
        read_samples(path, target="who", text="auto")
    # Few different numbers are categories.
    assert read_samples(path, target="who", columns=["doors"], text="auto").X[6, 0] == "5more"
    lines[6] = "NA,1,b"
    path.write_text("\n".join(["age,doors,who", *lines]))
    assert np.isnan(read_samples(path, target="who", text="auto").X[6, 0])


def test_a_binary_file_is_no_table_and_long_lists_of_columns_are_cut(tmp_path):
    path = tmp_path / "zeros.csv"
    path.write_bytes(bytes(5000))
    with pytest.raises(DataError, match="null character"):
        read_samples(path)
    path.write_text(",".join(f"c{number}" for number in range(1000)) + "\n")
    with pytest.raises(DataError, match="1000 in all") as told:
        read_samples(path, target="nope")
    assert len(str(told.value)) < 500
