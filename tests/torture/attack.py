"""What an attack is: cases made from a seed, and a function that runs one and judges what happened."""

from __future__ import annotations

import fnmatch
import importlib
import os
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

#: A case is plain data, so that it can be written to a file and run again.
Case = dict[str, Any]
#: None: all well. A number: all well, in so many attempts. Text: what is wrong, "kind: details".
Outcome = None | int | str


@dataclass(frozen=True)
class Attack:
    """One way to attack kernreg.

    Attributes
    ----------
    name : str
        Its name in the table, in file names and on the command line.
    what : str
        What is tried and what has to hold, in one sentence, for the table.
    cases : callable
        ``cases(rng)`` yields cases, for ever or until there are no more. The same seed gives the same cases.
    run : callable
        ``run(case)`` returns an `Outcome`. Whatever it raises is a violation, too.
    full, ci : int
        The number of cases of a whole run, and of the part that runs on every change.
    minutes : float
        About how long a whole run takes on one core: its share of a budget of time.
    lasts : float
        Minutes that a whole run lasts at least: more cases follow until then.
    seconds, cpu : float
        A case that takes longer, or computes for longer, is a hang.
    memory : int
        Bytes of address space that a case may add to those in use before the first.
    workers : int
        At most so many cases at once.
    fresh : bool
        Whether its processes run no other attack before: for attacks that fork, or count what a process has.
    shrink : callable, optional
        ``shrink(case)`` yields smaller cases, the smallest first. Default: shorter lists and smaller integers.
    """

    name: str
    what: str
    cases: Callable[[Random], Iterator[Case]]
    run: Callable[[Case], Outcome]
    full: int
    ci: int
    minutes: float = 1.0
    lasts: float = 0.0
    seconds: float = 900.0
    cpu: float = 60.0
    memory: int = 4 << 30
    workers: int = 64
    fresh: bool = False
    shrink: Callable[[Case], Iterator[Case]] | None = None


def attacks() -> dict[str, Attack]:
    """All attacks by name: what modules of `torture.attacks` list as ATTACKS."""
    package = importlib.import_module(os.environ.get("TORTURE_ATTACKS", "torture.attacks"))  # the tests have others
    found: dict[str, Attack] = {}
    for module in sorted(entry.name for entry in pkgutil.iter_modules(package.__path__)):
        for attack in getattr(importlib.import_module(f"{package.__name__}.{module}"), "ATTACKS", ()):
            if attack.name in found:
                raise ValueError(f"two attacks are named {attack.name!r}")
            found[attack.name] = attack
    return found


def selected(patterns: list[str]) -> list[Attack]:
    """The attacks whose names match one of the patterns (``solver-*``), all of them where there is none."""
    there = attacks()
    unknown = [pattern for pattern in patterns if not fnmatch.filter(there, pattern)]
    if unknown:
        raise ValueError(f"no attack is named {', '.join(unknown)}; there are {', '.join(there)}")
    return [attack for name, attack in there.items() if not patterns or any(fnmatch.fnmatch(name, p) for p in patterns)]
