"""From an object in hand to the plugin it is."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import kernreg as kr
from kernreg import kernel, registry
from kernreg.errors import PluginLoadError
from kernreg.kernels.builtin import rbf
from kernreg.registry import entry_of, get_registry, qualified_name
from kernreg.solvers import LSSVC


def test_built_in_kernels_and_solvers_are_found():
    assert (entry_of("kernel", rbf).name, entry_of("kernel", rbf).distribution) == ("rbf", "kernreg")
    assert qualified_name(entry_of("solver", LSSVC)) == "kernreg:ls-svm"


def test_what_is_not_registered_is_not_found():
    @kernel(of="dot")
    def twice(dot):
        """2⟨x, z⟩."""
        return 2.0 * dot

    assert entry_of("kernel", twice) is None
    assert entry_of("solver", rbf) is None
    with registry.isolated():
        get_registry("kernel").register("double", twice)
        entry = entry_of("kernel", twice)
        assert (entry.name, entry.origin, qualified_name(entry)) == ("double", "runtime", "double")


def test_an_entry_point_is_preferred_to_a_runtime_registration():
    with registry.isolated():
        get_registry("kernel").register("aaa", rbf)
        assert qualified_name(entry_of("kernel", rbf)) == "kernreg:rbf"


def test_looking_imports_nothing():
    code = (
        "import sys; from kernreg.registry import entry_of; before = set(sys.modules);"
        "assert entry_of('kernel', object()) is None;"
        "assert not [m for m in set(sys.modules) - before if m.startswith(('numpy', 'kernreg_', 'kernreg.kernels'))]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_that_is_replaced_by_what_refuses_to_be_asked_hinders_no_look(site):
    source = """
        import sys
        class Angry:
            def __getattribute__(self, name): raise RuntimeError("no")
        sys.modules[__name__] = Angry()
    """
    site.install("angry", kernels={"aaa": "angry_module:kernel"}, modules={"angry_module.py": source})
    with pytest.raises(PluginLoadError):
        get_registry("kernel").get("aaa")
    assert entry_of("kernel", rbf).name == "rbf"


def test_what_a_runtime_registration_has_replaced_is_still_known_by_its_full_name(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = kr.make_solver("ls-svm", kernel="kernreg:rbf(sigma=1.0)").fit(X, X[:, 0] > 0)

    @kernel(of="dot")
    def other(dot):
        """⟨x, z⟩."""
        return dot

    with registry.isolated():
        get_registry("kernel").register("rbf", other, replace=True)
        assert qualified_name(entry_of("kernel", rbf)) == "kernreg:rbf"
        assert qualified_name(entry_of("kernel", other)) == "rbf"
        kr.save(model, tmp_path / "model.kern")
        loaded = kr.load(tmp_path / "model.kern")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
