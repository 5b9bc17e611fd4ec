"""A compile cache for each process of workers, which no other process writes to while that one lives.

It is a folder beside those of other workers on the machine, ``workers/<machine>/<number>`` in the cache of the user.
The first free one is taken, so that the next cluster finds what this one has compiled. It starts with what the user's
own cache has, as far as this user may read it.
"""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import IO

import kernreg
from kernreg.engine import make_private, take_over_compiled

_MOST = 1024  # processes of workers on one machine

_lock = threading.Lock()
_held: IO[bytes] | None = None  # what locks the folder, as long as this process lives
_taken: Path | None = None


def take_own_cache(client: tuple[str, int]) -> Path | None:
    """Keep what this process compiles in a folder of its own, from now on.

    Parameters
    ----------
    client : tuple of str and int
        The machine and process of the client, whose settings are its own: workers in it share its cache.

    Returns
    -------
    Path or None
        The folder; None where this process shares the client's, or can write nowhere.
    """
    global _held, _taken
    with _lock:
        if _held is not None or client == (socket.gethostname(), os.getpid()):
            return _taken
        base = kernreg.get_config().cache_directory()
        for number in range(_MOST):
            folder = base / "workers" / socket.gethostname() / str(number)
            try:
                make_private(folder, below=base)
                held = (folder / "lock").open("ab")
            except OSError:  # nothing can be kept there, or others could write to it
                return None
            if _locked(held):
                _held, _taken = held, folder
                take_over_compiled(folder)
                kernreg.set_config(cache_dir=folder)
                return folder
            held.close()
        return None


def _locked(file: IO[bytes]) -> bool:
    """Lock a file until it is closed; return False where another process has."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]  # of Windows
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
