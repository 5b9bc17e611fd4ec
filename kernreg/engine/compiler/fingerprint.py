"""The fingerprint of a function: what machine code made of it depends on, in one digest.

It covers the bytecode, constants and defaults of the function and, transitively, of every function, number, array and
module attribute it refers to, and of what Numba compiles in the place of a function, a method, an attribute or an
operator (`numba.extending.overload`, `overload_method`, `overload_attribute`). Such a function is Python that runs
while Numba compiles, and may look at any object: of these it covers class and state (`object_states`).
"""

from __future__ import annotations

import builtins
import enum
import hashlib
import operator
import re
import secrets
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernreg.engine.compiler.object_states import state_of, written_elsewhere

# Not followed: their versions are in the directory's name, or do not matter.
LIBRARIES = ("numpy", "math", "numba", "llvmlite", "scipy", "builtins", "enum")
_COVERED = "kernreg.jit"  # by a digest of its sources, which whoever caches adds
_OPERATORS = [(name, getattr(operator, name)) for name in operator.__all__]
# As every function that a kernel calls is registered, sooner or later.
_BY_KERNELS = {"forceinline", "nopython", "no_cpython_wrapper"}
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def fingerprint(function: Any, *more: str) -> str:
    """Return a hexadecimal digest of what ``function`` computes, following what it refers to.

    >>> def double(x): return 2 * x
    >>> def triple(x): return 3 * x
    >>> fingerprint(double) == fingerprint(double), fingerprint(double) == fingerprint(triple)
    (True, False)
    """
    digest = hashlib.sha256()
    seen = Seen()
    try:
        operators = [part for name, overloading in _operator_overloads() for part in (name, *_parts(overloading, seen))]
        for part in (*more, *operators, *_parts(function, seen)):
            digest.update(part.encode())
            digest.update(b"\0")
    except RecursionError:  # what cannot be followed to its end is compiled in every process
        return secrets.token_hex(digest.digest_size)
    return digest.hexdigest()


def referred_functions(function: Any) -> Iterator[types.FunctionType]:
    """Yield the plain functions that ``function`` refers to by global name or closure (not transitively)."""
    for _, value in _references(function):
        if isinstance(value, types.FunctionType):
            yield value


