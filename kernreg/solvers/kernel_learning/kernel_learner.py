"""What kernel learners share: from samples and labels or pairs to a kernel, and the kernel as a transformer.

A kernel learner has ``learns_kernel = True``, and after ``fit`` an ordinary kernel ``kernel_``, in and out of sample.
`transform` gives rows of its matrix, which is what estimators with ``kernel="precomputed"`` take in a pipeline.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from kernreg.errors import DataError
from kernreg.kernels import Kernel
from kernreg.solvers.atomicity import AtomicFit
from kernreg.solvers.kernel_learning.side_information import LabelInformation, SideInformation


class KernelLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, AtomicFit, BaseEstimator):
    """An estimator that learns a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> X, y = np.arange(12.0)[:, None], np.arange(12) // 6
    >>> learner = kr.make_solver("scg-ldk", kernel="rbf(sigma=3.0)", gamma=0.1).fit(X, y)
    >>> isinstance(learner, KernelLearner), learner.kernel_(X).shape
    (True, (12, 12))
    """

    #: What chains and tests know a kernel learner by.
    learns_kernel: ClassVar[bool] = True

    kernel_: Kernel
    X_fit_: Any
    unlabelled: Any

    def _check_side(self, X: Any, y: Any, side_information: Any) -> SideInformation:
        """Return what is known about pairs of the samples: from labels, or as it was given."""
        name, n = type(self).__name__, X.shape[0]
        if (y is None) == (side_information is None):
            if y is None:
                raise DataError(
                    f"{name} requires y to be passed, but the target y is None; give labels, or pairs as "
                    "side_information=SideInformation.from_pairs(similar, dissimilar, n)"
                )
            raise DataError("y and side_information are both given; labels are side information, give one of the two")
        if side_information is None:
            check_consistent_length(X, y)
            side: SideInformation = SideInformation.from_labels(y, self.unlabelled)
            assert isinstance(side, LabelInformation)
            self.classes_ = side.classes
        else:
            if not isinstance(side_information, SideInformation):
                raise DataError(
                    f"side_information is {type(side_information).__name__}; give what SideInformation.from_pairs, "
                    "from_matrix or from_labels returns"
                )
            side = side_information
            self.__dict__.pop("classes_", None)  # of an earlier fit
            if isinstance(side, LabelInformation):
                self.classes_ = side.classes
        if side.n_samples != n:
            raise DataError(f"the side information is about {side.n_samples} samples, and X has {n}")
        return side

    def _checked(self, X: Any) -> Any:
        """Return new samples, checked."""
        raise NotImplementedError

    def transform(self, X: Any) -> np.ndarray:
        """Return the matrix k(X, training samples) of the learned kernel.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)

        Returns
        -------
        ndarray of shape (n, n_train)
        """
        check_is_fitted(self, "kernel_")
        return self.kernel_(self._checked(X), self.X_fit_)

    @property
    def _n_features_out(self) -> int:
        return int(self.X_fit_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
