"""Members of a model file: written once in order, read back only if every byte around them is as it must be."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import stat
import zlib
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from kernreg.errors import DamagedModelFile, UnsavableModel
from kernreg.persistence import layout

# What is refused before any memory is spent on it. Arrays need no limit: they are never longer than the file.
MAX_MEMBERS = 100_000
MAX_JSON_BYTES = 64 << 20
MAX_JSON_VALUES = 4_000_000

_CHUNK = 1 << 20


class Member(NamedTuple):
    """What the manifest says of a member."""

    name: str
    size: int
    crc: int
    sha256: str


class Writer:
    """Writes members one after the other, hashing them on the way."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self._placed: list[layout.Placed] = []
        self.members: list[Member] = []

    def add(self, name: str, data: Any) -> Member:
        """Write a member: any object whose buffer is contiguous bytes."""
        view = memoryview(data).cast("B")
        header = self._placed[-1].stop if self._placed else 0
        draft = layout.place(name, len(view), 0, header)
        self._file.write(layout.local_header(draft))
        crc, sha = 0, hashlib.sha256()
        for start in range(0, len(view), _CHUNK):
            chunk = view[start : start + _CHUNK]
            crc = zlib.crc32(chunk, crc)
            sha.update(chunk)
            self._file.write(chunk)
        placed = draft._replace(crc=crc)
        self._file.seek(placed.header)
        self._file.write(layout.local_header(placed))
        self._file.seek(placed.stop)
        self._placed.append(placed)
        self.members.append(Member(name, len(view), crc, sha.hexdigest()))
        return self.members[-1]

    def finish(self) -> None:
        """Write the directory; the last member is the manifest, whose checksum is the zip's comment."""
        names = [member.name for member in self.members]
        assert names == layout.member_names(len(names)), names
        entries = b"".join(layout.central_entry(placed) for placed in self._placed)
        directory = self._placed[-1].stop
        end = layout.end_records(len(names), directory, len(entries), self.members[-1].sha256)
        self._file.write(entries + end)


class Reader:
    """The members of a file, whose headers have been checked."""

    def __init__(self, file: BinaryIO, path: str):
        self._file, self.path = file, path
        information = os.fstat(file.fileno())
        if not stat.S_ISREG(information.st_mode):
            raise self.damaged("it is not an ordinary file")
        self.size = information.st_size
        self._map: memoryview | None = None
        self.placed, self._manifest_sha256 = self._read_directory()

    def damaged(self, reason: str) -> DamagedModelFile:
        """Return the error to raise."""
        return DamagedModelFile(
            f"{self.path!r} is not an intact model file: {reason}. Model files are written by kernreg.save and by "
            "nothing else; write it again, or restore it from a copy"
        )

    def _read_directory(self) -> tuple[list[layout.Placed], str]:
        end = layout.read_end(self._bytes(max(0, self.size - layout.END_SIZE), layout.END_SIZE))
        if end is None:
            raise self.damaged("it does not end as one (cut short, or of another format)")
        if not 2 <= end.members <= MAX_MEMBERS or end.directory + end.size + layout.END_SIZE != self.size:
            raise self.damaged("its directory is not where it should be")
        names = layout.member_names(end.members)
        if sum(map(layout.entry_size, names)) != end.size:
            raise self.damaged("its directory does not list the members it should have")
        directory = self._bytes(end.directory, end.size)
        placed: list[layout.Placed] = []
        position = 0
        for name in names:
            size, crc = layout.read_entry(directory, position, name)
            member = layout.place(name, size, crc, placed[-1].stop if placed else 0)
            entry = layout.central_entry(member) if member.stop <= end.directory else b""
            if directory[position : position + len(entry)] != entry or not entry:
                raise self.damaged(f"the directory entry of {name} is wrong")
            header = self._bytes(member.header, member.start - member.header)
            if header != layout.local_header(member):
                raise self.damaged(f"the header of {name} is wrong")
            position += len(entry)
            placed.append(member)
        if placed[-1].stop != end.directory:
            raise self.damaged("there is something between its last member and its directory")
        return placed, end.checksum

    def _bytes(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(max(0, min(length, self.size - start)))

    def read_manifest(self) -> Any:
        """Return the manifest, checked against the zip's comment, as JSON values."""
        return self._read_json(self.placed[-1], self._manifest_sha256)

    def read_model(self, sha256: str) -> Any:
        """Return the model's JSON values."""
        return self._read_json(self.placed[-2], sha256)

    def _read_json(self, member: layout.Placed, sha256: str) -> Any:
        if member.size > MAX_JSON_BYTES:
            raise self.damaged(f"{member.name} has {member.size} bytes, and {MAX_JSON_BYTES} is the limit")
        data = self._bytes(member.start, member.size)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise self.damaged(f"{member.name} has the wrong checksum")
        try:
            return read_json(data)
        except (ValueError, RecursionError) as cause:
            raise self.damaged(f"{member.name} cannot be read: {cause}") from None

    def map_array(self, number: int, *, anew: bool) -> memoryview:
        """Return the bytes of an array member, mapped; ``anew`` gives a mapping that no other call returns.

        Mapped bytes are those of the file until they are written to; what is written stays in this process.
        """
        whole = None if anew else self._map
        if whole is None:
            whole = memoryview(mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_COPY))
            self._map = self._map if anew else whole
        return whole[self.placed[number].start : self.placed[number].stop]

    def read_array(self, number: int) -> memoryview:
        """Return the bytes of an array member, read into memory."""
        member = self.placed[number]
        data = np.empty(member.size, dtype=np.uint8).data
        self._file.seek(member.start)
        if self._file.readinto(data) != member.size:  # type: ignore[attr-defined]  # every binary file has it
            raise self.damaged(f"{member.name} is cut short")
        return data

    def verify(self, number: int, data: Any, sha256: str) -> None:
        """Raise DamagedModelFile unless the bytes of a member have the checksum."""
        sha = hashlib.sha256()
        for start in range(0, len(data), _CHUNK):
            sha.update(data[start : start + _CHUNK])
        if sha.hexdigest() != sha256:
            raise self.damaged(f"{self.placed[number].name} has the wrong checksum")


def write_json(value: Any) -> bytes:
    """Return JSON that `read_json` accepts, or raise UnsavableModel where it is beyond the limits."""
    data = json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    problem = _too_much(data)
    if problem:
        raise UnsavableModel(
            f"the model holds too many values outside of arrays: as JSON it {problem}. Numbers in numpy arrays instead "
            "of lists do not count"
        )
    return data


def read_json(data: bytes) -> Any:
    """Return the values of JSON text, strictly: no duplicate keys, no NaN, no more than the limits allow."""
    problem = _too_much(data)
    if problem:
        raise ValueError(f"it {problem}")
    return json.loads(data.decode("ascii"), object_pairs_hook=_distinct, parse_constant=_refuse)


def _too_much(data: bytes) -> str:
    if len(data) > MAX_JSON_BYTES:
        return f"has {len(data)} bytes, and {MAX_JSON_BYTES} is the limit"
    values = data.count(b",") + data.count(b"{") + data.count(b"[")  # commas in strings count too: a bound from above
    return f"has {values} values, and {MAX_JSON_VALUES} is the limit" if values > MAX_JSON_VALUES else ""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name appears twice in an object")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
