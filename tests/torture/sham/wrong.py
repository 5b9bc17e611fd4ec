"""One attack for each way to fail."""

from __future__ import annotations

import os
import signal
import time
from itertools import count

from torture.attack import Attack


def numbers(rng):
    for index in count():
        yield {"index": index, "values": [rng.randrange(100) for _ in range(20)]}


def large(case):
    return f"large: {max(case['values'])}" if any(value > 90 for value in case["values"]) else len(case["values"])


def crashing(case):
    if case["index"] == 2:
        os.kill(os.getpid(), signal.SIGSEGV)


def waiting(case):
    time.sleep(60.0 if case["index"] == 1 else 0.0)


def computing(case):
    while case["index"] == 1:
        pass


def greedy(case):
    bytearray(case["index"] * (600 << 20))


def raising(case):
    raise KeyError("missing")


FEW = {"cases": numbers, "full": 6, "ci": 3}
ATTACKS = [
    Attack("large", "numbers up to 90", run=large, **FEW),
    Attack("crashing", "nothing", run=crashing, **FEW),
    Attack("waiting", "nothing", run=waiting, seconds=3.0, **FEW),
    Attack("computing", "nothing", run=computing, cpu=1.0, **FEW),
    Attack("greedy", "nothing", run=greedy, memory=1 << 30, **FEW),
    Attack("raising", "nothing", run=raising, **FEW),
]
