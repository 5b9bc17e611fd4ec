"""A fresh virtual environment with everything but the plugins, into which tests install them with pip."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import textwrap
import venv
from pathlib import Path
from typing import Any

import pytest

import kernreg

PLUGINS = Path(__file__).parents[2] / "plugins"
NAMES = tuple(folder.name.replace("-", "_") for folder in sorted(PLUGINS.iterdir()) if folder.is_dir())


class Environment:
    """A virtual environment that borrows the packages of this one, except the plugins.

    The packages are linked, not copied, so that making one takes no time; .pth files, by which editable
    installs work, are left behind.
    """

    def __init__(self, root: Path) -> None:
        venv.create(root, symlinks=os.name != "nt")
        self.python = root / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        borrowed = root / "borrowed"
        borrowed.mkdir()
        places = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
        for found in (entry for place in places for entry in place.iterdir()):
            if not found.name.startswith(NAMES) and found.suffix != ".pth" and found.name != "__pycache__":
                (borrowed / found.name).symlink_to(found)
        source = Path(kernreg.__file__).parents[1]
        paths = [borrowed, *([source] if source not in places else [])]
        self._site = Path(self.output("import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        (self._site / "borrowed.pth").write_text("\n".join(map(str, paths)) + "\n")

    def install(self, *projects: Path, target: Path | None = None) -> None:
        """Install projects with pip, building them with the build backend that is there; nothing is downloaded."""
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
        options += ["--target", str(target)] if target is not None else []
        self._run([sys.executable, "-m", "pip", "--python", str(self.python), "install", *options, *map(str, projects)])

    def output(self, code: str, **variables: str) -> str:
        """What a fresh interpreter of this environment prints; a warning is an error."""
        return self._run([str(self.python), "-W", "error", "-c", textwrap.dedent(code)], **variables)

    def json(self, code: str, **variables: str) -> Any:
        """What the last line printed says, as JSON."""
        return json.loads(self.output(code, **variables).splitlines()[-1])

    def command(self, *arguments: str, **variables: str) -> str:
        """What the kernreg command prints."""
        return self._run([str(self.python), "-m", "kernreg.cli", *arguments], **variables)

    def _run(self, command: list[str], **variables: str) -> str:
        inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "KERNREG_PLUGINS", "VIRTUAL_ENV")}
        completed = subprocess.run(
            command, env={**inherited, **variables}, capture_output=True, text=True, timeout=240, cwd=self.python.parent
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return completed.stdout


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """An environment without any plugin."""
    return Environment(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """An environment into which plugins were installed with pip."""
    environment = Environment(tmp_path_factory.mktemp("installed"))
    names = ("kernreg-histogram", "kernreg-graph", "kernreg-krein", "kernreg-papers")
    environment.install(*(PLUGINS / name for name in names))
    return environment


RIVAL = {
    "pyproject.toml": """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"

        [project]
        name = "Rival_Kernels"
        version = "2.5"

        [project.entry-points."kernreg.kernels"]
        katz = "rival:katz"

        [tool.hatch.build.targets.wheel]
        packages = ["rival"]
    """,
    "rival/__init__.py": """
        from kernreg import kernel

        @kernel(of="dot", symmetric=True)
        def katz(dot):
            "⟨x, y⟩ + 1, which is another katz."
            return dot + 1.0
    """,
}


@pytest.fixture(scope="session")
def rival(installed, tmp_path_factory):
    """A directory with a third distribution, installed with pip, that claims a name of kernreg-graph."""
    project, target = tmp_path_factory.mktemp("rival-source"), tmp_path_factory.mktemp("rival-target")
    for name, text in RIVAL.items():
        path = project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    installed.install(project, target=target)
    return target
