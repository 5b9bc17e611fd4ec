"""What a fitted solver holds is its own: arrays and parameters that change afterwards change no answer."""

from __future__ import annotations

import functools
import json
import tempfile
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from torture.attack import Attack, Case, Outcome
from torture.samples import FORMS, changed, in_form
from torture.solvers import answers, make, problem, same, subjects

VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    3,
    10**9,
    1e-300,
    1e300,
    float("nan"),
    "nonsense",
    "loo",
    "rbf(sigma=9.0)",
    "object",
]


def input_cases(rng: Random) -> Iterator[Case]:
    grid = [
        {"solver": name, "params": params, "form": form, "weighted": weighted}
        for name, params in subjects()
        for form in FORMS
        for weighted in (False, True)
    ]
    while True:
        rng.shuffle(grid)
        seed = rng.randrange(10**6)
        yield from (case | {"seed": seed} for case in grid)


def run_inputs(case: Case) -> Outcome:
    from kernreg.errors import KernregError

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        X, y = problem(case, 0, 40)
        new = in_form(np.abs(problem(case, 1, 12)[0]), case["form"], folder)
        given = in_form(np.abs(X), case["form"], folder)
        weights = np.linspace(0.5, 2.0, len(y))
        options = {"sample_weight": weights} if case["weighted"] else {}
        try:
            model = make(case).fit(given, y, **options)
            before = answers(model, new)
        except TypeError as error:
            if case["weighted"] and "sample_weight" in str(error):
                return 0
            if "parse" in case["form"] or "sparse" in str(error):
                return 0
            return f"refusal: {error!r}"
        except (KernregError, ValueError) as error:
            if not str(error):
                return f"refusal: {error!r} says nothing"
            return 0  # samples that the solver does not take
        facts = properties(make(case).fit(given, y, **options))
        changed(given)
        changed(y)
        changed(weights)
        if not same(answers(model, new), before):
            return f"alias: answers follow the caller's arrays ({case['form']})"
        for name, value in properties(model).items():
            if not np.array_equal(value, facts[name], equal_nan=np.asarray(value).dtype.kind in "fc"):
                return f"alias: {name} follows the caller's arrays ({case['form']})"
    return None


def properties(model: Any) -> dict[str, Any]:
    """Numbers and arrays that a fitted model computes when it is asked for them."""
    found = {}
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_") and isinstance(getattr(type(model), name), property):
            try:
                value = getattr(model, name)
            except (AttributeError, ValueError, RuntimeError):
                continue  # there is none for this fit
            if isinstance(value, int | float | np.ndarray):
                found[name] = np.array(value)
    return found


# Parameters -------------------------------------------------------------------------------------------------


def parameter_cases(rng: Random) -> Iterator[Case]:
    while True:
        order = list(subjects())
        rng.shuffle(order)
        for name, params in order:
            changes = [[round(rng.random(), 6), rng.randrange(len(VALUES))] for _ in range(12)]
            yield {"solver": name, "params": params, "objects": rng.random() < 0.5, "changes": changes}


@functools.cache
def fitted(solver: str, params: str, objects: bool) -> tuple[Any, Any, dict[str, np.ndarray]]:
    """A fitted solver whose kernel and ensembler are objects with parameters, or words; samples, and its answers."""
    import kernreg as kr

    case = {"solver": solver, "params": json.loads(params)}
    model = make(case)
    names = model.get_params(deep=False)
    if objects and "kernel" in names and "kernel" not in case["params"]:
        model.set_params(kernel=kr.make_kernel("rbf(sigma=2.0)"))
    if objects and "ensembler" in names and "ensembler" not in case["params"]:
        model.set_params(ensembler=kr.make_ensembler("stack"))
    X, y = problem(case, 0, 40)
    try:
        model.fit(np.abs(X), y)
    except ValueError:  # it learns from another kernel
        model = make(case).fit(np.abs(X), y)
    new = np.abs(problem(case, 1, 12)[0])
    return model, new, answers(model, new)


def run_parameters(case: Case) -> Outcome:
    import copy

    from kernreg.errors import KernregError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original, new, before = fitted(case["solver"], json.dumps(case["params"], sort_keys=True), case["objects"])
        model = copy.deepcopy(original)
        for place, number in case["changes"]:
            names = sorted(model.get_params(deep=True))
            name = names[int(place * len(names))]
            value = object() if VALUES[number] == "object" else VALUES[number]
            try:
                model.set_params(**{name: value})
            except (TypeError, ValueError, KernregError) as error:
                if not str(error):
                    return f"refusal: set_params({name}={value!r}) says nothing"
                continue  # a kernel refuses it at once, and stays as it was
            found = answers(model, new)
            if not same(found, before):
                return f"live parameter: set_params({name}={value!r}) after fit changes answers"
    return len(case["changes"])


ATTACKS = [
    Attack(
        "solver-inputs",
        "X, y and weights of every kind change after fit: no answer and no score of any solver follows",
        input_cases,
        run_inputs,
        full=1600,
        ci=30,
        minutes=4.0,
    ),
    Attack(
        "solver-parameters",
        "parameters change after fit, those of kernels and ensemblers too: no answer of any solver follows",
        parameter_cases,
        run_parameters,
        full=800,
        ci=30,
        minutes=3.0,
    ),
]
