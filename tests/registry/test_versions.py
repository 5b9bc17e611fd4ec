from __future__ import annotations

import warnings

import pytest

from kernreg.errors import PluginIncompatible, PluginLoadError, PluginWarning
from kernreg.registry import API_VERSION, get_registry
from kernreg.registry.versions import compare_version


def install(site, declaration, where="package/module.py", body="OBJECTS"):
    modules = {"package/__init__.py": "", "package/module.py": body}
    modules[where] = f"__kernreg_api__ = {declaration!r}\n{modules[where]}"
    site.install("declares", "4.0", kernels={"k": "package.module:kernel"}, modules=modules)
    return get_registry("kernel")


def test_api_version_is_one():
    assert API_VERSION == "1.0"


@pytest.mark.parametrize(
    ("declared", "verdict"),
    [
        (None, "ok"),
        ("1.0", "ok"),
        ("1.1", "newer"),
        ("1.10", "newer"),
        ("2.0", "incompatible"),
        ("0.9", "incompatible"),
        ("1", "unreadable"),
        ("1.0.0", "unreadable"),
        (1.0, "unreadable"),
        ("one", "unreadable"),
    ],
)
def test_verdicts(declared, verdict):
    assert compare_version(declared)[0] == verdict


@pytest.mark.parametrize("where", ["package/module.py", "package/__init__.py"])
def test_other_major_version_is_incompatible(site, where):
    kernels = install(site, "2.0", where)
    for _ in range(2):
        with pytest.raises(PluginIncompatible, match=r"declares 4\.0.*plugin API 2\.0.*this is 1\.0.*upgrade"):
            kernels.get("k")
    assert kernels.entry("k").status == "incompatible"


def test_incompatible_plugin_whose_import_fails_is_incompatible_rather_than_broken(site):
    kernels = install(site, "2.0", "package/__init__.py", body="from kernreg import name_of_the_future")
    with pytest.raises(PluginIncompatible) as caught:
        kernels.get("k")
    assert isinstance(caught.value.__cause__, ImportError)


def test_newer_minor_version_warns_once_and_works(site):
    kernels = install(site, "1.7")
    with pytest.warns(PluginWarning, match=r"'k' of declares 4\.0.*1\.7"):
        assert kernels.get("k").name == "package.module"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernels.get("k")
    assert kernels.entry("k").status == "loaded"


def test_same_version_and_no_declaration_are_silent(site):
    assert install(site, "1.0").get("k").name == "package.module"
    site.install("silent", kernels={"s": "silent_module:kernel"}, modules={"silent_module.py": "OBJECTS"})
    assert get_registry("kernel").get("s").name == "silent_module"


def test_unreadable_declaration_is_broken(site):
    kernels = install(site, 1)
    with pytest.raises(PluginLoadError, match="__kernreg_api__ = 1"):
        kernels.get("k")
    assert kernels.entry("k").status == "broken"
