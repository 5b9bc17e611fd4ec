"""What extends Numba: entry points of any distribution, which Numba looks for before it compiles."""

from __future__ import annotations

import warnings

from numba.core import entrypoints

from kernreg.errors import PluginWarning, printable


def load_extensions() -> None:
    """Let Numba look for its extensions, once in a process.

    It reads the metadata of everything that is installed, and fails where some of it cannot be read; the first kernel
    of every process would fail with it. Then Numba goes on without extensions.

    >>> load_extensions()
    """
    try:
        entrypoints.init_all()
    except Exception as failure:  # whatever importlib.metadata raises; a second time Numba does not look
        reason = printable(f"{type(failure).__name__}: {failure}"[:300])
        warnings.warn(
            f"Numba works without its extensions, for it cannot read the metadata of all that is installed ({reason}); "
            "kernreg doctor says which files are damaged",
            PluginWarning,
            stacklevel=2,
        )
