"""Arrays in model files: memory as it is, each piece once.

An array is a window on a member, the raw little-endian items of a piece of memory: where in it the first item is, how
many there are along each axis and how far apart (``offset``, ``shape``, ``strides``, in items). Arrays that share
memory are windows on one member, and share it again when loaded. Strides are kept because results depend on them: sums
and products of the same numbers in another layout differ in the last bits.
"""

from __future__ import annotations

import math
import re
import sys
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_DTYPE = re.compile(r"[<|]([biufcSUMm])([1-9][0-9]{0,8})(\[(?:[0-9]{1,9})?[A-Za-z]{1,2}\])?")
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16), "M": (8,), "m": (8,)}
_MAX_DIMENSIONS = 32
_MAX_GAPS = 4  # a layout with gaps is kept while that takes no more than so many times the memory
_LAST_CODE_POINT = 0x10FFFF


class Window(NamedTuple):
    """An array as a part of a member. ``apart``: equal to another, but in memory of its own."""

    member: int
    dtype: str
    shape: tuple[int, ...]
    offset: int
    strides: tuple[int, ...]
    apart: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what the file holds of it; from the first item on in C order needs no more."""
        found: dict[str, Any] = {"member": self.member, "dtype": self.dtype, "shape": list(self.shape)}
        if self.offset or self.strides != _c_strides(self.shape):
            found |= {"offset": self.offset, "strides": list(self.strides)}
        return {**found, "apart": True} if self.apart else found


# Saving -----------------------------------------------------------------------------------------------------


def storable(array: np.ndarray) -> str:
    """Return why an array cannot be a window, empty if it can.

    >>> storable(np.zeros(2)), storable(np.zeros(2, dtype=[("a", "f8")]))
    ('', "arrays of dtype [('a', '<f8')] cannot be saved")
    """
    if type(array) not in (np.ndarray, np.memmap):
        return f"{type(array).__name__} is a special kind of array; make a plain one of it with numpy.asarray"
    try:
        read_dtype(_little(array.dtype).str)
    except ValueError:
        return f"arrays of dtype {array.dtype} cannot be saved"
    return ""


class ArrayTable:
    """The arrays of a model while it is saved."""

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}

    def add(self, array: np.ndarray) -> int:
        """Return the number of an array, the same for the same object."""
        known = self._numbers.get(id(array))
        if known is None:
            known = self._numbers[id(array)] = len(self._arrays)
            self._arrays.append(array)  # and so it lives, and its address is not given to another
        return known

    def windows(self) -> tuple[list[Window], list[np.ndarray]]:
        """Return where each array is, and the members: one-dimensional arrays, to be written as they are."""
        holders = self._holders()
        alone = set(range(len(self._arrays))) - set(holders.values())
        members: list[np.ndarray] = []
        found: dict[int, Window] = {}
        equal: dict[Any, list[int]] = {}
        for number in sorted(range(len(self._arrays)), key=lambda number: number in holders):
            array = self._arrays[number]
            dtype, size = _little(array.dtype), array.dtype.itemsize
            if number in holders:
                holder = self._arrays[holders[number]]
                offset = (_address(array) - _bounds(holder)[0]) // size
                steps = tuple(step // size for step in array.strides)
                found[number] = Window(found[holders[number]].member, dtype.str, array.shape, offset, steps)
                continue
            memory, offset, steps = _memory_of(array)
            twins: list[int] = []
            if number in alone:  # memory that other arrays are windows on must be as it is, not only equal
                start = zlib.crc32(bytes(as_bytes(memory)[:4096]))
                twins = equal.setdefault((dtype.str, array.shape, offset, steps, memory.size, start), [])
            twin = next((member for member in twins if _same_bytes(members[member], memory)), None)
            if twin is None:
                twins.append(len(members))
                found[number] = Window(len(members), dtype.str, array.shape, offset, steps)
                members.append(memory)
            else:
                found[number] = Window(twin, dtype.str, array.shape, offset, steps, apart=True)
        return [found[number] for number in range(len(self._arrays))], members

    def _holders(self) -> dict[int, int]:
        """Return, for each array that is a window on another which fills its memory, that other one."""
        found: dict[int, int] = {}
        last: int | None = None
        low = high = 0
        for number in sorted(range(len(self._arrays)), key=self._by_address):
            array, (start, stop) = self._arrays[number], _bounds(self._arrays[number])
            if not array.size:
                continue
            size = array.dtype.itemsize
            if last is not None and low <= start and stop <= high and array.nbytes <= high - low:
                steps = (_address(array) - low, *array.strides)
                if array.dtype == self._arrays[last].dtype and not any(step % size for step in steps):
                    found[number] = last
                    continue
            if stop - start == array.nbytes and (last is None or stop > high):
                last, low, high = number, start, stop
        return found

    def _by_address(self, number: int) -> tuple[int, int, int]:
        start, stop = _bounds(self._arrays[number])
        return start, -stop, number


def _address(array: np.ndarray) -> int:
    """Return the address of the first item, which is not the lowest where a stride is negative."""
    return int(array.__array_interface__["data"][0])


def _bounds(array: np.ndarray) -> tuple[int, int]:
    """Return the addresses of the first byte and after the last."""
    low = high = _address(array)
    if not array.size:
        return low, low
    for length, step in zip(array.shape, array.strides, strict=True):
        low, high = low + min(0, step * (length - 1)), high + max(0, step * (length - 1))
    return low, high + array.dtype.itemsize


def _memory_of(array: np.ndarray) -> tuple[np.ndarray, int, tuple[int, ...]]:
    """Return the array's items in the order of memory, and where the array is in them: offset and strides in items.

    Memory between the items is not the array's, and is not written: where there is any, zeros take its place.
    """
    if array.flags.c_contiguous or not array.size:
        return array.reshape(-1).astype(_little(array.dtype), copy=False), 0, _c_strides(array.shape)
    if array.flags.f_contiguous:
        memory, _, steps = _memory_of(array.T)
        return memory, 0, steps[::-1]
    if any(step == 0 and length > 1 for step, length in zip(array.strides, array.shape, strict=True)):
        return _memory_of(np.ascontiguousarray(array))  # one item that stands for many
    # Axes from the slowest to the fastest, all running forwards.
    axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    backwards = [step < 0 for step in array.strides]
    forwards = array[tuple(slice(None, None, -1) if back else slice(None) for back in backwards)].transpose(axes)
    holder = np.zeros(_with_gaps(forwards), dtype=_little(array.dtype))
    inside = holder[..., 0][tuple(slice(0, length) for length in forwards.shape)]
    inside[...] = forwards
    steps_of = dict(zip(axes, (step // array.dtype.itemsize for step in inside.strides), strict=True))
    signed = tuple(-steps_of[axis] if backwards[axis] else steps_of[axis] for axis in range(array.ndim))
    offset = sum(steps_of[axis] * (array.shape[axis] - 1) for axis in range(array.ndim) if backwards[axis])
    return holder.reshape(-1), offset, signed


def _with_gaps(array: np.ndarray) -> list[int]:
    """Return the shape of memory that holds an array with gaps where it has any, if not of the same width.

    How wide a gap is does not matter to what is computed, that there is one may.
    """
    shape = [*array.shape, 1]
    dense = array.dtype.itemsize
    for axis in reversed(range(array.ndim)):
        if array.shape[axis] > 1 and array.strides[axis] > dense:
            shape[axis + 1] += 1
            dense = array.strides[axis]
        dense *= array.shape[axis]
    return shape if math.prod(shape) <= _MAX_GAPS * array.size else [*array.shape, 1]


def _little(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("<")


def _same_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.array_equal(as_bytes(a), as_bytes(b)))


def as_bytes(memory: np.ndarray) -> np.ndarray:
    """Return the bytes of a member."""
    return memory.view(np.uint8) if memory.size and memory.dtype.itemsize else np.empty(0, dtype=np.uint8)


# Loading ----------------------------------------------------------------------------------------------------


def read_dtype(text: Any) -> np.dtype:
    """Return the dtype of a description, or raise ValueError: plain numbers, times and text of fixed length only."""
    match = _DTYPE.fullmatch(text) if isinstance(text, str) else None
    if match is None or (match[3] is not None) != (match[1] in "Mm"):
        raise ValueError(f"{text!r} is not the dtype of an array in a model file")
    if int(match[2]) not in _SIZES.get(match[1], (int(match[2]),)):
        raise ValueError(f"{text!r} is not the dtype of an array in a model file")
    try:
        return np.dtype(text)
    except TypeError as cause:
        raise ValueError(f"{text!r} is not the dtype of an array in a model file: {cause}") from None


def read_windows(found: Any, sizes: list[int]) -> list[Window]:
    """Return the windows of their JSON forms, or raise ValueError where they do not fit their members.

    Parameters
    ----------
    found : object
        A list of what `Window.as_json` gives.
    sizes : list of int
        The size of each member in bytes.
    """
    windows = [_read_window(window, sizes) for window in found]
    filled = {window.member for window in windows if _size(window) == sizes[window.member]}
    for window, described in zip(windows, found, strict=True):
        # The first items of a member are a window only beside one on all of them.
        if "strides" not in described and window.member not in filled:
            raise ValueError(f"an array of shape {window.shape} does not fill {sizes[window.member]} bytes")
    return windows


def _size(window: Window) -> int:
    return math.prod(window.shape) * np.dtype(window.dtype).itemsize


def _read_window(found: Any, sizes: list[int]) -> Window:
    """Return the window of its JSON form, or raise ValueError where it reaches beyond its member."""
    if not isinstance(found, dict) or not {"member", "dtype", "shape"} <= set(found) <= _FIELDS:
        raise ValueError("the description of an array is not valid")
    member, shape, apart = found["member"], found["shape"], found.get("apart", False)
    dtype = read_dtype(found["dtype"])
    if type(member) is not int or not 0 <= member < len(sizes):
        raise ValueError("an array is not in a member of the file")
    if not _are_integers(shape, 0) or len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"an array cannot have the shape {shape!r}")
    if type(apart) is not bool or ("strides" in found) != ("offset" in found):
        raise ValueError("the description of an array is not valid")
    items, rest = divmod(sizes[member], dtype.itemsize)
    if rest or math.prod(shape) > items:
        raise ValueError(f"an array of shape {shape} and dtype {dtype} is not in {sizes[member]} bytes")
    offset, strides = 0, _c_strides(tuple(shape))
    if "strides" in found:
        offset, strides = _read_steps(found["offset"], found["strides"], tuple(shape), items)
    return Window(member, dtype.str, tuple(shape), offset, strides, apart)


_FIELDS = {"member", "dtype", "shape", "offset", "strides", "apart"}


def _read_steps(offset: Any, strides: Any, shape: tuple[int, ...], items: int) -> tuple[int, tuple[int, ...]]:
    """Return offset and strides, or raise ValueError where they lead to what is not one of the member's items."""
    if not _are_integers(strides) or len(strides) != len(shape) or type(offset) is not int:
        raise ValueError(f"an array cannot have the strides {strides!r} from {offset!r}")
    if not math.prod(shape):
        return 0, _c_strides(shape)
    reach = [step * (length - 1) for step, length in zip(strides, shape, strict=True)]
    if offset + sum(min(0, step) for step in reach) < 0:
        raise ValueError("an array begins before its member")
    if offset + sum(max(0, step) for step in reach) >= items:
        raise ValueError("an array ends after its member")
    return offset, tuple(strides)


