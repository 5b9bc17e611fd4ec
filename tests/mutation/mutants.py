"""What can be changed in a module: comparisons, arithmetic, constants, conditions and whole statements."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mutation.fairness import has_a_limit, is_chosen_by_experience, is_flag, is_left_out

_COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_TURNED: dict[type, type] = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
_ARITHMETIC: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_DROPPED = (ast.Expr, ast.AugAssign, ast.Raise)


@dataclass(frozen=True)
class Mutant:
    """One change of one module: ``kind`` at ``line``, the ``number``-th place in the order of `sites`."""

    module: str
    number: int
    line: int
    column: int
    kind: str
    before: str
    after: str
    statement: int  # the lines from which and to which the statement goes that holds the change
    last: int
    function: str  # the outermost function that does, if one does

    def __str__(self) -> str:
        return f"{self.module}:{self.line}:{self.column} {self.kind}: {self.before}  →  {self.after}"


def mutants_of(module: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module.

    >>> for mutant in mutants_of("m", "def f(x):\\n    return x < 2 * x"): print(mutant)
    m:2:12 comparison: x < 2 * x  →  x <= 2 * x
    m:2:16 arithmetic: 2 * x  →  2 / x
    m:2:16 constant: 2  →  3
    """
    tree = ast.parse(source)
    statements = _statements(tree)
    for number, (node, kind, change) in enumerate(_sites(tree, source)):
        shown = _shown(node), _shown(change(copy.deepcopy(node)))
        at = node.lineno, node.col_offset + 1  # type: ignore[attr-defined]
        yield Mutant(module, number, *at, kind, *shown, *statements[node])


def mutated(source: str, number: int) -> ast.Module:
    """Return the module with the change of that number.

    >>> ast.unparse(mutated("def f(x):\\n    return x < 2 * x", 1))
    'def f(x):\\n    return x < 2 / x'
    """
    tree = ast.parse(source)
    node, _, change = list(_sites(tree, source))[number]
    changed = change(copy.deepcopy(node))

    class Replace(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> ast.AST:
            return ast.copy_location(changed, node) if visited is node else self.generic_visit(visited)

    return ast.fix_missing_locations(Replace().visit(tree))


def _statements(tree: ast.AST) -> dict[ast.AST, tuple[int, int, str]]:
    """Return the lines of the innermost statement around each node, and the name of the outermost function."""
    places: dict[ast.AST, tuple[int, int, str]] = {}

    def walk(node: ast.AST, first: int, last: int, function: str) -> None:
        if isinstance(node, ast.stmt):
            first, last = node.lineno, node.end_lineno or node.lineno
        function = function or (node.name if isinstance(node, ast.FunctionDef) else "")
        places[node] = first, last, function
        for child in ast.iter_child_nodes(node):
            walk(child, first, last, function)

    walk(tree, 0, 0, "")
    return places


Site = tuple[ast.AST, str, Callable[[ast.AST], ast.AST]]


def _sites(tree: ast.AST, source: str) -> Iterator[Site]:
    flags = set()
    for node in _code(tree):
        if is_flag(node):
            flags.add(node.value)  # type: ignore[attr-defined]
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            turned = type(node.ops[0]) in _TURNED and has_a_limit(node, source)
            yield node, "comparison", _turn_comparison if turned else _swap_comparison
        elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC and not _is_text(node):
            yield node, "arithmetic", _swap_arithmetic
        elif isinstance(node, ast.BoolOp):
            yield node, "condition", _swap_junction
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not _is_constant(node.operand):
            yield node, "arithmetic", lambda changed: changed.operand  # type: ignore[attr-defined]
        elif isinstance(node, ast.If | ast.While | ast.IfExp) and not _is_plain(node.test):
            yield node, "condition", _negate
        elif _is_constant(node) and not is_chosen_by_experience(node, source):
            yield node, "constant", _other_flag if node in flags else _next_constant
        if isinstance(node, _DROPPED):
            yield node, "dropped statement", lambda changed: ast.Pass()


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs and is changed, in the order of the source: no annotations, nor what fairness.py leaves out."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_params", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not is_left_out(child):
                yield child
                yield from _code(child)


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float)


def _is_plain(test: ast.AST) -> bool:
    """A test that is mutated as a comparison or junction of its own."""
    return isinstance(test, ast.Compare | ast.BoolOp) and not (isinstance(test, ast.Compare) and len(test.ops) > 1)


def _is_text(node: ast.AST) -> bool:
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)  # type: ignore[attr-defined]
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


def _swap_comparison(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops = [_COMPARISONS[type(node.ops[0])]()]
    return node


def _turn_comparison(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops = [_TURNED[type(node.ops[0])]()]
    return node


def _swap_arithmetic(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BinOp | ast.AugAssign)
    node.op = _ARITHMETIC[type(node.op)]()
    return node


def _swap_junction(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def _negate(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.If | ast.While | ast.IfExp)
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return node


def _next_constant(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Constant)
    value = node.value
    if isinstance(value, bool):
        return ast.Constant(not value)
    return ast.Constant(value + 1 if isinstance(value, int) else 2.0 * value if value else 1.0)


def _other_flag(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Constant)
    return ast.Constant(int(not node.value))


def _shown(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:90]
