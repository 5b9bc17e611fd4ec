"""What kernreg claims about its speed: each claim a `track_` benchmark, a peer, and a number it must reach.

`every` names the benchmarks behind claims and the series the page draws; `quick` those of them that take seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from asv_benchmarks.benchmarks.bars import BARS
from asv_benchmarks.benchmarks.frameworks import WORKS
from asv_benchmarks.benchmarks.hot_path import RATIOS


@dataclass(frozen=True)
class Claim:
    """One line of the table on top of the page.

    Attributes
    ----------
    area : str
        The heading it stands under.
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

    area: str
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


def kernels() -> Iterator[Claim]:
    """Kernel matrices and products with them; then the same beside frameworks that compile or fuse."""
    area = "Kernels"
    for bar in BARS:
        packages, which = _packages(bar.peer), (repr(bar.work),)
        yield Claim(area, bar.work, "bars.Bars.track_ratio", bar.peer, packages, bar.at_least, parameters=which)
    memory = "operators.Memory.track_extra_bytes_of_a_product"
    yield Claim(area, "operator matvec rbf, n = 20000", memory, "memory beyond its input", (), 2e8, True, unit="bytes")
    for name, kind in (("rbf", "built-in"), ("bench-bell", "plugin's")):
        start = "cold_start.ColdStart.track_"
        work, which = f"first matrix of a {kind} kernel in a new process, beyond importing numba", (repr(name),)
        seconds, again = "seconds_with_a_warm_cache", "functions_compiled_by_the_second_process"
        yield Claim(area, work, start + seconds, "compiled code from disk", (), 1.0, True, which, unit="s")
        yield Claim(area, work, start + again, "compiled code from disk", (), 0.0, True, which, "functions compiled")
    edited = "cold_start.EditedPlugin.track_functions_compiled_after_an_edit"
    work, which = "a helper of a plugin's kernel is edited", (repr("bench-bell"),)
    yield Claim(area, work, edited, "code on disk, now stale", (), 1.0, parameters=which, unit="functions compiled")
    for ratio in RATIOS:
        name = f"{ratio.work} / {ratio.peer}"
        packages = ("torch",) if "PyTorch" in ratio.peer else ("numpy",)
        track, which, unit = "hot_path.HotPath.track_ratio", (repr(name),), "times the time"
        yield Claim(area, ratio.work, track, ratio.peer, packages, ratio.at_most, True, which, unit)
    area = "Kernels, other frameworks"
    packages = ("torch", "jax", "pykeops", "numexpr")
    for work in WORKS:
        peer, which = "the fastest of PyTorch, JAX, KeOps and numexpr", (repr("fastest"), repr(work))
        yield Claim(area, work, "frameworks.Frameworks.track_ratio", peer, packages, 2.5, parameters=which)


def solvers() -> Iterator[Claim]:
    """LS-SVM, AsK-LS, leave-one-out, tuning."""
    area, fits, time = "Solvers", "solvers.ExactFits.track_", "times the time"
    textbook = "numpy.linalg.solve of the printed (2m + 2) system"
    yield Claim(area, "ask-ls fit, K given, m = 3000", f"{fits}ask_ls_over_textbook", textbook, ("numpy",), 3.0)
    ten = f"{fits}ten_classes_over_one"
    yield Claim(area, "ask-ls fit, 10 classes", ten, "ask-ls fit, one class", (), 1.3, True, unit=time)
    yield Claim(area, "ask-ls fit, m = 3000", f"{fits}ask_ls_over_ls_svm", "ls-svm fit", (), 4.0, True, unit=time)
    for solver, peer in (("ls-svm", "one eigh"), ("ask-ls", "one svd")):
        path = "solvers.Paths.track_path_over_decomposition"
        work = f"{solver}, 30 γ with leave-one-out, m = 1500"
        yield Claim(area, work, path, peer, ("scipy",), 1.5, True, (repr(solver),), time)
    for peer in ("SVC", "KernelRidge"):
        tuning, against = "solvers.Tuning.track_tune_over_grid_search", f"GridSearchCV(cv=10) of {peer}"
        work = "tune by leave-one-out, 30 γ × 7 σ, m = 1000"
        yield Claim(area, work, tuning, against, ("scikit-learn",), 50.0, parameters=(repr(peer),))

    limits, beyond = "solvers.Limits.track_", "memory beyond the data"
    work, which = "ls-svm, iterative, m = 50000", (repr("iterative, m = 50000"),)
    yield Claim(area, work, f"{limits}extra_peak_memory", beyond, (), 2e9, True, which, "bytes")
    yield Claim(area, work, f"{limits}residual", "the system it solves", (), 1e-6, True, which, "relative residual")
    work, which = "ls-svm, 1000 landmarks, m = 500000", (repr("lowrank, m = 500000"),)
    yield Claim(area, work, f"{limits}extra_peak_memory", beyond, (), 4e9, True, which, "bytes")
    pivots, peer = "large_systems.Pivots.track_sets_with_half_of_the_iterations", "half the iterations of uniform ones"
    yield Claim(area, "iterative, 400 landmarks rpcholesky, five sets", pivots, peer, (), 4.0, unit="sets")


