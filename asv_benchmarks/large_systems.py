"""Print what landmarks save in iterations, and residuals after equal time, in this process, now.

    python -m asv_benchmarks.large_systems landmarks             iterations of conjugate gradients, five sets
    python -m asv_benchmarks.large_systems time 20000 60         residuals after 60 s, n = 20000

KERNREG_DATA names the folder of the sets.
"""

from __future__ import annotations

import sys

from asv_benchmarks.benchmarks.large_systems import (
    GAMMA,
    HARD,
    KERNEL,
    METHODS,
    SETS,
    iterations,
    real_set,
    residual_after,
)


def landmarks(n: int = 2000) -> bool:
    """Print iterations for each set and way of choosing landmarks; return whether the bar is met."""
    met = 0
    print(
        f"{KERNEL}, γ = {GAMMA:g}, m = {n}, tol = 1e-6\n{'set':18s}{'landmarks':>10s}"
        + "".join(f"{m:>12s}" for m in METHODS)
    )
    for name in SETS:
        X, y = real_set(name, n)
        for rank in (int(4 * n**0.5), n // 5):
            counts = [iterations(X, y, method, rank) for method in METHODS]
            print(f"{name:18s}{rank:10d}" + "".join(f"{count:12d}" for count in counts), flush=True)
        met += counts[-1] <= 0.5 * counts[0]
    print(f"at most half of the iterations of uniform landmarks on {met} of {len(SETS)} sets; the bar is 4")
    return met >= 4


def equal_time(n: int, seconds: float) -> None:
    """Print residuals of blocks and of conjugate gradients that take the same time."""
    print(f"m = {n}, {seconds:g} s\n{'work':34s}{'strategy':>14s}{'residual':>12s}{'products':>10s}{'seconds':>9s}")
    for work in HARD:
        for strategy in ("blocks", "uniform", "rpcholesky"):
            residual, count, spent = residual_after(work, strategy, n, seconds)
            print(f"{work:34s}{strategy:>14s}{residual:12.2e}{count:10d}{spent:9.1f}", flush=True)


def main() -> None:
    """Read the arguments and print."""
    what, *numbers = sys.argv[1:] or ["landmarks"]
    if what == "landmarks":
        raise SystemExit(0 if landmarks(*map(int, numbers[:1])) else 1)
    equal_time(int(numbers[0]) if numbers else 20_000, float(numbers[1]) if len(numbers) > 1 else 60.0)


if __name__ == "__main__":
    main()
