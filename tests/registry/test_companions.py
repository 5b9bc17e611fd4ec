"""Names of plugins that are not installed: the table follows plugins/, and errors say what to install."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import kernreg as kr
from kernreg.errors import UnknownPlugin
from kernreg.registry import KINDS
from kernreg.registry.companions import COMPANIONS
from kernreg.registry.messages import unknown

PLUGINS = Path(__file__).parents[2] / "plugins"


def test_the_table_is_what_the_plugins_declare():
    declared = {}
    for file in PLUGINS.glob("*/pyproject.toml"):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        groups = project["entry-points"]
        declared[project["name"]] = {kind: set(groups[group]) for kind, group in KINDS.items() if group in groups}
    assert declared == {
        name: {kind: set(names.split()) for kind, names in provided.items()} for name, provided in COMPANIONS.items()
    }


@pytest.mark.parametrize(
    ("kind", "name", "plugin"),
    [
        ("kernel", "gak", "kernreg-structured"),
        ("kernel", "kernreg-structured:gak", "kernreg-structured"),
        ("solver", "krein-svm", "kernreg-krein"),
        ("engine", "dask", "kernreg-dask"),
    ],
)
def test_an_error_names_the_plugin_that_is_not_installed(kind, name, plugin):
    here = [entry for entry in kr.available(kind) if entry.distribution == "kernreg"]
    told = unknown(kind, name, here, [], 0)
    assert told == (
        f"there is no {kind} named {name!r}. The plugin {plugin} provides it: pip install ./plugins/{plugin} in a "
        "clone of kernreg."
    )


def test_what_nobody_provides_is_not_advised():
    with pytest.raises(UnknownPlugin) as told:
        kr.make_kernel("no-such-kernel")
    assert "provides it" not in str(told.value)
