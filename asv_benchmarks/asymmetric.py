"""Print the bars of kernreg-asymmetric and of ksvd-cluster: errors, scores and times, in this process, now.

    python -m asv_benchmarks.asymmetric                 every part
    python -m asv_benchmarks.asymmetric features        errors of random features relative to the bound
    python -m asv_benchmarks.asymmetric machine         AsK-LS on features of 500 000 rows, in seconds
    python -m asv_benchmarks.asymmetric lab-rbf         R² of lab-rbf with a fifth of the samples against tuned ls-svr;
                                                        sets may be named after it
    python -m asv_benchmarks.asymmetric clusters        NMI and ARI of directed graphs against spectral clustering

Data come from the folder that KERNREG_DATA names.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

import kernreg

THREE = ("shift-gauss(sigma=4.0, shift=0.5)", "sinh-gauss(sigma=4.0, beta=0.8)", "skew-laplace(above=12.0, below=6.0)")
TRAINING, TEST = 1500, 5000


def data(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of a file of the folder of data."""
    with np.load(Path(os.environ["KERNREG_DATA"]) / f"{name}.npz") as found:
        return dict(found)


def features() -> None:
    """Print the root mean square error at 4096 frequencies, relative to mass/√4096: the bar is 1.2."""
    X = np.random.default_rng(0).standard_normal((400, 8))
    print(f"{'kernel':44s}{'form':>8s}{'mass':>8s}{'error':>10s}{'error / (mass/√4096)':>23s}  bar 1.2")
    for spec in (*THREE, "cosh-gauss(sigma=4.0)", "rbf(sigma=4.0)"):
        K = kernreg.make_kernel(spec)(X)
        for form in ("polar", "parts"):
            map = kernreg.make_solver("ask-rff", kernel=spec, n_frequencies=4096, form=form).fit(X)
            error = np.sqrt(np.mean((map.transform(X) @ map.transform_right(X).T - K) ** 2))
            mass = map.mass_ if form == "polar" else map.part_masses_.sum()
            print(f"{spec:44s}{form:>8s}{mass:8.3f}{error:10.5f}{error / (mass / 64.0):23.3f}")


def machine() -> None:
    """Print the time of a fit of AsK-LS on features of 500 000 rows of covtype: the bar is 120 s on two cores."""
    found = data("covtype")
    order = np.random.default_rng(0).permutation(len(found["y"]))
    train, test = order[:500_000], order[500_000:]
    X = StandardScaler().fit(found["X"][train].astype(float)).transform(found["X"].astype(float))
    for count in (512, 1024):
        model = kernreg.make_solver("ask-rff-ls", kernel="shift-gauss(sigma=6.0, shift=0.1)", n_frequencies=count // 2)
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X[train], found["y"][train])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        score = model.score(X[test], found["y"][test])
        print(f"covtype, 500 000 rows, {count:5d} features: {wall:6.1f} s, {cpu:6.1f} s of CPU, accuracy {score:.3f}")
        print(f"    {model.solver_report_}")


