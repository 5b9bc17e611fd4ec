"""A directory on sys.path with real metadata directories, for plugins made up by a test."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from kernreg.registry import isolated, refresh

# An object the registry takes for a kernel, and classes it takes for the other kinds, without numba.
OBJECTS = """
class Family:
    __kernreg_kernel__ = True
    name = __name__
    def __call__(self, **params):
        return (self.name, params)

class Ensembler:
    def fit(self, views, y):
        return self
    def merge(self, views):
        return views

kernel = Family()
"""


class FakeSite:
    """Installs made-up distributions into one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def __fspath__(self) -> str:
        return str(self.root)

    def install(
        self,
        name: str,
        version: str = "1.0",
        *,
        kernels: dict[str, str] | None = None,
        entry_points: str | bytes | None = None,
        modules: dict[str, str] | None = None,
        metadata: bool = True,
        directory: str | None = None,
    ) -> Path:
        """Write the metadata directory (returned) and the modules; `directory` overrides its name."""
        info = self.root / (directory or f"{name.replace('-', '_')}-{version}.dist-info")
        info.mkdir()
        if metadata:
            header = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            (info / "METADATA").write_text(header)
        if kernels is not None:
            lines = [f"{key} = {target}" for key, target in kernels.items()]
            entry_points = "\n".join(["[kernreg.kernels]", *lines, ""])
        if isinstance(entry_points, str):
            entry_points = textwrap.dedent(entry_points).encode()
        if entry_points is not None:
            (info / "entry_points.txt").write_bytes(entry_points)
        for module, source in (modules or {}).items():
            path = self.root / module
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(source).replace("OBJECTS", OBJECTS))
        refresh()
        return info

    def run(self, code: str, **environment: str) -> str:
        """What a fresh interpreter with this directory on its path prints."""
        path = os.pathsep.join([str(self.root), *[place for place in sys.path if isinstance(place, str)]])
        completed = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert completed.returncode == 0, completed.stderr
        return completed.stdout


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A FakeSite at the front of sys.path; what was imported from it and done to the registry is undone."""
    made = FakeSite(tmp_path / "site")
    monkeypatch.delenv("KERNREG_PLUGINS", raising=False)
    monkeypatch.setattr(sys, "path", [str(made.root), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a module may be edited within a second
    before = set(sys.modules)
    with isolated():
        refresh()
        yield made
    for name in set(sys.modules) - before:
        module = sys.modules[name]
        # What a plugin has put in the place of its module may refuse to say where it is from.
        real = issubclass(type(module), ModuleType)
        if not real or str(getattr(module, "__file__", None) or "").startswith(str(made.root)):
            del sys.modules[name]
    sys.path_importer_cache.pop(str(made.root), None)
