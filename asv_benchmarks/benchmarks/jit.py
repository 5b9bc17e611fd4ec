"""The scalar functions of kernreg.jit: time per element in a jitted loop, peers side by side."""

from __future__ import annotations

import math
import timeit

import numpy as np
from numba import njit

import kernreg.jit

SIZE = 2048  # stays in the first-level cache
PASSES = 100  # over the array in one call, which hides the cost of the call
FUNCTIONS = ("exp", "expm1", "log", "log1p", "tanh", "sqrt")


def loop(function, wide=True):
    """A jitted loop over `function`, with or without the request for full-width vectors."""

    @njit(nogil=True)
    def apply(x, out):
        if wide:  # a constant when this is compiled
            kernreg.jit.wide()
        for _ in range(PASSES):
            for i in range(out.shape[0]):
                out[i] = function(x[i])

    return apply


def passes(ufunc):
    """The same number of passes by numpy."""

    def apply(*arguments):
        for _ in range(PASSES):
            ufunc(*arguments)

    return apply


def nanoseconds(call):
    """The best time per element."""
    call()
    return min(timeit.repeat(call, repeat=20, number=1)) / PASSES / SIZE * 1e9


class Function:
    """Nanoseconds per element; `peer` is what computes it."""

    params = (FUNCTIONS, ("float64", "float32"), ("kernreg", "kernreg 256 bit", "math", "numpy"))
    param_names = ("function", "dtype", "peer")
    unit = "ns"

    def setup(self, name, dtype, peer):
        self.x = np.random.default_rng(0).uniform(0.1, 4, SIZE).astype(dtype)
        self.out = np.empty_like(self.x)
        if peer == "numpy":
            self.apply = passes(getattr(np, name))
        elif peer == "math":
            self.apply = loop(getattr(math, name), wide=False)
        else:
            self.apply = loop(getattr(kernreg.jit, name), wide=peer == "kernreg")

    def track_element(self, name, dtype, peer):
        return nanoseconds(lambda: self.apply(self.x, self.out))


class Power:
    """Nanoseconds per element of x to a degree that does not change in the loop."""

    params = ((2, 3, 5, 9, 2.5), ("float64", "float32"), ("kernreg", "math", "numpy"))
    param_names = ("degree", "dtype", "peer")
    unit = "ns"

    def setup(self, degree, dtype, peer):
        self.x = np.random.default_rng(0).uniform(0.1, 4, SIZE).astype(dtype)
        self.out = np.empty_like(self.x)
        # A real exponent of the type of the base, an integer one as it is.
        self.degree = degree if isinstance(degree, int) else self.x.dtype.type(degree)
        power = kernreg.jit.pow if peer == "kernreg" else math.pow

        @njit(nogil=True)
        def apply(x, degree, out):
            kernreg.jit.wide()
            for _ in range(PASSES):
                for i in range(out.shape[0]):
                    out[i] = power(x[i], degree)

        self.apply = passes(np.power) if peer == "numpy" else apply

    def track_element(self, degree, dtype, peer):
        return nanoseconds(lambda: self.apply(self.x, self.degree, self.out))


class ExpRatio:
    """How many times faster than ``math.exp`` in the same loop."""

    params = ("float64", "float32")
    param_names = ("dtype",)
    unit = "ratio"

    def setup(self, dtype):
        self.x = np.random.default_rng(0).uniform(-20, 0, SIZE).astype(dtype)
        self.out = np.empty_like(self.x)

    def track_speedup_over_math(self, dtype):
        ours, scalar = loop(kernreg.jit.exp), loop(math.exp, wide=False)
        return nanoseconds(lambda: scalar(self.x, self.out)) / nanoseconds(lambda: ours(self.x, self.out))
