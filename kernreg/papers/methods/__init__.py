"""What the columns of the tables do: functions of a split and settings that return predictions.

choosing.py  the best of several candidates by cross-validation
crossed.py   k-fold cross-validation of LS-SVM and AsK-LS from one decomposition
tabular.py   LS-SVM and AsK-LS with kernel parameters chosen by that cross-validation
tuned.py     many kernels tuned by exact leave-one-out, a logistic regression on their decisions: "kernreg tuned"
damped.py    AsK-LS at a pole, damped as in the authors' code, by products with the kernel; its stacking
graph.py     classification of nodes: LS-SVM, AsK-LS merged in several ways, walks over the graph
krein.py     C-SVM on corrected spectra, KSVM, IKSVM-DC
divergent.py the KL kernel between distributions, as it is and symmetrised
reduced.py   kernel PCA, then a linear C-SVM
learned.py   kernels learned from labels, then a C-SVM
embedded.py  embeddings of nodes by PCA, kernel PCA, SVD and kernel SVD, then LS-SVM
"""
