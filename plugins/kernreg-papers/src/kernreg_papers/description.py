"""What the description of a table says. Descriptions hold no results of ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from kernreg.errors import ParameterError

_NUMBER = re.compile(r"^(-?\d*\.?\d+)(?:±(\d*\.?\d+))?$")
_NAME = re.compile(r"^[a-z0-9][a-z0-9-]*$")  # names become names of files


def check_name(name: str) -> None:
    """Raise ParameterError for a name that cannot be part of the name of a file."""
    if not _NAME.match(name):
        raise ParameterError(f"{name!r} is not accepted as a name; give lower case, digits and hyphens")


@dataclass(frozen=True)
class Reported:
    """A number that the paper prints.

    Attributes
    ----------
    mean : float
    std : float or None
        None where the paper gives none.

    Examples
    --------
    >>> Reported(0.95, 0.01).mean
    0.95
    """

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Row:
    """A data set of a table.

    Attributes
    ----------
    name : str
        Lower case, digits, hyphens.
    data : str
        Name for `kernreg.datasets.load`; ``openml:…`` where it has to be fetched; ``generated:…`` where it is made on
        the spot (`generated.py`); empty where it is nowhere to be had.
    official : bool
        Whether the official split is used. All trials then have the same samples, and most tables run one.
    missing : {"keep", "drop", "raise"}
        What is done about samples with missing values.
    measures : sequence of str
        Those of the table's measures that this row has; empty for all.
    subset : str
        Only the training samples of this official split are used, as if there were no others.
    n_train : int or None
        Number of training samples, where the table's share is not meant.
    options : mapping
        What else the methods of this table need to know about the row.
    trials : int, optional
        How often it is run with a random split, where that is not as often as the others of the table.
    note : str
        What differs from the paper in this row.

    Examples
    --------
    >>> Row("iris", "iris").data
    'iris'
    """

    name: str
    data: str
    official: bool = False
    missing: str = "raise"
    measures: Sequence[str] = ()
    subset: str = ""
    n_train: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    trials: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a method hands back.

    Attributes
    ----------
    predicted : ndarray or None
        Predicted targets of the test samples.
    chosen : mapping
        Parameters that were chosen, for the record.
    scores : mapping
        Measures that are not computed from predictions.
    decision : ndarray or None
        A number for each test sample that ranks them, for measures that need one (AUROC).

    Examples
    --------
    >>> Outcome(chosen={"gamma": 10.0}).chosen["gamma"]
    10.0
    """

    predicted: np.ndarray | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    decision: np.ndarray | None = None


@dataclass(frozen=True)
class Method:
    """A column of a table.

    Attributes
    ----------
    name, label : str
        For files, and for people.
    function : callable
        ``function(split, **settings)`` returns an Outcome. It sees the targets of training samples only.
    settings : mapping
        Grids and constants, as JSON can hold them; part of every result.
    quick : mapping
        Settings that are different in the quick profile.
    ours : bool
        Whether the column is not the paper's.
    note : str
        What differs from the paper in this column.
    revision : int
        Raised by hand where the function does something else with the same settings: older results do not count then.
    too_large : sequence of str
        Rows whose data are too large for the method: they are left out of the full run, and run in the quick profile.
    requires : str
        A module of a plugin without which the column cannot be run; it is then reported as such.

    Examples
    --------
    >>> Method("ls-svm", "LS-SVM", lambda split, gamma: Outcome(), {"gamma": 1.0}).settings["gamma"]
    1.0
    """

    name: str
    label: str
    function: Callable[..., Outcome]
    settings: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    ours: bool = False
    note: str = ""
    requires: str = ""
    too_large: Sequence[str] = ()
    revision: int = 0

    @property
    def is_installed(self) -> bool:
        """Whether the plugin of this column is there."""
        return not self.requires or find_spec(self.requires) is not None

    def settings_of(self, quick: bool) -> dict[str, Any]:
        """Return the settings of a profile."""
        return {**self.settings, **(self.quick if quick else {})}


