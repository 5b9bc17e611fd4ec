"""Exact Shapley values of the decision values of a fitted machine, for kernels that are products over features.

A prediction is f(x) = Σ_i a_i k(x, x_i) + b, and Shapley values are linear in the game, so they are sums of those of
single products: see `quadrature`. There are two games, which differ in what stands in for a feature that is left out:

    kernel            its factor is 1, as if all samples agreed in it; nothing is needed, and the base is f without any
                      factor, Σ_i a_i + b = b
    interventional    its value is that of a background sample, averaged over these; the base is their mean prediction

Štrumbelj & Kononenko, Explaining prediction models and individual predictions with feature contributions, KAIS 41
(2014). Chau, Hu, Gonzalez & Sejdinovic, RKHS-SHAP: Shapley values for kernel methods, NeurIPS 2022. Mohammadi et al.,
Computing exact Shapley values in polynomial time for product-kernel methods, 2025.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError, ParameterError, shown
from kernreg.solvers.explanation.explanation import Explanation
from kernreg.solvers.explanation.factors import ProductTerm, terms_of
from kernreg.solvers.explanation.quadrature import product_values
from kernreg.solvers.samples import check_fitted, check_samples, has_features
from kernreg.solvers.views import Views

_BLOCK = 48e6  # bytes of factors held at once


def explain(
    machine: Any, X: Any, background: Any = None, *, view: str | None = None, feature_names: Any = None
) -> Explanation:
    """Return the Shapley values of a fitted dual machine's decision values; see `DualMachine.explain`."""
    check_fitted(machine)
    new = _table(machine, X, "X")
    others = None if background is None else _table(machine, background, "background")
    train = np.ascontiguousarray(machine.X_fit_, dtype=np.float64)
    if machine._targets.pairwise:
        raise ParameterError(
            "multi_class='one-vs-one' decides by votes, which are not sums over samples; explain takes 'one-vs-rest'"
        )
    views: Views = {}
    bases: Views = {}
    for number, name in enumerate(machine.views):
        if view is None or view == name:
            a = machine._coefficients[number].astype(np.float64)
            views[name], bases[name] = _of_view(machine.kernel_, name == "target", a, train, new, others)
            bases[name] = bases[name] + machine._intercepts[number]
    if not views:
        accepted = ", ".join(map(repr, machine.views))
        raise ParameterError(f"view={shown(view)} is not accepted; give one of {accepted}, or None")
    values, base = _merged(machine, views, bases, view)
    if values.shape[2] == 1 and machine._targets.is_flat(1):
        values, base = values[:, :, 0], base[0]
    return Explanation(
        values=values,
        base_values=base,
        data=new,
        feature_names=_names(machine, feature_names, new.shape[1]),
        output_names=_outputs(machine),
        game="kernel" if others is None else "interventional",
    )


def _table(machine: Any, X: Any, name: str) -> np.ndarray:
    if not has_features(machine.kernel_, machine.X_fit_):
        raise ParameterError(f"explain needs samples with features, and {machine.kernel_.name!r} sees none")
    X = check_samples(machine, X, machine.kernel_, reset=False)
    if hasattr(X, "toarray") or hasattr(machine.X_fit_, "toarray"):
        raise DataError(f"{name} is sparse; explain takes dense samples: fit to X.toarray()")
    return np.ascontiguousarray(X, dtype=np.float64)


def _of_view(
    kernel: Any, swapped: bool, a: np.ndarray, train: np.ndarray, new: np.ndarray, others: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values (n, d, columns) of one view, and the base (columns,) without its intercept.

    ``swapped``: the view is Σ_i a_i k(x_i, x), not Σ_i a_i k(x, x_i).
    """
    values, base = np.zeros((*new.shape, a.shape[1])), np.zeros(a.shape[1])
    for term in terms_of(kernel, train):
        of_term = _product if isinstance(term, ProductTerm) else _additive
        each = of_term(term, a, train, new, others, swapped)
        values += term.constant * each[0]
        base += term.constant * each[1]
    return values, base


def _additive(
    term: Any, a: np.ndarray, train: np.ndarray, new: np.ndarray, others: np.ndarray | None, swapped: bool
) -> tuple[np.ndarray, np.ndarray]:
    values = term.summands(new, a, train, swapped)
    if others is None:
        return values, np.zeros(a.shape[1])
    mean = term.summands(others, a, train, swapped).mean(axis=0)
    return values - mean, mean.sum(axis=0)


def _product(
    term: Any, a: np.ndarray, train: np.ndarray, new: np.ndarray, others: np.ndarray | None, swapped: bool
) -> tuple[np.ndarray, np.ndarray]:
    def factors(rows: np.ndarray) -> np.ndarray:
        return term.factors(train, rows).transpose(2, 1, 0) if swapped else term.factors(rows, train)

    values = np.zeros((*new.shape, a.shape[1]))
    step = max(1, int(_BLOCK / (8 * new.shape[1] * len(train))))
    chunks = [new[start : start + step] for start in range(0, len(new), step)]
    base = a.sum(axis=0)
    if others is None:
        for number, rows in enumerate(chunks):
            values[number * step : number * step + len(rows)] = product_values(factors(rows), a)
        return values, base
    base = np.zeros(a.shape[1])
    for start in range(0, len(others), step):
        q = np.ascontiguousarray(factors(others[start : start + step]))
        base += (q.prod(axis=1) @ a).sum(axis=0)
        for number, rows in enumerate(chunks):
            values[number * step : number * step + len(rows)] += product_values(factors(rows), a, q)
    return values / len(others), base / len(others)


def _merged(machine: Any, views: Views, bases: Views, view: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return values and base of the merged decision, where that is a weighted sum of the views' columns."""
    if view is not None or len(views) == 1:
        (name,) = views
        return views[name], bases[name]
    values, base = np.concatenate(list(views.values()), axis=2), np.concatenate(list(bases.values()))
    columns = len(base) // len(views)

    def merge(rows: np.ndarray) -> np.ndarray:
        parts = np.split(rows, len(views), axis=1)
        given = {name: machine._targets.shaped(part) for name, part in zip(views, parts, strict=True)}
        return np.asarray(machine._merge(given), dtype=np.float64).reshape(len(rows), columns)

    origin, units = merge(np.zeros((1, len(base)))), merge(np.eye(len(base)))
    weights = units - origin
    probes = np.vstack([base, base + values[:3].sum(axis=1)])
    expected = origin + probes @ weights
    if not np.allclose(merge(probes), expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max())):
        raise ParameterError(
            f"the ensembler {machine.ensembler_!r} is not a weighted sum of the views, and has no exact Shapley "
            "values; explain one of them: view='source' or view='target'"
        )
    return values @ weights, base @ weights + origin[0]


def _names(machine: Any, given: Any, d: int) -> list[str]:
    names = given if given is not None else getattr(machine, "feature_names_in_", None)
    if names is None:
        return [f"feature {j}" for j in range(d)]
    if len(names) != d:
        raise ParameterError(f"feature_names has {len(names)} names, and samples have {d} features")
    return [str(name) for name in names]


def _outputs(machine: Any) -> list[str] | None:
    classes = getattr(machine, "classes_", None)
    return None if not isinstance(classes, np.ndarray) else [str(each) for each in classes]
