"""Time to accuracy of solvers for kernel SVD (Tao et al., ICML 2024, table 4): ``python -m asv_benchmarks.ksvd_table``.

Twenty triplets of the centred SNE kernel matrix, bandwidth k √(M γ_x): between rows and columns of the adjacency
matrices of Cora, Citeseer and Pubmed (k = 1, 1, 0.5), and on dense samples of the shape n = 20 000, d = 50. Every
method first gets the smallest setting (landmarks, power iterations) that reaches an accuracy, outside of the timing;
then the methods take turns and the best time of each counts. Two accuracies are asked for, each at 0.1 and 0.01:

η            of the paper, (1/r) Σ λ_i (1 - |u_iᵀũ_i|) + the same for v. It has the scale of the singular values, which
             are near 0.003 on the graphs: there a random basis already has η < 0.01.
relative η   η over the mean λ: 0 for exact vectors, nearly 2 for random ones, on any scale.

Times are seconds with kernel evaluation and, in brackets, without it: there the dense matrix, centred, is given for
free (to `KernelSVD` on sparse data its operator). Methods that need the dense matrix get the quicker of numpy's and
kernreg's evaluation. Settings are kept in the file of ``--save``, and so are times, unless ``--again`` asks anew.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import time
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh, svds
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import randomized_svd

import kernreg
from asv_benchmarks.benchmarks.ksvd import COMPONENTS, bandwidth, dense_kernel
from asv_benchmarks.benchmarks.nystrom import SAMPLES, centred_matrix, dense_samples, sne
from asv_benchmarks.benchmarks.peers import NODES, citation_graph, size, threads
from kernreg.engine.threads import single_threaded_blas
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.spectra.centred_pairs import TwoSidedOperator
from kernreg.linalg.spectra.partial import singular_triplets
from kernreg.metrics import singular_vector_error
from kernreg.persistence import replacing
from kernreg.solvers import AsymmetricNystroem, KernelSVD

Triplets = tuple[np.ndarray, np.ndarray]  # left and right vectors

GOALS = {"η ≤ 0.1": (0.1, False), "η ≤ 0.01": (0.01, False), "rel. ≤ 0.1": (0.1, True), "rel. ≤ 0.01": (0.01, True)}
LANDMARKS = (50, 100, 200, 400, 800, 1600)
ITERATIONS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16)
ENOUGH = 12.0  # seconds after which a method has had enough rounds


class Problem:
    """One kernel matrix: how to evaluate it, and how to go without."""

    def __init__(self, name: str):
        self.name = name
        if name in NODES:
            A = citation_graph(name)
            self.sigma, self.A = bandwidth(A, name), A
            self.left, self.right = A, A.T.tocsr()
            self.kernel = kernreg.make_kernel("sne", sigma=self.sigma)
        else:
            self.left = self.right = dense_samples(name, size(20_000))
            self.kernel = sne(self.left)
        self.data = self.left if self.left is self.right else (self.left, self.right)

    @cached_property
    def operator(self) -> TwoSidedOperator:
        """Products with the centred matrix, ready to be taken."""
        return TwoSidedOperator(self.kernel.bind(self.right).operator(self.left, self.right))

    def evaluations(self) -> dict[str, Callable[[], np.ndarray]]:
        """Ways to the centred matrix."""
        ways = {"kernreg": lambda: centred_matrix(self.kernel, self.left, self.right)}
        return {**ways, "numpy": lambda: dense_kernel(self.A, self.sigma)} if self.name in NODES else ways


# Methods: each takes the problem, the centred matrix or None, and a setting; ``None`` stands for one without settings.


def ours(problem: Problem, G: np.ndarray | None, setting: int) -> Triplets:
    """Kernel SVD as it comes; where the matrix is given, what it does then."""
    if G is None:
        svd = KernelSVD(problem.kernel, COMPONENTS).fit(problem.data)
        return svd.left_vectors_, svd.right_vectors_
    if problem.name in NODES:
        with single_threaded_blas():  # as it does: single vectors are too little work to share
            U, _, V, _ = singular_triplets(problem.operator, COMPONENTS, method="arpack")
    else:
        U, _, V, _ = singular_triplets(G, COMPONENTS)
    return U, V


def nystrom(landmarks: str) -> Callable[[Problem, np.ndarray | None, int], Triplets]:
    """The asymmetric Nyström method of kernreg."""

    def method(problem: Problem, G: np.ndarray | None, setting: int) -> Triplets:
        options = {"n_landmarks": setting, "landmarks": landmarks}
        if G is None:
            model = AsymmetricNystroem(problem.kernel, COMPONENTS, **options).fit(problem.data)
        else:
            samples = np.arange(len(G)), np.arange(G.shape[1])
            model = AsymmetricNystroem(precomputed(K=G), COMPONENTS, center=False, **options).fit(samples)
        return model.left_vectors_, model.right_vectors_

    return method


def randomized(problem: Problem, G: np.ndarray, setting: int) -> Triplets:
    """scikit-learn's randomised SVD with that many power iterations."""
    U, _, Vt = randomized_svd(G, COMPONENTS, n_iter=setting, random_state=0)
    return U, Vt.T


