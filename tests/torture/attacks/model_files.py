"""Model files: damaged by accident, and forged with all checksums computed anew."""

from __future__ import annotations

import copy
import functools
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from torture.attack import Attack, Case, Outcome
from torture.models import base_names, saved, use

WATCHED = (
    "exec",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.",
    "socket.",
    "ctypes.dlopen",
    "pickle.",
)
#: What stands where something else stood.
HOSTILE: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3, 39, 40, 41, 2**31 - 1, 2**31, -(2**31), 2**53, 2**63, 2**64, 10**30, 1e-300),
    *(
        0.5,
        1e308,
        -1e308,
        "",
        "a",
        "nan",
        "inf",
        "auto",
        "brute",
        "kd_tree",
        "precomputed",
        "rbf",
        "../../x",
        "os:system",
    ),
    *(
        [],
        [1],
        [-1, -1],
        [2**40, 2],
        {},
        {"list": []},
        {"tuple": []},
        {"dict": []},
        {"array": 0},
        {"array": 1},
        {"array": 2},
    ),
    *(
        {"float": "nan"},
        {"float": "inf"},
        {"int": "ffffffffffffffffffff"},
        {"ref": 0},
        {"ref": 1},
        {"list": [{"ref": 1}]},
    ),
    *(
        {"bytes": "AAAA"},
        {"dtype": "<f8"},
        {"range": [0, 2**62, 1]},
        {"scalar": ["<i8", -1]},
        {"scalar": ["<f8", 1e308]},
    ),
]
DTYPES = ("<f8", "<f4", "<i8", "<i4", "<u4", "|b1", "|i1", "<U1", "<c16", "<f2", "<M8[s]")


# Accidents --------------------------------------------------------------------------------------------------


def damage_cases(rng: Random) -> Iterator[Case]:
    names = base_names()
    while True:
        yield {
            "base": rng.choice(names),
            "changes": [
                [rng.choice(DAMAGES), rng.random(), rng.randrange(2**31)] for _ in range(rng.choice([1, 1, 1, 2, 5]))
            ],
            "mmap": rng.random() < 0.5,
        }


DAMAGES = ("flip", "cut", "insert", "zero", "noise", "swap", "byte", "append")


def damaged(data: bytes, kind: str, place: float, number: int) -> bytes:
    at, rng = int(place * len(data)), Random(number)
    if kind == "flip":
        return data[:at] + bytes([data[at] ^ (1 << number % 8)]) + data[at + 1 :]
    if kind == "byte":
        return data[:at] + bytes([number % 256]) + data[at + 1 :]
    if kind == "cut":
        return data[:at]
    if kind == "insert":
        return data[:at] + rng.randbytes(1 + number % 70) + data[at:]
    if kind == "append":
        return data + rng.randbytes(1 + number % 5000)
    length = min(1 + number % 600, len(data) - at)
    if kind == "zero":
        return data[:at] + bytes(length) + data[at + length :]
    if kind == "noise":
        return data[:at] + rng.randbytes(length) + data[at + length :]
    return data[:at] + data[at + length : at + 2 * length] + data[at : at + length] + data[at + 2 * length :]


def run_damage(case: Case) -> Outcome:
    from kernreg.errors import ModelFileError

    good = saved(case["base"])
    if good is None:
        return 0
    data = original = good.read_bytes()
    for kind, place, number in case["changes"]:
        if data:
            data = damaged(data, kind, place, number)
    if data == original:
        return 0
    loaded = load(data, {"mmap": case["mmap"]})
    if isinstance(loaded, ModelFileError):
        return None if str(loaded) else "refusal: says nothing"
    return f"accepted: {loaded!r}" if not isinstance(loaded, BaseException) else f"other error: {loaded!r}"


def load(data: bytes, options: dict[str, Any]) -> Any:
    """Load a file with this content; returns the model, or what was raised."""
    import kernreg as kr

    watch_code()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.kern"
        path.write_bytes(data)
        SEEN.clear()
        SEEN.append("watching")
        try:
            return kr.load(path, **options)
        except Exception as error:
            return error
        finally:
            SEEN.remove("watching")


SEEN: list[str] = []


@functools.cache
def watch_code() -> None:
    """Note what the interpreter is asked to do that loading a file never does."""

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if "watching" in SEEN and event.startswith(WATCHED):
            if event == "exec" and "import" in str(sys._getframe(1).f_code.co_filename):
                return  # a module of a plugin, imported for the first time
            SEEN.append(f"{event} {str(arguments)[:200]}")

    sys.addaudithook(watch)


# Forgeries --------------------------------------------------------------------------------------------------


def forgery_cases(rng: Random) -> Iterator[Case]:
    own = [name for name in base_names() if not name.startswith("sklearn")]
    yield from forgeries_of(own, rng)


def sklearn_cases(rng: Random) -> Iterator[Case]:
    yield from forgeries_of([name for name in base_names() if name.startswith("sklearn")], rng)


