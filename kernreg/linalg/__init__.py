"""Structured solves with one object at their heart, the centred kernel matrix K̃ = J K J, J = I - 11ᵀ/m.

    centring.py   CentredKernel: K̃ made in place, targets and intercepts (sample weights included)
    direct.py     one γ, LS-SVM: Cholesky or LU of K̃ + I/γ, with refinement
    block.py      one γ, AsK-LS: the block system eliminated to m unknowns, with refinement
    spectrum.py   many γ: eigenpairs or singular triplets of K̃, solutions and exact leave-one-out for all of them
    poles.py      values of γ at which a system is singular: finding them, naming a safe one nearby
    report.py     SolveReport: what ran, how well

and without the matrix in memory::

    implicit.py        K̃ as products only
    krylov.py          conjugate gradients and MINRES, many right-hand sides at once
    preconditioner.py  Nyström preconditioners of both systems
    iterative.py       LS-SVM and AsK-LS by these
    landmarks.py       which samples stand for all
    features.py        Nyström features, streamed
    lowrank.py         LS-SVM and AsK-LS on features, with leave-one-out

and a few eigenpairs or singular triplets of a matrix in any form::

    partial.py     which method, and the results: eigenpairs, singular_triplets
    principal.py   the same of the centred kernel matrix, for kernel PCA
    lanczos.py     block Lanczos and Golub-Kahan with thick restarts, on an orthonormal basis
    basis.py         that grows block by block
    extremes.py    both ends of the spectrum of a matrix in memory, by LAPACK
    randomized.py  subspace iteration
    external.py    ARPACK, LOBPCG
    counting.py    arrays, sparse arrays and operators as products that are counted
    completeness.py  whether copies of repeated singular values were missed
    two_sided.py   kernel matrices between two sample sets, centred on both sides
    nystrom.py     singular triplets from some rows and columns: the asymmetric Nyström method
    sectioned.py     a kernel matrix known by them, its landmarks
    sections.py      products with them, normalisers exact or estimated

May import: errors, config, registry, jit, engine, kernels. Solvers are short because this package is not.
"""

from kernreg.linalg.block import solve_block, solve_block_or_spectrum
from kernreg.linalg.centring import CentredKernel, asymmetry, centre
from kernreg.linalg.direct import solve_symmetric
from kernreg.linalg.poles import safe_gamma
from kernreg.linalg.report import SolveReport
from kernreg.linalg.spectrum import BlockSpectrum, SymmetricSpectrum

__all__ = [
    "BlockSpectrum",
    "CentredKernel",
    "SolveReport",
    "SymmetricSpectrum",
    "asymmetry",
    "centre",
    "safe_gamma",
    "solve_block",
    "solve_block_or_spectrum",
    "solve_symmetric",
]
