"""Settings that are not part of any model: memory, threads, engine, progress bars, the cache directory.

`set_config` changes them for the process, `config_context` for a block of code in the thread or task that
runs it. The defaults come from the environment (KERNREG_MEMORY, KERNREG_THREADS, KERNREG_ENGINE,
KERNREG_CACHE_DIR) the first time a setting is needed.

    machine.py  cores, memory that is left, the user's caches
"""

from __future__ import annotations

import difflib
import math
import operator
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from kernreg.config.machine import UNLIMITED, available_memory, usable_cores, user_cache
from kernreg.errors import ConfigError, shown

if TYPE_CHECKING:
    from typing import Unpack

_DEFAULT_MEMORY = 0.5
_MOST_THREADS = 2**31  # what libraries count to


@dataclass(frozen=True)
class Config:
    """The settings in force, as `get_config` returns them.

    Attributes
    ----------
    memory : int or float
        The memory one computation may use: bytes (int), or a fraction of what is available (float).
    threads : int or None
        How many threads to use; None for all usable cores.
    engine : str or Engine
        The engine that runs row blocks, by name or spec, or an engine itself.
    progress : bool or None
        Whether long work shows a progress bar; None for only on a terminal.
    cache_dir : str or None
        Where compiled code and data are kept; None for the user's cache directory.
    advice : bool
        Whether fits warn of kernels that say nothing.
    """

    memory: int | float = _DEFAULT_MEMORY
    threads: int | None = None
    engine: Any = "local"
    progress: bool | None = None
    cache_dir: str | None = None
    advice: bool = True

    def memory_budget(self) -> int:
        """The memory one computation may use now, in bytes.

        >>> Config(memory=2_000_000).memory_budget()
        2000000
        """
        if isinstance(self.memory, int):
            return self.memory
        return max(1, int(self.memory * available_memory()))

    def thread_count(self) -> int:
        """How many threads to use: as set, or one for each core this process may run on."""
        return usable_cores() if self.threads is None else self.threads

    def show_progress(self) -> bool:
        """Whether to show a progress bar: as set, or if standard error is a terminal."""
        if self.progress is not None:
            return self.progress
        return sys.stderr is not None and sys.stderr.isatty()

    def cache_directory(self) -> Path:
        """Where compiled code and data are kept; not created here."""
        return Path(self.cache_dir) if self.cache_dir is not None else user_cache()


class Settings(TypedDict, total=False):
    """What may be given to `set_config` and `config_context`."""

    memory: str | int | float | None
    threads: int | None
    engine: Any
    progress: bool | None
    cache_dir: str | os.PathLike[str] | None
    advice: bool


def get_config() -> Config:
    """The settings in force here and now.

    >>> with config_context(threads=2):
    ...     get_config().threads
    2
    """
    global _in_force
    process, changes = _process_config(), _local.get()
    if not changes:
        return process
    known = _in_force  # read once: another thread may replace it
    if known is None or known[0] is not process or known[1] is not changes:
        known = _in_force = process, changes, replace(process, **changes)
    return known[2]


def set_config(**changes: Unpack[Settings]) -> None:
    """Change settings for the whole process. A surrounding `config_context` goes first while it lasts.

    Parameters
    ----------
    memory : str, int, float or None
        The memory one computation may use: ``"2GB"``, ``"512MiB"``, ``"50%"``, a number of bytes (int), or a
        fraction of the memory available (float, at most 1). None for the default, one half.
    threads : int or None
        How many threads to use; None for all usable cores.
    engine : str or Engine
        The engine that runs row blocks: its name, a spec such as ``"cluster(workers=4)"``, or an engine itself, as
        `make_engine` returns it.
    progress : bool or None
        Whether long work shows a progress bar; None for only on a terminal.
    cache_dir : path or None
        Where compiled code and data are kept; None for the user's cache directory.
    advice : bool
        Whether fits warn of kernels that say nothing about their samples.

    Raises
    ------
    ConfigError
        If a setting is unknown or has a value that is not accepted; nothing is changed then.

    Examples
    --------
    >>> import kernreg as kr
    >>> before = kr.get_config().threads
    >>> kr.set_config(threads=1)
    >>> kr.get_config().threads
    1
    >>> kr.set_config(threads=before)
    """
    global _process
    _process = replace(_process_config(), **_checked(changes))


@contextmanager
def config_context(**changes: Unpack[Settings]) -> Iterator[Config]:
    """Change settings inside a ``with`` block, in this thread or asynchronous task only.

    Takes what `set_config` takes. A thread started inside the block begins with the settings of the process.

    >>> with config_context(memory="1.5GB", threads=2) as config:
    ...     config.memory
    1500000000
    """
    token = _local.set({**_local.get(), **_checked(changes)})
    try:
        yield get_config()
    finally:
        _local.reset(token)


def engine_setting() -> Any:
    """The setting ``engine`` in force, at a fraction of what `get_config` costs: every kernel asks at every call."""
    return _local.get().get("engine") or _process_config().engine


