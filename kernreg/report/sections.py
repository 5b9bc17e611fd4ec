"""The sections of the page. A section that cannot be made says why."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import metrics

from kernreg import plotting
from kernreg.errors import DataError, ParameterError
from kernreg.plotting.loo import find_poles
from kernreg.report.page import Section, table
from kernreg.report.subject import Subject
from kernreg.solvers.samples import take

_EXPLAINED = 300  # samples
_MATRIX = 1500  # samples of a spectrum, and of a picture of the matrix
_MANY_CLASSES = 30
_LISTED = 10  # samples in a table
_COVERAGES = (0.8, 0.9, 0.95)


def summary(subject: Subject) -> Section:
    """What the model is, and how good."""
    section, machine = Section("Summary"), subject.machine
    facts: list[tuple[str, Any]] = [("model", type(subject.model).__name__)]
    if machine is not None:
        facts = [("machine", type(machine).__name__), ("kernel", _short(machine.kernel_)), ("γ", machine.gamma_)]
        facts += [("strategy", machine.solver_report_.strategy), ("training samples", len(machine._y))]
    facts += [("features", int(np.shape(subject.X)[1])), ("samples in this table", len(subject.y))]
    if subject.classifies:
        facts.append(("classes", len(np.unique(subject.y))))
    section.tables.append(table(["", ""], facts))
    section.tables.append(table(["measure", "value"], _scores(subject), "On this table"))
    if subject.seen:
        section.text.append(
            "The model was fitted to these samples, so scores on them are too optimistic. Leave-one-out scores are not."
        )
    if machine is not None:
        try:
            score = machine.loo_score_
        except (ParameterError, DataError) as reason:
            section.text.append(f"No leave-one-out score: {reason}.")
        else:
            name = "accuracy" if subject.classifies else "R²"
            section.text.append(f"Leave-one-out {name} on the training samples: {score:.4f}.")
    return section


def _scores(subject: Subject) -> list[tuple[str, float]]:
    y, predicted = subject.y, subject.predictions
    if not subject.classifies:
        return [
            ("R²", metrics.r2_score(y, predicted)),
            ("root mean squared error", float(np.sqrt(metrics.mean_squared_error(y, predicted)))),
            ("mean absolute error", metrics.mean_absolute_error(y, predicted)),
            ("standard deviation of the target", float(np.std(y))),
        ]
    common = np.unique(y, return_counts=True)[1].max() / len(y)
    found = [
        ("accuracy", metrics.accuracy_score(y, predicted)),
        ("balanced accuracy", metrics.balanced_accuracy_score(y, predicted)),
        ("macro F1", metrics.f1_score(y, predicted, average="macro")),
        ("share of the largest class", common),
    ]
    if _has_probabilities(subject):
        P = subject.model.predict_proba(subject.X)
        found.append(("log loss", metrics.log_loss(y, P, labels=subject.model.classes_)))
        if P.shape[1] == 2 and len(np.unique(y)) == 2:
            found.append(("area under the ROC curve", metrics.roc_auc_score(y == subject.model.classes_[1], P[:, 1])))
    return found


def _has_probabilities(subject: Subject) -> bool:
    if not hasattr(subject.model, "predict_proba"):
        return False
    try:
        subject.model.predict_proba(take(subject.X, np.arange(1)))
    except (ParameterError, DataError):  # no leave-one-out values to calibrate on
        return False
    return True


def confusion(subject: Subject) -> Section:
    """Which classes are taken for which."""
    section = Section("Confusion matrix")
    classes = np.unique(np.concatenate([subject.y, subject.predictions]))
    if len(classes) > _MANY_CLASSES:
        section.skipped = f"There are {len(classes)} classes; a table of more than {_MANY_CLASSES} is not readable."
        return section
    counts = metrics.confusion_matrix(subject.y, subject.predictions, labels=classes)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = [[str(name), *map(int, row)] for name, row in zip(classes, counts, strict=True)]
    section.text.append("Rows are true classes, columns predicted ones; shades are shares of the row.")
    section.tables.append(table(["true \\ predicted", *map(str, classes)], rows, shades=shares))
    return section


def probabilities(subject: Subject) -> Section:
    """Whether probabilities are right, and what prediction sets hold."""
    section = Section("Calibration and prediction sets")
    if _has_probabilities(subject):
        if len(subject.model.classes_) <= _LISTED:
            display = plotting.ReliabilityDisplay.from_estimator(subject.model, subject.X, subject.y)
            section.figures.append((display.figure_, "Predicted probabilities against frequencies"))
        section.text.append(
            "Where the curve is on the diagonal, predicted probabilities match the observed frequencies."
        )
    reason = subject.without_matrix()
    if reason:
        section.skipped = f"No prediction sets. {reason}"
        return section
    rows, machine = subject.some, subject.machine
    codes = np.searchsorted(machine.classes_, subject.y[rows])
    inner, known = take(subject.inner, rows), np.isin(subject.y[rows], machine.classes_)
    codes[~known] = 0
    lines = []
    for coverage in sorted({*_COVERAGES, subject.coverage}):
        sets = machine.predict_set(inner, coverage)
        hit = sets[np.arange(len(rows)), codes] & known
        sizes = sets.sum(axis=1)
        lines.append(
            [
                f"{coverage:.0%}",
                f"{hit.mean():.1%}",
                sizes.mean(),
                f"{np.mean(sizes == 1):.1%}",
                f"{np.mean(sizes == 0):.1%}",
            ]
        )
    header = ["asked for", "covered", "mean size", "one class", "empty"]
    section.tables.append(table(header, lines, _of_rows(subject, "Conformal prediction sets")))
    return section


def intervals(subject: Subject) -> Section:
    """Prediction intervals, and whether they cover."""
    section, reason = Section("Prediction intervals"), subject.without_matrix()
    if reason:
        section.skipped = f"No intervals. {reason} CrossConformalRegressor gives intervals by folds."
        return section
    rows, machine = subject.some, subject.machine
    inner, truth = take(subject.inner, rows), subject.y[rows]
    lines, shown = [], None
    for coverage in sorted({*_COVERAGES, subject.coverage}):
        found = machine.predict_interval(inner, coverage)
        shown = found if coverage == subject.coverage else shown
        inside = (found[:, 0] <= truth) & (truth <= found[:, 1])
        lines.append([f"{coverage:.0%}", f"{inside.mean():.1%}", float(np.median(found[:, 1] - found[:, 0]))])
    section.text.append(
        "Jackknife+ from exact leave-one-out: no assumption about the noise; samples only have to be exchangeable."
    )
    if subject.seen:
        section.text.append(
            "The model was fitted to these samples, so the intervals cover more of them than of new ones."
        )
    section.tables.append(table(["asked for", "covered", "median width"], lines, _of_rows(subject, "Intervals")))
    display = plotting.IntervalDisplay(subject.predictions[rows], shown, truth, coverage=subject.coverage).plot()
    section.figures.append((display.figure_, "Prediction intervals in the order of predictions, with the truth"))
    return section


def residuals(subject: Subject) -> Section:
    """Residuals: of this table, or left out where the table is what was fitted."""
    section = Section("Residuals")
    rows, left_out = subject.some, None
    if subject.seen:
        try:
            left_out = np.asarray(subject.machine.loo_residuals_)
        except (ParameterError, DataError):
            left_out = None
    errors = (subject.y - subject.predictions if left_out is None else left_out)[rows]
    display = plotting.ResidualDisplay(subject.y[rows] - errors, errors).plot(title="Residuals")
    if left_out is None:
        for ax in display.axes_:
            ax.set_ylabel("residual")
        display.axes_[0].set_xlabel("prediction")
    section.text.append(
        _of_rows(subject, "Leave-one-out residuals" if left_out is not None else "Target minus prediction") + "."
    )
    section.figures.append((display.figure_, "Residuals against predictions and normal quantiles"))
    return section


def influence(subject: Subject) -> Section:
    """Which training samples matter, and whether more would help."""
    section, reason = Section("Influence of training samples"), subject.without_matrix()
    if reason:
        section.skipped = reason
        return section
    found = subject.machine.influence()
    errors = found.loo_residuals if found.loo_residuals.ndim == 1 else np.sqrt((found.loo_residuals**2).mean(axis=1))
    display = plotting.InfluenceDisplay(
        found.leverage, errors, found.cook, degrees_of_freedom=found.degrees_of_freedom
    ).plot()
    section.figures.append((display.figure_, "Leverage against residuals left out, as large as the influence"))
    curve = plotting.LearningCurveDisplay.from_estimator(subject.machine, n_repeats=3)
    section.figures.append((curve.figure_, "Leave-one-out scores of subsets of the training samples"))
    section.text.append(
        f"The fit has {found.degrees_of_freedom:.1f} effective degrees of freedom. Cook's distance is the squared "
        "change of all fitted values without the sample, relative to the noise. Samples are counted from 0."
    )
    order = np.argsort(-found.cook)[:_LISTED]
    lines = [[int(i), str(subject.machine._y[i]), found.leverage[i], errors[i], found.cook[i]] for i in order]
    header = ["sample", "target", "leverage", "leave-one-out residual", "Cook's distance"]
    section.tables.append(table(header, lines, "The most influential training samples"))
    return section


def explanations(subject: Subject) -> Section:
    """What each feature adds: Shapley values, or permutation importance where the kernel has none."""
    section, machine = Section("Explanations"), subject.machine
    if machine is None:
        section.skipped = subject.without_matrix()
        return section
    rows = subject.rows(_EXPLAINED)
    try:
        found = machine.explain(take(subject.inner, rows), feature_names=subject.names)
    except (ParameterError, DataError) as reason:
        return _importance(subject, section, str(reason))
    if subject.names is not None and isinstance(subject.X, np.ndarray) and subject.X.dtype.kind == "f":
        found = replace(found, data=subject.X[rows])  # in the units of the table
    section.text.append(
        f"Exact Shapley values of {len(rows)} samples: what each feature adds to the decision value, from the base on."
    )
    if found.values.ndim == 3:
        importance = [found.importance(c) for c in range(found.values.shape[2])]
        names = found.output_names or [str(c) for c in range(len(importance))]
        order = np.argsort(-found.importance())[:15]
        lines = [[found.feature_names[j], *(float(each[j]) for each in importance)] for j in order]
        if len(names) <= 12:
            section.tables.append(table(["feature", *names], lines, "Mean magnitude, by class"))
    output = (
        0
        if found.values.ndim == 2
        else int(np.argmax([found.importance(c).sum() for c in range(found.values.shape[2])]))
    )
    named = "" if found.values.ndim == 2 or found.output_names is None else f", class {found.output_names[output]}"
    swarm = found.plot("beeswarm", output=output, title=f"What each feature adds{named}")
    section.figures.append((swarm.figure_, "Shapley values of each feature and sample"))
    values = found.of_output(output)
    extreme = int(np.argmax(np.abs(values.sum(axis=1))))
    one = found.plot("one", sample=extreme, output=output)
    one.ax_.set_title(f"Row {rows[extreme]}{named}: {one.ax_.get_title()[0].lower()}{one.ax_.get_title()[1:]}")
    section.figures.append((one.figure_, "From the base to one prediction"))
    return section


def _importance(subject: Subject, section: Section, reason: str) -> Section:
    unavailable = subject.without_matrix()
    if unavailable:
        section.skipped = f"No Shapley values: {reason}. No permutation importance: {unavailable}"
        return section
    try:
        found = subject.machine.permutation_importance(n_repeats=2)
    except (ParameterError, DataError) as failure:
        section.skipped = f"No Shapley values: {reason}. No permutation importance: {failure}"
        return section
    section.text.append(f"No Shapley values: {reason}.")
    section.text.append("Permutation importance: what the leave-one-out score loses when a feature is shuffled.")
    names = subject.names or found.feature_names
    lines = [[names[j], found.mean[j], found.std[j]] for j in np.argsort(-found.mean)[:15]]
    section.tables.append(table(["feature", "loss of score", "deviation"], lines))
    return section


def kernel_matrix(subject: Subject) -> Section:
    """The kernel matrix, its spectrum and its poles."""
    section, machine = Section("Kernel"), subject.machine
    if machine is None:
        section.skipped = subject.without_matrix()
        return section
    X = machine.X_fit_
    m = (X[0] if isinstance(X, tuple) else X).shape[0]
    rows = (
        np.arange(m) if m <= _MATRIX else np.sort(np.random.default_rng(subject.random_state).permutation(m)[:_MATRIX])
    )
    part = take(X, rows)
    K = machine.kernel_(*part) if isinstance(part, tuple) else machine.kernel_(part)
    whole = "" if m == len(rows) else f" {len(rows)} of {m} samples, drawn at random."
    landmarks = getattr(machine, "landmarks_", None)
    y = machine._y if landmarks is None else machine._y[landmarks]
    labels = y[rows] if subject.classifies else None
    order = None if subject.classifies else np.argsort(y[rows], kind="stable")
    matrix = plotting.KernelMatrixDisplay(K if order is None else K[np.ix_(order, order)], labels).plot()
    section.figures.append((matrix.figure_, "The kernel matrix of the training samples"))
    section.text.append(f"Rows and columns are sorted by the target.{whole}")
    spectrum = plotting.SpectrumDisplay.from_matrix(K, centred=True)
    spectrum.ax_.axhline(1.0 / machine.gamma_, color="0.4", linestyle="--", linewidth=1)
    spectrum.ax_.annotate("1/γ", (1.0, 1.0 / machine.gamma_), xycoords=("axes fraction", "data"), va="center")
    spectrum.ax_.set_title(f"Centred matrix: {spectrum.ax_.get_title()[0].lower()}{spectrum.ax_.get_title()[1:]}")
    section.figures.append((spectrum.figure_, "The spectrum of the centred kernel matrix, with 1/γ"))
    _poles(subject, section)
    return section


def _poles(subject: Subject, section: Section) -> None:
    machine, poles = subject.machine, np.empty(0)
    if machine.requires_symmetric_kernel and machine.kernel_.definite is True:
        section.text.append("There are no poles: the kernel is positive definite, and every γ has a unique solution.")
    elif subject.without_matrix() or len(machine._y) > _MATRIX:
        section.text.append(f"Poles are looked for in exact fits to at most {_MATRIX} samples.")
    else:
        poles = find_poles(machine)
        section.text.append("There are no poles: every γ has a unique solution.")
        if len(poles):
            nearest = float(poles[np.abs(np.log(poles / machine.gamma_)).argmin()])
            away = abs(nearest / machine.gamma_ - 1.0)
            section.text[-1] = (
                f"There are {len(poles)} poles, values of γ without a unique solution; the nearest to γ = "
                f"{machine.gamma_:.4g} is {nearest:.4g}, {away:.2%} away."
            )
    path = getattr(machine, "loo_path_", None)
    if path is not None and len(path["gamma"]) > 1:
        name = "accuracy" if subject.classifies else "R²"
        display = plotting.LooPathDisplay(
            path["gamma"], path["score"], path["squared_error"], chosen=machine.gamma_, poles=poles, score_name=name
        ).plot()
        section.figures.append((display.figure_, "Leave-one-out over γ, with the poles"))


def _of_rows(subject: Subject, what: str) -> str:
    shown, n = len(subject.some), len(subject.y)
    return what if shown == n else f"{what}, {shown} of {n} rows drawn at random"


def _short(kernel: Any) -> str:
    text = re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.4g}", repr(kernel))
    return text if len(text) <= 120 else f"{text[:119]}…"


def sections_for(subject: Subject) -> list[Callable[[Subject], Section]]:
    """Return the sections of a page about classes or about numbers."""
    if subject.classifies:
        return [summary, confusion, probabilities, explanations, influence, kernel_matrix]
    return [summary, intervals, residuals, explanations, influence, kernel_matrix]
