"""Every law of kernels is broken by a kernel made wrong in just that way, and kept by the right one.

`Plain` is a kernel by the public interface alone, in plain numpy: parts of it can be made wrong that the
decorator does not let anyone get wrong. The lies a plugin's author can really tell, by declaring what does
not hold, are tried with the decorator in test_decorated_kernels.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from kernreg.errors import DataError, ParameterError
from kernreg.testing import LawViolation, check_kernel, kernel_checks, verdicts


class Parameter:
    required = object()

    def __init__(self, name, default, domain):
        self.name, self.default, self.domain = name, default, domain


class Family:
    """Makes kernels of one class, as the decorator's families do."""

    __kernreg_kernel__ = True
    formula = doc = "exp(-|x - z|² / sigma²)."
    of, inputs = "sqeuclidean", "real"
    parameters = (Parameter("sigma", 1.0, "a positive number"),)

    def __init__(self, kernel):
        self.kernel = kernel
        self.name = kernel.name
        self.symmetric, self.definite, self.normalize = kernel.symmetric, kernel.definite, kernel.normalize

    def __call__(self, sigma=1.0):
        return self.kernel(sigma)

    def example(self, rng, n):
        return self.kernel(1.5), rng.standard_normal((n, 3))


class Plain:
    """The Gaussian, with everything done in the simplest way."""

    name, symmetric, definite, normalize = "plain", True, True, None

    def __init__(self, sigma=1.0):
        self.sigma = sigma

    @property
    def family(self):
        return Family(type(self))

    # values

    def formula(self, X, Z):
        return np.exp(-((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2) / self.sigma**2)

    def checked(self, array):
        try:
            array = np.asarray(array)
            array = array if array.dtype == np.float32 else array.astype(float)
        except ValueError as error:
            raise DataError(f"numbers are needed: {error}") from error
        if array.ndim != 2 or not np.all(np.isfinite(array)):
            raise DataError(f"a two-dimensional array of finite numbers is needed, got shape {array.shape}")
        return array

    def __call__(self, X, Z=None, out=None):
        if not self.sigma > 0:
            raise ParameterError(f"sigma={self.sigma} is not positive")
        X = self.checked(X)
        Z = X if Z is None else self.checked(Z)
        if X.shape[1] != Z.shape[1]:
            raise DataError(f"{X.shape[1]} and {Z.shape[1]} features")
        K = self.formula(X, Z)
        if out is None:
            return K
        if out.shape != K.shape:
            raise DataError(f"out has shape {out.shape}, {K.shape} is needed")
        out[...] = K
        return out

    def scalar(self, x, z):
        return np.exp(-np.sum((x - z) ** 2) / self.sigma**2)

    def blocks(self, X, Z):
        for start in range(0, len(X), 4):
            rows = slice(start, start + 4)
            yield rows, self(X[rows], Z)

    def operator(self, X, Z):
        K = self(X, Z)
        return LinearOperator(K.shape, matvec=lambda v: K @ v, rmatvec=lambda u: K.T @ u, dtype=K.dtype)

    def bind(self, Z):
        return self

    @property
    def T(self):
        return self

    # the object

    def get_params(self, deep=True):
        return {"sigma": self.sigma}

    def set_params(self, **params):
        if set(params) - {"sigma"}:
            raise ParameterError(f"unknown parameters {params}; the parameter is sigma")
        return type(self)(**{**self.get_params(), **params})

    def __eq__(self, other):
        return type(other) is type(self) and other.sigma == self.sigma

    def __hash__(self):
        return hash(self.sigma)

    def __repr__(self):
        return f"{self.name}(sigma={self.sigma})"


class RowNormalised(Plain):
    """The Gaussian divided by its sum over the reference set."""

    symmetric, definite, normalize = False, None, "rows"
    reference = None

    def formula(self, X, Z):
        K = super().formula(X, Z)
        over = Z if self.reference is None else self.reference
        return K / super().formula(X, over).sum(axis=1, keepdims=True)

    def bind(self, Z):
        bound = type(self)(self.sigma)
        bound.reference = Z
        return bound

    def scalar(self, x, z):
        sums = sum(Plain.scalar(self, x, r) for r in self.reference)
        return Plain.scalar(self, x, z) / sums

    @property
    def T(self):
        return Transposed(self)


class Transposed:
    def __init__(self, kernel):
        self.kernel = kernel

    def __call__(self, X, Z):
        return self.kernel(Z, X).T


@pytest.mark.parametrize("kernel", [Plain, RowNormalised])
def test_a_right_kernel_keeps_every_law(kernel):
    check_kernel(Family(kernel))
    check_kernel(kernel(2.0))


def test_laws_that_say_nothing_about_a_kernel_are_reported_with_the_reason():
    excused = {v.law: v.detail for v in verdicts(Family(RowNormalised)) if v.outcome == "not applicable"}
    assert excused["declared symmetry"] == "it is not declared symmetric"
    assert excused["declared definiteness"] == "it is not declared definite"
    assert "rows sum to one" not in excused
    assert all(v.outcome in ("held", "not applicable") for v in verdicts(Family(RowNormalised)))


# One wrong kernel per law. Each is right in all that the earlier laws ask.


class WrongShape(Plain):
    def formula(self, X, Z):
        return super().formula(X, Z).T


class NotFinite(Plain):
    def formula(self, X, Z):
        with np.errstate(divide="ignore"):
            return 1.0 / (1.0 - super().formula(X, Z))


class Random(Plain):
    rng = np.random.default_rng(0)

    def formula(self, X, Z):
        return super().formula(X, Z) + 1e-6 * self.rng.random((len(X), len(Z)))


class Mutating(Plain):
    def __call__(self, X, Z=None, out=None):
        K = super().__call__(X, Z, out)
        if isinstance(X, np.ndarray):
            X *= 1.0 + 1e-12
        return K


class Asymmetric(Plain):
    def formula(self, X, Z):
        return super().formula(X, Z) * (2.0 + np.tanh(Z[:, 0]))


class Mirrored(Asymmetric):
    symmetric, definite = False, None

    def __call__(self, X, Z=None, out=None):
        K = super().__call__(X, Z, out)
        return np.tril(K) + np.tril(K, -1).T if Z is None else K


class MirroredThoughDeclaredSymmetric(Asymmetric):
    """k(X) looks symmetric; only the two-argument form shows that the formula is not."""

    def __call__(self, X, Z=None, out=None):
        K = super().__call__(X, Z, out)
        return np.tril(K) + np.tril(K, -1).T if Z is None else K


class Indefinite(Plain):
    def formula(self, X, Z):
        return np.tanh(X @ Z.T - 1.0)


class OtherScalar(Plain):
    def scalar(self, x, z):
        return super().scalar(x, z) + 1e-4


class WrongSums(RowNormalised):
    def formula(self, X, Z):
        return super().formula(X, Z) * 1.01

    def scalar(self, x, z):
        return super().scalar(x, z) * 1.01


class BlockDependent(Plain):
    """Normalises by the block it happens to see."""

    symmetric, definite = False, None

    def formula(self, X, Z):
        K = super().formula(X, Z)
        return K / K.max() if len(X) < 10 else K


class OrderDependent(Plain):
    """Right as long as the samples come as they were drawn."""

    symmetric, definite = False, None

    def formula(self, X, Z):
        K = super().formula(X, Z)
        firsts = [np.random.default_rng([0, draw]).standard_normal(3) for draw in range(3)]
        in_order = any(np.array_equal(X[0], first) for first in firsts)
        return K if in_order or len(X) < 10 else K + 0.01


class IgnoresBuffer(Plain):
    def __call__(self, X, Z=None, out=None):
        super().__call__(X, Z, out)
        return super().__call__(X, Z)


class LosesRows(Plain):
    def blocks(self, X, Z):
        yield from list(super().blocks(X, Z))[:-1]


class RepeatsRows(Plain):
    def blocks(self, X, Z):
        yield from super().blocks(X, Z)
        yield slice(0, 1), self(X[:1], Z)


class WrongAdjoint(Plain):
    def operator(self, X, Z):
        K = self(X, Z)
        return LinearOperator(K.shape, matvec=lambda v: K @ v, rmatvec=lambda u: -(K.T @ u), dtype=K.dtype)


class WrongTranspose(RowNormalised):
    @property
    def T(self):
        return self


class WidensFloat32(Plain):
    def formula(self, X, Z):
        return super().formula(X.astype(float), Z.astype(float))


class ImprecisePair(Plain):
    """Loses its digits in float32 only."""

    def formula(self, X, Z):
        K = super().formula(X, Z)
        return np.round(K, 1) if K.dtype == np.float32 else K


class ForgetsParameters(Plain):
    def set_params(self, **params):
        super().set_params(**params)
        return type(self)(9.0)


class ChangesInPlace(Plain):
    def set_params(self, **params):
        self.sigma = super().set_params(**params).sigma
        return self


class AcceptsAnyParameter(Plain):
    def set_params(self, **params):
        params.pop("no_such_parameter", None)
        return super().set_params(**params)


class HashedByIdentity(Plain):
    def __hash__(self):
        return id(self)


class UnreadableText(Plain):
    def __repr__(self):
        return f"{self.name}(sigma={self.sigma + 1})"


class OtherAfterPickling(Plain):
    def __reduce__(self):
        return Plain, (self.sigma,)


class AcceptsNaN(Plain):
    def checked(self, array):
        array = np.asarray(array, dtype=None)
        return super().checked(np.nan_to_num(array) if array.dtype.kind == "f" else array)


class AcceptsMoreFeatures(Plain):
    def __call__(self, X, Z=None, out=None):
        if Z is not None and np.ndim(X) == np.ndim(Z) == 2:
            d = min(np.shape(X)[1], np.shape(Z)[1])
            X, Z = np.asarray(X)[:, :d], np.asarray(Z)[:, :d]
        return super().__call__(X, Z, out)


class PlainValueError(Plain):
    def checked(self, array):
        try:
            return super().checked(array)
        except DataError as error:
            raise ValueError(str(error)) from None


class AcceptsNaNParameter(Plain):
    def __call__(self, X, Z=None, out=None):
        return Plain(2.0)(X, Z, out) if np.isnan(self.sigma) else super().__call__(X, Z, out)


class Crashes(Plain):
    def formula(self, X, Z):
        raise ZeroDivisionError("inside the plugin")


WRONG = [
    (WrongShape, "shape", r"k\(X, Z\) has shape \(9, 13\), expected \(13, 9\)"),
    (NotFinite, "shape", "must be finite"),
    (Crashes, "shape", "it raised ZeroDivisionError: inside the plugin"),
    (Random, "determinism", "two evaluations"),
    (Mutating, "input untouched", "X was modified"),
    (Asymmetric, "declared symmetry", r"k\(x, z\) = .* but k\(z, x\) = .* for x = \[.*\], z = \[.*\]"),
    (MirroredThoughDeclaredSymmetric, "declared symmetry", "symmetric=False"),
    (Mirrored, "one argument or two", r"k\(X\) is not k\(X, X\)"),
    (Indefinite, "declared definiteness", r"eigenvalue -"),
    (OtherScalar, "scalar agreement", "but the formula gives"),
    (WrongSums, "rows sum to one", "= 1.01"),
    (BlockDependent, "block independence", "rows computed alone"),
    (OrderDependent, "permutation", "permuted samples"),
    (IgnoresBuffer, "output buffer", "not the buffer"),
    (LosesRows, "streamed blocks", "row 12 .* 0 times"),
    (RepeatsRows, "streamed blocks", "row 0 .* 2 times"),
    (WrongAdjoint, "operator", "Kᵀ u"),
    (WrongTranspose, "transpose", "k.T"),
    (WidensFloat32, "float32 kept", "float64, expected float32"),
    (ImprecisePair, "float32 kept", "difference"),
    (ForgetsParameters, "parameters", "expected plain"),
    (ChangesInPlace, "parameters", "in place"),
    (AcceptsAnyParameter, "parameters", "nothing was raised"),
    (HashedByIdentity, "equality and hash", "different hashes"),
    (UnreadableText, "text form", "reads back as"),
    (OtherAfterPickling, "pickle", "after pickling"),
    (AcceptsNaN, "wrong samples", "with nan in X: expected DataError, but nothing was raised"),
    (AcceptsMoreFeatures, "wrong samples", "one feature more"),
    (PlainValueError, "wrong samples", "expected DataError, but ValueError"),
    (AcceptsNaNParameter, "wrong parameters", "sigma=nan"),
]


@pytest.mark.parametrize(("kernel", "law", "message"), WRONG, ids=[kernel.__name__ for kernel, *_ in WRONG])
def test_a_wrong_kernel_fails_at_the_law_it_breaks(kernel, law, message):
    with pytest.raises(LawViolation, match=message) as caught:
        check_kernel(Family(kernel))
    assert caught.value.law == law
    assert caught.value.subject == "kernel plain"


def test_every_law_of_kernels_is_broken_by_some_wrong_kernel():
    laws = {check.law.name for kernel in (Plain, RowNormalised) for check in kernel_checks(Family(kernel))}
    assert laws - {law for _, law, _ in WRONG} == {"documented formula"}


def test_a_wrong_factorisation_for_sparse_samples_fails():
    from kernreg import kernel
    from kernreg.engine.program import Split
    from kernreg.jit import exp, expm1

    def side(norm, sigma):
        return -norm / sigma  # wrong: -norm / sigma²

    def excess(dot, sigma):
        return expm1(2.0 * dot / (sigma * sigma))

    @kernel(of="sqeuclidean", symmetric=True, definite=True, split=Split(side, side, excess))
    def misplaced(d2, sigma=1.7):
        """exp(-|x - y|² / sigma²)."""
        return exp(-d2 / (sigma * sigma))

    with pytest.raises(LawViolation, match="separable") as caught:
        check_kernel(misplaced)
    assert caught.value.law == "sparse samples"


def test_a_kernel_without_a_docstring_fails():
    family = Family(Plain)
    family.formula = ""
    with pytest.raises(LawViolation, match="no docstring") as caught:
        check_kernel(family)
    assert caught.value.law == "documented formula"


def test_samples_given_by_the_caller_are_used():
    seen = []

    def samples(rng, n):
        seen.append(n)
        return rng.random((n, 5))

    check_kernel(Plain(0.7), samples=samples)
    assert seen


def test_a_kernel_without_samples_says_what_to_pass():
    kernel = Plain()
    orphan = type("Orphan", (Plain,), {"family": None})()
    assert kernel.family is not None
    with pytest.raises(LawViolation, match="Pass samples="):
        check_kernel(orphan)


def test_negative_values_must_be_refused_where_they_are_declared_impossible():
    family = Family(Plain)
    family.inputs = "nonnegative"
    with pytest.raises(LawViolation, match="with a negative value in X") as caught:
        check_kernel(family)
    assert caught.value.law == "wrong samples"
