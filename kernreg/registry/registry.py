"""The registry of one kind of plugin: names to objects, without importing what nobody asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernreg.errors import (
    PluginBlocked,
    PluginConflict,
    PluginExists,
    PluginIncompatible,
    PluginLoadError,
    UnknownPlugin,
)
from kernreg.registry import messages
from kernreg.registry.checks import problem_with
from kernreg.registry.discovery.scan import current_discovery, forget_discovery
from kernreg.registry.discovery.walk import Discovery
from kernreg.registry.file_origin import current_file
from kernreg.registry.loading import Outcome, Slot
from kernreg.registry.locks import shared
from kernreg.registry.policy import Policy, current_policy
from kernreg.registry.record import Claim, Entry, Status, normalize_distribution, problem_with_name

_Table = dict[str, tuple[Slot, ...]]
_Found = tuple[Discovery | None, _Table]
_State = tuple[_Found, dict[str, Slot]]


class Registry:
    """Plugins of one kind, from the entry points of one group and from runtime registration.

    Nothing but `get` imports a plugin. All methods may be called from any thread.

    Parameters
    ----------
    kind : str
        What is registered, in the singular: ``"kernel"``.
    group : str
        The entry-point group: ``"kernreg.kernels"``.
    others : mapping of str to Registry
        Registries of other kinds: a name that is unknown here may be known there, and the error then says so.

    Examples
    --------
    >>> from kernreg.registry import get_registry, isolated
    >>> class Median:
    ...     def fit(self, views, y): ...
    ...     def merge(self, views): ...
    >>> with isolated():
    ...     ensemblers = get_registry("ensembler")
    ...     _ = ensemblers.register("median", Median)
    ...     "median" in ensemblers, ensemblers.get("median") is Median
    (True, True)
    """

    def __init__(self, kind: str, group: str, others: Mapping[str, Registry] | None = None) -> None:
        self.kind = kind
        self.group = group
        self._others = {} if others is None else others
        # Both are replaced, never changed, so that readers need no lock.
        self._found: _Found = (None, {})
        self._runtime: dict[str, Slot] = {}

    # Looking: imports nothing.

    def names(self) -> tuple[str, ...]:
        """Every name that is claimed, usable or not, sorted."""
        return tuple(sorted(self._table().keys() | self._runtime.keys()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self._claimants(name))

    def __len__(self) -> int:
        return len(self.names())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __repr__(self) -> str:
        entries = self.entries()
        distributions = {entry.distribution for entry in entries} - {None}
        return f"<Registry of kind {self.kind!r}: {len(self)} names, {len(distributions)} distributions>"

    def entries(self) -> tuple[Entry, ...]:
        """The record of every plugin, by name and distribution; a contested name has several."""
        policy = current_policy()
        table: _Table = {**self._table(), **{name: (slot,) for name, slot in self._runtime.items()}}
        found = [entry for slots in table.values() for entry in _entries(slots, policy)]
        return tuple(sorted(found, key=lambda entry: (entry.name, entry.distribution or "", entry.target)))

    def replaced(self) -> tuple[Entry, ...]:
        """The records of what runtime registrations have taken the name of; ``"distribution:name"`` still finds it."""
        policy, table = current_policy(), self._table()
        return tuple(entry for name in self._runtime for entry in _entries(table.get(name, ()), policy))

    def entry(self, name: str) -> Entry:
        """The record of one plugin.

        Raises
        ------
        UnknownPlugin
            If nobody claims the name.
        PluginConflict
            If several distributions do; ``"distribution:name"`` says which one is meant.
        """
        policy = current_policy()
        slot = self._choose(name, policy)
        return _entries((slot,), policy)[0]

    # Getting: imports the one plugin asked for.

    def get(self, name: str) -> Any:
        """The object of that name, or of ``"distribution:name"``.

        Raises
        ------
        UnknownPlugin, PluginConflict
            As `entry` does.
        PluginBlocked
            If KERNREG_PLUGINS does not allow its distribution; nothing of it is then imported.
        PluginLoadError, PluginIncompatible
            If it cannot be imported, is not what its kind requires, or was written for another major
            version of the plugin API. The attempt is not repeated until `refresh`.
        """
        policy = current_policy()
        slot = self._choose(name, policy)
        if not policy.allows(slot.claim):
            raise PluginBlocked(f"the {slot.claim} is blocked: {policy.reason(slot.claim)}")
        return slot.load()

    def refresh(self) -> None:
        """Look at the path anew, for all kinds, and forget failures; runtime registrations stay."""
        forget_discovery()

    # Runtime registration.

    def register(self, name: str, obj: Any, *, replace: bool = False) -> Any:
        """Register an object under a name for the life of the process, and return it.

        Raises
        ------
        PluginExists
            If the name is taken and `replace` is False. With `replace` the object is preferred to
            whatever had the name until `unregister`; ``"distribution:name"`` still finds the other.
        PluginLoadError
            If the object is not what the kind requires.
        """
        problem = problem_with_name(name)
        if problem:
            raise PluginLoadError(f"cannot register a {self.kind}: {problem}")
        problem = problem_with(self.kind, obj)
        if problem:
            raise PluginLoadError(f"cannot register {name!r} as a {self.kind}: {problem}")
        with shared.changed:
            taken = self._claimants(name)
            if taken and not replace:
                raise PluginExists(
                    f"there is a {self.kind} named {name!r} already, from {taken[0].claim.provider} "
                    f"({taken[0].claim.target}); choose another name, or pass replace=True to prefer this one"
                )
            file = current_file()
            claim = Claim(self.kind, name, _target_of(obj), None, None, origin="runtime")
            if file is not None:
                claim = claim._replace(origin="file", file=file.path, version=file.digest)
            self._runtime = {**self._runtime, name: Slot(claim, Outcome(obj))}
        return obj

    def unregister(self, name: str) -> None:
        """Undo `register`; what an entry point claims under that name is found again."""
        with shared.changed:
            if name not in self._runtime:
                registered = ", ".join(sorted(self._runtime)) or "none"
                raise UnknownPlugin(
                    f"no {self.kind} named {name!r} was registered at runtime (registered: {registered}); "
                    "what a distribution provides goes away with it, or with KERNREG_PLUGINS"
                )
            self._runtime = {key: slot for key, slot in self._runtime.items() if key != name}

    # Plugin files, which come and go as a whole: see `plugin_files`.

    def objects_of_file(self, path: str) -> list[Any]:
        """What is registered from a plugin file."""
        return [slot.load() for slot in self._runtime.values() if slot.claim.file == path]

    def withdraw_file(self, path: str) -> dict[str, Slot]:
        """Forget what a plugin file has registered, and return it for `put_back`."""
        with shared.changed:
            withdrawn = {name: slot for name, slot in self._runtime.items() if slot.claim.file == path}
            self._runtime = {name: slot for name, slot in self._runtime.items() if name not in withdrawn}
        return withdrawn

    def put_back(self, slots: dict[str, Slot]) -> None:
        """Register again what `withdraw_file` returned."""
        with shared.changed:
            self._runtime = {**self._runtime, **slots}

    # Inside.

    def _table(self) -> _Table:
        discovery = current_discovery()
        known, table = self._found
        if known is not discovery:
            claims = discovery.of_group(self.kind, self.group)
            table = {name: tuple(Slot(claim) for claim in found) for name, found in claims.items()}
            with shared.changed:
                # Another thread may have been faster; its slots may be loading, so they are the ones.
                if self._found[0] is discovery:
                    return self._found[1]
                self._found = (discovery, table)
        return table

    def _claimants(self, name: str) -> tuple[Slot, ...]:
        """The slots a name may mean."""
        if name in self._runtime:
            return (self._runtime[name],)
        table = self._table()
        # First: an entry point that is itself called "kernreg:rbf" is not what is meant. Either part may hold a colon
        # where somebody took no care; it is found all the same, and told to be broken.
        for distribution, _, short in (name.rpartition(":"), name.partition(":")) if ":" in name else ():
            provider = normalize_distribution(distribution.strip())
            slots = tuple(slot for slot in table.get(short.strip(), ()) if provider in slot.claim.providers)
            if slots:
                return slots
        return table.get(name, ())

    def _choose(self, name: str, policy: Policy) -> Slot:
        slots = self._claimants(name) if isinstance(name, str) else ()
        if not slots:
            raise UnknownPlugin(self._unknown(name))
        rivals = _rivals(slots, policy)
        if len(rivals) > 1:
            raise PluginConflict(messages.conflict(self.kind, name, [slot.claim for slot in rivals]))
        allowed = (slot for slot in slots if policy.allows(slot.claim))
        return rivals[0] if rivals else next(allowed, slots[0])

    def _unknown(self, name: object) -> str:
        others = [kind for kind, registry in self._others.items() if kind != self.kind and name in registry]
        return messages.unknown(self.kind, name, self.entries(), others, len(current_discovery().problems))

    def detach(self) -> _State:
        """Go on with copies of the slots, and return the state to `restore` later."""
        with shared.changed:
            discovery, table = state = self._found
            runtime = self._runtime
            copies = {name: tuple(slot.copy() for slot in slots) for name, slots in table.items()}
            self._found = (discovery, copies)
        return state, runtime

    def restore(self, state: _State) -> None:
        """Be as one was at `detach`."""
        with shared.changed:
            self._found, self._runtime = state


def _rivals(slots: tuple[Slot, ...], policy: Policy) -> list[Slot]:
    """Those of the slots of a name that it may mean: what is blocked, or cannot be read, contests nothing."""
    return [slot for slot in slots if policy.allows(slot.claim) and not slot.claim.problem]


def _entries(slots: tuple[Slot, ...], policy: Policy) -> list[Entry]:
    """The records of the slots of a name."""
    rivals = [slot.claim.provider for slot in _rivals(slots, policy)]
    conflict = f"the name {messages.claimed_by(rivals)}" if len(rivals) > 1 else ""
    return [_entry(slot, conflict, policy) for slot in slots]


def _entry(slot: Slot, conflict: str, policy: Policy) -> Entry:
    """The record of a slot as things stand now."""
    claim, outcome = slot.claim, slot.outcome
    status: Status = "available"
    reason = ""
    if not policy.allows(claim):
        status, reason = "blocked", policy.reason(claim)
    elif outcome is not None and outcome.error is not None:
        status = "incompatible" if outcome.error is PluginIncompatible else "broken"
        reason = outcome.reason
    elif conflict:
        status, reason = "conflicting", conflict
    elif outcome is not None:
        status = "loaded"
    return Entry(
        kind=claim.kind,
        name=claim.name,
        target=claim.target,
        distribution=claim.distribution,
        version=claim.version,
        origin=claim.origin,
        status=status,
        reason=reason,
        file=claim.file,
    )


def _target_of(obj: Any) -> str:
    """Where a registered object comes from, as far as it says."""
    module = getattr(obj, "__module__", None) or type(obj).__module__
    name = getattr(obj, "__qualname__", None) or getattr(obj, "name", None) or type(obj).__qualname__
    return f"{module}:{name}"
