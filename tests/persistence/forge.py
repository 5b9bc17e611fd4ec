"""Damage to model files, by accident and by other programs, and the tool of who computes all checksums anew."""

from __future__ import annotations

import copy
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.persistence.container import Writer

#: How much the bomb among the zips is, once decompressed.
BOMB = 600 << 20


class Forger:
    """Takes a model file apart and puts it together again, changed, with checksums that fit."""

    def __init__(self, path: Path):
        with zipfile.ZipFile(path) as file:
            self.names = file.namelist()
            self.data = [file.read(name) for name in self.names]
        self.manifest, self.model = json.loads(self.data[-1]), json.loads(self.data[-2])

    def write(self, path: Path, change: Callable[[Forger], Any]) -> None:
        """Write a file in which ``change`` has had its way with a copy of this."""
        forged = copy.deepcopy(self)
        change(forged)
        with open(path, "w+b") as file:
            writer = Writer(file)
            for name, data in zip(forged.names[:-2], forged.data[:-2], strict=True):
                writer.add(name, data)
            model = forged.model if isinstance(forged.model, bytes) else json.dumps(forged.model).encode()
            writer.add("model.json", model)
            if isinstance(forged.manifest, dict):
                forged.manifest["members"] = forged.manifest.get("members_forged") or [
                    member._asdict() for member in writer.members
                ]
                forged.manifest.pop("members_forged", None)
            manifest = forged.manifest
            writer.add("manifest.json", manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode())
            writer.finish()

    @property
    def state(self) -> dict[str, Any]:
        """The attributes of the model."""
        return self.model["root"]["object"]["state"]

    def require(self, kind: str, name: str, distribution: str | None = "scikit-learn", version: str = "1.0") -> int:
        """Add a requirement, and return its number."""
        asked = {"kind": kind, "name": name, "distribution": distribution, "version": version}
        self.manifest["requirements"].append(asked)
        return len(self.manifest["requirements"]) - 1

    def number(self, kind: str) -> int:
        """The number of the first requirement of a kind."""
        return next(n for n, asked in enumerate(self.manifest["requirements"]) if asked["kind"] == kind)

    def array_of(self, attribute: str) -> dict[str, Any]:
        """The description of the array that an attribute is."""
        return self.model["arrays"][self.state[attribute]["array"]]

    def add_array(self, array: np.ndarray) -> int:
        """Add an array with a member of its own, and return its number."""
        number = len(self.names) - 2
        self.names.insert(number, f"arrays/{number:06}.bin")
        self.data.insert(number, array.tobytes())
        self.model["arrays"].append({"member": number, "dtype": array.dtype.str, "shape": list(array.shape)})
        return len(self.model["arrays"]) - 1


