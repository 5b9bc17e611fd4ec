"""Docstrings are written to be read in a terminal; here they become reStructuredText.

``|x|`` is a norm, ``loo_path_`` an attribute, and `name` in single backquotes is code: none of these are what
reStructuredText takes them for. Members that kernreg inherits from scikit-learn have a page there, not here.
"""

from __future__ import annotations

import re
from typing import Any

CODE = re.compile(r"(``.+?``|`[^`]+?`(?!_))")
TRAILING = re.compile(r"(?<=\w)_(?=[\s,.;:)\]]|$)")


def setup(app: Any) -> dict[str, bool]:
    """Listen to autodoc."""
    # Before napoleon, which has priority 500: it makes roles that are not to be escaped.
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring in place."""
    lines[:] = as_rst(lines)
    if lines and what in ("attribute", "data", "property"):
        lines[:] = without_type(lines)


def without_type(lines: list[str]) -> list[str]:
    """Return the docstring of a property with an empty comment above it.

    napoleon reads a first line "The samples: ``data``" as a type and a text. It finds no colon in the comment.

    >>> without_type(["The samples: ``data``."])
    ['..', '', 'The samples: ``data``.']
    """
    return ["..", "", *lines]


def as_rst(lines: list[str]) -> list[str]:
    r"""Return the lines of a docstring with all that is not code escaped.

    >>> as_rst(["|x|² of `x`, see ``loo_`` and loo_path_.", "    >>> a | b_"])
    ['\\|x\\|² of ``x``, see ``loo_`` and loo_path\\_.', '    >>> a | b_']
    """
    found, code, indent = [], False, 0
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if line.strip() and code and depth <= indent:
            code = False
        if line.lstrip().startswith((">>>", "...")) or code:
            found.append(line)
        else:
            found.append(_escaped(line))
        if line.rstrip().endswith("::") and not code:
            code, indent = True, depth
    return found


def _escaped(line: str) -> str:
    parts = CODE.split(line)
    for place, part in enumerate(parts):
        if place % 2 == 0:
            parts[place] = TRAILING.sub(r"\\_", part.replace("|", r"\|"))
        elif not part.startswith("``"):
            parts[place] = part if parts[place - 1].endswith(":") else f"`{part}`"
    return "".join(parts)


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what comes from elsewhere: scikit-learn's methods, and those its metadata routing makes."""
    if re.fullmatch(r"set_\w+_request", name):
        return True
    home = getattr(getattr(obj, "fget", obj), "__module__", None)
    return True if isinstance(home, str) and not home.startswith("kernreg") else None
