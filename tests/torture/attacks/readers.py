"""Files of samples from anybody: bombs, pipes, lies about sizes, damage. Right samples or a clear error come of it."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from torture.attack import Attack, Case, Outcome

BUDGET = 64 << 20  # bytes a reader may take
FAR = 4 * BUDGET  # what bombs unpack to
ROWS, COLUMNS = 12, 3
TEXTS = ("a.csv", "a.tsv", "a.csv.gz", "a.svm", "a.edges", "a.mtx")
ARRAYS = ("a.npy", "fortran.npy", "a.npz", "sparse.npz")
TABLES = ("a.parquet", "a.arrow")
FILES = (*TEXTS, *ARRAYS, *TABLES, "a.zarr", "parts")


def numbers() -> Any:
    """The samples that every undamaged file holds."""
    import numpy as np

    return np.arange(1.0, ROWS * COLUMNS + 1).reshape(ROWS, COLUMNS)


@cache
def originals() -> dict[str, bytes]:
    """The bytes of a sound file of every format; of those that are folders, none."""
    import numpy as np
    import pyarrow
    import pyarrow.parquet
    import scipy.sparse as sp

    X = numbers()
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    csv = "\n".join(["x,y,z", *lines]) + "\n"
    table = pyarrow.table({name: X[:, i] for i, name in enumerate("xyz")})

    def written(write: Callable[[io.BytesIO], Any]) -> bytes:
        file = io.BytesIO()
        write(file)
        return file.getvalue()

    def arrow(file: io.BytesIO) -> None:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)

    sparse = sp.csr_array(X)
    entries = [f"{i + 1} {j + 1} {float(X[i, j])!r}" for i in range(ROWS) for j in range(COLUMNS)]
    market = "%%MatrixMarket matrix coordinate real general\n" + f"{ROWS} {COLUMNS} {len(entries)}\n"
    return {
        "a.csv": csv.encode(),
        "a.tsv": csv.replace(",", "\t").encode(),
        "a.csv.gz": gzip.compress(csv.encode()),
        "a.svm": "".join(f"1 {' '.join(f'{j + 1}:{v!r}' for j, v in enumerate(row))}\n" for row in X.tolist()).encode(),
        "a.edges": "".join(f"{i} {(i + 1) % 5} {i + 1}.5\n" for i in range(5)).encode(),
        "a.mtx": (market + "\n".join(entries) + "\n").encode(),
        "a.npy": written(lambda file: np.save(file, X)),
        "fortran.npy": written(lambda file: np.save(file, np.asfortranarray(X))),
        "a.npz": written(lambda file: np.savez(file, X=X)),
        "sparse.npz": written(lambda file: sp.save_npz(file, sparse)),
        "a.parquet": written(lambda file: pyarrow.parquet.write_table(table, file)),
        "a.arrow": written(arrow),
    }


def placed(folder: Path, name: str) -> Path:
    """Write a sound file, and return its path."""
    path = folder / name
    if name == "a.zarr":
        import zarr

        array = zarr.create_array(str(path), shape=(ROWS, COLUMNS), chunks=(5, COLUMNS), dtype="f8")
        array[:] = numbers()
    elif name == "parts":
        path.mkdir()
        for number in range(3):
            (path / f"{number}.npz").write_bytes(originals()["a.npz"])
    else:
        path.write_bytes(originals()[name])
    return path


# Tricks: each writes a file in the place of a sound one, and returns its path -----------------------------------


def none(folder: Path, name: str, rng: Random) -> Path:
    return placed(folder, name)


def flips(folder: Path, name: str, rng: Random) -> Path:
    return _changed(folder, name, lambda data: _flipped(data, rng))


def cut(folder: Path, name: str, rng: Random) -> Path:
    return _changed(folder, name, lambda data: data[: rng.randrange(len(data) + 1)])


def doubled(folder: Path, name: str, rng: Random) -> Path:
    def twice(data: bytes) -> bytes:
        a, b = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        return data[:b] + data[a:b] * rng.choice((1, 3, 50)) + data[b:]

    return _changed(folder, name, twice)


def text_noise(folder: Path, name: str, rng: Random) -> Path:
    words = [
        b"nan",
        b"inf",
        b"1e999",
        b"-",
        b'"',
        b",",
        b"\n",
        b"\r",
        b"\0",
        b"\xff",
        b"9" * 400,
        b":",
        b"%",
        b" ",
        b"0",
    ]

    def noisy(data: bytes) -> bytes:
        for _ in range(rng.choice((1, 2, 5))):
            place = rng.randrange(len(data) + 1)
            data = data[:place] + rng.choice(words) + data[place + rng.choice((0, 0, 1, 4)) :]
        return data

    return _changed(folder, name, noisy)


def _flipped(data: bytes, rng: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20)) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _changed(folder: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    path = placed(folder, name)
    inside = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    chosen = inside[len(inside) // 2] if len(inside) > 1 else inside[0]
    data = chosen.read_bytes()
    packed = chosen.suffix == ".gz"
    chosen.write_bytes(gzip.compress(change(gzip.decompress(data))) if packed else change(data))
    return path


def empty(folder: Path, name: str, rng: Random) -> Path:
    path = folder / name
    path.mkdir() if name in ("a.zarr", "parts") else path.write_bytes(b"")
    return path


def pipe(folder: Path, name: str, rng: Random) -> Path:
    os.mkfifo(folder / name)
    return folder / name


def pipe_inside(folder: Path, name: str, rng: Random) -> Path:
    """A folder of files, one of which is a pipe."""
    (folder / "inside").mkdir()
    for number in range(2):
        kept = placed(folder / "inside", name)
        kept.rename(kept.with_name(f"{number}{kept.suffix}"))
    os.mkfifo(folder / "inside" / f"2{Path(name).suffix}")
    return folder / "inside"


def endless(folder: Path, name: str, rng: Random) -> Path:
    (folder / name).symlink_to("/dev/zero")
    return folder / name


def circle(folder: Path, name: str, rng: Random) -> Path:
    (folder / name).symlink_to(folder / name)
    return folder / name


def directory(folder: Path, name: str, rng: Random) -> Path:
    (folder / name).mkdir()
    return folder / name


def bomb(folder: Path, name: str, rng: Random) -> Path:
    """Few bytes that stand for many."""
    return BOMBS[name](folder / name)


def _packed(path: Path, first: bytes, line: bytes) -> Path:
    chunk = line * (1 + (1 << 20) // len(line))
    with gzip.open(path.with_name(path.name.removesuffix(".gz") + ".gz"), "wb", compresslevel=1) as file:
        file.write(first)
        for _ in range(FAR // len(chunk)):
            file.write(chunk)
    return path.with_name(path.name.removesuffix(".gz") + ".gz")


def _header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    import numpy as np

    header = io.BytesIO()
    np.lib.format.write_array_header_2_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
    return header.getvalue()


def _zipped(path: Path, members: dict[str, tuple[tuple[int, ...], int]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, (shape, size) in members.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(_header(shape))
                for _ in range(size >> 20):
                    member.write(bytes(1 << 20))
                member.write(bytes(size & ((1 << 20) - 1)))
    return path


def _zipped_sparse(path: Path) -> Path:
    return _zipped(path, dict.fromkeys(("data", "indices", "indptr", "shape"), ((FAR // 8,), FAR)))


def _zipped_targets(path: Path) -> Path:
    path.mkdir()
    _zipped(path / "0.npz", {"X": ((4, 2), 64), "y": ((FAR // 8,), FAR)})
    return path


def _parquet(path: Path) -> Path:
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    with pyarrow.parquet.ParquetWriter(path, pyarrow.schema([("x", pyarrow.float64())])) as writer:
        for _ in range(FAR >> 23):
            writer.write_table(pyarrow.table({"x": np.zeros(1 << 20)}))
    return path


def _arrow(path: Path) -> Path:
    import numpy as np
    import pyarrow

    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_file(str(path), pyarrow.schema([("x", pyarrow.float64())]), options=options) as writer:
        writer.write_batch(pyarrow.record_batch({"x": np.zeros(FAR >> 3)}))
    return path


def _zarr(path: Path) -> Path:
    placed(path.parent, path.name)
    meta = json.loads((path / "zarr.json").read_text())
    meta["shape"] = [10**11, COLUMNS]
    meta["chunk_grid"]["configuration"]["chunk_shape"] = [10**9, COLUMNS]
    (path / "zarr.json").write_text(json.dumps(meta))
    return path


BOMBS: dict[str, Callable[[Path], Path]] = {
    "a.csv": lambda path: _packed(path, b"x,y\n", b"1,2\n"),
    "a.csv.gz": lambda path: _packed(path, b"", b"1,"),
    "a.tsv": lambda path: _packed(path, b'x\ty\n1\t"', b"aaaaaaaaaaaaaaaaaaaaaaaa\n"),
    "a.svm": lambda path: _packed(path, b"", b"1 1:1\n"),
    "a.edges": lambda path: _packed(path, b"", b"1 2\n"),
    "a.mtx": lambda path: _packed(path, b"%%MatrixMarket matrix coordinate real general\n9 9 9\n", b"1 1 1\n"),
    "a.npz": lambda path: _zipped(path, {"X": ((FAR // 64, 8), FAR)}),
    "sparse.npz": _zipped_sparse,
    "parts": _zipped_targets,
    "a.parquet": _parquet,
    "a.arrow": _arrow,
    "a.zarr": _zarr,
}


def lie(folder: Path, name: str, rng: Random) -> Path:
    """A header that says more, or less, than is there."""
    path, shape = (
        folder / name,
        rng.choice(((10**13, 8), (-1, 3), (2**62, 2**62), (0, 0), (12, 10**15), (3,), (2, 2, 2))),
    )
    if name.endswith(".npy"):
        path.write_bytes(_header(shape) + bytes(200))
    elif name == "a.npz":
        _zipped(path, {"X": (shape, 200)})
    elif name == "sparse.npz":
        _zipped(path, dict.fromkeys(("data", "indices", "indptr", "shape"), (shape, 200)))
    elif name == "a.mtx":
        size = " ".join(map(str, (*shape, 3)[:3]))
        form = rng.choice(("coordinate", "array"))
        path.write_text(f"%%MatrixMarket matrix {form} real general\n{size}\n1 1 1\n")
    elif name == "a.svm":
        path.write_text(f"1 {abs(shape[0])}:1\n1 {rng.choice((2**31, 2**33, 10**30, -1))}:1\n")
    elif name == "a.edges":
        path.write_text(f"{abs(shape[0])} {rng.choice((10**9, 10**17, 10**30))}\n")
    elif name == "a.zarr":
        placed(folder, name)
        meta = json.loads((path / "zarr.json").read_text())
        meta["shape"] = list(shape)
        (path / "zarr.json").write_text(json.dumps(meta))
    else:
        return placed(folder, name)
    return path


TRICKS: dict[str, tuple[Callable[[Path, str, Random], Path], tuple[str, ...]]] = {
    "none": (none, FILES),
    "empty": (empty, FILES),
    "pipe": (pipe, FILES),
    "pipe inside": (pipe_inside, ("a.npz", "sparse.npz", "a.parquet", "a.arrow")),
    "endless": (endless, FILES),
    "circle": (circle, FILES),
    "directory": (directory, (*TEXTS, *ARRAYS, *TABLES)),
    "bomb": (bomb, tuple(BOMBS)),
    "lie": (lie, (*ARRAYS, "a.mtx", "a.svm", "a.edges", "a.zarr")),
    "flips": (flips, FILES),
    "cut": (cut, FILES),
    "doubled": (doubled, FILES),
    "noise": (text_noise, FILES),
}
RANDOM = ("lie", "flips", "cut", "doubled", "noise")


def cases(rng: Random) -> Iterator[Case]:
    """Every trick on every format and reader once, then random damage for ever."""
    grid = [
        {"reader": reader, "file": name, "trick": trick, "seed": rng.randrange(2**31)}
        for trick, (_, names) in TRICKS.items()
        for name in names
        for reader in ("read", "open")
    ]
    rng.shuffle(grid)
    yield from grid
    for number in itertools.count():
        trick = RANDOM[number % len(RANDOM)]
        names = TRICKS[trick][1]
        yield {
            "reader": rng.choice(("read", "open")),
            "file": rng.choice(names),
            "trick": trick,
            "seed": rng.randrange(2**31),
        }


def run(case: Case) -> Outcome:
    import numpy as np

    import kernreg as kr
    from kernreg.errors import KernregError

    import_all()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = TRICKS[case["trick"]][0](Path(folder), case["file"], Random(case["seed"]))
        try:
            with kr.config_context(memory=BUDGET):
                X = read_all(path, case["reader"])
        except KernregError as error:
            if case["trick"] == "none" and "suffix" not in str(error) and "is a folder" not in str(error):
                return f"refused: {error}"
            return None if "\n" not in str(error).strip() and len(str(error)) < 5000 else f"message: {error}"
        if case["trick"] == "none" and case["file"] != "a.edges":
            wanted = np.concatenate([numbers()] * (3 if case["file"] == "parts" else 1))
            return None if np.array_equal(X, wanted) else "wrong: other values than in the file"
        if X.ndim != 2 or not (np.all(np.isfinite(X)) or (case["reader"] == "open" and is_refused_by_kernels(X))):
            return f"wrong: an array of shape {X.shape}, or with values that are not finite"
    return None


def is_refused_by_kernels(X: Any) -> bool:
    """Whether kernels say no to values; rows of a file that is opened meet a check there at the latest."""
    import kernreg as kr
    from kernreg.errors import KernregError

    try:
        kr.make_kernel("linear")(X)
    except KernregError:
        return True
    return False


def read_all(path: Path, reader: str) -> Any:
    """Return all samples of a file, dense, read at once or some rows at a time."""
    import numpy as np

    from kernreg.io import open_samples, read_samples

    if reader == "read":
        X = read_samples(path).X
    else:
        source = open_samples(path)
        if source.shape[0] > 10**6:
            source[0:10]
            source[source.shape[0] - 10 : source.shape[0]]
            return np.zeros((1, 1))
        parts = [source[start : start + 5] for start in range(0, source.shape[0], 5)]
        X = np.concatenate(
            [part.toarray() if hasattr(part, "toarray") else part for part in parts] or [np.empty((0, 1))]
        )
    if hasattr(X, "toarray"):
        return X.toarray() if X.shape[0] * X.shape[1] < 10**6 else np.asarray(X.data).reshape(1, -1)
    return X


@cache
def import_all() -> None:
    """Import what readers import when they are first asked."""
    import pandas  # noqa: F401  see above
    import zarr  # noqa: F401  see above

    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            for reader in ("read", "open"):
                try:
                    read_all(placed(Path(tempfile.mkdtemp(dir=folder)), name), reader)
                except ValueError:
                    continue


ATTACKS = [
    Attack(
        "readers",
        "every reader of samples, at once and some rows at a time, under bombs, pipes, endless devices, lying headers "
        "and damage, with a memory budget of 64 MiB: right samples or a clear error",
        cases,
        run,
        full=4000,
        ci=280,
        minutes=4,
        seconds=600,
        cpu=20,
        memory=4 << 30,  # of addresses: pyarrow, zarr and their threads, imported later, take more than 1 GiB of them
    )
]
