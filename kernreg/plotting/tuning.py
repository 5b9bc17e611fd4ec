"""What a search over parameters found, as a heat map of two of them or a line of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kernreg.errors import DataError, ParameterError
from kernreg.plotting.base import BLUE, RED, make_axes, short

_RESULTS = ("score", "squared_error", "error")


class TuningDisplay:
    """Scores over one or two parameters; over the others the best is taken.

    Parameters
    ----------
    rows : iterable of mapping
        One for each combination: its parameters and its ``score`` (-inf or NaN where it failed).
    x, y : str, optional
        The parameters along the axes; by default ``gamma`` and the first other one that varies.
    score_name : str

    Attributes
    ----------
    x, y : str or None
        What is along the axes; y is None for one varying parameter.
    scores : ndarray of shape (n_y, n_x)
        NaN where every combination failed.
    ax_, figure_ : Axes, Figure

    Examples
    --------
    >>> display = TuningDisplay([{"gamma": 0.1, "score": 0.6}, {"gamma": 1.0, "score": 0.8}])
    >>> display.x, display.scores.tolist()
    ('gamma', [[0.6, 0.8]])
    """

    def __init__(
        self,
        rows: Iterable[Mapping[str, Any]],
        x: str | None = None,
        y: str | None = None,
        *,
        score_name: str = "score",
    ):
        table = [dict(row) for row in rows]
        if not table:
            raise DataError("the table of combinations is empty")
        self.x, self.y = _along_the_axes(table, x, y)
        self.score_name = score_name
        self.x_values = _values(table, self.x)
        self.y_values = [None] if self.y is None else _values(table, self.y)
        self.scores = np.full((len(self.y_values), len(self.x_values)), np.nan)
        finite = [row for row in table if np.isfinite(float(row["score"]))]
        if not finite:
            raise DataError("no combination has a finite score to draw")
        for row in finite:
            i = 0 if self.y is None else _position(self.y_values, row[self.y])
            j = _position(self.x_values, row[self.x])
            self.scores[i, j] = np.fmax(self.scores[i, j], float(row["score"]))

    @classmethod
    def from_result(
        cls, result: Any, *, x: str | None = None, y: str | None = None, ax: Any = None, **options: Any
    ) -> Any:
        """Draw what `kernreg.tune` returned, or a fitted search of scikit-learn (``cv_results_``).

        Parameters
        ----------
        result : TuneResult or fitted search
        x, y : str, optional
            The parameters along the axes.
        ax, **options
            As for `plot`.
        """
        if hasattr(result, "cv_results_"):
            found = result.cv_results_
            means = found["mean_test_score"]
            rows = [{**params, "score": mean} for params, mean in zip(found["params"], means, strict=True)]
            return cls(rows, x, y, score_name="mean test score").plot(ax, **options)
        if not hasattr(result, "table"):
            raise DataError(f"{type(result).__name__} is neither what kernreg.tune returns nor a fitted search")
        table = result.table
        rows = table if isinstance(table, list) else table.to_dict("records")
        return cls(rows, x, y, score_name="leave-one-out score").plot(ax, **options)

    def plot(self, ax: Any = None, *, cmap: str = "viridis", annotate: bool | None = None) -> TuningDisplay:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
        cmap : str
        annotate : bool, optional
            Whether to write scores into the cells; by default where there are at most 60.
        """
        wide, high = len(self.x_values), len(self.y_values)
        size = (6.0, 4.2) if self.y is None else (min(12.0, 3.2 + 0.42 * wide), min(9.0, 2.4 + 0.42 * high))
        (self.ax_,) = make_axes(ax, 1, size)
        self.figure_ = self.ax_.figure
        if self.y is None:
            self._line()
        else:
            self._heat_map(cmap, wide * high <= 60 if annotate is None else annotate)
        return self

    def _line(self) -> None:
        scores = self.scores[0]
        place = np.arange(len(scores)) if not _logarithmic(self.x_values) else np.asarray(self.x_values, dtype=float)
        self.ax_.plot(place, scores, "o-", color=BLUE, markersize=4)
        best = int(np.nanargmax(scores))
        self.ax_.plot(place[best], scores[best], "*", color=RED, markersize=14, label=f"best, {scores[best]:.3g}")
        if _logarithmic(self.x_values):
            self.ax_.set_xscale("log")
        else:
            self.ax_.set_xticks(place, [_short(value) for value in self.x_values])
        self.ax_.set(xlabel=self.x, ylabel=self.score_name)
        self.ax_.grid(alpha=0.25)
        self.ax_.legend()

    def _heat_map(self, cmap: str, annotate: bool) -> None:
        self.ax_.set_facecolor("0.85")
        # The combinations worth comparing are the good ones: the worst must not take most of the colours.
        best, median, worst = (float(f(self.scores)) for f in (np.nanmax, np.nanmedian, np.nanmin))
        low = max(worst, best - 3.0 * (best - median)) if best > median else worst
        image = self.ax_.imshow(
            np.ma.masked_invalid(self.scores), cmap=cmap, aspect="auto", origin="lower", vmin=low, vmax=best
        )
        i, j = np.unravel_index(int(np.nanargmax(self.scores)), self.scores.shape)
        for row, column in np.ndindex(self.scores.shape):
            score = self.scores[row, column]
            if np.isnan(score):
                self.ax_.text(column, row, "×", ha="center", va="center", color="0.45")
            elif annotate:
                dark = score < low + 0.6 * (best - low)
                text = f"{score:.3f}".removeprefix("0") if 0 <= score < 1 else f"{score:.3g}"
                self.ax_.text(column, row, text, ha="center", va="center", fontsize=7, color="w" if dark else "k")
        box = self.ax_.add_patch(_rectangle(j - 0.5, i - 0.5))
        box.set_label(f"best, {self.scores[i, j]:.3g}")
        _ticks(self.ax_.set_xticks, self.x_values, rotation=45)
        _ticks(self.ax_.set_yticks, self.y_values)
        self.ax_.set(xlabel=self.x, ylabel=self.y)
        self.ax_.set_title(f"best {self.score_name} {self.scores[i, j]:.3g} (framed)", fontsize=10)
        self.figure_.colorbar(image, ax=self.ax_, label=self.score_name, extend="min" if worst < low else "neither")


