"""Replace a file whole or not at all, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

_SEPARATORS = (os.sep,) if os.altsep is None else (os.sep, os.altsep)
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))
_UNSUPPORTED = (errno.EISDIR, errno.ENOENT, errno.EOPNOTSUPP, errno.EINVAL)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BufferedRandom]:
    """Yield a file open for writing that takes the place of ``path`` when the block ends without an error.

    The new content goes to a temporary file in the same folder, is forced to the disk, and is then renamed over the
    old file in one step; the folder is forced to the disk last. Somebody who opens ``path`` at any time, even after the
    process was killed or the power failed, finds the old file or the complete new one. A symbolic link stays one: what
    it points to is replaced. The new file has the owner and the permissions of the old, or those a new file gets.
    Only ordinary files are replaced: a device, a pipe or a folder is refused.

    Where the system can (Linux), the temporary file has no name until it is complete, so that a killed process leaves
    nothing behind; elsewhere it is called ``.name.….tmp``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"1 2 3")
    >>> path.read_bytes()
    b'1 2 3'
    """
    target = Path(os.path.realpath(path))
    if target.is_dir() or os.fspath(path).endswith(_SEPARATORS):
        raise IsADirectoryError(errno.EISDIR, "is a folder; give a file name", str(path))
    require_ordinary(target)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder to write to does not exist", str(target.parent))
    folder, temporary = target.parent, target.parent / f".{target.name[:200]}.{secrets.token_hex(8)}.tmp"
    descriptor, named = _open(folder, temporary)
    try:
        with open(descriptor, "w+b") as file:
            yield file
            require_ordinary(target)  # it may have become something else meanwhile
            _complete(file, target)
            if not named:
                named = True
                _name(file, temporary, target)
        os.replace(temporary, target)
    except BaseException as error:  # also when interrupted: what is incomplete is not left lying about
        if named:
            with suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM:
            error.filename = str(path)  # whoever wrote knew the descriptor only
        raise
    _sync_folder(folder)


def take_place(complete: Path, target: Path) -> None:
    """Rename a complete file over another, an ordinary one or none, whose owner and permissions it gets."""
    require_ordinary(target)
    with open(complete, "r+b") as file:
        _complete(file, target)
    os.replace(complete, target)
    _sync_folder(target.parent)


def require_ordinary(target: Path) -> None:
    """Raise OSError where something is that is not an ordinary file: replacing a device or a pipe would destroy it."""
    with suppress(FileNotFoundError):
        mode = os.stat(target).st_mode
        if not stat.S_ISREG(mode):
            kind = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}
            what = kind.get(stat.S_IFMT(mode), "a device")
            raise OSError(errno.EINVAL, f"is {what}, and only ordinary files are written to", str(target))


def _open(folder: Path, temporary: Path) -> tuple[int, bool]:
    """Return the descriptor of a new file in the folder, and whether it has the temporary name already."""
    common = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    unnamed = getattr(os, "O_TMPFILE", 0)
    if unnamed and os.path.isdir("/proc/self/fd"):
        try:
            return os.open(folder, os.O_RDWR | unnamed | common, 0o666), False
        except OSError as error:  # not every file system has nameless files
            if error.errno not in _UNSUPPORTED:
                raise
    # Exclusive: a file or link that somebody else put there is never followed or overwritten.
    return os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | common, 0o666), True


def _complete(file: BufferedRandom, target: Path) -> None:
    file.flush()
    _keep_permissions(file.fileno(), target)
    os.fsync(file.fileno())


def _name(file: BufferedRandom, temporary: Path, target: Path) -> None:
    """Give a nameless file its temporary name, by a copy where the system does not allow a link to it."""
    folder = os.open(temporary.parent, os.O_RDONLY)
    try:
        # With the descriptor of a folder Python calls linkat, which follows the link in /proc; link does not.
        source = f"/proc/self/fd/{file.fileno()}"
        os.link(source, temporary.name, dst_dir_fd=folder, follow_symlinks=True)
    except OSError:
        file.seek(0)
        with open(temporary, "x+b") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
            _complete(copy, target)
    finally:
        os.close(folder)


def _keep_permissions(descriptor: int, target: Path) -> None:
    with suppress(FileNotFoundError):
        old, new = os.stat(target), os.fstat(descriptor)
        if not hasattr(os, "fchmod"):  # Windows
            return
        if old.st_gid != new.st_gid:
            with suppress(PermissionError):  # of a group that this user is not in
                os.fchown(descriptor, -1, old.st_gid)
        if old.st_uid != new.st_uid:
            try:
                os.fchown(descriptor, old.st_uid, -1)
            except PermissionError:
                raise PermissionError(
                    errno.EPERM, f"belongs to another user (uid {old.st_uid}), who would lose it", str(target)
                ) from None
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself last; systems that cannot open a folder (Windows) do that on their own."""
    with suppress(PermissionError, IsADirectoryError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
