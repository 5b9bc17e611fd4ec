"""Kernels that call these functions are found in Numba's disk cache by the next process."""

import os
import subprocess
import sys
import textwrap

import kernreg.jit

PLUGIN = """
from numba.extending import register_jitable
from kernreg.jit import exp, log1p, pow, tanh

@register_jitable
def plugin_kernel(d2, sigma):
    return exp(-d2 / (sigma * sigma)) + tanh(d2) * log1p(d2) + pow(d2, 3) + pow(d2, sigma)
"""

DRIVER = """
from numba import njit
from kernreg.jit import wide

def make_driver(kernel, token):
    @njit(nogil=True, cache=True)
    def driver(statistic, parameter, out):
        wide()
        token
        for i in range(out.shape[0]):
            out[i] = kernel(statistic[i], parameter)
    return driver
"""

MAIN = """
import numpy as np
from plugin_module import plugin_kernel
from driver_module import make_driver

driver = make_driver(plugin_kernel, 7)
x = np.linspace(0, 3, 50)
out = np.empty(50)
driver(x, 1.5, out)
stats = driver.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), out.tobytes().hex())
"""


def test_second_process_compiles_nothing(tmp_path):
    (tmp_path / "plugin_module.py").write_text(textwrap.dedent(PLUGIN))
    (tmp_path / "driver_module.py").write_text(textwrap.dedent(DRIVER))
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
    }

    def run():
        command = [sys.executable, "-c", MAIN]
        result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        hits, misses, values = result.stdout.split()
        return int(hits), int(misses), values

    hits, misses, first = run()
    assert (hits, misses) == (0, 1)
    hits, misses, second = run()
    assert (hits, misses) == (1, 0)
    assert first == second


def test_public_names_are_plain_functions():
    """A dispatcher has a random identity and is never found in the cache again."""
    for name in kernreg.jit.__all__:
        if name != "fingerprint":
            assert type(getattr(kernreg.jit, name)).__name__ == "function", name


def test_fingerprint_is_stable():
    assert kernreg.jit.fingerprint() == kernreg.jit.fingerprint()
    assert int(kernreg.jit.fingerprint(), 16) > 0
