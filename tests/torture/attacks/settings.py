"""Hostile values for every parameter of every solver: it works, or says in a few words which parameter is wrong."""

from __future__ import annotations

import functools
import inspect
import json
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from torture.attack import Attack, Case, Outcome
from torture.hostile import VALUES, Refusal
from torture.solvers import answers, make, same, subjects

#: What a message may take: a value is shown in 200 characters.
LONGEST = 1500
#: Numbers of steps: huge ones may take as long as they are asked to.
STEPS = ("max_iter", "n_init", "learning_iter", "n_frequencies", "stages", "folds")
GRIDS = ("gamma", "gamma_negative")  # a hundred thousand candidates are tried, one after the other
PATIENT = ("1e16", "1000", "2**31 - 1", "2**31", "2**63", "uint64")
PER_CASE = 8


# Samples ----------------------------------------------------------------------------------------------------


def data(kind: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small samples of a kind, with classes and with numbers as targets."""
    rng = np.random.default_rng([seed, len(kind)])
    rows = {"one sample": 1, "two samples": 2, "three samples": 3}.get(kind, 24)
    X = rng.normal(size=(rows, 40 if kind == "wide" else 3))
    if kind == "constant":
        X[:] = 1.5
    elif kind == "zeros":
        X[:] = 0.0
    elif kind == "constant feature":
        X[:, 1] = 2.0
    elif kind == "duplicates":
        X = np.repeat(X[:6], 4, axis=0)
    elif kind == "integers":
        X = np.round(3 * X).astype(np.int64)
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "huge":
        X = 1e150 * X
    elif kind == "tiny":
        X = 1e-150 * X
    score = X[:, 0].astype(np.float64) / (np.abs(X[:, 0]).max() or 1.0)
    labels = (score > np.median(score)).astype(int)
    if kind == "many classes":
        labels = np.arange(rows) % 3
    elif kind == "one class":
        labels[:] = 1
    elif kind in ("constant", "zeros", "duplicates"):
        labels = np.arange(rows) % 2
    return X, labels, score


KINDS = (
    *("binary", "many classes", "one class", "one sample", "two samples", "three samples", "constant", "zeros"),
    *("constant feature", "duplicates", "wide", "integers", "float32", "huge", "tiny"),
)


def problem(case: Case, kind: str) -> tuple[Any, Any]:
    """Samples and targets of a kind for the solver of a case."""
    from sklearn.base import is_regressor

    X, labels, numbers = data(kind)
    if case["solver"] == "bicluster":
        X = np.abs(X)
    return X, numbers if is_regressor(make(case)) else labels


# Verdicts ---------------------------------------------------------------------------------------------------


def unclean(error: BaseException, names: list[str]) -> str | None:
    """What is wrong with an error, None if nothing: kernreg's own, short, and it names the parameter."""
    from kernreg.errors import DataError, KernregError

    text = str(error)
    if not isinstance(error, KernregError):
        return f"raw error: {type(error).__name__}: {text[:300]}"
    if len(text) > LONGEST:
        return f"long message: {len(text)} characters, {text[:200]}"
    if any(ord(letter) < 32 and letter != "\n" for letter in text):
        return f"control characters: {text[:300]!r}"
    if names and not any(name in text for name in names) and not isinstance(error, DataError):  # those name the samples
        return f"nameless: {type(error).__name__}: {text[:300]}"
    return None


def leaks(heard: list[warnings.WarningMessage]) -> str | None:
    """The first warning that is not one of kernreg's, or of the libraries' about convergence and rounding."""
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

    from kernreg.errors import KernregWarning

    for warning in heard:
        if not issubclass(
            warning.category, KernregWarning | ConvergenceWarning | UndefinedMetricWarning | LinAlgWarning
        ):
            return f"warning: {warning.category.__name__}: {str(warning.message)[:300]} ({warning.filename})"
    return None


def lost(found: dict[str, np.ndarray]) -> str | None:
    """The first answer that is not finite."""
    for name, values in found.items():
        if values.dtype.kind in "fc" and not np.isfinite(values).all():
            return f"not finite: {name}"
    return None


@functools.cache
def usual(solver: str, params: str, kind: str) -> str | None:
    """What the solver says of these samples with its ordinary parameters: None, or the class of its error."""
    case = {"solver": solver, "params": json.loads(params)}
    X, y = problem(case, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = make(case).fit(X, y)
            return lost(answers(model, X))
        except Exception as error:
            return type(error).__name__


@functools.cache
def before(solver: str, params: str) -> tuple[Any, Any, dict[str, np.ndarray]]:
    """A solver fitted to ordinary samples, these, and what it says of them."""
    case = {"solver": solver, "params": json.loads(params)}
    X, y = problem(case, "binary")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(case).fit(X, y)
        return model, X, answers(model, X)


# Solvers ----------------------------------------------------------------------------------------------------


def names_of(case: Case) -> list[str]:
    """The parameters of a solver, and those of the kernel and the ensembler that it may be given."""
    names = list(inspect.signature(type(make(case)).__init__).parameters)[1:]
    return names + [f"{name}__{inner}" for name, inner in NESTED if name in names]


NESTED = [("kernel", "sigma"), ("kernel", "nonsense"), ("ensembler", "alpha"), ("solver", "gamma")]
HOLDERS = {"kernel": "rbf(sigma=2.0)", "ensembler": "stack", "solver": "ls-svm(gamma=1.0)"}


def solver_cases(rng: Random) -> Iterator[Case]:
    values = sorted(VALUES)
    while True:
        grid = [
            {"solver": name, "params": params, "parameter": parameter, "first": first}
            for name, params in subjects()
            for parameter in names_of({"solver": name, "params": params})
            for first in range(0, len(values), PER_CASE)
        ]
        rng.shuffle(grid)
        for case in grid:
            tried = [
                [value, rng.choice(KINDS if rng.random() < 0.5 else KINDS[:2]), rng.choice(["init", "set_params"])]
                for value in values[case["first"] : case["first"] + PER_CASE]
                if not patience(case["parameter"], value)
            ]
            yield {name: case[name] for name in ("solver", "params", "parameter")} | {"tried": tried}


def patience(parameter: str, value: str) -> bool:
    """Whether a value asks for a long computation, which may take as long as it does."""
    last = parameter.split("__")[-1]
    return (last in STEPS and value in PATIENT) or (last in GRIDS and value == "long list")


def run_solvers(case: Case) -> Outcome:
    for value, kind, how in case["tried"]:
        wrong = solver_verdict(case, value, kind, how)
        if wrong is not None:
            return f"{wrong} [{case['solver']}({case['parameter']}={value}) on {kind}, by {how}]"
    return len(case["tried"])


def solver_verdict(case: Case, value: str, kind: str, how: str) -> str | None:
    """What is wrong with a solver that is given a value; None if nothing is."""
    import copy

    parameter = case["parameter"]
    params = json.dumps(case["params"], sort_keys=True)
    excuse = usual(case["solver"], params, kind)
    X, y = problem(case, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = VALUES[value]()
    if "__" in parameter:
        how = "set_params"
    model: Any = None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            if how == "set_params":
                model = copy.deepcopy(before(case["solver"], params)[0])
                holder = parameter.split("__")[0]
                if holder != parameter:
                    model.set_params(**{holder: holding(holder)})
                model.set_params(**{parameter: given})
            else:
                model = make(case | {"params": case["params"] | {parameter: given}})
            model.fit(X, y)
            said = answers(model, X)
            if hasattr(model, "score") and len(y) > 1:  # R² of one sample is no number
                said["score"] = np.array(model.score(X, y))
            if excuse is None and not any("Range" in str(warning.category) for warning in heard):
                return leaks(heard) or lost(said)
            return leaks(heard)
        except Exception as error:
            wrong = leaks(heard) or unclean(error, [] if excuse or kind not in KINDS[:2] else parameter.split("__"))
            if wrong is not None and excuse == type(error).__name__:
                return None  # what it says of such samples in any case
            return wrong or unlike_before(model, case["solver"], params, how)


def holding(name: str) -> Any:
    """A kernel, an ensembler or a solver that has parameters of its own."""
    import kernreg as kr

    makers = {"kernel": kr.make_kernel, "ensembler": kr.make_ensembler, "solver": kr.make_solver}
    return makers[name](HOLDERS[name])


def unlike_before(model: Any, solver: str, params: str, how: str) -> str | None:
    """What is wrong with a solver after a refusal: it is not fitted, or says what it said before."""
    from sklearn.exceptions import NotFittedError

    if model is None:
        return None
    _, X, expected = before(solver, params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = answers(model, X)
        except NotFittedError:
            return None
        except Exception as error:
            if how == "init" and (unclean(error, []) is None or isinstance(error, Refusal)):
                return None  # asked whether it has a method, it says again what is wrong
            return f"state: after a refusal {type(error).__name__}: {str(error)[:200]}"
    if how == "init":
        return "state: fitted after a refusal"
    return None if same(found, expected) else "state: other answers after a refusal"


ATTACKS = [
    Attack(
        "solver-settings",
        "hostile values for every parameter of every solver, on small samples of every kind: finite answers and no "
        "warning of NumPy, or a short error that names the parameter; a refit that is refused leaves the old answers",
        solver_cases,
        run_solvers,
        full=8000,
        ci=12,
        minutes=10.0,
        seconds=300.0,
    ),
]
