"""Kernels made of kernels at random: however one asks, the numbers are the same; and what a kernel holds is its own."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from torture.attack import Attack, Case, Outcome
from torture.samples import changed

LEAVES = (
    *(
        "rbf(sigma=2.0)",
        "laplacian(sigma=3.0)",
        "linear()",
        "poly(degree=2)",
        "tanh(c=0.3)",
        "sne(sigma=2.0)",
        "t(sigma=1.5)",
    ),
    *("cauchy(sigma=2.0)", "tl1(rho=4.0)", "matern(sigma=2.0)", "rbf(sigma='median')", "sne(sigma='scale')"),
    *("shift-gauss(sigma=3.0)", "skew-laplace()", "rational-quadratic(sigma=2.0)", "local-rbf()"),
)
#: Combinations of one kernel: a name and its parameters.
ONE = (
    *(["scale", {"factor": 0.7}], ["scale", {"factor": -2.0}], ["power", {"exponent": 2}], ["transpose", {}]),
    *(["symmetrize", {"how": how}] for how in ("mean", "left", "right")),
    *(["spectrum", {"method": method}] for method in ("clip", "flip", "shift", "square")),
    *(["centered", {}], ["transpose", {}], ["centered", {}]),
)


def tree(rng: Random, depth: int) -> Any:
    """A random tree: a spec, or [name, parameters, kernels …]."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(LEAVES)
    if rng.random() < 0.4:
        return [rng.choice(["add", "multiply"]), {}, tree(rng, depth - 1), tree(rng, depth - 1)]
    name, params = rng.choice(ONE)
    return [name, params, tree(rng, depth - 1)]


def grown(node: Any) -> Any:
    """The kernel of a tree."""
    import kernreg as kr

    if isinstance(node, str):
        return kr.make_kernel(node)
    name, params, *parts = node
    kernels = [grown(part) for part in parts]
    names = ("left", "right") if len(kernels) == 2 else ("kernel",)
    return kr.make_kernel(name, **dict(zip(names, kernels, strict=True)), **params)


def tree_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {
            "tree": tree(rng, rng.choice([1, 2, 2, 3, 4])),
            "bound": rng.random() < 0.7,
            "reference": rng.choice([2, 5, 12]),
            "before": rng.choice([0, 0, 1, 4]),
            "after": rng.choice([0, 0, 3]),
            "columns": rng.choice(["none", "reference", "same", "part", "other"]),
            "block": rng.choice([1, 2, 5, 100]),
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
    for key, value in (("before", 0), ("after", 0), ("reference", 2), ("columns", "none"), ("block", 1)):
        if case[key] != value:
            yield case | {key: value}


def run_tree(case: Case) -> Outcome:
    from kernreg.errors import AsymmetryError, KernregError

    rng = np.random.default_rng(case["seed"])
    R = rng.normal(size=(case["reference"], 3))
    X = np.vstack([rng.normal(size=(case["before"], 3)), R, rng.normal(size=(case["after"], 3))])
    Z = {"none": None, "reference": R, "same": X.copy(), "part": X[1:], "other": rng.normal(size=(6, 3))}[
        case["columns"]
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        kernel = grown(case["tree"])
        try:
            k = kernel.bind(R) if case["bound"] else kernel
            K = k(X, Z)
        except AsymmetryError:
            return 0  # only symmetric kernels have eigenvalues to correct
        except KernregError as error:
            return 0 if str(error) else f"refusal: {error!r}"
        if not np.isfinite(K).all():
            return 0
        for name, values in ways(k, X, Z, K, case, rng):
            if values.shape != K.shape:
                return f"shape: {name} gives {values.shape}, the matrix is {K.shape}"
            error = float(np.abs(values - K).max(initial=0.0))
            if not error <= 1e-9 * max(float(np.abs(K).max(initial=0.0)), magnitude(k, X, Z)):
                return f"{name}: differs from the matrix by {error:.3g} of {np.abs(K).max():.3g}"
        exact = elementwise(case["tree"], X, X if Z is None else Z)
        if exact is not None:
            error = float(np.abs(exact - K).max(initial=0.0))
            if not error <= 1e-10 * max(float(np.abs(exact).max(initial=0.0)), 1.0):
                return f"formula: differs from the formula of the tree by {error:.3g}"
    return None


def magnitude(k: Any, X: Any, Z: Any) -> float:
    """The size of what cancels in differences: centred kernels are small differences of large numbers."""
    parts = [k]
    largest = 1.0
    while parts:
        part = parts.pop()
        parts += list(getattr(part, "parts", ()))
        inner = getattr(part, "kernel", None)
        if hasattr(inner, "bind"):
            parts.append(inner)
        try:
            largest = max(largest, float(np.abs(part(X, Z)).max(initial=0.0)))
        except Exception:  # a part that takes other samples
            continue
    return largest


def ways(k: Any, X: Any, Z: Any, K: np.ndarray, case: Case, rng: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Every other way to the matrix."""
    out = np.full_like(K, np.nan)
    yield "out", k(X, Z, out=out)
    blocks = np.full_like(K, np.nan)
    for rows, block in k.blocks(X, Z, block_rows=case["block"]):
        blocks[rows] = block
    yield "blocks", blocks
    n = len(X)
    start = int(rng.integers(n))
    stop = int(rng.integers(start, n)) + 1
    middle = k.rows(X, Z, start, stop)
    yield "rows", np.vstack([k.rows(X, Z, 0, start), middle, k.rows(X, Z, stop, n)])
    operator = k.operator(X, Z)
    yield "operator", operator @ np.eye(K.shape[1])
    yield "operator transposed", (operator.T @ np.eye(K.shape[0])).T
    yield "product", k.product(X, X if Z is None else Z, np.eye(K.shape[1])) if case["bound"] or Z is not None else K
    if case["bound"]:
        yield "pairs", np.array([[k(x[None], z[None])[0, 0] for z in (X if Z is None else Z)] for x in X])
        yield "transposed", k.T(X if Z is None else Z, X).T
    if Z is None:
        yield "diagonal", np.where(np.eye(n, dtype=bool), k.diagonal(X)[:, None], K)


def elementwise(node: Any, X: np.ndarray, Z: np.ndarray) -> np.ndarray | None:
    """The values of a tree by numpy from those of its leaves, None where anything in it takes a reference set."""
    import kernreg as kr

    if isinstance(node, str):
        if node.startswith(("sne", "t(", "local")) or "'" in node:
            return None
        k = kr.make_kernel(node)
        return np.array([[k.scalar(x, z) for z in Z] for x in X])
    name, params, *parts = node
    if name in ("transpose", "symmetrize"):
        forward, backward = elementwise(parts[0], X, Z), elementwise(parts[0], Z, X)
        if forward is None or backward is None or params.get("how", "mean") != "mean":
            return None
        return backward.T if name == "transpose" else (forward + backward.T) / 2
    values = [elementwise(part, X, Z) for part in parts]
    if any(value is None for value in values):
        return None
    combine = {
        "add": lambda a, b: a + b,
        "multiply": lambda a, b: a * b,
        "scale": lambda a: params["factor"] * a,
        "power": lambda a: a ** params["exponent"],
    }
    return combine[name](*values) if name in combine else None


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
        "random trees of combinations, bound or not, X containing the reference set: rows = blocks = operator = matrix",
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
