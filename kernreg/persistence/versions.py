"""Which versions wrote a file, which plugins it needs, and what to say where they are not the ones here."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable
from importlib import metadata
from typing import Any, NamedTuple

from kernreg.errors import ModelVersionWarning

#: The form of what this version writes. A reader takes its own and all earlier ones, and refuses later ones.
SCHEMA = 1

_WRITTEN_WITH = ("kernreg", "numpy", "scipy", "scikit-learn")


class Requirement(NamedTuple):
    """Something of code that a model uses, by name.

    Attributes
    ----------
    kind : str
        ``"kernel"``, ``"solver"`` or ``"ensembler"``: found in the registry; ``"kernreg"``: a class of kernreg itself;
        ``"scikit-learn"``: one of its estimators; ``"record"``: a data class in the package of a plugin.
    name : str
    distribution, version : str or None
        What provided it when the model was saved; None for a runtime registration.
    """

    kind: str
    name: str
    distribution: str | None
    version: str | None

    @property
    def provider(self) -> str:
        """The distribution and its version, for messages."""
        if self.distribution is None:
            return "a runtime registration"
        return f"{self.distribution} {self.version}" if self.version else self.distribution

    def __str__(self) -> str:
        return f"the {self.kind} {self.name!r} of {self.provider}"

    @property
    def installation(self) -> str:
        """The command that gets it."""
        wanted = f"{self.distribution}=={self.version}" if self.version else str(self.distribution)
        return f"pip install '{wanted}'"


def written_with() -> dict[str, str]:
    """Return the versions of what is running, for the file."""
    found = {name: version_of(name) for name in _WRITTEN_WITH}
    return {"python": platform.python_version(), **{name: found[name] or "unknown" for name in found}}


def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution, None if it is not installed."""
    if distribution == "kernreg":
        from kernreg import __version__  # right even where no metadata is

        return __version__
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def read_requirement(found: Any) -> Requirement:
    """Return the requirement of its JSON form, or raise ValueError."""
    if not isinstance(found, dict) or set(found) != set(Requirement._fields):
        raise ValueError("a requirement is not described as it must be")
    asked = Requirement(**found)
    texts = (asked.kind, asked.name, asked.distribution or "", asked.version or "")
    if not all(isinstance(text, str) and len(text) < 300 and text.isprintable() for text in texts):
        raise ValueError("a requirement is not described as it must be")
    return asked


def warn_of_other_versions(path: str, requirements: Iterable[Requirement]) -> None:
    """Warn where a distribution that the model uses has another major or minor version than when it was saved."""
    saved = {asked.distribution: asked.version for asked in requirements if asked.distribution and asked.version}
    here = {name: version_of(name) for name in saved}
    other = [
        f"{name} {saved[name]} (here {here[name]})"
        for name in sorted(saved)
        if here[name] is not None and _minor(here[name]) != _minor(saved[name])
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
