"""Pages show pictures that their own code draws."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def pictures():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs/_extensions/pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_picture_of_a_page_is_drawn_by_its_code(pictures, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, the extra 'plot'")
    pages = pictures.pages(ROOT / "docs")
    assert len(pages) >= 4
    for page in pages:
        drawn = [path.name for path in pictures.draw(page, tmp_path)]
        assert pictures.shown(page) == drawn
        assert all((tmp_path / path).stat().st_size > 5000 for path in drawn)


def test_no_two_pages_write_the_same_picture(pictures):
    names = [name for page in pictures.pages(ROOT / "docs") for name in pictures.shown(page)]
    assert len(names) == len(set(names))
