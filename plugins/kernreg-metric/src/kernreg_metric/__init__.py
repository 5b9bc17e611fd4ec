"""Learning kernels from labels and pairs, for kernreg: the methods that SCG is compared with.

    osk.py           osk: order-constrained spectral kernel
    ldk.py           ldk: LogDet kernel learning, on
    projections.py     cyclic Bregman projections (compiled), with pairs from
    pairs.py           side information
    ideal.py         ideal-regularized: ideal regularisation; ideal_kernel
    npk.py           simple-npk: non-parametric kernel learning
    fisher.py        fisher-score: the best Fisher score, through
    conformal.py       a kernel family
    base.py, from_graph.py, report.py   what the learners share
    programs/        the optimisation problems of osk and simple-npk
    measures/        kernel_alignment, centred_alignment, hsic

Every learner is a scikit-learn estimator with ``fit(X, y)``, where -1 marks samples without a label, and ``kernel_``,
an ordinary kernel for training samples and new ones.
"""

from kernreg_metric.conformal import conformal
from kernreg_metric.fisher import FisherScore
from kernreg_metric.ideal import IdealRegularized, ideal_kernel
from kernreg_metric.ldk import LDK
from kernreg_metric.measures.alignment import centred_alignment, kernel_alignment
from kernreg_metric.measures.independence import hsic
from kernreg_metric.npk import SimpleNPK
from kernreg_metric.osk import OSK

__version__ = "0.1.0"

# The version of kernreg's plugin interface this was written for.
__kernreg_api__ = "1.0"

__all__ = [
    "LDK",
    "OSK",
    "FisherScore",
    "IdealRegularized",
    "SimpleNPK",
    "centred_alignment",
    "conformal",
    "hsic",
    "ideal_kernel",
    "kernel_alignment",
]
