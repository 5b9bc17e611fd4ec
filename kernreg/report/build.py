"""A report from a model and a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg import __version__
from kernreg.common.progress import progress
from kernreg.plotting import pyplot
from kernreg.report.page import page
from kernreg.report.sections import sections_for
from kernreg.report.subject import Subject
from kernreg.solvers.inference.conformal import check_coverage


def make_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    feature_names: Any = None,
    title: str = "Model report",
    subtitle: str = "",
    coverage: float = 0.9,
) -> str:
    """Return a self-contained HTML page about a fitted model and samples with known targets.

    Parameters
    ----------
    model : fitted estimator
        A dual machine, or a chain or pipeline that ends in one; of any other model scores only.
    X, y : array of shape (n, d), array of shape (n,)
        Best samples that the model has not seen; where they are those of the fit, the page says so.
    feature_names : sequence of str, optional
    title, subtitle : str
    coverage : float
        Of the intervals or prediction sets that are drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernreg.solvers import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> html = make_report(LSSVC(gamma="loo").fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> "Confusion matrix" in html and "http" not in html
    True
    """
    check_coverage(coverage)
    plt = pyplot()
    plt.switch_backend("agg")
    subject = Subject(model, X, np.asarray(y), None if feature_names is None else list(feature_names), coverage)
    told = []
    parts = sections_for(subject)
    with progress("report", len(parts)) as show:
        for number, section in enumerate(parts):
            told.append(section(subject))
            show(number + 1)
    return page(title, subtitle, told, f"Written by kernreg {__version__}.")
