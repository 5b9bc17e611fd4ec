"""The gallery: every example runs by itself, quietly, and draws one picture; every example becomes a notebook."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kernreg.testing import private_imports

FOLDER = Path(__file__).parents[1] / "docs" / "examples"
EXAMPLES = sorted(FOLDER.glob("*/plot_*.py"))
#: Those that take more than a few seconds, most of it for compiling, or for starting a cluster.
SLOW = {"plot_custom_kernel", "plot_dask", "plot_half_a_million", "plot_plugin"}

#: Runs an example as ``python plot_x.py`` does, with warnings as errors, and tells what it has drawn.
DRIVER = """
import io, json, runpy, sys, warnings
import matplotlib.pyplot as plt

warnings.simplefilter("error")
warnings.filterwarnings("ignore", "'[^']+' (argument is )?deprecated")  # what matplotlib up to 3.10 calls of pyparsing
warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")  # what plt.show() says without a screen
runpy.run_path(sys.argv[1], run_name="__main__")
figures = [plt.figure(number) for number in plt.get_fignums()]
for figure in figures:
    figure.savefig(io.BytesIO())  # layouts that do not fit warn here
drawn = [ax for figure in figures for ax in figure.axes if ax.has_data()]
titles = [ax.get_title() for ax in drawn if ax.get_title()]
print(json.dumps({"figures": len(figures), "drawn": len(drawn), "titles": titles}))
"""


def named(path: Path) -> Any:
    marks = [pytest.mark.slow] if path.stem in SLOW else []
    return pytest.param(path, id=path.stem.removeprefix("plot_"), marks=marks)


@pytest.mark.parametrize("path", [named(path) for path in EXAMPLES])
def test_example_runs_quietly_and_draws_one_picture(path, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "KERNREG_DATA"}
    environment |= {
        "KERNREG_EXAMPLE_ROWS": "50000",
        "MPLBACKEND": "Agg",
        "PYTHONIOENCODING": "utf-8",
        "TMPDIR": str(tmp_path),
    }
    command = [sys.executable, "-c", DRIVER, str(path)]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    drawn = json.loads(run.stdout.splitlines()[-1])
    assert drawn["figures"] == 1
    assert drawn["drawn"] >= 1
    assert all(len(title) > 5 for title in drawn["titles"])
    assert drawn["titles"]


def test_gallery_has_what_was_promised():
    assert len(EXAMPLES) >= 16
    assert {path.stem for path in EXAMPLES} >= SLOW
    assert len({path.stem for path in EXAMPLES}) == len(EXAMPLES), "names are unique: Sphinx-Gallery needs them to be"
    for folder in {FOLDER, *(path.parent for path in EXAMPLES)}:
        title, line = (folder / "GALLERY_HEADER.rst").read_text(encoding="utf-8").splitlines()[:2]
        assert line == "=" * len(title)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem.removeprefix("plot_"))
def test_example_tells_a_story_and_checks_its_numbers(path):
    module = ast.parse(path.read_text(encoding="utf-8"))
    title, line, empty, *story = ast.get_docstring(module).splitlines()
    assert title
    assert line == "=" * len(line)
    assert len(line) >= len(title)
    assert empty == ""
    assert len(" ".join(story)) > 80
    assert any(isinstance(node, ast.Assert) for node in ast.walk(module)), "what the text says is asserted"
    assert ast.unparse(module.body[-1]) == "plt.show()"


def test_examples_use_public_names_only():
    assert private_imports(FOLDER) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem.removeprefix("plot_"))
def test_example_becomes_a_notebook(path, tmp_path):
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(path)
    conf = {**DEFAULT_GALLERY_CONF, "src_dir": str(tmp_path), "gallery_dirs": str(tmp_path)}
    cells = jupyter_notebook(blocks, conf, str(tmp_path))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    text = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert text[0].lstrip().startswith("# ")
    assert len(code) >= 3
    whole = [ast.unparse(statement) for statement in ast.parse(path.read_text(encoding="utf-8")).body[1:]]
    again = [ast.unparse(statement) for statement in ast.parse("\n".join(code)).body]
    assert again in (whole, whole[:-1])  # a notebook shows its picture without plt.show()
