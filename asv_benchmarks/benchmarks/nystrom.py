"""The asymmetric Nyström method: dense samples against randomised SVD, graphs, and a million sparse rows.

The bars: on dense samples (n = 20 000, d = 50, SNE) ten times faster than evaluating the kernel matrix and a randomised
SVD of it, both at η ≤ 0.1; the extension to 1 000 000 sparse rows from 1000 landmarks in less than 2 GB. η is
`kernreg.metrics.singular_vector_error`.
"""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import randomized_svd

import kernreg
from kernreg.linalg.spectra.centred_pairs import centre_both_sides
from kernreg.linalg.spectra.partial import singular_triplets
from kernreg.metrics import singular_vector_error
from kernreg.solvers import AsymmetricNystroem

from .ksvd import COMPONENTS, bandwidth
from .peers import NODES, ROUNDS, TINY, citation_graph, fresh_process, size, threads, times_as_long

FEATURES = 50
SAMPLES = ("clusters", "manifold", "cloud")

#: A pair (A, Aᵀ) or one sample set, fitted in a process of its own: its peak of memory is that of the whole work.
FRESH = """
import json, resource, sys, time
import numpy as np, scipy.sparse as sp
import kernreg
from kernreg.solvers import AsymmetricNystroem
rows, columns, stored, landmarks, components, kernel, sides = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
indices = np.empty(rows * stored, dtype=np.int32)
for start in range(0, rows, 50_000):  # a categorical variable in each of the fields, as in click logs
    stop, width = min(rows, start + 50_000), columns // stored
    drawn = np.minimum(width * rng.random((stop - start, stored)) ** 4, width - 1).astype(np.int32)
    indices[start * stored : stop * stored] = (drawn + width * np.arange(stored, dtype=np.int32)).ravel()
indptr = np.arange(0, rows * stored + 1, stored, dtype=np.int32)
A = sp.csr_array((np.ones(rows * stored), indices, indptr), shape=(rows, columns))
data = (A, A.T.tocsr()) if sides == "pair" else A
before = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
few = tuple(side[:200] for side in data) if sides == "pair" else A[:200]
AsymmetricNystroem(kernel, 3, n_landmarks=50).fit(few).transform(A[:200])  # compiles
model = AsymmetricNystroem(kernel, components, n_landmarks=landmarks)
start = time.perf_counter()
with kernreg.config_context(memory="500MB"):
    model.fit(data)
    fitted = time.perf_counter() - start
    start = time.perf_counter()
    scores = model.transform(A)
    extended = time.perf_counter() - start
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
apart = float(np.abs(scores - model.left_scores_).max() / np.abs(model.left_scores_).max())
print(json.dumps({"fit": fitted, "transform": extended, "data": before, "peak": peak, "apart": apart}))
"""


def dense_samples(kind: str, n: int) -> np.ndarray:
    """Samples in 50 dimensions: 20 clusters, a noisy manifold of 3 dimensions, or a Gaussian cloud."""
    rng = np.random.default_rng(0)
    if kind == "clusters":
        centres = 3.0 * rng.standard_normal((20, FEATURES))
        return centres[rng.choice(20, n, p=rng.dirichlet(np.full(20, 2.0)))] + rng.standard_normal((n, FEATURES))
    if kind == "manifold":
        angles = 2.0 * np.pi * rng.random((n, 3))
        waves = np.hstack([wave(k * angles) for wave in (np.sin, np.cos) for k in (1, 2, 3)])
        return waves @ rng.standard_normal((18, FEATURES)) + 0.3 * rng.standard_normal((n, FEATURES))
    return rng.standard_normal((n, FEATURES))


def sne(X: np.ndarray) -> Any:
    """The SNE kernel with the bandwidth of the paper, √(M γ_x)."""
    return kernreg.make_kernel("sne", sigma=float(np.sqrt(X.shape[1] * X.var())))


def centred_matrix(kernel: Any, X: Any, Z: Any = None) -> np.ndarray:
    """The kernel matrix as kernreg evaluates it, centred on both sides, in one buffer."""
    G = kernel(X, Z)
    centre_both_sides(G)
    return G


def eta_of(model: Any, G: np.ndarray) -> float:
    """η of a fitted model against the triplets of the centred matrix."""
    r = model.left_vectors_.shape[1]
    return singular_vector_error(*singular_triplets(G, r)[:3], model.left_vectors_, model.right_vectors_)


