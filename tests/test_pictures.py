"""Pages show pictures that their own code draws."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_every_picture_of_a_page_is_drawn_by_its_code(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, the extra 'plot'")
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs/_extensions/pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in module.PAGES:
        page = ROOT / "docs" / name
        drawn = [path.name for path in module.draw(page, tmp_path)]
        shown = re.findall(r"^```\{image\} \.\./_build/(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert shown == drawn
        assert all((tmp_path / path).stat().st_size > 5000 for path in drawn)
