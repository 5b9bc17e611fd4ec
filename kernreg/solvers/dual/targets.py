"""Targets of a dual machine: from what is given as y to columns of numbers, and from decision values back.

`ClassTargets`, `LabelTargets` and `RealTargets` answer the same questions, so that a machine need not know which of
them it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from kernreg.errors import DataError


@dataclass(frozen=True)
class Problem:
    """Targets (n, C) for some of the samples; ``rows`` None stands for all of them."""

    Y: np.ndarray
    rows: np.ndarray | None = None


class ClassTargets:
    """Classes as ±1: a column for each class against the rest, or a problem for each pair of classes.

    Parameters
    ----------
    classes : ndarray
        Sorted; of two classes the second is +1, in a single column.
    pairwise : bool
        One class against one, where there are more than two.

    Examples
    --------
    >>> y = np.array(["b", "a", "b"])
    >>> targets = ClassTargets.of(y)
    >>> targets.problems(y)[0].Y.ravel().tolist()
    [1.0, -1.0, 1.0]
    >>> targets.predicted(np.array([-0.5, 2.0])).tolist()
    ['a', 'b']
    """

    def __init__(self, classes: np.ndarray, *, pairwise: bool = False):
        self.classes = classes
        self.pairwise = pairwise and len(classes) > 2

    @property
    def fitted(self) -> dict[str, object]:
        """What a fitted machine keeps of it."""
        return {"classes_": self.classes, "_pairwise": self.pairwise, "_labels": None}

    @property
    def columns(self) -> int | None:
        """How many columns of coefficients there are."""
        n = len(self.classes)
        return 1 if n == 2 else n * (n - 1) // 2 if self.pairwise else n

    @classmethod
    def of(cls, y: np.ndarray, *, pairwise: bool = False) -> ClassTargets:
        """Return the targets that labels ask for; raise DataError where they are one class only."""
        check_classification_targets(y)
        classes = np.unique(y)
        if len(classes) < 2:
            (only,) = classes.tolist()
            raise DataError(f"y has one class only ({only!r}, {len(y)} samples); a classifier needs at least 2 classes")
        return cls(classes, pairwise=pairwise)

    @property
    def outputs(self) -> list[ClassTargets]:
        """The targets of each column of labels, of which there is one."""
        return [self]

    def parts(self, decision: np.ndarray) -> list[np.ndarray]:
        """Return the decision values of each column of labels."""
        return [decision]

    def codes(self, y: np.ndarray) -> np.ndarray:
        """Return the position of each label among the classes."""
        return np.searchsorted(self.classes, y)

    def problems(self, y: np.ndarray) -> list[Problem]:
        """Return what is to be solved: one problem, or one for each pair of classes i < j on their samples; j is +1."""
        codes = self.codes(y)
        if not self.pairwise:
            return [Problem(one_vs_rest(codes, len(self.classes)))]
        problems = []
        for i, j in combinations(range(len(self.classes)), 2):
            rows = np.flatnonzero((codes == i) | (codes == j))
            problems.append(Problem(np.where(codes[rows] == j, 1.0, -1.0)[:, None], rows))
        return problems

    def shaped(self, view: np.ndarray) -> np.ndarray:
        """Return decision values (n, columns) as users see them: (n,) for two classes, else (n, classes)."""
        if self.pairwise:
            return pairwise_votes(view, len(self.classes))
        return view[:, 0] if view.shape[1] == 1 else view

    def values(self, y: np.ndarray) -> np.ndarray:
        """Return the targets ±1 in the shape of decision values."""
        Y = one_vs_rest(self.codes(y), len(self.classes))
        return Y[:, 0] if Y.shape[1] == 1 else Y

    def score(self, decision: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> float:
        """Return the accuracy."""
        return float(np.average(predicted_codes(decision) == self.codes(y), weights=weights))

    def predicted(self, decision: np.ndarray) -> np.ndarray:
        """Return the classes that decision values stand for."""
        return self.classes[predicted_codes(decision)]

    def for_ensemblers(self, y: np.ndarray) -> np.ndarray:
        """Return the targets as ensemblers see them: ±1 for two classes, else codes."""
        codes = self.codes(y)
        return np.where(codes == 1, 1, -1) if len(self.classes) == 2 else codes

    def is_flat(self, columns: int) -> bool:
        """Whether coefficients are a vector to users, not a matrix of one column."""
        return columns == 1


class LabelTargets:
    """Several columns of labels: those of an indicator matrix, or several outputs with classes of their own.

    Parameters
    ----------
    classes : list of ndarray
        Of each column. The two numbers of an indicator matrix, usually 0 and 1, are the classes of all its columns.

    Examples
    --------
    >>> y = np.array([[0, 1], [1, 0], [1, 1]])
    >>> targets = LabelTargets.of(y)
    >>> targets.values(y).tolist()
    [[-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    >>> targets.predicted(np.array([[0.3, -2.0]])).tolist()
    [[1, 0]]
    """

    pairwise = False

    def __init__(self, classes: list[np.ndarray]):
        self.classes = classes
        self.outputs = [ClassTargets(each) for each in classes]
        first = classes[0]
        same = all(np.array_equal(each, first) for each in classes)
        self.indicator = same and len(first) == 2 and first.dtype.kind in "biuf"

    @property
    def fitted(self) -> dict[str, object]:
        """What a fitted machine keeps of it: of an indicator matrix, classes_ numbers the labels."""
        classes = np.arange(len(self.classes)) if self.indicator else self.classes
        return {"classes_": classes, "_pairwise": False, "_labels": self.classes}

    @property
    def columns(self) -> int:
        """How many columns of coefficients there are."""
        return sum(output.columns or 0 for output in self.outputs)

    @classmethod
    def of(cls, y: np.ndarray) -> LabelTargets:
        """Return the targets that a table of labels asks for; raise DataError where a column is of one class only."""
        check_classification_targets(y)
        if type_of_target(y) == "multilabel-indicator":
            return cls([ClassTargets.of(y.ravel()).classes] * y.shape[1])
        return cls([ClassTargets.of(column).classes for column in y.T])

    def problems(self, y: np.ndarray) -> list[Problem]:
        """Return what is to be solved: one problem with the columns of all outputs."""
        return [Problem(self.values(y))]

    def shaped(self, view: np.ndarray) -> np.ndarray:
        """Return decision values (n, columns) as users see them: the same."""
        return view

    def values(self, y: np.ndarray) -> np.ndarray:
        """Return the targets ±1 in the shape of decision values."""
        return np.hstack([t.problems(column)[0].Y for t, column in zip(self.outputs, y.T, strict=True)])

    def score(self, decision: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> float:
        """Return the share of samples with every label right."""
        return float(np.average(np.all(self.predicted(decision) == y, axis=1), weights=weights))

    def predicted(self, decision: np.ndarray) -> np.ndarray:
        """Return the labels that decision values stand for."""
        parts = zip(self.outputs, self.parts(decision), strict=True)
        return np.column_stack([output.predicted(part) for output, part in parts])

    def parts(self, decision: np.ndarray) -> list[np.ndarray]:
        """Return the decision values of each column of labels."""
        ends = np.cumsum([output.columns for output in self.outputs])[:-1]
        parts = zip(self.outputs, np.split(decision, ends, axis=1), strict=True)
        return [output.shaped(part) for output, part in parts]

    def for_ensemblers(self, y: np.ndarray) -> np.ndarray:
        """Return the targets as ensemblers see them: a table of real numbers."""
        return self.values(y)

    def is_flat(self, columns: int) -> bool:
        """Whether coefficients are a vector to users, not a matrix of one column."""
        return False


class RealTargets:
    """Real outputs, one (``flat``) or several.

    Examples
    --------
    >>> y = np.array([1.0, 2.0])
    >>> targets = RealTargets(flat=True)
    >>> targets.problems(y)[0].Y.ravel().tolist()
    [1.0, 2.0]
    """

    pairwise = False
    columns = None  # any number

    def __init__(self, *, flat: bool):
        self.flat = flat

    @property
    def fitted(self) -> dict[str, object]:
        """What a fitted machine keeps of it."""
        return {"_flat": self.flat}

    def problems(self, y: np.ndarray) -> list[Problem]:
        """Return what is to be solved: one problem with a column for each output."""
        return [Problem(np.asarray(y, dtype=np.float64).reshape(len(y), -1))]

    def shaped(self, view: np.ndarray) -> np.ndarray:
        """Return decision values (n, outputs) as users see them."""
        return view[:, 0] if self.flat else view

    def values(self, y: np.ndarray) -> np.ndarray:
        """Return the targets in the shape of decision values."""
        return np.asarray(y, dtype=np.float64)

    def score(self, decision: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> float:
        """Return R²."""
        return float(r2_score(y, decision, sample_weight=weights))

    def predicted(self, decision: np.ndarray) -> np.ndarray:
        """Return the outputs that decision values stand for: themselves."""
        return decision

    def for_ensemblers(self, y: np.ndarray) -> np.ndarray:
        """Return the targets as ensemblers see them: real numbers (integers 0 and 1 would be taken for classes)."""
        return np.asarray(y, dtype=np.float64)

    def is_flat(self, columns: int) -> bool:
        """Whether coefficients are a vector to users, not a matrix of one column."""
        return self.flat


Targets: TypeAlias = ClassTargets | LabelTargets | RealTargets


def one_vs_rest(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return a ±1 column for each class; of two classes the second is +1, in a single column.

    >>> one_vs_rest(np.array([0, 1, 1]), 2).ravel().tolist()
    [-1.0, 1.0, 1.0]
    """
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def pairwise_votes(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Return votes (n, n_classes) from pairwise decisions (n, pairs), ties broken by the sum of decision values.

    The sums are squeezed into (-1/3, 1/3), so that they never outweigh a vote.
    """
    votes = np.zeros((len(decisions), n_classes), dtype=decisions.dtype)
    confidence = np.zeros_like(votes)
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        value = decisions[:, column]
        votes[:, j] += value > 0
        votes[:, i] += value <= 0
        confidence[:, j] += value
        confidence[:, i] -= value
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))


def predicted_codes(decision: np.ndarray) -> np.ndarray:
    """Return class codes from decision values: the sign of one value, the largest of several.

    >>> predicted_codes(np.array([-0.5, 2.0])).tolist()
    [0, 1]
    """
    if decision.ndim == 2 and decision.shape[1] > 1:
        return decision.argmax(axis=1)
    return (decision.ravel() > 0).astype(np.intp)
