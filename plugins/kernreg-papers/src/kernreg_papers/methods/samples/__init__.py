"""Methods for samples in rows.

least_squares.py       LS-SVM and AsK-LS with kernel parameters chosen by cross-validation in folds
krein_ridge.py         ridge regression in the Kreĭn space of an indefinite kernel
kernel_ensemble.py     "kernreg tuned": many kernels tuned by exact leave-one-out, a logistic regression on them
machine_preference.py  the same column of the SCG tables: machines in an order of preference
component_machines.py  kernel PCA, then a linear C-SVM or an LS-SVM
kernel_learning.py     kernels learned from labels, then a C-SVM
compatibilities.py     kernel SVD of rows and columns that are made comparable, then a linear head
"""
