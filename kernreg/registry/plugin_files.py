"""Plugins of one Python file, without installing: `load_plugin`.

The file is executed as a module of its own, from its text: nothing is written beside it, and an edited file is a
different one. What it defines is registered for the life of the process and known as the file's. The module is named
after the file (``heat.py`` is ``kernreg_file_heat``), so that another process finds the machine code of its kernels on
disk again.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from kernreg.common.forking import forks_wait_for, open_in_children
from kernreg.errors import (
    KernregError,
    KernregWarning,
    PluginBlocked,
    PluginExists,
    PluginIncompatible,
    PluginLoadError,
    PluginWarning,
)
from kernreg.registry.catalog import get_registry
from kernreg.registry.checks import problem_with
from kernreg.registry.file_origin import PREFIX, PluginFile, executing
from kernreg.registry.loading import told
from kernreg.registry.policy import current_policy
from kernreg.registry.record import KINDS, Entry
from kernreg.registry.versions import compare_version

_lock = open_in_children(threading.RLock())  # a file that another thread was executing is executed anew


def load_plugin(path: str | os.PathLike[str]) -> tuple[Entry, ...]:
    """Execute a Python file and register the kernels, solvers, ensemblers, engines and commands it defines.

    A kernel is registered by its own name, a class by the name of the class in lower case with hyphens
    (``MeanSimilarity`` is ``mean-similarity``), a click command by its name; what the file registers itself, with
    `kernreg.register`, keeps the name given there. Names with an underscore in front, and what the file imports, are
    left out; if the file has ``__all__``, so is everything that is not in it.

    Calling it again does nothing while the file is the same. An edited file is executed anew, and takes the place of
    what it was.

    Parameters
    ----------
    path : path
        A file that ends in ``.py``. It cannot import files beside it: a plugin of several files is a package.

    Returns
    -------
    tuple of Entry
        What is registered from this file now.

    Raises
    ------
    PluginBlocked
        If KERNREG_PLUGINS is set to anything but ``all``; nothing of the file is then executed.
    PluginExists
        If a name is taken. Nothing of the file is then registered.
    PluginLoadError, PluginIncompatible
        If the file cannot be read or executed, defines nothing, or was written for another plugin API.

    Examples
    --------
    >>> import tempfile
    >>> import kernreg as kr
    >>> file = Path(tempfile.mkdtemp()) / "heat.py"
    >>> _ = file.write_text('''
    ... from kernreg import kernel
    ...
    ... @kernel(of="sqeuclidean", symmetric=True)
    ... def warmth(d2, sigma=1.0):
    ...     "1 / (1 + |x - z|² / sigma²)."
    ...     return 1.0 / (1.0 + d2 / sigma**2)
    ... ''')
    >>> from kernreg.registry import isolated
    >>> with isolated():
    ...     [entry.name for entry in kr.load_plugin(file)], kr.make_kernel("warmth(sigma=2.0)")([[0.0]], [[2.0]])
    (['warmth'], array([[0.5]]))
    """
    place, source = _read(path)
    policy = current_policy()
    if policy.allowed is not None:
        raise PluginBlocked(f"the plugin file {place} is blocked: {policy.file_reason(str(place))}")
    file = PluginFile(str(place), "sha256:" + hashlib.sha256(source).hexdigest()[:12])
    with _lock:
        before = _entries_of(file.path)
        if before and all(entry.version == file.digest for entry in before):
            return before
        _refuse_second_of_that_name(place)
        kept = {kind: get_registry(kind).withdraw_file(file.path) for kind in KINDS}
        try:
            _execute(file, place, source)
        except BaseException:
            for kind, slots in kept.items():
                get_registry(kind).withdraw_file(file.path)
                get_registry(kind).put_back(slots)
            raise
        return _entries_of(file.path)


def _read(path: str | os.PathLike[str]) -> tuple[Path, bytes]:
    place = Path(path)
    if place.suffix != ".py":
        raise PluginLoadError(f"{str(path)!r} is not a plugin file: give a Python file, whose name ends in .py")
    try:
        place = place.expanduser().absolute()
        if place.exists() and not place.is_file():  # a pipe would be waited for
            raise PluginLoadError(f"cannot read the plugin file {place}: it is no ordinary file")
        return place, place.read_bytes()
    except (OSError, ValueError, RuntimeError) as error:  # of paths with a null character or an unknown user, too
        reason = getattr(error, "strerror", None) or error
        raise PluginLoadError(f"cannot read the plugin file {place}: {reason}") from error


def _entries_of(path: str) -> tuple[Entry, ...]:
    return tuple(entry for kind in KINDS for entry in get_registry(kind).entries() if entry.file == path)


def _refuse_second_of_that_name(place: Path) -> None:
    for kind in KINDS:
        for entry in get_registry(kind).entries():
            if entry.file and entry.file != str(place) and _module_name(Path(entry.file)) == _module_name(place):
                raise PluginExists(
                    f"cannot load the plugin file {place}: a file of that name is loaded already, {entry.file}. "
                    "Rename one of the two"
                )


def _module_name(place: Path) -> str:
    return PREFIX + re.sub(r"\W", "_", place.stem)


def _execute(file: PluginFile, place: Path, source: bytes) -> None:
    """Execute the file as a module and register what it defines; raise with a reason where that fails."""
    name = _module_name(place)
    spec = spec_from_file_location(name, place)
    assert spec is not None  # by its suffix
    module = module_from_spec(spec)
    replaced = sys.modules.get(name)
    sys.modules[name] = module
    linecache.checkcache(file.path)
    try:
        with executing(file):
            _run(module, place, source)
            sys.modules[name] = module  # whatever it has put there
            _take(module, place)
    except BaseException:
        sys.modules.pop(name, None)
        if replaced is not None:
            sys.modules[name] = replaced
        raise


def _run(module: ModuleType, place: Path, source: bytes) -> None:
    try:
        forks_wait_for(exec, compile(source, str(place), "exec", dont_inherit=True), module.__dict__)
    except KeyboardInterrupt:
        raise
    except PluginExists as error:  # of a registration in the file itself
        raise PluginExists(f"cannot load the plugin file {place}: {error}") from error
    except BaseException as failure:  # sys.exit in the file must not end the program
        line = _line_of(failure, place)
        raise PluginLoadError(f"cannot load the plugin file {place}{line}: {told(failure)}") from failure


def _take(module: ModuleType, place: Path) -> None:
    """Check and register what a file defines. Looking at it runs its code, too, which may raise anything."""
    try:
        _check_version(module, place)
        _pickle_by_value(module)
        _register_members(module, place)
    except (KernregError, KernregWarning, KeyboardInterrupt):
        raise
    except BaseException as failure:
        raise PluginLoadError(f"cannot load the plugin file {place}: {told(failure)}") from failure


def _line_of(failure: BaseException, place: Path) -> str:
    """Return in which line of the file something failed, as far as the traceback says it."""
    line, traceback = None, failure.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(place):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return "" if line is None else f", line {line}"


def _check_version(module: ModuleType, place: Path) -> None:
    verdict, reason = compare_version(vars(module).get("__kernreg_api__"))
    if verdict == "incompatible":
        raise PluginIncompatible(f"cannot load the plugin file {place}: {reason}")
    if verdict == "unreadable":
        raise PluginLoadError(f"cannot load the plugin file {place}: {reason}")
    if verdict == "newer":
        warnings.warn(f"the plugin file {place}: {reason}", PluginWarning, stacklevel=5)


def _register_members(module: ModuleType, place: Path) -> None:
    own = {id(obj) for kind in KINDS for obj in get_registry(kind).objects_of_file(str(place))}
    for kind, name, obj in _members(module):
        if id(obj) in own:  # the file has registered it, by a name of its own choice
            continue
        own.add(id(obj))
        problem = problem_with(kind, obj)
        if problem:
            raise PluginLoadError(f"cannot load the plugin file {place}: {name!r} is no {kind}: {problem}")
        try:
            get_registry(kind).register(name, obj)
        except KernregError as error:
            raise type(error)(f"cannot load the plugin file {place}: {error}") from None
    if not own:
        raise PluginLoadError(
            f"cannot load the plugin file {place}: it defines no kernel (a function decorated with @kernreg.kernel), "
            "no class of solvers, ensemblers or engines and no click command"
        )


def _members(module: ModuleType) -> Iterator[tuple[str, str, Any]]:
    """Yield kind, name and object of what a module defines and does not hide."""
    listed = vars(module).get("__all__")
    for attribute, obj in list(vars(module).items()):
        if attribute.startswith("_") if listed is None else attribute not in listed:
            continue
        kind = _kind_of(obj)
        if kind is None or _home_of(obj) != module.__name__:
            continue
        if kind in ("kernel", "command"):
            yield kind, obj.name or attribute, obj
        else:
            yield kind, _with_hyphens(obj.__name__), obj


def _kind_of(obj: Any) -> str | None:
    """Return which kind of plugin an object looks like, None if it is none."""
    try:
        if getattr(obj, "__kernreg_kernel__", None) is True:
            return "kernel"
        if not isinstance(obj, type):
            return None if problem_with("command", obj) else "command"
        for kind, methods in (
            ("ensembler", ("fit", "merge")),
            ("solver", ("fit", "get_params", "set_params")),
            ("engine", ("place", "map_rows")),
        ):
            if all(callable(getattr(obj, method, None)) for method in methods):
                return kind
    except Exception:  # of a stand-in for something that is not there yet, say
        return None
    return None


def _home_of(obj: Any) -> str | None:
    """Return the module in which a plugin is defined: that of the function, for a command."""
    return getattr(getattr(obj, "callback", obj), "__module__", None)


def _with_hyphens(name: str) -> str:
    """Return the name of a class as a name of a plugin.

    >>> _with_hyphens("MeanSimilarity"), _with_hyphens("LSSVC"), _with_hyphens("KNNMean2D")
    ('mean-similarity', 'lssvc', 'knn-mean2-d')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def _pickle_by_value(module: ModuleType) -> None:
    """Let functions and classes of the file travel to worker processes, which cannot import it."""
    if "joblib" in sys.modules:  # it has a cloudpickle of its own
        with suppress(ImportError):
            import_module("joblib.externals.cloudpickle")
    for name in ("cloudpickle", "joblib.externals.cloudpickle"):
        if name in sys.modules:
            sys.modules[name].register_pickle_by_value(module)
