"""From weights to values of a row-normalised kernel, where the normalisers of the rows are known."""

from __future__ import annotations

from collections.abc import Callable

from kernreg.jit import exp, wide


def make_apply_normalizers() -> Callable[..., None]:
    """Driver: a block of (log-)weights becomes values of K, with the normalisers of its rows given."""

    def apply_normalizers(B, rows, columns, i0, is_log, normalizers):
        wide()
        for i in range(rows):
            r, c = B[i], normalizers[i0 + i]
            if is_log:
                for j in range(columns):
                    r[j] = exp(r[j] - c)
            else:
                inverse = 1.0 / c
                for j in range(columns):
                    r[j] = r[j] * inverse

    return apply_normalizers