class Seen:
    """What is being followed or was: a value met again is named by a number, as functions may call each other."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Any]] = {}  # the value too, which keeps its identity from another one
        self._count = 0

    def again(self, value: Any) -> str:
        """Return what stands for a value that is known; nothing for a new one, which is known from now on."""
        if id(value) in self._known:
            return f"value {self._known[id(value)][0]} again"
        self._count += 1
        self._known[id(value)] = self._count, value
        return ""

    def forget(self, value: Any) -> None:
        """Follow a value again where it is met again: of equal tuples some processes make one, some two."""
        del self._known[id(value)]


def _parts(value: Any, seen: Seen) -> Iterator[str]:
    """Yield what machine code made of ``value`` depends on."""
    if isinstance(value, enum.Enum):
        yield f"{type(value).__qualname__}.{value.name} = {value.value!r}"
    elif isinstance(value, int | float | complex | str | bytes | None):
        yield repr(value)
    elif hasattr(value, "dtype") and hasattr(value, "tobytes") and not isinstance(value, type):
        yield f"{value.dtype}{value.shape}" + hashlib.sha256(value.tobytes()).hexdigest()  # frozen into machine code
    elif again := seen.again(value):
        yield again
    elif isinstance(value, tuple | list | set | frozenset | dict):
        yield from _container_parts(value, seen)
        seen.forget(value)
    elif (function := _function_of(value)) is not None:
        yield from _compiler_options(value)
        yield from _function_parts(function, seen)
        for overloading in _overloads(function):
            yield from _parts(overloading, seen)
    elif isinstance(value, type):
        yield from _class_parts(value, seen)
    else:
        yield from _object_parts(value, seen)


def _container_parts(value: Any, seen: Seen) -> Iterator[str]:
    yield f"{type(value).__name__} of {len(value)} {getattr(value, '_fields', '')}"
    if isinstance(value, set | frozenset):
        yield from sorted("".join(_parts(item, seen)) for item in value)  # their order differs between processes
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _parts(key, seen)
            yield from _parts(item, seen)
    else:
        for item in value:
            yield from _parts(item, seen)


def _function_parts(function: types.FunctionType, seen: Seen) -> Iterator[str]:
    yield from _code_parts(function.__code__, seen)
    for defaults in (function.__defaults__, function.__kwdefaults__):
        yield from _parts(defaults, seen)
    for name, referred in _references(function):
        yield name
        yield from _parts(referred, seen)


def _compiler_options(value: Any) -> Iterator[str]:
    """Yield what a dispatcher or ufunc of Numba was made with: signatures, fastmath, the error model."""
    if getattr(value, "_frozen", False):  # a ufunc of these types, and no other
        yield repr(value.types)
    value = getattr(value, "_dispatcher", value)
    options = getattr(value, "options" if hasattr(value, "kernel_ir") else "targetoptions", None)
    if isinstance(options, dict):
        for name, option in sorted(options.items()):
            yield name
            yield from _parts(option, Seen())  # flags of fastmath are a set
    if getattr(value, "_can_compile", True) is False:
        yield repr(value.nopython_signatures)


def _class_parts(value: type, seen: Seen) -> Iterator[str]:
    """An enumeration, constants in a class, or what the objects of a class do; of the classes it inherits from, too."""
    yield f"{value.__module__}.{value.__qualname__}"
    if written_elsewhere(value):
        for name, item in sorted(vars(value).items()):
            if not name.startswith("__") or isinstance(item, types.FunctionType | staticmethod | classmethod):
                yield name
                yield from _parts(item, seen)
        for base in value.__bases__:
            yield from _parts(base, seen)


def _object_parts(value: Any, seen: Seen) -> Iterator[str]:
    """What is nothing of the above: types of Numba and NumPy, functions of libraries, and objects with a state."""
    yield f"{type(value).__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    if type(value).__module__.split(".")[0] in LIBRARIES:
        yield _ADDRESS.sub("", repr(value))
    for overloading in _overloads(value):
        yield from _parts(overloading, seen)
    if written_elsewhere(type(value)):
        yield from _parts(type(value), seen)
    yield from _parts(state_of(value), seen)


def _function_of(value: Any) -> types.FunctionType | None:
    """Return the plain function behind what Numba makes of one: a dispatcher, a ufunc, a C callback, an intrinsic."""
    if hasattr(value, "kernel_ir") and not isinstance(value, type):  # a stencil
        value = getattr(getattr(value.kernel_ir, "func_id", None), "func", value)
    for name in ("_dispatcher", "_pyfunc", "py_func", "_defn"):
        value = getattr(value, name, value) if not isinstance(value, type) else value
    return value if isinstance(value, types.FunctionType) else None


_Overload = tuple[types.FunctionType | None, dict[str, Any]]  # with its options


def _overloads(function: Any) -> Iterator[_Overload]:
    """Yield the functions that say what Numba compiles for a call of this one, where others than Numba have said it."""
    with _typing_context() as context:
        known = context._lookup_global(function)  # not `resolve_value_type`, which registers what it does not know
    for template in getattr(known, "templates", ()):
        yield from _overload_of(template)


def _attribute_overloads(names: list[str]) -> Iterator[tuple[str, _Overload]]:
    """Yield what Numba compiles for attributes and methods of these names, of any type, as others have said it."""
    with _typing_context() as context:
        known = [template for templates in context._attributes.values() for template in templates]
    found = [
        (f"{template.key}.{template._attr}", overloading)
        for template in known
        if getattr(template, "_attr", None) in names
        for overloading in _overload_of(template)
    ]
    yield from sorted(found, key=lambda item: item[0])  # not in the order in which modules were imported


def _operator_overloads() -> Iterator[tuple[str, _Overload]]:
    """Yield what Numba compiles for operators, which have no name in bytecode, as others have said it."""
    with _typing_context() as context:
        known = [(name, context._lookup_global(function)) for name, function in _OPERATORS]
    for name, function in known:
        for template in getattr(function, "templates", ()):
            for overloading in _overload_of(template):
                yield name, overloading


def _overload_of(template: Any) -> Iterator[_Overload]:
    found = getattr(template, "_overload_func", None)
    if isinstance(found, types.FunctionType):
        package = found.__module__ or LIBRARIES[0]  # Numba writes some itself
        ours = package.split(".")[0] not in LIBRARIES and not package.startswith(_COVERED)
        if ours or found.__qualname__.startswith("register_jitable."):  # this one returns the function that is known
            inline = getattr(getattr(template, "_inline", None), "_inline", None)  # a word, or a function that decides
            options = getattr(template, "_jit_options", None)
            if ours or {name for name, value in (options or {}).items() if value} != _BY_KERNELS:
                yield found if ours else None, {"inline": inline, "jit": options}


@contextmanager
def _typing_context() -> Iterator[Any]:
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    with global_compiler_lock:  # a thread that compiles brings the context up to date, too
        context = cpu_target.typing_context
        context.refresh()
        yield context


def _code_parts(code: types.CodeType, seen: Seen) -> Iterator[str]:
    yield code.co_code.hex()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_parts(constant, seen)
        else:
            yield from _parts(constant, Seen())
    yield repr((code.co_names, code.co_varnames))


def _references(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield what the names in the function's bytecode stand for: globals, attributes of modules, closure cells."""
    function = getattr(function, "py_func", function)
    names = sorted(set(_all_names(function.__code__)))
    modules = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # an empty cell: the function refers to itself before it is bound
            continue
        if isinstance(value, types.ModuleType):
            modules.append(value)
        else:
            yield name, value
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            if isinstance(value, types.ModuleType):
                modules.append(value)
            else:
                yield name, value
        else:
            for overloading in _overloads(getattr(builtins, name, None)):
                yield name, overloading
    yield from _attribute_overloads(names)
    for module in modules:  # grows while it is walked: package.module.function is two attributes away
        for name in names:
            value = getattr(module, name, None)
            if isinstance(value, types.ModuleType):
                if value not in modules:
                    modules.append(value)
            elif module.__name__.split(".")[0] in LIBRARIES:
                for overloading in _overloads(value):
                    yield f"{module.__name__}.{name}", overloading
            elif hasattr(module, name):
                yield f"{module.__name__}.{name}", value


def _all_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _all_names(constant)