def arpack(problem: Problem, G: np.ndarray, setting: int) -> Triplets:
    """scipy's svds."""
    U, _, Vt = svds(G, COMPONENTS, v0=np.random.default_rng(0).standard_normal(min(G.shape)))
    return U[:, ::-1], Vt[::-1].T


def symmetric(problem: Problem, G: np.ndarray, setting: int) -> Triplets:
    """The Nyström method on GGᵀ and on GᵀG, as the paper compares it: Lanczos on the block, then the extension."""
    found = []
    for F in (G, G.T):
        rows = np.random.default_rng(0).permutation(len(F))[:setting]
        C = F @ F[rows].T
        values, vectors = eigsh(C[rows], COMPONENTS, v0=np.ones(setting))
        order = np.argsort(-np.abs(values))
        found.append(C @ (vectors[:, order] / values[order]))
    return found[0], found[1]


METHODS: dict[str, tuple[Callable[..., Triplets], tuple[int, ...], str, bool]] = {
    # name: (method, its settings, what they are, whether it can go without the matrix)
    "`KernelSVD`, auto": (ours, (0,), "", True),
    "`AsymmetricNystroem`": (nystrom("uniform"), LANDMARKS, "m", True),
    "the same, leverage": (nystrom("leverage"), LANDMARKS, "m", True),
    "randomized_svd": (randomized, ITERATIONS, "n_iter", False),
    "svds (ARPACK)": (arpack, (0,), "", False),
    "symmetric Nyström": (symmetric, LANDMARKS, "m", False),
}


class Accuracy:
    """η against exact triplets."""

    def __init__(self, problem: Problem, G: np.ndarray):
        # By LAPACK or block Krylov methods from the dense matrix: nothing that is timed here, to 1e-12.
        self.exact = singular_triplets(G, COMPONENTS, tol=1e-12)[:3]
        rng = np.random.default_rng(0)
        self.random = self.eta(*(np.linalg.qr(rng.standard_normal((n, COMPONENTS)))[0] for n in G.shape))

    def eta(self, left: np.ndarray, right: np.ndarray) -> float:
        return singular_vector_error(*self.exact, left, right)

    def reaches(self, eta: float, goal: str) -> bool:
        bound, relative = GOALS[goal]
        return eta <= bound * (float(np.mean(self.exact[1])) if relative else 1.0)


def find_settings(problem: Problem) -> dict[str, Any]:
    """The smallest setting of each method for each goal, with and without the matrix, and the best η it got to."""
    G = problem.evaluations()["kernreg"]()
    accuracy = Accuracy(problem, G)
    values = accuracy.exact[1]
    found: dict[str, Any] = {"random": accuracy.random, "mean": float(values.mean()), "methods": {}}
    for name, (method, settings, _, alone) in METHODS.items():
        for given in (False, True) if alone else (True,):
            reached: dict[str, int] = {}
            best = np.inf
            for setting in settings:
                if setting > max(G.shape) or len(reached) == len(GOALS):
                    continue
                eta = accuracy.eta(*method(problem, G if given else None, setting))
                best = min(best, eta)
                reached.update({goal: setting for goal in GOALS if goal not in reached and accuracy.reaches(eta, goal)})
                print(f"  {problem.name}: {name} {setting} {'given' if given else ''} η = {eta:.2g}", flush=True)
            found["methods"][f"{name}/{'given' if given else 'alone'}"] = {"reached": reached, "best": best}
    return found


