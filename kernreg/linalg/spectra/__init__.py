"""A few eigenpairs or singular triplets of a matrix in any form.

partial.py        which method, and the results: eigenpairs, singular_triplets
report.py         what a decomposition did
lanczos.py        block Lanczos and Golub-Kahan with thick restarts, on an orthonormal basis
basis.py            that grows block by block
lapack.py         both ends of the spectrum of a matrix in memory
randomized.py     subspace iteration
arpack.py         ARPACK and LOBPCG, as scipy has them
memory.py         what a decomposition needs, for who keeps the memory budget
products.py       arrays, sparse arrays and operators as products that are counted
centred_pairs.py  kernel matrices between two sample sets, centred on both sides
"""
