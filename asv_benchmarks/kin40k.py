"""Print the bar of kin40k: RMSE of a full kernel machine on each of the ten customary splits, targets standardised.

    python -m asv_benchmarks.kin40k                        relevance and an exact solve of 36 000 equations, ten times
    python -m asv_benchmarks.kin40k 0 1 --equal            two splits, features of equal weight
    python -m asv_benchmarks.kin40k 0 --strategy iterative

An exact solve takes 10.5 GB. KERNREG_DATA names a folder with kin40k.npz.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import kernreg as kr
from asv_benchmarks.contestants import TunedOnFirst, kin40k

BAR = 0.09


def main() -> None:
    """Run the splits, and print what each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("splits", nargs="*", type=int, default=list(range(10)))
    parser.add_argument("--strategy", default="exact", choices=("exact", "iterative"))
    parser.add_argument("--kernel", default="rational-quadratic")
    parser.add_argument("--equal", action="store_true", help="features of equal weight")
    given = parser.parse_args()
    kr.set_config(memory="17GB")
    errors = []
    for split in given.splits:
        problem = kin40k(split)
        widths = (0.5, 0.7, 1.0, 1.4) if given.equal else (1.0, 1.4, 2.0)
        machine = TunedOnFirst(
            "ls-svr", given.kernel, widths, 2500, strategy=given.strategy, tol=1e-5, weighted=not given.equal
        )
        start, cpu = time.perf_counter(), time.process_time()
        errors.append(problem.error(machine.fit(problem.X, problem.y).predict(problem.X_test)))
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        print(f"split {split}: RMSE {errors[-1]:.4f}  {seconds:.0f} s, {cpu:.0f} s CPU  {machine.chosen}", flush=True)
    print(f"mean {np.mean(errors):.4f}, largest {np.max(errors):.4f}; the bar is {BAR}")


if __name__ == "__main__":
    main()