def _along_the_axes(table: list[dict[str, Any]], x: str | None, y: str | None) -> tuple[str, str | None]:
    """Return the parameters to draw: those given, else γ and the first other ones that vary."""
    names = [name for name in table[0] if name not in _RESULTS]
    for given in (x, y):
        if given is not None and given not in names:
            raise ParameterError(f"{given!r} is no parameter of this search; it has {', '.join(names)}")
    varying = [name for name in names if len({repr(row[name]) for row in table if _present(row[name])}) > 1]
    rest = [name for name in varying if name not in (x, y)]
    if x is None:
        x = "gamma" if "gamma" in rest else next(iter(rest), names[0])
        rest = [name for name in rest if name != x]
    return x, next(iter(rest), None) if y is None else y


def _rectangle(x: float, y: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), 1, 1, fill=False, edgecolor=RED, linewidth=2.5)


def _ticks(put: Any, values: list[Any], **options: Any) -> None:
    step = -(-len(values) // 20)
    places = list(range(0, len(values), step))
    put(places, [_short(values[place]) for place in places], fontsize=8, **options)


def _present(value: Any) -> bool:
    return not (isinstance(value, float) and np.isnan(value))


def _values(table: list[dict[str, Any]], name: str) -> list[Any]:
    """Return the distinct values of a parameter, numbers in ascending order, anything else as met."""
    found: list[Any] = []
    for row in table:
        if _present(row[name]) and not any(_equal(row[name], value) for value in found):
            found.append(row[name])
    return sorted(found) if all(_is_number(value) for value in found) else found


def _equal(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(np.all(a == b))) or (_is_number(a) and _is_number(b) and a == b)


def _position(values: list[Any], value: Any) -> int:
    return next(i for i, known in enumerate(values) if _equal(known, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _logarithmic(values: list[Any]) -> bool:
    return all(_is_number(v) and v > 0 for v in values) and len(values) > 2 and max(values) >= 20 * min(values)


def _short(value: Any) -> str:
    text = short(value) if _is_number(value) else str(value)
    return text if len(text) <= 24 else text[:23] + "…"
