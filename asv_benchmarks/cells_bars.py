"""Measure the bars of local machines, each in one command; the data are found by KERNREG_DATA.

    python -m asv_benchmarks.cells_bars covtype            accuracy, seconds and memory on covtype, 80/20, standardised
    python -m asv_benchmarks.cells_bars covtype --peers    RandomForest(200) and tuned HistGradientBoosting beside it
    python -m asv_benchmarks.cells_bars mnist              60 000/10 000, pixels scaled only
    python -m asv_benchmarks.cells_bars growth             50 000 to 400 000 rows of covtype: the exponent of the time

``--rows`` takes fewer training rows, ``--set name=value`` another setting of the machine.
"""

from __future__ import annotations

import argparse
import ast
import resource
import time
from typing import Any

import numpy as np

from asv_benchmarks.contestants import PROBLEMS, Problem
from kernreg.solvers import CellsClassifier

#: The settings measured, by data set.
SETTINGS: dict[str, dict[str, Any]] = {
    "covtype": {"kernel": "laplacian", "cell_size": 3000, "widths": (0.0625, 0.125, 0.25)},
    "mnist": {
        "solver": "ls-svm(gamma=[10.0, 100.0, 1000.0])",  # more interpolates, and needs decompositions
        "kernel": "rbf",
        "cell_size": 3000,
        "overlap": 1.0,
        "partition": "kmeans",
        "widths": (0.5, 1.0, 2.0),
    },
}


def peers() -> dict[str, Any]:
    """Return what local machines are compared with."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    boosted = HistGradientBoostingClassifier(max_iter=500, max_leaf_nodes=255, early_stopping=False, random_state=0)
    return {"RandomForest(200)": RandomForestClassifier(200, n_jobs=2, random_state=0), "HistGradientBoosting": boosted}


def measure(name: str, model: Any, problem: Problem) -> tuple[float, float]:
    """Fit and score a model, print a line, and return accuracy and seconds of fit and predictions."""
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(problem.X, problem.y)
    fitted = time.perf_counter()
    accuracy = 1.0 - problem.error(model.predict(problem.X_test))
    done, cpu = time.perf_counter(), time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{name:24s}{len(problem.X):8d} rows, accuracy {accuracy:.4f} fit {fitted - wall:7.1f} s"
        f"  predict {done - fitted:.1f} s  CPU {cpu:7.1f} s  peak {peak:.2f} GB",
        flush=True,
    )
    return accuracy, done - wall


def growth(settings: dict[str, Any]) -> None:
    """Print the seconds of CPU of fits to more and more rows, and the exponent."""
    sizes, seconds = (50_000, 100_000, 200_000, 400_000), []
    problem = PROBLEMS["covtype"]()
    for size in sizes:
        part, start = problem.first(size), time.process_time()
        CellsClassifier(**settings).fit(part.X, part.y)
        seconds.append(time.process_time() - start)
        print(f"{size:8d} rows  CPU {seconds[-1]:7.1f} s", flush=True)
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(f"exponent {exponent:.3f}  (bar 1.15)")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["covtype", "mnist", "growth"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="name=value")
    options = parser.parse_args()
    settings = dict(SETTINGS.get(options.what, SETTINGS["covtype"]))
    for pair in options.set:
        name, _, value = pair.partition("=")
        settings[name] = ast.literal_eval(value)
    print(settings, flush=True)
    if options.what == "growth":
        growth(settings)
        return
    data = PROBLEMS[options.what]().first(options.rows)
    model = CellsClassifier(**settings)
    measure("cells", model, data)
    print(f"{model.solver_report_}\nleave-one-out accuracy {model.loo_score_:.4f}", flush=True)
    if options.peers:
        for name, peer in peers().items():
            measure(name, peer, data)


if __name__ == "__main__":
    main()
