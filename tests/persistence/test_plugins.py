"""A model names the plugins it uses; loading finds them, or says which one is missing and how to get it."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest

import kernreg as kr
from kernreg import kernel, registry
from kernreg.errors import ModelNeedsPlugin, ModelVersionWarning, UnsavableModel
from kernreg.persistence import describe

MODULE = '''
"""Made up by a test."""
from dataclasses import dataclass
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from kernreg import kernel

@dataclass(frozen=True)
class Report:
    """What a fit did."""

    steps: int
    path: np.ndarray

@kernel(of="dot", symmetric=True, definite=True)
def cube(dot, c=1.0):
    """(⟨x, z⟩ + c)³."""
    return (dot + c) * (dot + c) * (dot + c)

class Mean(RegressorMixin, BaseEstimator):
    """The mean of y, with a state of its own making."""

    def __init__(self, shrink=0.0):
        self.shrink = shrink

    def fit(self, X, y):
        self.n_features_in_ = np.shape(X)[1]
        self.hidden_ = Hidden((1 - self.shrink) * np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.hidden_.value)

    def __getstate__(self):
        state = dict(vars(self))
        hidden = state.pop("hidden_", None)
        return {**state, "plain": None if hidden is None else hidden.value}

    def __setstate__(self, state):
        plain = state.pop("plain")
        vars(self).update(state)
        if plain is not None:
            self.hidden_ = Hidden(plain)

class Hidden:
    """Something that no model file holds."""

    def __init__(self, value):
        self.value = value

class First:
    """An ensembler that is no estimator."""

    def fit(self, views, y):
        self.names_ = tuple(views)
        self.report_ = Report(3, np.arange(3.0))
        return self

    def merge(self, views):
        return views[self.names_[0]]

    def get_params(self, deep=True):
        return {}

    def set_params(self, **params):
        return self
'''
ENTRY_POINTS = """
[kernreg.kernels]
cube = acme_plugin:cube
[kernreg.solvers]
mean = acme_plugin:Mean
[kernreg.ensemblers]
first = acme_plugin:First
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on sys.path with the made-up distribution acme-plugin; the function installs another version."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "acme_plugin.py").write_text(MODULE)

    def install(version: str | None, name: str = "acme-plugin") -> None:
        for found in folder.glob("*.dist-info"):
            shutil.rmtree(found)
        if version is not None:
            info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            (info / "entry_points.txt").write_text(ENTRY_POINTS)
        registry.refresh()

    monkeypatch.delenv("KERNREG_PLUGINS", raising=False)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    with registry.isolated():
        install("1.2")
        yield install
    sys.modules.pop("acme_plugin", None)
    sys.path_importer_cache.pop(str(folder), None)


