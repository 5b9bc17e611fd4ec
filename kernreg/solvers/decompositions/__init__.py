"""Decompositions of a kernel matrix.

kpca.py          KernelPCA: symmetric kernels, definite or not, with
principal.py       eigenpairs of the centred matrix, and
preimages.py       the way back from scores to samples
ksvd.py          KernelSVD: kernels between two sample sets, with
triplets.py        singular triplets of the centred matrix, and
completeness.py    whether copies of repeated singular values were missed
nystrom.py       AsymmetricNystroem: the same from a subsample
biclustering.py  KernelBiclustering: k-means on both embeddings of kernel SVD
two_sided.py     what is seen of both sides
sides.py         two sample sets as they come in
shared.py        weights, progress, where a kernel fails
compatibility/   samples of different dimension under one kernel
"""
