"""Systems with the kernel matrix in memory: solved, and left one out, to rounding error.

centring.py         CentredKernel: K̃ = J K J made in place, targets and intercepts, sample weights included
symmetric_solve.py  LS-SVM for one γ: Cholesky or LU of K̃ + I/γ, with refinement
block_solve.py      AsK-LS for one γ: the block system eliminated to m unknowns, with refinement
leave_one_out.py    LS-SVM and AsK-LS for many γ from one decomposition, with exact leave-one-out
smoothers.py        LS-SVM and AsK-LS as linear maps of the targets, from one inverse: models without one sample
large_matrices.py   Cholesky factors, inverses and symmetric products that BLAS would crash on, block by block
triangles.py        the inverse of a triangular factor, while other threads run
poles.py            values of γ at which a system is singular: finding them, naming a safe one nearby
report.py           SolveReport: what ran, how well
"""
