"""Parts that the docstrings of the features and of the machines on them share."""

from __future__ import annotations

from kernreg.solvers import documented_with

#: A decorator that completes the docstring of a class.
documented = documented_with(
    {
        "features": """\
    kernel : str, KernelFamily or Kernel, optional
        ``shift-gauss``, ``sinh-gauss``, ``cosh-gauss``, ``skew-laplace``, ``profile-product``, or an even kernel:
        ``rbf``, ``laplacian``, ``matern``, ``cauchy``; also their transposes and positive multiples.
        By default that of the chain around it, else ``rbf``.
    n_frequencies : int
        D. Each side has 2 D features, all cosines first.
    form : {"polar", "parts"}
        ``polar`` draws frequencies from |μ| and gives each its phase. ``parts`` draws from the four positive parts of
        the real and the imaginary part, in proportion to their masses, as published. Their masses add up to more than
        that of |μ|, by up to √2, and the error is larger by as much.
    random_state : int, Generator, RandomState or None
        Of the frequencies.
""",
        "ensembler": """\
    ensembler : str, class or object
        What merges the views: ``"average"``, ``"source"``, ``"target"``, ``"best"``, ``"stack"``, or one's own.
""",
        "fitted": """\
    gamma_ : float
    coef_ : ndarray of shape (2, columns, 2 n_frequencies)
        Of φ(x) in the source view and of ψ(x) in the target view; columns are classes, one for two classes,
        or outputs.
    intercept_ : ndarray of shape (2, columns)
    kernel_, approximated_ : Kernel
        φ(x)ᵀψ(z), and what it stands for.
    ensembler_ : object
    loo_score_ : float
        Where γ was chosen by it.
    solver_report_ : FeatureReport
""",
    }
)
