"""What compiled functions looked up, and whether it still is that.

Numba looks up the names in a function when it compiles it: numbers, arrays and other functions become a part of the
machine code, as constants do. Where one of them is something else later (a cell of a notebook that is run again, a
module that is loaded again, an array that is written to), the function would go on with what was, or mix the two where
a second signature is compiled. It would even be kept on disk, under the fingerprint of what is now. So what every
function looked up is remembered the first time it is compiled, and told where it has changed.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from kernreg.engine.compiler.fingerprint import LIBRARIES, fingerprint
from kernreg.errors import EngineError

_OURS = "kernreg."
_LARGEST = 1 << 20  # bytes of an array that is compared whenever it is used; larger ones are not


class Lookups:
    """What one function looked up when it was seen first."""

    def __init__(self, function: types.FunctionType):
        self.function, self.code = function, function.__code__  # the function itself: an id may be used again
        self._globals, self._attributes = _names_of(self.code)
        self._values = {name: (value, _content(value)) for name, value in self._looked_up()}

    def __repr__(self) -> str:
        return self.function.__qualname__

    def change(self) -> str | None:
        """Return the name of something that is no longer what it was."""
        if self.function.__code__ is not self.code and not _same_code(self.function.__code__, self.code):
            return self.function.__name__
        for name, value in self._looked_up():
            known = self._values.get(name)
            if known is not None and not _same(*known, value):
                return name
        return None

    def values(self) -> Iterator[Any]:
        """Yield what was looked up."""
        for value, _ in self._values.values():
            yield value

    def _looked_up(self) -> Iterator[tuple[str, Any]]:
        function = self.function
        modules = []
        for name, cell in zip(self.code.co_freevars, function.__closure__ or (), strict=False):
            try:
                value = cell.cell_contents
            except ValueError:  # not yet bound
                continue
            modules += [(name, value)] if isinstance(value, types.ModuleType) else []
            yield name, value
        for name in self._globals:
            if name in function.__globals__:
                value = function.__globals__[name]
                modules += [(name, value)] if isinstance(value, types.ModuleType) else []
                yield name, value
        known = {id(module) for _, module in modules}
        for path, module in modules:  # grows while it is walked
            if module.__name__.split(".")[0] in LIBRARIES or module.__name__.startswith(_OURS):
                continue
            for name in self._attributes:
                value = vars(module).get(name, modules)
                if isinstance(value, types.ModuleType):
                    modules += [(f"{path}.{name}", value)] if id(value) not in known else []
                    known.add(id(value))
                elif value is not modules:
                    yield f"{path}.{name}", value


_seen: dict[int, Lookups] = {}


def lookups(functions: Iterable[Any]) -> list[Lookups]:
    """Return what the functions, and those they call, looked up when each was seen first.

    >>> lookups([]), lookups([float])
    ([], [])
    """
    found: dict[int, Lookups] = {}
    _follow(tuple(functions), found)
    return list(found.values())


def require_unchanged(what: str, looked_up: Iterable[Lookups]) -> None:
    """Raise EngineError where a compiled function looked up what is something else now.

    >>> require_unchanged("the kernel 'mine'", [])
    """
    for one in looked_up:
        name = one.change()
        if name is not None:
            raise EngineError(
                f"{what} was compiled, and then {name!r} changed, which {one} had looked up: compiled code keeps what "
                f"a name stood for. Define {one} again, all that calls it, and {what} (in a notebook: run their cells; "
                "else start Python again); a number that changes is better a parameter"
            )


def _follow(value: Any, found: dict[int, Lookups]) -> None:
    if isinstance(value, tuple | list):
        for item in value:
            _follow(item, found)
        return
    function = getattr(value, "py_func", value) if not isinstance(value, type) else value
    if not isinstance(function, types.FunctionType) or id(function) in found or _of_library(function):
        return
    one = _seen.get(id(function))
    if one is None:
        one = _seen.setdefault(id(function), Lookups(function))
    found[id(function)] = one
    for inner in one.values():
        _follow(inner, found)


def _of_library(function: Callable[..., Any]) -> bool:
    module = str(function.__module__)
    return module.startswith(_OURS) or module.split(".")[0] in LIBRARIES


def _same(before: Any, content: Any, now: Any) -> bool:
    if now is before:
        return content is None or bool(_content(now) == content)
    if type(now) is not type(before) or fingerprint(now) != fingerprint(before):
        return False
    return content is not None or all(one.change() is None for one in lookups([before]))


def _content(value: Any) -> Any:
    """Return a copy of what may be written to in place, None for what may not."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype, value.tobytes()) if value.nbytes <= _LARGEST else None
    if isinstance(value, tuple) and any(isinstance(item, np.ndarray) for item in value):
        return tuple(_content(item) for item in value)
    return None


def _names_of(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of globals in bytecode, and all its names."""
    looked_up = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    every = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner, names = _names_of(constant)
            looked_up.update(inner)
            every.update(names)
    return tuple(sorted(looked_up)), tuple(sorted(every))


def _same_code(first: types.CodeType, second: types.CodeType) -> bool:
    """Whether two pieces of bytecode do the same, whatever their lines."""
    if (first.co_code, first.co_names, len(first.co_consts)) != (
        second.co_code,
        second.co_names,
        len(second.co_consts),
    ):
        return False
    return all(
        _same_code(a, b) if isinstance(a, types.CodeType) and isinstance(b, types.CodeType) else repr(a) == repr(b)
        for a, b in zip(first.co_consts, second.co_consts, strict=True)
    )
