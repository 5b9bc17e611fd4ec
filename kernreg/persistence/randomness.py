"""Generators of random numbers: which algorithm, and where it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_ALGORITHMS = {name: getattr(np.random, name) for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")}
_MAX_POOL = 64  # numpy's default is 4


def write_generator(value: Any) -> dict[str, Any] | None:
    """Return what is to be kept of a generator, as plain values; None if it is not one of numpy's."""
    if isinstance(value, np.random.RandomState):
        state = value.get_state(legacy=False)
        assert isinstance(state, dict)
        return {"kind": "RandomState", "state": state} if state["bit_generator"] in _ALGORITHMS else None
    source = value.bit_generator if isinstance(value, np.random.Generator) else value
    name = type(source).__name__
    if not isinstance(source, np.random.BitGenerator) or _ALGORITHMS.get(name) is not type(source):
        return None
    kind = "Generator" if isinstance(value, np.random.Generator) else "BitGenerator"
    seed = source.seed_seq
    kept = None
    if isinstance(seed, np.random.SeedSequence):  # what `spawn` goes on from
        kept = {
            "entropy": seed.entropy,
            "spawn_key": tuple(seed.spawn_key),
            "pool_size": seed.pool_size,
            "n_children_spawned": seed.n_children_spawned,
        }
    return {"kind": kind, "state": source.state, "seed": kept}


def read_generator(kept: dict[str, Any]) -> Any:
    """Return the generator; numpy checks of the state all but what is checked here."""
    state = kept["state"]
    _check_positions(state)
    algorithm: Callable[..., Any] = _ALGORITHMS[state["bit_generator"]]
    if kept["kind"] == "RandomState":
        legacy = np.random.RandomState(algorithm(0))
        legacy.set_state(state)
        return legacy
    seed = kept["seed"]
    if seed is not None:
        if not 0 < seed["pool_size"] <= _MAX_POOL or len(seed["spawn_key"]) > 1000:
            raise ValueError("the seed of a generator is not one that numpy would make")
        seed = np.random.SeedSequence(**seed)
    source = algorithm(0 if seed is None else seed)
    source.state = state
    if kept["kind"] == "BitGenerator":
        return source
    if kept["kind"] != "Generator":
        raise ValueError(f"{kept['kind']!r} is not a kind of generator")
    return np.random.Generator(source)


def _check_positions(state: dict[str, Any]) -> None:
    """Raise ValueError where compiled code would read beyond its buffer."""
    name = state["bit_generator"]
    position, length = {
        "MT19937": lambda: (state["state"]["pos"], 624),
        "Philox": lambda: (state["buffer_pos"], 4),
    }.get(name, lambda: (0, 0))()
    if type(position) is not int or not 0 <= position <= length:
        raise ValueError(f"a generator {name} cannot stand at {position!r}")
