"""From JSON and arrays to a model.

The JSON may come from anybody. Each tag has a reader that checks what it gets and makes one kind of thing; nothing else
can be made. Classes come from the table of requirements, which `classes.find` has been through.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from kernreg.kernels import Kernel, KernelFamily, PackedSamples
from kernreg.kernels.samples import SampleParts
from kernreg.persistence.consistency import check_restored
from kernreg.persistence.encode import MAX_DEPTH, METHODS, OMITTED, PACKED, problem_with_attribute
from kernreg.persistence.kernel_sizes import KernelSizes
from kernreg.persistence.randomness import read_generator
from kernreg.persistence.sparse import read_sparse
from kernreg.persistence.values import READERS
from kernreg.registry.naming import Requirement, is_record

#: Values there may be when everything that is referred to is counted each time: what a walk through the model meets.
MAX_WALK = 20_000_000


class Decoder:
    """Decodes one model.

    Parameters
    ----------
    arrays : list of ndarray
    requirements : list of (Requirement, object)
        What the file names, and the class or kernel family that is.
    """

    def __init__(self, arrays: list[np.ndarray], requirements: list[tuple[Requirement, Any]]):
        self._arrays, self._requirements = arrays, requirements
        self._made: dict[int, tuple[Any, int]] = {}
        self._sizes = KernelSizes()
        self._depth = self._walked = 0
        self._readers: dict[str, Callable[[Any], Any]] = {
            **READERS,
            "list": self._items,
            "tuple": lambda content: tuple(self._items(content)),
            "dict": lambda content: dict(self._pairs(content)),
            "ordered": lambda content: OrderedDict(self._pairs(content)),
            "bunch": self._bunch,
            "set": lambda content: set(map(self._key, _list(content))),
            "frozenset": lambda content: frozenset(map(self._key, _list(content))),
            "array": self._array,
            "objects": self._objects,
            "sparse": lambda content: read_sparse(self._record(content)),
            "generator": lambda content: read_generator(self._record(content)),
            "kernel": self._kernel,
            "bound": self._bound,
            "family": self._family,
            "samples": self._samples,
            "packed": self._packed,
            "method": self._method,
            "class": lambda number: self._class(number)[1],
            "object": self._object,
            "ref": self._ref,
        }

    def decode(self, found: Any) -> Any:
        """Return the value of its JSON form; ValueError, TypeError or LookupError where there is none."""
        self._walked += 1
        if self._walked > MAX_WALK:
            raise ValueError("it holds more values than a model can")
        if not isinstance(found, dict):
            if isinstance(found, list) or (type(found) is float and not math.isfinite(found)):
                raise ValueError("a value is not written in the right form")
            return found
        before = self._walked
        tags = found.keys() - {"id"}
        if len(tags) != 1:
            raise ValueError("a value does not have exactly one tag")
        (tag,) = tags
        if tag not in self._readers:
            raise ValueError(f"the tag {tag!r} is not known")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        value = self._readers[tag](found[tag])
        self._depth -= 1
        if "id" in found:
            number = found["id"]
            if type(number) is not int or number in self._made:
                raise ValueError("two values have the same number")
            self._made[number] = value, self._walked - before
        return value

    def _ref(self, number: Any) -> Any:
        if type(number) is not int or number not in self._made:
            raise ValueError("it refers to something that is missing")
        value, size = self._made[number]
        self._walked += size
        return value

    def _items(self, content: Any) -> list[Any]:
        return [self.decode(item) for item in _list(content)]

    def _pairs(self, content: Any) -> list[tuple[Any, Any]]:
        if isinstance(content, dict):
            return [(key, self.decode(item)) for key, item in content.items()]
        pairs = [(self._key(key), self.decode(item)) for key, item in _list(content)]
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("a key appears twice in a dict")
        return pairs

    def _bunch(self, content: Any) -> Bunch:
        found = Bunch()
        found.update(self._pairs(content))
        return found

    def _key(self, found: Any) -> Any:
        if isinstance(found, dict):
            ((tag, content),) = found.items()
            if tag == "tuple":
                return tuple(map(self._key, _list(content)))
            return READERS[tag](content)
        return self.decode(found)

    def _record(self, content: Any) -> dict[str, Any]:
        return {name: self.decode(item) for name, item in _dict(content).items()}

    def _array(self, number: Any) -> np.ndarray:
        return self._arrays[_index(number)]

    def _objects(self, content: Any) -> np.ndarray:
        shape, items = _fields(content, "shape", "items")
        shape = tuple(map(_index, _list(shape)))
        if math.prod(shape) != len(_list(items)):
            raise ValueError("an array of objects does not have as many as its shape says")
        found = np.empty(len(items), dtype=object)
        for number, item in enumerate(items):
            found[number] = self.decode(item)
        return found.reshape(shape)

    def _class(self, number: Any) -> tuple[Requirement, Any]:
        asked, found = self._requirements[_index(number)]
        if not isinstance(found, type):
            raise ValueError(f"{asked.name!r} is not a class")
        return asked, found

    def _family(self, number: Any) -> KernelFamily:
        asked, found = self._requirements[_index(number)]
        if not isinstance(found, KernelFamily):
            raise ValueError(f"{asked.name!r} is not a kernel")
        return found

    def _kernel(self, content: Any) -> Kernel:
        family, parameters = _fields(content, "family", "parameters")
        made, values = self._family(family), self._record(parameters)
        size = self._sizes.of(values.values())
        if made.kernel_class.binds_parameters and any(
            isinstance(v, Kernel) and v.takes_reference for v in values.values()
        ):
            raise ValueError("a learned kernel holds one that is not bound, and loading evaluates no kernel")
        kernel = made(**{name: _shown_read_only(value) for name, value in values.items()})
        self._sizes.add(kernel, size)
        return kernel

    def _bound(self, content: Any) -> Kernel:
        kernel, learnt = _fields(content, "kernel", "learnt")
        unbound = self.decode(kernel)
        if not isinstance(unbound, Kernel):
            raise ValueError("what is bound is not a kernel")
        values = self._record(learnt)
        size = self._sizes.of((unbound, *values.values()))
        bound = unbound.__kernreg_rebind__(values)
        self._sizes.add(bound, size)
        return bound

    def _samples(self, content: Any) -> SampleParts:
        parts = tuple(self._items(content))
        if len({part.shape[0] for part in parts}) != 1:
            raise ValueError("the parts of a sample set do not have the same rows")
        return SampleParts(parts)

    def _packed(self, content: Any) -> PackedSamples:
        structure, values, offsets, about = (self.decode(item) for item in _fields(content, *PACKED))
        if not isinstance(structure, str) or not isinstance(about, dict):
            raise ValueError("packed samples do not say what they are")
        return PackedSamples(structure, values, offsets, about)

    def _method(self, content: Any) -> Any:
        owner, name = _fields(content, "of", "name")
        found = self.decode(owner)
        if name not in METHODS or not hasattr(found, "get_params") or isinstance(found, type | Kernel):
            raise ValueError(f"{name!r} is not a method that a model may hold")
        return getattr(found, name)

    def _object(self, content: Any) -> Any:
        number, state = _fields(content, "class", "state")
        asked, found = self._class(number)
        cls: Any = found
        values = self._record(state)
        for name in values:
            problem = problem_with_attribute(cls, name, values[name])
            if problem:
                raise ValueError(problem)
        if asked.kind in ("kernreg", "record") and is_record(found):
            made = cls(**values)
        else:
            made = cls.__new__(cls)
            # A plugin may have its own way to be restored; scikit-learn's compares versions, which is done already.
            if asked.kind != "scikit-learn" and hasattr(made, "__setstate__"):
                made.__setstate__(values)
            else:
                vars(made).update(values)
            attribute, remade = OMITTED.get(asked.name, ("", None))
            if attribute in values:
                raise ValueError(f"no file holds {attribute!r}")
            if remade is not None and "X_thresholds_" in values:
                remade(made)
        check_restored(made)
        return made


def _shown_read_only(value: Any) -> Any:
    """Return an array of numbers so that a kernel keeps it without a copy: nobody writes to it."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return np.asarray(value.data.toreadonly())
    return value


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise ValueError("a list is missing")
    return found


def _dict(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError("a mapping is missing")
    return found


def _fields(found: Any, *names: str) -> list[Any]:
    if not isinstance(found, dict) or set(found) != set(names):
        raise ValueError(f"{' and '.join(names)} are needed, and nothing else")
    return [found[name] for name in names]


def _index(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError("a count is not a number")
    return number