def forgeries_of(names: list[str], rng: Random) -> Iterator[Case]:
    while True:
        order = list(names)
        rng.shuffle(order)
        for name in order:
            kinds = ["value", "value", "value", "swap", "drop", "array", "shape", "dtype", "number", "number"]
            count = rng.choice([1, 1, 2, 3])
            yield {
                "base": name,
                "changes": [
                    [rng.choice(kinds), rng.random(), rng.random(), rng.randrange(2**31)] for _ in range(count)
                ],
            }


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree of JSON where something stands: what holds it, and its key."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        for key, item in holder.items() if isinstance(holder, dict) else enumerate(holder):
            found.append((holder, key))
            if isinstance(item, dict | list):
                waiting.append(item)
    return found


def forge(forger: Any, kind: str, first: float, second: float, number: int) -> None:
    """Change one thing of a model that has been taken apart."""
    places = nodes(forger.model)
    holder, key = places[int(first * len(places))]
    arrays = forger.model["arrays"]
    if kind == "value":
        holder[key] = copy.deepcopy(HOSTILE[number % len(HOSTILE)])
    elif kind == "number":
        numbers = [(h, k) for h, k in places if isinstance(h[k], int | float) and not isinstance(h[k], bool)]
        if numbers:
            holder, key = numbers[int(first * len(numbers))]
            holder[key] = [0, -1, holder[key] + 1, holder[key] - 1, holder[key] * 1000, 2**31, -(2**63), 10**9][
                number % 8
            ]
    elif kind == "swap":
        other, place = places[int(second * len(places))]
        holder[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(holder[key])
    elif kind == "drop":
        if isinstance(holder, dict):
            del holder[key]
        else:
            holder.pop(key)
    elif arrays:
        which = arrays[int(first * len(arrays))]
        if not isinstance(which, dict):
            return
        if kind == "array":
            member = which.get("member")
            if isinstance(member, int) and 0 <= member < len(forger.data) - 2 and forger.data[member]:
                data = bytearray(forger.data[member])
                rng = Random(number)
                fill = rng.choice([b"\x00", b"\xff", b"\x7f", None])
                length = rng.choice([1, 8, len(data)])
                start = rng.randrange(len(data)) // 8 * 8
                size = len(data[start : start + length])
                data[start : start + length] = rng.randbytes(size) if fill is None else fill * size
                forger.data[member] = bytes(data)
        elif kind == "dtype":
            which["dtype"] = DTYPES[number % len(DTYPES)]
        else:
            shape = which.get("shape")
            if isinstance(shape, list):
                total = 1
                for length in shape:
                    total *= length if isinstance(length, int) else 1
                which["shape"] = [[total], [1, total], [total, 1], shape[::-1], [0, *shape], shape[:-1], [-1, total]][
                    number % 7
                ]


@functools.cache
def taken_apart(base: str) -> Any:
    from persistence.forge import Forger

    path = saved(base)
    return None if path is None else Forger(path)


def run_forgery(case: Case) -> Outcome:
    from kernreg.errors import KernregError

    forger = taken_apart(case["base"])
    if forger is None:
        return 0

    def change(forged: Any) -> None:
        for item in case["changes"]:
            try:
                forge(forged, *item)
            except (KeyError, TypeError, IndexError, ValueError, OverflowError, AttributeError):
                continue  # what an earlier change left there cannot be changed like this

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forged.kern"
        try:
            forger.write(path, change)
        except (TypeError, ValueError, KeyError, AttributeError):
            return 0  # no JSON any more
        data = path.read_bytes()
    loaded = load(data, {})
    if SEEN:
        return f"code: loading did {SEEN}"
    if isinstance(loaded, KernregError):
        return None if str(loaded) else "refusal: says nothing"
    if isinstance(loaded, BaseException):
        return f"other error: {loaded!r}"
    use(loaded)
    return None


def simpler(case: Case) -> Iterator[Case]:
    """One change less."""
    for number in range(len(case["changes"])):
        if len(case["changes"]) > 1:
            yield case | {"changes": case["changes"][:number] + case["changes"][number + 1 :]}


def shown(case: Case) -> str:
    """What a forged file says instead, for whoever reads a failure."""
    forger = copy.deepcopy(taken_apart(case["base"]))
    before = json.dumps(forger.model, indent=0).splitlines()
    for item in case["changes"]:
        forge(forger, *item)
    after = json.dumps(forger.model, indent=0).splitlines()
    return "\n".join(line for line in after if line not in before)


ATTACKS = [
    Attack(
        "model-damage",
        "bytes of model files flipped, cut, moved, inserted: every file is refused with a message",
        damage_cases,
        run_damage,
        full=4000,
        ci=100,
        minutes=2.0,
        seconds=300.0,
        memory=2 << 30,
        shrink=simpler,
    ),
    Attack(
        "model-forgeries",
        "models of kernreg changed in any place, checksums computed anew: refused, or used without crash, hang or code",
        forgery_cases,
        run_forgery,
        full=4000,
        ci=80,
        minutes=4.0,
        seconds=300.0,
        memory=2 << 30,
        shrink=simpler,
    ),
    Attack(
        "model-forgeries-sklearn",
        "the same of every estimator of scikit-learn that a file may hold",
        sklearn_cases,
        run_forgery,
        full=4000,
        ci=80,
        minutes=4.0,
        seconds=300.0,
        memory=2 << 30,
        shrink=simpler,
    ),
]
