"""The disk cache of compiled kernels: one directory per function, named by a fingerprint of what it computes.

Numba keys its cache by the file of the driver, which does not change when a plugin is edited. So every compiled
function gets a directory of its own, ``<name>-<fingerprint>``, where the fingerprint covers the bytecode,
constants and defaults of the kernel function and, transitively, of every function and number it refers to.
An edited plugin, or an edited helper of it, lands in another directory and is compiled anew.
"""

from __future__ import annotations

import enum
import hashlib
import os
import shutil
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

from kernreg.config import get_config

# Bumped when the drivers' calling conventions change: old directories are then never read.
_LAYOUT = 1

# Not followed: their versions are in the directory's name, or do not matter.
LIBRARIES = ("numpy", "math", "numba", "llvmlite", "scipy", "builtins", "enum")

_lock = threading.Lock()
_reason_without_disk: str | None = None
_dispatchers: list[Any] = []


def directory() -> Path:
    """Return where compiled kernels of this Python and Numba are kept (it need not exist yet)."""
    version = f"v{_LAYOUT}-py{sys.version_info[0]}{sys.version_info[1]}-numba{numba.__version__}"
    return get_config().cache_directory() / "compiled" / version


def enable(dispatcher: Any, name: str, fingerprint_hex: str) -> None:
    """Let ``dispatcher`` keep its machine code on disk; without a writable directory it compiles per process."""
    global _reason_without_disk
    _dispatchers.append(dispatcher)
    if not hasattr(dispatcher, "enable_caching"):  # NUMBA_DISABLE_JIT: a plain function
        return
    target = directory() / f"{name}-{fingerprint_hex[:20]}"
    with _lock:
        settings: Any = numba.config
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(target)
        try:
            target.mkdir(parents=True, exist_ok=True)
            if not os.access(target, os.W_OK):
                raise OSError(f"{target} is not writable")
            dispatcher.enable_caching()
            _forgive(dispatcher._cache)
        except (OSError, RuntimeError) as cause:
            _reason_without_disk = str(cause)
        finally:
            settings.CACHE_DIR = before


def _forgive(files: Any) -> None:
    """Let damaged files count as missing ones, and a full disk as no disk: neither may stop a computation."""
    load, save = files.load_overload, files.save_overload

    def load_overload(signature: Any, target: Any) -> Any:
        try:
            return load(signature, target)
        except Exception as cause:  # whatever unpickling raises for a truncated file
            _note(f"{files.cache_path} is damaged and was emptied: {cause}")
            with suppress(OSError):
                files.flush()
            return None

    def save_overload(signature: Any, data: Any) -> None:
        try:
            save(signature, data)
        except OSError as cause:
            _note(str(cause))

    files.load_overload, files.save_overload = load_overload, save_overload


def _note(reason: str) -> None:
    global _reason_without_disk
    _reason_without_disk = reason


def statistics() -> dict[str, int]:
    """Return how often this process read machine code from disk, and how often it compiled."""
    hits = misses = 0
    for dispatcher in _dispatchers:
        stats = getattr(dispatcher, "stats", None)
        if stats is not None:
            hits += sum(stats.cache_hits.values())
            misses += sum(stats.cache_misses.values())
    return {"hits": hits, "misses": misses}


def entries() -> list[tuple[str, int]]:
    """Return (name of the compiled function, bytes on disk), for every cached function."""
    root = directory()
    if not root.is_dir():
        return []
    folders = sorted(folder for folder in root.iterdir() if folder.is_dir())
    return [(folder.name, sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())) for folder in folders]


def clear() -> int:
    """Delete every cached function, of every version, and return how many bytes that freed."""
    freed = 0
    for folder in directory().parent.glob("v*-py*-numba*"):  # nothing that is not ours
        freed += sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
        shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # something else is kept there, or there is nothing
        directory().parent.rmdir()
    return freed


