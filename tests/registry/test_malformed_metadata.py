"""Foreign metadata that the entrypoints package cannot read must not cost us any plugin."""

from __future__ import annotations

import pathlib
import sys
import zipfile

import pytest

from kernreg.registry import discovery_report, get_registry, refresh
from kernreg.registry.naming import version_of

# name of the case: (the file of a foreign distribution, the error entrypoints stops with)
FOREIGN = {
    "no section": (b"tool = somewhere:main\n", "MissingSectionHeaderError"),
    "no equals sign": (b"[console_scripts]\njust words\n", "ParsingError"),
    "repeated key": (b"[console_scripts]\ntool = a:b\ntool = c:d\n", "DuplicateOptionError"),
    "repeated section": (
        b"[console_scripts]\na = a:b\n[console_scripts]\nb = c:d\n",
        "DuplicateSectionError",
    ),
    "not utf-8": (b"[console_scripts]\ntool = caf\xe9:main\n", "UnicodeDecodeError"),
}


KERNEL = """
class Family:
    __kernreg_kernel__ = True
    name = __name__
    def __call__(self): ...
kernel = Family()
"""


@pytest.fixture
def good(site):
    site.install("aaa-good", "3.1", kernels={"first": "good_module:kernel"}, modules={"good_module.py": "OBJECTS"})
    site.install("zzz-good", "3.2", kernels={"last": "good_module:kernel"})
    return site


def assert_good_plugins_work():
    kernels = get_registry("kernel")
    for name, distribution, version in [("first", "aaa-good", "3.1"), ("last", "zzz-good", "3.2")]:
        entry = kernels.entry(name)
        assert (entry.distribution, entry.version, entry.status) == (distribution, version, "available")
        assert kernels.get(name).name == "good_module"
        assert kernels.entry(name).status == "loaded"


@pytest.mark.parametrize("case", FOREIGN)
def test_malformed_foreign_file_falls_back_and_is_remembered(good, case):
    content, error = FOREIGN[case]
    info = good.install("mmm-foreign", entry_points=content)
    assert_good_plugins_work()
    report = discovery_report()
    assert report.backend == "importlib.metadata"
    assert report.error.startswith(error)
    assert report.culprit == str(info / "entry_points.txt")
    assert [problem.path for problem in report.problems] == [report.culprit]
    assert report.problems[0].reason
    assert report.distributions >= 2
    assert any(report.culprit in line for line in report.advice())


@pytest.mark.parametrize("group", ["kernreg.kernels", "kernreg.solvers"])
def test_percent_sign_falls_back_and_is_remembered(good, group):
    info = good.install("mmm-percent", entry_points=f"[{group}]\npercent = module:%obj\n")
    assert_good_plugins_work()
    report = discovery_report()
    assert report.backend == "importlib.metadata"
    assert report.error.startswith("InterpolationSyntaxError")
    assert report.culprit == str(info / "entry_points.txt")
    kind = "kernel" if group == "kernreg.kernels" else "solver"
    assert get_registry(kind).entry("percent").status == "broken"


def test_percent_sign_in_a_group_that_is_not_ours_harms_nobody(good):
    good.install("mmm-percent", entry_points="[console_scripts]\npercent = module:%obj\n")
    assert_good_plugins_work()
    assert discovery_report().backend == "entrypoints"


def test_repeated_key_in_a_plugin_keeps_its_other_plugins(good):
    line = "same = good_module:kernel\n"
    text = f"[kernreg.kernels]\n{line}{line}other = good_module:kernel\n"
    good.install("mmm-repeats", entry_points=text)
    assert_good_plugins_work()
    assert discovery_report().error.startswith("DuplicateOptionError")
    assert get_registry("kernel").get("same").name == "good_module"
    assert get_registry("kernel").get("mmm-repeats:other").name == "good_module"


def test_malformed_plugin_is_skipped_alone_and_named(good):
    info = good.install("mmm-malformed", entry_points="[kernreg.kernels]\nlost = good_module:kernel\nno equals sign\n")
    assert_good_plugins_work()
    report = discovery_report()
    assert report.backend == "importlib.metadata"
    assert [problem.path for problem in report.problems] == [str(info / "entry_points.txt")]
    assert "skipped" in report.problems[0].reason
    with pytest.raises(LookupError, match=r"metadata of 1 distribution.* could not be read"):
        get_registry("kernel").get("lost")


def test_every_malformed_file_is_reported_not_only_the_first(good):
    contents = [content for content, _ in FOREIGN.values()]
    infos = [good.install(f"foreign-{n}", entry_points=content) for n, content in enumerate(contents)]
    assert_good_plugins_work()
    paths = {problem.path for problem in discovery_report().problems}
    assert paths == {str(info / "entry_points.txt") for info in infos}


def test_pathlib_path_on_sys_path_falls_back_and_is_remembered(good, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, pathlib.Path(tmp_path)])
    get_registry("kernel").refresh()
    assert_good_plugins_work()
    report = discovery_report()
    assert report.backend == "importlib.metadata"
    assert report.error.startswith("AttributeError")
    assert report.culprit == str(tmp_path)
    assert any("str(path)" in line for line in report.advice())


def test_bytes_and_strange_objects_on_sys_path_fall_back(good, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, bytes(tmp_path), object()])
    get_registry("kernel").refresh()
    assert_good_plugins_work()
    assert discovery_report().backend == "importlib.metadata"


def test_missing_entrypoints_package_falls_back(good, monkeypatch):
    monkeypatch.setitem(sys.modules, "entrypoints", None)
    get_registry("kernel").refresh()
    assert_good_plugins_work()
    assert discovery_report().error.startswith("ModuleNotFoundError")


