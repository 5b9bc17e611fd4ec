"""Structured solves with one object at their heart, the centred kernel matrix K̃ = J K J, J = I - 11ᵀ/m.

    exact/      K̃ in memory: LS-SVM and AsK-LS solved for one γ or for many, exact leave-one-out, poles
    krylov/     K̃ as products only: preconditioned iterations
    landmarks/  some samples that stand for all: which, Nyström features, systems on them, the asymmetric Nyström method
    spectra/    a few eigenpairs or singular triplets of a matrix in any form
    randomness.py     random states as generators
    system_inputs.py  γ, targets and weights of a system, checked

May import: the layers below it in docs/extend/architecture.md. Solvers are short because this package is not.
"""

from kernreg.engine.gram import gram
from kernreg.linalg.exact.block_solve import solve_block, solve_block_or_spectrum
from kernreg.linalg.exact.centring import SYMMETRY_TOLERANCE, CentredKernel, asymmetry, centre
from kernreg.linalg.exact.leave_one_out import BlockSpectrum, SymmetricSpectrum
from kernreg.linalg.exact.poles import safe_gamma
from kernreg.linalg.exact.report import SolveReport
from kernreg.linalg.exact.symmetric_solve import solve_symmetric
from kernreg.linalg.landmarks.features import Features, symmetric_features
from kernreg.linalg.landmarks.selection import choose_landmarks, default_landmarks
from kernreg.linalg.randomness import generator, legacy_seed

__all__ = [
    "SYMMETRY_TOLERANCE",
    "BlockSpectrum",
    "CentredKernel",
    "Features",
    "SolveReport",
    "SymmetricSpectrum",
    "asymmetry",
    "centre",
    "choose_landmarks",
    "default_landmarks",
    "generator",
    "gram",
    "legacy_seed",
    "safe_gamma",
    "solve_block",
    "solve_block_or_spectrum",
    "solve_symmetric",
    "symmetric_features",
]
