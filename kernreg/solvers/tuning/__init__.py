"""Parameters of kernels and γ, chosen by exact leave-one-out or by the evidence.

tuner.py    tune, and TuneResult, what it found
search.py   an estimator whose last step has leave-one-out, its samples, and the grids of its parameters
trials.py   trying the combinations of a grid: one after the other, side by side, or on an engine elsewhere
ends.py     whether the best of some values is at their end
"""

from kernreg.solvers.tuning.tuner import TuneResult, tune

__all__ = ["TuneResult", "tune"]
