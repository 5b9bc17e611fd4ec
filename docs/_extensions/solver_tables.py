"""Tables of what is registered: solvers by what they do, ensemblers, engines and commands.

``solver-table:: classifier`` is a table of classifiers; ``plugin-table:: ensembler`` one of another kind.
"""

from __future__ import annotations

from typing import Any

import api_pages
import public
from docutils import nodes
from docutils.parsers.rst import Directive
from kernel_pages import parsed


def setup(app: Any) -> dict[str, bool]:
    """Make the directives known."""
    app.add_directive("solver-table", SolverTable)
    app.add_directive("plugin-table", PluginTable)
    return {"parallel_read_safe": True}


def task(cls: Any) -> str:
    """Return what a solver is for.

    >>> from kernreg.solvers import KernelBiclustering, KernelPCA, LSSVC, SCGLDK
    >>> [task(cls) for cls in (LSSVC, KernelPCA, KernelBiclustering, SCGLDK)]
    ['classifier', 'components', 'clusterer', 'kernel']
    """
    from sklearn.base import BiclusterMixin
    from sklearn.utils import get_tags

    from kernreg.solvers import KernelLearner

    if issubclass(cls, KernelLearner):
        return "kernel"
    if issubclass(cls, BiclusterMixin):
        return "clusterer"
    return get_tags(cls()).estimator_type or "components"


def row(entry: Any, cls: Any) -> str:
    """Return a row: name, what it is, and the distribution it comes with."""
    home = public.home_of(cls)
    where = f":doc:`{entry.name} </{home.page}>`" if home else f"``{entry.name}``"
    return f"   * - {where}\n     - {api_pages.summary(cls)}\n     - ``{entry.distribution}``"


HEAD = """.. list-table::
   :header-rows: 1
   :widths: 20 60 20
   :class: names

   * - Name
     - What it is
     - From"""


class SolverTable(Directive):
    """A table of the solvers for one task."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        chosen = [pair for pair in public.registered("solver") if task(pair[1]) == self.arguments[0]]
        return parsed(self, f"{HEAD}\n{chr(10).join(row(*pair) for pair in chosen)}".splitlines())


class PluginTable(Directive):
    """A table of what is registered of a kind: ensembler, engine or command."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        rows = [row(*pair) for pair in public.registered(self.arguments[0])]
        return parsed(self, f"{HEAD}\n{chr(10).join(rows)}".splitlines())
