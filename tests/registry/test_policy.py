from __future__ import annotations

import sys

import pytest

from kernreg.errors import PluginBlocked, PluginConflict
from kernreg.registry import discovery_report, get_registry
from kernreg.registry.policy import current_policy, is_builtin
from kernreg.registry.record import Claim


def claim(distribution, target="m:k"):
    return Claim("kernel", "k", target, distribution, "1.0")


@pytest.mark.parametrize(
    ("text", "allowed", "refused"),
    [
        ("", ["kernreg-a", "b"], []),
        ("all", ["kernreg-a", "b"], []),
        (" ALL ", ["kernreg-a"], []),
        ("none", [], ["kernreg-a", "b"]),
        ("Kernreg_A", ["kernreg-a"], ["b"]),
        ("kernreg.a , b,", ["kernreg-a", "b"], ["c"]),
        (",", [], ["b"]),
    ],
)
def test_policy_by_distribution(monkeypatch, text, allowed, refused):
    monkeypatch.setenv("KERNREG_PLUGINS", text)
    policy = current_policy()
    assert all(policy.allows(claim(name)) for name in allowed)
    assert not any(policy.allows(claim(name)) for name in refused)
    assert policy.allows(claim("kernreg", "kernreg.kernels:rbf"))


def test_metadata_that_only_calls_itself_kernreg_is_no_builtin():
    assert is_builtin(claim("kernreg", "kernreg.kernels.builtin:rbf"))
    assert not is_builtin(claim("kernreg", "evil:rbf"))
    assert not is_builtin(claim("kernreg", "kernregs.evil:rbf"))
    assert not is_builtin(claim("evil", "kernreg.kernels.builtin:rbf"))


@pytest.fixture
def two(site):
    for name in ("one", "two"):
        site.install(
            f"dist-{name}",
            kernels={name: f"{name}_package.deep:kernel", "same": f"{name}_package.deep:kernel"},
            modules={f"{name}_package/__init__.py": "", f"{name}_package/deep.py": "OBJECTS"},
        )
    return site


def imported(name):
    return any(module.split(".")[0] == name for module in sys.modules)


def test_blocked_plugin_is_listed_and_never_imported(two, monkeypatch):
    monkeypatch.setenv("KERNREG_PLUGINS", "dist_two")
    kernels = get_registry("kernel")
    entry = kernels.entry("one")
    assert entry.status == "blocked"
    assert "KERNREG_PLUGINS='dist_two'" in entry.reason
    assert "KERNREG_PLUGINS=dist-two,dist-one" in entry.reason
    for name in ("one", "dist-one:one", "dist-one:same"):
        with pytest.raises(PluginBlocked, match=r"dist-one 1\.0"):
            kernels.get(name)
    assert kernels.get("two").name == "two_package.deep"
    assert not imported("one_package")


def test_blocked_plugin_is_not_in_sys_modules_of_a_fresh_process(two):
    printed = two.run(
        """
        import sys
        import kernreg
        from kernreg.registry import get_registry
        kernels = get_registry("kernel")
        for name in ("one", "two"):
            try:
                kernels.get(name)
            except ImportError as error:
                print(name, type(error).__name__)
        kernreg.available(), len(kernels), repr(kernels)
        print(sorted(m for m in sys.modules if m.endswith("_package")))
        """,
        KERNREG_PLUGINS="dist-two",
    )
    assert printed.split("\n")[:2] == ["one PluginBlocked", "['two_package']"]


def test_a_blocked_distribution_cannot_contest_a_name(two, monkeypatch):
    kernels = get_registry("kernel")
    with pytest.raises(PluginConflict):
        kernels.get("same")
    monkeypatch.setenv("KERNREG_PLUGINS", "dist-two")
    assert kernels.get("same").name == "two_package.deep"
    statuses = {entry.distribution: entry.status for entry in kernels.entries() if entry.name == "same"}
    assert statuses == {"dist-one": "blocked", "dist-two": "loaded"}


def test_name_claimed_only_by_blocked_distributions_is_blocked(two, monkeypatch):
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    with pytest.raises(PluginBlocked):
        get_registry("kernel").get("same")
    assert not imported("one_package")
    assert not imported("two_package")


def test_builtins_load_whatever_the_policy(site, monkeypatch):
    # Metadata as kernreg's own, first on the path, so that the test needs no installed kernreg.
    site.install("kernreg", "0.1.0", entry_points="[kernreg.ensemblers]\nbuiltin-test = kernreg.errors:KernregError\n")
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    ensemblers = get_registry("ensembler")
    assert ensemblers.entry("builtin-test").status == "available"
    with pytest.raises(ImportError, match="has no fit and merge"):  # imported, and then found wanting
        ensemblers.get("builtin-test")


def test_runtime_registrations_are_not_blocked(site, monkeypatch):
    monkeypatch.setenv("KERNREG_PLUGINS", "none")

    class Ensembler:
        def fit(self, views, y): ...
        def merge(self, views): ...

    get_registry("ensembler").register("mine", Ensembler)
    assert get_registry("ensembler").get("mine") is Ensembler


def test_blocking_a_plugin_that_is_loaded_already(two, monkeypatch):
    kernels = get_registry("kernel")
    kernels.get("one")
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    assert kernels.entry("one").status == "blocked"
    with pytest.raises(PluginBlocked):
        kernels.get("one")


def test_unknown_distribution_in_the_variable_is_reported(two, monkeypatch):
    monkeypatch.setenv("KERNREG_PLUGINS", "dist-one, dist-tow")
    report = discovery_report()
    assert report.policy == "dist-one, dist-tow"
    assert report.unknown_in_policy == ("dist-tow",)
    assert any("dist-tow" in line for line in report.advice())
