"""Model files: how fast they are written and read, how much memory that takes, and whether damage is noticed.

The bars: every one of 200 damaged files is refused, and 50 processes killed while saving leave a whole file.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np

import kernreg as kr
from kernreg.errors import ModelFileError

from .peers import TINY, InFolder, best_times, extra_peak_bytes, samples, size

#: Kills processes while they save, and looks at what they leave.
KILLING = Path(__file__).parents[2] / "tests" / "common" / "kill_while_saving.py"


class Files(InFolder):
    """A fitted solver, in a file of each kind."""

    def setup(self):
        super().setup()
        X = samples(size(4000), 20)
        self.model = kr.make_solver("ask-ls", kernel="sne(sigma=4.0)", strategy="lowrank", n_landmarks=size(200))
        self.model.fit(X, X[:, 0] > 0)
        # What is large in most models: a table of samples, here 80 MB.
        self.model.samples_ = np.random.default_rng(0).normal(size=(size(50_000), 200))
        self.path, self.pickled = self.place / "model.kern", self.place / "model.pickle"
        self.dumped = self.place / "model.joblib"
        self.save()
        self.pickle()
        joblib.dump(self.model, self.dumped)

    def save(self):
        kr.save(self.model, self.path)

    def pickle(self):
        with open(self.pickled, "wb") as file:
            pickle.dump(self.model, file, protocol=5)

    def unpickle(self):
        with open(self.pickled, "rb") as file:
            return pickle.load(file)


class Speed(Files):
    """Seconds, and how many times slower than a pickle, which checks nothing and is not forced to the disk."""

    def time_save(self):
        self.save()

    def time_load_mapped(self):
        kr.load(self.path)

    def time_load_mapped_without_verification(self):
        kr.load(self.path, verify=False)

    def time_load_into_memory(self):
        kr.load(self.path, mmap=False)

    def track_save_over_pickle(self):
        ours, theirs = best_times([self.save, self.pickle])
        return ours / theirs

    def track_load_over_pickle(self):
        ours, theirs = best_times([lambda: kr.load(self.path), self.unpickle])
        return ours / theirs

    def track_mapped_load_over_joblib(self):
        """Both map the arrays, and neither reads them."""
        ours, theirs = best_times(
            [lambda: kr.load(self.path, verify=False), lambda: joblib.load(self.dumped, mmap_mode="r")]
        )
        return ours / theirs


class Memory(Files):
    """Memory beyond what the model itself takes, as a part of the file."""

    def track_save(self):
        return extra_peak_bytes(self.save) / self.path.stat().st_size

    def track_load_into_memory(self):
        return extra_peak_bytes(lambda: kr.load(self.path, mmap=False)) / self.path.stat().st_size


class Bars(InFolder):
    """What must never happen, counted."""

    timeout = 600

    def setup(self):
        super().setup()
        X = samples(200, 4)
        kr.save(kr.make_solver("ask-ls", kernel="sne").fit(X, X[:, 0] > 0), self.place / "model.kern")
        self.data = (self.place / "model.kern").read_bytes()

    def track_damaged_files_accepted_of_200(self):
        rng = np.random.default_rng(0)
        accepted = 0
        for number in range(200):
            changed = bytearray(self.data)
            position = int(rng.integers(len(changed)))
            if number % 4 == 0:
                del changed[position:]
            else:
                changed[position] ^= 1 << int(rng.integers(8))
            (self.place / "damaged.kern").write_bytes(changed)
            try:
                kr.load(self.place / "damaged.kern")
                accepted += 1
            except ModelFileError:
                pass
        return accepted

    def track_broken_files_of_50_killed_saves(self):
        if not KILLING.is_file() or sys.platform == "win32":
            raise NotImplementedError("needs the tests, and fork")
        (self.place / "killed").mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, str(KILLING), str(self.place / "killed"), "3" if TINY else "50"], check=False
        )
        return int(done.returncode != 0)
