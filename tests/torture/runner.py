"""Runs an attack: its cases one after the other, in several workers, by number or by the clock."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from torture.attack import Attack, Case
from torture.failures import write_failure
from torture.process import Worker
from torture.shrinking import minimised

#: An attack that has found so much wrong ends; and so many cases of it are made smaller.
ENOUGH, MINIMISED = 40, 5


@dataclass
class Tally:
    """What came of an attack."""

    attack: Attack
    seed: int
    cases: int = 0
    seconds: float = 0.0
    messages: list[str] = field(default_factory=list)

    @property
    def violations(self) -> int:
        """The number of cases in which something was wrong."""
        return len(self.messages)


@dataclass(frozen=True)
class Limit:
    """When an attack ends: after a number of cases and some seconds, or at a time of `time.monotonic`, too."""

    cases: int
    until: float = float("inf")
    lasts: float = 0.0


@dataclass(frozen=True)
class Setting:
    """What is the same for all attacks of a run."""

    seed: int
    workers: list[Worker]
    failures: Path


def cases_of(attack: Attack, seed: int) -> Iterator[tuple[int, Case]]:
    """The cases of an attack with their numbers: the same for the same seed."""
    return enumerate(attack.cases(Random(f"{seed}/{attack.name}")))


def run_attack(attack: Attack, limit: Limit, setting: Setting) -> Tally:
    """Run the cases of an attack, write those that fail to files, and count."""
    tally = Tally(attack, setting.seed)
    lock, start = threading.Lock(), time.monotonic()
    supply = itertools.takewhile(
        lambda item: item[0] < limit.cases or time.monotonic() < start + limit.lasts, cases_of(attack, setting.seed)
    )
    errors: list[BaseException] = []

    def work(worker: Worker) -> None:
        if attack.fresh:
            worker.stop()
        try:
            while True:
                with lock:
                    over = errors or tally.violations >= ENOUGH or (tally.cases and time.monotonic() > limit.until)
                    item = None if over else next(supply, None)
                if item is None:
                    return
                attempts = judge(worker, *item)
                with lock:
                    tally.cases += attempts
        except BaseException as error:
            errors.append(error)
        finally:
            if attack.fresh:
                worker.stop()

    def judge(worker: Worker, index: int, case: Case) -> int:
        answer = worker.ask(attack, case)
        message = answer["outcome"]
        if isinstance(message, str):
            with lock:
                tally.messages.append(message)
                number = tally.violations
            details = {"seed": setting.seed, "index": index, "message": message, "traceback": answer.get("traceback")}
            path = write_failure(setting.failures, attack, case, details)
            print(f"    {attack.name}: {message[:400]}\n      {path}", flush=True)
            if number <= MINIMISED:
                small, why = minimised(attack, case, message, lambda smaller: worker.ask(attack, smaller)["outcome"])
                write_failure(setting.failures, attack, small, details | {"message": why, "found_as": case})
        return message if isinstance(message, int) else 1

    threads = [
        threading.Thread(target=work, args=[worker], daemon=True) for worker in setting.workers[: attack.workers]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():  # so that Ctrl-C is heard
            thread.join(0.2)
    if errors:
        raise errors[0]
    tally.seconds = time.monotonic() - start
    return tally


def replay(attack: Attack, case: Case, variables: dict[str, str]) -> dict[str, Any]:
    """Run one case again."""
    worker = Worker(variables)
    try:
        return worker.ask(attack, case)
    finally:
        worker.close()
