"""The coefficient of Gower for blocks of pairs, compiled: two columns in one pass along the second samples.

The columns that count stand in pairs, first those of numbers, then those of values that are equal or not; an odd one
has a column of nothing beside it. Sums run over pairs in this order, whether a value is missing or not: a coefficient
has the same bits in every block, and with its samples exchanged.
"""

from __future__ import annotations

import numpy as np

from kernreg.engine import compiled_loop

NOTHING = -1  # in the place of a column
_STEP = 32  # columns of a row on the diagonal are a multiple of this
_SIZE = 8  # bytes of a number: a constant, so that the compiler knows the stride


@compiled_loop
def _paired_columns(of_X, of_Z):
    """Which columns count, and how many of them are numbers, for both sides.

    One side may have nothing but missing values in a column, and then does not know what the other holds.
    """
    d = of_X.shape[1]
    order, count, numbers = np.full(d + 2, NOTHING), 0, 0
    for equal in (False, True):
        for k in range(d):
            if of_X[1, k] > 0.0 and (of_X[0, k] < 0.0 or of_Z[0, k] < 0.0) == equal:
                order[count] = k
                count += 1
        count += count % 2
        if not equal:
            numbers = count
    return order[:count], numbers


@compiled_loop
def _by_columns(Z, order, numbers, of_Z, z):
    """Write the columns that count to rows of z, numbers scaled; say whether a value is missing."""
    missing = False
    for c in range(order.shape[0]):
        k = order[c]
        if k != NOTHING:
            column, scale = z[c], of_Z[0, k] if c < numbers else 1.0
            for j in range(Z.shape[0]):
                column[j] = Z[j, k] * scale
                missing |= np.isnan(column[j])
    return missing


@compiled_loop
def _weights_of_values(z, order, of_Z, there):
    """Write the weight of every value, 0 of a missing one; return the sums of these over columns."""
    total = np.zeros(z.shape[1])
    for c in range(order.shape[0]):
        if order[c] != NOTHING:
            weight, column, known = of_Z[1, order[c]], z[c], there[c]
            for j in range(column.shape[0]):
                known[j] = weight if column[j] == column[j] else 0.0
    for c in range(0, order.shape[0], 2):
        first, second = there[c], there[c + 1]
        for j in range(total.shape[0]):
            total[j] += first[j] + second[j]
    return total


@compiled_loop
def _row(sample, order, numbers, of_X, x, w):
    """Write the values of one sample and their weights, both 0 of a missing one; return their sum, and if none is."""
    total, complete = 0.0, True
    for c in range(order.shape[0]):
        k = order[c]
        if k != NOTHING:
            value = sample[k] * (of_X[0, k] if c < numbers else 1.0)
            known = value == value
            x[c], w[c] = value if known else 0.0, of_X[1, k] if known else 0.0
            complete &= known
    for c in range(0, order.shape[0], 2):
        total += w[c] + w[c + 1]
    return total, complete


@compiled_loop
def _apart(x, z, most):
    distance = abs(x - z)
    return most if distance > most else distance


@compiled_loop
def _known_apart(x, z, most):
    distance = _apart(x, z, most)
    return distance if distance > 0.0 else 0.0  # not NaN


@compiled_loop
def _different(x, z, most):
    return most if x < z or x > z else 0.0  # neither where z is NaN


@compiled_loop
def _add_distances(x, w, z, numbers, missing, distances):
    """Add the weighted distances of one sample from those of z, 0 where that has no value."""
    for c in range(0, numbers, 2):
        x0, w0, z0, x1, w1, z1 = x[c], w[c], z[c], x[c + 1], w[c + 1], z[c + 1]
        if missing:
            for j in range(distances.shape[0]):
                distances[j] += _known_apart(x0, z0[j], w0) + _known_apart(x1, z1[j], w1)
        else:
            for j in range(distances.shape[0]):
                distances[j] += _apart(x0, z0[j], w0) + _apart(x1, z1[j], w1)
    for c in range(numbers, x.shape[0], 2):
        x0, w0, z0, x1, w1, z1 = x[c], w[c], z[c], x[c + 1], w[c + 1], z[c + 1]
        for j in range(distances.shape[0]):
            distances[j] += _different(x0, z0[j], w0) + _different(x1, z1[j], w1)


@compiled_loop
def _are_whole(weights):
    """Whether sums and differences of the weights are exact, in whatever order."""
    return weights.sum() < 2.0**53 and (weights == np.floor(weights)).all()


@compiled_loop
def _sum_known(w, there, nothing, every, exact, total):
    """Write the sums of weights over the columns that both samples of a pair have; `every` are those over all."""
    if exact:  # few are missing, as a rule
        for j in range(total.shape[0]):
            total[j] = every[j]
        for c in range(w.shape[0]):
            if w[c] == 0.0:
                absent = there[c]
                for j in range(total.shape[0]):
                    total[j] -= absent[j]
        return
    total[:] = 0.0
    for c in range(0, w.shape[0], 2):
        w0, w1 = there[c] if w[c] > 0.0 else nothing, there[c + 1] if w[c + 1] > 0.0 else nothing
        for j in range(total.shape[0]):
            total[j] += w0[j] + w1[j]


@compiled_loop
def _put(distances, total, out):
    """Write 1 - distance / total to a row, 0 where two samples have no column in common."""
    if out.strides[0] == _SIZE:  # and so the loop is vectorised
        for j in range(out.shape[0]):
            out[j] = 1.0 - distances[j] / total[j] if total[j] > 0.0 else 0.0
    else:
        for j in range(out.shape[0]):
            out[j] = 1.0 - distances[j] / total[j] if total[j] > 0.0 else 0.0


@compiled_loop
def _put_complete(distances, total, out):
    """The same with one total for all, which is not 0."""
    if out.strides[0] == _SIZE:
        for j in range(out.shape[0]):
            out[j] = 1.0 - distances[j] / total
    else:
        for j in range(out.shape[0]):
            out[j] = 1.0 - distances[j] / total


@compiled_loop
def fill_coefficients(X, Z, of_X, of_Z, lower, out):
    """Write 1 - Σ_k distance_k / Σ_k w_k of all pairs of rows of two tables, the sums over columns that both have.

    `of_X` and `of_Z` hold of each column: w / range, or -1 where values are equal or not; and its weight w.
    With `lower` X is Z, and values above the diagonal may be left out.
    """
    order, numbers = _paired_columns(of_X, of_Z)
    count, m = order.shape[0], Z.shape[0]
    x, w, z, distances = np.zeros(count), np.zeros(count), np.zeros((count, m)), np.empty(m)
    missing = _by_columns(Z, order, numbers, of_Z, z)
    there, nothing, known = np.zeros((count, m) if missing else (0, 0)), np.zeros(m), np.empty(m)
    every = _weights_of_values(z, order, of_Z, there) if missing else nothing
    exact = _are_whole(of_Z[1])
    for i in range(X.shape[0]):
        total, complete = _row(X[i], order, numbers, of_X, x, w)
        stop = min(m, (i // _STEP + 1) * _STEP) if lower else m
        row, apart = out[i, :stop], distances[:stop]
        apart[:] = 0.0
        _add_distances(x, w, z, numbers, missing, apart)
        if missing:
            if not complete:
                _sum_known(w, there, nothing, every, exact, known[:stop])
            _put(apart, every if complete else known, row)
        elif total > 0.0:
            _put_complete(apart, total, row)
        else:
            row[:] = 0.0
