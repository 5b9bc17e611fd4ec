"""The catalogue of kernels: a page and a picture for everything registered as a kernel, plugins included.

`make docs` writes the pages to docs/reference/kernels; the directive ``kernel-cards`` shows them on one page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import docstrings
import files
import formula
import kernel_pictures
import public
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.ext.napoleon import Config, NumpyDocstring

SEES = {
    "dot": "the inner product ⟨x, z⟩",
    "sqeuclidean": "the squared distance ‖x − z‖²",
    "l1": "the distance ‖x − z‖₁",
    "term": "a sum over features",
    "rows": "the two rows",
    "blocks": "two arrays of samples",
    "kernels": "values of other kernels",
}
SAMPLES = {
    "real": "rows of numbers",
    "nonnegative": "rows of numbers ≥ 0, such as histograms",
    "distribution": "rows of numbers ≥ 0 that sum to 1",
    "gaussian": "Gaussians: means, then variances",
    "index": "row numbers of nodes or samples",
}
PARAMETERS = """.. list-table::
   :header-rows: 1
   :widths: 20 60 20

   * - Parameter
     - Accepted
     - Default"""
GROUPS = {
    "numbers": lambda family: family.inputs == "real" and family.of != "kernels" and not needs(family),
    "histograms": lambda family: family.inputs in ("nonnegative", "distribution", "gaussian"),
    "graphs": lambda family: family.inputs == "index",
    "structured": lambda family: not isinstance(family.inputs, str),
    "made-of-kernels": lambda family: family.inputs == "real" and (family.of == "kernels" or needs(family)),
}


def setup(app: Any) -> dict[str, bool]:
    """Write before Sphinx looks for pages."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    app.add_directive("kernel-cards", KernelCards)
    return {"parallel_read_safe": True}


def write(docs: Path) -> None:
    """Write all pages and pictures, and remove those of kernels that are gone."""
    written = []
    for entry, family in public.registered("kernel"):
        kernel_pictures.draw(family, entry.name, docs / "_build/kernels")
        written.append(docs / f"reference/kernels/{entry.name}.rst")
        files.write(written[-1], page(entry, family))
    files.remove_others(docs / "reference/kernels", written)


def needs(family: Any) -> bool:
    """Return whether a parameter has no default: the kernel is made of something else."""
    from kernreg.kernels.domains import REQUIRED

    return any(parameter.default is REQUIRED for parameter in family.parameters)


def group(family: Any) -> str:
    """Return the part of the catalogue where a kernel stands: that of the samples it takes."""
    return next((name for name, belongs in GROUPS.items() if belongs(family)), "numbers")


def formula_of(family: Any) -> str:
    """Return the formula, in reStructuredText."""
    return formula.as_rst(family.formula, [parameter.name for parameter in family.parameters])


def symmetry(family: Any) -> str:
    """Say whether k(x, z) = k(z, x)."""
    return "symmetric" if family.symmetric else "by its parts" if family.of == "kernels" else "asymmetric"


def definiteness(family: Any) -> str:
    """Say whether kernel matrices are positive semi-definite."""
    if callable(family.definite):
        return "by its parameters"
    if family.of == "kernels" and family.definite is None:
        return "by its parts"
    words = {True: "positive definite", False: "indefinite", None: "not known"}
    return "—" if family.definite is None and not family.symmetric else words[family.definite]


def badges(entry: Any, family: Any) -> str:
    """Return what is worth knowing before a kernel is chosen."""
    words = [symmetry(family), *([definiteness(family)] if definiteness(family) not in ("—", symmetry(family)) else [])]
    plugin = [] if entry.distribution == "kernreg" else [f":bdg-info-line:`{entry.distribution}`"]
    return " ".join([*(f":bdg-secondary-line:`{word}`" for word in words), *plugin])


def page(entry: Any, family: Any) -> str:
    """Return the page of a kernel."""
    inputs = SAMPLES.get(family.inputs, family.inputs) if isinstance(family.inputs, str) else str(family.inputs)
    facts = [
        ("From", f"``{entry.distribution}`` {entry.version}"),
        ("Symmetry", symmetry(family)),
        ("Definiteness", definiteness(family)),
        ("Samples", _plain(inputs)),
        ("Computed from", SEES.get(family.of, family.of)),
    ]
    return "\n".join(
        [
            f"{entry.name}\n{'=' * len(entry.name)}\n",
            f".. index:: single: {entry.name} (kernel)\n",
            f".. rst-class:: formula\n\n{formula_of(family)}\n",
            f".. image:: /_build/kernels/{entry.name}.png\n   :alt: k(x, 0) and a matrix of {entry.name}\n",
            ".. list-table::\n   :class: facts\n   :stub-columns: 1\n   :widths: 30 70\n",
            *(f"   * - {name}\n     - {text}" for name, text in facts),
            "",
            *_parameters(family),
            *_told(family),
        ]
    )


def _parameters(family: Any) -> list[str]:
    from kernreg.kernels.domains import REQUIRED

    if not family.parameters:
        return ["It has no parameters.\n"]
    rows = [
        f"   * - ``{each.name}``\n     - {_plain(str(each.domain))}\n     - "
        + ("required" if each.default is REQUIRED else f"``{each.default!r}``")
        for each in family.parameters
    ]
    return [PARAMETERS, *rows, ""]


def _told(family: Any) -> list[str]:
    """Return the docstring below its formula."""
    rest = docstrings.as_rst(family.doc.split("\n")[1:])
    return [*NumpyDocstring(rest, Config(napoleon_use_rtype=False), what="function").lines(), ""]


def _plain(text: str) -> str:
    return docstrings.as_rst([text.replace("*", r"\*")])[0]


class KernelCards(Directive):
    """A card for every kernel of a group: ``kernel-cards:: graphs``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the cards as if they were written on the page."""
        chosen = [pair for pair in public.registered("kernel") if group(pair[1]) == self.arguments[0]]
        lines = [".. grid:: 1 1 2 2", "   :gutter: 3", ""]
        for entry, family in chosen:
            lines += [
                f"   .. grid-item-card:: {entry.name}",
                f"      :link: /reference/kernels/{entry.name}",
                "      :link-type: doc",
                f"      :img-bottom: /_build/kernels/{entry.name}.png",
                f"      :img-alt: k(x, 0) and a matrix of {entry.name}",
                "      :class-card: kernel-card",
                "",
                f"      {formula_of(family)}",
                "",
                f"      {badges(entry, family)}",
                "",
            ]
        return parsed(self, lines)


def parsed(directive: Directive, lines: list[str]) -> list[nodes.Node]:
    """Return what lines of reStructuredText are; Markdown pages use the directive inside ``eval-rst``."""
    container = nodes.container()
    directive.state.nested_parse(StringList(lines, source="registry"), directive.content_offset, container)
    return container.children