def describe() -> dict[str, object]:
    """Return the state of the cache for `kernreg doctor` and `kernreg cache info`."""
    found = entries()
    return {
        "cache directory": str(directory()),
        "cached functions": len(found),
        "cache bytes": sum(size for _, size in found),
        "cache problem": _reason_without_disk,
    }


def fingerprint(function: Any, *more: str) -> str:
    """Return a hexadecimal digest of what ``function`` computes, following what it refers to.

    >>> def double(x): return 2 * x
    >>> def triple(x): return 3 * x
    >>> fingerprint(double) == fingerprint(double), fingerprint(double) == fingerprint(triple)
    (True, False)
    """
    digest = hashlib.sha256()
    for part in (*more, *_parts(function, set())):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def referred_functions(function: Any) -> Iterator[types.FunctionType]:
    """Yield the plain functions that ``function`` refers to by global name or closure (not transitively)."""
    for _, value in _references(function):
        if isinstance(value, types.FunctionType):
            yield value


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield what machine code made of ``value`` depends on; every value is followed once."""
    if isinstance(value, int | float | complex | str | bytes | None):
        yield repr(value)
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    function = _function_of(value)
    if function is not None:
        yield from _function_parts(function, seen)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _parts(item, seen)
    elif isinstance(value, set | frozenset):
        yield from sorted("".join(_parts(item, seen)) for item in value)  # their order differs between processes
    elif isinstance(value, dict):
        for key, item in value.items():
            yield repr(key)
            yield from _parts(item, seen)
    elif isinstance(value, type):
        yield from _class_parts(value, seen)
    elif isinstance(value, enum.Enum):
        yield repr(value.value)
    elif hasattr(value, "dtype") and hasattr(value, "tobytes"):  # a numpy array frozen into the machine code
        yield f"{value.dtype}{value.shape}" + hashlib.sha256(value.tobytes()).hexdigest()
    else:
        yield f"{type(value).__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"


def _function_parts(function: types.FunctionType, seen: set[int]) -> Iterator[str]:
    yield from _code_parts(function.__code__, seen)
    for defaults in (function.__defaults__, function.__kwdefaults__):
        yield from _parts(defaults, seen)
    for name, referred in _references(function):
        yield name
        yield from _parts(referred, seen)


def _class_parts(value: type, seen: set[int]) -> Iterator[str]:
    """An enumeration, or constants in a class."""
    yield f"{value.__module__}.{value.__qualname__}"
    if value.__module__.split(".")[0] not in LIBRARIES:
        for name, item in sorted(vars(value).items()):
            if not name.startswith("__"):
                yield name
                yield from _parts(item, seen)


def _function_of(value: Any) -> types.FunctionType | None:
    """Return the plain function behind what Numba makes of one: a dispatcher, a ufunc, a C callback."""
    for name in ("_dispatcher", "_pyfunc", "py_func"):
        value = getattr(value, name, value) if not isinstance(value, type) else value
    return value if isinstance(value, types.FunctionType) else None


def _code_parts(code: types.CodeType, seen: set[int]) -> Iterator[str]:
    yield code.co_code.hex()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_parts(constant, seen)
        else:
            yield from _parts(constant, set())
    yield repr((code.co_names, code.co_varnames))


def _references(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield what the names in the function's bytecode stand for: globals, attributes of modules, closure cells."""
    function = getattr(function, "py_func", function)
    names = sorted(set(_all_names(function.__code__)))
    modules = []
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            if isinstance(value, types.ModuleType):
                modules.append(value)
            else:
                yield name, value
    for module in modules:  # grows while it is walked: package.module.function is two attributes away
        if module.__name__.split(".")[0] in LIBRARIES:
            continue
        for name in names:
            value = getattr(module, name, None)
            if isinstance(value, types.ModuleType):
                if value not in modules:
                    modules.append(value)
            elif hasattr(module, name):
                yield f"{module.__name__}.{name}", value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # an empty cell: the function refers to itself before it is bound
            continue


def _all_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _all_names(constant)
