"""Which numbers a picture of a spectrum shows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import sne, tl1
from kernreg.plotting import SpectrumDisplay


def drawn(display):
    """The points of each group, by label."""
    return {points.get_label(): np.asarray(points.get_offsets()) for points in display.ax_.collections}


def labels_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_eigenvalues_are_drawn_by_magnitude_and_sign():
    display = SpectrumDisplay([1.0, -3.0, 2.0, 0.5, -0.1]).plot(scale="log")
    found = drawn(display)
    np.testing.assert_allclose(found["3 positive"], [[2, 2.0], [3, 1.0], [4, 0.5]])
    np.testing.assert_allclose(found["2 negative"], [[1, 3.0], [5, 0.1]])
    assert display.ax_.get_yscale() == "log"
    assert "signature (3, 2)" in display.ax_.get_title()


def test_zeros_are_counted_not_drawn_on_a_logarithmic_scale():
    display = SpectrumDisplay([1.0, 1e-18, -1e-18]).plot(scale="log")
    assert display.signature == (1, 0)
    assert labels_of(display.ax_) == ["1 positive", "2 zero, not shown"]
    linear = SpectrumDisplay([1.0, 1e-18, -1e-18]).plot(scale="linear")
    assert set(drawn(linear)) == {"1 positive", "2 zero"}


def test_the_scale_follows_the_range():
    assert SpectrumDisplay([3.0, 2.0, 1e-18]).plot().ax_.get_yscale() == "linear"
    assert SpectrumDisplay([3.0, 0.01]).plot().ax_.get_yscale() == "log"
    assert SpectrumDisplay([0.0, 0.0]).plot().ax_.get_yscale() == "linear"


def test_the_spectrum_of_a_symmetric_matrix_is_its_eigenvalues():
    X = np.random.default_rng(0).normal(size=(20, 3))
    K = tl1(rho=4.0)(X)
    display = SpectrumDisplay.from_kernel("tl1(rho=4.0)", X)
    expected = np.linalg.eigvalsh(K)
    np.testing.assert_allclose(np.sort(display.values), expected, atol=1e-10)
    assert display.signature == (int((expected > 0).sum()), int((expected < 0).sum()))
    assert display.kind == "eigenvalues"


@pytest.mark.parametrize("other", [None, 7], ids=["square", "rectangular"])
def test_the_spectrum_of_any_other_matrix_is_its_singular_values(other):
    X = np.random.default_rng(0).normal(size=(20, 3))
    Z = None if other is None else X[:other]
    K = sne(sigma=1.0)(X, Z)
    display = SpectrumDisplay.from_kernel(sne(sigma=1.0), X, Z)
    np.testing.assert_allclose(display.values, np.linalg.svd(K, compute_uv=False), atol=1e-12)
    assert display.kind == "singular values"
    J, L = (np.eye(n) - 1.0 / n for n in K.shape)
    centred = SpectrumDisplay.from_matrix(K, centred=True)
    np.testing.assert_allclose(centred.values, np.linalg.svd(J @ K @ L, compute_uv=False), atol=1e-12)


def test_a_fitted_decomposition_shows_what_it_kept(plt):
    _, axes = plt.subplots(1, 2)
    eigen = SpectrumDisplay.from_estimator(SimpleNamespace(eigenvalues_=np.array([2.0, -1.0])), ax=axes[0])
    singular = SpectrumDisplay.from_estimator(SimpleNamespace(singular_values_=np.array([2.0, 1.0])), ax=axes[1])
    assert (eigen.ax_, singular.ax_) == (axes[0], axes[1])
    assert (eigen.kind, singular.kind) == ("eigenvalues", "singular values")
    with pytest.raises(DataError, match="neither eigenvalues_ nor singular_values_"):
        SpectrumDisplay.from_estimator(SimpleNamespace())


def test_what_is_no_spectrum_is_refused():
    with pytest.raises(DataError, match="empty or not finite"):
        SpectrumDisplay([1.0, np.nan])
    with pytest.raises(ParameterError, match="kind='singular'"):
        SpectrumDisplay([1.0], "singular")
    with pytest.raises(ParameterError, match="scale='symlog'"):
        SpectrumDisplay([1.0]).plot(scale="symlog")
