"""The disk cache of compiled kernels: one folder per function, named by a fingerprint of what it computes.

Numba keys its cache by the file of the driver, which does not change when a plugin is edited. So every compiled
function gets a folder of its own, ``<name>-<fingerprint>`` (`fingerprint`), and in it one file for each signature and
CPU (`entry_files`). An edited plugin, or an edited helper of it, lands in another folder and is compiled anew.

Machine code is read only from folders that are the user's own (`private_folders`); where they are not, this process
keeps a private one.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

from kernreg.config import get_config
from kernreg.engine.compiler.entry_files import EntryCache, copy_own
from kernreg.engine.compiler.private_folders import UnsafeFolder, make_private, of_this_process, require_private

# Bumped when the drivers' calling conventions, the form of files or the names in machine code change: old folders are
# then never read.
_LAYOUT = 4

_reason_without_disk: str | None = None
_dispatchers: list[Any] = []


def directory() -> Path:
    """Return where compiled kernels of this Python and Numba are kept (it need not exist yet)."""
    version = f"v{_LAYOUT}-py{sys.version_info[0]}{sys.version_info[1]}-numba{numba.__version__}"
    return get_config().cache_directory() / "compiled" / version


def enable(dispatcher: Any, name: str, fingerprint_hex: str) -> None:
    """Let ``dispatcher`` keep its machine code on disk; without a writable directory it compiles per process."""
    count(dispatcher)
    if not hasattr(dispatcher, "enable_caching"):  # NUMBA_DISABLE_JIT: a plain function
        return
    entries = of_function(dispatcher.py_func, name, fingerprint_hex)
    if entries is not None:
        dispatcher._cache = entries


def of_function(function: Any, name: str, fingerprint_hex: str, more: str = "") -> EntryCache | None:
    """Return the machine code of a function on disk, None where it has no place; ``more`` is a part of keys."""
    try:
        folder = _folder(f"{name}-{fingerprint_hex[:20]}")
    except OSError as cause:
        _note(str(cause))
        return None
    return EntryCache(function, folder, _note, fingerprint_hex + more)


def count(dispatcher: Any) -> None:
    """Let `statistics` count what this dispatcher compiles."""
    _dispatchers.append(dispatcher)


def _folder(name: str) -> Path:
    """Return the folder of a function: in the configured directory, or in a private one where that is not safe."""
    folder, below = directory() / name, get_config().cache_directory()
    try:
        return make_private(folder, below=below)
    except UnsafeFolder as cause:
        _note(f"{cause}; machine code is kept in a private folder while this process runs")
    except OSError as cause:
        if not folder.is_dir():
            raise
        require_private(folder, below=below)
        _note(str(cause))  # as on a disk that can only be read: what is there is used
        return folder
    own = of_this_process()
    return make_private(own / name, below=own)


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
    return [(folder.name, _size(folder)) for folder in _folders()]


def _folders() -> list[Path]:
    """Return the folders of functions, none where they cannot be looked at."""
    try:
        return sorted(folder for folder in directory().iterdir() if folder.is_dir())
    except OSError:
        return []


def _size(folder: Path) -> int:
    """Return the bytes of the files in a folder; of those that are there, for other processes write and delete some."""
    size = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(root, name)).st_size
    return size


def take_over_compiled(base: Path) -> None:
    """Copy what this user has compiled into the cache of another directory; what cannot be read is compiled again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     take_over_compiled(Path(folder))
    """
    own = get_config().cache_directory()
    for folder in _folders():
        target = base / folder.relative_to(own)
        if not target.exists():
            with suppress(OSError):
                copy_own(folder, target, below=own, target_below=base)


def clear() -> int:
    """Delete every cached function, of every version, and return how many bytes that freed."""
    freed = 0
    with suppress(OSError):  # something else is kept there, there is nothing, or no such place can be
        for folder in directory().parent.glob("v*-py*-numba*"):  # nothing that is not ours
            freed += _size(folder)
            shutil.rmtree(folder, ignore_errors=True)
        directory().parent.rmdir()
    return freed


def describe() -> dict[str, object]:
    """Return the state of the cache for `kernreg doctor` and `kernreg cache info`."""
    found, problem = entries(), _reason_without_disk
    try:
        for folder in (directory(), *_folders()):
            require_private(folder, below=get_config().cache_directory())
        if directory().exists():
            next(directory().iterdir(), None)  # raises where it cannot be read
    except OSError as cause:
        problem = f"{cause}; every process compiles its own kernels"
    return {
        "cache directory": str(directory()),
        "cached functions": len(found),
        "cache bytes": sum(size for _, size in found),
        "cache problem": problem,
    }
