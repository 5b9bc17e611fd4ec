"""Folders that nobody else can write to: machine code and pickles are read from no other.

Whoever can write to the folder of the compile cache can make this user run anything. So folders are made with mode
0700, whatever the umask, and used only while they belong to this user and neither group nor others may write to them.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from multiprocessing.util import Finalize
from pathlib import Path

_MODE = 0o700
_FOREIGN_HANDS = 0o022  # writing by group and others

_own: dict[int, Path] = {}  # by process: a forked child must not delete its parent's


class UnsafeFolder(OSError):
    """A folder or file that somebody else may have written to."""


def make_private(folder: Path, *, below: Path) -> Path:
    """Return a folder, made with its parents where it is missing; raise UnsafeFolder where others may write to it.

    What stands between ``below`` and the folder is checked, ``below`` itself is not: it may be shared.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as base:
    ...     oct(make_private(Path(base) / "mine", below=Path(base)).stat().st_mode & 0o777)
    '0o700'
    """
    require_private(folder, below=below)  # before anything is made in a folder of somebody else
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        _make(path)
    require_private(folder, below=below)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} is not writable")
    return folder


def _make(folder: Path) -> None:
    """Make a folder, unless somebody was faster: what is there already is not changed, it may be anybody's link."""
    try:
        folder.mkdir(mode=_MODE)
    except FileExistsError:
        return
    made = os.lstat(folder)
    if stat.S_ISDIR(made.st_mode) and made.st_mode & _MODE != _MODE:  # the umask took even this user's permissions
        folder.chmod(_MODE)


def require_private(folder: Path, *, below: Path) -> None:
    """Raise UnsafeFolder where a folder, or one between it and ``below``, is not this user's own; missing ones are."""
    for path in (*reversed(folder.relative_to(below).parents[:-1]), folder.relative_to(below)):
        place = below / path
        try:
            for look in (os.lstat, os.stat):  # at a link itself, then at what it points to, if that is there
                require_own(look(place), str(place))
        except (FileNotFoundError, NotADirectoryError):
            return


def require_own(status: os.stat_result, name: str) -> None:
    """Raise UnsafeFolder where somebody else owns a file or folder, or may write to it."""
    if not hasattr(os, "geteuid"):  # Windows: a user's folders are his own by inheritance
        return
    if status.st_uid != os.geteuid():
        raise UnsafeFolder(f"{name} belongs to another user (uid {status.st_uid}), so nothing is read from it")
    if not stat.S_ISLNK(status.st_mode) and status.st_mode & _FOREIGN_HANDS:
        raise UnsafeFolder(
            f"{name} can be written to by other users (mode {stat.S_IMODE(status.st_mode):04o}), so nothing is read "
            f"from it; chmod go-w {name}"
        )


def of_this_process() -> Path:
    """Return a temporary folder of this process, removed when it ends."""
    folder = _own.get(os.getpid())
    if folder is None or not _is_own_folder(folder):
        folder = _own[os.getpid()] = Path(tempfile.mkdtemp(prefix="kernreg-cache-"))
        # Not atexit, which processes forked by multiprocessing do not run. Children do not run this for their parent.
        Finalize(None, shutil.rmtree, (folder, True), exitpriority=0)
    return folder


def _is_own_folder(path: Path) -> bool:
    """Whether it is there and nobody else's: what is old may be cleaned away, and the name taken by somebody."""
    try:
        status = os.lstat(path)
        require_own(status, str(path))
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode)
