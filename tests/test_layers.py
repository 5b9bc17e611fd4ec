"""The layers: docs/extend/architecture.md and the packages say what the contract in pyproject.toml says."""

from __future__ import annotations

import ast
import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(path.parent for path in (ROOT / "kernreg").glob("*/**/__init__.py"))


@pytest.fixture(scope="module")
def picture():
    spec = importlib.util.spec_from_file_location("layers", ROOT / "docs/_extensions/layers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_names_the_layers_in_the_order_of_the_contract(picture):
    text = (ROOT / "docs/extend/architecture.md").read_text(encoding="utf-8")
    table = re.search(r"^\| layer \| what it does \|\n\| --- \| --- \|\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [line.strip("| \n").split(" | ", 1) for line in table[1].splitlines()]
    assert [tuple(re.findall(r"`(.*?)`", names)) for names, _ in rows] == picture.layers()
    assert all(does.strip() for _, does in rows)


def test_the_picture_shows_every_layer_with_its_rooms_and_imports_downwards_only(picture):
    order = picture.layers()
    counted = picture.imports(order)
    assert counted[order.index(("solvers",)), order.index(("errors",))] > 10
    assert all(importer < imported for importer, imported in counted)
    words = [element.text for element in ElementTree.fromstring(picture.draw()).iter() if element.text]
    for names in order:
        assert {" | ".join(names), *picture.rooms(names)[0], *picture.rooms(names)[1]} <= set(words)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_names_its_rooms(package):
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert {room for room in rooms if not re.search(rf"\b{room}/", text)} == set()
