"""Settings of the documentation: Markdown pages, built to HTML by `make docs`."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))  # for layers.py and pictures.py

project = "kernreg"
author = "kernreg contributors"
copyright = "kernreg contributors"
release = version = installed_version("kernreg")

extensions = ["myst_parser", "layers", "pictures"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True

myst_heading_anchors = 3

html_theme = "alabaster"
html_title = f"kernreg {version}"
html_theme_options = {
    "description": "One line of mathematics, every solver.",
    "fixed_sidebar": True,
    "page_width": "64rem",
}
