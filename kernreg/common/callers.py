"""Whose line a warning is about: that of the user, however many layers lie between."""

from __future__ import annotations

import sys
from pathlib import Path

#: Where the code of kernreg is.
PACKAGE = str(Path(__file__).parent.parent)

_WRAPPERS = ("sklearn.utils", "sklearn.base")  # scikit-learn wraps methods of estimators


def level_outside() -> int:
    """Return the stack level, as of `warnings.warn`, of the first caller that is not part of kernreg.

    For who calls `warnings.warn` itself. What scikit-learn wraps methods in is no caller either.

    >>> level_outside()
    1
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(PACKAGE) or str(frame.f_globals.get("__name__")).startswith(_WRAPPERS)
    ):
        level, frame = level + 1, frame.f_back
    return level
