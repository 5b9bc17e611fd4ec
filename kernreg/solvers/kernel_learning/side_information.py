"""What is known about pairs of samples: similar, dissimilar, unknown; from labels, from pairs or from a matrix.

T_ij is +1 for a similar pair, -1 for a dissimilar one, 0 where nothing is known. The supervised complete graph has the
weights W = exp(T), entry by entry, the degrees D = diag(W 1) and the normalised Laplacian::

    S = I - D^(-1/2) W D^(-1/2)          scg-loss(K) = ⟨K, S⟩

S is positive semi-definite and singular: S D^(1/2) 1 = 0. It is never formed unless T itself is dense::

    labels   W = 1 1ᵀ + (1/e - 1) u uᵀ + (e - 1/e) Z Zᵀ    u marks the labelled samples, Z their classes
    pairs    W = 1 1ᵀ + E                                  E = exp(T) - 1 is as sparse as T
    matrix   W = exp(T)                                    dense

Pan, Chen, Chen & Xu, Efficient learning of supervised kernels with a graph-based loss function, Information Sciences
370-371 (2016).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.common.checks import is_whole
from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError, shown
from kernreg.solvers.kernel_learning.pair_checks import check_target, index_pairs, rectangular, refuse_contradictions
from kernreg.solvers.kernel_learning.partial_labels import label_codes

_COLUMNS = 1024  # columns of K handled at once by the loss
_SAME = math.e
_OTHER = 1.0 / math.e


class SideInformation:
    """The weights W of a supervised complete graph, and products with them.

    Made by `from_labels`, `from_pairs` or `from_matrix`; what they return behaves the same.

    Attributes
    ----------
    n_samples : int
    degree : ndarray of shape (n,)
        Row sums of W.
    form : {"labels", "pairs", "matrix"}

    Examples
    --------
    >>> import numpy as np
    >>> side = SideInformation.from_labels([0, 0, 1, -1])
    >>> side.target()
    array([[ 1.,  1., -1.,  0.],
           [ 1.,  1., -1.,  0.],
           [-1., -1.,  1.,  0.],
           [ 0.,  0.,  0.,  0.]])
    >>> bool(np.allclose(side.laplacian(np.sqrt(side.degree)), 0.0))
    True
    """

    form: str
    n_samples: int
    degree: np.ndarray

    def __init__(self) -> None:
        raise TypeError("side information is made by SideInformation.from_labels, from_pairs or from_matrix")

    # How one is made --------------------------------------------------------------------------------------

    @staticmethod
    def from_labels(y: Any, unlabelled: Any = -1) -> LabelInformation:
        """Return what class labels say: same class is similar, another one dissimilar.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels of any type.
        unlabelled : object
            The value that marks samples without a label: -1 by default, as in scikit-learn. None stands for missing
            values (None, NaN), so that -1 may be a class.

        Notes
        -----
        A labelled sample is similar to itself, T_ii = 1.
        """
        return LabelInformation(*label_codes(y, unlabelled))

    @staticmethod
    def from_pairs(similar: Any, dissimilar: Any, n: int) -> PairInformation:
        """Return what lists of pairs say about n samples.

        Parameters
        ----------
        similar, dissimilar : array-like of int of shape (p, 2), or any iterable of pairs
            Pairs of sample indices, in either order; None or an empty list stands for no pairs.
        n : int
            Number of samples.
        """
        if not is_whole(n) or n < 2:
            raise DataError(f"n={shown(n)} is not accepted; give the number of samples, an integer of at least 2")
        n = int(n)
        together, apart = index_pairs(similar, n, "similar"), index_pairs(dissimilar, n, "dissimilar")
        refuse_contradictions(together, apart, n)
        if not len(together) and not len(apart):
            raise DataError("there are no pairs, similar or dissimilar; nothing can be learned from them. Give some")
        both = np.vstack([together, apart])
        signs = np.concatenate([np.ones(len(together)), -np.ones(len(apart))])
        rows, columns = np.concatenate([both, both[:, ::-1]]).T
        return PairInformation(sp.csr_array((np.tile(signs, 2), (rows, columns)), shape=(n, n)))

    @staticmethod
    def from_matrix(T: Any) -> MatrixInformation | PairInformation:
        """Return what a symmetric matrix T says; a sparse T stays sparse.

        Parameters
        ----------
        T : array-like or sparse matrix of shape (n, n)
            +1 similar, -1 dissimilar, 0 unknown. Other finite values are accepted as degrees of similarity.
        """
        if is_sparse(T):
            table: Any = sp.csr_array(T).astype(np.float64)  # a copy
            table.eliminate_zeros()
            check_target(table, table.data)
            return PairInformation(table)
        dense = rectangular(T, "T")
        if dense.dtype.kind not in "fiub":
            raise DataError(f"T has dtype {dense.dtype}; give numbers: 1 similar, -1 dissimilar, 0 unknown")
        dense = dense.astype(np.float64)
        check_target(dense, dense)
        return MatrixInformation(dense)

    # What it is asked -------------------------------------------------------------------------------------

    def matmul(self, V: np.ndarray) -> np.ndarray:
        """Return W V for a vector or for columns."""
        raise NotImplementedError

    def target(self) -> np.ndarray:
        """Return T as a dense array: n² numbers."""
        raise NotImplementedError

    def factors(self) -> tuple[sp.csr_array, sp.csr_array] | None:
        """Return U (n, q) and a symmetric C (q, q), sparse, with D^(-1/2) W D^(-1/2) = U C Uᵀ; None for a dense T."""
        return None

    def laplacian(self, V: np.ndarray) -> np.ndarray:
        """Return S V for a vector or for columns."""
        V = self._columns(V)
        scale = self._inverse_root if V.ndim == 1 else self._inverse_root[:, None]
        return V - scale * self.matmul(scale * V)

    def quadratic_forms(self, V: np.ndarray) -> np.ndarray:
        """Return v'Sv of each column: its roughness over the graph, never negative but for rounding."""
        V = self._columns(V)
        return np.asarray((V * self.laplacian(V)).sum(axis=0))

    def loss(self, K: np.ndarray) -> float:
        """Return the scg-loss ⟨K, S⟩ (the double sum over pairs in the paper's equation 10 is twice that)."""
        K = np.asarray(K, dtype=np.float64)
        if K.shape != (self.n_samples, self.n_samples):
            raise DataError(f"K has shape {K.shape}; the side information is about {self.n_samples} samples")
        total = 0.0
        for start in range(0, self.n_samples, _COLUMNS):
            columns = slice(start, start + _COLUMNS)
            total += float(self.laplacian(K[:, columns])[columns].diagonal().sum())
        return total

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the similar and the dissimilar pairs (i < j), by the sign of T."""
        upper = np.triu(self.target(), 1)
        return np.argwhere(upper > 0), np.argwhere(upper < 0)

    def _columns(self, V: Any) -> np.ndarray:
        V = np.asarray(V, dtype=np.float64)
        if V.ndim not in (1, 2) or V.shape[0] != self.n_samples:
            raise DataError(
                f"the vectors have shape {V.shape}; the side information is about {self.n_samples} samples: give shape "
                f"({self.n_samples},), or ({self.n_samples}, …) with vectors in columns"
            )
        return V

    @property
    def _inverse_root(self) -> np.ndarray:
        return 1.0 / np.sqrt(self.degree)

    def __repr__(self) -> str:
        return f"<side information about {self.n_samples} samples: {self._summary()}>"

    def _summary(self) -> str:
        raise NotImplementedError


class LabelInformation(SideInformation):
    """Side information from class labels: W has rank at most the number of classes plus two.

    Attributes
    ----------
    classes : ndarray of shape (C,)
    codes : ndarray of int of shape (n,)
        Position of each label among the classes, -1 for samples without one.

    Examples
    --------
    >>> side = SideInformation.from_labels(["red", "?", "blue"], unlabelled="?")
    >>> isinstance(side, LabelInformation), side.classes.tolist(), side.codes.tolist()
    (True, ['blue', 'red'], [1, -1, 0])
    """

    form = "labels"

    def __init__(self, classes: np.ndarray, codes: np.ndarray):
        self.classes, self.codes, self.n_samples = classes, codes, len(codes)
        self.labelled = np.flatnonzero(codes >= 0)
        known = codes[self.labelled]
        shape = (self.n_samples, len(classes))
        self._Z = sp.csr_array((np.ones(len(known)), (self.labelled, known)), shape=shape)
        self._u = (codes >= 0).astype(np.float64)
        in_class = np.bincount(known, minlength=len(classes))[np.maximum(codes, 0)]
        self.degree = self.n_samples + self._u * ((_OTHER - 1.0) * len(known) + (_SAME - _OTHER) * in_class)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        """Return W V, in time proportional to n whatever the number of labels."""
        V = self._columns(V)
        marked = np.outer(self._u, self._u @ V) if V.ndim == 2 else self._u * (self._u @ V)
        return V.sum(axis=0) + (_OTHER - 1.0) * marked + (_SAME - _OTHER) * (self._Z @ (self._Z.T @ V))

    def target(self) -> np.ndarray:
        """Return T as a dense array: n² numbers."""
        known = (self._u[:, None] * self._u).astype(bool)
        return np.where(known, np.where(self.codes[:, None] == self.codes, 1.0, -1.0), 0.0)

    def factors(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Return D^(-1/2) [1, u, Z] and the coefficients of their squares."""
        U = sp.hstack([sp.csr_array(np.column_stack([np.ones(self.n_samples), self._u])), self._Z], format="csr")
        core = np.full(U.shape[1], _SAME - _OTHER)
        core[:2] = 1.0, _OTHER - 1.0
        return _scaled(self._inverse_root, U), sp.diags_array(core, format="csr")

    def _summary(self) -> str:
        return f"{len(self.labelled)} labels of {len(self.classes)} classes"


