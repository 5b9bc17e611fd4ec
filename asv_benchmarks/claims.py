"""What kernreg claims about its speed: each claim a `track_` benchmark, a peer, and a number it must reach.

`quick` names the benchmarks of the quick profile: those behind claims, and the series the page draws.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from asv_benchmarks.benchmarks.bars import BARS


@dataclass(frozen=True)
class Claim:
    """One line of the table on top of the page.

    Attributes
    ----------
    work : str
        What is done.
    benchmark : str
        The full name of the `track_` benchmark.
    peer : str
        What it is measured against, in the same process.
    packages : tuple of str
        Distributions whose versions the page shows beside the peer.
    bar : float
        The number to reach, or not to exceed.
    at_most : bool
        Whether less is better.
    parameters : tuple of str
        Which parameters of the benchmark, as text.
    unit : str
    """

    work: str
    benchmark: str
    peer: str
    packages: tuple[str, ...]
    bar: float
    at_most: bool = False
    parameters: tuple[str, ...] = field(default=())
    unit: str = "times faster"

    def met(self, value: float) -> bool:
        """Return whether a measured value reaches the bar."""
        return value <= self.bar if self.at_most else value >= self.bar


def _packages(peer: str) -> tuple[str, ...]:
    if "scikit-learn" in peer or "rbf_kernel" in peer:
        return ("scikit-learn",)
    return ("scipy",) if "scipy" in peer else ("numpy",)


_FITS = "solvers.ExactFits.track_"
CLAIMS: list[Claim] = [
    *(
        Claim(
            bar.work, "bars.Bars.track_ratio", bar.peer, _packages(bar.peer), bar.at_least, parameters=(repr(bar.work),)
        )
        for bar in BARS
    ),
    Claim(
        "ask-ls fit, K given, m = 3000", f"{_FITS}ask_ls_over_textbook", "numpy.linalg.solve, 2m + 2", ("numpy",), 3.0
    ),
    Claim(
        "ask-ls, 10 classes", f"{_FITS}ten_classes_over_one", "ask-ls, one class", (), 1.3, True, unit="times the time"
    ),
    Claim("ask-ls fit, m = 3000", f"{_FITS}ask_ls_over_ls_svm", "ls-svm fit", (), 4.0, True, unit="times the time"),
    *(
        Claim(
            f"{solver}, 30 γ with leave-one-out",
            "solvers.Paths.track_path_over_decomposition",
            peer,
            ("scipy",),
            1.5,
            True,
            (repr(solver),),
            "times the time",
        )
        for solver, peer in (("ls-svm", "one eigh"), ("ask-ls", "one svd"))
    ),
    *(
        Claim(
            "tune, 30 γ × 7 σ, m = 1000",
            "solvers.Tuning.track_tune_over_grid_search",
            f"GridSearchCV(cv=10) of {peer}",
            ("scikit-learn",),
            50.0,
            parameters=(repr(peer),),
        )
        for peer in ("SVC", "KernelRidge")
    ),
    Claim(
        "kpca, 10 components, n = 5000",
        "kpca.AgainstScikitLearn.track_against_the_fastest_eigensolver",
        "scikit-learn KernelPCA, its fastest eigen_solver",
        ("scikit-learn",),
        2.0,
    ),
    *(
        Claim(
            f"ksvd, exact top 20 of {name}, {included}",
            f"ksvd.Graphs.track_speedup_{track}",
            "scikit-learn randomized_svd",
            ("scikit-learn",),
            bar,
            parameters=(repr(name),),
        )
        for name, track, included, bar in (
            ("pubmed", "evaluation_included", "kernel evaluation included", 50.0),
            ("pubmed", "matrix_given", "matrix given to the peer", 15.0),
            ("cora", "matrix_given", "matrix given to the peer", 1.0),
            ("citeseer", "matrix_given", "matrix given to the peer", 1.0),
        )
    ),
]

#: Benchmarks beside those behind claims that the quick profile runs, as regular expressions.
SERIES = (
    r"kernels\.Growth\.",
    r"kernels\.WriteLimit\.",
    r"kernels\.ProductLimit\.",
    r"solvers\.Growth\.",
    r"jit\.ExpRatio\.",
)

#: Too long for the quick profile; the full one has them.
LONG = (
    "solvers.Tuning.track_tune_over_grid_search",
    "ksvd.Graphs.track_speedup_evaluation_included",
    "ksvd.Graphs.track_speedup_matrix_given",
)


def quick() -> str:
    """Return the regular expression that picks the benchmarks of the quick profile."""
    names = sorted({claim.benchmark for claim in CLAIMS} - set(LONG))
    return "|".join([*(f"^{re.escape(name)}" for name in names), *(f"^{series}" for series in SERIES)])
