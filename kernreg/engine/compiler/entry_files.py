"""Files of machine code: one for each signature of a function and CPU, sealed by a checksum.

Numba keeps an index beside its data files. Where one of the two is missing, older or damaged, the wrong machine code
runs, or none. Here a file says itself what it holds::

    magic │ sha256 of the rest │ length of the key │ key: fingerprint, signature, CPU │ the pickled machine code

It is written under another name and renamed. It is unpickled only if this user owns it and nobody else may write to it,
if the checksum is right, and if the key is the one asked for; anything else is discarded, and compiled again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

from kernreg.engine.compiler.private_folders import make_private, require_own, require_private

_MAGIC = b"kernreg machine code 3\n"
_LENGTH = 8
# In the machine code of functions that call themselves, and of those that call them: a pointer that Numba sets while it
# compiles, and not when it reads the code again; the next process would crash.
_POINTER_OF_RECURSION = b".numba.unresolved$"
_LARGEST = 1 << 28  # bytes; what is longer is damaged, or not ours


class EntryFiles:
    """The files of one function: what Numba asks of a cache file is `load`, `save` and `flush`.

    The fingerprint of the function is a part of every key: Numba's keys stay as they are when a helper of the function
    is edited, and the name of a folder proves nothing about the files in it.
    """

    def __init__(self, folder: Path, note: Callable[[str], None], fingerprint: str = ""):
        self.folder, self.note, self.fingerprint = folder, note, fingerprint

    def load(self, key: Any) -> Any:
        """Return what was saved under a key, None where there is nothing that can be trusted."""
        path, text = self._path(key)
        try:
            content = _read_own(path)
        except FileNotFoundError:
            return None
        except OSError as cause:
            self._discard(path, str(cause))
            return None
        payload = _unsealed(content, text)
        if payload is None:
            self._discard(path, f"{path} was damaged")
            return None
        return pickle.loads(payload)

    def save(self, key: Any, data: Any) -> None:
        """Keep something under a key, in place of what was there; raise OSError where the disk is full."""
        path, text = self._path(key)
        payload = dumps(data)
        if _POINTER_OF_RECURSION in payload:
            raise OSError(f"the machine code of {path.parent.name} calls itself, which Numba cannot read again")
        content = _sealed(text, payload)
        if len(content) > _LARGEST:
            raise OSError(f"the machine code of {path.parent.name} is too large to be kept")
        _write_own(path, content)

    def flush(self) -> None:
        """Forget everything."""
        for path in self.folder.glob("*.code"):
            with suppress(OSError):
                path.unlink()

    def discard(self, key: Any, reason: str) -> None:
        """Delete what was saved under a key."""
        self._discard(self._path(key)[0], reason)

    def _path(self, key: Any) -> tuple[Path, bytes]:
        text = repr((self.fingerprint, key)).encode()
        return self.folder / f"{hashlib.sha256(text).hexdigest()[:32]}.code", text

    def _discard(self, path: Path, reason: str) -> None:
        self.note(f"{reason}; it was discarded, and the kernel compiled again")
        try:
            path.unlink()
        except OSError:
            with suppress(OSError):
                path.rmdir()


class EntryCache(FunctionCache):
    """Numba's cache of one function, with `EntryFiles` for its index and data files. No file may stop a computation."""

    def __init__(self, function: Any, folder: Path, note: Callable[[str], None], fingerprint: str):
        # Not that of the base class, which looks for a place of its own.
        self._name, self._py_func, self._cache_path = repr(function), function, str(folder)
        self._impl: Any = object.__new__(CompileResultCacheImpl)
        self._cache_file: Any = EntryFiles(folder, note, fingerprint)
        self._note = note
        self.enable()

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        key = self._index_key(sig, target_context.codegen())
        try:
            data = self._cache_file.load(key)
            return None if data is None else self._impl.rebuild(target_context, data)
        except Exception as cause:  # whatever unpickling raises, of a module that has changed for example
            self._cache_file.discard(key, f"the machine code in {self._cache_path} cannot be used ({cause})")
            return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        if data.library.has_dynamic_globals or any(not lifted.can_cache for lifted in data.lifted):
            return  # it holds addresses of this process
        try:
            self._cache_file.save(self._index_key(sig, data.codegen), self._impl.reduce(data))
        except OSError as cause:
            self._note(str(cause))
        except Exception as cause:  # whatever pickling raises, of what a function refers to
            self._note(f"the machine code of {self._name} cannot be kept ({cause})")


def copy_own(folder: Path, target: Path, *, below: Path, target_below: Path) -> None:
    """Copy the machine code of a function to another cache: what may be read here, for a copy is this user's own.

    Raises OSError where one of the folders is not private, or nothing can be written.
    """
    require_private(folder, below=below)
    make_private(target, below=target_below)
    for path in sorted(folder.glob("*.code")):
        with suppress(OSError):  # somebody else's, or gone meanwhile
            _write_own(target / path.name, _read_own(path))


def _read_own(path: Path) -> bytes:
    """Return the content of a file that is this user's own; what is checked, folder and file, is what is read."""
    if os.open not in os.supports_dir_fd:  # Windows
        return _content(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)), path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        require_own(os.fstat(folder), str(path.parent))
        return _content(os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder), path)
    finally:
        os.close(folder)


def _content(descriptor: int, path: Path) -> bytes:
    """Return what is in an open file, and close it."""
    try:
        status = os.fstat(descriptor)
        require_own(status, str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not an ordinary file")
        if status.st_size > _LARGEST:
            raise OSError(f"{path} is larger than machine code of a function can be")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(_LARGEST)
    finally:
        os.close(descriptor)


def _write_own(path: Path, content: bytes) -> None:
    """Write a file that only this user can read, under another name, and rename it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with open(descriptor, "wb") as file:
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, 0o600)  # the umask may have taken even this user's permissions
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _sealed(key: bytes, payload: bytes) -> bytes:
    rest = len(key).to_bytes(_LENGTH, "big") + key + payload
    return _MAGIC + hashlib.sha256(rest).digest() + rest


def _unsealed(content: bytes, key: bytes) -> bytes | None:
    """Return the payload of a file that is whole and has this key, else None."""
    start = len(_MAGIC) + hashlib.sha256().digest_size
    rest, begin = content[start:], _LENGTH + len(key)
    if not content.startswith(_MAGIC) or hashlib.sha256(rest).digest() != content[len(_MAGIC) : start]:
        return None
    return rest[begin:] if rest[:begin] == len(key).to_bytes(_LENGTH, "big") + key else None