def test_fallback_reads_name_and_version_from_the_directory_without_metadata(good):
    good.install("Bare_Plugin", "0.5", kernels={"bare": "good_module:kernel"}, metadata=False)
    good.install("mmm-foreign", entry_points=FOREIGN["no section"][0])
    entry = get_registry("kernel").entry("bare-plugin:bare")
    assert (entry.distribution, entry.version) == ("bare-plugin", "0.5")
    assert discovery_report().backend == "importlib.metadata"


def test_both_backends_find_the_same(good):
    good.install("other", entry_points="[kernreg.engines]\ne = m : o\n[kernreg.kernels]\nk.x-y = m:o [extra]\n")
    before = [registry.entries() for registry in map(get_registry, ("kernel", "engine"))]
    assert discovery_report().backend == "entrypoints"
    good.install("mmm-foreign", entry_points=FOREIGN["no equals sign"][0])
    assert discovery_report().backend == "importlib.metadata"
    assert [registry.entries() for registry in map(get_registry, ("kernel", "engine"))] == before


def test_metadata_are_found_where_the_backport_has_taken_the_standard_finder_away(monkeypatch, tmp_path):
    from importlib.machinery import PathFinder

    from kernreg.registry.discovery.metadata import distributions_on

    (tmp_path / "thing-1.0.dist-info").mkdir()
    (tmp_path / "thing-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
    monkeypatch.delattr(PathFinder, "find_distributions", raising=False)  # gone already where the backport is loaded
    assert [found.metadata["Name"] for found in distributions_on([str(tmp_path)])] == ["thing"]


@pytest.mark.parametrize("there", ["folder", "loop", "dangling"])
@pytest.mark.parametrize("other", [None, "no section"])
def test_entry_points_that_cannot_be_opened_are_told(good, there, other):
    path = good.install("mmm-closed") / "entry_points.txt"
    if there == "folder":
        path.mkdir()
    else:
        path.symlink_to({"loop": path.name, "dangling": "nowhere"}[there])
    if other is not None:  # then importlib.metadata looks
        good.install("other", entry_points=FOREIGN[other][0])
    refresh()
    assert_good_plugins_work()
    report = discovery_report()
    assert report.backend == ("entrypoints" if other is None else "importlib.metadata")
    assert str(path) in {problem.path for problem in report.problems}


@pytest.mark.parametrize("name", ["kernreg", "aaa-good"])
def test_metadata_with_the_name_of_another_distribution_shadow_nothing(good, name):
    info = good.install("0-liar", entry_points="[kernreg.kernels]\nmine = good_module:kernel\n")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n")
    good.install("mmm-foreign", entry_points=FOREIGN["no section"][0])
    assert_good_plugins_work()
    assert discovery_report().backend == "importlib.metadata"
    assert get_registry("kernel").entry("mine").distribution == "0-liar"
    assert get_registry("kernel").entry("rbf").status in ("available", "loaded")


def test_two_eggs_without_metadata_are_two_distributions_whoever_looks(good, monkeypatch):
    eggs = [good.root / f"{name}_egg-1.0-py3.11.egg" for name in ("one", "two")]
    for egg in eggs:
        (egg / "EGG-INFO").mkdir(parents=True)
        (egg / "EGG-INFO/entry_points.txt").write_text(f"[kernreg.kernels]\n{egg.name[:3]} = good_module:kernel\n")
    monkeypatch.setattr(sys, "path", [*map(str, eggs), *sys.path])
    good.install("mmm-foreign", entry_points=FOREIGN["no section"][0])
    assert discovery_report().backend == "importlib.metadata"
    assert [get_registry("kernel").entry(name).distribution for name in ("one", "two")] == ["one-egg", "two-egg"]


@pytest.mark.parametrize("version", ["1\x1b[2J", "1" * 1000, ""])
def test_a_version_that_is_none_is_not_taken(site, version):
    info = site.install("developed", directory="developed.egg-info", kernels={"d": "d:k"}, metadata=False)
    (info / "PKG-INFO").write_text(f"Metadata-Version: 2.1\nName: developed\nVersion: {version}\n")
    assert get_registry("kernel").entry("d").version is None


def test_damaged_metadata_of_what_kernreg_needs_hide_a_version_and_no_more(site):
    (site.install("numpy", "0.1") / "METADATA").write_bytes(b"\xff")
    assert version_of("numpy") is None


@pytest.mark.parametrize("name", ["bad.zip", "bad-1.0-py3.11.egg"])
def test_zip_files_on_the_path_are_read_one_by_one_too(good, monkeypatch, tmp_path, name):
    info = "EGG-INFO" if name.endswith(".egg") else "bad-1.0.dist-info"
    with zipfile.ZipFile(tmp_path / name, "w") as bad:
        bad.writestr(f"{info}/entry_points.txt", b"[kernreg.kernels]\na = caf\xe9:b\n")
    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as zipped:
        zipped.writestr("zipped-1.5.dist-info/entry_points.txt", "[kernreg.kernels]\nz = zipped_module:kernel\n")
        zipped.writestr("zipped_module.py", KERNEL)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "zipped.zip"), str(tmp_path / name), *sys.path])
    refresh()
    assert_good_plugins_work()
    entry = get_registry("kernel").entry("z")
    assert (entry.distribution, entry.version) == ("zipped", "1.5")
    assert get_registry("kernel").get("z").name == "zipped_module"
    report = discovery_report()
    assert report.backend == "importlib.metadata"
    assert [problem.path for problem in report.problems] == [str(tmp_path / name / info / "entry_points.txt")]