@cache
def streamed(rows: int, landmarks: int, components: int, kernel: str, sides: str) -> dict[str, float]:
    """What the work on that many sparse rows and columns takes in a process of its own."""
    return fresh_process(FRESH, json.dumps([rows, rows, 39, landmarks, components, kernel, sides]))


class DenseSamples:
    """n = 20 000, d = 50, SNE, 20 triplets at η ≤ 0.1, kernel evaluation included."""

    params = (list(SAMPLES),)
    param_names = ("samples",)
    timeout = 1200

    def setup(self, kind):
        self.X = dense_samples(kind, size(20_000))
        self.kernel = sne(self.X)
        landmarks = {"clusters": 100, "manifold": 200, "cloud": 400}[kind]
        self.model = AsymmetricNystroem(self.kernel, 5 if TINY else COMPONENTS, n_landmarks=landmarks)
        with threads(2):
            self.model.fit(self.X)

    def time_fit(self, kind):
        self.model.fit(self.X)

    def peakmem_fit(self, kind):
        self.model.fit(self.X)

    def time_transform(self, kind):
        self.model.transform(self.X[:1000])

    def track_speedup_over_randomized_svd(self, kind):
        """The fewest passes of scikit-learn's randomized_svd, over the matrix kernreg evaluates; the bar is 10."""

        def peer():
            return randomized_svd(centred_matrix(self.kernel, self.X), COMPONENTS, n_iter=0, random_state=0)

        return times_as_long(peer, lambda: self.model.fit(self.X), min(3, ROUNDS))

    track_speedup_over_randomized_svd.unit = "times faster"

    def track_eta(self, kind):
        """The bar is 0.1."""
        return eta_of(self.model, centred_matrix(self.kernel, self.X))


class Tolerance:
    """Landmarks that grow until the estimated η is reached: the true η as a share of the tolerance."""

    params = (["clusters", "manifold"], [0.1, 0.01])
    param_names = ("samples", "tol")
    timeout = 600

    def setup(self, kind, tol):
        self.X = dense_samples(kind, size(4000))
        self.kernel = sne(self.X)
        AsymmetricNystroem(self.kernel, 5, tol=tol).fit(self.X[:200])  # compiles

    def fit(self, tol):
        return AsymmetricNystroem(self.kernel, 5 if TINY else COMPONENTS, tol=tol).fit(self.X)

    def time_fit(self, kind, tol):
        self.fit(tol)

    def track_true_eta_over_tolerance(self, kind, tol):
        """At most 1 where the estimate can be trusted."""
        return eta_of(self.fit(tol), centred_matrix(self.kernel, self.X)) / tol

    def track_landmarks(self, kind, tol):
        return self.fit(tol).solver_report_.rows


class Graphs:
    """Citation graphs (KSVD, table 4), landmarks by leverage; kernel SVD by sparse products is exact and faster."""

    params = (list(NODES),)
    param_names = ("graph",)
    timeout = 600

    def setup(self, name):
        A = citation_graph(name)
        self.data = A, A.T.tocsr()
        kernel = kernreg.make_kernel("sne", sigma=bandwidth(A, name))
        self.model = AsymmetricNystroem(kernel, 5, n_landmarks=min(400, A.shape[0] // 2), landmarks="leverage")
        self.fit()

    def fit(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of directions that few nodes do not show
            return self.model.fit(self.data)

    def time_fit(self, name):
        self.fit()


class Streaming:
    """A million sparse rows with 39 stored entries in a million columns, 1000 landmarks; the bar is 2 GB."""

    params = (["rbf(sigma=6.0)", "sne(sigma=6.0)"], ["one", "pair"])
    param_names = ("kernel", "sides")
    timeout = 1800

    def measured(self, kernel, sides):
        if TINY:
            return streamed(3000, 100, 3, kernel, sides)
        return streamed(1_000_000, 1000, COMPONENTS, kernel, sides)

    def track_peak_bytes(self, kernel, sides):
        """Of the whole process, the data included; the bar is 2e9."""
        return self.measured(kernel, sides)["peak"]

    def track_rows_per_second(self, kernel, sides):
        """The extension to all rows, `transform`."""
        return (3000 if TINY else 1_000_000) / self.measured(kernel, sides)["transform"]

    def track_apart(self, kernel, sides):
        """Largest difference of the scores of `transform` from those of `fit`, relative to the largest score."""
        return self.measured(kernel, sides)["apart"]
