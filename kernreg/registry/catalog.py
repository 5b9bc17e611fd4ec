"""The registries of the five kinds, and what is done to all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kernreg.errors import UnknownPlugin
from kernreg.registry.discovery.report import DiscoveryReport, report_on
from kernreg.registry.discovery.scan import current_discovery, forget_discovery, last_discovery, restore_discovery
from kernreg.registry.messages import close_matches
from kernreg.registry.record import KINDS
from kernreg.registry.registry import Registry

_REGISTRIES: dict[str, Registry] = {}
_REGISTRIES.update({kind: Registry(kind, group, _REGISTRIES) for kind, group in KINDS.items()})


def get_registry(kind: str) -> Registry:
    """The registry of a kind: ``"kernel"``, ``"solver"``, ``"ensembler"``, ``"engine"`` or ``"command"``.

    >>> get_registry("solver").group
    'kernreg.solvers'
    """
    registry = _REGISTRIES.get(kind) if isinstance(kind, str) else None
    if registry is None:
        close = close_matches(str(kind), KINDS)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UnknownPlugin(f"there is no kind of plugin {kind!r}; the kinds are {', '.join(KINDS)}.{hint}")
    return registry


def refresh() -> None:
    """Look at the path anew and forget failures, for all kinds; runtime registrations stay.

    A module that was imported stays imported: after editing a plugin, start a new process.

    Examples
    --------
    >>> from kernreg.registry import get_registry
    >>> refresh()
    >>> get_registry("kernel").get("rbf").name
    'rbf'
    """
    forget_discovery()


def discovery_report() -> DiscoveryReport:
    """How plugins were found, by which package, in what time, and what could not be read.

    >>> discovery_report().backend in ("entrypoints", "importlib.metadata")
    True
    """
    return report_on(current_discovery())


@contextmanager
def isolated() -> Iterator[None]:
    """Undo on exit whatever happens to the registries inside: registrations, refreshes, loads, failures.

    Meant for tests. It holds for the whole process, not for one thread, and leaves ``sys.path`` and
    ``sys.modules`` alone.

    >>> class Median:
    ...     def fit(self, views, y): ...
    ...     def merge(self, views): ...
    >>> with isolated():
    ...     _ = get_registry("ensembler").register("median", Median)
    >>> "median" in get_registry("ensembler")
    False
    """
    discovery = last_discovery()
    states = [(registry, registry.detach()) for registry in _REGISTRIES.values()]
    try:
        yield
    finally:
        restore_discovery(discovery)
        for registry, state in states:
            registry.restore(state)
