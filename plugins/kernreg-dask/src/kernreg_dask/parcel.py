"""What travels to workers beside samples: a task and its arguments, pickled once, with the plugins that it needs.

The parcel itself is bytes and buffers, so that a worker can look at what it needs before it unpickles anything.
"""

from __future__ import annotations

import io
import os
import pickle
import socket
from typing import Any, NamedTuple

import cloudpickle  # type: ignore[import-untyped]  # it ships no types

import kernreg
from kernreg.kernels import KernelFamily
from kernreg.registry import entry_of


class Requirement(NamedTuple):
    """A kernel of a plugin, and the version of the distribution that it is of."""

    kernel: str
    distribution: str
    version: str | None


class Parcel:
    """Pickled content, its large arrays apart; they are neither copied nor looked at on the way.

    Attributes
    ----------
    requirements : tuple of Requirement
    version : str
        Of kernreg, where the parcel was made.
    origin : tuple of str and int
        The machine and the process it was made in.
    """

    def __init__(
        self,
        payload: bytes,
        buffers: list[Any],
        requirements: tuple[Requirement, ...],
        version: str | None = None,
        origin: tuple[str, int] | None = None,
    ):
        self.payload, self.buffers, self.requirements = payload, buffers, requirements
        self.version = kernreg.__version__ if version is None else version
        self.origin = (socket.gethostname(), os.getpid()) if origin is None else origin

    @classmethod
    def of(cls, content: Any) -> Parcel:
        """Pickle anything whose kernels, functions and classes workers can import; those of a script go by value.

        >>> Parcel.of({"three": 3}).content()
        {'three': 3}
        """
        buffers: list[pickle.PickleBuffer] = []
        file = io.BytesIO()
        pickler = _Pickler(file, buffers.append)
        pickler.dump(content)
        return cls(file.getvalue(), buffers, tuple(sorted(pickler.found)))

    def content(self) -> Any:
        """Return what was packed; arrays are writable, as compiled code has them."""
        return pickle.loads(self.payload, buffers=[bytearray(buffer) for buffer in self.buffers])

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return len(self.payload) + sum(memoryview(buffer).nbytes for buffer in self.buffers)

    def __sizeof__(self) -> int:
        return self.nbytes

    def __reduce__(self) -> Any:
        buffers = [pickle.PickleBuffer(memoryview(buffer)) for buffer in self.buffers]
        return Parcel, (self.payload, buffers, self.requirements, self.version, self.origin)


class _Pickler(cloudpickle.Pickler):
    """Takes down which kernels of plugins it meets."""

    def __init__(self, file: io.BytesIO, keep: Any):
        super().__init__(file, protocol=5, buffer_callback=keep)
        self.found: set[Requirement] = set()

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, KernelFamily):
            needed = _requirement(obj)
            if needed is not None:
                self.found.add(needed)
        return super().reducer_override(obj)


def _requirement(family: KernelFamily) -> Requirement | None:
    """Return what a worker needs to have a kernel; nothing of kernels that travel themselves."""
    entry = entry_of("kernel", family)
    if entry is None or entry.distribution is None:
        return None
    return Requirement(entry.name, entry.distribution, entry.version)
