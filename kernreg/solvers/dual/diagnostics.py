"""Methods of a fitted dual machine that explain its decisions, and how much each training sample matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernreg.solvers.explanation.explanation import Explanation
from kernreg.solvers.explanation.gradients import decision_gradients
from kernreg.solvers.explanation.permutation import PermutationImportance, permutation_importance
from kernreg.solvers.explanation.shapley import explain
from kernreg.solvers.inference.influence import Influence, influence
from kernreg.solvers.inference.learning_curve import LearningCurve, learning_curve
from kernreg.solvers.inference.left_out import left_out_views
from kernreg.solvers.views import Views


class Diagnostics:
    """The methods of dual machines that `kernreg.solvers.explanation` and `kernreg.solvers.inference` provide."""

    def explain(
        self, X: Any, background: Any = None, *, view: str | None = None, feature_names: Any = None
    ) -> Explanation:
        """Return exact Shapley values: what each feature adds to each decision value, Σ_j φ_j = f(x) - base.

        For kernels that are products over features (``rbf``, ``laplacian``, ``chi2``, ``kl``), sums over them
        (``linear``, ``intersection``), or made of such by sums, products, multiples, powers and maps of single
        features.

        Parameters
        ----------
        X : array-like of shape (n, d)
        background : array-like of shape (b, d), optional
            Samples whose features stand in for those left out (the interventional game). By default a feature left out
            has the factor 1 in the kernel, as if all samples agreed in it.
        view : str, optional
            The view to explain; by default the merged decision.
        feature_names : sequence of str, optional

        Returns
        -------
        Explanation
            It draws itself (``plot``), and becomes a ``shap.Explanation`` (``to_shap``).

        Examples
        --------
        >>> import numpy as np
        >>> from kernreg.solvers import LSSVR
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> model = LSSVR(kernel="rbf(sigma=3.0)", gamma=100.0).fit(X, 2.0 * X[:, 1])
        >>> found = model.explain(X)
        >>> int(found.importance().argmax()), bool(np.allclose(found.predictions, model.predict(X)))
        (1, True)
        """
        return explain(self, X, background, view=view, feature_names=feature_names)

    def permutation_importance(self, n_repeats: int = 5, random_state: Any = 0) -> PermutationImportance:
        """Return what the leave-one-out score loses when a feature is shuffled, for any kernel, without refits.

        Parameters
        ----------
        n_repeats : int
            How often each feature is dealt.
        random_state : int, Generator or None

        Examples
        --------
        >>> import numpy as np
        >>> from kernreg.solvers import LSSVR
        >>> X = np.random.default_rng(0).standard_normal((50, 3))
        >>> LSSVR(kernel="matern(sigma=3.0)").fit(X, X[:, 1]).permutation_importance().mean.argmax().item()
        1
        """
        return permutation_importance(self, n_repeats, random_state)

    def decision_gradients(self, X: Any) -> Views:
        """Return the slopes of decision values by the features, for differentiable kernels.

        Returns
        -------
        dict of str to ndarray
            For each view of shape (n, d), or (n, d, columns) for several classes or outputs.
        """
        return decision_gradients(self, X)

    def influence(self, view: str | None = None) -> Influence:
        """Return leverage and influence of each training sample, and the effective degrees of freedom; no refits.

        Parameters
        ----------
        view : str, optional
            The view to take; by default the first.

        Examples
        --------
        >>> import numpy as np
        >>> from kernreg.solvers import LSSVR
        >>> x = np.linspace(0, 6, 40)[:, None]
        >>> y = np.sin(x[:, 0])
        >>> y[7] += 3.0
        >>> int(LSSVR(kernel="rbf(sigma=2.0)").fit(x, y).influence().cook.argmax())
        7
        """
        return influence(self, view)

    def learning_curve(
        self, sizes: Sequence[int] | None = None, n_repeats: int = 5, random_state: Any = 0
    ) -> LearningCurve:
        """Return leave-one-out and training scores of random subsets of the training samples, with the same γ.

        Parameters
        ----------
        sizes : sequence of int, optional
            By default from a tenth of the samples to all.
        n_repeats : int
            Subsets of each size.
        random_state : int, Generator or None
        """
        return learning_curve(self, sizes, n_repeats, random_state)

    def left_out_views(self, X: Any) -> Views:
        """Return what the models without one training sample each predict, f⁽⁻ⁱ⁾(x), without refits.

        What a kernel learnt from its reference set, and γ, are those of all samples.

        Returns
        -------
        dict of str to ndarray
            Each of shape (n, m), or (n, m, columns) for several classes or outputs: column i is the model without
            training sample i (those of zero weight are not among them).
        """
        return left_out_views(self, X)
