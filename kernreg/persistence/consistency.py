"""What must fit together in a restored estimator.

A file can be whole, and its arrays each well formed, and still not be a model: coefficients for more samples than there
are, say. Compiled code would read beyond an array then, and Python code fail much later. Any class can check itself in
a method ``__kernreg_restored__(self)``, which is called once the attributes are back and raises what it likes; here are
the checks of classes that have none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from kernreg.kernels.domains import check_learnt
from kernreg.persistence.sklearn_consistency import SKLEARN_CHECKS


def check_restored(model: Any) -> None:
    """Raise an error, of any kind, where the attributes of a restored object do not fit together."""
    for module, name, check in _CHECKS:
        # A class that is not imported has no objects.
        cls = getattr(sys.modules.get(module), name, None)
        if cls is not None and isinstance(model, cls):
            check(model)
    own = getattr(type(model), "__kernreg_restored__", None)
    if own is not None:
        own(model)


def _section(section: Any) -> None:
    # The kernel's program is run on these without another look.
    sizes = [
        section.kernel.check_samples(side, "samples").shape[0] for side in (section.row_samples, section.column_samples)
    ]
    for name, size in (("row_normalizers", sizes[0]), ("weights", sizes[1])):
        if hasattr(section, name):
            check_learnt("a section", name, getattr(section, name), (size,))


_CHECKS: tuple[tuple[str, str, Callable[[Any], None]], ...] = (
    ("kernreg.linalg.landmarks.sections", "Section", _section),
    *SKLEARN_CHECKS,
)
