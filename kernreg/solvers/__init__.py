"""Solvers: one module for each method of the papers, each class a scikit-learn estimator.

    dual/             LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor: machines whose dual is linear in the targets
    cells/            CellsClassifier, CellsRegressor: a machine for every cell of a partition of many samples
    decompositions/   KernelPCA, KernelSVD, AsymmetricNystroem, KernelBiclustering; linear_svd, two_kpca
    relevance/        FeatureRelevance: weights of features under which a kernel predicts best
    kernel_learning/  SCGLDK, SCGOSK: kernels learned from labels or pairs, and what is known about pairs of samples
    explanation/      why a machine predicts what it does: Shapley values, permutation importance, slopes
    inference/        how sure a machine is: intervals and prediction sets, by leave-one-out or by folds
    tuning/           tune: kernel parameters and γ by exact leave-one-out
    atomicity.py      fits that store all or nothing, answers from one fit
    parameters.py     kernels inside estimators, choices, numbers
    samples.py        indices, pairs, structured samples, weights
    tables.py         rows of features, checked in scikit-learn's way
    kernel_gradients.py  derivatives of kernel matrices with respect to samples
    symmetry.py       refusing asymmetric kernels
    declarations.py   refusing kernels that are declared symmetric or definite and are not
    informativeness.py  warning of kernels that say nothing
    single_precision.py  warning of float32 samples that are too coarse for a fit
    finiteness.py     at which pair of samples a kernel is not finite
    views.py          decision functions by name, and the ensemblers that merge them
    advice.py         warnings about a fit, which a search collects

May import: the layers below it in docs/extend/architecture.md. An ensembler is found by name, through the registry.

For those who write solvers: `KernelParameters` is the base of an estimator with a parameter ``kernel``, `KernelLearner`
of one that learns a kernel, and both inherit `AtomicFit`: a fit stores all or nothing; `check_samples`, `check_table`,
`check_choice`, `check_number`, `check_count` and `check_flag` check what comes in, `require_symmetric` refuses
asymmetric kernels; `neighbour_graph` and `given_graph` make a `NeighbourGraph`, `smoothest` finds its eigenvectors; a
dataclass that inherits `Display` prints as a short text, and `documented_with` writes once what several docstrings say.
Of supervised solvers: `check_training_set` returns a `TrainingSet`, `ClassTargets` and `RealTargets` turn targets into
columns of numbers and decision values back, `check_real_targets` reads those of a regression, `check_gamma` γ,
`calibrate` and `probabilities` turn decision values into probabilities, `row_by_row` lets a prediction take samples on
disk, `warn_if_uninformative` warns of kernels that say nothing, `warn_if_single_is_coarse` of float32 samples that are
too coarse, `warn_beyond_budget` of fits that take much memory.
"""

from kernreg.common.display import Display
from kernreg.common.docstrings import documented_with
from kernreg.solvers.advice import warn_beyond_budget
from kernreg.solvers.atomicity import AtomicFit
from kernreg.solvers.cells.classifier import CellsClassifier
from kernreg.solvers.cells.regressor import CellsRegressor
from kernreg.solvers.decompositions.biclustering import KernelBiclustering
from kernreg.solvers.decompositions.centred_triplets import linear_svd, two_kpca
from kernreg.solvers.decompositions.kpca import KernelPCA
from kernreg.solvers.decompositions.ksvd import KernelSVD
from kernreg.solvers.decompositions.nystrom import AsymmetricNystroem
from kernreg.solvers.dual.ask_ls import AsKLSClassifier, AsKLSRegressor
from kernreg.solvers.dual.calibration import calibrate, probabilities
from kernreg.solvers.dual.gamma import check_gamma
from kernreg.solvers.dual.ls_svm import LSSVC, LSSVR
from kernreg.solvers.dual.targets import ClassTargets, RealTargets
from kernreg.solvers.dual.training import TrainingSet, check_training_set
from kernreg.solvers.inference.cross_conformal import CrossConformalClassifier, CrossConformalRegressor
from kernreg.solvers.informativeness import warn_if_uninformative
from kernreg.solvers.kernel_learning.kernel_learner import KernelLearner
from kernreg.solvers.kernel_learning.neighbourhoods import NeighbourGraph, given_graph, neighbour_graph, smoothest
from kernreg.solvers.kernel_learning.scg_ldk import SCGLDK
from kernreg.solvers.kernel_learning.scg_osk import SCGOSK
from kernreg.solvers.kernel_learning.side_information import LabelInformation, SideInformation
from kernreg.solvers.parameters import KernelParameters, check_choice, check_count, check_flag, check_number
from kernreg.solvers.relevance.scaler import FeatureRelevance
from kernreg.solvers.samples import check_real_targets, check_samples, check_weights
from kernreg.solvers.single_precision import warn_if_single_is_coarse
from kernreg.solvers.streamed import row_by_row
from kernreg.solvers.symmetry import require_symmetric, require_symmetric_on_some
from kernreg.solvers.tables import check_table
from kernreg.solvers.tuning import TuneResult, tune

__all__ = [
    "LSSVC",
    "LSSVR",
    "SCGLDK",
    "SCGOSK",
    "AsKLSClassifier",
    "AsKLSRegressor",
    "AsymmetricNystroem",
    "AtomicFit",
    "CellsClassifier",
    "CellsRegressor",
    "ClassTargets",
    "CrossConformalClassifier",
    "CrossConformalRegressor",
    "Display",
    "FeatureRelevance",
    "KernelBiclustering",
    "KernelLearner",
    "KernelPCA",
    "KernelParameters",
    "KernelSVD",
    "LabelInformation",
    "NeighbourGraph",
    "RealTargets",
    "SideInformation",
    "TrainingSet",
    "TuneResult",
    "calibrate",
    "check_choice",
    "check_count",
    "check_flag",
    "check_gamma",
    "check_number",
    "check_real_targets",
    "check_samples",
    "check_table",
    "check_training_set",
    "check_weights",
    "documented_with",
    "given_graph",
    "linear_svd",
    "neighbour_graph",
    "probabilities",
    "require_symmetric",
    "require_symmetric_on_some",
    "row_by_row",
    "smoothest",
    "tune",
    "two_kpca",
    "warn_beyond_budget",
    "warn_if_single_is_coarse",
    "warn_if_uninformative",
]
