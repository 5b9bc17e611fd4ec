"""Kernels made of kernels at random: however one asks, the numbers are the same; and what a kernel holds is its own."""

from __future__ import annotations

import functools
import importlib.util
import pickle
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from torture.attack import Attack, Case, Outcome
from torture.samples import changed
from torture.trees import LEAVES, Tree, Values, grown, holds

#: Combinations of one kernel: a name and its parameters.
ONE = (
    *(["scale", {"factor": 0.7}], ["scale", {"factor": -2.0}], ["power", {"exponent": 2}], ["transpose", {}]),
    *(["symmetrize", {"how": how}] for how in ("mean", "left", "right")),
    *(["spectrum", {"method": method}] for method in ("clip", "flip", "shift", "square")),
    *(["centered", {}], ["transpose", {}], ["centered", {}]),
)
#: Of the first samples, the second ones and the reference set.
DTYPES = (
    *[["float64"] * 3] * 4,
    *[["float32"] * 3] * 4,
    *(
        list(mixed)
        for mixed in (
            ("float32", "float64", "float32"),
            ("float64", "float64", "float32"),
            ("float64", "float32", "float32"),
            ("float32", "float32", "float64"),
        )
    ),
)
EXPONENTS = (*[0] * 12, -30, -21, -12, -6, 6, 12, 20, 30)
SOURCES = (
    "memmap",
    "npy",
    *(name for name in ("parquet", "zarr") if importlib.util.find_spec({"parquet": "pyarrow"}.get(name, name))),
)

FINITE = float(np.finfo(np.float32).max)


