"""Machines of indefinite kernels, for kernreg: learning in Kreĭn spaces.

    svm.py             krein-svm: KSVM, the C-SVM in the associated Hilbert space, solved by
    smo.py               sequential minimal optimisation (compiled), or
    interior_point.py    on features of landmarks
    dc.py              iksvm-dc: the primal as a difference of convex functions, step by step in
    dc_program.py        Newton's method on each convex problem; whether there is a minimum at all
    ridge.py           krein-ridge, krein-ridge-regressor: regularised in |Λ|, γ chosen in
    ridge_machine.py     the fit of both, by
    ridge_path.py        leave-one-out with the metric held fixed, folds
    spaces.py          K = U Λ Uᵀ on all samples or on landmarks, and the way back to the indefinite kernel
    machine.py, settings.py, report.py   what the machines share

Every machine is a scikit-learn estimator, f(x) = Σ_i α_i k(x, x_i) + b with the kernel as it is. Principal components
of indefinite kernels are kernreg's own ``kpca``.
"""

from kernreg_krein.dc import IndefiniteDCSVC, UnboundedObjectiveWarning
from kernreg_krein.report import KreinReport
from kernreg_krein.ridge import KreinRidgeClassifier, KreinRidgeRegressor
from kernreg_krein.svm import KreinSVC

__version__ = "0.1.0"

# The version of kernreg's plugin interface this was written for.
__kernreg_api__ = "1.0"

__all__ = [
    "IndefiniteDCSVC",
    "KreinReport",
    "KreinRidgeClassifier",
    "KreinRidgeRegressor",
    "KreinSVC",
    "UnboundedObjectiveWarning",
]