def memory_budget() -> int:
    """The memory one computation may use now, in bytes, by the settings in force."""
    return get_config().memory_budget()


# The state: the settings of the process (read from the environment when first needed), and what the
# surrounding contexts change.
_process: Config | None = None
_local: ContextVar[dict[str, Any]] = ContextVar("kernreg_config", default={})  # noqa: B039 (never mutated)
# What the two gave together when it was last asked for: kernels ask several times in every call.
_in_force: tuple[Config, dict[str, Any], Config] | None = None


def _process_config() -> Config:
    global _process
    if _process is None:
        changes = {}
        for name in ("memory", "threads", "engine", "cache_dir"):
            variable = f"KERNREG_{name.upper()}"
            text = os.environ.get(variable, "").strip()
            if text:
                try:
                    changes[name] = _ACCEPT[name](_number_or_text(name, text))
                except ConfigError as error:
                    raise ConfigError(f"the environment variable {variable}: {error}") from None
        _process = Config(**changes)
    return _process


def _number_or_text(name: str, text: str) -> int | str:
    """What a variable holds: threads are a number, where it is one that can be read."""
    return int(text) if name == "threads" and re.fullmatch("[0-9]{1,9}", text) else text


def _checked(changes: Any) -> dict[str, Any]:
    for name in changes:
        if name not in _ACCEPT:
            known = ", ".join(field.name for field in fields(Config))
            close = difflib.get_close_matches(name, _ACCEPT, 1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ConfigError(f"there is no setting {name!r}; the settings are {known}.{hint}")
    return {name: _ACCEPT[name](value) for name, value in changes.items()}


_UNITS = {"": 1, "B": 1} | {
    prefix + end: base**power
    for power, prefix in enumerate("KMGTP", start=1)
    for end, base in (("B", 1000), ("", 1000), ("IB", 1024), ("I", 1024))
}
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:e(\d+))?\s*((?:[KMGTP]I?)?B?|%)$", re.IGNORECASE)


def _memory(value: Any) -> int | float:
    if value is None:
        return _DEFAULT_MEMORY
    amount = _read_size(value.strip()) if isinstance(value, str) else value
    whole = _whole(amount)
    if whole is not None and 0 < whole < UNLIMITED:
        return whole
    if isinstance(amount, float) and 0 < amount <= 1:
        return float(amount)
    raise ConfigError(
        f"memory={shown(value)} is not accepted; give a size such as '2GB' or '512MiB', a number of bytes (int), "
        "a share of the available memory such as '50%' or 0.5 (float, at most 1), or None for one half"
    )


def _read_size(text: str) -> int | float | None:
    match = _SIZE.match(text)
    if match is None:
        return None
    number, exponent, unit = match[1], match[2], match[3].upper()
    amount = float(number) * 10 ** min(int(exponent or 0), 30)
    if unit == "%":
        return amount / 100
    if not unit and "." in number and exponent is None:
        return amount  # "0.5" is a share, as 0.5 is
    size = amount * _UNITS[unit]
    return math.ceil(size) if size < 2**63 else None


def _whole(value: Any) -> int | None:
    """The value as an int if it is a whole number of any type, which True is not."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except Exception:  # arrays have the method, and raise
        return None


def _threads(value: Any) -> int | None:
    number = _whole(value)
    if value is None or (number is not None and 0 < number < _MOST_THREADS):
        return number
    raise ConfigError(
        f"threads={shown(value)} is not accepted; give a positive int below 2³¹, or None for all usable cores"
    )


def _engine(value: Any) -> Any:
    if isinstance(value, str) and value.strip():
        return value.strip()
    # By its methods: the contract of engines is in a layer above.
    if not isinstance(value, type) and callable(getattr(value, "map_rows", None)):
        return value
    raise ConfigError(
        f"engine={shown(value)} is not accepted; give the name of an engine such as 'local', a spec such as "
        "'cluster(workers=4)', or what kernreg.make_engine returns"
    )


def _advice(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"advice={shown(value)} is not accepted; give True or False")


def _progress(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise ConfigError(f"progress={shown(value)} is not accepted; give True, False, or None for only on a terminal")


def _cache_dir(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str | os.PathLike) and _names_a_path(value):
        return os.path.abspath(os.path.expanduser(os.fsdecode(value)))
    raise ConfigError(f"cache_dir={shown(value)} is not accepted; give a directory, or None for the user's cache")


def _names_a_path(value: Any) -> bool:
    """Whether the system can be asked for such a file; text with a zero character or half a surrogate cannot."""
    try:
        encoded = os.fsencode(value)
    except Exception:  # a path of somebody's class may raise anything
        return False
    return bool(encoded) and b"\0" not in encoded


_ACCEPT: dict[str, Callable[[Any], Any]] = {
    "memory": _memory,
    "threads": _threads,
    "engine": _engine,
    "progress": _progress,
    "advice": _advice,
    "cache_dir": _cache_dir,
}
