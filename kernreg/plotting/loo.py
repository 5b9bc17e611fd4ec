"""Leave-one-out over γ, and the values of γ at which there is no solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.linalg import BlockSpectrum, SymmetricSpectrum, centre
from kernreg.plotting.base import BLUE, GREEN, RED, make_axes, short

_LINES = 40  # more poles than this are ticks along the bottom, not lines


class LooPathDisplay:
    """Score and squared error of exact leave-one-out against γ, with the poles marked.

    Parameters
    ----------
    gamma, score, squared_error : array-like of shape (G,)
        As in ``loo_path_`` of a solver; a γ at a pole has the score -inf.
    chosen : float, optional
        The γ taken.
    poles : array-like, optional
        Values of γ without a unique solution.
    score_name : str

    Attributes
    ----------
    ax_, error_ax_, figure_ : Axes, Axes, Figure
        Scores on the left axis, squared errors on the right.

    Examples
    --------
    >>> LooPathDisplay([0.1, 1.0, 10.0], [0.7, 0.9, 0.8], [0.5, 0.2, 0.3], chosen=1.0).plot().ax_.get_xscale()
    'log'
    """

    def __init__(
        self,
        gamma: Any,
        score: Any,
        squared_error: Any = None,
        *,
        chosen: float | None = None,
        poles: Any = (),
        score_name: str = "accuracy",
    ):
        self.gamma = np.asarray(gamma, dtype=np.float64)
        order = np.argsort(self.gamma, kind="stable")
        self.gamma, self.score = self.gamma[order], np.asarray(score, dtype=np.float64)[order]
        self.squared_error = None if squared_error is None else np.asarray(squared_error, dtype=np.float64)[order]
        self.chosen, self.poles, self.score_name = chosen, np.asarray(poles, dtype=np.float64), score_name
        if not self.gamma.size or not np.isfinite(self.score).any():
            raise DataError("there is no γ with a finite leave-one-out score to draw")

    @classmethod
    def from_estimator(cls, estimator: Any, *, poles: bool = True, ax: Any = None, **options: Any) -> LooPathDisplay:
        """Draw the path of a solver whose γ was chosen by leave-one-out.

        Parameters
        ----------
        estimator : fitted solver
            With ``gamma="loo"`` or a sequence of γ.
        poles : bool
            Whether to find the poles, by one decomposition of the training matrix: -1/λ for the negative eigenvalues λ
            of the centred matrix (``ls-svm``), 1/σ for its singular values σ (``ask-ls``).
        ax, **options
            As for `plot`.
        """
        path = getattr(estimator, "loo_path_", None)
        if path is None:
            raise DataError(
                f"{type(estimator).__name__} has no leave-one-out path; fit it with gamma='loo' or a sequence of γ, "
                "and strategy='exact'"
            )
        name = "accuracy" if hasattr(estimator, "classes_") else "R²"
        display = cls(
            path["gamma"],
            path["score"],
            path["squared_error"],
            chosen=estimator.gamma_,
            poles=find_poles(estimator) if poles else (),
            score_name=name,
        )
        return display.plot(ax, **options)

    def plot(self, ax: Any = None, *, title: str | None = None) -> LooPathDisplay:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            A second axis for squared errors is added to it.
        title : str, optional
        """
        (self.ax_,) = make_axes(ax, 1, (6.4, 4.2))
        self.figure_ = self.ax_.figure
        self.error_ax_: Any = None
        seen = np.isfinite(self.score)
        handles = self.ax_.plot(
            self.gamma, np.where(seen, self.score, np.nan), "o-", color=BLUE, markersize=4, label=self.score_name
        )
        self.ax_.set(xscale="log", xlabel="γ", title=title or "Leave-one-out over γ")
        self.ax_.set_ylabel(f"leave-one-out {self.score_name}", color=BLUE)
        self.ax_.tick_params(axis="y", labelcolor=BLUE)
        if self.squared_error is not None:
            handles += self._errors(seen)
        low, high = self.gamma[0], self.gamma[-1]
        inside = self.poles[(self.poles >= low) & (self.poles <= high)]
        if len(inside):
            handles.append(self._mark_poles(inside))
        if (~seen).any():
            transform = self.ax_.get_xaxis_transform()
            handles += self.ax_.plot(
                self.gamma[~seen],
                np.full((~seen).sum(), 0.03),
                "x",
                color=RED,
                transform=transform,
                label="γ at a pole",
            )
        if self.chosen is not None:
            handles.append(self.ax_.axvline(self.chosen, color="0.3", linestyle="--", linewidth=1.2, zorder=1))
            handles[-1].set_label(f"chosen, γ = {short(self.chosen)}")
        self.ax_.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=min(4, len(handles)))
        return self

    def _errors(self, seen: np.ndarray) -> list[Any]:
        assert self.squared_error is not None
        self.error_ax_ = self.ax_.twinx()
        errors = np.where(seen & np.isfinite(self.squared_error), self.squared_error, np.nan)
        handles = self.error_ax_.plot(self.gamma, errors, "s-", color=GREEN, markersize=3, label="squared error")
        positive = errors[np.isfinite(errors) & (errors > 0.0)]
        if positive.size and positive.max() > 30.0 * positive.min():
            self.error_ax_.set_yscale("log")
        self.error_ax_.set_ylabel("leave-one-out squared error", color=GREEN)
        self.error_ax_.tick_params(axis="y", labelcolor=GREEN)
        return handles

    def _mark_poles(self, inside: np.ndarray) -> Any:
        few = len(inside) <= _LINES
        name = f"{len(inside)} pole{'s' if len(inside) > 1 else ''}{'' if few else ' (ticks)'}"
        top, width, opacity = (1.0, 1.0, 0.7) if few else (0.06, 0.8, 0.8)
        transform = self.ax_.get_xaxis_transform()
        lines = self.ax_.vlines(inside, 0.0, top, colors=RED, linewidths=width, alpha=opacity, transform=transform)
        lines.set_label(name)
        lines.set_zorder(0)
        return lines


def find_poles(estimator: Any) -> np.ndarray:
    """Return the positive γ at which the system of a fitted dual solver is singular, ascending.

    One-vs-one problems have systems of their own, and are refused.
    """
    if getattr(estimator, "multi_class", "one-vs-rest") != "one-vs-rest":
        raise DataError("each pair of classes has poles of its own with multi_class='one-vs-one'; give poles=False")
    centred = centre(estimator._training_matrix(), estimator._weights, overwrite=True)
    if estimator.requires_symmetric_kernel:
        values = -SymmetricSpectrum(centred).values
    else:
        values = BlockSpectrum(centred).values
    scale = np.abs(values).max(initial=0.0)
    positive = values[values > len(values) * np.finfo(np.float64).eps * scale]
    return np.sort(1.0 / positive)
