"""Kernels that somebody writes: random formulas, compiled as a plugin's are, against the same formula in long double.

The oracle carries a bound on the rounding error of every step, and so knows how far a value may be off.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from torture.attack import Attack, Case, Outcome

#: A formula: the name of a leaf, a number, or [operation, how it is written, arguments …].
Formula = Any

HEADER = """import math

import numpy as np

from kernreg import kernel
from kernreg.jit import exp, expm1, fabs, log, log1p, maximum, minimum, pow, sqrt, tanh

"""
PARAMETERS = "a=1.5, n=3, flag=True"
#: What statistics may be off by, relative to the sizes that they are made of: see docs/guide/kernels.md, "Accuracy".
STATISTIC = {"float64": 1e-13, "float32": 1e-5}
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24}
#: Bounds of the first order, and functions that are good to some units in the last place.
MARGIN = 8.0


@dataclass
class Bounded:
    """A number in long double, and a bound on the error of what a machine computes for it."""

    value: Any
    error: Any

    def rounded(self, unit: float, ulps: float = 1.0) -> Bounded:
        """Add what rounding the result does."""
        return Bounded(self.value, self.error + ulps * unit * np.abs(self.value))

    def __getitem__(self, place: Any) -> Bounded:
        return Bounded(self.value[place], self.error[place])


def _function(function: Callable[..., Any], slope: Callable[[Any], Any]) -> Callable[[Bounded], Bounded]:
    return lambda x: Bounded(function(x.value), x.error * slope(x.value))


def _product(x: Bounded, y: Bounded) -> Bounded:
    error = np.abs(x.value) * y.error + np.abs(y.value) * x.error + x.error * y.error
    return Bounded(x.value * y.value, error)


def _quotient(x: Bounded, y: Bounded) -> Bounded:  # x / (1 + |y|)
    below = 1 + np.abs(y.value)
    return Bounded(x.value / below, (x.error + y.error * np.abs(x.value) / below) / below)


def _one(_: Any) -> float:
    return 1.0


#: How an operation is written, and what it is.
UNARY: dict[str, tuple[tuple[str, ...], Callable[[Bounded], Bounded]]] = {
    "neg": (("-{0}",), _function(np.negative, _one)),
    "abs": (("abs({0})", "fabs({0})", "np.abs({0})", "math.fabs({0})"), _function(np.abs, _one)),
    "sqrt": (
        ("sqrt(0.25 + abs({0}))", "np.sqrt(0.25 + abs({0}))", "(0.25 + abs({0})) ** 0.5", "math.sqrt(0.25 + abs({0}))"),
        _function(lambda v: np.sqrt(0.25 + np.abs(v)), lambda v: 0.5 / np.sqrt(0.25 + np.abs(v))),
    ),
    "exp": (
        ("exp(-abs({0}))", "np.exp(-abs({0}))", "math.exp(-abs({0}))"),
        _function(lambda v: np.exp(-np.abs(v)), lambda v: np.exp(-np.abs(v))),
    ),
    "expm1": (("expm1(-abs({0}))",), _function(lambda v: np.expm1(-np.abs(v)), lambda v: np.exp(-np.abs(v)))),
    "log1p": (
        ("log1p(abs({0}))", "np.log1p(abs({0}))"),
        _function(lambda v: np.log1p(np.abs(v)), lambda v: 1 / (1 + np.abs(v))),
    ),
    "log": (
        ("log(0.5 + abs({0}))", "math.log(0.5 + abs({0}))"),
        _function(lambda v: np.log(0.5 + np.abs(v)), lambda v: 1 / (0.5 + np.abs(v))),
    ),
    "tanh": (("tanh({0})", "np.tanh({0})", "math.tanh({0})"), _function(np.tanh, lambda v: 1 - np.tanh(v) ** 2)),
    "square": (("{0} ** 2", "pow({0}, 2)"), _function(np.square, lambda v: 2 * np.abs(v))),
    "cube": (("{0} ** 3", "pow({0}, 3)"), _function(lambda v: v**3, lambda v: 3 * v**2)),
    "power": (
        ("(0.5 + abs({0})) ** 1.5", "pow(0.5 + abs({0}), 1.5)"),
        _function(lambda v: (0.5 + np.abs(v)) ** 1.5, lambda v: 1.5 * np.sqrt(0.5 + np.abs(v))),
    ),
    "root": (
        ("pow(0.5 + abs({0}), 1 / 3)", "(0.5 + abs({0})) ** (1 / 3)"),
        _function(
            lambda v: (0.5 + np.abs(v)) ** (np.longdouble(1) / 3),
            lambda v: (0.5 + np.abs(v)) ** (-np.longdouble(2) / 3) / 3,
        ),
    ),
    "inverse": (
        ("1 / (1 + abs({0}))", "1.0 / (1.0 + abs({0}))", "(1 + abs({0})) ** -1"),
        _function(lambda v: 1 / (1 + np.abs(v)), lambda v: 1 / (1 + np.abs(v)) ** 2),
    ),
    "switched": (("(0.5 * {0} if flag else {0})",), lambda x: Bounded(x.value * 0.5, x.error * 0.5)),
    "times n": (("n * {0}", "{0} * n"), lambda x: Bounded(3 * x.value, 3 * x.error)),
    "by n": (("{0} / n",), lambda x: Bounded(x.value / 3, x.error / 3)),
}
BINARY: dict[str, tuple[tuple[str, ...], Callable[[Bounded, Bounded], Bounded]]] = {
    "add": (("{0} + {1}",), lambda x, y: Bounded(x.value + y.value, x.error + y.error)),
    "subtract": (("{0} - {1}",), lambda x, y: Bounded(x.value - y.value, x.error + y.error)),
    "multiply": (("{0} * {1}",), _product),
    "divide": (("{0} / (1 + abs({1}))", "{0} / (1.0 + abs({1}))"), _quotient),
    "max": (
        ("max({0}, {1})", "maximum({0}, {1})", "({0} if {0} > {1} else {1})", "np.maximum({0}, {1})"),
        lambda x, y: Bounded(np.maximum(x.value, y.value), np.maximum(x.error, y.error)),
    ),
    "min": (
        ("min({0}, {1})", "minimum({0}, {1})", "({1} if {0} > {1} else {0})"),
        lambda x, y: Bounded(np.minimum(x.value, y.value), np.maximum(x.error, y.error)),
    ),
}
#: Numbers and parameters as they are written, and their values.
CONSTANTS = {
    "a": 1.5,
    "n": 3.0,
    "0.5": 0.5,
    "2": 2.0,
    "1e-3": 1e-3,
    "3.0": 3.0,
    "0.1": 0.1,
    "n / 2": 1.5,
    "n // 2": 1.0,
    "n % 2": 1.0,
    "2 ** n": 8.0,
    "n * n": 9.0,
    "a / n": 0.5,
    "a * a": 2.25,
    "(2 if flag else 0.5)": 2.0,
    "float(n)": 3.0,
    "int(a)": 1.0,
}
OF_PARAMETERS = ("switched", "times n", "by n")
OF = ("dot", "sqeuclidean", "l1", "term", "rows", "loop")


def formula(rng: Random, depth: int, leaves: tuple[str, ...], parameters: bool = True) -> Formula:
    """A random formula of some leaves; every branch ends at a leaf or a constant."""
    if depth == 0:
        numbers = sorted(name for name in CONSTANTS if parameters or (name[0].isdigit() and "n" not in name))
        return rng.choice(leaves) if rng.random() < 0.75 else rng.choice(numbers)
    table = UNARY if rng.random() < 0.55 else BINARY
    name = rng.choice(sorted(name for name in table if parameters or name not in OF_PARAMETERS))
    how = rng.choice(table[name][0])
    parts = 1 if table is UNARY else 2
    return [name, how, *(formula(rng, depth - 1, leaves, parameters) for _ in range(parts))]


def written(node: Formula, names: dict[str, str] | None = None) -> str:
    """A formula as Python, with other names for some leaves."""
    if isinstance(node, str):
        return (names or {}).get(node, node)
    return node[1].format(*(f"({written(part, names)})" for part in node[2:]))


def evaluated(node: Formula, leaves: dict[str, Bounded], unit: float) -> Bounded:
    """The value of a formula, with a bound on its error."""
    if isinstance(node, str):
        exact = np.longdouble(node) if node in ("1e-3", "0.1") else np.longdouble(CONSTANTS.get(node, 0.0))
        return leaves[node] if node in leaves else Bounded(exact, 2 * unit * abs(exact))
    parts = [evaluated(part, leaves, unit) for part in node[2:]]
    found = UNARY[node[0]][1](parts[0]) if len(parts) == 1 else BINARY[node[0]][1](*parts)
    return found.rounded(unit, 4.0)


# Kernels ----------------------------------------------------------------------------------------------------

_OF_ROWS = {
    "np.dot(x, y)": lambda x, z: (x * z).sum(-1),
    "np.abs(x - y).sum()": lambda x, z: np.abs(x - z).sum(-1),
    "np.minimum(x, y).sum()": lambda x, z: np.minimum(x, z).sum(-1),
    "((x - y) ** 2).sum()": lambda x, z: ((x - z) ** 2).sum(-1),
    "(x * x).sum() - y.max()": lambda x, z: (x * x + 0 * z).sum(-1) - (z + 0 * x).max(-1),
}


def source(case: Case) -> str:
    """The module of a plugin."""
    of, statistic = case["of"], case["statistic"]
    lines = []
    if of == "term":
        lines += ["def term(x, y):", f"    return {written(statistic)}", "", "", "@kernel(of=term)"]
    else:
        lines += [f'@kernel(of="{"rows" if of == "loop" else of}", symmetric={case["symmetric"]})']
    seen = "x, y" if of in ("rows", "loop") else "s"
    lines += [f"def kernel_of_a_stranger({seen}, {PARAMETERS}):", '    """A formula."""']
    if of == "rows":
        lines += [f"    s = {statistic}"]
    elif of == "loop":
        term = written(statistic, {"x": "x[d]", "y": "y[d]"})
        lines += ["    s = 0.0", "    for d in range(len(x)):", f"        s += {term}"]
    return "\n".join([HEADER, *lines, f"    return {written(case['formula'])}", ""])


def expected(case: Case, X: np.ndarray, Z: np.ndarray) -> Bounded:
    """The kernel matrix, with a bound on the error of each value."""
    of, dtype = case["of"], case["dtype"]
    unit = UNIT[dtype]
    x, z = (np.asarray(samples, np.longdouble) for samples in (X[:, None], Z[None]))
    sizes = {
        "dot": lambda: np.sqrt((x * x).sum(-1) * (z * z).sum(-1)),
        "sqeuclidean": lambda: ((x - z) ** 2).sum(-1),
        "l1": lambda: np.abs(x - z).sum(-1),
    }
    if of in sizes:
        value = (x * z).sum(-1) if of == "dot" else sizes[of]()
        found = Bounded(value, STATISTIC[dtype] * sizes[of]())
    elif of == "rows":
        value = _OF_ROWS[case["statistic"]](x, z)
        found = Bounded(
            value, 8 * X.shape[1] * unit * (np.abs(x) + np.abs(z)).sum(-1) * (1 + np.abs(x).max() + np.abs(z).max())
        )
    else:
        inner = UNIT["float64"] if of == "term" else unit  # terms are computed in float64
        none = np.zeros_like(x + z)
        terms = evaluated(case["statistic"], {"x": Bounded(x + none, none), "y": Bounded(z + none, none)}, inner)
        terms = Bounded(terms.value + none, terms.error + none)
        around = X.shape[1] * np.abs(terms.value).sum(-1)
        if case["sparse"]:  # sums of differences from the term of two zeros
            around = around + X.shape[1] ** 2 * _of_zeros(case["statistic"])
        found = Bounded(terms.value.sum(-1), terms.error.sum(-1) + 4 * inner * around)
    made = evaluated(case["formula"], {"s": found.rounded(unit)}, unit)
    every = np.zeros((len(X), len(Z)), np.longdouble)  # a formula may be a constant
    return Bounded(made.value + every, made.error + every)


def _of_zeros(statistic: Formula) -> float:
    none = Bounded(np.longdouble(0), np.longdouble(0))
    return float(abs(evaluated(statistic, {"x": none, "y": none}, 0.0).value))


def function_cases(rng: Random) -> Iterator[Case]:
    while True:
        of = rng.choice(OF)
        statistic: Formula = None
        if of in ("term", "loop"):
            statistic = formula(rng, rng.choice([1, 2, 2, 3]), ("x", "y"), parameters=of == "loop")
        elif of == "rows":
            statistic = rng.choice(sorted(_OF_ROWS))
        made = {"of": of, "statistic": statistic, "formula": formula(rng, rng.choice([0, 1, 2, 3]), ("s",))}
        made["symmetric"] = of in ("dot", "sqeuclidean", "l1") and rng.random() < 0.5
        for dtype in ("float64", "float32"):
            yield made | {
                "dtype": dtype,
                "sparse": of not in ("rows", "loop") and rng.random() < 0.4,
                "shape": [rng.choice([3, 40, 150]), rng.choice([1, 5, 140]), rng.choice([1, 3, 17, 60])],
                "seed": rng.randrange(10**6),
            }


def smaller_formulas(case: Case) -> Iterator[Case]:
    """A part of a formula in its place, then fewer samples and features."""

    def less(node: Formula) -> Iterator[Formula]:
        if isinstance(node, list):
            yield from node[2:]
            for number in range(2, len(node)):
                for part in less(node[number]):
                    yield [*node[:number], part, *node[number + 1 :]]

    for key in ("formula", "statistic"):
        yield from (case | {key: part} for part in less(case[key]))
    n, m, d = case["shape"]
    for shape in ([3, 1, 1], [3, 1, d], [n, m, 1]):
        if shape != case["shape"]:
            yield case | {"shape": shape}


def run_function(case: Case) -> Outcome:
    import kernreg as kr

    n, m, d = case["shape"]
    rng = np.random.default_rng(case["seed"])
    X, Z = (rng.normal(size=(size, d)).astype(case["dtype"]) for size in (n, m))
    X, Z = (np.where(rng.random(samples.shape) < 0.3, 0, samples).astype(case["dtype"]) for samples in (X, Z))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        name = f"plugin_of_a_stranger_{case['seed']}"
        path = Path(folder) / f"{name}.py"
        path.write_text(source(case), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            k = module.kernel_of_a_stranger()
            with kr.config_context(cache_dir=str(Path(folder) / "cache")):
                exact = expected(case, X, Z)
                of_itself = expected(case, X, X)
                given = [csr_array(samples) for samples in (X, Z)] if case["sparse"] else [X, Z]
                one = np.eye(m, dtype=case["dtype"])
                ways: dict[str, tuple[Callable[[], Any], Bounded]] = {
                    "call": (lambda: k(*given), exact),
                    "alone": (lambda: k(given[0]), of_itself),
                    "operator": (lambda: k.operator(*given) @ one, exact),
                    "blocks": (lambda: np.vstack([b.copy() for _, b in k.blocks(*given, block_rows=16)]), exact),
                    "diagonal": (lambda: k.diagonal(given[0])[None], of_itself[range(n), range(n)]),
                    "scalar": (lambda: np.array([[k.scalar(x, z) for z in Z[:3]] for x in X[:3]]), exact[:3, :3]),
                }
                for way, (ask, right) in ways.items():
                    if wrong := differs(ask(), right, case["dtype"]):
                        return f"wrong {way}: {wrong}\n{source(case)}"
        finally:
            sys.modules.pop(name, None)
    return len(ways)


def differs(found: np.ndarray, exact: Bounded, dtype: str) -> str | None:
    """What is wrong with the values of a kernel, if anything."""
    limits = np.finfo(dtype)
    value, error = np.atleast_2d(exact.value), np.atleast_2d(exact.error)
    if found.shape != value.shape:
        return f"shape {found.shape}, expected {value.shape}"
    known = np.isfinite(value) & (np.abs(value) + error < float(limits.max) / 4)
    beyond = known & ~(np.abs(found - value) <= MARGIN * error + float(limits.tiny))
    if not beyond.any():
        return None
    i, j = np.argwhere(beyond)[0]
    return f"k[{i}, {j}] is {found[i, j]!r}, and {value[i, j]!r} is right, to {float(error[i, j]):.2g}"


ATTACKS = [
    Attack(
        "kernel-functions",
        "random formulas as plugins write them, of every statistic, compiled: equal to long double within a bound on "
        "rounding errors, however one asks",
        function_cases,
        run_function,
        full=400,
        ci=6,
        minutes=8.0,
        shrink=smaller_formulas,
    ),
]
