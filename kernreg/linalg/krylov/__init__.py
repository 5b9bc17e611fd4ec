"""Systems without the kernel matrix in memory, by iterations on products with it.

centred_operator.py  K̃ as products only
cg_and_minres.py     conjugate gradients and MINRES, many right-hand sides at once
preconditioners.py   Nyström preconditioners of both systems
clock.py             time that an iteration may take
dual_systems.py      LS-SVM and AsK-LS by these
block_descent.py     LS-SVM by blocks of samples, for positive semi-definite kernels
block_solves.py        a step of it
sketched_systems.py  LS-SVM and AsK-LS on many landmarks, with a sketched preconditioner
"""
