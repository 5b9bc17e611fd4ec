"""Model files: a model as JSON and raw arrays in a zip, without any code.

    files.py        save, load, describe
    encode.py       from a model to JSON and arrays, with
    decode.py         the way back, which trusts nothing it reads
    values.py         numbers, text, small objects of Python and numpy
    randomness.py     generators of random numbers
    sparse.py         sparse matrices
    arrays.py         arrays as windows on raw memory
    consistency.py    what must fit together in a restored estimator
    classes.py      which classes a file may name, and how they are found
    versions.py     versions, and plugins that a model needs
    container.py    members of the zip: written, read, checked, mapped
    layout.py       the zip byte by byte
    atomic.py       replace a file whole or not at all

May import: everything up to factory. Nothing in the core imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["SCHEMA", "ModelDescription", "Requirement", "describe", "load", "replacing", "save"]

if TYPE_CHECKING:
    from kernreg.persistence.atomic import replacing
    from kernreg.persistence.files import ModelDescription, describe, load, save
    from kernreg.persistence.versions import SCHEMA, Requirement

# Loaded when first used: whoever only replaces a file needs no numerical package.
_HOMES = {
    "SCHEMA": "versions",
    "ModelDescription": "files",
    "Requirement": "versions",
    "describe": "files",
    "load": "files",
    "replacing": "atomic",
    "save": "files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its names are {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
