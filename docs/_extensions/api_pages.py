"""The API reference: a page for every public module, and one for every public name, from the docstrings.

`make docs` writes them to docs/reference/api. Kernels stand in the catalogue of kernels (kernel_pages.py).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docstrings
import files
import public


def setup(app: Any) -> dict[str, bool]:
    """Write before Sphinx looks for pages."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True}


def write(docs: Path) -> None:
    """Write all pages, and remove those of names that are gone."""
    kernels = {id(family): entry.name for entry, family in public.registered("kernel")}
    written = []
    for module in public.modules():
        names = public.names(module)
        written.append(docs / f"reference/api/{module}.rst")
        files.write(written[-1], module_page(module, names, kernels))
        for name in names:
            if id(name.value) not in kernels:
                written.append(docs / f"{name.page}.rst")
                files.write(written[-1], name_page(name))
    written.append(docs / "reference/api/kernreg.errors.rst")
    files.write(written[-1], f"{title('kernreg.errors')}\n.. automodule:: kernreg.errors\n   :members:\n")
    files.remove_others(docs / "reference/api", written)


def title(text: str) -> str:
    """Return a heading."""
    text = text.replace("__", r"\_\_")  # not bold
    return f"{text}\n{'=' * len(text)}\n"


def summary(value: Any) -> str:
    """Return the first sentence of a docstring, on a line."""
    first = public.docstring(value).split("\n\n")[0].split("::")[0]
    return " ".join(docstrings.as_rst(first.splitlines())).strip()


def module_page(module: str, names: list[public.Name], kernels: dict[int, str]) -> str:
    """Return the page of a module: a table of its names."""
    rows, pages = [], []
    for name in names:
        kernel = kernels.get(id(name.value))
        page = f"/reference/kernels/{kernel}" if kernel else f"/{name.page}"
        text = summary(name.value) or public.comment(name).split("\n")[0]
        rows.append(f"   * - :doc:`{name.name} <{page}>`\n     - {text}\n")
        if not kernel:
            pages.append(f"   {page}\n")
    return "\n".join(
        [
            title(module),
            f".. py:module:: {module}\n",
            summary(importlib.import_module(module)) + "\n",
            ".. list-table::\n   :class: names\n   :widths: 30 70\n",
            "".join(rows),
            ".. toctree::\n   :hidden:\n",
            "".join(pages),
        ]
    )


def name_page(name: public.Name) -> str:
    """Return the page of a class, function or constant."""
    return "\n".join([title(name.name), *_body(name)])


def _body(name: public.Name) -> Iterator[str]:
    value, full = name.value, f"{name.module}.{name.name}"
    if isinstance(value, type):
        yield f".. autoclass:: {full}\n   :members:\n   :inherited-members:\n"
    elif inspect.isroutine(value) or callable(value):
        yield f".. autofunction:: {full}\n"
    else:
        lines = docstrings.as_rst((public.docstring(value) or public.comment(name)).splitlines())
        short = repr(value) if len(repr(value)) < 70 and "<" not in repr(value) else ""
        yield f".. py:data:: {full}" + (f"\n   :value: {short}\n" if short else "\n")
        yield "\n".join(f"   {line}" for line in lines) + "\n"