def decompositions() -> Iterator[Claim]:
    """Kernel PCA and kernel SVD."""
    area, against = "Decompositions", "kpca.AgainstScikitLearn.track_against_the_fastest_eigensolver"
    peer = "scikit-learn KernelPCA, its fastest eigen_solver"
    yield Claim(area, "kpca, 10 components, n = 5000", against, peer, ("scikit-learn",), 2.0)
    same, same_peer = "kpca.Agreement.track_difference_from_scikit_learn", "scikit-learn KernelPCA, scores up to sign"
    which = (repr("auto"),)
    yield Claim(area, "kpca, n = 2000", same, same_peer, ("scikit-learn",), 1e-8, True, which, "relative difference")
    lapack, lapack_peer = "kpca.Agreement.track_difference_from_lapack_on_an_indefinite_kernel", "numpy eigh"
    work = "kpca of the indefinite tl1, n = 2000"
    yield Claim(area, work, lapack, lapack_peer, ("numpy",), 1e-8, True, which, "relative difference")
    free = "kpca.MatrixFree.track_peak_bytes"
    yield Claim(area, "kpca, n = 50000, matrix never held", free, "memory of the process", (), 1e9, True, unit="bytes")
    graphs, randomized = "ksvd.Graphs.track_", ("scikit-learn randomized_svd to an error η of 0.01", "scikit-learn")
    exact = ("scipy svds", "scipy")
    for name, track, included, (peer, package), bar in (
        ("pubmed", "evaluation_included", "evaluation included", randomized, 50.0),
        ("pubmed", "matrix_given", "matrix given to the peer", randomized, 15.0),
        ("cora", "over_svds", "matrix given to the peer", exact, 1.0),
        ("citeseer", "over_svds", "matrix given to the peer", exact, 1.0),
    ):
        work, which = f"ksvd, exact top 20 of {name}, {included}", (repr(name),)
        yield Claim(area, work, f"{graphs}speedup_{track}", peer, (package,), bar, parameters=which)
        if track != "matrix_given":
            exactly = f"ksvd, top 20 of {name}"
            equation = "G v = σ u, Gᵀ u = σ v"
            yield Claim(area, exactly, f"{graphs}residual", equation, (), 1e-8, True, which, "relative residual")
    dense = "nystrom.DenseSamples.track_"
    for kind in ("clusters", "manifold"):
        work, which = f"nystrom, n = 20000, d = 50, sne, {kind}", (repr(kind),)
        svd = "scikit-learn randomized_svd of kernreg's matrix"
        speedup = f"{dense}speedup_over_randomized_svd"
        yield Claim(area, work, speedup, svd, ("scikit-learn",), 10.0, parameters=which)
        yield Claim(area, work, f"{dense}eta", "the exact singular vectors", (), 0.1, True, which, "error η")
    for kernel in ("rbf(sigma=6.0)", "sne(sigma=6.0)"):
        work = f"nystrom, {kernel}, 10⁶ sparse rows, 1000 landmarks"
        peak, which = "nystrom.Streaming.track_peak_bytes", (repr(kernel), repr("one"))
        yield Claim(area, work, peak, "memory of the process", (), 2e9, True, which, "bytes")
    for name in ("acm", "dblp", "pubmed"):
        for score in ("nmi", "coherence"):
            work, track = f"biclustering of {name}, {score}", f"biclustering.Table2.track_{score}_below_the_paper"
            yield Claim(area, work, track, "the paper's value", (), 0.05, True, (repr(name),), "below it")


def structured() -> Iterator[Claim]:
    """Kernels of the plugin kernreg-structured; all of one thread."""
    area = "Structured samples"
    series, tables = "structured.Alignment.track_", "structured.Mixed.track_against_gower"
    peer, packages = "tslearn, cdist_gak", ("tslearn",)
    for features in ("1", "3"):
        work, which = f"gak of 12 series, length 500, {features} feature(s)", ("500", features)
        yield Claim(area, work, f"{series}against_tslearn", peer, packages, 5.0, parameters=which)
    difference = f"{series}difference_from_tslearn"
    yield Claim(area, "gak, length 100", difference, peer, packages, 1e-8, True, ("100", "1"), "difference")
    work, which = "gower of a data frame, 2000 rows, 10 columns", ("'frame'", "2000")
    yield Claim(area, work, tables, "the package gower", ("gower",), 20.0, parameters=which)


