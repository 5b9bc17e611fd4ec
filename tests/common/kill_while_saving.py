"""Kill a process that saves a model, again and again, and look at the file each time: a program of its own.

    python kill_while_saving.py folder times

Prints how many processes were killed, and how often the file was then a new one, or that of before. Ends with an error
if it is ever anything else. Processes are forked, which is fast; nothing in this program runs threads.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

import kernreg as kr
from kernreg.kernels.indexed import precomputed

SIZE = 300  # 720 kB, in 12 chunks or so: long enough to be killed in the middle


def model(number: int):
    """Return a model that is a number throughout."""
    return precomputed(K=np.full((SIZE, SIZE), float(number)))


def main(folder: str, times: int) -> None:
    """Save, kill, look."""
    path = os.path.join(folder, "model.kern")
    for _ in range(2):  # the first looks for plugins too
        start = time.perf_counter()
        kr.save(model(0), path)
        longest = 2.0 * (time.perf_counter() - start)
    current = changed = unchanged = killed = 0
    rng = random.Random(0)
    while killed < times:
        ready, write = os.pipe()
        child = os.fork()
        if child == 0:
            new = model(current + 1)
            os.write(write, b".")
            while True:  # until killed
                kr.save(new, path)
        os.read(ready, 1)
        os.close(ready)
        os.close(write)
        time.sleep(rng.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        killed += 1
        found = np.unique(kr.load(path).K)  # verified against its checksums
        assert len(found) == 1, found
        assert found[0] in (current, current + 1), (found, current)
        changed, unchanged = changed + (found[0] != current), unchanged + (found[0] == current)
        # A busy machine saves more slowly now than before: wait so long that about half of the files are new.
        longest *= 0.8 if found[0] != current else 1.25
        current = int(found[0])
    left = [name for name in os.listdir(folder) if name != "model.kern"]
    # Without a name until it is complete, a file is left only if killed between getting its name and losing it.
    assert len(left) <= 2 or not hasattr(os, "O_TMPFILE"), left
    print(killed, changed, unchanged)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
