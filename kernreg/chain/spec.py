"""A chain as a plain dict: names of registered steps and their parameters, nothing else.

    {"kernreg_chain": 1, "kernel": "rbf(sigma=1.5)",
     "steps": [{"name": "kpca", "solver": "kpca", "params": {"n_components": 20}},
               {"name": "lssvm", "solver": "ls-svm"}]}

Only parameters that differ from their defaults are written. What neither JSON nor TOML has is written as a dict with
one key that begins with ``$``. Reading finds classes as model files do: registered plugins, and estimators of
scikit-learn, these also by their class name alone: ``{"name": "scale", "sklearn": "StandardScaler"}``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from kernreg.errors import ModelFileError, SpecError
from kernreg.factory import make_kernel
from kernreg.kernels import Kernel
from kernreg.registry import get_registry
from kernreg.registry.naming import Requirement, find, requirement_of, sklearn_module
from kernreg.registry.spec import WIDEST_INTEGER

SCHEMA = 1
_KEY = "kernreg_chain"
_DEFAULTS: dict[str, Any] = {"kernel": None, "learn_from": "auto", "cv": 5}

# What is written as a dict with one key: the type behind it, and an example.
_WRITTEN: dict[str, tuple[type, str]] = {
    "$float": (str, '{"$float": "inf"}'),
    "$tuple": (list, '{"$tuple": [1, 2]}'),
    "$array": (list, '{"$array": [1.0, 2.0], "dtype": "<f8"}'),
    "$object": (Mapping, '{"$object": {"solver": "kpca"}}'),
}
_LONGEST_NAME = 200
_LONGEST_TEXT = 1 << 12  # bytes of one text in an array

# Steps made of steps, chains and branches, write themselves (`_spec`), and are made by what reads their key.
Composed: TypeAlias = Mapping[str, Callable[[Any], Any]]


def chain_spec(chain: Any) -> dict[str, Any]:
    """Return the dict of a chain."""
    spec: dict[str, Any] = {_KEY: SCHEMA}
    for name, default in _DEFAULTS.items():
        value = getattr(chain, name)
        if value is not default and value != default:
            spec[name] = _encode(value, name)
    return {**spec, "steps": steps_spec(chain.steps)}


def steps_spec(steps: list[tuple[str, Any]], where: str = "") -> list[dict[str, Any]]:
    """Return the dicts of named steps, which stand at ``where`` in the chain."""
    return [{"name": name, **_step(step, f"{where}{name}")} for name, step in steps]


def read_chain(spec: Any, composed: Composed) -> dict[str, Any]:
    """Return the parameters of the chain that a dict describes.

    Raises
    ------
    SpecError
        If it is not the dict of a chain, or that of a later version.
    """
    if not isinstance(spec, Mapping) or _KEY not in spec or not isinstance(spec.get("steps"), list):
        raise SpecError(f"this is not the spec of a chain: a dict with {_KEY!r} and a list 'steps' is expected")
    version = spec[_KEY]
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= SCHEMA:
        raise SpecError(
            f"the spec says {_KEY}={version!r:.100}, and this kernreg reads versions 1 to {SCHEMA}; a later one needs "
            "a newer kernreg"
        )
    _refuse_others(spec, {_KEY, "steps", *_DEFAULTS}, "the chain")
    settings = {name: _decode(spec[name], name, composed) for name in _DEFAULTS if name in spec}
    return {"steps": read_steps(spec["steps"], composed), **settings}


def read_steps(steps: Any, composed: Composed) -> list[tuple[str, Any]]:
    """Return the names and steps that a list of dicts describes."""
    if not isinstance(steps, list):
        raise SpecError(f"steps are a list of dicts, and this is {steps!r:.200}")
    return [_read_step(step, composed) for step in steps]


def _step(step: Any, where: str) -> dict[str, Any]:
    if hasattr(step, "_spec"):
        return step._spec(where)
    asked = requirement_of(type(step))
    if asked is None:
        raise SpecError(
            f"{where}: {type(step).__name__} is neither a registered solver or ensembler nor an estimator of "
            "scikit-learn, so a spec cannot name it; register it: kernreg.register('solver', name, class)"
        )
    foreign = asked.distribution not in (None, "kernreg") and asked.kind in ("solver", "ensembler")
    found: dict[str, Any] = {asked.kind: f"{asked.distribution}:{asked.name}" if foreign else asked.name}
    params = {
        name: _encode(value, f"{where}.{name}")
        for name, value in step.get_params(deep=False).items()
        if not _is_default(type(step), name, value)
    }
    return {**found, "params": params} if params else found


def _read_step(step: Any, composed: Composed) -> tuple[str, Any]:
    if isinstance(step, Mapping):
        _require_short(step.get("name"))
    if not isinstance(step, Mapping) or not isinstance(step.get("name"), str):
        raise SpecError(f"a step is a dict with a name, and this is {step!r:.200}")
    return step["name"], _read_object(step, composed)


def _read_object(step: Mapping[str, Any], composed: Composed) -> Any:
    where = str(step.get("name", "a parameter"))
    for kind, read in composed.items():
        if kind in step:
            _refuse_others(step, {"name", kind}, where)
            return read(step[kind])
    if "sklearn" in step:
        step = {("scikit-learn" if key == "sklearn" else key): value for key, value in step.items()}
    kinds = [kind for kind in ("solver", "ensembler", "scikit-learn", "kernreg") if kind in step]
    if len(kinds) != 1:
        raise SpecError(
            f"{where}: a step says what it is by one of solver, ensembler, scikit-learn, kernreg, chain or parallel, "
            f"and this one has {', '.join(kinds) or 'none of them'}"
        )
    (kind,) = kinds
    if not isinstance(step[kind], str):
        raise SpecError(f"{where}: {kind} = {step[kind]!r:.100} is not a name")
    _require_short(step[kind])
    _refuse_others(step, {"name", kind, "params"}, where)
    if kind in ("solver", "scikit-learn") and ":" not in str(step[kind]) and step[kind] not in get_registry("solver"):
        public = sklearn_module(str(step[kind]))
        if public is not None:
            kind, step = "scikit-learn", {**step, "scikit-learn": f"{public}:{step[kind]}"}
    distribution, _, name = str(step[kind]).rpartition(":") if kind in ("solver", "ensembler") else ("", "", step[kind])
    try:
        provider = kind if kind in ("scikit-learn", "kernreg") else distribution or None
        cls = find(Requirement(kind, name, provider, None), where)
    except ModelFileError as error:
        raise SpecError(f"{where}: {kind} {step[kind]!r} cannot be used: {error}") from error
    params = step.get("params", {})
    if not isinstance(params, Mapping):
        raise SpecError(f"{where}: params is a {type(params).__name__}; a dict is expected")
    for name in params:
        _require_short(name)
    made = {name: _decode(value, f"{where}.{name}", composed) for name, value in params.items()}
    try:
        return cls(**made)
    except TypeError as error:
        raise SpecError(f"{where}: {error}") from error


def _require_short(name: Any) -> None:
    """Names are shown in messages, and looked for among others."""
    if isinstance(name, str) and len(name) > _LONGEST_NAME:
        raise SpecError(f"the name {name!r:.50}… has {len(name)} characters, and {_LONGEST_NAME} is the most")


def _is_default(cls: type, name: str, value: Any) -> bool:
    parameter = inspect.signature(cls).parameters.get(name)
    if parameter is None or type(value) is not type(parameter.default):
        return False
    return value is parameter.default or bool(np.all(value == parameter.default))


def _encode(value: Any, where: str) -> Any:
    if value is None:
        return {"$none": True}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, list):
        return [_encode(item, where) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_encode(item, where) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: _encode(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiubU":
        return {"$array": [_encode(item, where) for item in value.tolist()], "dtype": value.dtype.str}
    if isinstance(value, Kernel):
        return {"$kernel": _kernel_text(value, where)}
    if hasattr(value, "get_params") and hasattr(value, "fit"):
        return {"$object": _step(value, where)}
    raise SpecError(f"{where} is a {type(value).__name__}, which a spec cannot hold; kernreg.save keeps fitted models")


def _kernel_text(kernel: Kernel, where: str) -> str:
    text = repr(kernel)
    try:
        same = make_kernel(text) == kernel
    except (SpecError, ValueError, LookupError, TypeError):
        same = False
    if not same:
        raise SpecError(
            f"{where} is the kernel {text}, which its text alone does not make again (it holds arrays, is bound to "
            "samples, or is not registered); kernreg.save keeps fitted models with such kernels"
        )
    return text


def _decode(value: Any, where: str, composed: Composed) -> Any:
    if isinstance(value, list):
        return [_decode(item, where, composed) for item in value]
    if isinstance(value, int) and value.bit_length() > WIDEST_INTEGER:  # TOML knows 0xfff…
        raise SpecError(f"{where}: an integer of more than {WIDEST_INTEGER} bits is not accepted")
    if not isinstance(value, Mapping):
        return value
    marks = [key for key in value if key.startswith("$")]
    if not marks:
        return {key: _decode(item, f"{where}.{key}", composed) for key, item in value.items()}
    mark = marks[0]
    _refuse_others(value, {mark, "dtype"} if mark == "$array" else {mark}, where)
    inner = value[mark]
    if mark == "$none":
        return None
    if mark == "$kernel":
        return make_kernel(inner)
    if mark not in _WRITTEN:
        raise SpecError(f"{where}: {mark!r} is not known to this kernreg")
    kind, example = _WRITTEN[mark]
    if not issubclass(type(inner), kind):
        raise SpecError(f"{where}: {mark} = {inner!r:.100} is not accepted; it looks like {example}")
    if mark == "$object":
        return _read_object(inner, composed)
    if mark == "$tuple":
        return tuple(_decode(item, where, composed) for item in inner)
    try:
        if mark == "$float":
            return float(inner)
        return _array(inner, value.get("dtype", "<f8"), where)
    except (ValueError, TypeError, OverflowError) as error:
        raise SpecError(f"{where}: {mark} = {inner!r:.100} cannot be read: {error!s:.200}") from error


def _array(items: list[Any], name: Any, where: str) -> np.ndarray:
    dtype = np.dtype(str(name))
    if dtype.kind not in "fiubU":
        raise SpecError(f"{where}: an array of dtype {dtype} is not accepted")
    if dtype.kind == "U" and dtype.itemsize > _LONGEST_TEXT:  # every item would take that much
        raise SpecError(f"{where}: an array of dtype {dtype} is not accepted; its texts are too long")
    return np.array(items, dtype=dtype)


def _refuse_others(found: Mapping[str, Any], accepted: set[str], where: str) -> None:
    unknown = [key for key in found if key not in accepted]
    if unknown:
        raise SpecError(
            f"{where} has {unknown[0]!r:.100}, which is not known; accepted are {', '.join(sorted(accepted))}"
        )
