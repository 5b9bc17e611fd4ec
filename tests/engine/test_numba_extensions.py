"""What Numba looks for before it compiles: metadata of others, which may be damaged."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAMS = {
    "kernel": "print(kr.make_kernel('rbf(sigma=1.0)')([[1.0]], [[1.0]])[0, 0])",
    "loop": "print(kr.engine.compiled_loop(lambda x: x + 0.0)(1.0))",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_metadata_that_cannot_be_read_do_not_keep_kernels_from_compiling(tmp_path, what):
    (tmp_path / "broken-1.0.dist-info").mkdir()
    (tmp_path / "broken-1.0.dist-info/entry_points.txt").write_bytes(b"[console_scripts]\na = caf\xe9:b\n")
    program = "import kernreg as kr, kernreg.engine\n" + PROGRAMS[what]
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert (done.stdout, done.returncode) == ("1.0\n", 0), done.stderr
    assert "PluginWarning: Numba works without its extensions" in done.stderr
    assert "UnicodeDecodeError" in done.stderr
