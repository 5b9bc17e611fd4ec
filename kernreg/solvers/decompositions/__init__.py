"""Decompositions of a kernel matrix.

kpca.py                KernelPCA: symmetric kernels, definite or not, with
centred_eigenpairs.py    eigenpairs of the centred matrix, and
preimages.py             a map from scores back to samples
ksvd.py                KernelSVD: kernels between two sample sets, with
centred_triplets.py      singular triplets of the centred matrix, and
completeness.py          whether copies of repeated singular values were missed
nystrom.py             AsymmetricNystroem: the same from a subsample
biclustering.py        KernelBiclustering: k-means on both embeddings of kernel SVD
two_sided.py           two sample sets as they come in, and scores of both sides
compatibility/         samples of different dimension under one kernel
"""
