"""Decision regions of each view of a classifier, in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.plotting.base import by_class, colours, make_axes


class DecisionViewsDisplay:
    """Where each view of a classifier decides for which class, and where the merged decision does.

    With two classes the shade is the decision value and the black line where it is zero; with more the colour is that
    of the largest value.

    Parameters
    ----------
    xx, yy : ndarray of shape (rows, columns)
        Coordinates of the grid.
    responses : dict of str to ndarray
        Decision values on the grid by view, (rows, columns) or (rows, columns, n_classes).
    classes : ndarray
    X, y : array-like, optional
        Points to draw, and their classes.

    Attributes
    ----------
    axes_, figure_ : list of Axes, Figure

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 2
    >>> clf = kr.make_solver("ask-ls", kernel="sne(sigma=1.0)", gamma=0.5).fit(X, y)
    >>> sorted(DecisionViewsDisplay.from_estimator(clf, X, y).responses)
    ['merged', 'source', 'target']
    """

    def __init__(
        self,
        xx: np.ndarray,
        yy: np.ndarray,
        responses: dict[str, np.ndarray],
        classes: Any,
        X: Any = None,
        y: Any = None,
    ):
        self.xx, self.yy, self.responses = np.asarray(xx), np.asarray(yy), dict(responses)
        self.classes = np.asarray(classes)
        self.X = None if X is None else np.asarray(X)
        self.y = None if X is None or y is None else np.asarray(y)
        for name, values in self.responses.items():
            if np.shape(values)[:2] != self.xx.shape:
                raise DataError(f"the view {name!r} has shape {np.shape(values)} on a grid of shape {self.xx.shape}")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 200,
        margin: float = 0.08,
        merged: bool = True,
        ax: Any = None,
        **options: Any,
    ) -> DecisionViewsDisplay:
        """Draw the views of a fitted classifier of samples with two features.

        Parameters
        ----------
        estimator : classifier with ``decision_views``
            For example ``ask-ls`` (two views) or ``ls-svm`` (one).
        X : array-like of shape (n, 2)
            Points that say where to draw, and are drawn.
        y : array-like of shape (n,), optional
            Their classes.
        grid_resolution : int
            Points of the grid along each axis.
        margin : float
            How far beyond the points, as a fraction of their range.
        merged : bool
            Whether to draw what the ensembler makes of several views, too.
        ax, **options
            As for `plot`.
        """
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise DataError(f"X has shape {points.shape}; decision regions are drawn in the plane, of (n, 2) samples")
        if not hasattr(estimator, "decision_views") or not hasattr(estimator, "classes_"):
            raise DataError(f"{type(estimator).__name__} is no fitted classifier with decision_views")
        low, high = points.min(axis=0), points.max(axis=0)
        reach = margin * np.where(high > low, high - low, 1.0)
        lines = [np.linspace(a - r, b + r, grid_resolution) for a, b, r in zip(low, high, reach, strict=True)]
        xx, yy = np.meshgrid(*lines)
        grid = np.column_stack([xx.ravel(), yy.ravel()])
        values = dict(estimator.decision_views(grid))
        if merged and len(values) > 1:
            values["merged"] = estimator.decision_function(grid)
        shaped = {name: np.reshape(v, (*xx.shape, *np.shape(v)[1:])) for name, v in values.items()}
        return cls(xx, yy, shaped, estimator.classes_, points, y).plot(ax, **options)

    def plot(self, ax: Any = None, *, feature_names: tuple[str, str] = ("x₁", "x₂")) -> DecisionViewsDisplay:
        """Draw, one panel for each view.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
        feature_names : tuple of str
            Labels of the axes.
        """
        self.axes_ = make_axes(ax, len(self.responses), (4.4, 4.2), share=True)
        self.figure_ = self.axes_[0].figure
        for place, (axes, (name, values)) in enumerate(zip(self.axes_, self.responses.items(), strict=True)):
            self._regions(axes, np.asarray(values))
            if self.X is not None:
                self._points(axes)
            axes.set(xlabel=feature_names[0], title=name if name in ("merged", "decision") else f"{name} view")
            if place == 0:
                axes.set_ylabel(feature_names[1])
        if self.X is not None and self.y is not None:
            self.axes_[-1].legend(loc="best", framealpha=0.85)
        return self

    def _regions(self, ax: Any, values: np.ndarray) -> None:
        from matplotlib.colors import LinearSegmentedColormap, ListedColormap

        shades = colours(len(self.classes))
        if values.ndim == 2:
            # White at zero. Targets are ±1: much beyond them nothing more is to be seen.
            limit = float(np.clip(np.abs(values).max(), 1e-12, 1.5))
            cmap = LinearSegmentedColormap.from_list("views", [shades[0], "white", shades[1]])
            levels = np.linspace(-limit, limit, 21)
            ax.contourf(self.xx, self.yy, values, levels=levels, cmap=cmap, extend="both", alpha=0.75)
            if values.min() < 0.0 < values.max():
                ax.contour(self.xx, self.yy, values, levels=[0.0], colors="black", linewidths=1.2)
            return
        winner = values.argmax(axis=2)
        ax.pcolormesh(
            self.xx,
            self.yy,
            winner,
            cmap=ListedColormap(shades),
            vmin=-0.5,
            vmax=len(shades) - 0.5,
            alpha=0.35,
            shading="nearest",
            rasterized=True,
            linewidth=0,
        )
        for code in range(len(shades)):
            inside = (winner == code).astype(float)
            if 0.0 < inside.mean() < 1.0:
                ax.contour(self.xx, self.yy, inside, levels=[0.5], colors="black", linewidths=0.6)

    def _points(self, ax: Any) -> None:
        assert self.X is not None
        style: dict[str, Any] = {"s": 20, "edgecolors": "black", "linewidths": 0.4}
        if self.y is None:
            ax.scatter(*self.X.T, color="white", **style)
            return
        shades = dict(zip(self.classes.tolist(), colours(len(self.classes)), strict=True))
        for rows, name, _, marker in by_class(self.y):
            ax.scatter(
                *self.X[rows].T, color=shades.get(self.y[rows[0]].item(), "0.5"), marker=marker, label=name, **style
            )
