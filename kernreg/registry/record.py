"""What the registry knows about one plugin: plain, immutable records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kernreg.errors import shown

Status = Literal["available", "loaded", "broken", "blocked", "conflicting", "incompatible"]
Origin = Literal["entry point", "runtime", "file"]

#: The kinds of plugin and the entry-point group of each.
KINDS = {
    "kernel": "kernreg.kernels",
    "solver": "kernreg.solvers",
    "ensembler": "kernreg.ensemblers",
    "engine": "kernreg.engines",
    "command": "kernreg.commands",
}


@dataclass(frozen=True)
class Entry:
    """One plugin as it stands now; asking for it imports nothing.

    Attributes
    ----------
    kind : str
        ``"kernel"``, ``"solver"``, ``"ensembler"``, ``"engine"`` or ``"command"``.
    name : str
        The name it is asked for by.
    target : str
        Where the object is, as ``"module:object"``.
    distribution : str or None
        The distribution that provides it, normalised as in PEP 503; None for a runtime registration or a file.
    version : str or None
        The version of that distribution; for a file the digest of its text.
    origin : str
        ``"entry point"``, ``"runtime"`` (`kernreg.register`) or ``"file"`` (`kernreg.load_plugin`).
    status : str
        ``"available"`` (not imported yet), ``"loaded"``, ``"broken"``, ``"blocked"``, ``"conflicting"``
        or ``"incompatible"``.
    reason : str
        Why, for every status but the first two; otherwise empty.
    file : str
        The Python file that it was loaded from; empty for any other origin.

    Examples
    --------
    >>> import kernreg as kr
    >>> entry = next(entry for entry in kr.available("kernel") if entry.name == "rbf")
    >>> entry.kind, entry.distribution, entry.target
    ('kernel', 'kernreg', 'kernreg.kernels.builtin:rbf')
    """

    kind: str
    name: str
    target: str
    distribution: str | None
    version: str | None
    origin: Origin
    status: Status
    reason: str = ""
    file: str = ""

    @property
    def source(self) -> str:
        """Where it comes from, in a word: the distribution, the file, or ``"runtime"``."""
        return self.distribution or self.file or self.origin


class Claim(NamedTuple):
    """What a distribution (or a runtime registration) says it provides, before anything is imported.

    The records used only inside the registry are named tuples: a data class takes a millisecond to define, and
    a listing in a new process is to take a few tens of them.
    """

    kind: str
    name: str
    target: str
    distribution: str | None
    version: str | None
    origin: Origin = "entry point"
    problem: str = ""  # why the target can never be imported, if that is plain from its text
    aliases: tuple[str, ...] = ()  # other distributions that make the very same claim
    file: str = ""  # the plugin file that it comes from

    @property
    def provider(self) -> str:
        """The distribution and its version, for messages."""
        if self.distribution is None:
            return f"the file {self.file}" if self.file else "a runtime registration"
        return f"{self.distribution} {self.version}" if self.version else self.distribution

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.provider} ({self.target})"

    @property
    def providers(self) -> tuple[str, ...]:
        """Every distribution that makes this claim."""
        return self.aliases if self.distribution is None else (self.distribution, *self.aliases)


@dataclass(frozen=True)
class MetadataProblem:
    """Something on the path that could not be read.

    Examples
    --------
    >>> MetadataProblem("site-packages/broken.egg-info", "no metadata").reason
    'no metadata'
    """

    path: str
    reason: str


def normalize_distribution(name: str) -> str:
    """The distribution name as PEP 503 compares it.

    >>> normalize_distribution("Kernreg_Histogram")
    'kernreg-histogram'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


_STEM = re.compile(r"(?P<name>.+?)-(?P<version>v?\d[^-]*)(-py\d.*)?$")


def split_stem(stem: str) -> tuple[str, str | None]:
    """Name and version from the stem of a metadata directory.

    Current tools escape a hyphen in the name, older ones do not, and a develop install has no version:

    >>> split_stem("kernreg_graph-0.2")
    ('kernreg-graph', '0.2')
    >>> split_stem("my-plugin-1.0-py3.11")
    ('my-plugin', '1.0')
    >>> split_stem("kernreg")
    ('kernreg', None)
    """
    match = _STEM.match(stem)
    if match is None:
        return normalize_distribution(stem), None
    return normalize_distribution(match["name"]), match["version"]


_NAME = re.compile(r"\w[\w.-]*")
_LONGEST_NAME = 200


def problem_with_name(name: object) -> str:
    """What keeps a plugin from being asked for by a name, which no spec can hold; empty if nothing does.

    >>> problem_with_name("ask-ls"), problem_with_name("kernreg:rbf")[:34]
    ('', "the name 'kernreg:rbf' is not acce")
    """
    if not isinstance(name, str) or _NAME.fullmatch(name) is None or len(name) > _LONGEST_NAME:
        return (
            f"the name {shown(name)} is not accepted; a name is made of letters, digits, '_', '-' and '.', "
            f"{_LONGEST_NAME} at most, such as 'my-kernel'"
        )
    return ""


_TARGET = re.compile(r"\s*(?P<module>\w+(\.\w+)*)\s*(:\s*(?P<object>\w+(\.\w+)*)\s*)?(\[[^\]]*\]\s*)?$")


def read_target(text: str) -> tuple[str, str]:
    """The target of an entry point in canonical form, and what is wrong with it (empty if nothing).

    >>> read_target("package.module : obj [extra]")
    ('package.module:obj', '')
    >>> read_target("my-module:obj")[1]
    "the entry point 'my-module:obj' cannot be read; write it as 'package.module:object'"
    """
    match = _TARGET.match(text)
    if match is None or match["object"] is None:
        return text, f"the entry point {shown(text)} cannot be read; write it as 'package.module:object'"
    return f"{match['module']}:{match['object']}", ""
