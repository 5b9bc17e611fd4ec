"""What importing kernreg may pull in. Each case is a fresh interpreter, since sys.modules is the subject."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernreg

NUMERICAL = {"numba", "llvmlite", "numpy", "scipy", "sklearn", "pandas", "matplotlib", "cvxopt", "joblib"}


def modules_after(code: str) -> set[str]:
    """The top-level names in sys.modules after the code ran, and the kernreg modules in full."""
    report = "import sys; print('\\n'.join(sys.modules))"
    path = os.pathsep.join([str(Path(kernreg.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    completed = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    names = completed.stdout.split()
    return {name.split(".")[0] for name in names} | {name for name in names if name.startswith("kernreg.")}


def test_importing_kernreg_imports_nothing_heavy_and_scans_nothing():
    modules = modules_after("import kernreg; dir(kernreg); kernreg.__version__")
    assert not modules & (NUMERICAL | {"entrypoints", "configparser", "dataclasses"})
    # From the first moment on a fork waits for what other threads import of kernreg.
    assert {name for name in modules if name.startswith("kernreg.")} == {"kernreg.common", "kernreg.common.forking"}


@pytest.mark.parametrize(
    "code",
    [
        "import kernreg.registry",
        "import kernreg.config; kernreg.config.memory_budget()",
        "from kernreg import make_kernel, make_solver, register, available, config_context",
    ],
)
def test_registry_configuration_and_factory_are_light_and_do_not_scan(code):
    modules = modules_after(code)
    assert not modules & (NUMERICAL | {"entrypoints"})
    assert not any(name.startswith(("kernreg.kernels", "kernreg.engine", "kernreg.jit")) for name in modules)


def test_listing_imports_entrypoints_and_no_plugin():
    code = """
import kernreg
from kernreg.registry import KINDS, get_registry
kernreg.available()
for kind in KINDS:
    registry = get_registry(kind)
    registry.names(), len(registry), "rbf" in registry, repr(registry), list(registry), registry.entries()
"""
    modules = modules_after(code)
    assert "entrypoints" in modules
    assert not modules & NUMERICAL
    assert not any(name.startswith(("kernreg.kernels", "kernreg.engine", "kernreg.jit")) for name in modules)
