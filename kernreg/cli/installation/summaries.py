"""One line about every plugin, read from its source: a listing imports none of them."""

from __future__ import annotations

import ast
import warnings
from functools import cache
from importlib.machinery import PathFinder
from inspect import cleandoc
from pathlib import Path
from typing import Any

from kernreg.registry import Entry, get_registry


def summary_of(entry: Entry) -> str:
    """Return the first line of the docstring of a plugin, empty where its source does not show it."""
    if entry.distribution is None:
        found = get_registry(entry.kind).get(entry.name)
        texts = (getattr(found, each, None) for each in ("doc", "help", "__doc__"))
        text = next((each for each in texts if each and isinstance(each, str)), "")  # it may have methods so called
    else:
        module, _, name = entry.target.partition(":")
        text = docstrings(module).get(name, "")
    return cleandoc(text).partition("\n")[0].strip().rstrip(".")


@cache
def docstrings(module: str) -> dict[str, str]:
    """Return the docstrings of the functions and classes of a module by name.

    >>> docstrings("kernreg.cli.installation.summaries")["docstrings"].partition(" of")[0]
    'Return the docstrings'
    """
    try:
        path = source_of(module)
        if path is None or not path.is_file():
            return {}
        with warnings.catch_warnings():  # those about the text are for its author
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # the last two of code nested without end
        return {}
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = ast.get_docstring(node) or ""
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(_target(node), ast.Name):
            # A family of kernels is made of a class of this module: add = combination("add", Sum, …).
            given = node.value.args if isinstance(node.value, ast.Call) else []
            texts = [found[each.id] for each in given if isinstance(each, ast.Name) and each.id in found]
            found.setdefault(_target(node).id, texts[0] if texts else "")
    return found


def _target(node: ast.Assign | ast.AnnAssign) -> Any:
    return node.targets[0] if isinstance(node, ast.Assign) else node.target


def source_of(module: str) -> Path | None:
    """Return the file of a module; only its outermost package is looked for, which imports nothing."""
    top, *rest = module.split(".")
    spec = PathFinder.find_spec(top)
    if spec is None or spec.origin is None:
        return None
    place = Path(spec.origin)
    if not rest:
        return place
    place = place.parent.joinpath(*rest)
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