def measure(problem: Problem, found: dict[str, Any], rounds: int) -> dict[str, float]:
    """Best seconds of every method at its settings, and of the evaluations; all take turns."""
    best: dict[str, float] = {}
    used: dict[str, float] = {}

    def clock(key: str, call: Callable[[], Any]) -> Any:
        if used.get(key, 0.0) > ENOUGH:
            return None
        start = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - start
        used[key] = used.get(key, 0.0) + seconds
        best[key] = min(best.get(key, np.inf), seconds)
        return result

    def turn(given: bool, G: np.ndarray | None) -> None:
        for name, (method, _, _, _) in METHODS.items():
            reached = found["methods"].get(f"{name}/{'given' if given else 'alone'}", {"reached": {}})["reached"]
            for setting in sorted(set(reached.values())):
                key = f"{name}/{'given' if given else 'alone'}/{setting}"
                clock(key, lambda method=method, setting=setting: method(problem, G, setting))

    if problem.name in NODES:
        problem.operator @ np.ones(problem.right.shape[0])  # made before the clock starts
    for _ in range(rounds):
        turn(False, None)
        G = None
        for way, evaluate in problem.evaluations().items():
            made = clock(f"evaluate/{way}", evaluate)
            G = made if made is not None else G
            del made
        turn(True, evaluate() if G is None else G)
        del G
        gc.collect()
    return best


def trivial(found: dict[str, Any]) -> list[str]:
    """The goals that random vectors meet."""
    allowed = {goal: bound * (found["mean"] if relative else 1.0) for goal, (bound, relative) in GOALS.items()}
    return [goal for goal, bound in allowed.items() if found["random"] <= bound]


def cells(name: str, found: dict[str, Any], times: dict[str, float]) -> list[str]:
    """One row of the table."""
    _, _, what, alone = METHODS[name]
    dense = min(seconds for key, seconds in times.items() if key.startswith("evaluate/"))
    cells = [name]
    for goal in GOALS:
        without = found["methods"][f"{name}/given"]["reached"].get(goal)
        given = times[f"{name}/given/{without}"] if without is not None else None
        if alone:
            setting = found["methods"][f"{name}/alone"]["reached"].get(goal)
            whole = times[f"{name}/alone/{setting}"] if setting is not None else None
        else:
            setting, whole = without, None if given is None else dense + given
        if whole is None:
            cells.append("not reached")
            continue
        mark = "† " if goal in trivial(found) else ""
        text = mark + f"{whole:.3g}" + ("" if given is None else f" ({given:.3g})")
        cells.append(text + (f", {what} = {setting}" if what else ""))
    return cells


def table(results: dict[str, Any]) -> str:
    """All problems as Markdown."""
    lines = [f"| data | method | {' | '.join(GOALS)} |", "| --- " * (2 + len(GOALS)) + "|"]
    for name, result in results.items():
        for number, method in enumerate(METHODS):
            row = cells(method, result["settings"], result["times"])
            lines.append(f"| {name if number == 0 else ''} | {' | '.join(row)} |")
    notes = ["", "† Random vectors meet this, too."]
    for name, result in results.items():
        evaluated = ", ".join(
            f"{key.split('/')[1]} {seconds:.3g} s"
            for key, seconds in result["times"].items()
            if key.startswith("evaluate/")
        )
        settings = result["settings"]
        notes.append(
            f"{name}: dense matrix by {evaluated}; mean singular value {settings['mean']:.3g}, η of a random basis "
            f"{settings['random']:.2g}, of `KernelSVD` {settings['methods']['`KernelSVD`, auto/alone']['best']:.1g}"
        )
    return "\n".join(lines + notes)


def main() -> None:
    """Read the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = [*NODES, "clusters", "manifold"]  # in a Gaussian cloud of 50 dimensions random vectors have η < 0.1, too
    parser.add_argument("--data", "--graph", nargs="*", choices=[*NODES, *SAMPLES], default=usual)
    parser.add_argument("--save", type=Path, help="a JSON file of settings and times, to go on from")
    parser.add_argument("--again", action="store_true", help="measure times anew, with the settings of the file")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4, help="turns of every method, fewer for slow ones")
    parser.add_argument("--settings", action="store_true", help="find the settings only")
    arguments = parser.parse_args()
    if not os.environ.get("KERNREG_DATA"):
        print("KERNREG_DATA is not set: random graphs of the same size\n")
    results: dict[str, Any] = {}
    if arguments.save is not None and arguments.save.exists():
        results = json.loads(arguments.save.read_text(encoding="utf-8"))
    with warnings.catch_warnings(), threads(arguments.threads):
        warnings.simplefilter("ignore", ConvergenceWarning)  # that few landmarks do not do is what is looked for
        for name in arguments.data:
            result = results.setdefault(name, {})
            problem = Problem(name)
            if "settings" not in result:
                result["settings"] = find_settings(problem)
            if not arguments.settings and ("times" not in result or arguments.again):
                result["times"] = measure(problem, result["settings"], arguments.rounds)
            if arguments.save is not None:
                with replacing(arguments.save) as file:
                    file.write(json.dumps(results, indent=1).encode())
    if not arguments.settings:
        print(table({name: results[name] for name in arguments.data}))


if __name__ == "__main__":
    main()
