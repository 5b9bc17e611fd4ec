"""Solvers: one module for each method of the papers, each class a scikit-learn estimator.

    ls_svm.py      LSSVC, LSSVR: least squares support vector machines, symmetric kernels
    ask_ls.py      AsKLSClassifier, AsKLSRegressor: any kernel, two views
    kpca.py        KernelPCA: symmetric kernels, definite or not, with
    decomposing.py   what decompositions share, preimages.py the way back from scores to samples
    ksvd.py        KernelSVD: kernels between two sample sets, with
    coupled.py       their decomposition, sides.py and two_sided.py what is seen of both sides
    compatibility.py, learned_compatibility.py, heads.py, kernel_gradients.py   samples of different dimension
    nystrom.py     AsymmetricNystroem: the same from a subsample
    biclustering.py  KernelBiclustering: k-means on both embeddings of kernel SVD
    scg_ldk.py     SCGLDK: a kernel learned from labels or pairs, in closed form
    scg_osk.py     SCGOSK: weights of a graph's eigenvectors learned from labels or pairs, with
    neighbourhoods.py    graphs and their smoothest eigenvectors
    ordered_weights.py   the linear program
    kernel_learner.py    what kernel learners share
    side_information.py  what labels, pairs or a matrix say about pairs of samples: for kernel learners
    label_codes.py       labels of any type, some of them missing
    advice.py      warnings about a fit, which a search collects
    tuning.py      tune: kernel parameters and γ by exact leave-one-out
    prediction.py  classifiers and regressors on top of
    base.py        what the dual solvers share, with
    systems.py       the dual systems, from a kernel matrix to coefficients
    choosing.py      γ by leave-one-out
    parameters.py    kernels inside estimators, γ, choices
    samples.py       tables, indices, pairs
    labels.py        one-vs-rest, one-vs-one
    strategies.py    exact, iterative, lowrank: which, and how the latter two are called
    large.py         fits by the latter two
    merging.py       how a solver uses an ensembler
    progress.py      progress bars

May import: everything up to linalg. An ensembler is found by name, through the registry.

For those who write solvers: `KernelParameters` is the base of an estimator with a parameter ``kernel``, `KernelLearner`
of one that learns a kernel; `check_samples` and `check_choice` check what comes in; `neighbour_graph` and `given_graph`
make a `NeighbourGraph`, `smoothest` finds its eigenvectors.
"""

from kernreg.solvers.ask_ls import AsKLSClassifier, AsKLSRegressor
from kernreg.solvers.biclustering import KernelBiclustering
from kernreg.solvers.kernel_learner import KernelLearner
from kernreg.solvers.kpca import KernelPCA
from kernreg.solvers.ksvd import KernelSVD
from kernreg.solvers.ls_svm import LSSVC, LSSVR
from kernreg.solvers.neighbourhoods import NeighbourGraph, given_graph, neighbour_graph, smoothest
from kernreg.solvers.nystrom import AsymmetricNystroem
from kernreg.solvers.parameters import KernelParameters, check_choice
from kernreg.solvers.samples import check_samples
from kernreg.solvers.scg_ldk import SCGLDK
from kernreg.solvers.scg_osk import SCGOSK
from kernreg.solvers.side_information import LabelInformation, SideInformation
from kernreg.solvers.tuning import TuneResult, tune

__all__ = [
    "LSSVC",
    "LSSVR",
    "SCGLDK",
    "SCGOSK",
    "AsKLSClassifier",
    "AsKLSRegressor",
    "AsymmetricNystroem",
    "KernelBiclustering",
    "KernelLearner",
    "KernelPCA",
    "KernelParameters",
    "KernelSVD",
    "LabelInformation",
    "NeighbourGraph",
    "SideInformation",
    "TuneResult",
    "check_choice",
    "check_samples",
    "given_graph",
    "neighbour_graph",
    "smoothest",
    "tune",
]
