"""fingerprint: what compiled code that uses this package depends on."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path


@functools.cache
def fingerprint() -> str:
    """A digest of the sources of ``kernreg.jit``.

    Numba's disk cache compares the source file of a cached function only. Code that calls ``exp`` has the
    formula of ``exp`` compiled into it, so whoever caches such code has to take this digest into the key.

    Examples
    --------
    >>> len(fingerprint())
    64
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()
