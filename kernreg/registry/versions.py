"""The version of the plugin API, and what a plugin may say about it.

A plugin states the version it was written for as ``__kernreg_api__ = "1.0"`` in the module of its target or
in a package above it. Saying nothing is fine.
"""

from __future__ import annotations

import re
import sys

from kernreg.errors import shown

#: The version of what plugins rely on; a plugin may declare the one it was written for as ``__kernreg_api__``.
API_VERSION = "1.0"

_FORM = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")


def declared_version(module_name: str) -> object:
    """What the nearest of the module and its parent packages declares, among those already imported."""
    while module_name:
        module = sys.modules.get(module_name)
        # The module's own dictionary: a module-level __getattr__ that invents names must not be asked.
        declared = getattr(module, "__dict__", {}).get("__kernreg_api__")
        if declared is not None:
            return declared
        module_name = module_name.rpartition(".")[0]
    return None


def compare_version(declared: object) -> tuple[str, str]:
    """A verdict and its reason: ``"ok"``, ``"newer"`` (minor), ``"incompatible"`` or ``"unreadable"``.

    >>> compare_version("1.0")
    ('ok', '')
    >>> compare_version("2.0")[0], compare_version("1.7")[0], compare_version(1.0)[0]
    ('incompatible', 'newer', 'unreadable')
    """
    if declared is None:
        return "ok", ""
    match = _FORM.fullmatch(declared) if isinstance(declared, str) else None
    if match is None:
        return (
            "unreadable",
            f"it declares __kernreg_api__ = {shown(declared)}; write a string such as {API_VERSION!r}",
        )
    major, minor = int(match[1]), int(match[2])
    our_major, our_minor = map(int, API_VERSION.split("."))
    if major != our_major:
        advice = "upgrade kernreg" if major > our_major else "look for a newer version of the plugin"
        return "incompatible", f"it was written for plugin API {declared}, this is {API_VERSION}: {advice}"
    if minor > our_minor:
        return "newer", f"it was written for plugin API {declared}, this is {API_VERSION}: upgrade kernreg"
    return "ok", ""
