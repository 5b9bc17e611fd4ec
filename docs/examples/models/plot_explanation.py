"""Why this prediction? Exact Shapley values
===========================================

A model predicts how far the diabetes of 442 patients will have advanced after a year.
For each patient it can say what each measurement adds, exactly and without sampling.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import kernreg as kr

X, y = load_diabetes(return_X_y=True)
model = kr.make_solver("ls-svr", kernel="rbf", gamma="loo").fit(X, y)
print(f"R² by leave-one-out: {model.loo_score_:.2f}")

# %%
# What the features add, from the base on, gives the prediction of every patient, up
# to rounding errors.

names = ["age", "sex", "body mass", "blood pressure", "cholesterol"]
names += ["LDL", "HDL", "cholesterol / HDL", "triglycerides", "glucose"]
why = model.explain(X, feature_names=names)
difference = np.abs(why.predictions - model.predict(X)).max()
print(f"largest difference from the predictions: {difference:.0e}")
assert difference < 1e-6

strongest = [names[j] for j in np.argsort(-np.abs(why.of_output(0)).mean(axis=0))[:2]]
print("The two that matter most:", " and ".join(strongest))
assert set(strongest) == {"body mass", "triglycerides"}

# %%
# A point for each patient. High body mass and high triglycerides (red) speak for a
# fast course; a high HDL, the "good" cholesterol, speaks against it.

display = why.plot("beeswarm", title="What each measurement adds to the prediction")
display.ax_.set_xlabel("added to the predicted progression after a year")
plt.show()
