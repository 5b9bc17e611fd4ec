from __future__ import annotations

import dataclasses
import sys

import pytest

from kernreg.errors import PluginConflict, PluginExists, PluginLoadError, UnknownPlugin
from kernreg.registry import KINDS, Entry, Registry, get_registry, isolated, refresh


class Averager:
    def fit(self, views, y):
        return self

    def merge(self, views):
        return views


class Other(Averager):
    pass


@pytest.fixture
def ensemblers(site):
    return get_registry("ensembler")


def test_there_are_four_kinds():
    assert KINDS == {
        "kernel": "kernreg.kernels",
        "solver": "kernreg.solvers",
        "ensembler": "kernreg.ensemblers",
        "engine": "kernreg.engines",
        "command": "kernreg.commands",
    }
    assert all(get_registry(kind).group == group for kind, group in KINDS.items())


def test_unknown_kind_says_which_there_are():
    with pytest.raises(UnknownPlugin, match=r"kernel, solver, ensembler, engine.*mean 'kernel'"):
        get_registry("kernels")
    with pytest.raises(UnknownPlugin):
        get_registry(None)


def test_entry_is_one_frozen_record(ensemblers):
    ensemblers.register("averager", Averager)
    entry = ensemblers.entry("averager")
    assert [field.name for field in dataclasses.fields(Entry)] == [
        "kind",
        "name",
        "target",
        "distribution",
        "version",
        "origin",
        "status",
        "reason",
        "file",
    ]
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.status = "broken"


def test_a_registry_of_a_group_of_ones_own(site):
    site.install("extra", entry_points="[kernreg.metrics]\nm = json:dumps\n")
    metrics = Registry("metric", "kernreg.metrics")
    assert metrics.names() == ("m",)
    assert metrics.get("m") is __import__("json").dumps


# Conflicts.


@pytest.fixture
def conflicting(site):
    for name in ("one", "two"):
        module = f"{name}_module"
        site.install(
            f"Dist_{name}",
            f"{len(name)}.0",
            kernels={"same": f"{module}:kernel", name: f"{module}:kernel"},
            modules={f"{module}.py": "OBJECTS"},
        )
    return get_registry("kernel")


def test_conflicting_name_is_listed_and_getting_it_names_both(conflicting):
    entries = [entry for entry in conflicting.entries() if entry.name == "same"]
    assert [(entry.distribution, entry.status) for entry in entries] == [
        ("dist-one", "conflicting"),
        ("dist-two", "conflicting"),
    ]
    assert all("dist-one 3.0" in entry.reason and "dist-two 3.0" in entry.reason for entry in entries)
    assert conflicting.names().count("same") == 1
    for ask in (conflicting.get, conflicting.entry):
        with pytest.raises(PluginConflict) as caught:
            ask("same")
        for part in (
            "dist-one 3.0",
            "dist-two 3.0",
            "one_module:kernel",
            "'dist-one:same' or 'dist-two:same'",
        ):
            assert part in str(caught.value)
    assert "one_module" not in sys.modules
    assert conflicting.get("one").name == "one_module"


@pytest.mark.parametrize("spelling", ["dist-two:same", "Dist_Two:same", "DIST.TWO:same"])
def test_distribution_prefix_picks_one(conflicting, spelling):
    assert spelling in conflicting
    assert conflicting.entry(spelling).distribution == "dist-two"
    assert conflicting.get(spelling).name == "two_module"
    assert "one_module" not in sys.modules


def test_distribution_prefix_that_does_not_claim_the_name_is_unknown(conflicting):
    assert "dist-one:two" not in conflicting
    with pytest.raises(UnknownPlugin, match="'dist-one:two'"):
        conflicting.get("dist-one:two")


def test_same_target_from_two_distributions_is_one_entry(site):
    site.install("original", kernels={"k": "m:kernel"}, modules={"m.py": "OBJECTS"})
    site.install("renamed", kernels={"k": "m:kernel"})
    kernels = get_registry("kernel")
    (entry,) = [entry for entry in kernels.entries() if entry.name == "k"]
    assert entry.status == "available"
    assert kernels.get("k") is kernels.get("original:k") is kernels.get("renamed:k")


def test_one_distribution_with_two_targets_for_a_name_is_told_to_correct_them(site):
    site.install("muddle", entry_points="[kernreg.kernels]\nk = a:b\nk = c:d\n")
    with pytest.raises(PluginConflict, match="need correcting"):
        get_registry("kernel").get("muddle:k")


# Unknown names.


