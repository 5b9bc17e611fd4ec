from __future__ import annotations

import sys
import time

import pytest

from kernreg.errors import PluginConflict, PluginLoadError
from kernreg.registry import discovery_report, get_registry, normalize_distribution
from kernreg.registry.discovery.walk import discover
from kernreg.registry.record import read_target, split_stem


def claims_of(discovery):
    return [(group, c.name, c.target, c.distribution, c.version) for group, c in discovery.claims]


def test_discovery_goes_through_entrypoints_and_gives_distribution_and_version(site):
    site.install("Kernreg_Demo.Plugin", "2.3", kernels={"demo": "demo_module:kernel"})
    found = discover([str(site.root)])
    assert found.backend == "entrypoints"
    assert found.error == found.culprit == ""
    assert found.distributions == 1
    assert claims_of(found) == [("kernreg.kernels", "demo", "demo_module:kernel", "kernreg-demo-plugin", "2.3")]


def test_the_five_groups_are_found_in_one_walk(site):
    site.install(
        "all-kinds",
        entry_points="""
            [console_scripts]
            tool = somewhere:main
            [kernreg.kernels]
            k = m:k
            [kernreg.solvers]
            s = m:s
            [kernreg.ensemblers]
            e = m:e
            [kernreg.engines]
            g = m:g
            [kernreg.commands]
            c = m:c
        """,
    )
    for kind, name in [("kernel", "k"), ("solver", "s"), ("ensembler", "e"), ("engine", "g"), ("command", "c")]:
        entry = get_registry(kind).entry(name)
        assert (entry.kind, entry.target, entry.distribution, entry.version, entry.origin, entry.status) == (
            kind,
            f"m:{name}",
            "all-kinds",
            "1.0",
            "entry point",
            "available",
        )


@pytest.mark.parametrize("name", ["Kernreg_Histogram", "kernreg.histogram", "kernreg-_-HISTOGRAM"])
def test_distribution_names_are_normalised(name):
    assert normalize_distribution(name) == "kernreg-histogram"


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("kernreg_graph-0.2", ("kernreg-graph", "0.2")),
        ("my-plugin-1.0.post1", ("my-plugin", "1.0.post1")),
        ("my-plugin-1.0-py3.11", ("my-plugin", "1.0")),
        ("plugin-1!2.0+local.1", ("plugin", "1!2.0+local.1")),
        ("plugin", ("plugin", None)),
    ],
)
def test_name_and_version_from_a_metadata_directory(stem, expected):
    assert split_stem(stem) == expected


@pytest.mark.parametrize(
    "text", ["package.module:attr.part", "package.module : attr.part", "package.module:attr.part [x,y]"]
)
def test_targets_are_canonical(text):
    assert read_target(text) == ("package.module:attr.part", "")


@pytest.mark.parametrize("text", ["my-module:obj", "module", "a b:c", "", "module:obj:other"])
def test_unreadable_targets_say_how_to_write_them(text):
    assert "package.module:object" in read_target(text)[1]


def test_unreadable_target_is_listed_as_broken_without_an_import(site):
    site.install("bad-target", kernels={"bad": "my-module:obj", "good": "module:obj"})
    assert discovery_report().backend == "entrypoints"
    entry = get_registry("kernel").entry("bad")
    assert entry.status == "broken"
    assert "'my-module:obj'" in entry.reason
    assert get_registry("kernel").entry("good").status == "available"


def test_two_old_style_names_with_a_common_beginning_are_two_distributions(site):
    site.install("my-a", directory="my-a-1.0.dist-info", kernels={"a": "a:k"})
    site.install("my-b", directory="my-b-1.0.dist-info", kernels={"b": "b:k"})
    assert get_registry("kernel").entry("a").distribution == "my-a"
    assert get_registry("kernel").entry("b").distribution == "my-b"


def test_develop_install_takes_its_version_from_its_metadata(site):
    info = site.install("developed", directory="developed.egg-info", kernels={"d": "d:k"}, metadata=False)
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: developed\nVersion: 0.9\n")
    entry = get_registry("kernel").entry("d")
    assert (entry.distribution, entry.version) == ("developed", "0.9")


def test_a_distribution_earlier_on_the_path_shadows_a_later_one(site, tmp_path, monkeypatch):
    site.install("twice", "2.0", kernels={"new": "m:new"})
    later = type(site)(tmp_path / "later")
    later.install("Twice", "1.0", kernels={"old": "m:old"})
    monkeypatch.setattr(sys, "path", [str(site.root), str(later.root)])
    get_registry("kernel").refresh()
    assert get_registry("kernel").names() == ("new",)
    assert get_registry("kernel").entry("new").version == "2.0"


