"""Files that unpack to more than memory holds, endless lines and pipes are refused while they are read."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import DataError, MemoryBudgetError
from kernreg.io import read_samples

BUDGET = 64 << 20
FAR = 4 * BUDGET


def packed(path, first, line, *, size=FAR):
    """A gz file that unpacks to far more than the budget."""
    chunk = line * (1 + (1 << 20) // len(line))
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(first)
        for _ in range(size // len(chunk)):
            file.write(chunk)
    return path


def zipped_zeros(path):
    header = io.BytesIO()
    np.lib.format.write_array_header_2_0(header, {"descr": "<f8", "fortran_order": False, "shape": (FAR // 64, 8)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("X.npy", "w", force_zip64=True) as member:
        member.write(header.getvalue())
        for _ in range(FAR >> 20):
            member.write(bytes(1 << 20))
    return path


BOMBS = {
    "csv": lambda folder: packed(folder / "a.csv.gz", b"x,y\n", b"1,2\n"),
    "one line": lambda folder: packed(folder / "a.csv.gz", b"", b"1,"),
    "one line later": lambda folder: packed(folder / "a.csv.gz", b"x,y\n1,2\n", b"0"),
    "quoted": lambda folder: packed(folder / "a.csv.gz", b'x,y\n1,"', b"aaaaaaaaaaaaaaaaaaaaaaaa\n"),
    "edges": lambda folder: packed(folder / "a.edges.gz", b"", b"1 2\n"),
    "svmlight": lambda folder: packed(folder / "a.svm.gz", b"", b"1 1:1\n"),
    "mtx": lambda folder: packed(
        folder / "a.mtx.gz", b"%%MatrixMarket matrix coordinate real general\n9 9 9\n", b"1 1 1\n"
    ),
    "npz": lambda folder: zipped_zeros(folder / "a.npz"),
}
CHILD = """
    import resource, sys
    import kernreg as kr
    from kernreg.errors import KernregError
    from kernreg.io import read_samples
    kr.set_config(memory={budget})
    for warm in sys.argv[2:]:
        read_samples(warm)  # what reading imports is not counted
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        read_samples(sys.argv[1])
    except KernregError as error:
        print(type(error).__name__, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10)
"""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_fills_the_memory(name, tmp_path):
    path = BOMBS[name](tmp_path)
    warm = tmp_path / "warm.svm"
    warm.write_text("1 1:1\n0 2:1\n")
    assert path.stat().st_size < FAR / 50
    code = textwrap.dedent(CHILD).format(budget=BUDGET)
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(warm)], capture_output=True, text=True, timeout=300
    )
    error, grown = done.stdout.split() if done.returncode == 0 else (done.stderr, 0)
    assert error in ("MemoryBudgetError", "DataError"), error
    assert int(grown) < 3 * BUDGET  # the whole would be more than four times


def test_the_message_says_what_to_do(tmp_path):
    path = packed(tmp_path / "a.csv.gz", b"x,y\n", b"1,2\n")
    with kr.config_context(memory=BUDGET), pytest.raises(MemoryBudgetError, match=r"a\.csv\.gz .* KERNREG_MEMORY"):
        read_samples(path)
    path.write_bytes(gzip.compress(b"x,y\n1,2\n"))
    assert read_samples(path).X.tolist() == [[1.0, 2.0]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("suffix", ["csv", "npz", "npy", "svm", "edges", "mtx", "csv.gz"])
def test_a_pipe_is_refused_at_once(suffix, tmp_path):
    os.mkfifo(tmp_path / f"pipe.{suffix}")
    with pytest.raises(DataError, match="an ordinary file is needed"):
        read_samples(tmp_path / f"pipe.{suffix}")


@pytest.mark.parametrize("shape", [(-1, 3), (3, -1), (-2, -2), (10**20, 0), (True, 2)])
def test_an_array_of_a_length_that_no_array_has_is_refused(shape, tmp_path):
    with open(tmp_path / "a.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
        file.write(bytes(100))
    with pytest.raises(DataError, match="its shape is"):
        read_samples(tmp_path / "a.npy")


def test_arrays_are_read_as_numpy_reads_them(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.savez_compressed(tmp_path / "a.npz", X=np.asfortranarray(X), y=np.arange(4))
    samples = read_samples(tmp_path / "a.npz")
    np.testing.assert_array_equal(samples.X, X)
    np.save(tmp_path / "a.npy", X.astype(">f4"))
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").X, X)