class PairInformation(SideInformation):
    """Side information about few pairs: W = 1 1ᵀ plus a sparse matrix."""

    form = "pairs"

    def __init__(self, T: sp.csr_array):
        self._T, self.n_samples = T, T.shape[0]
        self._E = T.copy()
        self._E.data = np.expm1(T.data)
        self.degree = self.n_samples + np.asarray(self._E.sum(axis=1)).ravel()

    def matmul(self, V: np.ndarray) -> np.ndarray:
        """Return W V, in time proportional to n and the number of pairs."""
        V = self._columns(V)
        return V.sum(axis=0) + self._E @ V

    def target(self) -> np.ndarray:
        """Return T as a dense array: n² numbers."""
        return self._T.toarray()

    def factors(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Return D^(-1/2) [1, the unit vectors of the samples in pairs], and what of W lies between them."""
        paired = np.flatnonzero(np.diff(self._E.indptr))
        n, q = self.n_samples, len(paired)
        units = sp.csr_array((np.ones(q), (paired, np.arange(q))), shape=(n, q))
        U = sp.hstack([sp.csr_array(np.ones((n, 1))), units], format="csr")
        core = sp.block_diag([sp.csr_array(np.ones((1, 1))), self._E[paired][:, paired]], format="csr")
        return _scaled(self._inverse_root, U), sp.csr_array(core)

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the similar and the dissimilar pairs (i < j), by the sign of T."""
        upper = sp.triu(self._T, 1, format="coo")
        both = np.column_stack([upper.row, upper.col])
        return both[upper.data > 0], both[upper.data < 0]

    def _summary(self) -> str:
        similar, dissimilar = self.pairs()
        return f"{len(similar)} similar and {len(dissimilar)} dissimilar pairs"


class MatrixInformation(SideInformation):
    """Side information about any pair, held as a matrix."""

    form = "matrix"

    def __init__(self, T: np.ndarray):
        self._T, self.n_samples = T, len(T)
        self._W = np.exp(T)
        self.degree = self._W.sum(axis=1)

    def matmul(self, V: np.ndarray) -> np.ndarray:
        """Return W V."""
        return self._W @ self._columns(V)

    def target(self) -> np.ndarray:
        """Return T, a copy."""
        return self._T.copy()

    def _summary(self) -> str:
        return "a dense matrix"


def _scaled(rows: np.ndarray, U: Any) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(rows) @ sp.csr_array(U))
