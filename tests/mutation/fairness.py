"""What is not changed, because no test could call the result wrong. The rules apply before mutants are drawn.

- What is said to people: messages of errors and warnings, ``__repr__``, ``__all__``, bars of progress, docstrings.
- Options that change no result of code that is right: ``zip(strict=)``, ``check_finite=``, a copy where none is needed
  (``copy=False``, ``overwrite_a=True``, or ``=1`` as LAPACK has it), and annotations.
- ``raise NotImplementedError`` of a method that every class of its kind overrides.
- A flag of BLAS or LAPACK that is 1, ``lower=1``, becomes 0: to them 2 is as good a yes as 1.
- Values that were chosen by experience, of which half or twice would be as right: numbers of constants in capitals at
  the top of a module (rows that are handled together, limits from which a method pays), and tolerances, that is
  numbers written with an exponent. A comparison with one of these is turned round (``<`` to ``>=``), since what happens
  exactly at the limit is as arbitrary as the limit; other comparisons are changed where both sides are equal.
"""

from __future__ import annotations

import ast
import re

_TALKING_KEYWORDS = {"stacklevel", "worthwhile"}
_HARMLESS = re.compile(r"strict=.*|check_finite=.*|copy=False|overwrite\w*=(True|1)")
_FLAGS = {"lower", "trans_a", "trans_b", "diag", "clean"}
_TALKING_FUNCTIONS = {"progress", "row_progress", "residual_progress", "warnings.warn"}
_TALKING_METHODS = {"__repr__", "__str__", "_repr_html_"}
_CAPITALS = re.compile(r"_?[A-Z][A-Z_0-9]+")  # not the letter of a matrix


def is_left_out(node: ast.AST) -> bool:
    """Whether nothing inside of a node is changed.

    >>> [is_left_out(ast.parse(line).body[0]) for line in ("__all__ = ['a']", "_ROWS = 256", "rows = 256")]
    [True, True, False]
    """
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)  # a docstring
    if isinstance(node, ast.Raise):
        return ast.unparse(node) == "raise NotImplementedError"
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.FunctionDef):
        return node.name in _TALKING_METHODS
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        name = ast.unparse(target)
        return name == "__all__" or (node.col_offset == 0 and _CAPITALS.fullmatch(name) is not None)
    if isinstance(node, ast.keyword):
        return node.arg in _TALKING_KEYWORDS or _HARMLESS.fullmatch(ast.unparse(node)) is not None
    if isinstance(node, ast.Call):
        function = ast.unparse(node.func)
        return function in _TALKING_FUNCTIONS or function.endswith(("Error", "Warning"))
    return False


def is_flag(node: ast.AST) -> bool:
    """Whether an argument is a flag of BLAS or LAPACK, given as a number.

    >>> call = ast.parse("f(lower=1, n=1)").body[0].value
    >>> [is_flag(argument) for argument in call.keywords]
    [True, False]
    """
    return isinstance(node, ast.keyword) and node.arg in _FLAGS and isinstance(node.value, ast.Constant)


def is_chosen_by_experience(node: ast.AST, source: str) -> bool:
    """Whether a number is a tolerance, by the way it is written.

    >>> text = "x < 1e-6 * y + 0.5"
    >>> [is_chosen_by_experience(node, text) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    [False, True]
    """
    if not (isinstance(node, ast.Constant) and isinstance(node.value, float)):
        return False
    written = ast.get_source_segment(source, node) or ""
    return "e" in written.lower()


def has_a_limit(node: ast.Compare, source: str) -> bool:
    """Whether a comparison is with a value that was chosen by experience."""
    parts = list(ast.walk(node))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return any(map(_CAPITALS.fullmatch, names)) or any(is_chosen_by_experience(part, source) for part in parts)
