"""A change of functions that are imported already: their code is replaced, and nothing has to be imported again.

What a module does while it is imported (its constants, class bodies, defaults of arguments) has happened: a change of
that, or one that gives a function other closure cells, needs a process that imports the changed source.
"""

from __future__ import annotations

import ast
import gc
import types
from collections.abc import Iterable, Iterator
from pathlib import Path

from mutation.mutants import Mutant, mutated

_Changes = dict[types.CodeType, types.CodeType]


def replacements(root: Path, mutant: Mutant) -> _Changes | None:
    """Return new code for old of every function that differs, None where a mutant changes what an import does."""
    path = root / mutant.module
    source = path.read_text()
    old = compile(ast.parse(source), str(path), "exec", dont_inherit=True)
    new = compile(mutated(source, mutant.number), str(path), "exec", dont_inherit=True)
    changes: _Changes = {}
    return changes if _compare(old, new, changes) else None


def _compare(old: types.CodeType, new: types.CodeType, changes: _Changes) -> bool:
    """Gather functions that differ; False where something else does."""
    inside, changed_inside = list(_codes(old)), list(_codes(new))
    is_function = bool(old.co_flags & 0x0002)  # fast locals: neither a module nor the body of a class
    if is_function:
        if old == new:
            return True
        if old.co_freevars != new.co_freevars or old.co_name != new.co_name:
            return False
        changes[old] = new
    elif _own_parts(old) != _own_parts(new) or len(inside) != len(changed_inside):
        return False
    if len(inside) != len(changed_inside):
        return is_function  # a lambda that is left out: those that exist stay as they are
    pairs = list(zip(inside, changed_inside, strict=True))
    fine = [_compare(before, after, changes) for before, after in pairs]
    return is_function or all(fine)


def _own_parts(code: types.CodeType) -> tuple[object, ...]:
    constants = [repr(constant) for constant in code.co_consts if not isinstance(constant, types.CodeType)]
    return code.co_code, code.co_names, code.co_varnames, constants


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, types.CodeType))


def functions_below(root: Path) -> list[types.FunctionType]:
    """Return every function of this process whose source is in a folder."""
    every = [thing for thing in gc.get_objects() if type(thing) is types.FunctionType]  # asks no proxy for its class
    return [function for function in every if function.__code__.co_filename.startswith(f"{root}/")]


def replace(changes: _Changes, functions: Iterable[types.FunctionType]) -> int:
    """Give every function that has one of the old codes the new one, and return how many there are."""
    names = {code.co_filename for code in changes}
    count = 0
    for function in functions:
        if function.__code__.co_filename in names:
            new = changes.get(function.__code__)
            if new is not None:
                function.__code__ = new
                count += 1
    return count
