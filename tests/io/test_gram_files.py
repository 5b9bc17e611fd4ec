"""Kernel matrices on disk: the same as in memory, also where a run was stopped and went on."""

from __future__ import annotations

import json
import os
import stat

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import DataError
from kernreg.io import write_gram
from kernreg.kernels.base import Kernel

rng = np.random.default_rng(4)
X = rng.normal(size=(700, 3))
Z = rng.normal(size=(90, 3))


def read(path):
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".zarr":
        return pytest.importorskip("zarr").open_array(str(path), mode="r")[:]
    index = json.loads((path / "index.json").read_text())
    return np.vstack([np.load(path / block["file"]) for block in index["blocks"]])


@pytest.fixture
def stop_after(monkeypatch):
    """Let a run be interrupted after some blocks."""

    def arrange(count):
        original = Kernel.blocks

        def blocks(self, *args, **options):
            for number, found in enumerate(original(self, *args, **options)):
                if number == count:
                    monkeypatch.setattr(Kernel, "blocks", original)
                    raise KeyboardInterrupt
                yield found

        monkeypatch.setattr(Kernel, "blocks", blocks)

    return arrange


@pytest.mark.parametrize("name", ["K.npy", "K.zarr", "K"])
@pytest.mark.parametrize("spec", ["rbf", "sne(sigma=2.0)", "rbf(sigma=2.0) "])
@pytest.mark.parametrize("second", [None, Z], ids=["square", "two sets"])
def test_a_run_that_was_stopped_says_so_and_goes_on(tmp_path, stop_after, name, spec, second):
    if name == "K.zarr":
        pytest.importorskip("zarr")
    path, kernel = tmp_path / name, kr.make_kernel(spec.strip())
    source = kr.open_samples(np_file(tmp_path))
    stop_after(3)
    with pytest.raises(KeyboardInterrupt):
        write_gram(kernel, source, path, second, block_rows=100)
    if name == "K.npy":
        assert not path.exists()
        record = json.loads((tmp_path / "K.npy.partial.json").read_text())
    elif name == "K":
        record = json.loads((path / "index.json").read_text())
    else:
        record = dict(pytest.importorskip("zarr").open_array(str(path), mode="r").attrs["kernreg"])
    assert (record["complete"], record["rows"], record["shape"][0]) == (False, 300, 700)
    with pytest.raises(DataError, match=r"300 of 700 rows are done; continue with resume=True \(--resume\)"):
        write_gram(kernel, source, path, second, block_rows=100)
    with pytest.raises(DataError, match="its kernel is"):
        write_gram("linear", source, path, second, resume=True)
    with pytest.raises(DataError, match="started with other samples"):
        write_gram(kernel, X + 1.0, path, second, resume=True)
    shape, dtype = write_gram(kernel, source, path, second, resume=True, block_rows=150)
    K = kernel(X, second)
    assert (shape, dtype) == (K.shape, K.dtype)
    np.testing.assert_allclose(read(path), K, rtol=1e-13)
    assert not list(tmp_path.glob("*.partial*"))


def np_file(folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


@pytest.mark.parametrize("name", ["K.npy", "K"])
def test_a_stopped_run_can_begin_anew(tmp_path, stop_after, name):
    stop_after(2)
    with pytest.raises(KeyboardInterrupt):
        write_gram("rbf(sigma=2.0)", X, tmp_path / name, block_rows=50)
    write_gram("linear", X, tmp_path / name, overwrite=True)
    np.testing.assert_allclose(read(tmp_path / name), X @ X.T, rtol=1e-12, atol=1e-13)
    if name == "K":
        assert len(list((tmp_path / name).glob("*.npy"))) == 1  # the blocks of the stopped run are gone


def test_resume_without_a_run_begins_one(tmp_path):
    write_gram("linear", X, tmp_path / "K.npy", resume=True)
    np.testing.assert_allclose(read(tmp_path / "K.npy"), X @ X.T, rtol=1e-12, atol=1e-13)


def test_matrices_larger_than_the_budget_are_written(tmp_path):
    source = kr.open_samples(np_file(tmp_path))
    with kr.config_context(memory=20_000):  # 17 kB of samples, 4 MB of values
        write_gram("sne(sigma=2.0)", source, tmp_path / "K.npy")
    np.testing.assert_allclose(read(tmp_path / "K.npy"), kr.make_kernel("sne(sigma=2.0)")(X), rtol=1e-12)


posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links, pipes and permissions are those of POSIX")


@posix
def test_the_matrix_that_is_replaced_keeps_its_permissions_and_its_link(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    real, link = tmp_path / "real.npy", tmp_path / "K.npy"
    write_gram("linear", X, real)
    real.chmod(0o640)
    link.symlink_to(real)
    write_gram("linear", 2.0 * X, link)
    assert link.is_symlink()
    np.testing.assert_array_equal(np.load(real), 4.0 * X @ X.T)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["K.npy", "real.npy"]


@posix
@pytest.mark.parametrize("planted", ["K.npy.partial", "K.npy.partial.json"])
def test_links_in_the_place_of_incomplete_files_are_not_followed(tmp_path, planted):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / planted).symlink_to(victim)
    write_gram("linear", np.eye(2), tmp_path / "K.npy")
    assert victim.read_text() == "precious"
    np.testing.assert_array_equal(np.load(tmp_path / "K.npy"), np.eye(2))


@posix
@pytest.mark.parametrize("name", ["K.npy", "K.npy.partial"])
def test_a_pipe_is_not_replaced_by_a_matrix(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(OSError, match="is a pipe"):
        write_gram("linear", np.eye(2), tmp_path / "K.npy")
    assert stat.S_ISFIFO(os.lstat(tmp_path / name).st_mode)


def test_a_disk_that_is_too_small_is_noticed_before_anything_is_written(tmp_path, monkeypatch):
    import shutil
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")(10, 9, 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DataError, match=r"needs 3.9 MB, and the disk has"):
        write_gram("linear", X, tmp_path / "K.npy")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match=r"\.npy or \.zarr, or to a folder"):
        write_gram("linear", X, tmp_path / "K.csv")