def test_the_same_directory_twice_on_the_path_gives_one_entry(site, monkeypatch):
    site.install("once", kernels={"k": "m:k"})
    monkeypatch.setattr(sys, "path", [str(site.root), *sys.path, str(site.root)])
    get_registry("kernel").refresh()
    assert [entry.distribution for entry in get_registry("kernel").entries() if entry.name == "k"] == ["once"]


def test_an_unknown_group_is_reported(site):
    site.install("misspelt", entry_points="[kernreg.kernel]\nk = m:k\n")
    report = discovery_report()
    assert report.unknown_groups == (("kernreg.kernel", "misspelt"),)
    assert any("misspelt" in line and "kernreg.kernels" in line for line in report.advice())


def test_three_hundred_distributions_are_listed(site, monkeypatch):
    for number in range(300):
        (info := site.root / f"pkg_{number}-1.{number}.dist-info").mkdir()
        ours = f"[kernreg.kernels]\nk{number} = pkg_{number}:k\n" if number % 10 == 0 else ""
        (info / "entry_points.txt").write_text(f"[console_scripts]\ntool = pkg_{number}:main\n{ours}")
    monkeypatch.setattr(sys, "path", [str(site.root)])
    get_registry("kernel").refresh()
    assert len(get_registry("kernel")) == 30
    assert {entry.status for entry in get_registry("kernel").entries()} == {"available"}
    report = discovery_report()
    assert (report.backend, report.distributions, report.problems) == ("entrypoints", 300, ())


def test_refresh_sees_what_was_installed_meanwhile(site):
    assert "late" not in get_registry("kernel")
    info = site.root / "late-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[kernreg.kernels]\nlate = m:k\n")
    assert "late" not in get_registry("kernel")
    get_registry("solver").refresh()  # any registry: there is one walk for all
    assert "late" in get_registry("kernel")


STRANGE = ["two words", "a\x1b[2J", "x" * 201, "-x", "(", "a:b", ":", "🙂", "a[/]"]


@pytest.mark.parametrize("name", STRANGE)
def test_a_name_that_no_spec_can_hold_is_listed_as_broken_without_an_import(site, name):
    site.install("odd", kernels={name: "odd_module:kernel", "good": "good_module:kernel"})
    entries = {entry.name: entry for entry in get_registry("kernel").entries() if entry.distribution == "odd"}
    assert entries[name].status == "broken"
    assert "a name is made of letters, digits" in entries[name].reason
    assert entries["good"].status == "available"
    for asked in (name, f"odd:{name}"):
        with pytest.raises(PluginLoadError, match="a name is made of letters, digits"):
            get_registry("kernel").get(asked)


def test_an_entry_point_with_the_full_name_of_another_is_not_what_that_means(site, monkeypatch):
    site.install(
        "thief",
        entry_points="[kernreg.kernels]\nkernreg:rbf = thief:kernel\n[kernreg.commands]\nkernreg:list = thief:it\n",
        modules={"thief.py": "OBJECTS"},
    )
    rbf = get_registry("kernel").get("kernreg:rbf")
    assert rbf.__module__.startswith("kernreg.")
    assert get_registry("command").get("kernreg:list").name == "list"
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    assert get_registry("kernel").get("kernreg:rbf") is rbf
    assert "thief" not in sys.modules


def test_a_built_in_kernel_stays_kernregs_whoever_names_it_too(site):
    site.install("borrower", kernels={"rbf": "kernreg.kernels.builtin:rbf"})
    (entry,) = [entry for entry in get_registry("kernel").entries() if entry.name == "rbf"]
    assert entry.distribution == "kernreg"
    assert get_registry("kernel").get("borrower:rbf") is get_registry("kernel").get("rbf")


@pytest.mark.parametrize("kernels", [{"rbf": "not readable"}, {"rbf": "two:many:colons"}])
def test_what_cannot_be_read_contests_no_name(site, kernels):
    site.install("unreadable", kernels=kernels)
    assert get_registry("kernel").get("rbf").name == "rbf"
    statuses = {e.distribution: e.status for e in get_registry("kernel").entries() if e.name == "rbf"}
    assert statuses == {"kernreg": "loaded", "unreadable": "broken"}


def test_a_name_with_thousands_of_claims_is_listed_soon_and_briefly(site):
    lines = "".join(f"same = module_{number}:kernel\n" for number in range(5000))
    site.install("muddle", "1." + "0" * 100, entry_points=f"[kernreg.kernels]\n{lines}")
    start = time.process_time()
    entries = [entry for entry in get_registry("kernel").entries() if entry.name == "same"]
    with pytest.raises(PluginConflict, match="and by 4990 more"):
        get_registry("kernel").get("same")
    assert time.process_time() - start < 10
    assert {entry.status for entry in entries} == {"conflicting"}
    assert len(entries) == 5000
    assert max(len(entry.reason) for entry in entries) < 5000