def learned_kernels() -> Iterator[Claim]:
    """SCG-LDK and SCG-OSK."""
    area, time = "Kernels learned from labels", "times the time"
    printed = "scg.PrintedFormula.track_"
    peer = "numpy, the printed (K0⁻¹ + γS)⁻¹"
    yield Claim(area, "scg-ldk fit, n = 2000", f"{printed}against_numpy", peer, ("numpy",), 1.0)
    bregman = "metric.ClosedForm.track_scg_ldk_against_bregman"
    peer, which = "LDK of kernreg-metric, 10⁴ of 79 800 pairs by Bregman projections", ("10000",)
    yield Claim(area, "scg-ldk fit, n = 400", bregman, peer, ("kernreg-metric",), 5.0, parameters=which)
    equation = "the equation it solves, K0 numerically singular"
    singular = f"{printed}residual_where_singular"
    yield Claim(area, "scg-ldk, n = 2000", singular, equation, (), 1e-8, True, unit="relative residual")
    for name, work in (("exact", "scg-ldk"), ("lowrank", "scg-ldk on landmarks"), ("osk", "scg-osk")):
        growth = "scg.LabelGrowth.track_growth"
        labels = f"{work}, 90 % of the labels, n = 2000"
        yield Claim(area, labels, growth, "10 % of the labels", (), 1.3, True, (repr(name),), time)
    for name, work, seconds in (
        ("exact", "scg-ldk", 37.5),
        ("lowrank", "scg-ldk on landmarks, its features", 3.75),
        ("osk", "scg-osk", 16.7),
    ):
        adult, paper = "scg.Adult.track_seconds", "a share of the paper's time: 1/10, 1/100, 1/50"
        yield Claim(area, f"{work}, Adult a6a, 11220 samples", adult, paper, (), seconds, True, (repr(name),), "s")


def composition() -> Iterator[Claim]:
    """Chains and model files."""
    area, time = "Chains and model files", "times the time"
    hand, peer = "chains.ByHand.track_time_over_steps_by_hand", "the two fits by hand"
    yield Claim(area, "chain kpca, ls-svm, m = 2000", hand, peer, (), 1.2, True, ("2000",), time)
    shared, peer = "chains.SharedMatrix.track_chain_over_solvers_one_by_one", "four ls-svm, each for itself"
    yield Claim(area, "four ls-svm branches, one kernel", shared, peer, (), 1.0, True, ("4",), time)
    work, changed = "chain of depth four, saved and loaded", "chains.Deep.track_predictions_changed_by_a_file"
    yield Claim(area, work, changed, "itself", (), 0.0, True, unit="predictions differ")
    accepted = "model_files.Bars.track_damaged_files_accepted_of_200"
    yield Claim(area, "200 damaged model files", accepted, "none may be read", (), 0.0, True, unit="accepted")
    lost = "model_files.Bars.track_broken_files_of_50_killed_saves"
    killed, whole = "50 processes killed while saving", "a whole file is left"
    yield Claim(area, killed, lost, whole, (), 0.0, True, unit="(1: some lost)")


CLAIMS: list[Claim] = [
    *kernels(),
    *structured(),
    *solvers(),
    *decompositions(),
    *learned_kernels(),
    *composition(),
]

#: Benchmarks beside those behind claims that the quick profile runs: what the page draws.
SERIES = ("roofline.Roofline.", "scaling.Exponents.", "scaling.Points.")
LONG_SERIES = ("kernels.Growth.",)

#: How the names of those begin that are too long for the quick profile; the full one has them.
LONG = (
    "solvers.Tuning.track_tune_over_grid_search",
    "ksvd.Graphs.",
    "solvers.Limits.",
    "large_systems.",
    "kpca.Agreement.track_difference_from_lapack_on_an_indefinite_kernel",
    "kpca.MatrixFree.track_peak_bytes",
    "nystrom.",
    "scg.Adult.track_seconds",
    "scg.LabelGrowth.track_growth",
    "chains.SharedMatrix.track_chain_over_solvers_one_by_one",
    "cold_start.",
    "metric.ClosedForm.track_scg_ldk_against_bregman",
    "biclustering.",
    "model_files.Bars.track_broken_files_of_50_killed_saves",
    "frameworks.Frameworks.track_ratio",
    "hot_path.",
)


#: Works of claims that take too long for the quick profile, mostly because of their peers.
SLOW = (
    "laplacian k(X), d = 64",
    "laplacian k(X), d = 512",
    "tl1 k(X), d = 64",
    "tl1 k(X), d = 512",
    "operator matvec rbf, n = 20000, d = 16",
    "operator matvec sne, citation graph",
)


def quick() -> str:
    """Return the regular expression that picks the benchmarks of the quick profile."""
    short = (claim for claim in CLAIMS if not claim.benchmark.startswith(LONG) and claim.work not in SLOW)
    return _pattern(short, SERIES)


def every() -> str:
    """Return the regular expression that picks the benchmarks behind all claims, and the series."""
    return _pattern(CLAIMS, [*SERIES, *LONG_SERIES])


def _pattern(claims: Iterable[Claim], series: Iterable[str]) -> str:
    """Of a claim only its own parameters are run: asv matches a pattern with ``name(parameters)``, too."""
    wanted = {
        f"{claim.benchmark}({', '.join(claim.parameters)})" if claim.parameters else claim.benchmark for claim in claims
    }
    return "|".join(f"^{re.escape(name)}" for name in [*sorted(wanted), *series])
