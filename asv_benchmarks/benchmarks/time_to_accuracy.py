"""Test error, seconds and memory of kernreg's machines and of their peers, on real data too large for a matrix.

The quickest setting of each; `python -m asv_benchmarks.time_to_accuracy` runs all of them and draws the curves.
"""

from __future__ import annotations

import importlib.util
import os

from asv_benchmarks.benchmarks.peers import TINY
from asv_benchmarks.contestants import PROBLEMS, contestants
from asv_benchmarks.time_to_accuracy import in_process

EVERYBODY = sorted({contestant.name for problem in PROBLEMS for contestant in contestants(problem)})


class Contest:
    """One contestant on one problem, in a process of its own."""

    params = (list(PROBLEMS), EVERYBODY)
    param_names = ("problem", "who")
    timeout = 1800.0

    def setup(self, problem: str, who: str) -> None:
        found = next((each for each in contestants(problem) if each.name == who), None)
        if found is None or importlib.util.find_spec(found.needs) is None or not os.environ.get("KERNREG_DATA"):
            raise NotImplementedError  # asv's way to skip
        self.found = in_process(problem, who, 0, 300 if TINY else None, self.timeout)
        if "failed" in self.found:
            raise RuntimeError(self.found["failed"])

    def track_error(self, problem: str, who: str) -> float:
        return float(self.found["error"])

    def track_seconds(self, problem: str, who: str) -> float:
        return float(self.found["fit"] + self.found["predict"])

    def track_gigabytes(self, problem: str, who: str) -> float:
        return float(self.found["gigabytes"])


Contest.track_error.unit = "share of wrong classes, or RMSE"  # type: ignore[attr-defined]
Contest.track_seconds.unit = "seconds"  # type: ignore[attr-defined]
Contest.track_gigabytes.unit = "GB"  # type: ignore[attr-defined]
