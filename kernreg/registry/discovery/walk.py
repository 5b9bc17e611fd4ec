"""Who is installed: one walk over the metadata on ``sys.path``, for all kinds at once.

The `entrypoints` package does the walk. It stops at the first file it cannot read, whoever wrote it: a
malformed ``entry_points.txt``, a repeated key, a ``%``, or a ``pathlib.Path`` on ``sys.path``. Then
`importlib.metadata` does it instead, one distribution at a time, so that only what is unreadable is lost;
what happened is kept for ``kernreg doctor`` (see `report`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import NamedTuple

from kernreg.registry.policy import is_builtin
from kernreg.registry.record import Claim, MetadataProblem, problem_with_name, read_target, split_stem

# Groups of ours begin like this; collecting them all shows a misspelt one to the doctor.
PREFIX = "kernreg."


class Discovery(NamedTuple):
    """The result of one walk."""

    claims: tuple[tuple[str, Claim], ...]  # (group, claim) in the order of the path
    backend: str
    seconds: float
    distributions: int
    error: str = ""
    culprit: str = ""
    problems: tuple[MetadataProblem, ...] = ()
    empty: int = 0  # files with nothing in them; that may be because they cannot be read

    def of_group(self, kind: str, group: str) -> dict[str, tuple[Claim, ...]]:
        """The claims of one group by name, the same target seen twice being one claim."""
        merged: dict[tuple[str, str], Claim] = {}
        for found_group, claim in self.claims:
            if found_group != group:
                continue
            key = (claim.name, claim.target)
            known = merged.get(key)
            if known is None:
                merged[key] = claim._replace(kind=kind)
            elif is_builtin(claim) and not is_builtin(known):  # models that are saved name the distribution
                merged[key] = claim._replace(kind=kind, aliases=known.providers)
            elif claim.distribution is not None and claim.distribution not in known.providers:
                merged[key] = known._replace(aliases=(*known.aliases, claim.distribution))
        table: dict[str, list[Claim]] = {}
        for claim in merged.values():
            table.setdefault(claim.name, []).append(claim)
        return {name: tuple(claims) for name, claims in table.items()}


def discover(path: Iterable[object] | None = None) -> Discovery:
    """Walk over the path (default ``sys.path``). Never raises because of what it finds there."""
    places = list(sys.path if path is None else path)
    start = time.perf_counter()
    walk = _Walk()
    error = culprit = ""
    try:
        backend = "entrypoints"
        walk.by_entrypoints(places)
    except Exception as failure:  # not narrower: none of its many failures may cost us the other plugins
        from kernreg.registry.discovery.metadata import summary

        backend = "importlib.metadata"
        error, culprit = summary(failure), _culprit(failure, places)
        walk = _Walk()
        walk.by_importlib(places)
    seconds = time.perf_counter() - start
    problems = tuple(walk.problems)
    return Discovery(tuple(walk.claims), backend, seconds, walk.count, error, culprit, problems, walk.empty)


def _culprit(failure: Exception, places: list[object]) -> str:
    """The file or place at which `entrypoints` failed, where that is plain; a report looks closer."""
    source = getattr(failure, "source", None)  # configparser names the file in most of its errors
    if isinstance(source, str):
        return source
    return next((str(place) for place in places if not isinstance(place, str)), "")


class _Walk:
    """Collects claims; a distribution found earlier on the path shadows a later one of the same name."""

    def __init__(self) -> None:
        self.claims: list[tuple[str, Claim]] = []
        self.problems: list[MetadataProblem] = []
        self.count = 0
        self.empty = 0
        self.seen: set[str] = set()

    def by_entrypoints(self, places: list[object]) -> None:
        import entrypoints

        # One pass for all groups: get_group_all would parse every file again for each of them. Shadowing
        # is left to us ("all"), since entrypoints compares names before they are normalised.
        for parser, distro in entrypoints.iter_files_distros(path=places, repeated_distro="all"):
            self.count += 1
            self.empty += not parser.sections()  # entrypoints passes over what cannot be opened
            stem = distro.name if distro.version is None else f"{distro.name}-{distro.version}"
            name, version = split_stem(stem)
            if name in self.seen:
                continue
            self.seen.add(name)
            points = [
                (group, key, text)
                for group in parser.sections()
                if group.startswith(PREFIX)
                for key, text in parser[group].items()
            ]
            if points and version is None:
                from kernreg.registry.discovery.metadata import installed_version

                version = installed_version(name)
            self.add(name, version, points)

    def by_importlib(self, places: list[object]) -> None:
        from kernreg.registry.discovery.metadata import distributions_on, location, name_and_version, summary

        for distribution in distributions_on(places):
            try:
                text = distribution.read_text("entry_points.txt")
                self.count += text is not None
                if text is None or PREFIX not in text:
                    continue  # not ours, so whether it is well formed does not matter
                points = [p for p in distribution.entry_points if p.group.startswith(PREFIX)]
                name, version = name_and_version(distribution)
            except Exception as failure:  # any failure costs this one distribution and no other
                path = os.path.join(location(distribution), "entry_points.txt")
                self.problems.append(MetadataProblem(path, f"skipped, it cannot be read: {summary(failure)}"))
                continue
            if name not in self.seen:
                self.seen.add(name)
                self.add(name, version, [(point.group, point.name, point.value) for point in points])

    def add(self, distribution: str, version: str | None, points: list[tuple[str, str, str]]) -> None:
        for group, name, text in points:
            target, problem = read_target(text)
            problem = problem_with_name(name) or problem
            self.claims.append((group, Claim("", name, target, distribution, version, problem=problem)))
