"""Which plugin file a thread is executing: what is registered meanwhile belongs to that file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

_thread = threading.local()

#: How the modules of plugin files are named. No module of that name can be imported: see `plugin_files`.
PREFIX = "kernreg_file_"


class PluginFile(NamedTuple):
    """A plugin file as it was when it was executed: its absolute path and a digest of its text."""

    path: str
    digest: str


def current_file() -> PluginFile | None:
    """The plugin file that this thread is executing, None if it is executing none."""
    return getattr(_thread, "file", None)


@contextmanager
def executing(file: PluginFile) -> Iterator[None]:
    """Say that whatever this thread registers belongs to a file."""
    before = current_file()
    _thread.file = file
    try:
        yield
    finally:
        _thread.file = before


def is_plugin_file(module: str) -> bool:
    """Whether a module is that of a plugin file, which another process cannot import by its name.

    >>> is_plugin_file("kernreg_file_heat"), is_plugin_file("kernreg.kernels")
    (True, False)
    """
    return module.startswith(PREFIX)
