"""Load every file of a folder, with little memory and under watch, and say what came of it: a program of its own.

    python load_all.py folder good_file memory_in_bytes

Prints JSON: for each file the class of the error (or null) and the message; what the interpreter was asked to do that
loading a file never does; the growth of memory.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np

import kernreg as kr
from kernreg.errors import KernregError, ModelFileError

WATCHED = ("compile", "exec", "import", "os.", "subprocess.", "socket.", "ctypes.", "pickle.", "marshal.", "shutil.")
HARMLESS = ("os.fwalk", "os.listdir", "os.scandir", "os.putenv")


def status(name: str) -> int:
    """Return a number of bytes that the system keeps of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def main(folder: str, good: str, limit: int) -> None:
    """Load all files and print the report."""
    np.testing.assert_equal(type(kr.load(good)).__name__, "AsKLSClassifier")  # imports what loading needs
    for module in ("svm", "tree", "pipeline", "preprocessing"):
        __import__(f"sklearn.{module}")
    with suppress(KernregError):
        kr.load(__file__)
    with suppress(KernregError):
        kr.make_kernel("histogram-kl")  # a plugin, which loading may import
    used = status("VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
    files, report, events = sorted(Path(folder).glob("*.kern")), {}, []
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak of memory begins anew
    before = status("VmRSS")
    watching = True

    def watch(event: str, arguments: tuple) -> None:
        if watching and event.startswith(WATCHED) and event not in HARMLESS:
            events.append(f"{event} {str(arguments)[:200]}")
        if watching and event == "open" and arguments[1] not in (None, "r", "rb"):
            events.append(f"open {str(arguments)[:200]}")

    sys.addaudithook(watch)
    for path in files:
        for options in ({}, {"mmap": False}):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    kr.load(path, **options)
                error: BaseException | None = None
            except BaseException as raised:
                error = raised
            watching = False
            report[f"{path.name} {sorted(options)}"] = [
                None if error is None else type(error).__name__,
                isinstance(error, ModelFileError),
                str(error)[:300],
            ]
            error = None
            watching = True
    watching = False
    grown = status("VmHWM") - before
    print(json.dumps({"report": report, "events": events, "grown": grown}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
