"""The demo tells the truth: what it claims of scikit-learn and of kernreg holds, with plugins and without."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import pairwise_kernels

import kernreg as kr
from kernreg.demo import command as demo
from kernreg.demo.contest import compare
from kernreg.demo.food_web import ROLES, make_food_web
from kernreg.demo.speed import containment, measure
from kernreg.errors import UnknownPlugin
from kernreg.kernels import symmetrize

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs/_static/demo.png"


@pytest.fixture(scope="module")
def web():
    return make_food_web()


@pytest.fixture(scope="module")
def results(web):
    return compare(web)


def size_of(picture: Path) -> tuple[int, int]:
    """Width and height that the head of a PNG file states."""
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def blurred(picture: np.ndarray, side: int = 20) -> np.ndarray:
    """Means of squares of pixels: releases of matplotlib lay the same picture out a few pixels apart."""
    height, width = (length // side * side for length in picture.shape[:2])
    return picture[:height, :width].reshape(height // side, side, width // side, side, -1).mean(axis=(1, 3))


def test_direction_is_the_information(results):
    accuracy = {result.method: result.accuracy for result in results}
    assert accuracy["SVC on (K + Kᵀ)/2"] < 0.6  # two roles of four cannot be told apart
    assert accuracy["SVC, kernel function mirrored"] < 0.6
    assert accuracy["SVC, rows of K as features"] > 0.98
    assert accuracy["ls-svm"] is None
    assert min(accuracy[f"ask-ls, {view}"] for view in ("source", "target", "average")) > 0.98
    assert accuracy["ksvd → ls-svm"] > 0.98


def test_without_direction_plants_and_hunters_look_alike(web):
    """Mean rows of (K + Kᵀ)/2 by role: those two roles apart are closer than two neighbouring ones, by far."""
    order = np.arange(len(web.roles))[:, None]
    S = symmetrize(web.kernel)(order)
    means = np.array([[S[np.ix_(web.roles == a, web.roles == b)].mean() for b in range(4)] for a in range(4)])
    gaps = np.abs(means[:, None] - means).max(axis=2)
    assert max(gaps[0, 2], gaps[1, 3]) < 0.1 * min(gaps[0, 1], gaps[1, 2], gaps[2, 3], gaps[3, 0])


def test_scikit_learn_mirrors_and_kernreg_does_not():
    from sklearn.datasets import load_digits

    X = load_digits().data[:30]
    truth = np.array([[containment(x, z) for z in X] for x in X])
    mirrored = pairwise_kernels(X, metric=containment)
    np.testing.assert_allclose(mirrored, np.triu(truth) + np.triu(truth, 1).T)
    timing = measure(30)
    assert timing.wrong == np.mean(~np.isclose(truth, mirrored)) > 0.4
    assert min(timing.sklearn, timing.kernreg, timing.kernreg_first) > 0


def test_the_story_as_printed(results, tmp_path, monkeypatch):
    monkeypatch.setattr("kernreg.demo.contest.compare", lambda web: results)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(demo.command, [], catch_exceptions=False)
    assert done.exit_code == 0
    text = " ".join(done.stdout.split())
    assert "SVC on (K + Kᵀ)/2 0.5" in text
    assert re.search(r"ask-ls, average (0\.99|1\.00)", text)
    assert re.search(r"scikit-learn [\d.]+ m?s, kernreg [\d.]+ m?s, \d+ times faster", text)
    assert "Now try" in text
    assert "kernreg new-plugin" in text
    assert size_of(tmp_path / "demo_output/demo.png") == size_of(PICTURE)


def test_the_picture_of_the_readme_is_drawn_by_its_command(results, tmp_path, monkeypatch):
    assert "docs/_static/demo.png" in (ROOT / "README.md").read_text(encoding="utf-8")
    recipe = re.search(r"^picture:.*\n\t\$\(BIN\)/python -m kernreg.demo (.*)$", (ROOT / "Makefile").read_text(), re.M)
    arguments = recipe[1].split()
    assert arguments[-1] == "docs/_static/demo.png"
    monkeypatch.setattr("kernreg.demo.contest.compare", lambda web: results)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(demo.command, arguments, catch_exceptions=False)
    assert done.stdout == "docs/_static/demo.png\n"
    drawn = tmp_path / "docs/_static/demo.png"
    assert size_of(drawn) == size_of(PICTURE)
    image = pytest.importorskip("matplotlib.image")
    gap = np.abs(blurred(image.imread(drawn)) - blurred(image.imread(PICTURE))).mean()
    assert gap < 0.03  # fonts and signs of components may differ from one machine to another


def test_without_matplotlib_it_says_so_and_goes_on(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kernreg.demo.contest.compare", lambda web: results)
    monkeypatch.setattr(demo.importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(demo.command, [], catch_exceptions=False)
    assert done.exit_code == 0
    assert "it needs matplotlib" in done.stdout
    assert not (tmp_path / "demo_output").exists()
    done = CliRunner().invoke(demo.command, ["--picture-only"])
    assert done.exit_code != 0
    assert "matplotlib" in done.stderr


def test_without_the_plugin_the_built_in_kernel_holds_the_same_numbers(web, tmp_path):
    program = (
        "import numpy as np, sys\n"
        "from kernreg.demo.command import introduce\n"
        "from kernreg.demo.food_web import make_food_web\n"
        "from rich.console import Console\n"
        "web = make_food_web()\n"
        "introduce(Console(), web)\n"
        "np.save(sys.argv[1], web.kernel(web.species))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "K.npy")],
        env={**os.environ, "KERNREG_PLUGINS": "none"},
        capture_output=True,
        text=True,
        check=True,
    )
    np.testing.assert_allclose(np.load(tmp_path / "K.npy"), web.kernel(web.species), rtol=1e-15)
    assert "the built-in adjacency: the kernel 'graph-adjacency'" in " ".join(done.stdout.split())
    assert sorted(set(web.roles.tolist())) == list(range(len(ROLES)))


def test_without_the_plugin_it_says_how_to_install_it(monkeypatch):
    make = kr.make_kernel

    def without_plugins(spec, **parameters):
        if spec == "graph-adjacency":
            raise UnknownPlugin("no such kernel")
        return make(spec, **parameters)

    monkeypatch.setattr(kr, "make_kernel", without_plugins)
    assert "pip install ./plugins/kernreg-graph" in make_food_web(20).problem
