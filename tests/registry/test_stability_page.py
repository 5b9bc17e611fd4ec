"""The page on stability says what the code does."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from kernreg.cli.installation.new_plugin import PluginNames, contents
from kernreg.ensemblers import Ensembler
from kernreg.errors import PluginIncompatible, PluginLoadError, PluginWarning
from kernreg.kernels import ReferenceKernel
from kernreg.registry import API_VERSION, KINDS, get_registry, isolated, refresh
from kernreg.solvers import KernelLearner
from kernreg.testing.imports import PUBLIC

PAGE = (Path(__file__).parents[2] / "docs/extend/stability.md").read_text(encoding="utf-8")


def test_the_page_names_the_version_the_groups_and_the_public_modules():
    assert f"It is now **{API_VERSION}**" in PAGE
    assert f"here {API_VERSION} does this" in PAGE
    assert all(f"`{group}`" in PAGE for group in KINDS.values())
    listed = PAGE.partition("counts as public:")[2].partition(". Of a module")[0]
    assert set(re.findall(r"`(kernreg[\w.]*)`", listed)) == set(PUBLIC)
    bare = set(re.findall(r"`(kernreg\.\w+)`", PAGE.partition("without `__all__` (")[2].partition(")")[0]))
    assert bare == {name for name in PUBLIC if not hasattr(import_module(name), "__all__")}


def test_the_hooks_that_the_page_names_are_there():
    classes = {cls.__name__: cls for cls in (Ensembler, KernelLearner, ReferenceKernel)}
    hooks = re.findall(r"`(Ensembler|KernelLearner|ReferenceKernel)\.(\w+)`", PAGE)
    assert len(hooks) == 6
    assert all(callable(getattr(classes[name], hook)) for name, hook in hooks)


def test_templates_declare_the_version():
    for kind in KINDS:
        text = contents(PluginNames.of("trial", kind))["src/kernreg_trial/__init__.py"]
        assert f'__kernreg_api__ = "{API_VERSION}"' in text


MAJOR, MINOR = map(int, API_VERSION.split("."))
ROWS = [
    (f'"{MAJOR}.{MINOR}"', None, "nothing: it is loaded"),
    (f'"{MAJOR}.{MINOR + 1}"', PluginWarning, "with a `PluginWarning`"),
    (f'"{MAJOR + 1}.0"', PluginIncompatible, "`PluginIncompatible`"),
    (f'"{MAJOR - 1}.9"', PluginIncompatible, "`PluginIncompatible`"),
    (f"{MAJOR}.{MINOR}", PluginLoadError, "`PluginLoadError`"),
    ("None", None, "it is loaded |"),
]


@pytest.mark.parametrize(("declared", "outcome", "told"), ROWS)
def test_the_table_of_versions_is_what_loading_does(tmp_path, monkeypatch, declared, outcome, told):
    assert told in PAGE
    number = re.sub(r"\W", "_", declared)
    (tmp_path / f"versioned{number}.py").write_text(
        f"__kernreg_api__ = {declared}\n"
        "class Merger:\n    def fit(self, views, y): ...\n    def merge(self, views): ...\n"
    )
    info = tmp_path / f"versioned{number}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: versioned{number}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[kernreg.ensemblers]\nversioned = versioned{number}:Merger\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with isolated():
        refresh()
        if outcome is None:
            assert get_registry("ensembler").get("versioned").__name__ == "Merger"
        elif outcome is PluginWarning:
            with pytest.warns(PluginWarning, match="upgrade kernreg"):
                get_registry("ensembler").get("versioned")
        else:
            with pytest.raises(outcome):
                get_registry("ensembler").get("versioned")
    monkeypatch.undo()
    refresh()