def accidents(data: bytes, rng: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Yield what disks, networks and editors do to a file."""
    n = len(data)
    for position in (*rng.integers(0, n, 80), 0, 7, 30, n - 1, n - 40, n - 80, n - 110, n - 170, n - 200):
        for bit in rng.integers(0, 8, 1):
            changed = bytearray(data)
            changed[position] ^= 1 << int(bit)
            yield f"bit {bit} of byte {position}", bytes(changed)
    for length in (0, 1, 21, 22, 100, n - 1, n - 64, n // 2, *rng.integers(0, n, 22)):
        yield f"cut to {length}", data[:length]
    for length in (1, 4, 64, 4096):
        yield f"{length} bytes more", data + rng.bytes(length)
        yield f"{length} zeros more", data + bytes(length)
        yield f"{length} bytes before", rng.bytes(length) + data
    for start in rng.integers(0, n - 512, 10):
        yield f"zeros from {start}", data[:start] + bytes(512) + data[start + 512 :]
        yield f"noise from {start}", data[:start] + rng.bytes(512) + data[start + 512 :]
    for start in rng.integers(0, n - 1024, 5):
        yield (
            f"sectors at {start} exchanged",
            b"".join([data[:start], data[start + 512 : start + 1024], data[start : start + 512], data[start + 1024 :]]),
        )
    yield "lines ended as in text", data.replace(b"\n", b"\r\n") if b"\n" in data else data + b"\r\n"
    yield "twice", data + data
    yield "something else", b"\x80\x04\x95" + rng.bytes(500)  # the beginning of a pickle


def foreign_zips(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield zips that other programs make, some of them to do harm."""
    with zipfile.ZipFile(path) as file:
        members = [(name, file.read(name)) for name in file.namelist()]

    def made(name: str, write: Callable[[zipfile.ZipFile], Any], **options: Any) -> tuple[str, Path]:
        target = folder / f"{name}.kern"
        with zipfile.ZipFile(target, "w", **options) as file:
            write(file)
        return name, target

    def all_of(file: zipfile.ZipFile) -> None:
        for name, data in members:
            file.writestr(name, data)

    def bomb(file: zipfile.ZipFile) -> None:
        with file.open("arrays/000000.bin", "w", force_zip64=True) as member:
            for _ in range(BOMB >> 20):
                member.write(bytes(1 << 20))
        with_warnings_off(lambda: all_of(file))

    def traversal(file: zipfile.ZipFile) -> None:
        for name in ("../../canary", "/tmp/canary", "arrays/../../canary", "C:\\canary", "arrays/\x00canary"):
            file.writestr(name, b"canary")
        all_of(file)

    def twice(file: zipfile.ZipFile) -> None:
        all_of(file)
        with_warnings_off(lambda: all_of(file))

    yield made("zipped again", all_of)
    yield made("compressed", all_of, compression=zipfile.ZIP_DEFLATED)
    yield made("compressed further", all_of, compression=zipfile.ZIP_LZMA)
    yield made("bomb", bomb, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    yield made("traversal", traversal)
    yield made("every member twice", twice)
    yield made("empty", lambda file: None)
    yield made("only the manifest", lambda file: file.writestr(*members[-1]))


def with_warnings_off(function: Callable[[], Any]) -> None:
    """Call a function that warns."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function()


def headers(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield files whose zip headers lie: sizes, offsets, counts, names, flags."""
    end64 = data.rindex(b"PK\x06\x06")
    directory = struct.unpack_from("<Q", data, end64 + 48)[0]

    def put(offset: int, form: str, value: Any) -> bytes:
        changed = bytearray(data)
        struct.pack_into(form, changed, offset, value)
        return bytes(changed)

    for value in (0, 1, 3, 2**16, 2**31, 2**63, 2**64 - 1):
        yield f"{value} members", put(end64 + 24, "<Q", value)
        yield f"{value} members in all", put(end64 + 32, "<Q", value)
        yield f"directory of {value}", put(end64 + 40, "<Q", value)
        yield f"directory at {value}", put(end64 + 48, "<Q", value)
    name_length = struct.unpack_from("<H", data, directory + 28)[0]
    sizes = directory + 46 + name_length + 4
    for value in (0, 2**20, 2**40, 2**63, 2**64 - 1):
        yield f"member of {value}", put(sizes, "<Q", value)
        yield f"member of {value}, stored", put(sizes + 8, "<Q", value)
        yield f"member at {value}", put(sizes + 16, "<Q", value)
        yield f"local size {value}", put(30 + name_length + 4, "<Q", value)
    yield "compressed, it says", put(8, "<H", 8)
    yield "encrypted, it says", put(6, "<H", 1)
    yield "another name", data.replace(b"arrays/000000.bin", b"../../etc/passwd1")
    yield "another name in the directory", data[:directory] + data[directory:].replace(b"000000", b"000001")
    yield "not padding", put(struct.unpack_from("<H", data, 28)[0] + 30 + name_length - 3, "<B", 1)
    yield "a long name", put(26, "<H", 65535)
    yield "no comment", put(len(data) - 64 - 36 - 2, "<H", 0)
