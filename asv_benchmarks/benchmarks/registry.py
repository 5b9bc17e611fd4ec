"""Importing kernreg, and listing plugins among many installed distributions.

The bars: the import costs less than 0.1 s over bare Python; listing among 300 distributions less than 60 ms.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

GROUPS = ("kernreg.kernels", "kernreg.solvers", "kernreg.ensemblers", "kernreg.engines")


def install_many(root: Path, count: int, malformed: bool = False) -> None:
    """Write `count` distributions as they are found in the wild, every tenth with a kernel."""
    for number in range(count):
        info = root / f"package_{number}-1.{number}.dist-info"
        info.mkdir()
        header = f"Metadata-Version: 2.1\nName: package-{number}\nVersion: 1.{number}\n"
        (info / "METADATA").write_text(header + "Classifier: Topic\n" * 20 + "\n" + "A line of the readme.\n" * 200)
        text = f"[console_scripts]\ntool = package_{number}:main\nother = package_{number}:other\n\n"
        text += f"[pytest11]\nplugin = package_{number}.plugin\n"
        if number % 10 == 0:
            text += f"\n[kernreg.kernels]\nkernel-{number} = package_{number}:kernel\n"
        (info / "entry_points.txt").write_text(text)
    if malformed:
        info = root / "malformed-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text("no section\n")


class ManyDistributions:
    """A path with many distributions on it, beside what is installed anyway."""

    params = (30, 300)
    param_names = ("distributions",)
    malformed = False

    def setup(self, distributions):
        self.directory = tempfile.TemporaryDirectory()
        root = Path(self.directory.name)
        install_many(root, distributions, self.malformed)
        self.path = list(sys.path)
        sys.path.insert(0, str(root))
        import entrypoints  # noqa: F401  # imported before anything is timed

        import kernreg

        kernreg.available()

    def teardown(self, distributions):
        sys.path[:] = self.path
        self.directory.cleanup()
        from kernreg.registry import refresh

        refresh()  # what stood on that path is gone


class Listing(ManyDistributions):
    def time_available_after_refresh(self, distributions):
        import kernreg
        from kernreg.registry import refresh

        refresh()
        kernreg.available()

    def time_available_again(self, distributions):
        import kernreg

        kernreg.available()

    def time_entrypoints_one_walk(self, distributions):
        import entrypoints

        for _ in entrypoints.iter_files_distros(repeated_distro="all"):
            pass

    def time_entrypoints_group_by_group(self, distributions):
        import entrypoints

        for group in GROUPS:
            entrypoints.get_group_all(group)

    def time_importlib_metadata(self, distributions):
        points = metadata.entry_points()
        for group in GROUPS:
            points.select(group=group)


class ListingAfterFallback(ManyDistributions):
    malformed = True

    def time_available_after_refresh(self, distributions):
        import kernreg
        from kernreg.registry import refresh

        refresh()
        kernreg.available()


class FreshProcess(ManyDistributions):
    """What a user waits for: measured inside a new interpreter, best of five."""

    unit = "ms"

    def track_import(self, distributions):
        return best_of_five("import kernreg")

    def track_first_listing(self, distributions):
        return best_of_five("kernreg.available()", before="import kernreg")

    def track_first_listing_modules_imported(self, distributions):
        return best_of_five(
            "kernreg.available()", before="import kernreg, kernreg.factory, kernreg.registry, entrypoints"
        )


def best_of_five(statement: str, before: str = "pass") -> float:
    """Milliseconds for one statement, each time in a fresh interpreter with this one's path.

    Modules come from bytecode, as they do once a package is installed, whatever this environment says; a first
    run writes it.
    """
    code = (
        f"import sys, time; sys.path[:] = {sys.path!r}; {before}; start = time.perf_counter(); {statement}; "
        "print(1000 * (time.perf_counter() - start))"
    )
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
        runs = [subprocess.check_output([sys.executable, "-c", code], env=environment) for _ in range(6)]
    return min(float(run) for run in runs[1:])