@dataclass(frozen=True)
class Table:
    """One table of a paper.

    Attributes
    ----------
    name, title, paper : str
    rows : sequence of Row
    methods : sequence of Method
    reported : mapping
        Measure → (row, method) → Reported, all as fractions where the paper prints percent.
    elsewhere : mapping
        The same for columns of the paper that are not run here.
    measures : sequence of str
        Names in `running.MEASURES` or of scores that the methods hand back, the first the one that counts.
    lower : sequence of str
        Measures of which less is better.
    unmarked : sequence of str
        Measures that depend on the machine: the paper's stand beside ours, and nearness is not judged.
    train : float
        Share of training samples in a random split.
    unseen : float
        Share of samples that are not there when a method learns from labelled and unlabelled samples. They are the
        last of the test samples; the measures ``unlabelled`` and ``unseen`` are accuracies of the two parts.
    stratify : bool
        Whether a random split keeps the shares of the classes.
    scale : {"unit", "standard", "none"}
        Feature by feature: ``unit`` maps the training samples to [0, 1], ``standard`` all samples of a split but for
        the unseen ones to mean 0 and deviation 1.
    trials, quick_trials : int
    official_trials : int
        How often a row with an official split is run; more than once only where the methods themselves are random.
    quick_samples : int
        In the quick profile, larger data sets are subsampled to this many.
    protocol : str
        The paper's protocol, in words.
    differences : sequence of str
        What we do differently, and why.
    tuned_on_test : str
        Where the paper chose anything on test data; empty where nothing says so.

    Examples
    --------
    >>> from kernreg_papers import find_table
    >>> table = find_table("ask-table4")
    >>> len(table.rows) > 0, len(table.methods) > 1
    (True, True)
    """

    name: str
    title: str
    paper: str
    rows: Sequence[Row]
    methods: Sequence[Method]
    reported: Mapping[str, Mapping[tuple[str, str], Reported]]
    elsewhere: Mapping[str, Mapping[tuple[str, str], Reported]] = field(default_factory=dict)
    measures: Sequence[str] = ("accuracy",)
    lower: Sequence[str] = ()
    unmarked: Sequence[str] = ()
    train: float = 0.5
    unseen: float = 0.0
    stratify: bool = False
    scale: str = "unit"
    trials: int = 10
    quick_trials: int = 2
    official_trials: int = 1
    quick_samples: int = 300
    protocol: str = ""
    differences: Sequence[str] = ()
    tuned_on_test: str = ""

    def __post_init__(self) -> None:
        rows, methods = [row.name for row in self.rows], [method.name for method in self.methods]
        for name in (self.name, *rows, *methods):
            check_name(name)
        for names in (rows, methods):
            if len(set(names)) != len(names):
                raise ParameterError(f"{self.name} has two rows or methods of one name among {', '.join(names)}")
        for column in self.methods:
            for name in column.too_large:
                if name not in rows:
                    raise ParameterError(f"{self.name} has no row {name!r} that {column.name} could leave out")
        for measure, numbers in self.reported.items():
            for row, method in numbers:
                if measure not in self.measures or row not in rows or method not in methods:
                    raise ParameterError(
                        f"{self.name} reports {measure} of {row}, {method}, and the description has no such cell"
                    )

    def best_reported(self, measure: str, row: str) -> Reported | None:
        """Return the best number that the paper prints in a row, columns that are not run here included."""
        printed = [
            number
            for part in (self.reported, self.elsewhere)
            for (name, _), number in part.get(measure, {}).items()
            if name == row
        ]
        return (min if measure in self.lower else max)(printed, key=lambda number: number.mean, default=None)

    def first_measure(self, row: Row) -> str:
        """Return the measure of a row that counts."""
        return (row.measures or self.measures)[0]

    def rows_with(self, measure: str) -> list[Row]:
        """Return the rows that have this measure."""
        return [row for row in self.rows if not row.measures or measure in row.measures]

    def row(self, name: str) -> Row:
        """Return the row of this name."""
        return next(row for row in self.rows if row.name == name)

    def method(self, name: str) -> Method:
        """Return the method of this name."""
        return next(method for method in self.methods if method.name == name)

    @property
    def wanted_trials(self) -> tuple[int, ...]:
        """The numbers of trials of its rows, fewest first; rows whose data nobody has do not count beside others."""
        rows = [row for row in self.rows if row.data] or self.rows
        return tuple(sorted({self.trials_of(row, None, False) for row in rows}))

    def trials_of(self, row: Row, trials: int | None, quick: bool) -> int:
        """Return how often a row is run: as asked for, by default as the profile says; an official split less often."""
        by_default = self.quick_trials if quick else (row.trials or self.trials)
        wanted = by_default if trials is None else trials
        return min(wanted, 1 if quick else self.official_trials) if row.official else wanted


def numbers(methods: str, text: str, *, unit: float = 1.0) -> dict[tuple[str, str], Reported]:
    """Return the numbers of a printed table.

    Parameters
    ----------
    methods : str
        Names of the columns, separated by blanks.
    text : str
        A line for each row: its name, then ``mean`` or ``mean±std`` for each column, ``-`` where there is none.
    unit : float
        0.01 where the numbers are percent.

    Examples
    --------
    >>> numbers("rbf tl1", "sonar 84.5 84.3±1.5", unit=0.01)[("sonar", "tl1")]
    Reported(mean=0.843, std=0.015)
    """
    found = {}
    columns = methods.split()
    for line in filter(None, map(str.strip, text.splitlines())):
        row, *cells = line.split()
        if len(cells) != len(columns):
            raise ParameterError(f"{line!r} has {len(cells)} numbers; there are {len(columns)} columns: {methods}")
        for column, cell in zip(columns, cells, strict=True):
            if cell == "-":
                continue
            match = _NUMBER.match(cell)
            if match is None:
                raise ParameterError(f"{cell!r} in {line!r} is not accepted; write mean, mean±std or -")
            mean, std = (None if part is None else round(float(part) * unit, 6) for part in match.groups())
            assert mean is not None
            found[row, column] = Reported(mean, std)
    return found


def by_measure(methods: str, *, unit: float = 1.0, **texts: str) -> dict[str, dict[tuple[str, str], Reported]]:
    """Return the numbers of a printed table of several measures, each with its text as `numbers` takes it."""
    return {measure: numbers(methods, text, unit=unit) for measure, text in texts.items()}


def own_column(
    function: Callable[..., Outcome], settings: Mapping[str, Any], *, label: str = "kernreg tuned", **more: Any
) -> Method:
    """Return the column of a table that is not the paper's: what kernreg can do; `more` is as for `Method`."""
    return Method("tuned", label, function, settings, ours=True, **more)
