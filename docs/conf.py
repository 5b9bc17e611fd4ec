"""Settings of the documentation: Markdown pages, built to HTML by `make docs`."""

from importlib.metadata import version as installed_version

project = "kernreg"
author = "kernreg contributors"
copyright = "kernreg contributors"
release = version = installed_version("kernreg")

extensions = ["myst_parser"]
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
