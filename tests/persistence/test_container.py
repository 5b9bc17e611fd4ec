"""The file itself: a zip that any program opens, the same bytes for the same model, arrays that can be mapped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import kernreg as kr
from kernreg.kernels.indexed import precomputed
from kernreg.persistence import SCHEMA, describe
from kernreg.persistence.layout import ALIGNMENT


@pytest.fixture
def model(table):
    X, y, _ = table
    return kr.make_solver("ask-ls", kernel="sne(sigma=2.0)").fit(X, y)


@pytest.fixture
def path(model, tmp_path):
    path = tmp_path / "model.kern"
    kr.save(model, path)
    return path


def test_the_file_is_a_zip_that_other_programs_read(path):
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        names = file.namelist()
        assert names[-2:] == ["model.json", "manifest.json"]
        assert all(name.startswith("arrays/") for name in names[:-2])
        assert {info.compress_type for info in file.infolist()} == {zipfile.ZIP_STORED}
        manifest = json.loads(file.read("manifest.json"))
        assert manifest["schema"] == SCHEMA
        assert [member["name"] for member in manifest["members"]] == names[:-1]


def test_array_members_are_raw_little_endian_numbers(path, model):
    with zipfile.ZipFile(path) as file:
        found = json.loads(file.read("model.json"))
        window = found["arrays"][found["root"]["object"]["state"]["X_fit_"]["array"]]
        raw = file.read(f"arrays/{window['member']:06}.bin")
    assert window["dtype"] == "<f8"
    np.testing.assert_array_equal(np.frombuffer(raw, "<f8").reshape(window["shape"]), model.X_fit_)


def test_checksums_are_those_of_the_members(path):
    import hashlib
    import zlib

    with zipfile.ZipFile(path) as file:
        for member in describe(path).members:
            data = file.read(member.name)
            assert (member.size, member.crc) == (len(data), zlib.crc32(data))
            assert member.sha256 == hashlib.sha256(data).hexdigest()
        assert file.comment.decode().endswith(hashlib.sha256(file.read("manifest.json")).hexdigest())


def test_no_pickle_is_anywhere_in_the_file(path):
    data = path.read_bytes()
    assert b"\x80\x04\x95" not in data
    assert b"__reduce__" not in data
    assert b"sklearn.base" not in data


def test_the_same_model_gives_the_same_bytes(model, path, tmp_path):
    kr.save(model, tmp_path / "again.kern")
    assert (tmp_path / "again.kern").read_bytes() == path.read_bytes()
    kr.save(kr.load(path), tmp_path / "third.kern")  # mapped from the first
    assert (tmp_path / "third.kern").read_bytes() == path.read_bytes()


def test_arrays_are_aligned(path):
    with zipfile.ZipFile(path) as file, open(path, "rb") as raw:
        for info in file.infolist():
            raw.seek(info.header_offset + 26)
            name, extra = np.frombuffer(raw.read(4), "<u2")
            assert (info.header_offset + 30 + int(name) + int(extra)) % ALIGNMENT == 0
    assert kr.load(path).kernel_.reference.ctypes.data % ALIGNMENT == 0


def test_mapped_arrays_are_those_of_the_file_and_read_ones_are_not(path):
    def owner_of(array):
        while isinstance(array, np.ndarray) and array.base is not None:
            array = array.base
        return type(array).__name__

    assert owner_of(kr.load(path).kernel_.reference) == "mmap"
    assert owner_of(kr.load(path, mmap=False).kernel_.reference) == "ndarray"


def test_writing_to_a_mapped_array_changes_neither_the_file_nor_another_load(path):
    before = path.read_bytes()
    first, second = kr.load(path), kr.load(path)
    expected = second.X_fit_.copy()
    first.X_fit_ += 1.0
    first.dual_coef_[...] = 0.0
    assert path.read_bytes() == before
    np.testing.assert_array_equal(second.X_fit_, expected)
    # Equal when saved, and written once, but two arrays then and now.
    np.testing.assert_array_equal(first.kernel_.reference, expected)


def test_large_arrays_that_are_equal_and_apart_are_mapped_apart(tmp_path):
    K = np.random.default_rng(0).normal(size=(400, 400))
    both = precomputed(K=K) + precomputed(K=K.copy())
    kr.save(both, tmp_path / "both.kern")
    assert (tmp_path / "both.kern").stat().st_size < 1.1 * K.nbytes
    again = kr.load(tmp_path / "both.kern")
    assert not np.shares_memory(again.left.K, again.right.K)
    assert not again.left.K.flags.writeable


def test_a_model_goes_on_while_its_file_is_replaced_or_deleted(path, model, table):
    loaded = kr.load(path)
    kr.save(kr.make_kernel("rbf"), path)
    path.unlink()
    new = table[2]
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))


def test_a_model_can_be_saved_over_the_file_it_is_mapped_from(path, model, table):
    for _ in range(3):
        loaded = kr.load(path)
        loaded.extra_ = np.arange(10.0)
        kr.save(loaded, path)
    new = table[2]
    np.testing.assert_array_equal(kr.load(path).decision_function(new), model.decision_function(new))


def test_loading_closes_the_file(path):
    code = (
        "import os, sys, kernreg as kr; kr.load(sys.argv[1]); n = len(os.listdir('/proc/self/fd'));"
        "models = [kr.load(sys.argv[1], mmap=False) for _ in range(20)];"
        "assert len(os.listdir('/proc/self/fd')) <= n + 1"
    )
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc")
    subprocess.run([sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", code, str(path)], check=True)


def test_many_models_can_be_mapped_at_once(tmp_path):
    kr.save(kr.make_kernel("precomputed", K=np.eye(5)), tmp_path / "k.kern")
    models = [kr.load(tmp_path / "k.kern") for _ in range(300)]
    assert all(model.K[2, 2] == 1.0 for model in models)


def test_describe_says_what_is_in_a_file(path):
    found = describe(path)
    assert found.schema == SCHEMA
    assert found.written_with["kernreg"] == kr.__version__
    assert found.written_with["numpy"] == np.__version__
    assert found.model["class"] == "AsKLSClassifier"
    assert found.model["name"] == "ask-ls"
    assert found.model["spec"]["kernel"] == "'sne(sigma=2.0)'"
    assert {asked.name for asked in found.requirements} >= {"ask-ls", "sne", "average"}


def test_a_file_of_the_first_form_is_read_by_all_later_versions():
    """Written once, by the first version that had model files; it must never be written again."""
    k = kr.load(Path(__file__).parent / "first_form.kern")
    assert k.name == "add"
    assert k.left.kernel.kernel.get_params() == {"sigma": 2.0, "self_term": True}
    expected = [[1.0146991177593883], [-1.7645490804196762]]
    np.testing.assert_allclose(k([[0.0, 0.5], [1.0, -1.0]], [[0.25, 2.0]]), expected, rtol=1e-12)


def test_paths_may_be_text_or_path_objects_and_have_any_name(tmp_path):
    k = kr.make_kernel("rbf")
    for path in (tmp_path / "a.kern", str(tmp_path / "σ and spaces"), tmp_path / "no suffix"):
        kr.save(k, path)
        assert kr.load(path) == k


def test_saving_into_a_folder_that_is_not_there_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder to write to does not exist"):
        kr.save(kr.make_kernel("rbf"), tmp_path / "nowhere" / "k.kern")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    from kernreg.errors import ModelFileError

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not an ordinary file"):
        kr.load(tmp_path / "pipe")
