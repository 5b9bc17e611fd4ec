"""Tries mutants, and makes sure that what fails does so because of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from mutation.mutants import Mutant
from mutation.reach import Reach
from mutation.session import Outcome, Session
from mutation.trial import trial

#: A change of compiled code that tests must notice: else old machine code was run, and no result means anything.
_CONTROL = "kernreg/kernels/builtin.py", "-d2 / sigma / sigma"


class Laboratory:
    """A session with all tests collected, for changes inside of functions, and cold processes for others."""

    def __init__(self, root: Path, reach: Reach, session: Session):
        self._root, self._reach, self._session = root, reach, session
        self._sound: set[tuple[Any, ...]] = set()  # tests that pass unchanged, in this order
        self._unsound: set[str] = set()

    def check_itself(self, everything: list[Mutant]) -> None:
        """Raise SystemExit where a change of compiled code goes unnoticed."""
        module, text = _CONTROL
        control = next((m for m in everything if (m.module, m.before, m.kind) == (module, text, "arithmetic")), None)
        if control is None:
            print(
                "no compiled kernels among these modules: whether old machine code is run was not checked", flush=True
            )
            return
        for cold in (False, True):
            if self._tried(control, cold)["outcome"] != "killed":
                raise SystemExit(f"no test noticed {control}: old machine code is run, or the tests do not reach it")

    def tried(self, mutant: Mutant) -> dict[str, Any]:
        """Return what became of a mutant, and how long that took."""
        if not self._reach.runs(mutant):
            return self._tried(mutant, cold=True)
        entry = self._tried(mutant, cold=False)
        if entry["outcome"] == "survived" and self._reach.is_imported(mutant):
            last = self._tried(mutant, cold=True, stages=1)
            entry["seconds"] = round(entry["seconds"] + last["seconds"], 2)
            if last["outcome"] != "survived":
                return {**last, "seconds": entry["seconds"]}
        return entry

    def _tried(self, mutant: Mutant, cold: bool, stages: int | None = None) -> dict[str, Any]:
        start, outcome, count = time.monotonic(), Outcome("passed"), 0
        for group, seconds in self._reach.stages(mutant)[:stages]:
            outcome = self._outcome(mutant, group, seconds, cold)
            count += len(group)
            if not outcome.survived:
                break
        word = {"passed": "survived" if count else "unreached", "too long": "too long"}.get(outcome.reason, "killed")
        seconds = round(time.monotonic() - start, 2)
        return {"mutant": str(mutant), "outcome": word, "by": outcome.test, "tests": count, "seconds": seconds}

    def _outcome(self, mutant: Mutant, group: list[str], seconds: float, cold: bool) -> Outcome:
        """Return what ended a trial; a test that fails unchanged, too, is left out of all."""
        while True:
            names = [name for name in group if name not in self._unsound]
            outcome, cold = self._trial(mutant, names, seconds, cold)
            if outcome.survived:
                return outcome
            until = names[: names.index(outcome.test) + 1] if outcome.test in names else names
            if (cold, *until) not in self._sound:
                unchanged, _ = self._trial(None, until, seconds, cold)
                if not unchanged.survived:
                    if unchanged.test not in names:
                        raise SystemExit(f"with nothing changed: {unchanged.reason}, {until}")
                    self._unsound.add(unchanged.test)
                    print(f"fails with nothing changed, and is left out: {unchanged.test}", flush=True)
                    continue
                self._sound.add((cold, *until))
            return outcome

    def _trial(self, mutant: Mutant | None, names: list[str], seconds: float, cold: bool) -> tuple[Outcome, bool]:
        if not names:
            return Outcome("passed"), cold
        outcome = None if cold else self._session.trial(mutant, names, seconds)
        if outcome is None:  # the change is of what an import does
            return trial(self._root, mutant, names, seconds), True
        return outcome, False
