"""Names of compiled functions: no two processes give the same one.

Numba names a function in machine code by its module, its name, its types and how many functions it compiled before: a
number that is small, and the same in the next process. A function that LLVM does not inline into its caller keeps this
name in the file of the caller, and where two files name a function alike, the second one calls that of the first. So
two versions of a module, each compiled in a process of its own, computed a mixture where a third process read both.
"""

from __future__ import annotations

import itertools
import os
import secrets

from numba.core.bytecode import FunctionIdentity

_BITS = 62
_ROOM = 20  # a process compiles fewer than 2**20 functions


def number_anew() -> None:
    """Let Numba count the functions of this process from a random number on.

    >>> number_anew()
    """
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(_BITS - _ROOM) << _ROOM)


def tell_processes_apart() -> None:
    """Number the functions that this process compiles from now on anew, and those of every forked child.

    >>> tell_processes_apart()
    """
    number_anew()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=number_anew)
