"""Methods for nodes of a directed graph.

node_classification.py  LS-SVM, AsK-LS merged in several ways, walks over the graph
pole_damping.py         AsK-LS at a pole, damped as in the authors' code, by products with the kernel; its stacking
krein_machines.py       C-SVM on corrected spectra, KSVM, IKSVM-DC
node_embedding.py       embeddings by PCA, kernel PCA, SVD and kernel SVD, then LS-SVM
accuracy_times.py       seconds until singular vectors of a kernel matrix are accurate enough
"""
