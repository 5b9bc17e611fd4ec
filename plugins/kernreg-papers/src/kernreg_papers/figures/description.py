"""What the description of a figure says: its parts, what computes them, what draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernreg.errors import ParameterError
from kernreg_papers.description import Row, check_name


@dataclass(frozen=True)
class Part:
    """What is computed at once, and stored in one file: a panel of the picture, or several.

    Attributes
    ----------
    name, label : str
        For files, and for people.
    compute : callable
        ``compute(data, seed, **settings)`` returns a mapping from names to numbers, strings and arrays. `data` is the
        data set, None where the part needs none.
    draw : callable
        ``draw(axes, values)``, with as many axes as there are panels and what `compute` returned; arrays are lists, as
        they come out of the file.
    data : str
        Name for `kernreg.datasets.load`; empty where the part makes its own.
    settings : mapping
        As JSON can hold them; part of the result.
    quick : mapping
        Settings that are different in the quick profile.
    panels : int
    missing : {"keep", "drop", "raise"}
        What is done about samples with missing values.

    Examples
    --------
    >>> Part("circle", "A circle", lambda data, seed: {"x": [0, 1]}, lambda axes, values: None).compute(None, 0)
    {'x': [0, 1]}
    """

    name: str
    label: str
    compute: Callable[..., Mapping[str, Any]]
    draw: Callable[[list[Any], Mapping[str, Any]], None]
    data: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    panels: int = 1
    missing: str = "raise"

    def settings_of(self, quick: bool) -> dict[str, Any]:
        """Return the settings of a profile."""
        return {**self.settings, **(self.quick if quick else {})}

    @property
    def row(self) -> Row | None:
        """The data of the part, as a row of a table has them; None where it needs none."""
        return Row(self.name, self.data, missing=self.missing) if self.data else None


@dataclass(frozen=True)
class Figure:
    """One figure of a paper.

    Attributes
    ----------
    name, title, paper : str
    parts : sequence of Part
        Drawn from left to right, then from top to bottom. A part without data is left out of the picture and named
        below it.
    protocol : str
        What the paper's figure shows, in words.
    reading : str
        What is to be seen in the paper's, to compare ours with.
    differences : sequence of str
        What we do differently, and why.
    columns : int
        Panels side by side.
    size : tuple of float
        Width and height of a panel, in inches.

    Examples
    --------
    >>> from kernreg_papers import find_figure
    >>> len(find_figure("scg-figure1").parts) > 0
    True
    """

    name: str
    title: str
    paper: str
    parts: Sequence[Part]
    protocol: str = ""
    reading: str = ""
    differences: Sequence[str] = ()
    columns: int = 3
    size: tuple[float, float] = (3.8, 3.2)

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        for name in (self.name, *names):
            check_name(name)
        if not names or len(set(names)) != len(names):
            raise ParameterError(f"{self.name} has parts {', '.join(names) or 'of no name'}; give each its own name")

    def part(self, name: str) -> Part:
        """Return the part of this name."""
        return next(part for part in self.parts if part.name == name)
