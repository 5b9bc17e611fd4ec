"""Print the table of bars: ours against the peer, in this process, now.

    python -m asv_benchmarks.bars                      every line, best of 7
    python -m asv_benchmarks.bars sne rows --rounds 3  the lines whose work contains one of the words
    python -m asv_benchmarks.bars others               only what is no ratio: memory, cold start, growth

The numbers of the Pubmed line are of the true graph where KERNREG_DATA names a folder with pubmed.npz.
"""

from __future__ import annotations

import argparse
import gc

import numpy as np

from asv_benchmarks.benchmarks import operators
from asv_benchmarks.benchmarks.bars import BARS
from asv_benchmarks.benchmarks.cold_start import ColdStart
from asv_benchmarks.benchmarks.kernels import Growth
from asv_benchmarks.benchmarks.peers import best_times, sizes, threads
from asv_benchmarks.benchmarks.roofline import Roofline


def ratios(words: list[str], rounds: int) -> bool:
    """Print a line per bar; return whether all were met."""
    print(f"{'work':40s}{'ours ms':>10s}{'peer ms':>11s}{'ratio':>9s}{'bar':>7s}  met?  peer")
    all_met = True
    for bar in BARS:
        if words and not any(word in bar.work for word in words):
            continue
        with threads(2):
            try:
                ours, peer = bar.make()
            except NotImplementedError as reason:
                print(f"{bar.work:40s} skipped: {reason}")
                continue
            np.testing.assert_allclose(ours(), peer(), rtol=1e-6, atol=1e-9)
            our_time, peer_time = best_times([ours, peer], rounds)
        ratio = peer_time / our_time
        met = ratio >= bar.at_least
        all_met &= met
        print(
            f"{bar.work:40s}{1e3 * our_time:10.2f}{1e3 * peer_time:11.2f}{ratio:9.2f}{bar.at_least:7.1f}"
            f"  {'yes ' if met else 'NO  '}  {bar.peer}",
            flush=True,
        )
        del ours, peer
        gc.collect()
    return all_met


def others() -> None:
    """Print what is no ratio to a peer: memory of a product, the limit of the hardware, fresh processes, growth."""
    memory = operators.Memory()
    memory.setup()
    extra = memory.track_extra_bytes_of_a_product()
    print(f"\nextra memory of the matvec           {extra / 1e6:8.1f} MB   bar 200 MB")
    names = ("write", "arithmetic", "exp")
    print(f"\n{'driver':40s}{'ms':>9s}{'limit ms':>10s}{'fraction':>10s}  which limit")
    for name, (seconds, limits) in Roofline().setup_cache().items():
        limit = max(limits)
        print(f"{name:40s}{1e3 * seconds:9.2f}{1e3 * limit:10.2f}{limit / seconds:10.2f}  {names[limits.index(limit)]}")
    start = ColdStart()
    for name in ColdStart.params:
        start.setup(name)
        warm = start.track_seconds_with_a_warm_cache(name)
        compiled = start.track_functions_compiled_by_the_second_process(name)
        print(f"fresh process, warm cache, {name:11s}{warm:8.2f} s    bar 1.0 s, {compiled} functions compiled")
        start.teardown(name)
    growth = Growth()
    series = sizes(2000, 5000, 10000, 20000)
    print(f"\nns per kernel value, in blocks {'':10s}" + "".join(f"{f'n = {n}':>12s}" for n in series))
    for name in Growth.params[0]:
        values = []
        for n in series:
            growth.setup(name, n)
            values.append(growth.track_nanoseconds_per_value(name, n))
        print(f"  {name:39s}" + "".join(f"{value:12.3f}" for value in values), flush=True)


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only the lines whose work contains one of these")
    parser.add_argument("--rounds", type=int, default=7, help="best of this many (default 7)")
    arguments = parser.parse_args()
    met = ratios(arguments.words, arguments.rounds)
    if not arguments.words or "others" in arguments.words:
        others()
    raise SystemExit(0 if met else 1)


if __name__ == "__main__":
    main()
