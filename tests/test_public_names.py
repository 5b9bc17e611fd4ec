from __future__ import annotations

import importlib.metadata
import pkgutil
import re

import pytest

import kernreg
import kernreg.registry
import kernreg.solvers

PUBLIC = {
    "__version__",
    "available",
    "config_context",
    "get_config",
    "kernel",
    "load",
    "load_plugin",
    "make_chain",
    "make_engine",
    "make_ensembler",
    "make_kernel",
    "make_solver",
    "open_samples",
    "parallel",
    "register",
    "save",
    "set_config",
    "tune",
}

REGISTRY = {
    "API_VERSION",
    "DiscoveryReport",
    "Entry",
    "KINDS",
    "MetadataProblem",
    "Registry",
    "Spec",
    "discovery_report",
    "entry_of",
    "format_spec",
    "get_registry",
    "isolated",
    "normalize_distribution",
    "parse_spec",
    "qualified_name",
    "refresh",
}

SOLVERS = {
    "CrossConformalClassifier",
    "CrossConformalRegressor",
    "AsKLSClassifier",
    "AsKLSRegressor",
    "AsymmetricNystroem",
    "AtomicFit",
    "CellsClassifier",
    "CellsRegressor",
    "FeatureRelevance",
    "KernelBiclustering",
    "KernelLearner",
    "KernelPCA",
    "KernelParameters",
    "KernelSVD",
    "ClassTargets",
    "Display",
    "LSSVC",
    "LSSVR",
    "LabelInformation",
    "NeighbourGraph",
    "SCGLDK",
    "SCGOSK",
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
    "check_weights",
    "documented_with",
    "check_training_set",
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
}


def test_public_names_are_these():
    assert set(kernreg.__all__) == PUBLIC
    assert dir(kernreg) == sorted(PUBLIC)
    assert list(kernreg.__all__) == sorted(kernreg.__all__)


def test_public_names_of_the_registry_are_these():
    assert set(kernreg.registry.__all__) == REGISTRY
    assert all(hasattr(kernreg.registry, name) for name in REGISTRY)


def test_public_names_of_the_solvers_are_these_and_hide_no_module():
    assert set(kernreg.solvers.__all__) == SOLVERS
    modules = {module.name for module in pkgutil.iter_modules(kernreg.solvers.__path__)}
    assert not SOLVERS & modules


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there_and_stays_the_same(name):
    assert getattr(kernreg, name) is getattr(kernreg, name)


def test_star_import_gives_the_public_names():
    names: dict[str, object] = {}
    exec("from kernreg import *", names)
    assert set(names) - {"__builtins__"} == PUBLIC


def test_unknown_name_says_which_there_are():
    with pytest.raises(AttributeError, match=r"no attribute 'make_kernal'.*make_kernel"):
        kernreg.make_kernal  # noqa: B018 (looking it up is the test)
    with pytest.raises(ImportError):
        from kernreg import nothing  # noqa: F401 (importing it is the test)


def test_version_is_a_version_and_that_of_the_installed_metadata():
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", kernreg.__version__)
    try:
        installed = importlib.metadata.version("kernreg")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("kernreg is not installed")
    assert installed == kernreg.__version__
