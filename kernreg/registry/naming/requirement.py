"""Something of code that a file or a spec names: a plugin, a class of kernreg, an estimator of scikit-learn."""

from __future__ import annotations

from importlib import metadata
from typing import Any, NamedTuple


class Requirement(NamedTuple):
    """Something of code that a model uses, by name.

    Attributes
    ----------
    kind : str
        ``"kernel"``, ``"solver"`` or ``"ensembler"``: found in the registry; ``"kernreg"``: a class of kernreg itself;
        ``"scikit-learn"``: one of its estimators; ``"record"``: a data class in the package of a plugin.
    name : str
    distribution, version : str or None
        What provided it when the model was saved; None for a runtime registration. Of a plugin file the version is
        the digest of its text.
    file : str or None
        The name of the plugin file it comes from, without its folder.

    Examples
    --------
    >>> Requirement("kernel", "katz", "kernreg-graph", "0.1.0").name
    'katz'
    """

    kind: str
    name: str
    distribution: str | None
    version: str | None
    file: str | None = None

    @property
    def provider(self) -> str:
        """The distribution and its version, for messages."""
        if self.distribution is None:
            return f"the file {self.file}" if self.file else "a runtime registration"
        return f"{self.distribution} {self.version}" if self.version else self.distribution

    def __str__(self) -> str:
        return f"the {self.kind} {self.name!r} of {self.provider}"

    @property
    def installation(self) -> str:
        """The command that gets it."""
        wanted = f"{self.distribution}=={self.version}" if self.version else str(self.distribution)
        return f"pip install '{wanted}'"


def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution, None if it is not installed."""
    if distribution == "kernreg":
        from kernreg import __version__  # right even where no metadata is

        return __version__
    try:
        return metadata.version(distribution)
    except Exception:  # it is not there, or its metadata cannot be read
        return None


def as_json(asked: Requirement) -> dict[str, str | None]:
    """Return the form of a requirement in a file; `file` is there only for plugin files."""
    found = asked._asdict()
    if asked.file is None:
        del found["file"]
    return found


def read_requirement(found: Any) -> Requirement:
    """Return the requirement of its JSON form, or raise ValueError."""
    if not isinstance(found, dict) or set(found) | {"file"} != set(Requirement._fields):
        raise ValueError("the description of a requirement is not valid")
    asked = Requirement(**found)
    texts = (asked.kind, asked.name, asked.distribution or "", asked.version or "", asked.file or "")
    if not all(isinstance(text, str) and len(text) < 300 and text.isprintable() for text in texts):
        raise ValueError("the description of a requirement is not valid")
    return asked
