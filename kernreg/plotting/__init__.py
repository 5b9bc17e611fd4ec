"""Pictures, in the manner of scikit-learn's displays; matplotlib is the optional extra ``plot``.

    spectrum.py   SpectrumDisplay       eigenvalues with their signs, or singular values
    matrix.py     KernelMatrixDisplay   the kernel matrix and its asymmetry
    embedding.py  EmbeddingDisplay      left and right embeddings side by side
    decision.py   DecisionViewsDisplay  decision regions of each view
    loo.py        LooPathDisplay        leave-one-out over γ, with the poles
    tuning.py     TuningDisplay         what a search over parameters found
    explanation.py  ExplanationDisplay  Shapley values: beeswarm, bars, one prediction
    intervals.py    IntervalDisplay     prediction intervals against the truth, sorted
    calibration.py  ReliabilityDisplay  predicted probabilities against frequencies
    residuals.py    ResidualDisplay     residuals left out against predictions, and against the normal distribution
    influence.py    InfluenceDisplay    leverage, residuals left out and influence of each training sample
    learning.py     LearningCurveDisplay  scores of subsets
    base.py       axes, colours, and what to say without matplotlib

A display holds the numbers it draws. It is made from them or by a ``from_…`` method, drawn by ``plot``, and then has
``ax_`` (or ``axes_``) and ``figure_``.

For those who draw pictures of their own: `pyplot` is matplotlib, or an error that says how to install it; `make_axes`
checks or makes axes; `PALETTE` holds the colours, `by_class` gives each class one, `legend_outside` finds room.

May import: the layers below it in docs/extend/architecture.md.
"""

from kernreg.plotting.base import PALETTE, by_class, legend_outside, make_axes, pyplot
from kernreg.plotting.calibration import ReliabilityDisplay
from kernreg.plotting.decision import DecisionViewsDisplay
from kernreg.plotting.embedding import EmbeddingDisplay
from kernreg.plotting.explanation import ExplanationDisplay
from kernreg.plotting.influence import InfluenceDisplay
from kernreg.plotting.intervals import IntervalDisplay
from kernreg.plotting.learning import LearningCurveDisplay
from kernreg.plotting.loo import LooPathDisplay
from kernreg.plotting.matrix import KernelMatrixDisplay
from kernreg.plotting.residuals import ResidualDisplay
from kernreg.plotting.spectrum import SpectrumDisplay
from kernreg.plotting.tuning import TuningDisplay

__all__ = [
    "PALETTE",
    "DecisionViewsDisplay",
    "EmbeddingDisplay",
    "ExplanationDisplay",
    "InfluenceDisplay",
    "IntervalDisplay",
    "KernelMatrixDisplay",
    "LearningCurveDisplay",
    "LooPathDisplay",
    "ReliabilityDisplay",
    "ResidualDisplay",
    "SpectrumDisplay",
    "TuningDisplay",
    "by_class",
    "legend_outside",
    "make_axes",
    "pyplot",
]