def _are_integers(values: Any, low: int | None = None) -> bool:
    return isinstance(values, list) and all(
        type(value) is int and (low is None or value >= low) and abs(value) < 2**62 for value in values
    )


def open_windows(windows: list[Window], give: Callable[[int, bool], memoryview]) -> list[np.ndarray]:
    """Return the arrays; ``give(member, apart)`` gives the bytes of a member."""
    shared: dict[int, memoryview] = {}
    dtypes: dict[int, str] = {}
    found = []
    for window in windows:
        dtype = np.dtype(window.dtype)
        data = None if window.apart else shared.get(window.member)
        if data is None:
            data = give(window.member, window.apart)
            _check_items(data, dtype)
            if not window.apart:
                shared[window.member] = data
        if dtypes.setdefault(window.member, window.dtype) != window.dtype:
            raise ValueError("two arrays see one member as different dtypes")
        strides = tuple(step * dtype.itemsize for step in window.strides)
        array: np.ndarray = np.ndarray(window.shape, dtype, data or None, window.offset * dtype.itemsize, strides)
        found.append(array if sys.byteorder == "little" else array.astype(dtype.newbyteorder("=")))
    return found


def _check_items(data: memoryview, dtype: np.dtype) -> None:
    """Raise ValueError for bytes that are no values of their dtype, which numpy does not look for."""
    if dtype.kind == "b" and np.frombuffer(data, dtype=np.uint8).max(initial=0) > 1:
        raise ValueError("an array of booleans holds bytes other than 0 and 1")
    if dtype.kind == "U" and np.frombuffer(data, dtype="<u4").max(initial=0) > _LAST_CODE_POINT:
        raise ValueError("an array of text holds numbers that are not characters")


def _c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
