"""Reading files that may come from anybody: ordinary ones only, and no more of them than the memory budget holds."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from kernreg.common.sizes import readable
from kernreg.config import memory_budget
from kernreg.errors import DataError, MemoryBudgetError

_LINE = 1 / 16  # of the memory budget, for one line of text


def require_readable(path: str | os.PathLike[str]) -> None:
    """Raise where a file is not an ordinary one: a pipe may never end, and opening it may wait for ever.

    FileNotFoundError and IsADirectoryError are raised as opening the file would.
    """
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", os.fspath(path))
    if not stat.S_ISREG(mode):
        raise DataError(
            f"{os.fspath(path)} is a pipe, a socket or a device, and an ordinary file is needed; write its "
            "output to a file first"
        )


def require_room(needed: float, name: str) -> None:
    """Raise MemoryBudgetError where what a file holds takes more bytes than the memory budget.

    >>> require_room(8.0, "small.csv")
    """
    budget = memory_budget()
    if needed > budget:
        raise MemoryBudgetError(
            f"{name} takes more than {readable(budget)}, the memory budget. If the file is what you think it is, raise "
            "the budget: kernreg.set_config(memory=…), or KERNREG_MEMORY"
        )


class _Counted(io.RawIOBase):
    """A file of which no more can be read than the memory budget holds, whatever it was packed to."""

    def __init__(self, file: Any, name: str, growth: int):
        self._file, self._name, self._growth, self._count = file, name, growth, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; raise where there has been too much."""
        count = self._file.readinto(buffer)
        self._count += count
        require_room(self._growth * self._count, self._name)
        return count

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        super().close()


def open_bounded(path: Path, *, growth: int = 1) -> BinaryIO:
    """Return an ordinary file open for reading, unpacked where it ends in ``.gz``, within the memory budget.

    ``growth`` is how many bytes each of the file's becomes in memory.
    """
    require_readable(path)
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return io.BufferedReader(_Counted(opener(path, "rb"), str(path), growth), 1 << 20)


class BoundedLines:
    """The lines of a text file, one after the other; a line that takes a good part of the memory budget is refused."""

    def __init__(self, file: IO[str], name: str):
        self._file, self._name, self._limit = file, name, max(1, int(_LINE * memory_budget()))

    def readline(self) -> str:
        """Return the next line, with what ends it; empty at the end of the file."""
        line = self._file.readline(self._limit + 1)
        if len(line) > self._limit:
            raise MemoryBudgetError(
                f"{self._name} has a line of more than {readable(self._limit)}, a sixteenth of the memory budget; text "
                "files have a sample, or an edge, on each line"
            )
        return line

    def __iter__(self) -> Iterator[str]:
        while line := self.readline():
            yield line
