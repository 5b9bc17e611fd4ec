"""Settings of the site: Markdown pages, docstrings, examples and the registry, built to HTML by `make docs`."""

import sys
import warnings
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]  # the site's own extensions, and asv_benchmarks

project = "kernreg"
author = "kernreg contributors"
copyright = "kernreg contributors"
release = version = installed_version("kernreg")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # The site's own, in docs/_extensions
    "mathml",
    "docstrings",
    "api_pages",
    "kernel_pages",
    "solver_tables",
    "layers",
    "pictures",
    "measured",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "benchmarks"]
nitpicky = True
# Types in docstrings are words such as "array of shape (n,)", not names to look up.
nitpick_ignore_regex = [("py:(class|obj|exc|data)", ".*")]
suppress_warnings = ["ref.python"]  # "name" is an attribute of several classes, and no link

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # docstrings say what a parameter is
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",  # what has not changed is not run again, as long as this folder stays
    "filename_pattern": "/plot_",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # a page that loads its scripts from elsewhere
    "abort_on_example_error": True,
}
# Seeing the picture is the point of an example.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "kernreg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "install": [], "faq": []}
html_theme_options = {
    "logo": {"text": "kernreg"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "collapse_navigation": True,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
