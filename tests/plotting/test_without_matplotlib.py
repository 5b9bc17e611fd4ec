"""Without matplotlib displays hold their numbers, and drawing says what to install."""

from __future__ import annotations

import sys

import pytest

from kernreg.errors import MissingExtra
from kernreg.plotting import SpectrumDisplay


def test_drawing_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    display = SpectrumDisplay([1.0, -1.0])
    assert display.signature == (1, 1)
    with pytest.raises(MissingExtra, match=r"pip install matplotlib"):
        display.plot()
    with pytest.raises(ImportError):
        display.plot()
