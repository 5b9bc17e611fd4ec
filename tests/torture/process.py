"""A worker from outside: it is asked for outcomes, and its crashes and hangs are outcomes, too."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from torture.attack import Attack, Case

TESTS = Path(__file__).parent.parent


def environment(folder: Path, cache: Path) -> dict[str, str]:
    """What workers see of the environment: nothing of the user's settings, a folder for files, a compile cache."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("KERNREG_") or name == "KERNREG_DATA"
    }
    return kept | {
        "TMPDIR": str(folder),
        "KERNREG_CACHE_DIR": os.environ.get("KERNREG_CACHE_DIR", str(cache)),
        "KERNREG_MEMORY": "1GB",  # what is free at the moment decides nothing
        "KERNREG_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(TESTS),
        "PYTHONUNBUFFERED": "1",
    }


class Worker:
    """Runs cases in a process, and in another one after the first has died."""

    def __init__(self, variables: dict[str, str]):
        self.variables = variables
        self.process: subprocess.Popen[bytes] | None = None
        self.errors = tempfile.TemporaryFile(dir=variables["TMPDIR"])  # noqa: SIM115  open until `close`

    def ask(self, attack: Attack, case: Case) -> dict[str, Any]:
        """Run a case and return its outcome."""
        if self.process is None:
            self.start()
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps([attack.name, case]).encode() + b"\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], attack.seconds)
            answer = self.process.stdout.readline() if ready else b""
        except BrokenPipeError:
            ready, answer = [self.process.stdout], b""
        if answer.endswith(b"\n"):
            return json.loads(answer)
        if not ready:
            self.stop()
            return {"outcome": f"hang: no answer within {attack.seconds:g} s", "traceback": self.last_words()}
        code = self.process.wait()
        self.stop()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return {"outcome": f"{'hang' if how == 'SIGXCPU' else 'crash'}: {how}", "traceback": self.last_words()}

    def start(self) -> None:
        """Start a process."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "torture.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=self.variables,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        if self.process.stdout.readline() != b"ready\n":
            raise RuntimeError(f"no process to run cases in:\n{self.last_words()}")

    def stop(self) -> None:
        """End the process, and those it has started."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self.process = None

    def last_words(self) -> str:
        """The end of what the process has written to standard error."""
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(size - 4000, 0))
        return self.errors.read().decode(errors="replace")

    def close(self) -> None:
        """End the process and forget what it has written."""
        self.stop()
        self.errors.close()
