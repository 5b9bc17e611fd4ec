"""Figures: computed once, drawn from what was stored, named where they cannot be drawn."""

from __future__ import annotations

import base64
import dataclasses
import re
import sys

import numpy as np
import pytest
from kernreg_papers import Figure, Part, Selection, figure_names, find, find_figure, names, run, write_report
from kernreg_papers.figures.drawing import draw_figure
from kernreg_papers.runner.cells import part_path, read_cell
from kernreg_papers.runner.figures import read_figure

from kernreg.errors import ParameterError

CALLS = []


def compute(data, seed, *, scale):
    CALLS.append(seed)
    y = np.arange(3) if data is None else data.y[:3]
    return {"x": np.arange(3.0), "y": scale * y}


def draw(axes, values):
    for ax in axes:
        ax.plot(values["x"], values["y"])


@pytest.fixture
def figure():
    return Figure(
        name="tiny-figure",
        title="A tiny <figure>",
        paper="Nobody, Nowhere",
        parts=(
            Part("made", "made here", compute, draw, settings={"scale": 2.0}, quick={"scale": 1.0}, panels=2),
            Part("blobs", "from data", compute, draw, data="blobs", settings={"scale": 1.0}),
            Part("absent", "absent data", compute, draw, data="absent_data", settings={"scale": 1.0}),
        ),
        differences=("the lines are straight",),
    )


def test_parts_are_computed_once_and_kept(figure, folder, tmp_path):
    done = run(figure, tmp_path, data=folder)
    assert (done.made, done.kept, done.failed, [line.split(":")[0] for line in done.missing]) == (2, 0, 0, ["absent"])
    before = len(CALLS)
    assert (run(figure, tmp_path, data=folder).kept, len(CALLS)) == (2, before)
    cell = read_cell(part_path(tmp_path, False, "tiny-figure", "made"))
    assert cell["values"] == {"x": [0.0, 1.0, 2.0], "y": [0.0, 2.0, 4.0]}
    assert cell["made_with"]["settings"] == {"scale": 2.0}
    changed = dataclasses.replace(figure, parts=(dataclasses.replace(figure.parts[0], settings={"scale": 3.0}),))
    assert run(changed, tmp_path, data=folder).made == 1
    run(figure, tmp_path, Selection(rows=("made",)), data=folder, quick=True)
    assert read_cell(part_path(tmp_path, True, "tiny-figure", "made"))["values"]["y"] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("damage", [b"", b'{"format": 1, "part": "made", "made_with": {}, "values": {}}'])
def test_a_damaged_part_is_computed_again(figure, folder, tmp_path, damage):
    run(figure, tmp_path, data=folder)
    part_path(tmp_path, False, "tiny-figure", "made").write_bytes(damage)
    assert (run(figure, tmp_path, data=folder).made, run(figure, tmp_path, data=folder).made) == (1, 0)


def test_a_failure_is_told(figure, folder, tmp_path):
    def fail(data, seed, *, scale):
        raise ParameterError("at a pole")

    broken = dataclasses.replace(figure, parts=(dataclasses.replace(figure.parts[0], compute=fail),))
    assert run(broken, tmp_path, data=folder).failed == 1
    assert "not shown, made here: failed, ParameterError: at a pole" in write_report([broken], tmp_path)[0].read_text()


def test_the_picture_is_in_the_page_and_beside_the_markdown(figure, folder, tmp_path):
    pytest.importorskip("matplotlib")
    run(figure, tmp_path, data=folder)
    markdown, page = (path.read_text() for path in write_report([figure], tmp_path, data=folder))
    assert "![A tiny <figure>](report-pictures/tiny-figure.png)" in markdown
    stored = (tmp_path / "report-pictures/tiny-figure.png").read_bytes()
    assert stored.startswith(b"\x89PNG")
    assert base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', page)[1]) == stored
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "<figure>" not in page
    for text in (markdown, page):
        assert "absent data: data not available" in text
        assert "the lines are straight" in text


def test_panels_with_data_are_drawn_on_given_axes(figure, folder, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    run(figure, tmp_path, data=folder)
    values = read_figure(figure, tmp_path, quick=False, data=folder).values
    picture, axes = plt.subplots(1, 3)
    assert draw_figure(figure, values, ax=axes) == list(axes)
    assert [ax.lines[0].get_ydata().tolist() for ax in axes[:2]] == [[0.0, 2.0, 4.0]] * 2
    with pytest.raises(ParameterError, match="2 axes; tiny-figure has 3 panels"):
        draw_figure(figure, values, ax=axes[:2])
    plt.close(picture)


def test_without_matplotlib_or_data_the_report_says_so(figure, folder, tmp_path, monkeypatch):
    nothing = dataclasses.replace(figure, parts=figure.parts[2:])
    assert "No picture: data not available" in write_report([nothing], tmp_path, data=folder)[0].read_text()
    run(figure, tmp_path, data=folder)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for path in write_report([figure], tmp_path, data=folder):
        assert "pictures need matplotlib, which is not installed" in path.read_text()


def test_every_figure_is_described():
    for name in figure_names():
        figure = find_figure(name)
        assert (figure.name, find(name)) == (name, figure)
        assert figure.protocol
        assert figure.differences
        assert name in names()
    with pytest.raises(ParameterError, match="Did you mean 'scg-figure1'"):
        find("scg-figur1")


def test_two_classes_of_two_clusters_become_two_clusters(tmp_path):
    assert run(find_figure("scg-figure1"), tmp_path, quick=True).failed == 0
    values = read_figure(find_figure("scg-figure1"), tmp_path, quick=True).values
    spread = {}
    for name in ("gaussian", "scg-ldk"):
        points, classes = (np.array(values[name][key]) for key in ("points", "classes"))
        middle = [points[classes == c].mean(axis=0) for c in (0, 1)]
        inside = max(np.sqrt(points[classes == c].var(axis=0).sum()) for c in (0, 1))
        spread[name] = np.linalg.norm(middle[0] - middle[1]) / inside
    assert spread["scg-ldk"] > 1.5 * spread["gaussian"]


@pytest.mark.parametrize(
    ("name", "part"), [("ksvd-figure4", "cora"), ("ksvd-figure5", "cora"), ("scg-figure3", "heart")]
)
def test_a_figure_is_computed_and_drawn(tmp_path, name, part):
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 3
    links = (rng.random((120, 120)) < np.where(labels[:, None] == labels, 0.25, 0.02)) & ~np.eye(120, dtype=bool)
    np.savez(tmp_path / "cora.npz", edges=np.argwhere(links), labels=labels, n_nodes=120)
    np.savez(tmp_path / "heart_statlog.npz", X=rng.normal(size=(60, 4)), y=(np.arange(60) % 2).astype(np.int16))
    figure = find_figure(name)
    settings = {"ksvd-figure4": {"nodes": None}, "ksvd-figure5": {"nodes": None, "sizes": [30, 60], "components": 30}}
    parts = [dataclasses.replace(figure.part(part), quick={**figure.part(part).quick, **settings.get(name, {})})]
    small = dataclasses.replace(figure, parts=parts)
    assert run(small, tmp_path / "out", data=tmp_path, quick=True).failed == 0
    values = read_figure(small, tmp_path / "out", quick=True, data=tmp_path).values[part]
    if name == "ksvd-figure5":
        assert values["exact"]["ksvd"][0] > 0.9  # three communities that are easy to see
    pytest.importorskip("matplotlib")
    assert len(draw_figure(small, {part: values})) == 2
