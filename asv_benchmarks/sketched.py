"""Print the bars of strategy "sketched" on covtype: normal equations on the same landmarks against it.

    python -m asv_benchmarks.sketched                             the whole: 464 809 samples, 10 000 landmarks
    python -m asv_benchmarks.sketched --rows 50000 --landmarks 3000 --kernel rbf
    python -m asv_benchmarks.sketched --only sketched             without the peer, which takes longest

KERNREG_DATA names a folder with covtype.npz. Each fit runs in a process of its own.
"""

from __future__ import annotations

import argparse

from asv_benchmarks.benchmarks.sketched import fit


def main() -> None:
    """Run both fits, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=464_809)
    parser.add_argument("--landmarks", type=int, default=10_000)
    parser.add_argument("--kernel", default="laplacian")
    parser.add_argument("--gamma", type=float, default=1.0)
    parser.add_argument("--only", choices=("sketched", "lowrank"))
    given = parser.parse_args()
    print(f"{'strategy':10s}{'seconds':>9s}{'CPU s':>9s}{'peak GB':>9s}{'iter.':>7s}{'residual':>10s}{'accuracy':>10s}")
    seconds = {}
    for strategy in [given.only] if given.only else ["sketched", "lowrank"]:
        found = fit(strategy, given.rows, given.landmarks, given.kernel, given.gamma)
        seconds[strategy] = found["seconds"]
        print(
            f"{strategy:10s}{found['seconds']:9.1f}{found['cpu_seconds']:9.1f}{found['peak'] / 1e9:9.2f}"
            f"{found['iterations']:7d}{found['residual']:10.1e}{found['accuracy']:10.4f}",
            flush=True,
        )
    if len(seconds) == 2:
        print(f"sketched is {seconds['lowrank'] / seconds['sketched']:.2f} times as fast; the bar is 2")


if __name__ == "__main__":
    main()
