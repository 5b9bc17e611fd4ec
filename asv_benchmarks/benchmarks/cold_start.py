"""Fresh processes: what a user waits for beyond importing numba, and that nothing is compiled twice.

The bar: less than a second for a built-in kernel and for a plugin's, with a warm cache.
"""

from __future__ import annotations

import os
from pathlib import Path

from .peers import ROUNDS, InFolder, fresh_process

SCRIPT = """
import json, sys, time
import numba
start = time.perf_counter()
import numpy as np
import kernreg
kernreg.make_kernel(sys.argv[1])(np.ones((50, 5)))
seconds = time.perf_counter() - start
from kernreg.engine.compiler import cache
print(json.dumps({"seconds": seconds, **cache.statistics()}))
"""

PLUGIN = '''
from kernreg import kernel
from kernreg.jit import exp

def helper(d2):
    return {factor} * d2

@kernel(of="sqeuclidean", symmetric=True, definite=True)
def bell(d2, sigma=1.0):
    """exp(-factor |x - y|² / sigma²)."""
    return exp(-helper(d2) / (sigma * sigma))
'''


class FreshProcess(InFolder):
    """A plugin installed for the occasion, and a cache that one process has filled."""

    param_names = ("kernel",)
    timeout = 300

    def setup(self, name):
        super().setup()
        write_plugin(self.place)
        self.first = self.run(name)

    def run(self, name):
        """Evaluate a kernel in a new process, with a cache of its own."""
        return fresh_process(
            SCRIPT,
            name,
            KERNREG_CACHE_DIR=str(self.place / "cache"),
            KERNREG_PLUGINS="kernreg-bench-bell",
            PYTHONPATH=os.pathsep.join([str(self.place), *filter(None, [os.environ.get("PYTHONPATH")])]),
        )


class ColdStart(FreshProcess):
    """A built-in kernel, and one of the plugin."""

    params = ("rbf", "sne", "laplacian", "bench-bell")

    def track_seconds_with_a_warm_cache(self, name):
        return min(self.run(name)["seconds"] for _ in range(ROUNDS))

    track_seconds_with_a_warm_cache.unit = "s"

    def track_seconds_with_an_empty_cache(self, name):
        return self.first["seconds"]

    track_seconds_with_an_empty_cache.unit = "s"

    def track_functions_compiled_by_the_second_process(self, name):
        return self.run(name)["misses"]

    track_functions_compiled_by_the_second_process.unit = "functions"


class EditedPlugin(FreshProcess):
    """A helper function of the plugin's kernel changes: its machine code on disk must not be used."""

    params = ("bench-bell",)

    def track_functions_compiled_after_an_edit(self, name):
        # Another length: bytecode of the same second and size would be taken for the old source.
        write_plugin(self.place, factor=2.25)
        return self.run(name)["misses"]

    track_functions_compiled_after_an_edit.unit = "functions"


def write_plugin(place: Path, factor: float = 1.0) -> None:
    """Write a distribution with one kernel as an installer would."""
    (place / "kernreg_bench_bell.py").write_text(PLUGIN.format(factor=factor), encoding="utf-8")
    metadata = place / "kernreg_bench_bell-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: kernreg-bench-bell\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[kernreg.kernels]\nbench-bell = kernreg_bench_bell:bell\n")
