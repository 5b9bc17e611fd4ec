"""How sure a fitted machine is: models without one sample, intervals, prediction sets.

left_out.py         the models f⁽⁻ⁱ⁾ without one sample each, at any new sample, without refits
conformal.py        quantiles and p-values of jackknife+ and CV+, for weighted samples, too
intervals.py        prediction intervals: jackknife+
prediction_sets.py  sets of classes: the same for classifiers
gaussian_process.py GaussianProcess: deviations and evidence where the kernel is positive definite
robust.py           weights from leave-one-out residuals, fit after fit
influence.py        Influence: degrees of freedom, leverage, what a sample's absence changes
learning_curve.py   LearningCurve: leave-one-out scores of subsets
cross_conformal.py  CrossConformalRegressor, CrossConformalClassifier: CV+ around any estimator

Functions here take a fitted dual machine; its methods of the same names call them. They do not import `dual/`.
"""