def regressions(*names: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the sets that are named, or six: four of the folder of data, one of scikit-learn, one made.

    Two more are made on demand, friedman2 and friedman3.
    """
    names = names or ("kin40k", "casp_protein", "keggundirected", "cholesterol", "diabetes", "friedman1")
    for name in names:
        if name == "diabetes":
            yield name, *load_diabetes(return_X_y=True)
            continue
        if name == "friedman1":
            yield name, *make_friedman1(3000, 10, noise=1.0, random_state=0)
            continue
        if name == "friedman2":
            yield name, *make_friedman2(4000, noise=125.0, random_state=0)
            continue
        if name == "friedman3":
            yield name, *make_friedman3(4000, noise=0.1, random_state=0)
            continue
        found = data(name)
        complete = np.isfinite(found["X"]).all(axis=1)
        yield name, found["X"][complete], found["y"][complete]


def lab_rbf(*names: str) -> None:
    """Print mean R² on test samples: lab-rbf with at most a fifth of the samples as centres against tuned ls-svr.

    Divisions that were not looked at while the method was made: four of larger sets, 40 of smaller ones.
    """
    columns = {"samples": 9, "ls-svr R²": 11, "lab-rbf R²": 12, "gain": 9, "± s.e.": 9, "centres": 9, "seconds": 9}
    print(f"{'set':16s}" + "".join(f"{name:>{width}s}" for name, width in columns.items()))
    won = 0
    for name, X, y in regressions(*names):
        scores = []
        size = min(TRAINING, int(0.8 * len(y)))
        for seed in range(1001, 1005) if len(y) > TRAINING else range(2000, 2040):
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = order[:size], order[size : size + TEST]
            scaler = StandardScaler().fit(X[train])
            A, B = scaler.transform(X[train]), scaler.transform(X[test])
            scale = y[train].std()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tuned = kernreg.tune("ls-svr", None, A, y[train] / scale)  # widths and γ, by exact leave-one-out
            ours = kernreg.make_solver("lab-rbf")
            start = time.process_time()
            ours.fit(A, y[train])
            seconds = time.process_time() - start
            peer = tuned.best_estimator.predict(B) * scale
            spread = np.sum((y[test] - y[test].mean()) ** 2)
            scores.append((1.0 - np.sum((y[test] - peer) ** 2) / spread, ours.score(B, y[test]), seconds))
        peer_score, score, seconds = np.mean(scores, axis=0)
        gains = np.diff(np.array(scores)[:, :2], axis=1)
        won += score >= peer_score
        print(
            f"{name:16s}{size:9d}{peer_score:11.4f}{score:12.4f}{gains.mean():9.4f}"
            f"{gains.std(ddof=1) / np.sqrt(len(gains)):9.4f}{len(ours.support_):9d}{seconds:9.1f}",
            flush=True,
        )
    print(f"at least as good on {won}; the bar is 4 of 6")


def clusters() -> None:
    """Print NMI and ARI with the classes of citation graphs, of ksvd-cluster and of spectral clustering of (A + Aᵀ)/2.

    scikit-learn's spectral clustering is given (A + Aᵀ)/2 as it is; ksvd-cluster of it is the same with regularisation.
    """
    print(f"{'graph':12s}{'method':44s}{'NMI':>8s}{'ARI':>8s}{'seconds':>9s}")
    for name in ("cora", "citeseer", "pubmed"):
        found = data(name)
        n, y, edges = int(found["n_nodes"]), found["labels"], found["edges"]
        A = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
        A.data[:] = 1.0
        k, both = len(np.unique(y)), sp.csr_array((A + A.T) / 2)
        ours = {"n_clusters": k, "affinity": "graph", "n_components": 2 * k}
        spectral = SpectralClustering(k, affinity="precomputed", random_state=0, assign_labels="kmeans")
        methods = {
            "ksvd-cluster, both sides": (kernreg.make_solver("ksvd-cluster", **ours), A),
            "ksvd-cluster, sources": (kernreg.make_solver("ksvd-cluster", labels="source", **ours), A),
            "ksvd-cluster, targets": (kernreg.make_solver("ksvd-cluster", labels="target", **ours), A),
            "ksvd-cluster of (A + Aᵀ)/2": (kernreg.make_solver("ksvd-cluster", **ours), both),
            "SpectralClustering of (A + Aᵀ)/2": (spectral, sp.csr_matrix(both)),
        }
        for method, (solver, graph) in methods.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the graphs are not connected
                labels = solver.fit(graph).labels_
            seconds = time.perf_counter() - start
            score = normalized_mutual_info_score(y, labels), adjusted_rand_score(y, labels)
            print(f"{name:12s}{method:44s}{score[0]:8.3f}{score[1]:8.3f}{seconds:9.1f}", flush=True)


def main() -> None:
    """Run the parts that are named, or all."""
    parts = {"features": features, "machine": machine, "lab-rbf": lab_rbf, "clusters": clusters}
    if sys.argv[1:2] == ["lab-rbf"]:
        lab_rbf(*sys.argv[2:])
        return
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
