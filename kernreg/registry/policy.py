"""Which distributions may be imported: the KERNREG_PLUGINS environment variable.

``KERNREG_PLUGINS=all``, or no value, allows every distribution; ``none`` allows only what kernreg itself
brings; ``dist1,dist2`` allows those distributions as well. A plugin file is allowed by ``all`` only. The variable
is read each time it matters, so what it says is what holds.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from kernreg.registry.record import Claim, normalize_distribution

VARIABLE = "KERNREG_PLUGINS"


class Policy(NamedTuple):
    """The distributions that may be imported."""

    text: str
    allowed: frozenset[str] | None  # None: all

    def allows(self, claim: Claim) -> bool:
        """Whether the claim may be imported."""
        return (
            self.allowed is None
            or claim.origin == "runtime"
            or any(name in self.allowed for name in claim.providers)
            or is_builtin(claim)
        )

    def reason(self, claim: Claim) -> str:
        """The message for a claim that is not allowed."""
        if claim.origin == "file":
            return self.file_reason(claim.file)
        extended = ",".join([*sorted(self.allowed or ()), str(claim.distribution)])
        return (
            f"{VARIABLE}={self.text!r} does not allow the distribution {claim.distribution}; "
            f"set {VARIABLE}={extended} to allow it too"
        )

    def file_reason(self, path: str) -> str:
        """The message for a plugin file while the policy is not ``all``."""
        return (
            f"{VARIABLE}={self.text!r} allows named distributions only, and {os.path.basename(path)} is a file; "
            f"set {VARIABLE}=all to allow it"
        )


def is_builtin(claim: Claim) -> bool:
    """Whether kernreg itself brings it.

    The module is looked at too, so that foreign metadata which calls itself kernreg gains nothing.
    """
    module = claim.target.partition(":")[0]
    return "kernreg" in claim.providers and (module + ".").startswith("kernreg.")


def current_policy() -> Policy:
    """The policy the environment asks for now."""
    text = os.environ.get(VARIABLE, "").strip()
    if text.lower() in ("", "all"):
        return Policy(text or "all", None)
    if text.lower() == "none":
        return Policy(text, frozenset())
    names = (normalize_distribution(part.strip()) for part in text.split(","))
    return Policy(text, frozenset(name for name in names if name))