def test_unknown_name_gives_close_matches_and_what_there_is(conflicting, site):
    site.install("bad", kernels={"bad-one": "bad_module:kernel"}, modules={"bad_module.py": "1 / 0"})
    with pytest.raises(PluginLoadError):
        conflicting.get("bad-one")
    with pytest.raises(UnknownPlugin) as caught:
        conflicting.get("Tow")
    message = str(caught.value)
    assert message.startswith("there is no kernel named 'Tow'. Did you mean 'two'?")
    assert "Available: " in message
    assert "one" in message
    assert "Broken: bad:bad-one." in message
    assert "Conflicting: dist-one:same, dist-two:same." in message


def test_unknown_name_that_is_of_another_kind(ensemblers):
    ensemblers.register("averager", Averager)
    with pytest.raises(UnknownPlugin, match="of the kind 'ensembler' has that name"):
        get_registry("solver").get("averager")


@pytest.mark.parametrize("name", [None, 3, "", "no such thing", ":", "a:b:c"])
def test_strange_names_are_unknown(ensemblers, name):
    assert name not in ensemblers
    with pytest.raises(UnknownPlugin):
        ensemblers.get(name)


def test_nothing_registered_at_all_suggests_an_installation(site, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(site.root)])
    refresh()
    with pytest.raises(UnknownPlugin, match="is kernreg itself installed"):
        get_registry("kernel").get("rbf")


# Runtime registration.


def test_runtime_registration(ensemblers):
    assert ensemblers.register("averager", Averager) is Averager
    assert ensemblers.get("averager") is Averager
    entry = ensemblers.entry("averager")
    assert (entry.kind, entry.name, entry.origin, entry.status) == (
        "ensembler",
        "averager",
        "runtime",
        "loaded",
    )
    assert (entry.distribution, entry.version) == (None, None)
    assert entry.target.endswith(":Averager")
    ensemblers.unregister("averager")
    assert "averager" not in ensemblers


def test_runtime_registration_over_an_existing_name(ensemblers):
    ensemblers.register("averager", Averager)
    with pytest.raises(PluginExists, match="replace=True"):
        ensemblers.register("averager", Other)
    assert ensemblers.get("averager") is Averager
    ensemblers.register("averager", Other, replace=True)
    assert ensemblers.get("averager") is Other


def test_runtime_registration_over_an_entry_point(site):
    site.install(
        "plugin",
        "7.0",
        entry_points="[kernreg.ensemblers]\ne = plugin_module:Ensembler\n",
        modules={"plugin_module.py": "OBJECTS"},
    )
    ensemblers = get_registry("ensembler")
    with pytest.raises(PluginExists, match=r"plugin 7\.0"):
        ensemblers.register("e", Other)
    ensemblers.register("e", Other, replace=True)
    assert ensemblers.get("e") is Other
    assert [entry.origin for entry in ensemblers.entries() if entry.name == "e"] == ["runtime"]
    assert ensemblers.get("plugin:e").__module__ == "plugin_module"
    refresh()
    assert ensemblers.get("e") is Other  # a refresh keeps runtime registrations
    ensemblers.unregister("e")
    assert ensemblers.get("e").__module__ == "plugin_module"


@pytest.mark.parametrize("name", ["", "with space", "a:b", "call()", 3, "-x"])
def test_names_that_a_spec_could_not_hold_are_refused(ensemblers, name):
    with pytest.raises(PluginLoadError, match="name"):
        ensemblers.register(name, Averager)


def test_registering_the_wrong_thing_is_refused(ensemblers):
    with pytest.raises(PluginLoadError, match="fit and merge"):
        ensemblers.register("averager", 3)
    assert "averager" not in ensemblers


def test_only_runtime_registrations_can_be_unregistered(ensemblers):
    with pytest.raises(UnknownPlugin, match="registered at runtime"):
        ensemblers.unregister("average")


def test_isolated_restores_everything(site):
    site.install("bad", kernels={"bad": "bad_module:kernel"}, modules={"bad_module.py": "1 / 0"})
    kernels, ensemblers = get_registry("kernel"), get_registry("ensembler")
    ensemblers.register("kept", Averager)
    before = (kernels.entries(), ensemblers.entries())
    with isolated():
        with pytest.raises(PluginLoadError):
            kernels.get("bad")
        ensemblers.register("gone", Averager)
        ensemblers.unregister("kept")
        site.install("meanwhile", kernels={"new": "m:k"})
        assert "new" in kernels
        with isolated():
            ensemblers.register("inner", Averager)
        assert "inner" not in ensemblers
    assert (kernels.entries(), ensemblers.entries()) == before
    assert kernels.entry("bad").status == "available"


def test_isolated_restores_after_an_exception(ensemblers):
    def fail():
        ensemblers.register("gone", Averager)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), isolated():
        fail()
    assert "gone" not in ensemblers
