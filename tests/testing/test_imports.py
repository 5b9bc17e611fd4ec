"""What a plugin imports of kernreg that is not public."""

from __future__ import annotations

import pytest

from kernreg.testing import private_imports
from kernreg.testing.imports import PUBLIC


@pytest.mark.parametrize(
    "line",
    [
        "import kernreg",
        "import kernreg.solvers as solvers",
        "from kernreg import make_kernel, datasets",
        "from kernreg.errors import DataError",
        "from kernreg.metrics import coherence",
        "from kernreg.persistence import replacing",
        "import kernreg_other.inside",
        "from . import kernreg",
        "from numpy import *",
    ],
)
def test_public(tmp_path, line):
    (tmp_path / "module.py").write_text(line)
    assert private_imports(tmp_path) == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("import kernreg.engine.local", "kernreg.engine.local"),
        ("from kernreg import factory", "kernreg.factory"),
        ("from kernreg.factory import make_kernel", "kernreg.factory.make_kernel"),
        ("from kernreg.solvers.tuning import tune", "kernreg.solvers.tuning.tune"),
        ("from kernreg.solvers import tuning", "kernreg.solvers.tuning"),
        ("from kernreg.errors import annotations", "kernreg.errors.annotations"),
        ("from kernreg.metrics import np", "kernreg.metrics.np"),
        ("from kernreg.metrics import is_sparse", "kernreg.metrics.is_sparse"),
        ("from kernreg.metrics import nothing_at_all", "kernreg.metrics.nothing_at_all"),
        ("from kernreg.solvers import *", "kernreg.solvers.*"),
        ("def f():\n    from kernreg.cli.app import COMMANDS", "kernreg.cli.app.COMMANDS"),
    ],
)
def test_private(tmp_path, line, name):
    (tmp_path / "package").mkdir()
    (tmp_path / "package/module.py").write_text(line)
    place = 1 + line.count("\n")
    assert private_imports(tmp_path) == [f"package/module.py:{place}: {name}"]
    assert private_imports(tmp_path / "package/module.py") == [f"module.py:{place}: {name}"]


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_there(module):
    from importlib import import_module

    found = import_module(module)
    assert all(hasattr(found, name) for name in getattr(found, "__all__", ()))
