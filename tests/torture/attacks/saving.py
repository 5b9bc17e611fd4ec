"""Saving: killed at any time, on full disks, under limits, through links, onto devices, by several at once."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from torture.attack import Attack, Case, Outcome

LARGE = 1600  # a side: 20 MB


def model(number: int, side: int) -> Any:
    """A model that is a number throughout."""
    from kernreg.kernels.indexed import precomputed

    return precomputed(K=np.full((side, side), float(number)))


def number_in(path: Path) -> int | str:
    """The number that a file holds, or what is wrong with it."""
    import kernreg as kr

    try:
        found = np.unique(np.asarray(kr.load(path, mmap=False).K))
    except Exception as error:
        return f"lost: {error!r}"
    return int(found[0]) if len(found) == 1 else f"torn: {found[:5]}"


def in_child(action: Callable[[], Any]) -> int:
    """Fork, run an action there, and return the id of the process; it ends with 0, or with the number of an error."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        action()
        code = 0
    except OSError as error:
        code = error.errno or 98
    except BaseException:
        code = 97
    os._exit(code)


# Killed -----------------------------------------------------------------------------------------------------


def kill_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {"side": LARGE, "delays": [round(rng.random(), 4) for _ in range(5)]}


def run_kills(case: Case) -> Outcome:
    import kernreg as kr

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kern"
        kr.save(model(0, case["side"]), path)
        start = time.perf_counter()
        kr.save(model(0, case["side"]), path)
        longest, current = 1.3 * (time.perf_counter() - start), 0
        for fraction in case["delays"]:
            ready, write = os.pipe()
            new = model(current + 1, case["side"])

            def save_for_ever(new: Any = new, write: int = write) -> None:
                os.write(write, b".")
                while True:
                    kr.save(new, path)

            child = in_child(save_for_ever)
            os.read(ready, 1)
            os.close(ready)
            os.close(write)
            time.sleep(fraction * longest)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            found = number_in(path)
            if found not in (current, current + 1):
                return found if isinstance(found, str) else f"torn: {found} is neither {current} nor {current + 1}"
            current = int(found)
        left = [name for name in os.listdir(folder) if name != "model.kern"]
        if len(left) > 1:  # only who is killed between giving a name and taking it away leaves something
            return f"litter: {left}"
    return len(case["delays"])


# No room ----------------------------------------------------------------------------------------------------


def room_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {
            "how": rng.choice(["disk", "limit", "limit"]),
            "room": rng.choice([0, 1, 4096, 65536, rng.randrange(1 << 20), rng.randrange(4 << 20)]),
            "side": rng.choice([20, 200, 700]),
            "old": rng.random() < 0.7,
        }


@contextmanager
def small_disk(size: int) -> Iterator[Path | None]:
    """A file system of its own with this much room, None where it cannot be mounted."""
    folder = tempfile.mkdtemp()
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"size={max(size, 4096)}".encode()
    mounted = libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, options) == 0
    try:
        yield Path(folder) if mounted else None
    finally:
        if mounted:
            libc.umount2(folder.encode(), 2)
        os.rmdir(folder)


def run_room(case: Case) -> Outcome:
    if case["how"] == "disk":
        with small_disk(case["room"] + 64 * 1024) as folder:
            return 0 if folder is None else saved_with_little_room(case, folder, None)
    with tempfile.TemporaryDirectory() as folder_name:
        return saved_with_little_room(case, Path(folder_name), case["room"])


def saved_with_little_room(case: Case, folder: Path, limit: int | None) -> Outcome:
    import kernreg as kr

    path = folder / "model.kern"
    if case["old"]:
        kr.save(model(1, 20), path)
    before = path.read_bytes() if case["old"] else None
    new = model(2, case["side"])

    def save() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        kr.save(new, path)

    _, status = os.waitpid(in_child(save), 0)
    if os.WIFSIGNALED(status):
        return f"crash: {signal.Signals(os.WTERMSIG(status)).name}"
    code = os.WEXITSTATUS(status)
    if code == 0:
        found = number_in(path)
        return None if found == 2 else f"lost: saved, and the file holds {found}"
    if code not in (errno.ENOSPC, errno.EFBIG):
        return f"other error: ended with {code} ({os.strerror(code) if code < 97 else 'not an OSError'})"
    if before is None and path.exists():
        return "half written: a file is there after saving failed"
    if before is not None and path.read_bytes() != before:
        return "half written: the old file has changed after saving failed"
    left = [name for name in os.listdir(folder) if name != "model.kern"]
    return f"litter: {left}" if left else None


# Links and nodes --------------------------------------------------------------------------------------------

TARGETS = (
    *(
        "file",
        "nothing",
        "link to a file",
        "link to nothing",
        "link to itself",
        "hard link",
        "link to a folder",
        "folder",
    ),
    *("fifo", "device", "link to a device", "socket", "read-only file", "file in a read-only folder", "no folder"),
)


def target_cases(rng: Random) -> Iterator[Case]:
    while True:
        for target in TARGETS:
            yield {"target": target, "mode": rng.choice([0o600, 0o644, 0o640]), "side": 20}


