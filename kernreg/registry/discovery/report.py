"""What ``kernreg doctor`` says about discovery."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from kernreg.registry.discovery.walk import PREFIX, Discovery
from kernreg.registry.policy import VARIABLE, current_policy
from kernreg.registry.record import KINDS, MetadataProblem


@dataclass(frozen=True)
class DiscoveryReport:
    """How plugins were found.

    Attributes
    ----------
    backend : str
        ``"entrypoints"``, or ``"importlib.metadata"`` if the first failed.
    seconds : float
        The time the walk took.
    distributions : int
        How many distributions with entry points were looked at.
    error : str
        Why `entrypoints` failed; empty if it did not.
    culprit : str
        The file or ``sys.path`` entry it failed at, where that can be found.
    problems : tuple of MetadataProblem
        Everything on the path that is unreadable, as ``path`` and ``reason``.
    unknown_groups : tuple of (str, str)
        Groups ``kernreg.*`` that mean nothing to kernreg, and the distribution that has each.
    policy : str
        The value of KERNREG_PLUGINS, ``"all"`` if it has none.
    unknown_in_policy : tuple of str
        Distributions named in KERNREG_PLUGINS that provide no plugin.

    Examples
    --------
    >>> from kernreg.registry import discovery_report
    >>> discovery_report().backend in ("entrypoints", "importlib.metadata")
    True
    """

    backend: str
    seconds: float
    distributions: int
    error: str
    culprit: str
    problems: tuple[MetadataProblem, ...]
    unknown_groups: tuple[tuple[str, str], ...]
    policy: str
    unknown_in_policy: tuple[str, ...]

    def advice(self) -> tuple[str, ...]:
        """One sentence for each thing that deserves attention."""
        lines = []
        if self.error:
            place = f" at {self.culprit}" if self.culprit else ""
            lines.append(f"entrypoints failed{place} ({self.error}); importlib.metadata found the plugins instead")
        lines += [f"{problem.path}: {problem.reason}" for problem in self.problems]
        known = ", ".join(KINDS.values())
        lines += [
            f"{distribution} has entry points in the unknown group {group}; the groups are {known}"
            for group, distribution in self.unknown_groups
        ]
        lines += [
            f"{VARIABLE} names {name}, but no installed distribution of that name provides a plugin"
            for name in self.unknown_in_policy
        ]
        return tuple(lines)


def report_on(discovery: Discovery, path: Iterable[object] | None = None) -> DiscoveryReport:
    """The report for a walk; where a file gave nothing, it looks at every one again to say which are unreadable."""
    problems = {problem.path: problem for problem in discovery.problems}
    if discovery.error or discovery.empty:
        from kernreg.registry.discovery.metadata import unreadable

        for problem in unreadable(sys.path if path is None else path, PREFIX):
            problems.setdefault(problem.path, problem)
    groups = {(group, str(claim.distribution)) for group, claim in discovery.claims if group not in KINDS.values()}
    providers = {claim.distribution for _, claim in discovery.claims} | {"kernreg"}
    policy = current_policy()
    return DiscoveryReport(
        backend=discovery.backend,
        seconds=discovery.seconds,
        distributions=discovery.distributions,
        error=discovery.error,
        culprit=discovery.culprit or (next(iter(problems), "") if discovery.error else ""),
        problems=tuple(problems.values()),
        unknown_groups=tuple(sorted(groups)),
        policy=policy.text,
        unknown_in_policy=tuple(sorted(name for name in policy.allowed or () if name not in providers)),
    )
