"""What the columns of the tables do: functions of a split and settings that return predictions.

candidates.py         which samples choose, and the best of several candidates by cross-validation
fold_validation.py    k-fold cross-validation of LS-SVM and AsK-LS from one decomposition
document_clusters.py  clusters of documents and of terms
kl_kernels.py         the KL kernel between distributions, as it is and symmetrised
row_streams.py        components of a table that is never held as a whole
samples/              methods for samples in rows
graphs/               methods for nodes of a directed graph
"""
