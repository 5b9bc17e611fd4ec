"""Parts that the docstrings of all dual machines share: `documented` puts them in place of ``{…}`` lines."""

from __future__ import annotations

from kernreg.common.docstrings import documented_with

_BLOCKS = {
    "classes": """\
    class_weight : dict or "balanced", optional
        Multiplies the weights of the samples of a class; ``"balanced"`` gives all classes the same sum. It counts in
        leave-one-out scores, and not in the frequencies that probabilities are calibrated on.
    calibration : {"sigmoid", "isotonic"}
        How leave-one-out decisions become the probabilities of `predict_proba`; computed when first asked for. Where
        there is no leave-one-out (iterative, sketched), by further fits without some of the samples.
""",
    "robust": """\
    robust : {"huber", "hampel", "logistic", "myriad"}, optional
        Samples whose leave-one-out residuals are large count less, by weights of this form, and the fit is repeated
        until these no longer change. ``robust_weights_`` keeps them.
""",
    "strategy": """\
    strategy : {"auto", "exact", "iterative", "blocks", "lowrank", "sketched"}
        ``exact`` holds the kernel matrix in memory; ``iterative`` never does (Krylov methods on streamed products, no
        leave-one-out), nor does ``blocks`` (coordinate descent on blocks of samples, for LS-SVM with positive definite
        kernels and a large γ, no leave-one-out); ``lowrank`` approximates it by landmarks, ``sketched`` by thousands of
        them (iterations, no leave-one-out). ``auto`` is exact while that fits the memory budget; `solver_report_` says
        what was taken, and an ApproximationWarning that it is on landmarks.
    tol, max_iter : float, int
        Relative residual to reach and bound on the iterations (iterative, sketched) or passes over all blocks
        (blocks); a ConvergenceWarning says if it was not reached.
    max_seconds : float, optional
        Bound on the time of the iteration (iterative, blocks), after which the best solution so far is taken.
    n_landmarks : int, optional
        Landmarks of the approximation (lowrank, sketched) or of the preconditioner (iterative); for blocks the rank in
        which each is taken, all of it by default. By default the first are √m log m, at least 500, at most 5000 and
        what 5·10¹² operations and the memory budget allow.
    landmarks : str or array of int
        How they are chosen: ``"uniform"``, ``"kmeans++"``, ``"entropy"``, ``"leverage"``, ``"rpcholesky"`` (pivots of
        randomly pivoted Cholesky); or their indices. ``"auto"`` is uniform, and pivots for the preconditioner of a
        positive definite kernel.
    random_state : int, Generator or None
        Of that choice, and of the sketch.
""",
    "fitted": """\
    kernel_ : Kernel
        The kernel, bound to the training samples.
    gamma_ : float
        The γ used.
    solver_report_ : SolveReport
        What ran, the residual reached, whether the solution is damped.
    n_iter_ : int
        Iterations of the Krylov method; 1 for a direct solve.
    landmarks_ : ndarray of int
        The training samples the model stands on, where the strategy is lowrank or sketched.
    loo_path_ : dict
        gamma, score and squared_error, where γ was chosen by leave-one-out.
    loo_views_, loo_residuals_, loo_score_
        See the properties; computed when first asked for.
""",
}

#: A decorator that completes the docstring of a class.
documented = documented_with(_BLOCKS)
