"""From a model to JSON and arrays.

Every value becomes a JSON value: numbers, text, True, False and None as they are, anything else an object with one tag
that says what it is (``{"tuple": […]}``, ``{"array": 3}``) and an ``id`` where something else refers to it
(``{"ref": 5}``). Code is named, never held: by the number of an entry in the table of requirements.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from kernreg.errors import UnsavableModel
from kernreg.kernels import Kernel, KernelFamily, PackedSamples
from kernreg.kernels.samples import SampleParts
from kernreg.persistence.arrays import ArrayTable, storable
from kernreg.persistence.kernel_sizes import KernelSizes
from kernreg.persistence.randomness import write_generator
from kernreg.persistence.sparse import write_sparse
from kernreg.persistence.values import write_value
from kernreg.registry.naming import Requirement, is_record, requirement_of

MAX_DEPTH = 100
#: Methods of fitted estimators that may stand in a model, as the feature map of a kernel does.
METHODS = frozenset(
    ("decision_function", "embed", "predict", "predict_log_proba", "predict_proba", "score_samples", "transform")
)
#: Attributes of classes of scikit-learn that no file holds: code, made again by a method; and what is not needed.
OMITTED: dict[str, tuple[str, Callable[[Any], None] | None]] = {
    "sklearn.isotonic:IsotonicRegression": ("f_", lambda fitted: fitted._build_f(*_thresholds(fitted))),
    "sklearn.metrics._scorer:_CurveScorer": ("_metadata_request", None),
}
#: What a file holds of packed samples.
PACKED = ("structure", "values", "offsets", "about")
_DICTS: dict[type, str] = {dict: "dict", OrderedDict: "ordered", Bunch: "bunch"}
_SEQUENCES: dict[type, str] = {list: "list", tuple: "tuple"}
_SETS: dict[type, str] = {set: "set", frozenset: "frozenset"}


class Encoder:
    """Encodes one model.

    Attributes
    ----------
    arrays : ArrayTable
    requirements : list of Requirement
        The classes and kernel families that the model uses.
    """

    def __init__(self) -> None:
        self.arrays = ArrayTable()
        self.requirements: list[Requirement] = []
        self._written: dict[int, dict[str, Any]] = {}
        self._alive: list[Any] = []  # whatever was seen, so that no address is used twice
        self._open: set[int] = set()
        self._path: list[str] = []
        self._ids = 0
        self._known: dict[int, int] = {}
        self._sizes = KernelSizes()

    def encode(self, value: Any, step: str = "model") -> Any:
        """Return the JSON form of a value; ``step`` is how one gets there from what it is in."""
        plain = write_value(value)
        if plain is not NotImplemented:
            return plain
        key = id(value)
        first = self._written.get(key)
        if first is not None:
            if "id" not in first:
                first["id"] = self._ids
                self._ids += 1
            return {"ref": first["id"]}
        with self._inside(step, key):
            tag, content = self._write(value)
        found = self._written[key] = {tag: content}
        self._alive.append(value)
        return found

    @contextmanager
    def _inside(self, step: str, key: int) -> Iterator[None]:
        self._path.append(step)
        if key in self._open:
            raise self._refuse("it refers to something it is itself a part of, and a model file holds no circles")
        if len(self._path) > MAX_DEPTH:
            raise self._refuse(f"it is more than {MAX_DEPTH} levels deep inside the model")
        self._open.add(key)
        yield
        self._open.remove(key)
        self._path.pop()

    def _refuse(self, reason: str) -> UnsavableModel:
        return UnsavableModel(f"{''.join(self._path)} cannot be saved: {reason}")

    def _write(self, value: Any) -> tuple[str, Any]:
        kind = type(value)
        if kind in _SEQUENCES:
            return _SEQUENCES[kind], [self.encode(item, f"[{number}]") for number, item in enumerate(value)]
        if kind in _DICTS:
            return self._write_dict(_DICTS[kind], value)
        if kind in _SETS:
            return _SETS[kind], sorted((self._key(item) for item in value), key=repr)
        if isinstance(value, np.ndarray):
            return self._write_array(value)
        if isinstance(value, Kernel):
            return self._write_kernel(value)
        if isinstance(value, KernelFamily):
            return "family", self._require(value, lambda: _unregistered(value))
        if isinstance(value, SampleParts):
            return "samples", [self.encode(part, f".parts[{number}]") for number, part in enumerate(value.parts)]
        if isinstance(value, PackedSamples):
            contents = (value.structure, value.values, value.offsets, dict(value.about))
            return "packed", {name: self._part(name, item) for name, item in zip(PACKED, contents, strict=True)}
        if sp.issparse(value):
            return self._write_record("sparse", write_sparse(value), "convert it with .tocsr()")
        if isinstance(value, np.random.Generator | np.random.RandomState | np.random.BitGenerator):
            return self._write_record("generator", write_generator(value), "use one of numpy's own bit generators")
        if isinstance(value, MethodType) and value.__name__ in METHODS and not isinstance(value.__self__, type):
            return "method", {"of": self.encode(value.__self__, ".__self__"), "name": value.__name__}
        if isinstance(value, type):
            return "class", self._require(value, lambda: _foreign_class(value))
        return self._write_object(value)

    def _write_dict(self, tag: str, value: Any) -> tuple[str, Any]:
        if all(type(key) is str for key in value):
            return tag, {key: self.encode(item, f"[{key!r}]") for key, item in value.items()}
        return tag, [[self._key(key), self.encode(item, f"[{key!r}]")] for key, item in value.items()]

    def _key(self, key: Any) -> Any:
        """Return the JSON form of a key of a dict or an item of a set, which nothing refers to."""
        if type(key) is tuple:
            return {"tuple": [self._key(item) for item in key]}
        plain = write_value(key)
        if plain is NotImplemented:
            raise self._refuse(f"it has a key or item of type {type(key).__name__}; numbers, text and tuples can be")
        return plain

    def _write_array(self, value: np.ndarray) -> tuple[str, Any]:
        if value.dtype == object and type(value) is np.ndarray:
            items = [self.encode(item, f".flat[{number}]") for number, item in enumerate(value.flat)]
            return "objects", {"shape": list(value.shape), "items": items}
        problem = storable(value)
        if problem:
            raise self._refuse(problem)
        return "array", self.arrays.add(value)

    def _write_record(self, tag: str, record: dict[str, Any] | None, advice: str) -> tuple[str, Any]:
        if record is None:
            raise self._refuse(f"this kind is not among those a model file holds; {advice}")
        return tag, {name: self._part(name, item) for name, item in record.items()}

    def _part(self, name: str, item: Any) -> Any:
        self._alive.append(item)  # made for the occasion, perhaps
        return self.encode(item, f".{name}")

    def _write_kernel(self, value: Kernel) -> tuple[str, Any]:
        bound = value.__kernreg_bound__()
        if bound is not None:
            unbound, learnt = bound
            self._alive.append(learnt)
            written: tuple[str, Any] = (
                "bound",
                {
                    "kernel": self.encode(unbound, ".unbound"),
                    "learnt": {name: self._part(name, item) for name, item in learnt.items()},
                },
            )
            self._count(value, (unbound, *learnt.values()))
            return written
        if type(value) is not value.family.kernel_class:
            raise self._refuse(
                f"{type(value).__name__} is not what its family makes of parameters, and its __kernreg_bound__ does "
                "not say how it is made"
            )
        parameters = value.get_params(deep=False)
        written = (
            "kernel",
            {
                "family": self._require(value.family, lambda: _unregistered(value.family)),
                "parameters": {name: self.encode(item, f".{name}") for name, item in parameters.items()},
            },
        )
        self._count(value, parameters.values())
        return written

    def _count(self, kernel: Kernel, parts: Iterable[Any]) -> None:
        try:
            self._sizes.add(kernel, self._sizes.of(parts))
        except ValueError as error:
            raise self._refuse(str(error)) from None

    def _write_object(self, value: Any) -> tuple[str, Any]:
        cls: Any = type(value)
        number = self._require(cls, lambda: _foreign_object(value))
        kind = self.requirements[number].kind
        if kind in ("kernreg", "record") and is_record(cls):
            names = cls._fields if issubclass(cls, tuple) else [field.name for field in dataclasses.fields(cls)]
            state = {name: getattr(value, name) for name in names}
        elif kind == "scikit-learn":
            omitted, _ = OMITTED.get(self.requirements[number].name, ("", None))
            # Its __getstate__ adds a version, which the requirement has already.
            state = {name: item for name, item in vars(value).items() if name != omitted}
        else:
            state = value.__getstate__()
        if state is not None and not isinstance(state, dict):
            raise self._refuse(f"the __getstate__ of {cls.__name__} returns a {type(state).__name__}; a dict is needed")
        self._alive.append(state)
        found = {}
        for name, item in (state or {}).items():
            problem = problem_with_attribute(cls, name, item)
            if problem:
                raise self._refuse(problem)
            found[name] = self.encode(item, f".{name}")
        return "object", {"class": number, "state": found}

    def _require(self, obj: Any, explain: Callable[[], str]) -> int:
        """Return the number of the requirement that an object is."""
        number = self._known.get(id(obj))
        if number is None:
            found = requirement_of(obj)
            if found is None:
                raise self._refuse(explain())
            if found not in self.requirements:
                self.requirements.append(found)
            number = self._known[id(obj)] = self.requirements.index(found)
        return number


def _thresholds(isotonic: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of an isotonic regression, as two vectors of one length."""
    x, y = isotonic.X_thresholds_, isotonic.y_thresholds_
    if not (x.ndim == 1 and x.shape == y.shape and x.dtype.kind == y.dtype.kind == "f" and np.all(np.diff(x) > 0)):
        raise ValueError("the steps of an isotonic regression do not fit together")
    return x, y