def tree(rng: Random, depth: int) -> Any:
    """A random tree: a leaf, or [name, parameters, kernels …]."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(list(LEAVES))
    if rng.random() < 0.4:
        return [rng.choice(["add", "multiply"]), {}, tree(rng, depth - 1), tree(rng, depth - 1)]
    name, params = rng.choice(ONE)
    return [name, params, tree(rng, depth - 1)]


def tree_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {
            "tree": tree(rng, rng.choice([0, 1, 1, 2, 2, 3, 4])),
            "bound": rng.random() < 0.7,
            "reference": rng.choice([2, 5, 12]),
            "before": rng.choice([0, 0, 1, 4]),
            "after": rng.choice([0, 0, 3]),
            "columns": rng.choice(["none", "reference", "same", "part", "other"]),
            "block": rng.choice([1, 2, 5, 100]),
            "dtypes": rng.choice(DTYPES),
            "sparse": [rng.random() < 0.5 for _ in range(3)] if rng.random() < 0.3 else [False] * 3,
            "exponent": rng.choice(EXPONENTS),
            "source": rng.choice(SOURCES),
            "seed": rng.randrange(10**6),
        }


def smaller_trees(case: Case) -> Iterator[Case]:
    """A part of the tree in its place, then smaller sets."""

    def less(node: Any) -> Iterator[Any]:
        if isinstance(node, str):
            return
        yield from node[2:]
        for number in range(2, len(node)):
            for part in less(node[number]):
                yield [*node[:number], part, *node[number + 1 :]]

    yield from (case | {"tree": part} for part in less(case["tree"]))
    plain = {"before": 0, "after": 0, "reference": 2, "columns": "none", "block": 1, "exponent": 0, "source": "memmap"}
    for key, value in (plain | {"dtypes": ["float64"] * 3, "sparse": [False] * 3}).items():
        if case[key] != value:
            yield case | {key: value}


def run_tree(case: Case) -> Outcome:
    from kernreg.errors import AsymmetryError, KernregError

    X, Z, R, numbers = tree_samples(case)
    factor = 10.0 ** case["exponent"]
    kernel = grown(case["tree"], factor)
    single = X.dtype == np.float32 and (X if Z is None else Z).dtype == np.float32
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            k = kernel.bind(R) if case["bound"] else kernel
            K = k(X, Z)
        except AsymmetryError:
            return 0  # only symmetric kernels have eigenvalues to correct
        except KernregError as error:
            return 0 if str(error) else f"refusal: {error!r}"
        x, z, r = numbers
        # What a feature map makes of float32 samples is float32, too.
        coarse = single or ("float32" in case["dtypes"] and holds(case["tree"], "compose", "compose median"))
        tree = Tree(factor, *((1e-5, 1e-6) if coarse else (1e-11, 1e-14)))
        exact = tree.values(case["tree"], x, x if z is None else z, r if case["bound"] else None)
    if K.dtype != (np.float32 if single else np.float64):
        return f"dtype: {K.dtype} of samples of {X.dtype} and {'the same' if Z is None else Z.dtype}"
    if not np.isfinite(exact.error):  # the matrix is the measure of the others
        if not np.isfinite(K).all():
            return 0
        loose = (3e-2 if coarse else 1e-6) * max(float(np.abs(K).max(initial=0.0)), tree.largest)
        exact = Values(K.astype(np.longdouble), loose)
    wrong = judged_ways(k, X, Z, R, exact, case, single)
    if wrong:
        return wrong
    import kernreg as kr

    if not holds(case["tree"], "compose", "compose median") and kr.make_kernel(repr(kernel)) != kernel:
        return "spec: a kernel made of its repr is another one"
    return None


def tree_samples(case: Case) -> tuple[Any, Any, Any, tuple[Any, Any, Any]]:
    """First and second samples and the reference set, and the numbers that they hold in long double."""
    rng = np.random.default_rng(case["seed"])
    factor = 10.0 ** case["exponent"]

    def some(count: int) -> np.ndarray:
        drawn = rng.normal(size=(count, 3)) * (rng.random((count, 3)) < (0.6 if any(case["sparse"]) else 1.0))
        return (drawn * factor).astype(np.float32).astype(np.float64)  # one number in all dtypes

    R = some(case["reference"])
    X = np.vstack([some(case["before"]), R, some(case["after"])])
    Z = {"none": None, "reference": R, "same": X.copy(), "part": X[1:], "other": some(6)}[case["columns"]]
    given = [
        None if side is None else (csr_array if sparse else np.array)(side.astype(dtype))
        for side, dtype, sparse in zip((X, Z, R), case["dtypes"], case["sparse"], strict=True)
    ]
    exact = tuple(None if side is None else side.astype(np.longdouble) for side in (X, Z, R))
    return (*given, exact)


def judged_ways(k: Any, X: Any, Z: Any, R: Any, exact: Values, case: Case, single: bool) -> Outcome:
    from kernreg.errors import RangeWarning

    with tempfile.TemporaryDirectory() as folder:
        ways = all_ways(k, X, Z, R, case, Path(folder))
        for name, way in ways.items():
            with warnings.catch_warnings(record=True) as heard, np.errstate(all="ignore"):
                warnings.simplefilter("always")
                values, rows = way()
            if any(issubclass(warning.category, RangeWarning) for warning in heard):
                if name == "call":
                    return None  # told
                continue
            if single and exact.size > FINITE and not np.isfinite(values).all():
                continue  # products say nothing, and show it
            expected = exact.exact[rows]
            if name == "diagonal":
                expected = expected.diagonal()
            if values.shape != expected.shape:
                return f"shape: {name} gives {values.shape}, not {expected.shape}"
            error = float(np.abs(values - expected).max(initial=0.0))
            if not error <= exact.error:
                return f"{name}: off by {error:.3g} of {exact.size:.3g}, {exact.error:.3g} allowed"
    return None


def all_ways(k: Any, X: Any, Z: Any, R: Any, case: Case, folder: Path) -> dict[str, Any]:
    """Ways to the matrix by name, each a function that returns values and the rows that they are."""
    n, columns = X.shape[0], (X if Z is None else Z)
    m = columns.shape[0]
    dtype = np.float32 if X.dtype == np.float32 and columns.dtype == np.float32 else np.float64
    every = slice(None)
    rng = np.random.default_rng(case["seed"])
    start = int(rng.integers(n))
    stop = int(rng.integers(start, n)) + 1
    ways: dict[str, Any] = {
        "call": lambda: (k(X, Z), every),
        "out": lambda: (k(X, Z, out=np.full((n, m), np.nan, dtype=dtype)), every),
        "out in columns": lambda: (k(X, Z, out=np.full((m, n), np.nan, dtype=dtype).T), every),
        "blocks": lambda: (in_blocks(k, X, Z, case["block"]), every),
        "rows": lambda: (k.rows(X, Z, start, stop), slice(start, stop)),
        "first rows": lambda: (k.rows(X, Z, 0, start), slice(0, start)),
        "operator": lambda: (k.operator(X, Z) @ np.eye(m, dtype=dtype), every),
        "adjoint": lambda: ((k.operator(X, Z).T @ np.eye(n, dtype=dtype)).T, every),
        "map_rows": lambda: (k.map_rows(X, Z, copied_block), every),
        "map_rows added": lambda: (k.map_rows(X, Z, placed_block, "add", args=(n,)), every),
        "pickle": lambda: (pickle.loads(pickle.dumps(k))(X, Z), every),
        "saved": lambda: (saved(k, folder)(X, Z), every),
        "set_params": lambda: (k.set_params()(X, Z), every),
    }
    if case["bound"] or Z is None:
        ways["product"] = lambda: (k.product(X, columns, np.eye(m, dtype=dtype)), every)
    if isinstance(X, np.ndarray):
        ways["overlapping out"] = lambda: (overlapping(k, X, Z, dtype), every)
        ways["source"] = lambda: (k(source(X, case["source"], folder), Z), every)
        ways["product of a source"] = lambda: (
            k.product(source(X, case["source"], folder), columns, np.eye(m, dtype=dtype)),
            every,
        )
        ways["reference on disk"] = lambda: (
            (k.bind(source(R, case["source"], folder)) if case["bound"] and isinstance(R, np.ndarray) else k)(X, Z),
            every,
        )
        if Z is None:
            ways["product of a source"] = ways["product"]
    if case["bound"]:
        ways["transposed"] = lambda: (k.T(columns, X).T, every)
        ways["pairs"] = lambda: (np.array([[k(X[[i]], columns[[j]])[0, 0] for j in range(m)] for i in range(n)]), every)
    if Z is None:
        ways["diagonal"] = lambda: (k.diagonal(X), every)
    return ways


def in_blocks(k: Any, X: Any, Z: Any, block_rows: int) -> np.ndarray:
    return np.vstack([block.copy() for _, block in k.blocks(X, Z, block_rows=block_rows)])


def copied_block(rows: slice, block: np.ndarray) -> np.ndarray:
    return block.copy()


def placed_block(rows: slice, block: np.ndarray, n: int) -> np.ndarray:
    placed = np.zeros((n, block.shape[1]), dtype=block.dtype)
    placed[rows] = block
    return placed


def saved(k: Any, folder: Path) -> Any:
    import kernreg as kr
    from kernreg.errors import KernregError

    try:
        kr.save(k, folder / "k.kern")
    except KernregError:
        return k  # feature maps are no part of a file
    return kr.load(folder / "k.kern")


def overlapping(k: Any, X: np.ndarray, Z: Any, dtype: Any) -> np.ndarray:
    """The matrix, written over the samples."""
    n, m = X.shape[0], (X if Z is None else Z).shape[0]
    room = np.zeros((n, max(m, X.shape[1])), dtype=X.dtype)
    room[:, : X.shape[1]] = X
    if X.dtype != dtype:
        return k(X, Z)
    return k(room[:, : X.shape[1]], Z, out=room[:, :m])


def source(X: np.ndarray, kind: str, folder: Path) -> Any:
    """The samples on disk."""
    from kernreg.io import open_samples

    path = folder / f"X-{len(list(folder.iterdir()))}.{kind}"
    if kind == "zarr":
        import zarr

        zarr.save_array(str(path), X)
    elif kind == "parquet":
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({f"x{number}": column for number, column in enumerate(X.T)})
        pyarrow.parquet.write_table(table, path, row_group_size=3)
    elif kind == "npy":
        np.save(path, X)
    else:
        mapped = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape)
        mapped[...] = X
        return open_samples(mapped)
    return open_samples(path)


# What a kernel holds ----------------------------------------------------------------------------------------


def ownership_cases(rng: Random) -> Iterator[Case]:
    while True:
        for name in kernel_names():
            yield {
                "kernel": name,
                "n": rng.choice([4, 9]),
                "what": rng.choice(["construct", "bind", "samples"]),
                "seed": rng.randrange(10**6),
            }


@functools.cache
def kernel_names() -> tuple[str, ...]:
    from kernreg.registry import get_registry

    return tuple(sorted({entry.name for entry in get_registry("kernel").entries()}))


def run_ownership(case: Case) -> Outcome:
    import copy

    from kernreg.registry import get_registry
    from kernreg.testing.kernel_case import KernelCase

    family = get_registry("kernel").get(case["kernel"])
    drawn = KernelCase(family, seed=case["seed"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel, X = drawn.draw(case["n"])
        kept = copy.deepcopy(X)
        if case["what"] == "construct":
            given = {name: writable(value) for name, value in kernel.get_params(deep=False).items()}
            made = family(**given)
            expected, key = np.array(made(kept)), hash(made)
            for value in given.values():
                changed(value)
            found = made(kept)
            if hash(made) != key or made != family(**kernel.get_params(deep=False)):
                return "alias: a kernel is another one after an array it was made of has changed"
        elif case["what"] == "bind":
            made = kernel.bind(X)
            expected = np.array(made(kept))
            changed(X)
            found = made(kept)
        else:
            first = kernel(X)
            expected = first.copy()
            changed(X)
            found = first
    return None if np.array_equal(found, expected) else f"alias: values follow the caller's arrays ({case['what']})"


def writable(value: Any) -> Any:
    """A copy of an array, which the caller may change; anything else as it is."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    return value.copy() if hasattr(value, "tocsr") else value


ATTACKS = [
    Attack(
        "kernel-trees",
        "random trees of combinations, bound or not, X containing the reference set; float32, sparse, mixed, on disk, "
        "of sizes from 1e-30 to 1e30: every way to the matrix equals the tree in long double",
        tree_cases,
        run_tree,
        full=6000,
        ci=100,
        minutes=4.0,
        shrink=smaller_trees,
    ),
    Attack(
        "kernel-inputs",
        "arrays that a kernel was made of, bound to or evaluated on change afterwards: no value follows",
        ownership_cases,
        run_ownership,
        full=1500,
        ci=64,
        minutes=1.0,
    ),
]
