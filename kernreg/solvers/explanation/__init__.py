"""Why a machine predicts what it does: what each feature adds.

factors.py      kernels as sums of products of one factor for each feature, where they are
quadrature.py   Shapley values of such products, exact and stable in any number of features
shapley.py      explain: Shapley values of a fitted machine
explanation.py  Explanation: the values, their pictures, their way to the package shap
permutation.py  permutation_importance: on leave-one-out predictions, without refits, for any kernel
gradients.py    decision_gradients: slopes of the prediction by the features

Functions here take a fitted dual machine; its methods of the same names call them. They do not import `dual/`.
"""
