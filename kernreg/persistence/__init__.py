"""Model files: a model as JSON and raw arrays in a zip, without any code.

    files.py        save, load, describe
    encode.py       from a model to JSON and arrays, with
    decode.py         the way back, which trusts nothing it reads
    values.py         numbers, text, small objects of Python and numpy
    randomness.py     generators of random numbers
    sparse.py         sparse matrices
    arrays.py         arrays as windows on raw memory
    consistency.py    what must fit together in a restored estimator
    sklearn_consistency.py  the same, of scikit-learn's
    kernel_sizes.py   how many kernels a kernel is made of
    versions.py     versions that a file was written with
    container.py    members of the zip: written, read, checked, mapped
    layout.py       the zip byte by byte

Which classes a file may name is in `kernreg.registry.naming`; files are replaced by `kernreg.common.atomic`.

May import: the layers below it in docs/extend/architecture.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["SCHEMA", "ModelDescription", "Requirement", "describe", "load", "replacing", "save"]

if TYPE_CHECKING:
    from kernreg.common.atomic import replacing
    from kernreg.persistence.files import ModelDescription, describe, load, save
    from kernreg.persistence.versions import SCHEMA
    from kernreg.registry.naming import Requirement

# Loaded when first used: whoever only replaces a file needs no numerical package.
_HOMES = {
    "SCHEMA": "kernreg.persistence.versions",
    "ModelDescription": "kernreg.persistence.files",
    "Requirement": "kernreg.registry.naming",
    "describe": "kernreg.persistence.files",
    "load": "kernreg.persistence.files",
    "replacing": "kernreg.common.atomic",
    "save": "kernreg.persistence.files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its names are {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)
