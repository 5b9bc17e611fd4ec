"""Failing cases made smaller, as long as they fail in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from torture.attack import Attack, Case

ASKED, SECONDS = 200, 120.0


def minimised(attack: Attack, case: Case, message: str, ask: Callable[[Case], Any]) -> tuple[Case, str]:
    """Return the smallest case found that fails as this does, and how it fails; ``ask(case)`` is its outcome."""
    kind, left, end = kind_of(message), ASKED, time.monotonic() + SECONDS
    smaller = attack.shrink or shorter
    progress = True
    while progress:
        progress = False
        for candidate in smaller(case):
            if left == 0 or time.monotonic() > end:
                return case, message
            left -= 1
            outcome = ask(candidate)
            if isinstance(outcome, str) and kind_of(outcome) == kind:
                case, message, progress = candidate, outcome, True
                break
    return case, message


def kind_of(message: str) -> str:
    """How a case fails: what a message says before its first colon."""
    return message.partition(":")[0]


def shorter(value: Any) -> Iterator[Any]:
    """Yield what is smaller than a value: shorter lists, smaller integers, wherever they stand."""
    if isinstance(value, dict):
        for key, item in value.items():
            for less in shorter(item):
                yield value | {key: less}
    elif isinstance(value, list):
        size = (len(value) + 1) // 2
        while size > 0:
            for start in range(0, len(value), size):
                yield value[:start] + value[start + size :]
            size //= 2
        for number, item in enumerate(value):
            for less in shorter(item):
                yield [*value[:number], less, *value[number + 1 :]]
    elif isinstance(value, int) and not isinstance(value, bool) and value > 0:
        yield from sorted({0, value // 2, value - 1})
