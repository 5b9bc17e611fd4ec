"""The compile cache under damage: whatever is done to its files, values stay right and the cache mends itself.

A worker never compiles: every case forks children from it, which have Numba imported and nothing compiled.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
import textwrap
import time
import traceback
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from torture.attack import Attack, Case, Outcome

PLUGIN = """
    import types
    from kernreg import kernel
    from kernreg.engine import compiled_loop
    from numba import njit
    from numba.extending import overload
    import math

    module = types.ModuleType("settings")
    module.factor = {factor}

    def grown(x): raise NotImplementedError

    @overload(grown)
    def compiled_grown(x):
        return lambda x: x + {added}

    def made(settings):
        def scaled(x): return x * settings.factor
        return scaled

    scaled = made(module)
    OFFSET = {offset}

    @njit
    def shifted(x):  # too long to be inlined: it keeps its name in machine code
        s = 0.0
    {long}
        return x + 0 * s + OFFSET

    @compiled_loop
    def looped(x):
        return shifted(scaled_in_loop(x)) + shifted(2 * x) - shifted(3 * x) + x

    @compiled_loop(fastmath={{"contract", "reassoc"}})
    def scaled_in_loop(x):
        return grown(x) * module.factor

    def term(x, z):
        return scaled(grown(abs(x - z))) + OFFSET

    @kernel(of=term, symmetric=True)
    def mine(total):
        return total
"""
LONG = "\n    ".join(f"    for i in range(3): s += math.sin(x * {k} + i) * math.cos(s - {k})" for k in range(60))
NUMBERS = {"factor": 2.0, "added": 1.0, "offset": 0.5}


def child(folder: Path, work: Callable[[], Any], **variables: str) -> Any:
    """Return what a forked child with its own cache folder returns; the text of its error where it fails."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.close(reading)
            os.environ.update(KERNREG_CACHE_DIR=str(folder), **variables)
            from kernreg import config

            config._process = None
            answer = json.dumps({"value": work()})
            code = 0
        except BaseException:
            answer = json.dumps({"error": traceback.format_exc()[-1500:]})
        with os.fdopen(writing, "w") as file:
            file.write(answer)
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if not text:
        return {"error": f"ended with {status}"}
    return json.loads(text)


def values(dtype: str = "float64", plugin: dict[str, float] | None = None) -> dict[str, Any]:
    """Compute a built-in kernel and, where asked, one of a plugin; return values, and what the cache did."""
    import numpy as np

    import kernreg as kr
    from kernreg.engine.compiler import cache as compiled

    X = np.linspace(0.0, 3.0, 12).reshape(6, 2).astype(dtype)
    found = {"rbf": kr.make_kernel("rbf(sigma=2.0)")(X).tolist()}
    if plugin is not None:
        edited = sys.modules["edited_plugin"] = types.ModuleType("edited_plugin")
        names: dict[str, Any] = edited.__dict__
        exec(textwrap.dedent(PLUGIN.replace("{long}", LONG)).format(**plugin), names)
        found["mine"] = names["mine"]()(X).tolist()
        found["looped"] = float(names["looped"](X[1, 1]))
    return {**found, **compiled.statistics()}


def wrong(found: Any, dtype: str = "float64", plugin: dict[str, float] | None = None) -> str | None:
    """Compare with NumPy."""
    import numpy as np

    if "error" in found:
        return f"error: {found['error']}"
    X = np.linspace(0.0, 3.0, 12).reshape(6, 2)
    apart = X[:, None] - X
    close = {"rtol": 1e-13, "atol": 0} if dtype == "float64" else {"rtol": 1e-5, "atol": 1e-7}
    if not np.allclose(found["value"]["rbf"], np.exp(-(apart**2).sum(-1) / 4), **close):
        return "wrong value: rbf"
    if plugin is not None:
        mine = (abs(apart) + plugin["added"]) * plugin["factor"] + plugin["offset"]
        if not np.allclose(found["value"]["mine"], mine.sum(-1), **close):
            return f"wrong value: plugin with {plugin}"
        looped = (X[1, 1] + plugin["added"]) * plugin["factor"] + plugin["offset"]
        if not np.allclose(found["value"]["looped"], looped, **close):
            return f"wrong value: loop of a plugin with {plugin}"
    return None


@cache
def ready() -> Path:
    """Import Numba, and fill a cache in a child: cases copy it."""
    import numba  # noqa: F401  children share it

    import kernreg.kernels.builtin  # noqa: F401  the same

    folder = Path(tempfile.mkdtemp())
    for dtype in ("float64", "float32"):
        problem = wrong(child(folder, lambda dtype=dtype: values(dtype)), dtype)  # type: ignore[misc]  # mypy on lambdas
        assert problem is None, problem
    assert child(folder, values)["value"]["misses"] == 0
    return folder


