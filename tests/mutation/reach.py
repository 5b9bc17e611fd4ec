"""Which tests to try a mutant with, and in which order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any

from mutation.mutants import Mutant

_STAGES = (1.5, 5.0, 25.0)  # CPU seconds of unchanged tests, for a mutant that has survived the stage before


class Reach:
    """The tests that reach a line; the quick ones first."""

    def __init__(
        self, recorded: dict[str, Any], imported: dict[str, list[int]] | None = None, compiled: Collection[str] = ()
    ):
        self._imported = imported or {}
        self._compiled = set(compiled)  # modules whose functions Numba compiles: what runs there is not seen
        self.seconds = {name: test["seconds"] for name, test in recorded.items()}
        self._by_line: dict[tuple[str, int], list[str]] = defaultdict(list)
        self._by_module: dict[str, set[str]] = defaultdict(set)
        for name, test in recorded.items():
            for module, lines in test["lines"].items():
                self._by_module[module].add(name)
                for line in lines:
                    self._by_line[module, line].append(name)

    def runs(self, mutant: Mutant) -> bool:
        """Whether tests run the line, as far as is known."""
        return mutant.module in self._compiled or bool(self._near(mutant))

    def is_imported(self, mutant: Mutant) -> bool:
        """Whether an import runs the line."""
        return bool({mutant.line, mutant.statement} & set(self._imported.get(mutant.module, ())))

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the line; where an import does, those that belong to the module."""
        stem, near = Path(mutant.module).stem, self._near(mutant)
        if mutant.module in self._compiled:
            others = self._ordered(set(self.seconds) - near, [mutant.function.strip("_"), stem])
            return [*self._ordered(near, [stem]), *others]
        if not self.is_imported(mutant):
            return self._ordered(near, [stem])
        lines = range(mutant.statement, mutant.last + 1)  # of a default of an argument, those of the function
        body = {name for line in lines for name in self._by_line.get((mutant.module, line), ())}
        beside = str(Path("tests", *Path(mutant.module).parts[1:-1]))
        others = {name for name in self.seconds if name.startswith(f"{beside}/")}
        own = {name for name in others if stem in name.partition("::")[0]}  # first: what a module is for shows there
        return list(dict.fromkeys(name for some in (near | own, body, others) for name in self._ordered(some, [stem])))

    def _near(self, mutant: Mutant) -> set[str]:
        lines = mutant.line, mutant.statement  # not every line of a long expression is traced
        return next((set(self._by_line[mutant.module, n]) for n in lines if (mutant.module, n) in self._by_line), set())

    def _ordered(self, names: set[str], words: list[str]) -> list[str]:
        """Those that are named so first, then quick ones; of the cases of one test, the second after all first ones."""

        def key(name: str) -> tuple[Any, ...]:
            return *(word not in name.replace("-", "_") for word in words), round(self.seconds[name], 2), name

        quick = sorted(names, key=key)
        seen: Counter[str] = Counter()
        turns = {}
        for name in quick:
            function = name.partition("[")[0]
            turns[name] = seen[function]
            seen[function] += 1
        return sorted(quick, key=lambda name: (words[0] not in name.replace("-", "_"), turns[name]))  # stable

    def stages(self, mutant: Mutant) -> list[tuple[list[str], float]]:
        """Return groups of tests that follow one another, each with its seconds."""
        groups: list[tuple[list[str], float]] = []
        names = iter(self.tests(mutant))
        for limit in _STAGES:
            group, total = [], 0.0
            for name in names:
                group.append(name)
                total += self.seconds[name]
                if total > limit:
                    break
            if group:
                files = list(dict.fromkeys(name.partition("::")[0] for name in group))
                group.sort(key=lambda name: files.index(name.partition("::")[0]))  # shared fixtures are made once
                groups.append((group, total))
        return groups
