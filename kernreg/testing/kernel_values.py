"""The laws about the numbers of a kernel: it does what it declares, however it is asked."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from kernreg.testing.arrays import TOLERANCE_FLOAT32, require_close, require_same, scale, show, unchanged, worst_entry
from kernreg.testing.kernel_case import COLUMNS, ROWS, KernelCase
from kernreg.testing.laws import LawBook, fail

VALUE_LAWS = LawBook("kernel")

DRAWS = range(3)

# Eigenvalues of a positive semi-definite matrix come out negative by rounding; an indefinite kernel on random
# data is negative by many orders of magnitude more.
EIGENVALUE_TOLERANCE = 1e-8


@VALUE_LAWS.law("shape")
def shape(case: KernelCase) -> None:
    """k(X, Z) is an n × m array of finite floats and k(X) is n × n."""
    kernel, X, Z = case.pair()
    for K, expected, call in [(kernel(X, Z), (ROWS, COLUMNS), "k(X, Z)"), (kernel(X), (ROWS, ROWS), "k(X)")]:
        K = np.asarray(K)
        if K.shape != expected:
            fail(f"{call} has shape {K.shape}, expected {expected}")
        if not np.issubdtype(K.dtype, np.floating):
            fail(f"{call} has dtype {K.dtype}, expected a float")
        if not np.all(np.isfinite(K)):
            i, j = (int(i) for i in np.argwhere(~np.isfinite(K))[0])
            right = Z if call == "k(X, Z)" else X
            fail(f"k(x, z) = {K[i, j]} for x = {show(X[i])}, z = {show(right[j])}; it must be finite")


@VALUE_LAWS.law("input untouched")
def input_untouched(case: KernelCase) -> None:
    """Evaluating a kernel changes neither X nor Z."""
    kernel, X, Z = case.pair()
    X_before, Z_before = deepcopy(X), deepcopy(Z)
    kernel(X, Z)
    kernel(X)
    for name, now, before in [("X", X, X_before), ("Z", Z, Z_before)]:
        if not unchanged(now, before):
            fail(f"{name} was modified by evaluating the kernel")


@VALUE_LAWS.law("determinism")
def determinism(case: KernelCase) -> None:
    """Evaluating twice gives the same numbers, bit for bit."""
    kernel, X, Z = case.pair()
    require_same(kernel(X, Z), kernel(X, Z), "two evaluations of k(X, Z) differ")


@VALUE_LAWS.law(
    "declared symmetry",
    excuse=lambda case: None if case.declares_symmetry() else "it is not declared symmetric",
)
def declared_symmetry(case: KernelCase) -> None:
    """A kernel declared symmetric has k(x, z) = k(z, x)."""
    for draw in DRAWS:
        kernel, X, Z = case.bound_pair(draw)
        # k(X) may be mirrored from one half, which hides asymmetry: the two-argument form cannot hide it.
        forward, backward = np.asarray(kernel(X, Z)), np.asarray(kernel(Z, X)).T
        (i, j), difference = worst_entry(forward, backward)
        if not difference <= 1e-9 * scale(forward):
            fail(
                f"k(x, z) = {float(forward[i, j])!r} but k(z, x) = {float(backward[i, j])!r} "
                f"for x = {show(X[i])}, z = {show(Z[j])}. Declare symmetric=False, or correct the formula"
            )
        K = np.asarray(kernel(X))
        require_close(K, K.T, "k(X) is not its own transpose", names=("k(X)", "k(X).T"))


@VALUE_LAWS.law("one argument or two")
def one_argument_or_two(case: KernelCase) -> None:
    """k(X) is k(X, X): no half of an asymmetric matrix is mirrored onto the other."""
    for draw in DRAWS:
        kernel, X, _ = case.bound_pair(draw)
        require_close(kernel(X), kernel(X, X.copy()), "k(X) is not k(X, X)", names=("k(X)", "k(X, X)"))


@VALUE_LAWS.law(
    "declared definiteness",
    excuse=lambda case: None if case.declared.definite is True else "it is not declared definite",
)
def declared_definiteness(case: KernelCase) -> None:
    """A kernel declared definite has k(X) without negative eigenvalues."""
    for draw in DRAWS:
        kernel, X = case.draw(2 * ROWS, draw)
        K = np.asarray(kernel(X), dtype=float)
        eigenvalues = np.linalg.eigvalsh((K + K.T) / 2)
        if not eigenvalues[0] >= -EIGENVALUE_TOLERANCE * scale(eigenvalues):
            fail(
                f"k(X) has the eigenvalue {eigenvalues[0]:.6g} (the largest is {eigenvalues[-1]:.6g}) for "
                f"{X.shape[0]} random samples of {kernel!r}, seed {case.seed}. Declare definite=False, or "
                "restrict the parameters"
            )


@VALUE_LAWS.law("scalar agreement")
def scalar_agreement(case: KernelCase) -> None:
    """Every entry of k(X, Z) is the plain Python formula at that pair of samples."""
    for draw in DRAWS:
        kernel, X, Z = case.bound_pair(draw)
        K = np.asarray(kernel(X, Z), dtype=float)
        expected = np.array([[float(kernel.scalar(x, z)) for z in Z] for x in X])
        (i, j), difference = worst_entry(K, expected)
        if not difference <= 1e-9 * scale(expected):
            fail(
                f"k(X, Z)[{i}, {j}] = {float(K[i, j])!r} but the formula gives {float(expected[i, j])!r} "
                f"for x = {show(X[i])}, z = {show(Z[j])}"
            )


@VALUE_LAWS.law(
    "rows sum to one",
    excuse=lambda case: None if case.declared.normalize == "rows" else "it is not declared normalised by rows",
)
def rows_sum_to_one(case: KernelCase) -> None:
    """The rows of a row-normalised kernel sum to 1 over the reference set."""
    kernel, X, Z = case.pair()
    for K, call in [
        (kernel(X), "k(X)"),
        (kernel(X, Z), "k(X, Z)"),
        (kernel.bind(Z)(X, Z), "k.bind(Z)(X, Z)"),
    ]:
        sums = np.asarray(K, dtype=float).sum(axis=1)
        require_close(sums, np.ones_like(sums), f"row sums of {call}", names=("the sum", "it"))


@VALUE_LAWS.law("block independence")
def block_independence(case: KernelCase) -> None:
    """A block of rows, or of columns, is computed as it is inside the whole matrix."""
    kernel, X, Z = case.bound_pair()
    K = np.asarray(kernel(X, Z))
    rows, columns = slice(2, 7), slice(1, 5)
    require_close(kernel(X[rows], Z), K[rows], "rows computed alone", names=("alone", "in the whole"))
    part = kernel(X, Z[columns])
    require_close(part, K[:, columns], "columns computed alone", names=("alone", "in the whole"))


@VALUE_LAWS.law("permutation")
def permutation(case: KernelCase) -> None:
    """Reordering the samples reorders the values and changes nothing else."""
    kernel, X, Z = case.pair()
    rng = np.random.default_rng(case.seed)
    p, q = rng.permutation(ROWS), rng.permutation(COLUMNS)
    K = np.asarray(kernel(X, Z))
    require_close(kernel(X[p], Z[q]), K[np.ix_(p, q)], "permuted samples", names=("k(X[p], Z[q])", "k(X, Z)[p, q]"))


@VALUE_LAWS.law("output buffer")
def output_buffer(case: KernelCase) -> None:
    """k(X, Z, out=buffer) fills the buffer with the same numbers and returns it."""
    kernel, X, Z = case.pair()
    K = np.asarray(kernel(X, Z))
    buffer = np.full(K.shape, np.nan, dtype=K.dtype)
    result = kernel(X, Z, out=buffer)
    if result is not buffer:
        fail(f"k(X, Z, out=buffer) returned another {type(result).__name__}, not the buffer")
    require_same(buffer, K, "the buffer does not hold k(X, Z)")


@VALUE_LAWS.law("streamed blocks")
def streamed_blocks(case: KernelCase) -> None:
    """The row blocks of k.blocks(X, Z) cover every row once and together are k(X, Z)."""
    kernel, X, Z = case.pair()
    K = np.asarray(kernel(X, Z))
    streamed = np.full(K.shape, np.nan, dtype=K.dtype)
    times = np.zeros(len(K), dtype=int)
    for rows, block in kernel.blocks(X, Z):
        streamed[rows] = block
        times[rows] += 1
    if np.any(times != 1):
        row = int(np.argmax(times != 1))
        fail(f"row {row} of k(X, Z) was streamed {times[row]} times, expected once")
    require_close(streamed, K, "streamed blocks", names=("streamed", "k(X, Z)"))


@VALUE_LAWS.law("operator")
def operator(case: KernelCase) -> None:
    """k.operator(X, Z) multiplies as k(X, Z) does, and its adjoint as the transpose."""
    kernel, X, Z = case.pair()
    K = np.asarray(kernel(X, Z))
    op = kernel.operator(X, Z)
    if tuple(op.shape) != K.shape:
        fail(f"the operator has shape {tuple(op.shape)}, the matrix {K.shape}")
    rng = np.random.default_rng(case.seed)
    v, V = rng.standard_normal(COLUMNS), rng.standard_normal((COLUMNS, 3))
    u, U = rng.standard_normal(ROWS), rng.standard_normal((ROWS, 2))
    for got, expected, product in [
        (op.matvec(v), K @ v, "K v"),
        (op.matmat(V), K @ V, "K V"),
        (op.rmatvec(u), K.T @ u, "Kᵀ u"),
        (op.rmatmat(U), K.T @ U, "Kᵀ U"),
    ]:
        require_close(got, expected, product, names=("the operator", "the matrix"))


@VALUE_LAWS.law("sparse samples", excuse=lambda case: case.why_not_sparse())
def sparse_samples(case: KernelCase) -> None:
    """Sparse samples give the values of the same samples held dense, in the matrix and in products."""
    kernel, X, Z = case.sparse_pair()
    dense = np.asarray(kernel(X.toarray(), Z.toarray()))
    require_close(kernel(X, Z), dense, "sparse samples give other values", names=("sparse", "dense"))
    operator = kernel.operator(X, Z)
    product = operator @ np.eye(Z.shape[0])
    require_close(product, dense, f"products in {operator.form!r} form are not those of the matrix")


@VALUE_LAWS.law("transpose")
def transpose(case: KernelCase) -> None:
    """k.T(Z, X) is the transpose of k(X, Z)."""
    kernel, X, Z = case.bound_pair()
    require_close(kernel.T(Z, X), np.asarray(kernel(X, Z)).T, "k.T", names=("k.T(Z, X)", "k(X, Z).T"))


@VALUE_LAWS.law("float32 kept", excuse=lambda case: None if case.has_numbers else "its samples are not rows of numbers")
def float32_kept(case: KernelCase) -> None:
    """float32 samples give float32 values, close to those in float64."""
    kernel, X, Z = case.pair()
    X, Z = X.astype(np.float32), Z.astype(np.float32)
    K = np.asarray(kernel(X, Z))
    if K.dtype != np.float32:
        fail(f"k(X, Z) of float32 samples has dtype {K.dtype}, expected float32")
    expected = np.asarray(kernel(X.astype(float), Z.astype(float)))
    require_close(K, expected, "float32", names=("float32", "float64"), tolerance=TOLERANCE_FLOAT32)


@VALUE_LAWS.law(
    "width in words",
    excuse=lambda case: None if getattr(case.family, "widths", ()) else "it has no parameter that is a width",
)
def width_in_words(case: KernelCase) -> None:
    """A width given as a word becomes a number when the kernel is bound: of the samples' scale, and kept afterwards."""
    kernel, X = case.draw(ROWS)
    grows = case.family.of in ("sqeuclidean", "l1")
    for name in case.family.widths:
        for word in ("scale", "median", "2*scale"):
            unbound = kernel.set_params(**{name: word})
            bound = unbound.bind(X)
            number = bound.get_params(deep=False)[name]
            if not isinstance(number, float) or not number > 0.0:
                fail(f"{unbound!r} bound to samples has {name}={number!r}; it must be a positive number")
            require_same(unbound(X), bound(X), f"k(X) of {unbound!r} is not that of the kernel bound to X")
            given = kernel.set_params(**{name: number}).bind(X)
            new = X[:COLUMNS]
            require_same(bound(new, X), given(new, X), f"{unbound!r} bound to X is not that with {name}={number!r}")
            larger = unbound.bind(3.0 * X).get_params(deep=False)[name] if grows else 3.0 * number
            require_close(larger, 3.0 * number, f"{name}={word!r} of samples three times as large")
