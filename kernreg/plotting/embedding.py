"""Embeddings of the two sides, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernreg.errors import DataError, ParameterError
from kernreg.plotting.base import BLUE, by_class, legend_outside, make_axes


class EmbeddingDisplay:
    """Two components of the left and of the right embedding, coloured by class.

    Parameters
    ----------
    left : array-like of shape (n, r)
    right : array-like of shape (m, r), optional
        Without it there is one panel.
    left_labels, right_labels : array-like, optional
        Classes or clusters of the points.
    names : tuple of str
        What the two sides are.

    Attributes
    ----------
    axes_, figure_ : list of Axes, Figure

    Examples
    --------
    >>> display = EmbeddingDisplay([[0.0, 1.0], [1.0, 0.0]], [[0.0, 2.0], [2.0, 0.0]], left_labels=["a", "b"])
    >>> len(display.plot().axes_)
    2
    """

    def __init__(
        self,
        left: Any,
        right: Any = None,
        *,
        left_labels: Any = None,
        right_labels: Any = None,
        names: tuple[str, str] = ("left", "right"),
    ):
        self.left = _points(left, "left")
        self.right = None if right is None else _points(right, "right")
        self.left_labels = _labels(left_labels, self.left, "left_labels")
        self.right_labels = None if self.right is None else _labels(right_labels, self.right, "right_labels")
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        Z: Any = None,
        *,
        left_labels: Any = None,
        right_labels: Any = None,
        names: tuple[str, str] = ("left", "right"),
        ax: Any = None,
        **options: Any,
    ) -> EmbeddingDisplay:
        """Draw what a fitted decomposition makes of samples.

        Parameters
        ----------
        estimator : estimator with ``transform``, and ``transform_right`` where there are two sides
        X : array-like
            Samples of the left side.
        Z : array-like, optional
            Samples of the right side; by default X for samples that are in both roles.
        left_labels, right_labels, names
            As for the class.
        ax, **options
            As for `plot`.
        """
        left = estimator.transform(X)
        right = None
        if hasattr(estimator, "transform_right"):
            right = estimator.transform_right(X if Z is None else Z)
            if Z is None and right_labels is None:
                right_labels = left_labels
        display = cls(left, right, left_labels=left_labels, right_labels=right_labels, names=names)
        return display.plot(ax, **options)

    def plot(
        self,
        ax: Any = None,
        *,
        components: tuple[int, int] = (0, 1),
        class_names: Sequence[str] | None = None,
        size: float | None = None,
    ) -> EmbeddingDisplay:
        """Draw.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            One for each side.
        components : tuple of int
            Which two components, counted from 0; of an embedding with one component it is drawn against the index.
        class_names : sequence of str, optional
            Names of the classes in both panels' legends.
        size : float, optional
            Of the points.
        """
        panels = [(self.left, self.left_labels, self.names[0])]
        if self.right is not None:
            panels.append((self.right, self.right_labels, self.names[1]))
        self.axes_ = make_axes(ax, len(panels))
        self.figure_ = self.axes_[0].figure
        for axes, (points, labels, name) in zip(self.axes_, panels, strict=True):
            self._panel(axes, points, labels, components, class_names, size)
            axes.set_title(f"{name} embedding" if len(panels) > 1 else "embedding")
        return self

    def _panel(
        self,
        ax: Any,
        points: np.ndarray,
        labels: np.ndarray | None,
        components: tuple[int, int],
        class_names: Sequence[str] | None,
        size: float | None,
    ) -> None:
        first, second = (int(c) for c in components)
        if max(first, second) >= points.shape[1] > 1 or min(first, second) < 0:
            raise ParameterError(
                f"components={components} is not accepted; the embedding has components 0 … {points.shape[1] - 1}"
            )
        if points.shape[1] == 1:
            x, y = np.arange(len(points)), points[:, 0]
            ax.set(xlabel="sample", ylabel="component 0")
        else:
            x, y = points[:, first], points[:, second]
            ax.set(xlabel=f"component {first}", ylabel=f"component {second}")
        area = size if size is not None else float(np.clip(6000 / max(1, len(points)), 4, 28))
        style: dict[str, Any] = {"s": area, "alpha": 0.75, "linewidths": 0}
        if labels is None:
            ax.scatter(x, y, color=BLUE, **style)
        else:
            groups = by_class(labels, class_names)
            for rows, name, colour, marker in groups:
                ax.scatter(x[rows], y[rows], color=colour, marker=marker, label=name, **style)
            if len(groups) <= 48:
                legend_outside(ax, len(groups), markerscale=max(1.0, (20.0 / area) ** 0.5), framealpha=0.8)
        ax.axhline(0.0, color="0.8", linewidth=0.7, zorder=0)
        if points.shape[1] > 1:
            ax.axvline(0.0, color="0.8", linewidth=0.7, zorder=0)


def _points(embedding: Any, name: str) -> np.ndarray:
    points = np.asarray(embedding, dtype=np.float64)
    if points.ndim != 2 or 0 in points.shape or not np.isfinite(points).all():
        raise DataError(f"{name} has shape {points.shape} or entries that are not finite; give a finite (n, r) array")
    return points


def _labels(labels: Any, points: np.ndarray, name: str) -> np.ndarray | None:
    if labels is None:
        return None
    found = np.asarray(labels)
    if found.shape != (len(points),):
        raise DataError(f"{name} has shape {found.shape}; give one label for each of the {len(points)} points")
    return found
