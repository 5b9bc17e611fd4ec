"""The way back: from an object in hand to the plugin it is."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from kernreg.registry.catalog import get_registry
from kernreg.registry.loading import answer_of
from kernreg.registry.record import Entry


def entry_of(kind: str, obj: Any) -> Entry | None:
    """The record of the plugin that an object is, or None if it is registered nowhere. Imports nothing.

    What an entry point names is preferred to a registration of this process, which another one would not have, and the
    object's own name to any other it goes by.

    >>> from kernreg.kernels.builtin import rbf
    >>> entry_of("kernel", rbf).name
    'rbf'
    """
    registry = get_registry(kind)
    entries = (*registry.entries(), *registry.replaced())
    found = [entry for entry in entries if _object_of(registry, entry) is obj]
    own = getattr(obj, "name", None)
    return min(found, key=lambda entry: (entry.origin != "entry point", entry.name != own), default=None)


def qualified_name(entry: Entry) -> str:
    """The name that means this plugin and no other: ``"distribution:name"``, or the name of a runtime registration.

    Examples
    --------
    >>> import kernreg as kr
    >>> qualified_name(next(entry for entry in kr.available("kernel") if entry.name == "rbf"))
    'kernreg:rbf'
    """
    return entry.name if entry.distribution is None else f"{entry.distribution}:{entry.name}"


def _object_of(registry: Any, entry: Entry) -> Any:
    """What the entry stands for, as far as that is imported already."""
    if entry.status == "loaded":
        return registry.get(qualified_name(entry))
    module, _, path = entry.target.partition(":")
    value: Any = sys.modules.get(module)
    for part in path.split("."):
        # Not getattr: a module's __getattr__ may import. What stands in the place of one may refuse to be asked at all.
        value = answer_of(partial(_attribute, value, part), None)
    return value


def _attribute(value: Any, name: str) -> Any:
    return getattr(value, "__dict__", {}).get(name)
