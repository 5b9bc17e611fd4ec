"""What is public: the names in ``__all__`` of kernreg's packages and of its plugins, and all that is registered."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any, NamedTuple

import kernreg
from kernreg.registry import KINDS, Entry, get_registry

#: The plugins of this repository, which the site documents as it does kernreg.
PLUGINS = (
    "kernreg_asymmetric",
    "kernreg_dask",
    "kernreg_graph",
    "kernreg_histogram",
    "kernreg_krein",
    "kernreg_metric",
    "kernreg_papers",
    "kernreg_structured",
)


class Name(NamedTuple):
    """A public name: ``kernreg.solvers``, ``LSSVC``."""

    module: str
    name: str

    @property
    def value(self) -> Any:
        """What has the name."""
        return getattr(importlib.import_module(self.module), self.name)

    @property
    def page(self) -> str:
        """Where it is described, below docs/. Not every disk tells ``Parallel`` from ``parallel``."""
        alike = [name for name in importlib.import_module(self.module).__all__ if name.lower() == self.name.lower()]
        suffix = "-function" if len(alike) > 1 and not isinstance(self.value, type) else ""
        return f"reference/api/{self.module}/{self.name}{suffix}"


def modules() -> list[str]:
    """Return the modules with an ``__all__``, kernreg itself first, its plugins last.

    >>> modules()[:3]
    ['kernreg', 'kernreg.chain', 'kernreg.datasets']
    """
    inside = [f"kernreg.{found.name}" for found in pkgutil.iter_modules(kernreg.__path__)]
    named = [name for name in inside if name != "kernreg.demo" and hasattr(importlib.import_module(name), "__all__")]
    return ["kernreg", *named, *PLUGINS]


def names(module: str) -> list[Name]:
    """Return the public names of a module."""
    return [Name(module, name) for name in importlib.import_module(module).__all__]


def registered(kind: str) -> list[tuple[Entry, Any]]:
    """Return what is registered of a kind, those of kernreg first."""
    registry = get_registry(kind)
    found = [(entry, registry.get(entry.name)) for entry in registry.entries()]
    return sorted(found, key=lambda pair: (pair[0].distribution != "kernreg", pair[0].name))


def is_family(value: Any) -> bool:
    """Return whether this is a kernel without its parameters."""
    return getattr(value, "__kernreg_kernel__", None) is True


def home_of(cls: type) -> Name | None:
    """Return the public name of a registered class, or None if it has none."""
    for module in modules():
        for name in names(module):
            if module != "kernreg" and name.value is cls:
                return name
    return None


def docstring(value: Any) -> str:
    """Return the docstring of an object's own, "" of a constant, whose type's says nothing about it."""
    if isinstance(value, type) or callable(value) or is_family(value) or inspect.ismodule(value):
        return inspect.getdoc(value) or ""
    own = vars(value).get("__doc__") if hasattr(value, "__dict__") else None
    return inspect.cleandoc(own) if isinstance(own, str) else ""


def comment(name: Name) -> str:
    """Return what the comment above a constant says of it, the lines that start with ``#:``."""
    home = Path(importlib.import_module(name.module).__file__ or "").parent
    pattern = re.compile(rf"((?:^#:.*\n)+)^{name.name}\b[^=\n]*=", re.MULTILINE)
    for path in sorted(home.rglob("*.py")):
        found = pattern.search(path.read_text(encoding="utf-8"))
        if found:
            return "\n".join(line.removeprefix("#:").strip() for line in found[1].splitlines())
    return ""


__all__ = ["KINDS", "PLUGINS", "Name", "comment", "docstring", "home_of", "is_family", "modules", "names", "registered"]
