"""The one point at which kernels meet the configured engine.

Kernels ask `configured_engine`. It is None for the engine of this machine, and kernels then take their own fused ways;
any other engine gets a kernel that can be pickled, checked samples, and functions of modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from kernreg.config import engine_setting
from kernreg.engine.arrays import is_sparse
from kernreg.engine.contract import Engine
from kernreg.engine.local import LocalEngine
from kernreg.engine.running.handles import Handle
from kernreg.factory import make_engine

LOCAL = LocalEngine()

_placed: ContextVar[dict[Any, tuple[Any, Handle]] | None] = ContextVar("kernreg_placed", default=None)


def current_engine() -> Engine:
    """Return the engine of the configuration.

    >>> type(current_engine()).__name__
    'LocalEngine'
    """
    return configured_engine() or LOCAL


def configured_engine() -> Engine | None:
    """Return the engine of the configuration where it is another one than that of this machine, else None.

    ``"local"`` is always that one: a cheap branch, in every evaluation.
    """
    setting = engine_setting()
    if setting == "local":
        return None
    engine = make_engine(setting)
    return None if type(engine) is LocalEngine else engine


@contextmanager
def placed_once() -> Iterator[None]:
    """Let samples travel once: inside, `placed` gives the same handle for the same samples, which must not change.

    A fit is such a block, and so is making one operator.
    """
    if _placed.get() is not None:
        yield
        return
    token = _placed.set({})
    try:
        yield
    finally:
        _placed.reset(token)


def placed(engine: Engine, samples: Any) -> Any:
    """Return a handle of checked samples, the one they have already where the surrounding block has placed them.

    >>> with placed_once():
    ...     X = np.eye(2)
    ...     placed(LOCAL, X) is placed(LOCAL, X)
    True
    """
    known = _placed.get()
    if known is None or isinstance(samples, Handle):
        return engine.place(samples)
    key = id(engine), *_addresses(samples)
    if key not in known:
        known[key] = samples, engine.place(samples)  # the samples too: their memory must not serve others meanwhile
    return known[key][1]


def _addresses(samples: Any) -> tuple[Any, ...]:
    """Return where samples lie in memory: equal for two views of the same values."""
    if isinstance(samples, np.ndarray):
        return samples.ctypes.data, samples.shape, samples.strides, samples.dtype.str
    if is_sparse(samples):
        return samples.shape, *(_addresses(part) for part in (samples.data, samples.indices, samples.indptr))
    parts = getattr(samples, "parts", None)
    return (id(samples),) if parts is None else tuple(_addresses(part) for part in parts)
