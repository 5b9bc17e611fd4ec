"""What the sources of a plugin import of kernreg that is not public, and may be elsewhere in the next version."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

#: Where public names are found: those of ``__all__``, of a module without one its functions and classes.
PUBLIC = (
    "kernreg",
    "kernreg.chain",
    "kernreg.datasets",
    "kernreg.engine",
    "kernreg.ensemblers",
    "kernreg.errors",
    "kernreg.graphs",
    "kernreg.io",
    "kernreg.jit",
    "kernreg.kernels",
    "kernreg.linalg",
    "kernreg.metrics",
    "kernreg.persistence",
    "kernreg.plotting",
    "kernreg.registry",
    "kernreg.solvers",
    "kernreg.testing",
)


def private_imports(folder: str | os.PathLike[str]) -> list[str]:
    """Return one line for every import of a kernreg name that is not public, in the Python files of a folder.

    Parameters
    ----------
    folder : path
        The sources of a package, or one file.

    Returns
    -------
    list of str
        ``file:line: what is imported``; empty if only public names are.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.py").write_text("from kernreg import load; from kernreg.engine.arrays import is_sparse")
    >>> private_imports(folder)
    ['a.py:1: kernreg.engine.arrays.is_sparse']
    """
    place = Path(folder)
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [
        f"{file.relative_to(place) if place.is_dir() else file.name}:{line}: {name}"
        for file in files
        for line, name, public in _imports(ast.parse(file.read_text(encoding="utf-8")))
        if not public
    ]


def _imports(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Iterate over line, dotted name and publicity of everything that is imported from kernreg."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "kernreg":
                    yield node.lineno, alias.name, alias.name in PUBLIC
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "kernreg":
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield node.lineno, name, name in PUBLIC or _is_public(str(node.module), alias.name)


def _is_public(module: str, name: str) -> bool:
    if module not in PUBLIC:
        return False
    found = import_module(module)
    if hasattr(found, "__all__"):
        return name in found.__all__
    # A module without a list: the functions and classes it defines, not what it imports itself.
    return not name.startswith("_") and getattr(getattr(found, name, None), "__module__", None) == module
