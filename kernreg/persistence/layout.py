"""The zip form of a model file, byte by byte.

There is exactly one sequence of bytes for given members: names, order, headers and padding follow from their number,
sizes and CRC-32 sums. So a reader need not interpret the headers of a file: it makes those there should be, and
compares. Whatever else a zip may hold (compression, encryption, other names, overlapping or hidden data) is refused.

    member …          local header, padding up to a multiple of `ALIGNMENT`, the bytes of the member, stored
    central directory one entry for each member
    end records       of the ZIP64 kind, then the old kind with the checksum of the manifest as comment

All sizes are in ZIP64 fields, for small files too: one form, and none that only huge files would take.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

#: Of the bytes of each member: what a memory-mapped array needs, and what vector units like.
ALIGNMENT = 64

_LOCAL, _CENTRAL = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L")
_END64, _LOCATOR, _END = struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL"), struct.Struct("<4s4H2LH")
_LOCAL_SIZES, _CENTRAL_SIZES, _PADDING = struct.Struct("<2H2Q"), struct.Struct("<2H3Q"), struct.Struct("<3H")

_VERSION, _UNIX = 45, 3 << 8 | 45  # 4.5 is the first with ZIP64
_DATE = 1 << 5 | 1  # 1 January 1980, for all: the same model gives the same bytes
_IN_ZIP64 = 0xFFFFFFFF
_MODE = 0o100644 << 16

COMMENT = "kernreg model file, manifest sha256 "
END_SIZE = _END64.size + _LOCATOR.size + _END.size + len(COMMENT) + 64


class Placed(NamedTuple):
    """A member, and where its local header and its bytes begin."""

    name: str
    size: int
    crc: int
    header: int
    start: int

    @property
    def stop(self) -> int:
        """Where the next member begins."""
        return self.start + self.size


def member_names(count: int) -> list[str]:
    """Return the names that members have, in their order: the arrays, the model, the manifest.

    >>> member_names(3)
    ['arrays/000000.bin', 'model.json', 'manifest.json']
    """
    return [*(f"arrays/{number:06}.bin" for number in range(count - 2)), "model.json", "manifest.json"]


def place(name: str, size: int, crc: int, header: int) -> Placed:
    """Return the member that begins at a position."""
    bare = header + _LOCAL.size + len(name) + _LOCAL_SIZES.size + _PADDING.size
    return Placed(name, size, crc, header, bare + -bare % ALIGNMENT)


def local_header(member: Placed) -> bytes:
    """Return the bytes from the member's header up to its own."""
    fill = member.start - member.header - _LOCAL.size - len(member.name) - _LOCAL_SIZES.size - _PADDING.size
    extra = _LOCAL_SIZES.size + _PADDING.size + fill
    numbers = (_VERSION, 0, 0, 0, _DATE, member.crc, _IN_ZIP64, _IN_ZIP64, len(member.name), extra)
    return b"".join(
        [
            _LOCAL.pack(b"PK\x03\x04", *numbers),
            member.name.encode("ascii"),
            _LOCAL_SIZES.pack(1, 16, member.size, member.size),
            _PADDING.pack(0xD935, 2 + fill, ALIGNMENT),  # the field that Android's zipalign made known
            bytes(fill),
        ]
    )


def central_entry(member: Placed) -> bytes:
    """Return the member's entry in the central directory."""
    sizes = (_IN_ZIP64, _IN_ZIP64, len(member.name), _CENTRAL_SIZES.size)
    numbers = (_UNIX, _VERSION, 0, 0, 0, _DATE, member.crc, *sizes, 0, 0, 0, _MODE, _IN_ZIP64)
    return b"".join(
        [
            _CENTRAL.pack(b"PK\x01\x02", *numbers),
            member.name.encode("ascii"),
            _CENTRAL_SIZES.pack(1, 24, member.size, member.size, member.header),
        ]
    )


def end_records(count: int, directory: int, size: int, checksum: str) -> bytes:
    """Return what follows the central directory, which begins at ``directory`` and has ``size`` bytes."""
    comment = f"{COMMENT}{checksum}".encode("ascii")
    return b"".join(
        [
            _END64.pack(b"PK\x06\x06", _END64.size - 12, _UNIX, _VERSION, 0, 0, count, count, size, directory),
            _LOCATOR.pack(b"PK\x06\x07", 0, directory + size, 1),
            _END.pack(b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, _IN_ZIP64, _IN_ZIP64, len(comment)),
            comment,
        ]
    )


class End(NamedTuple):
    """What the end records say."""

    members: int
    directory: int
    size: int
    checksum: str


def read_end(data: bytes) -> End | None:
    """Return what the last `END_SIZE` bytes of a file say, None if they are not the end of a model file."""
    if len(data) != END_SIZE or data[:4] != b"PK\x06\x06":
        return None
    _, _, _, _, _, _, _, count, size, directory = _END64.unpack_from(data)
    found = End(count, directory, size, data[-64:].decode("ascii", "replace"))
    if not found.checksum.isascii() or directory + size >= 1 << 63:
        return None
    return found if end_records(*found) == data else None


def entry_size(name: str) -> int:
    """Return the length of a member's entry in the central directory."""
    return _CENTRAL.size + len(name) + _CENTRAL_SIZES.size


def read_entry(data: bytes, position: int, name: str) -> tuple[int, int]:
    """Return size and CRC-32 that the entry at a position gives, as that of a member of this name."""
    crc = _CENTRAL.unpack_from(data, position)[7]
    size = _CENTRAL_SIZES.unpack_from(data, position + _CENTRAL.size + len(name))[2]
    return size, crc