@pytest.fixture
def saved(site, tmp_path):
    """A model that uses the made-up kernel and ensembler, in a file."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    model = kr.make_solver("ask-ls", kernel="cube(c=2.0)", ensembler="first").fit(X, X[:, 0] > 0)
    path = tmp_path / "model.kern"
    kr.save(model, path)
    return path, X, model


def test_a_model_of_a_plugin_comes_back(saved):
    path, X, model = saved
    again = kr.load(path)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert again.kernel_.family is model.kernel_.family


def test_data_classes_of_a_plugin_come_back_with_it(saved):
    report = kr.load(saved[0]).ensembler_.report_
    assert (type(report).__name__, report.steps, report.path.tolist()) == ("Report", 3, [0.0, 1.0, 2.0])
    names = [(asked.kind, asked.name, asked.distribution) for asked in describe(saved[0]).requirements]
    assert ("record", "acme_plugin:Report", "acme-plugin") in names


def test_a_data_class_that_a_plugin_no_longer_has_is_named(saved, monkeypatch):
    import acme_plugin

    monkeypatch.delattr(acme_plugin, "Report")
    with pytest.raises(ModelNeedsPlugin, match=r"has no such data class: pip install 'acme-plugin==1\.2'"):
        kr.load(saved[0])


def test_the_file_says_which_distributions_it_needs(saved):
    found = {(asked.kind, asked.name): (asked.distribution, asked.version) for asked in describe(saved[0]).requirements}
    assert found["kernel", "cube"] == ("acme-plugin", "1.2")
    assert found["ensembler", "first"] == ("acme-plugin", "1.2")
    assert found["solver", "ask-ls"] == ("kernreg", kr.__version__)


def test_a_missing_plugin_is_named_with_its_version_and_how_to_get_it(saved, site):
    site(None)
    with pytest.raises(ModelNeedsPlugin) as raised:
        kr.load(saved[0])
    message = str(raised.value)
    assert "needs the kernel 'cube' of acme-plugin 1.2, which is not there" in message
    assert "the ensembler 'first' of acme-plugin 1.2" in message
    assert "pip install 'acme-plugin==1.2'" in message
    assert describe(saved[0]).model["class"] == "AsKLSClassifier"  # which needs no plugin


def test_a_plugin_of_the_same_name_is_not_taken_for_it(saved, site):
    site("3.0", "other-plugin")
    with pytest.raises(ModelNeedsPlugin, match=r"other-plugin has another of that name, which is not taken for it"):
        kr.load(saved[0])


def test_a_blocked_plugin_is_not_imported_and_the_error_says_how_to_allow_it(saved, monkeypatch):
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    with pytest.raises(ModelNeedsPlugin, match=r"not allowed here: .*KERNREG_PLUGINS='none'.*set KERNREG_PLUGINS=acme"):
        kr.load(saved[0])
    monkeypatch.setenv("KERNREG_PLUGINS", "acme-plugin")
    kr.load(saved[0])


def test_a_blocked_plugin_is_not_imported_by_a_new_process(saved, tmp_path):
    code = (
        "import sys, kernreg as kr; from kernreg.errors import ModelNeedsPlugin\n"
        f"sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "try:\n    kr.load(sys.argv[1])\nexcept ModelNeedsPlugin as error:\n    print(error)\n"
        "print('acme_plugin' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(saved[0])],
        capture_output=True,
        text=True,
        env={**__import__("os").environ, "KERNREG_PLUGINS": "none"},
        timeout=120,
    )
    assert "KERNREG_PLUGINS='none' does not allow the distribution acme-plugin" in done.stdout, done.stderr
    assert done.stdout.endswith("False\n")


def test_a_broken_plugin_is_named_with_what_is_wrong(saved, site, tmp_path):
    (tmp_path / "site" / "acme_plugin.py").write_text("raise RuntimeError('out of order')")
    sys.modules.pop("acme_plugin")
    site("1.2.1")
    with pytest.raises(ModelNeedsPlugin, match=r"needs the .* of acme-plugin 1\.2, which does not work .*out of order"):
        kr.load(saved[0])


def test_another_version_is_warned_of_and_a_patch_is_not(saved, site):
    site("1.2.9")
    kr.load(saved[0])
    site("2.0")
    with pytest.warns(ModelVersionWarning, match=r"saved with acme-plugin 1\.2 \(here 2\.0\)"):
        kr.load(saved[0])


def test_a_plugin_may_say_what_is_to_be_saved(site, tmp_path):
    model = kr.make_solver("mean", shrink=0.5).fit(np.ones((4, 2)), [1.0, 2.0, 3.0, 6.0])
    kr.save(model, tmp_path / "mean.kern")
    again = kr.load(tmp_path / "mean.kern")
    assert again.predict([[0.0, 0.0]]).tolist() == [1.5]
    assert type(again.hidden_).__name__ == "Hidden"


def test_a_registered_kernel_is_found_where_it_is_registered_again(tmp_path):
    @kernel(of="dot")
    def homemade(dot):
        """⟨x, z⟩ + 1."""
        return dot + 1.0

    path = tmp_path / "homemade.kern"
    with registry.isolated():
        kr.register("kernel", "homemade", homemade)
        kr.save(homemade(), path)
        assert kr.load(path) == homemade()
    with pytest.raises(ModelNeedsPlugin, match=r"register it before loading: kernreg\.register\('kernel', 'homemade'"):
        kr.load(path)


def test_a_kernel_of_a_script_is_refused_with_what_to_do(tmp_path):
    @kernel(of="dot")
    def homemade(dot):
        """⟨x, z⟩ + 1."""
        return dot + 1.0

    X = np.random.default_rng(0).normal(size=(9, 2))
    model = kr.make_solver("ask-ls", kernel=homemade).fit(X, X[:, 0] > 0)
    with pytest.raises(UnsavableModel, match=r"AsKLSClassifier\.kernel .*the kernel 'homemade' is .*new-plugin"):
        kr.save(model, tmp_path / "model.kern")
    assert not list(tmp_path.iterdir())


def test_a_built_in_is_meant_even_where_another_is_preferred(tmp_path):
    @kernel(of="sqeuclidean")
    def other(d2):
        """Not the Gaussian."""
        return d2

    kr.save(kr.make_kernel("rbf"), tmp_path / "rbf.kern")
    with registry.isolated():
        kr.register("kernel", "rbf", other, replace=True)
        assert kr.load(tmp_path / "rbf.kern").family.module == "kernreg.kernels.builtin"
