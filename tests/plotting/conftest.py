"""Pictures are drawn without a screen, and closed after each test."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def plt():
    matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib, the extra 'plot'")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture
def moons():
    from sklearn.datasets import make_moons

    return make_moons(60, noise=0.25, random_state=0)
