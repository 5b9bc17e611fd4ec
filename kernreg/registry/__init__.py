"""Plugins: found by entry points, loaded when asked for.

Imports only `kernreg.errors` of kernreg; every other layer may import it. Reading order::

    record      Entry, and the claim a distribution makes
    discovery/  claims from the metadata on sys.path, kept until forgotten
    policy      KERNREG_PLUGINS: who may be imported
    loading     import once, check (checks, versions), remember
    registry    Registry: names to objects (messages: what its errors say; companions: plugins they know of)
    catalog     the five registries, isolated(), refresh()
    plugin_files  load_plugin: plugins of one Python file (file_origin: which file a thread is executing)
    lookup      from an object to the plugin it is
    spec        "name(a=1)" to name and arguments, and back
    naming/     what a model file or a chain spec may name, and how it is found again
"""

from __future__ import annotations

from kernreg.registry.catalog import discovery_report, get_registry, isolated, refresh
from kernreg.registry.discovery.report import DiscoveryReport
from kernreg.registry.lookup import entry_of, qualified_name
from kernreg.registry.record import KINDS, Entry, MetadataProblem, normalize_distribution
from kernreg.registry.registry import Registry
from kernreg.registry.spec import Spec, format_spec, parse_spec
from kernreg.registry.versions import API_VERSION

__all__ = [
    "API_VERSION",
    "KINDS",
    "DiscoveryReport",
    "Entry",
    "MetadataProblem",
    "Registry",
    "Spec",
    "discovery_report",
    "entry_of",
    "format_spec",
    "get_registry",
    "isolated",
    "normalize_distribution",
    "parse_spec",
    "qualified_name",
    "refresh",
]
