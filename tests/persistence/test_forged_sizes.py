"""Forged files whose parts do not fit each other, are far too many, or name folders of pickles are refused at once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from persistence.forge import Forger
from sklearn.cluster import AgglomerativeClustering
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernreg as kr
from kernreg.errors import DamagedModelFile, UnsavableModel
from kernreg.kernels.combinations.learned import corrected
from kernreg.persistence.kernel_sizes import MAX_KERNELS


def test_a_kernel_of_millions_of_kernels_is_refused_without_making_it(tmp_path):
    kr.save(kr.make_kernel("rbf(sigma=2.0)") + kr.make_kernel("linear"), tmp_path / "sum.kern")

    def tower(forger):
        kernel = forger.model["root"]["kernel"]
        family, level = kernel["family"], {**kernel["parameters"]["left"], "id": 100}
        for number in range(101, 131):
            shared = {"ref": number - 1} if number > 101 else {"ref": 100}
            first = level if number == 101 else {**level}
            level = {"kernel": {"family": family, "parameters": {"left": first, "right": shared}}, "id": number}
        forger.model["root"] = level

    Forger(tmp_path / "sum.kern").write(tmp_path / "tower.kern", tower)
    with pytest.raises(DamagedModelFile, match=f"more than {MAX_KERNELS} kernels"):
        kr.load(tmp_path / "tower.kern")


def test_such_a_kernel_is_not_saved_either_and_long_sums_are():
    kernel = kr.make_kernel("rbf(sigma=2.0)")
    for _ in range(12):
        kernel = kernel + kernel
    with pytest.raises(UnsavableModel, match=f"more than {MAX_KERNELS} kernels"):
        kr.save(kernel, Path("never.kern"))
    assert not Path("never.kern").exists()


def test_sums_of_a_few_shared_kernels_come_back(tmp_path):
    kernel = kr.make_kernel("rbf(sigma=2.0)")
    for _ in range(6):
        kernel = kernel + kernel
    kr.save(kernel, tmp_path / "a.kern")
    np.testing.assert_array_equal(kr.load(tmp_path / "a.kern")(np.eye(3)), kernel(np.eye(3)))


def test_loading_a_learned_kernel_evaluates_none(tmp_path):
    X = np.random.default_rng(0).normal(size=(5, 2))
    kr.save(corrected("centered('rbf(sigma=2.0)')", samples=X, correction=np.eye(5)), tmp_path / "a.kern")
    kr.load(tmp_path / "a.kern")

    def unbind(forger):
        parameters = forger.model["root"]["kernel"]["parameters"]
        parameters["kernel"] = parameters["kernel"]["bound"]["kernel"]

    Forger(tmp_path / "a.kern").write(tmp_path / "b.kern", unbind)
    with pytest.raises(DamagedModelFile, match="loading evaluates no kernel"):
        kr.load(tmp_path / "b.kern")


@pytest.mark.parametrize(
    "model", [make_pipeline(StandardScaler()), AgglomerativeClustering()], ids=lambda m: type(m).__name__
)
def test_a_folder_of_pickles_is_neither_saved_nor_loaded(model, tmp_path):
    kr.save(model, tmp_path / "a.kern")

    def remember(forger):
        forger.state["memory"] = str(tmp_path / "pickles")

    Forger(tmp_path / "a.kern").write(tmp_path / "b.kern", remember)
    with pytest.raises(DamagedModelFile, match="folder of pickles"):
        kr.load(tmp_path / "b.kern")
    with pytest.raises(UnsavableModel, match="memory=None"):
        kr.save(model.set_params(memory=str(tmp_path / "pickles")), tmp_path / "c.kern")


def test_a_folder_is_not_a_model(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; a model is a single file"):
        kr.load(tmp_path)


# What compiled code of scikit-learn reads by the lengths of other arrays.
CHILD = """
    import sys, warnings
    warnings.simplefilter("ignore")
    import numpy as np
    from pathlib import Path
    sys.path.insert(0, {tests!r})
    import kernreg as kr
    from kernreg.errors import DamagedModelFile
    from persistence.forge import Forger
    from sklearn import cluster, decomposition, neighbors
    folder = Path({folder!r})
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(60, 5))); y = (X[:, 0] > X[:, 1]).astype(int)
    MODELS = {models}
    for name, (model, attributes) in MODELS.items():
        kr.save(model.fit(X, y), folder / "whole.kern")
        assert len(kr.load(folder / "whole.kern").get_params()) > 0
        forger = Forger(folder / "whole.kern")
        for attribute in attributes:
            for change in (
                           lambda a: a[: len(a) // 2], lambda a: a[:0], lambda a: np.concatenate([a, a]),
                           lambda a: a[:, :1] if a.ndim > 1 else a + 1000, lambda a: a.astype("f2")):
                if name == "regression" and attribute == "_y" and change(np.arange(3.0)).max(initial=0.0) > 1000:
                    continue  # targets may be any numbers
                value = np.ascontiguousarray(change(np.asarray(getattr(model, attribute))))

                def forge(forger):
                    forger.state[attribute] = {{"array": forger.add_array(value)}}

                forger.write(folder / "forged.kern", forge)
                try:
                    kr.load(folder / "forged.kern")
                except DamagedModelFile:
                    continue
                raise AssertionError((name, attribute, value.shape, value.dtype))
    print("refused")
"""
MODELS = """{
    "neighbours": (neighbors.KNeighborsClassifier(algorithm="brute"), ["_fit_X", "_y"]),
    "regression": (neighbors.KNeighborsRegressor(algorithm="brute"), ["_fit_X", "_y"]),
    "radius": (neighbors.RadiusNeighborsClassifier(radius=9.0, algorithm="brute"), ["_fit_X", "_y"]),
    "kmeans": (cluster.KMeans(3, n_init=1), ["cluster_centers_"]),
    "minibatch": (cluster.MiniBatchKMeans(3, n_init=1), ["cluster_centers_"]),
    "topics": (decomposition.LatentDirichletAllocation(3, max_iter=2), ["components_", "exp_dirichlet_component_"]),
    "nmf": (decomposition.NMF(3, max_iter=5), ["components_"]),
}"""


def test_arrays_of_estimators_that_do_not_fit_each_other_are_refused(tmp_path):
    code = textwrap.dedent(CHILD).format(tests=str(Path(__file__).parents[1]), folder=str(tmp_path), models=MODELS)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout.strip()) == (0, "refused"), done.stderr[-2000:]
