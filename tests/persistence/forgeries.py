"""What somebody forges who computes all checksums anew: tables of changes that no checksum gives away."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from persistence.forge import Forger

from kernreg.persistence.container import Member

Change = Callable[[Forger], Any]


def forgeries() -> dict[str, Change]:
    """Return all changes, by name."""
    kinds = (code(), arrays(), sparse_matrices(), generators(), texts(), values(), manifests())
    found = {name: change for kind in kinds for name, change in kind.items()}
    assert len(found) == sum(map(len, kinds))
    return found


def attribute(value: Any) -> Change:
    """Return the change that gives the model one more attribute; a function is told the forger."""
    return lambda f: f.state.update(extra=value(f) if callable(value) else value)


# Code -------------------------------------------------------------------------------------------------------

NAMES = {
    "scikit-learn": (
        *("os:system", "posix:system", "builtins:eval", "subprocess:Popen", "pickle:loads", ":", ""),
        *("sklearn.utils:os", "sklearn.svm:os", "sklearn:os", "sklearn.pipeline.os:system", "sklearn.pipeline:_name"),
        *("sklearn.base:clone", "sklearn.preprocessing:np", "sklearn.preprocessing:StandardScaler.fit"),
        *("sklearn.externals:joblib", "sklearn.conftest:Pytest", "sklearn.datasets:fetch_openml"),
    ),
    "kernreg": ("os:system", "kernreg.cli:main", "../x", "__class__", "registry"),
    "engine": ("local", "os:system"),
    "command": ("fit", "os:system"),
    "solver": ("os.system", "rbf", "local", "../../x", "no such solver"),
    "kernel": ("ls-svm", "eval", "os:system"),
    "record": ("os:system", "dataclasses:field", "kernreg.config:Config", "a:b.c", ""),
    **dict.fromkeys(("", "module", "python", "pickle", "ensembler"), ("os:system",)),
}
DISTRIBUTIONS = dict.fromkeys(("solver", "kernel", "ensembler", "engine", "command", "kernreg"), "kernreg")


def code() -> dict[str, Change]:
    """Names of what must not be imported or called, wherever a file may name something."""

    def instance(kind: str, name: str, distribution: str, state: dict[str, Any]) -> Change:
        return attribute(lambda f: {"object": {"class": f.require(kind, name, distribution), "state": state}})

    def method(name: Any, owner: Any) -> Change:
        return attribute({"method": {"of": owner, "name": name}})

    model = {"object": {"class": 0, "state": {}}}
    return {
        **{
            f"code: {kind} {name}": instance(
                kind, name, DISTRIBUTIONS.get(kind, "scikit-learn"), {"command": "touch canary"}
            )
            for kind, names in NAMES.items()
            for name in names
        },
        **{
            f"code only named: {kind} {name}": lambda f, kind=kind, name=name: f.require(kind, name, "kernreg")
            for kind, names in NAMES.items()
            for name in names
        },
        **{
            f"record of a plugin: {name}": instance(
                "record", f"kernreg_histogram.divergences:{name}", "kernreg-histogram", {}
            )
            for name in ("os", "np", "histogram_kl", "kernel", "__builtins__")
        },
        **{
            f"tag {tag}": attribute({tag: ["os.system", "touch canary"]})
            for tag in ("function", "module", "import", "eval", "reduce", "pickle", "py/object", "__reduce__")
        },
        **{
            f"function {name}": attribute({"ufunc": name})
            for name in ("system", "os", "load", "frompyfunc", "__builtins__", "f2py", 3, None, ["a"])
        },
        **{f"type {name}": attribute({"type": name}) for name in ("type", "eval", "__import__", "memoryview")},
        **{
            f"attribute {name}": lambda f, name=name: f.state.update({name: 1})
            for name in ("__class__", "__dict__", "__getattr__", "predict", "fit", "get_params", "", "a b", "a.b")
        },
        **{
            f"method {name}": method(name, model)
            for name in ("fit", "__reduce__", "__class__", "set_params", "__init__", "score", None, 3)
        },
        "method of a list": method("transform", {"list": []}),
        "kernreg of another": lambda f: f.require("kernreg", "chain", "os"),
        "scikit-learn of another": lambda f: f.require("scikit-learn", "sklearn.preprocessing:StandardScaler", "os"),
        "family as class": attribute(lambda f: {"object": {"class": f.number("kernel"), "state": {}}}),
        "class as family": attribute({"kernel": {"family": 0, "parameters": {}}}),
        "class as family, alone": attribute({"family": 0}),
    }


# Arrays -----------------------------------------------------------------------------------------------------

SAMPLES: dict[str, dict[str, Any]] = {
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
}
COEFFICIENTS: dict[str, dict[str, Any]] = {
    "other views": {"shape": [45, 3, 2]},
    "other columns": {"shape": [2, 3, 45]},
    "integers": {"dtype": "<i8"},
    "times": {"dtype": "<m8[s]"},
}


def arrays() -> dict[str, Change]:
    """Arrays that are elsewhere, or are not what they are described as."""

    def another(items: np.ndarray, dtype: str) -> Change:
        return lambda f: (f.add_array(items), f.model["arrays"][-1].update(dtype=dtype))

    return {
        **{
            f"{kind}: {name}": lambda f, place=place, change=change: f.array_of(place).update(change)
            for kind, place, table in (("samples", "X_fit_", SAMPLES), ("coefficients", "_coefficients", COEFFICIENTS))
            for name, change in table.items()
        },
        "array of nothing": lambda f: f.state.update(classes_={"array": 10**6}),
        "array by name": lambda f: f.state.update(classes_={"array": "arrays/000000.bin"}),
        "no such array": lambda f: f.state.update(classes_={"array": -1}),
        "a class fewer": lambda f: f.state.update(classes_={"array": f.add_array(np.arange(2))}),
        "nobody's member": lambda f: (f.add_array(np.arange(3.0)), f.model["arrays"].pop()),
        "flags of 2": another(np.array([2, 0], dtype=np.uint8), "|b1"),
        "text beyond Unicode": another(np.array([0x110000], dtype=np.uint32), "<U1"),
        "two dtypes of one member": lambda f: f.model["arrays"].append({"member": 0, "dtype": "|i1", "shape": [3, 8]}),
        "arrays as mapping": lambda f: f.model.update(arrays={}),
        "objects, a million million": attribute({"objects": {"shape": [10**6, 10**6], "items": []}}),
    }


def int32(*items: int) -> np.ndarray:
    return np.array(items, dtype=np.int32)


SPARSE: dict[str, dict[str, Any]] = {
    "column beyond the end": {"indices": int32(0, 1, 2**30)},
    "column before the first": {"indices": int32(0, -1, 2)},
    "rows that go back": {"indptr": int32(0, 3, 1, 3)},
    "rows beyond the end": {"indptr": int32(0, 1, 2, 2**30)},
    "rows before the first": {"indptr": int32(-5, 1, 2, 3)},
    "too few rows": {"indptr": int32(0, 3)},
    "huge": {"shape": [2**40, 3]},
    "fewer columns": {"shape": [3, 2]},
    "more data": {"data": np.ones(4)},
    "indices as floats": {"indices": np.arange(3.0)},
    "diagonals": {"format": "dia"},
    "blocks": {"format": "bsr"},
    "lists": {"format": "lil"},
    "another format": {"format": "os"},
    "text": {"data": np.array(["a", "b", "c"])},
}


def sparse_matrices() -> dict[str, Change]:
    """Sparse matrices whose arrays do not fit together: the identity, but for one part."""

    def forge(change: dict[str, Any]) -> Change:
        kept = {"format": "csr", "shape": [3, 3], "data": np.ones(3), "indices": int32(0, 1, 2)}
        kept |= {"indptr": int32(0, 1, 2, 3), **change}
        return attribute(
            lambda f: {
                "sparse": {
                    "format": kept["format"],
                    "is_array": True,
                    "shape": {"tuple": kept["shape"]},
                    "parts": {"list": [{"array": f.add_array(kept[part])} for part in ("data", "indices", "indptr")]},
                }
            }
        )

    return {f"sparse: {name}": forge(change) for name, change in SPARSE.items()}


GENERATORS: dict[str, dict[str, Any]] = {
    "unknown": {"state": {"bit_generator": "system"}},
    "far beyond its buffer": {"state": {"bit_generator": "MT19937", "state": {"key": 0, "pos": 10**6}}},
    "before its buffer": {"state": {"bit_generator": "Philox", "state": {}, "buffer_pos": -5}},
    "without a state": {"state": {"bit_generator": "PCG64"}},
    "of another kind": {"state": {"bit_generator": "PCG64", "state": {"state": 1, "inc": 1}}, "kind": "Popen"},
}


def generators() -> dict[str, Change]:
    """Generators of random numbers that stand where none can."""

    def forge(state: dict[str, Any], kind: str = "Generator") -> Change:
        inner = {"dict": {key: ({"dict": v} if isinstance(v, dict) else v) for key, v in state.items()}}
        kept = {"kind": kind, "state": inner, "seed": None}
        return lambda f: f.state.update(random_state={"generator": kept})

    return {f"generator: {name}": forge(**change) for name, change in GENERATORS.items()}


# Values -----------------------------------------------------------------------------------------------------

VALUES: dict[str, Any] = {
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
    "a kernel without its parameters": lambda f: {"kernel": {"family": f.number("kernel"), "parameters": {"alpha": 1}}},
    "out of its domain": lambda f: {"kernel": {"family": f.number("kernel"), "parameters": {"sigma": -1.0}}},
    "a kernel of text": lambda f: {"kernel": {"family": f.number("kernel"), "parameters": {"sigma": "2.0"}}},
    "a binding of nothing": {"bound": {"kernel": None, "learnt": {}}},
    "a binding without samples": lambda f: {
        "bound": {
            "kernel": {"kernel": {"family": f.number("kernel"), "parameters": {"sigma": 1.0}}},
            "learnt": {},
        }
    },
}


def values() -> dict[str, Change]:
    """Values that no model has."""

    def nested(depth: int) -> Any:
        value: Any = None
        for _ in range(depth):
            value = {"list": [value]}
        return value

    def laughs(tag: str) -> Any:
        first = {tag: [1, 2], "id": 1000}
        more = [{tag: [{"ref": 999 + level}] * 10, "id": 1000 + level} for level in range(1, 60)]
        return {"list": [first, *more]}

    return {
        "a billion laughs": attribute(laughs("list")),
        "a billion laughs in tuples": attribute(laughs("tuple")),
        "nested 150 deep": attribute(nested(150)),
        **{f"value: {name}": attribute(value) for name, value in VALUES.items()},
    }


def texts() -> dict[str, Change]:
    """Other bytes where the JSON of the model should be."""

    def infinite(f: Forger) -> bytes:
        f.state["tol"] = {"list": [1e308]}
        return json.dumps(f.model).replace("1e+308", "1e999").encode()

    table: dict[str, Any] = {
        "nested 10000 deep": b"[" * 10_000 + b"]" * 10_000,
        "nested a million deep": b'{"root":' * 1_000_000,
        "as many values as there may be": b"[" + b"{}," * 1_990_000 + b"{}]",
        "five million values": b"[" + b"[]," * 5_000_000 + b"[]]",
        "seventy million bytes": b'"' + b"a" * 70_000_000 + b'"',
        "a number of a million digits": b"1" * 1_000_000,
        "a name twice": b'{"arrays":[],"root":1,"root":2}',
        "not JSON": b"model",
        "not text": b"\xff\xfe\x00",
        "JSON in UTF-16": lambda f: json.dumps(f.model).encode("utf-16"),
        "empty": b"",
        "NaN": b'{"arrays":[],"root":NaN}',
        "infinity by size": infinite,
    }
    return {
        name: lambda f, data=data: setattr(f, "model", data(f) if callable(data) else data)
        for name, data in table.items()
    }


# The manifest -----------------------------------------------------------------------------------------------

MANIFESTS: dict[str, dict[str, Any]] = {
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
}


def manifests() -> dict[str, Change]:
    """Manifests that say too little, too much or something else."""
    return {
        **{
            f"manifest: {name}": lambda f, change=change: f.manifest.update(change)
            for name, change in MANIFESTS.items()
        },
        **{
            f"manifest without {part}": lambda f, part=part: f.manifest.pop(part)
            for part in ("format", "schema", "written_with", "model", "requirements")
        },
        "manifest: a list": lambda f: setattr(f, "manifest", [1]),
        "manifest: not JSON": lambda f: setattr(f, "manifest", b"{"),
        "manifest: nothing": lambda f: setattr(f, "manifest", b"null"),
        "model without arrays": lambda f: f.model.pop("arrays"),
        "model: a list": lambda f: setattr(f, "model", []),
    }