def copy(folder: str) -> Path:
    target = Path(folder) / "cache"
    shutil.copytree(ready(), target)
    target.chmod(0o700)
    return target


# Damage of files ------------------------------------------------------------------------------------------------


def flip(file: Path, rng: Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(rng.choice((1, 1, 2, 50))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)


def flip_behind(file: Path, rng: Random) -> None:
    """Inside of the machine code."""
    data = bytearray(file.read_bytes())
    data[rng.randrange(len(data) // 3, len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)


def cut(file: Path, rng: Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: rng.randrange(len(data))])


def lengthen(file: Path, rng: Random) -> None:
    file.write_bytes(file.read_bytes() + bytes(rng.randrange(1, 100)))


def swap(file: Path, rng: Random) -> None:
    other = rng.choice(sorted(file.parents[1].rglob("*.code")))
    file.write_bytes(other.read_bytes())


def give_away(file: Path, rng: Random) -> None:
    os.chown(file, 54321, 54321) if os.geteuid() == 0 else file.chmod(0o666)


def open_up(file: Path, rng: Random) -> None:
    file.chmod(rng.choice((0o666, 0o620, 0o602, 0o000)))


def to_folder(file: Path, rng: Random) -> None:
    file.unlink()
    file.mkdir()


def to_pipe(file: Path, rng: Random) -> None:
    file.unlink()
    os.mkfifo(file)


def to_device(file: Path, rng: Random) -> None:
    """Zeros without end."""
    file.unlink()
    if os.geteuid() == 0:
        os.mknod(file, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    else:
        os.mkfifo(file, 0o600)


def to_giant(file: Path, rng: Random) -> None:
    """Of many gigabytes, of which no byte is on the disk."""
    with open(file, "r+b") as opened:
        opened.truncate(1 << rng.randrange(32, 40))


def to_link(file: Path, rng: Random) -> None:
    other = file.with_suffix(".moved")
    file.rename(other)
    file.symlink_to(other)


def remove(file: Path, rng: Random) -> None:
    file.unlink()


OF_FILES: dict[str, Callable[[Path, Random], None]] = {
    "flip": flip,
    "flip behind": flip_behind,
    "cut": cut,
    "longer": lengthen,
    "swap": swap,
    "owner": give_away,
    "mode": open_up,
    "folder": to_folder,
    "pipe": to_pipe,
    "device": to_device,
    "giant": to_giant,
    "link": to_link,
    "gone": remove,
}


def damaged(folder: Path, how: str, rng: Random) -> None:
    """Do something to some files of a cache, or to one of its folders."""
    files = sorted(folder.rglob("*.code"))
    if how in OF_FILES:
        for file in [file for file in files if rng.random() < 0.7] or files:
            OF_FILES[how](file, rng)
        return
    chosen = rng.choice(sorted(path for path in folder.rglob("*") if path.is_dir()))
    if how == "owner of folders" and os.geteuid() == 0:
        os.chown(chosen, 54321, 54321)
    else:
        chosen.chmod(rng.choice((0o777, 0o770, 0o500)))


DAMAGE = [*OF_FILES, "owner of folders", "mode of folders"]


def damage_cases(rng: Random) -> Iterator[Case]:
    order = list(DAMAGE)
    while True:
        rng.shuffle(order)
        for how in order:
            yield {"how": how, "seed": rng.randrange(2**31), "dtype": rng.choice(("float64", "float32"))}


def run_damage(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        folder = copy(name)
        damaged(folder, case["how"], Random(case["seed"]))
        dtype = case["dtype"]
        first = child(folder, lambda: values(dtype))
        second = child(folder, lambda: values(dtype))
        problem = wrong(first, dtype) or wrong(second, dtype)
        mended = case["how"] in ("owner of folders", "mode of folders") or second["value"]["misses"] == 0
        return problem or (None if mended else "not mended: the second process compiled again")


# Writing: full disks, delays, crowds ----------------------------------------------------------------------------


def full_disk(after: int) -> None:
    """Let writing fail after so many calls, as on a disk that is full."""
    from kernreg.engine.compiler import entry_files

    left, replace = [after], os.replace

    def failing(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return replace(*arguments, **options)

    entry_files.os.replace = failing


def limited(size: int) -> None:
    """Let the system refuse to write more than so many bytes to a file."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def slow(seed: int) -> None:
    """Wait at random before files are read and put in place."""
    from kernreg.engine.compiler import entry_files

    rng, replace, read = Random(seed), os.replace, entry_files._read_own

    def waiting(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            time.sleep(rng.random() * 0.3)
            return function(*arguments)

        return called

    entry_files.os.replace, entry_files._read_own = waiting(replace), waiting(read)


def write_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {"how": "full", "number": rng.randrange(3)}
        yield {"how": "limit", "number": rng.choice((0, 1, 100, 5000, 20000))}
        yield {"how": "crowd", "number": rng.choice((3, 4)), "seed": rng.randrange(2**31)}
        yield {"how": "cpu", "number": 0}


def run_writing(case: Case) -> Outcome:
    ready()
    number = case["number"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def first() -> Any:
            full_disk(number) if case["how"] == "full" else limited(number)
            return values()

        if case["how"] in ("full", "limit"):
            problem = wrong(child(folder, first))
            leftovers = [path.name for path in folder.rglob(".*") if path.is_file()]
            if leftovers:
                return f"left behind: {leftovers}"
        elif case["how"] == "cpu":
            other = child(folder, values, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
            problem = wrong(other)
            own = child(folder, values)
            problem = problem or wrong(own)
        else:
            problem = crowd(folder, number, case["seed"])
        problem = problem or wrong(child(folder, values))
        last = child(folder, values)
        return problem or wrong(last) or (None if last["value"]["misses"] == 0 else "not mended: compiled a third time")


def crowd(folder: Path, number: int, seed: int) -> str | None:
    """Start processes at once on an empty cache, of both precisions, each slowed at random."""
    from concurrent.futures import ThreadPoolExecutor

    def one(index: int) -> str | None:
        dtype = "float32" if index % 2 else "float64"

        def work() -> Any:
            slow(seed + index)
            return values(dtype)

        return wrong(child(folder, work), dtype)

    with ThreadPoolExecutor(number) as pool:
        return next((problem for problem in pool.map(one, range(number)) if problem), None)


def twenty_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {"number": 20, "seed": rng.randrange(2**31)}


def run_twenty(case: Case) -> Outcome:
    ready()
    with tempfile.TemporaryDirectory() as name:
        problem = crowd(Path(name), case["number"], case["seed"])
        last = child(Path(name), values)
        return problem or wrong(last) or (None if last["value"]["misses"] == 0 else "not mended: compiled again")


# Edits ----------------------------------------------------------------------------------------------------------


def edit_cases(rng: Random) -> Iterator[Case]:
    while True:
        name = rng.choice(sorted(NUMBERS))
        yield {"plugin": {**NUMBERS, name: float(rng.randrange(3, 1000))}, "compiled first": rng.random() < 0.8}


def run_edit(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        folder = copy(name)
        before, after = dict(NUMBERS), case["plugin"]
        first = child(folder, lambda: values(plugin=before)) if case["compiled first"] else None
        second = child(folder, lambda: values(plugin=after))
        third = child(folder, lambda: values(plugin=before))
        both = child(folder, lambda: [{"value": values(plugin=each)} for each in (before, after, before)])
        if "error" in both:
            return f"both in one process: {both['error']}"
        for found, each in zip(both["value"], (before, after, before), strict=True):
            if mixed := wrong(found, plugin=each):
                return f"both in one process: {mixed}"
        problem = None if first is None else wrong(first, plugin=before)
        return problem or wrong(second, plugin=after) or wrong(third, plugin=before)


ATTACKS = [
    Attack(
        "cache-damage",
        "flipped bits, cut, swapped, foreign, linked, giant and missing files, folders, pipes and devices in the "
        "compile cache: right values, and the next process finds it mended",
        damage_cases,
        run_damage,
        full=400,
        ci=13,
        minutes=4,
        seconds=600,
        fresh=True,
    ),
    Attack(
        "cache-writing",
        "full disks, limits of file size, delays, several processes at once and another CPU on a cold compile cache: "
        "right values, nothing left behind, a sound cache afterwards",
        write_cases,
        run_writing,
        full=60,
        ci=2,
        minutes=6,
        seconds=900,
        workers=1,
        fresh=True,
    ),
    Attack(
        "cache-crowd",
        "twenty cold processes at once, slowed at random, on one empty compile cache: right values, one sound cache",
        twenty_cases,
        run_twenty,
        full=4,
        ci=0,
        minutes=4,
        seconds=1800,
        workers=1,
        fresh=True,
    ),
    Attack(
        "cache-edits",
        "edits of a plugin, of a module in a closure cell, an @overload body or a global, both versions in one "
        "process: never the code from before",
        edit_cases,
        run_edit,
        full=60,
        ci=1,
        minutes=5,
        seconds=600,
        fresh=True,
    ),
]
