"""load and available: where names are looked for, and what comes back. No test uses the network."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets
from sklearn.utils import Bunch

from kernreg.datasets import Dataset, available, load
from kernreg.datasets.catalog import KNOWN
from kernreg.errors import DataError, MissingDataset, ParameterError


@pytest.fixture(autouse=True)
def offline(monkeypatch, request):
    """No folder unless a test gives one, and no network at all."""
    if "data_directory" not in request.fixturenames:
        monkeypatch.delenv("KERNREG_DATA", raising=False)

    def refused(**_):
        raise AssertionError("a test asked OpenML")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refused)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    X[[1, 4], 0] = np.nan
    y = np.array([0, 1, 0, 1, 1, 0], dtype=np.int16)
    np.savez(tmp_path / "monks1.npz", X=X, y=y, n_train=3, sample_id=np.arange(6), classes=np.array(["a", "b"]))
    edges = np.array([[0, 1], [2, 1], [2, 2]], dtype=np.int32)
    np.savez(tmp_path / "cora.npz", edges=edges, labels=np.array([0, 1, 1]), n_nodes=4 - 1, node_ids=[7, 8, 9])
    for name, stored in (("own_docs", sp.csc_array), ("adult_a9a", sp.csr_array)):
        A = stored(np.array([[1, 0, 1], [0, 2, 0]], dtype=np.uint8))
        parts = {"format": A.format.encode(), "shape": A.shape, "data": A.data, "indices": A.indices}
        extra = {"labels": [1, 0]} if name == "own_docs" else {"y": [-1, 1], "idx_a1a": [1], "idx_a2a": [0, 1]}
        np.savez(tmp_path / f"{name}.npz", **parts, indptr=A.indptr, **extra)
    (tmp_path / "notes.npz").write_bytes(b"no zip at all")
    return tmp_path


def test_a_table_is_as_stored(folder):
    data = load("monks1", folder=folder)
    stored = np.load(folder / "monks1.npz")
    np.testing.assert_array_equal(data.X, stored["X"])
    np.testing.assert_array_equal(data.y, stored["y"])
    assert (data.X is data.data, data.y is data["target"], data.kind) == (True, True, "tabular")
    assert data.target_names.tolist() == ["a", "b"]
    assert data.source == str(folder / "monks1.npz")
    np.testing.assert_array_equal(data.missing(), [1, 4])


def test_the_official_split_is_the_first_rows(folder):
    data = load("monks1", folder=folder)
    X_train, X_test, y_train, y_test = data.split()
    np.testing.assert_array_equal(X_train, data.X[:3])
    np.testing.assert_array_equal(X_test, data.X[3:])
    assert (y_train.tolist(), y_test.tolist()) == ([0, 1, 0], [1, 1, 0])


def test_missing_values_are_kept_dropped_or_refused_as_asked(folder):
    assert np.isnan(load("monks1", folder=folder).X).sum() == 2
    dropped = load("monks1", folder=folder, missing="drop")
    assert dropped.sample_id.tolist() == [0, 2, 3, 5]
    assert dropped.y.tolist() == [0, 0, 1, 0]
    assert [part.tolist() for part in dropped.splits["official"]] == [[0, 1], [2, 3]]
    assert not np.isnan(dropped.X).any()
    with pytest.raises(DataError, match=r"monks1 has missing values \(NaN\) in 2 of 6 rows.*missing='drop'"):
        load("monks1", folder=folder, missing="raise")
    with pytest.raises(ParameterError, match=r"missing='impute' is not accepted; give 'keep' or 'drop' or 'raise'"):
        load("monks1", folder=folder, missing="impute")


def test_a_graph_is_its_adjacency_matrix(folder):
    data = load("cora", folder=folder)
    assert data.X.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 1, 1]]
    assert data.node_ids.tolist() == [7, 8, 9]
    assert data.y.tolist() == [0, 1, 1]
    with pytest.raises(DataError, match="cora is a graph"):
        data.take(np.array([0]))
    with pytest.raises(ParameterError, match="cora has no official split"):
        data.split()


def test_sparse_files_are_csr_of_floats(folder):
    data = load("own_docs", folder=folder)
    assert (data.kind, data.X.format, data.X.dtype) == ("document-term", "csr", np.float64)
    assert data.X.toarray().tolist() == [[1, 0, 1], [0, 2, 0]]


def test_nested_training_sets_are_splits_and_names(folder):
    data = load("adult_a9a", folder=folder)
    assert {name: [part.tolist() for part in parts] for name, parts in data.splits.items()} == {
        "a1a": [[1], [0]],
        "a2a": [[0, 1], []],
    }
    with pytest.raises(ParameterError, match="several official splits; name one of a1a, a2a"):
        data.split()
    with pytest.raises(ParameterError, match="no split 'a9a'; it has a1a, a2a"):
        data.split("a9a")
    X_train, X_test, y_train, y_test = load("a1a", folder=folder).split()
    assert X_train.toarray().tolist() == [[0, 2, 0]]
    assert X_test.toarray().tolist() == [[1, 0, 1]]
    assert (y_train.tolist(), y_test.tolist()) == ([1], [-1])


def test_data_sets_copy_and_pickle(folder):
    data = load("monks1", folder=folder)
    for other in (copy.deepcopy(data), pickle.loads(pickle.dumps(data))):
        assert type(other) is Dataset
        np.testing.assert_array_equal(other.X, data.X)
        np.testing.assert_array_equal(other.split()[3], data.split()[3])


def test_the_environment_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv("KERNREG_DATA", str(folder))
    assert load("cora").X.shape == (3, 3)


def test_a_missing_file_says_how_to_get_it(folder):
    with pytest.raises(MissingDataset, match=r"sonar.npz is not there: no data folder is set.*UCI.*KERNREG_DATA"):
        load("sonar")
    with pytest.raises(MissingDataset, match=r"has no such file.*arrays edges \(n_edges × 2, source and target\)"):
        load("pubmed", folder=folder)
    with pytest.raises(MissingDataset, match="does not exist"):
        load("pubmed", folder=folder / "nowhere")
    assert issubclass(MissingDataset, LookupError)


def test_files_that_cannot_be_used_are_named(folder):
    with pytest.raises(DataError, match=r"notes.npz cannot be read"):
        load("notes", folder=folder)
    np.savez(folder / "odd.npz", a=np.arange(3))
    with pytest.raises(DataError, match=r"odd.npz has the arrays a; accepted are"):
        load("odd", folder=folder)
    np.savez(folder / "objects.npz", X=np.array([{}], dtype=object), y=np.zeros(1))
    with pytest.raises(DataError, match="without pickled objects"):
        load("objects", folder=folder)


@pytest.mark.parametrize("name", ["", None, "../cora", "a/b"])
def test_names_are_names(folder, name):
    with pytest.raises(ParameterError, match="is not accepted"):
        load(name, folder=folder)


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris", "wine"])
def test_scikit_learns_own_are_equal(name):
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    ours = load(name, return_X_y=True)
    np.testing.assert_array_equal(ours[0], X)
    np.testing.assert_array_equal(ours[1], y)


def test_diabetes_is_not_scaled():
    data = load("diabetes")
    raw = sklearn.datasets.load_diabetes(scaled=False)
    np.testing.assert_array_equal(data.X, raw.data)
    assert data.feature_names[0] == "age"
    assert data.X[:, 0].max() == 79


def test_hyphens_are_underscores():
    assert load("breast-cancer").name == "breast_cancer"


def test_unknown_names_go_to_openml_unless_forbidden(monkeypatch):
    asked = []

    def fetch(**options):
        asked.append((options["name"], options["version"]))
        data = np.array([[1.0, 0.0], [np.nan, 1.0]])
        return Bunch(
            data=data,
            target=np.array(["no", "yes"], dtype=object),
            feature_names=["a", "b"],
            categories={"b": ["x", "y"]},
            details={"id": "5", "version": "2"},
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(MissingDataset, match=r"no data set 'somr'.*similar names: sonar.*download=False"):
        load("somr", download=False)
    with pytest.raises(ParameterError, match="download=False does not allow"):
        load("openml:sonar", download=False)
    data = load("credit-g", version=2)
    assert (data.y.tolist(), data.target_names.tolist()) == ([0, 1], ["no", "yes"])
    assert np.isnan(data.X[1, 0])
    assert data.categories == {"b": ["x", "y"]}
    assert data.source == "OpenML 5, version 2"
    assert load("openml:iris").name == "iris"
    assert asked == [("credit-g", 2), ("iris", "active")]


def test_openml_out_of_reach_is_one_error(monkeypatch):
    from urllib.error import URLError

    def fetch(**_):
        raise URLError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(MissingDataset, match=r"no data set 'credit-g'.*OpenML did not give it.*no network"):
        load("credit-g")


def test_available_lists_what_is_there_and_what_is_not(folder):
    entries = {entry.name: entry for entry in available(folder)}
    assert list(entries) == sorted(entries)
    assert set(KNOWN) <= set(entries)
    assert entries["cora"].present
    assert entries["a1a"].present
    assert not entries["pubmed"].present
    assert (entries["own_docs"].kind, entries["own_docs"].present) == ("document-term", True)
    assert "notes" not in entries
    assert entries["iris"].present
    assert not any(entry.present for entry in available() if entry.name in KNOWN)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_the_data_folder_is_as_described(data_directory, name):
    known = KNOWN[name]
    if not (data_directory / f"{known.file}.npz").exists():
        pytest.skip(f"the data folder has no {known.file}.npz")
    data = load(name)
    n, d = data.X.shape
    assert len(data.y) == n
    if known.kind == "graph":
        assert known.size == f"{n} nodes, {len(data.edges)} edges"
        assert data.X.nnz == len(data.edges)
        source, target = data.edges[17]
        assert data.X[source, target] == 1.0
    elif " + " in known.size:
        X_train, X_test, _, _ = data.split()
        assert known.size == f"{X_train.shape[0]} + {X_test.shape[0]}, {d} features"
    else:
        assert known.size == f"{n} × {d}"
    if data.target_names is not None:
        np.testing.assert_array_equal(np.unique(data.y), np.arange(len(data.target_names)))
    assert np.isfinite(data.X.data).all() if sp.issparse(data.X) else True


def test_missing_values_of_the_papers_data(data_directory):
    counts = {name: len(load(name).missing()) for name in ("breast_wisconsin_original", "ilpd", "cholesterol")}
    assert counts == {"breast_wisconsin_original": 16, "ilpd": 4, "cholesterol": 6}
