"""Which versions wrote a file, and what to say where they are not the ones here."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable

from kernreg.errors import ModelVersionWarning
from kernreg.registry import get_registry
from kernreg.registry.naming import Requirement, version_of

#: The form of what this version writes. A reader takes its own and all earlier ones, and refuses later ones.
SCHEMA = 1

_WRITTEN_WITH = ("kernreg", "numpy", "scipy", "scikit-learn")


def written_with() -> dict[str, str]:
    """Return the versions of what is running, for the file."""
    found = {name: version_of(name) for name in _WRITTEN_WITH}
    return {"python": platform.python_version(), **{name: found[name] or "unknown" for name in found}}


def warn_of_other_versions(path: str, requirements: Iterable[Requirement]) -> None:
    """Warn where a distribution has another major or minor version than when the model was saved, or a file differs."""
    requirements = tuple(requirements)
    saved = {asked.distribution: asked.version for asked in requirements if asked.distribution and asked.version}
    here = {name: version_of(name) for name in saved}
    other = [
        f"{name} {saved[name]} (here {here[name]})"
        for name in sorted(saved)
        if here[name] is not None and _minor(here[name]) != _minor(saved[name])
    ]
    other += [
        f"another version of the file {asked.file}"
        for asked in requirements
        if asked.file and get_registry(asked.kind).entry(asked.name).version != asked.version
    ]
    if other:
        warnings.warn(
            f"{path!r} was saved with {', '.join(other)}. It is loaded as it is; if results differ, save it again with "
            "the versions here, or install those it was saved with",
            ModelVersionWarning,
            stacklevel=3,
        )


def _minor(version: str | None) -> list[str]:
    return (version or "").split(".")[:2]
