"""What every test relies on: a known environment, and the data folder where there is one."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# Compiling a kernel may take a second: no deadline. The same examples each time: a failure can be repeated.
hypothesis.settings.register_profile("kernreg", deadline=None, derandomize=True)
hypothesis.settings.load_profile("kernreg")


def pytest_configure(config: pytest.Config) -> None:
    """Forget the user's own settings; keep compiled kernels between runs, away from the user's cache."""
    for name in ("THREADS", "ENGINE", "PLUGINS"):
        os.environ.pop(f"KERNREG_{name}", None)
    os.environ["KERNREG_MEMORY"] = "1GB"  # what is free at the moment decides nothing
    if config.getoption("numprocesses", None):
        # Test processes side by side, each with BLAS threads that wait by spinning, take the CPU from each other. Read
        # by the processes that start from here on; kernreg's own threads stay as many as there are cores.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if "KERNREG_CACHE_DIR" not in os.environ and hasattr(config, "cache"):
        os.environ["KERNREG_CACHE_DIR"] = str(config.cache.mkdir("kernreg"))


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The folder of data sets named by KERNREG_DATA; tests that need it are skipped without it."""
    place = os.environ.get("KERNREG_DATA")
    if not place:
        pytest.skip("KERNREG_DATA does not name a folder of data sets")
    return Path(place)
