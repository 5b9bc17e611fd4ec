"""Run asv with a profile, in this interpreter's environment.

    python -m asv_benchmarks.profile quick     what the page needs, in three minutes
    python -m asv_benchmarks.profile claims    every claim of the page, the long ones included
    python -m asv_benchmarks.profile full      every benchmark with every parameter

Further arguments go to ``asv run``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from asv_benchmarks.claims import every, quick

PROFILES = {
    "quick": ["--quick", "--bench", quick()],
    "claims": ["--quick", "--bench", every()],
    "full": [],
}


def main() -> int:
    """Read the name of a profile and run it."""
    name, *further = sys.argv[1:] or ["quick"]
    if name not in PROFILES:
        raise SystemExit(f"there is no profile {name!r}; there are {', '.join(PROFILES)}")
    here, asv = Path(__file__).parent, [sys.executable, "-m", "asv"]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, check=True, capture_output=True, text=True).stdout
    subprocess.run([*asv, "machine", "--yes"], cwd=here, check=True)
    run = [*asv, "run", "--python=same", f"--set-commit-hash={commit.strip()}", *PROFILES[name], *further]
    patience = {"KERNREG_BENCH_SECONDS": "1"} if name == "quick" else {}  # what has taken longer is not repeated
    return subprocess.run(run, cwd=here, env={**patience, **os.environ}).returncode


if __name__ == "__main__":
    raise SystemExit(main())