def run_target(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        path, other = folder / "model.kern", folder / "other.kern"
        if not prepare(case["target"], path, other, case["mode"]):
            return 0
        return saved_onto(case, path, other)


def prepare(target: str, path: Path, other: Path, mode: int) -> bool:
    """Make what stands where a model is to be saved; False where that is not allowed here."""
    import socket

    import kernreg as kr

    kr.save(model(1, 20), other)
    other.chmod(mode)
    kinds: dict[str, Callable[[], Any]] = {
        "file": lambda: other.rename(path),
        "nothing": lambda: None,
        "link to a file": lambda: path.symlink_to(other),
        "link to nothing": lambda: path.symlink_to(path.parent / "nothing"),
        "link to itself": lambda: path.symlink_to(path),
        "hard link": lambda: path.hardlink_to(other),
        "link to a folder": lambda: path.symlink_to(path.parent),
        "folder": lambda: path.mkdir(),
        "fifo": lambda: os.mkfifo(path),
        "device": lambda: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3)),
        "link to a device": lambda: (
            os.mknod(path.parent / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3)),
            path.symlink_to(path.parent / "null"),
        ),
        "socket": lambda: socket.socket(socket.AF_UNIX).bind(str(path)),
        "read-only file": lambda: (other.rename(path), path.chmod(0o400)),
        "file in a read-only folder": lambda: (other.rename(path), path.parent.chmod(0o500)),
        "no folder": lambda: None,
    }
    try:
        kinds[target]()
    except PermissionError:
        return False
    return True


def saved_onto(case: Case, path: Path, other: Path) -> Outcome:
    import kernreg as kr
    from kernreg.errors import KernregError

    target = case["target"]
    if target == "no folder":
        path = path.parent / "missing" / "model.kern"
    kind = stat.S_IFMT(path.lstat().st_mode) if os.path.lexists(path) else 0
    mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else None
    try:
        kr.save(model(2, case["side"]), path)
    except (KernregError, OSError) as error:
        if not str(error):
            return f"refusal: {error!r} says nothing"
        now = stat.S_IFMT(path.lstat().st_mode) if os.path.lexists(path) else 0
        if now != kind:
            return f"destroyed: {target} was refused and replaced"
        return f"refusal: {error!r}" if target in ("file", "nothing", "link to a file", "hard link") else None
    if target in (
        "folder",
        "fifo",
        "device",
        "link to a device",
        "socket",
        "link to a folder",
        "link to itself",
        "no folder",
    ):
        return f"accepted: saved onto {target}"
    if number_in(path) != 2:
        return f"lost: saved onto {target}, and the file holds {number_in(path)}"
    if other.exists() and number_in(other) not in (1, 2):
        return f"destroyed: the other name of {target}"
    if mode is not None and stat.S_IMODE(path.stat().st_mode) != mode:
        return f"mode: {target} had {mode:o}, has {stat.S_IMODE(path.stat().st_mode):o}"
    return None


# Several at once --------------------------------------------------------------------------------------------


def crowd_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {
            "side": rng.choice([50, 300, 900]),
            "saves": 4,
            "kill": rng.random() < 0.3,
            "delay": round(rng.random(), 3),
        }


def run_crowd(case: Case) -> Outcome:
    import kernreg as kr

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kern"
        kr.save(model(0, case["side"]), path)

        def save_often(number: int) -> None:
            new = model(number, case["side"])
            for _ in range(case["saves"]):
                kr.save(new, path)

        children = [in_child(lambda number=number: save_often(number)) for number in (1, 2, 3, 4)]
        if case["kill"]:
            time.sleep(0.05 * case["delay"])
            with suppress(ProcessLookupError):
                os.kill(children[0], signal.SIGKILL)
        waiting, loads = set(children), 0
        try:
            while waiting:
                found = number_in(path)
                loads += 1
                if not isinstance(found, int) or found not in range(5):
                    return str(found)
                for child in list(waiting):
                    ended, status = os.waitpid(child, os.WNOHANG)
                    if ended:
                        waiting.remove(child)
                        killed = case["kill"] and child == children[0]
                        if status != 0 and not killed:
                            return f"other error: a process ended with status {status}"
        finally:
            for child in waiting:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        left = [name for name in os.listdir(folder) if name != "model.kern"]
        if len(left) > (1 if case["kill"] else 0):
            return f"litter: {left}"
    return 4 * case["saves"] + loads


ATTACKS = [
    Attack(
        "save-kills",
        "kill -9 at a random time of saving 20 MB: the file is the old or the new one, whole",
        kill_cases,
        run_kills,
        full=40,
        ci=2,
        minutes=2.0,
        seconds=600.0,
        workers=1,
        fresh=True,
    ),
    Attack(
        "save-room",
        "full disks and RLIMIT_FSIZE: saved whole, or an OSError, the old file untouched and nothing left behind",
        room_cases,
        run_room,
        full=500,
        ci=40,
        minutes=1.0,
        workers=1,
        fresh=True,
    ),
    Attack(
        "save-targets",
        "saving over links, folders, pipes, devices, sockets: files only, with their mode; nothing else is replaced",
        target_cases,
        run_target,
        full=300,
        ci=30,
        minutes=0.5,
        workers=1,
        fresh=True,
    ),
    Attack(
        "save-crowd",
        "four processes save to one path, one killed perhaps, a fifth loads: every file it sees is whole",
        crowd_cases,
        run_crowd,
        full=60,
        ci=4,
        minutes=1.0,
        seconds=600.0,
        workers=1,
        fresh=True,
    ),
]
