"""Damage to model files: by accident, by other programs, and by somebody who computes all checksums anew."""

from __future__ import annotations

import copy
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kernreg.persistence.container import Member, Writer

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


Change = Callable[[Forger], Any]


def forgeries() -> dict[str, Change]:
    """Return changes that no checksum gives away."""
    found: dict[str, Change] = {}

    def forged(name: str) -> Callable[[Change], Change]:
        def keep(change: Change) -> Change:
            assert name not in found
            found[name] = change
            return change

        return keep

    # Code ---------------------------------------------------------------------------------------------------
    for kind, name in (
        *(("scikit-learn", name) for name in ("os:system", "posix:system", "builtins:eval", "subprocess:Popen")),
        *(("scikit-learn", name) for name in ("sklearn.utils:os", "sklearn.svm:os", "sklearn.base:clone")),
        *(("scikit-learn", name) for name in ("sklearn.preprocessing:np", "sklearn.externals:joblib", "sklearn:os")),
        *(
            ("scikit-learn", name)
            for name in ("sklearn.conftest:Pytest", "sklearn.datasets:fetch_openml", "pickle:loads")
        ),
        *(("scikit-learn", name) for name in ("sklearn.preprocessing:StandardScaler.fit", "sklearn.pipeline:_name")),
        *(("scikit-learn", name) for name in ("sklearn.pipeline.os:system", "pickle:loads", ":", "")),
        *(("kernreg", name) for name in ("os:system", "kernreg.cli:main", "../x", "__class__", "registry")),
        *(("engine", name) for name in ("local", "os:system")),
        *(("command", name) for name in ("fit", "os:system")),
        *(("solver", name) for name in ("os.system", "rbf", "local", "../../x", "no such solver")),
        *(("kernel", name) for name in ("ls-svm", "eval", "os:system")),
        *(("record", name) for name in ("os:system", "dataclasses:field", "kernreg.config:Config", "a:b.c", "")),
        *((kind, "os:system") for kind in ("", "module", "python", "pickle", "ensembler")),
    ):

        def name_class(f: Forger, kind: str = kind, name: str = name) -> None:
            distribution = (
                "kernreg"
                if kind in ("solver", "kernel", "ensembler", "engine", "command", "kernreg")
                else "scikit-learn"
            )
            number = f.require(kind, name, distribution)
            f.state["extra"] = {"object": {"class": number, "state": {"command": "touch canary"}}}

        found[f"code: {kind} {name}"] = name_class
        found[f"code only named: {kind} {name}"] = lambda f, kind=kind, name=name: f.require(kind, name, "kernreg")
    for name in ("os", "np", "histogram_kl", "kernel", "__builtins__"):

        def record(f: Forger, name: str = name) -> None:
            number = f.require("record", f"kernreg_histogram.divergences:{name}", "kernreg-histogram")
            f.state["extra"] = {"object": {"class": number, "state": {}}}

        found[f"record of a plugin: {name}"] = record
    for tag in ("function", "module", "import", "eval", "reduce", "pickle", "py/object", "__reduce__"):
        found[f"tag {tag}"] = lambda f, tag=tag: f.state.update(extra={tag: ["os.system", "touch canary"]})
    for name in ("system", "os", "load", "frompyfunc", "__builtins__", "f2py", 3, None, ["a"]):
        found[f"function {name}"] = lambda f, name=name: f.state.update(extra={"ufunc": name})
    for name in ("type", "eval", "__import__", "memoryview"):
        found[f"type {name}"] = lambda f, name=name: f.state.update(extra={"type": name})
    for name in ("__class__", "__dict__", "__getattr__", "predict", "fit", "get_params", "", "a b", "a.b"):
        found[f"attribute {name}"] = lambda f, name=name: f.state.update({name: 1})
    for name in ("fit", "__reduce__", "__class__", "set_params", "__init__", "score", None, 3):

        def method(f: Forger, name: Any = name) -> None:
            owner = {"object": {"class": 0, "state": {}}}
            f.state["extra"] = {"method": {"of": owner, "name": name}}

        found[f"method {name}"] = method
    found["method of a list"] = lambda f: f.state.update(extra={"method": {"of": {"list": []}, "name": "transform"}})
    for kind in ("kernreg", "scikit-learn"):
        name = "chain" if kind == "kernreg" else "sklearn.preprocessing:StandardScaler"
        found[f"{kind} of another"] = lambda f, kind=kind, name=name: f.require(kind, name, "os")
    found["family as class"] = lambda f: f.state.update(extra={"object": {"class": f.number("kernel"), "state": {}}})
    found["class as family"] = lambda f: f.state.update(extra={"kernel": {"family": 0, "parameters": {}}})
    found["class as family, alone"] = lambda f: f.state.update(extra={"family": 0})

    # Arrays -------------------------------------------------------------------------------------------------
    for name, change in {
        "transposed": {"shape": [2, 45]},
        "longer": {"shape": [46, 4]},
        "shorter": {"shape": [44, 4]},
        "flat": {"shape": [180]},
        "huge": {"shape": [2**40, 4]},
        "overflowing": {"shape": [2**32, 2**32]},
        "beyond 64 bits": {"shape": [2**70, 0]},
        "many dimensions": {"shape": [1] * 33 + [180]},
        "negative": {"shape": [-45, -4]},
        "fractional": {"shape": [45.0, 4.0]},
        "text as shape": {"shape": "45"},
        "flags as shape": {"shape": [True, 180]},
        "half": {"dtype": "<f4"},
        "integers": {"dtype": "<i8"},
        "objects": {"dtype": "|O"},
        "pointers": {"dtype": "|O8"},
        "records": {"dtype": "<f8,<f8"},
        "void": {"dtype": "|V8"},
        "big-endian": {"dtype": ">f8"},
        "long double": {"dtype": "<f16"},
        "no dtype": {"dtype": None},
        "text as dtype": {"dtype": "float64; import os"},
        "dates": {"dtype": "<M8[ns]"},
        "another member": {"member": 99},
        "member before the first": {"member": -1},
        "text as member": {"member": "../../canary"},
        "strides beyond the end": {"offset": 0, "strides": [5, 1]},
        "strides of another world": {"offset": 0, "strides": [2**61, 1]},
        "one item for all": {"shape": [2**30, 4], "offset": 0, "strides": [0, 0]},
        "before the beginning": {"offset": -1, "strides": [4, 1]},
        "backwards": {"offset": 0, "strides": [-4, 1]},
        "after the end": {"offset": 1, "strides": [4, 1]},
        "strides of another shape": {"offset": 0, "strides": [1]},
        "strides without offset": {"strides": [4, 1]},
        "something more": {"code": "os.system('touch canary')"},
        "apart, perhaps": {"apart": "yes"},
    }.items():
        found[f"samples: {name}"] = lambda f, change=change: f.array_of("X_fit_").update(change)
    for name, change in {
        "other views": {"shape": [45, 3, 2]},
        "other columns": {"shape": [2, 3, 45]},
        "integers": {"dtype": "<i8"},
        "times": {"dtype": "<m8[s]"},
    }.items():
        found[f"coefficients: {name}"] = lambda f, change=change: f.array_of("_coefficients").update(change)
    found["array of nothing"] = lambda f: f.state.update(classes_={"array": 10**6})
    found["array by name"] = lambda f: f.state.update(classes_={"array": "arrays/000000.bin"})
    found["no such array"] = lambda f: f.state.update(classes_={"array": -1})
    found["a class fewer"] = lambda f: f.state.update(classes_={"array": f.add_array(np.arange(2))})
    found["nobody's member"] = lambda f: (f.add_array(np.arange(3.0)), f.model["arrays"].pop())
    found["flags of 2"] = lambda f: (
        f.add_array(np.array([2, 0], dtype=np.uint8)),
        f.model["arrays"][-1].update(dtype="|b1"),
    )
    found["text beyond Unicode"] = lambda f: (
        f.add_array(np.array([0x110000], dtype=np.uint32)),
        f.model["arrays"][-1].update(dtype="<U1"),
    )
    found["two dtypes of one member"] = lambda f: f.model["arrays"].append(
        {"member": 0, "dtype": "|i1", "shape": [3, 8]}
    )
    found["arrays as mapping"] = lambda f: f.model.update(arrays={})
    found["objects, a million million"] = lambda f: f.state.update(
        extra={"objects": {"shape": [10**6, 10**6], "items": []}}
    )

    def sparse(name: str, **change: Any) -> None:
        def forge(f: Forger) -> None:
            parts = {
                "data": np.ones(3),
                "indices": np.array([0, 1, 2], dtype=np.int32),
                "indptr": np.array([0, 1, 2, 3], dtype=np.int32),
                **{part: value for part, value in change.items() if isinstance(value, np.ndarray)},
            }
            record = {
                "format": change.get("format", "csr"),
                "is_array": True,
                "shape": {"tuple": change.get("shape", [3, 3])},
                "parts": {"list": [{"array": f.add_array(part)} for part in parts.values()]},
            }
            f.state["extra"] = {"sparse": record}

        found[f"sparse: {name}"] = forge

    def int32(*values: int) -> np.ndarray:
        return np.array(values, dtype=np.int32)

    sparse("column beyond the end", indices=int32(0, 1, 2**30))
    sparse("column before the first", indices=int32(0, -1, 2))
    sparse("rows that go back", indptr=int32(0, 3, 1, 3))
    sparse("rows beyond the end", indptr=int32(0, 1, 2, 2**30))
    sparse("rows before the first", indptr=int32(-5, 1, 2, 3))
    sparse("too few rows", indptr=int32(0, 3))
    sparse("huge", shape=[2**40, 3])
    sparse("fewer columns", shape=[3, 2])
    sparse("more data", data=np.ones(4))
    sparse("indices as floats", indices=np.arange(3.0))
    sparse("diagonals", format="dia")
    sparse("blocks", format="bsr")
    sparse("lists", format="lil")
    sparse("another format", format="os")
    sparse("text", data=np.array(["a", "b", "c"]))

    def generator(name: str, state: dict[str, Any], **more: Any) -> None:
        def forge(f: Forger) -> None:
            inner = {"dict": {key: ({"dict": v} if isinstance(v, dict) else v) for key, v in state.items()}}
            f.state["random_state"] = {"generator": {"kind": "Generator", "state": inner, "seed": None, **more}}

        found[f"generator: {name}"] = forge

    generator("unknown", {"bit_generator": "system"})
    generator("far beyond its buffer", {"bit_generator": "MT19937", "state": {"key": 0, "pos": 10**6}})
    generator("before its buffer", {"bit_generator": "Philox", "state": {}, "buffer_pos": -5})
    generator("without a state", {"bit_generator": "PCG64"})
    generator("of another kind", {"bit_generator": "PCG64", "state": {"state": 1, "inc": 1}}, kind="Popen")

    # Values -------------------------------------------------------------------------------------------------
    def nested(depth: int) -> Any:
        value: Any = None
        for _ in range(depth):
            value = {"list": [value]}
        return value

    def laughs(tag: str) -> Change:
        def forge(f: Forger) -> None:
            levels: list[Any] = [{tag: [1, 2], "id": 1000}]
            for level in range(1, 60):
                levels.append({tag: [{"ref": 999 + level}] * 10, "id": 1000 + level})
            f.state["extra"] = {"list": levels}

        return forge

    found["a billion laughs"] = laughs("list")
    found["a billion laughs in tuples"] = laughs("tuple")
    found["nested 150 deep"] = lambda f: f.state.update(extra=nested(150))
    found["nested 10000 deep"] = lambda f: setattr(f, "model", b"[" * 10_000 + b"]" * 10_000)
    found["nested a million deep"] = lambda f: setattr(f, "model", b'{"root":' * 1_000_000)
    found["as many values as there may be"] = lambda f: setattr(f, "model", b"[" + b"{}," * 1_990_000 + b"{}]")
    found["five million values"] = lambda f: setattr(f, "model", b"[" + b"[]," * 5_000_000 + b"[]]")
    found["seventy million bytes"] = lambda f: setattr(f, "model", b'"' + b"a" * 70_000_000 + b'"')
    found["a number of a million digits"] = lambda f: setattr(f, "model", b"1" * 1_000_000)
    found["a name twice"] = lambda f: setattr(f, "model", b'{"arrays":[],"root":1,"root":2}')
    found["not JSON"] = lambda f: setattr(f, "model", b"model")
    found["not text"] = lambda f: setattr(f, "model", b"\xff\xfe\x00")
    found["JSON in UTF-16"] = lambda f: setattr(f, "model", json.dumps(f.model).encode("utf-16"))
    found["empty"] = lambda f: setattr(f, "model", b"")
    found["NaN"] = lambda f: setattr(f, "model", b'{"arrays":[],"root":NaN}')
    found["infinity by size"] = lambda f: (
        f.state.update(tol={"list": [1e308]})
        or setattr(f, "model", json.dumps(f.model).replace("1e+308", "1e999").encode())
    )
    for name, value in {
        "a bare list": [1, 2],
        "two tags": {"list": [], "tuple": []},
        "no tag": {},
        "no tag but an id": {"id": 3},
        "what is not there": {"ref": 10**6},
        "itself": {"list": [{"ref": 77}], "id": 77},
        "an id twice": {"list": [{"list": [], "id": 88}, {"list": [], "id": 88}]},
        "an id that is text": {"list": [], "id": "x"},
        "no items": {"list": 5},
        "text as items": {"tuple": "abc"},
        "a float by name": {"float": "1.5"},
        "no integer": {"int": "0xzz"},
        "a decimal integer": {"int": "12"},
        "no base64": {"bytes": "@@@"},
        "a scalar of text": {"scalar": ["<f8", "1.5"]},
        "a scalar too large": {"scalar": ["|i1", 300]},
        "half too large": {"scalar": ["<f2", 1e300]},
        "a scalar of objects": {"scalar": ["|O", 1]},
        "bytes of another length": {"scalar": ["<c16", {"hex": "00"}]},
        "a key that is a list": {"dict": [[{"list": []}, 1]]},
        "a key twice": {"dict": [[1, 1], [1, 2]]},
        "a key that refers": {"dict": [[{"ref": 0}, 1]]},
        "pairs of three": {"dict": [[1, 2, 3]]},
        "a set of lists": {"set": [{"list": []}]},
        "a range of text": {"range": ["a", "b", "c"]},
        "a step of zero": {"range": [0, 1, 0]},
        "a dtype of code": {"dtype": "f8; import os"},
        "samples of different length": {"samples": [{"array": 0}, {"array": 1}]},
        "no samples": {"samples": []},
        "samples of text": {"samples": ["a"]},
        "a report of nothing": lambda f: {"object": {"class": f.number("kernreg"), "state": {}}},
        "an object without a state": {"object": {"class": 0}},
        "an object of no class": {"object": {"class": 50, "state": {}}},
        "a class before the first": {"class": -1},
        "a kernel without its parameters": lambda f: {
            "kernel": {"family": f.number("kernel"), "parameters": {"alpha": 1}}
        },
        "out of its domain": lambda f: {"kernel": {"family": f.number("kernel"), "parameters": {"sigma": -1.0}}},
        "a kernel of text": lambda f: {"kernel": {"family": f.number("kernel"), "parameters": {"sigma": "2.0"}}},
        "a binding of nothing": {"bound": {"kernel": None, "learnt": {}}},
        "a binding without samples": lambda f: {
            "bound": {
                "kernel": {"kernel": {"family": f.number("kernel"), "parameters": {"sigma": 1.0}}},
                "learnt": {},
            }
        },
    }.items():
        found[f"value: {name}"] = lambda f, value=value: f.state.update(extra=value(f) if callable(value) else value)

    # The manifest -------------------------------------------------------------------------------------------
    for name, change in {
        "later form": {"schema": 2},
        "much later form": {"schema": 10**9},
        "form 0": {"schema": 0},
        "form -1": {"schema": -1},
        "form in words": {"schema": "one"},
        "form True": {"schema": True},
        "another format": {"format": "pickle"},
        "something more": {"run": "os.system('touch canary')"},
        "requirements as text": {"requirements": "os"},
        "requirements of text": {"requirements": ["os"]},
        "requirements incomplete": {"requirements": [{"kind": "solver"}]},
        "requirements of numbers": {"requirements": [{"kind": 1, "name": 2, "distribution": 3, "version": 4}]},
        "no requirements": {"requirements": []},
        "a million requirements": {"requirements": [{}] * 20_000},
        "versions as text": {"written_with": "os"},
        "model as text": {"model": "os"},
        "other members": {"members_forged": [Member("model.json", 1, 1, "0" * 64)._asdict()]},
        "members of text": {"members_forged": ["model.json"]},
    }.items():
        found[f"manifest: {name}"] = lambda f, change=change: f.manifest.update(change)
    for part in ("format", "schema", "written_with", "model", "requirements"):
        found[f"manifest without {part}"] = lambda f, part=part: f.manifest.pop(part)
    found["manifest: a list"] = lambda f: setattr(f, "manifest", [1])
    found["manifest: not JSON"] = lambda f: setattr(f, "manifest", b"{")
    found["manifest: nothing"] = lambda f: setattr(f, "manifest", b"null")
    found["model without arrays"] = lambda f: f.model.pop("arrays")
    found["model: a list"] = lambda f: setattr(f, "model", [])
    return found
