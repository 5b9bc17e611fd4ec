"""Print the bars of the hot path: kernel evaluation against the plain product, float64 and PyTorch, now.

python -m asv_benchmarks.hot_path                     every line, on two threads
python -m asv_benchmarks.hot_path 512 --threads 1     the lines whose work contains one of the words
OPENBLAS_CORETYPE=Haswell NUMBA_CPU_NAME=haswell python -m asv_benchmarks.hot_path    as an older CPU
"""

from __future__ import annotations

import argparse
import gc

from asv_benchmarks.benchmarks.hot_path import RATIOS, ROUNDS, measured


def main() -> None:
    """Read the arguments and print; exits with 1 where a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only the lines whose work or peer contains one of these")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"best of this many (default {ROUNDS})")
    arguments = parser.parse_args()
    print(f"{'work':34s}{'peer':24s}{'ours ms':>10s}{'peer ms':>10s}{'ratio':>8s}{'bar':>8s}  met?")
    all_met = True
    for ratio in RATIOS:
        if arguments.words and not any(word in f"{ratio.work} {ratio.peer}" for word in arguments.words):
            continue
        try:
            ours, theirs = measured(ratio, arguments.threads, arguments.rounds)
        except NotImplementedError as reason:
            print(f"{ratio.work:34s}{ratio.peer:24s} skipped: {reason}")
            continue
        met = ours <= ratio.at_most * theirs
        all_met &= met
        numbers = f"{1e3 * ours:10.1f}{1e3 * theirs:10.1f}{ours / theirs:8.2f}{ratio.at_most:8.2f}"
        print(f"{ratio.work:34s}{ratio.peer:24s}{numbers}  {'yes' if met else 'NO'}", flush=True)
        gc.collect()
    raise SystemExit(0 if all_met else 1)


if __name__ == "__main__":
    main()
