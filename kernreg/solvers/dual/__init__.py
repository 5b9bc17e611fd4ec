"""Machines whose dual is linear in the targets: LS-SVM and AsK-LS.

ls_svm.py         LSSVC, LSSVR: symmetric kernels. `fit` reads from top to bottom: check, encode the targets, kernel
ask_ls.py         AsKLSClassifier, AsKLSRegressor: any kernel.   matrix or operator, system, solve or choose γ, store
training.py       samples, targets and weights as they are given, checked; their kernel matrix
targets.py        classes as ±1, one against the rest or one against one; real outputs
strategy.py       exact, iterative, lowrank or sketched, and the settings of each
exact.py          systems with the kernel matrix in memory; leave-one-out values
matrix_free.py    systems without it: Krylov iterations, landmarks
block_descent.py  a system without it: coordinate descent on blocks
sketched.py       systems on many landmarks: iterations with a sketched preconditioner
on_landmarks.py   what both ways to solve on landmarks share
landmark_costs.py how many landmarks, and which way to solve on them costs less
gamma.py          γ: what may be given, and the best of several by exact leave-one-out
solution.py       what a system answers
calibration.py    from decision values of samples left out to probabilities
machine.py        what is kept of a fit, leave-one-out values, decision values
classifier.py     classes and probabilities
regressor.py      real outputs and intervals
diagnostics.py    explanations, influence, learning curves
documentation.py  what all docstrings share
"""
