"""What the tests of the engine share: kernels that take every driver, and fresh interpreters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20240502)


@pytest.fixture(scope="session")
def fresh_python():
    """fresh_python(code or path, **environment): the JSON that a fresh interpreter prints last; warnings are errors."""

    def run(source, *, cwd=None, **variables):
        command = [sys.executable, "-W", "error"]
        command += [str(source)] if os.path.exists(str(source)) else ["-c", textwrap.dedent(source)]
        environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
        done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