def problem_with_attribute(cls: type, name: Any, value: Any) -> str:
    """Return why an attribute cannot be part of the state of an object; empty if it can."""
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
        return f"{name!r} is not the name of an attribute"
    if callable(getattr(cls, name, None)) and not isinstance(getattr(cls, name), type):
        return f"its attribute {name!r} would hide the method of that name"
    if name == "memory" and value is not None and cls.__module__.startswith("sklearn."):
        return "its memory is a folder of pickles, which whoever loads the model would run; use memory=None"
    return ""


def _unregistered(family: KernelFamily) -> str:
    return (
        f"the kernel {family.name!r} is registered nowhere, and a model file names kernels, it does not hold their "
        "code. Put it into a plugin (kernreg new-plugin), or register it, "
        f"kernreg.register('kernel', {family.name!r}, …), here and wherever the model is loaded"
    )


def _foreign_class(cls: type) -> str:
    name = f"{cls.__module__}.{cls.__qualname__}"
    return f"the class {name} is neither registered as a solver or ensembler nor an estimator of scikit-learn"


def _foreign_object(value: Any) -> str:
    cls = type(value)
    name = f"{cls.__module__}.{cls.__qualname__}"
    if name.startswith("sklearn."):
        return (
            f"{name} is a part of scikit-learn that is not an estimator of its public modules. Of a search, save "
            "best_estimator_; a model with such a part goes into a pickle or a skops file"
        )
    if isinstance(value, np.ufunc) or (callable(value) and not hasattr(value, "get_params")):
        return (
            f"{getattr(value, '__name__', name)!r} is code, which a model file does not hold. Functions of numpy that "
            "work item by item, and methods such as transform of estimators, can be saved"
        )
    if hasattr(value, "get_params"):
        return (
            f"{name} is an estimator that is not registered. Put it into a plugin (kernreg new-plugin), or register "
            "it, kernreg.register('solver', …), here and wherever the model is loaded"
        )
    return (
        f"it is a {name}. Model files hold numbers, text, numpy and scipy.sparse arrays, lists, tuples, dicts, sets, "
        "random generators, kernels and estimators. A class of yours can give these in __getstate__"
    )
