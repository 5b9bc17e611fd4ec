"""Which classes a model file may name: plugins by registered name, kernreg's own, and estimators of scikit-learn.

With a plugin come the data classes of its package, in which a fit may say what it did.

A file never holds the path of anything else, and a reader imports nothing else.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from kernreg.errors import DamagedModelFile, ModelNeedsPlugin, PluginBlocked, PluginError, UnknownPlugin
from kernreg.registry.catalog import get_registry
from kernreg.registry.lookup import entry_of
from kernreg.registry.naming.requirement import Requirement, version_of
from kernreg.registry.record import Entry

#: Classes of kernreg that are no plugins and may stand in a model: estimators, and records of what was done.
OWN = {
    "chain": "kernreg.chain.estimator:Chain",
    "parallel": "kernreg.chain.branches:Parallel",
    "view-ensemble": "kernreg.ensemblers.view_ensemble:ViewEnsemble",
    "cross-conformal-regressor": "kernreg.solvers.inference.cross_conformal:CrossConformalRegressor",
    "cross-conformal-classifier": "kernreg.solvers.inference.cross_conformal:CrossConformalClassifier",
    "solve-report": "kernreg.linalg.exact.report:SolveReport",
    "low-rank-report": "kernreg.linalg.landmarks.small_systems:LowRankReport",
    "sketched-report": "kernreg.linalg.krylov.sketched_systems:SketchedReport",
    "iterative-report": "kernreg.linalg.krylov.dual_systems:IterativeReport",
    "blocks-report": "kernreg.linalg.krylov.block_descent:BlocksReport",
    "partial-report": "kernreg.linalg.spectra.report:PartialReport",
    "section": "kernreg.linalg.landmarks.sections:Section",
    "exact-rows": "kernreg.linalg.landmarks.sections:ExactRows",
    "estimated-rows": "kernreg.linalg.landmarks.sections:EstimatedRows",
    "swapped-section": "kernreg.linalg.landmarks.sections:Swapped",
    "nystrom-level": "kernreg.linalg.landmarks.approximation:Level",
    "nystrom-report": "kernreg.linalg.landmarks.approximation:NystromReport",
    "cell-partition": "kernreg.solvers.cells.partition:Partition",
    "cell-sight": "kernreg.solvers.cells.training:Sight",
    "cells-report": "kernreg.solvers.cells.machine:CellsReport",
    "relevance-report": "kernreg.solvers.relevance.descent:RelevanceReport",
    "ordered-weights": "kernreg.solvers.kernel_learning.ordered_weights:OrderedWeights",
    "graph-report": "kernreg.solvers.kernel_learning.scg_osk:GraphReport",
    "kernel-report": "kernreg.solvers.kernel_learning.scg_ldk:KernelReport",
    "compatibility": "kernreg.solvers.decompositions.compatibility.fixed_maps:Compatibility",
    "learning-report": "kernreg.solvers.decompositions.compatibility.learned_map:LearningReport",
}

#: Where scikit-learn keeps its public estimators.
SKLEARN = frozenset(
    f"sklearn.{name}"
    for name in (
        *("calibration", "cluster", "compose", "covariance", "cross_decomposition", "decomposition"),
        *("discriminant_analysis", "dummy", "ensemble", "feature_extraction", "feature_extraction.text"),
        *("feature_selection", "frozen", "gaussian_process", "impute", "isotonic", "kernel_approximation"),
        *("kernel_ridge", "linear_model", "manifold", "mixture", "model_selection", "multiclass", "multioutput"),
        *("naive_bayes", "neighbors", "neural_network", "pipeline", "preprocessing", "random_projection"),
        *("semi_supervised", "svm", "tree"),
    )
)

#: Private classes of scikit-learn that its public estimators are made of once fitted.
SKLEARN_PARTS = frozenset(
    (
        *("sklearn.calibration:_CalibratedClassifier", "sklearn.calibration:_SigmoidCalibration"),
        *("sklearn.calibration:_TemperatureScaling", "sklearn.multiclass:_ConstantPredictor"),
        "sklearn.metrics._scorer:_CurveScorer",
    )
)

REGISTERED = ("solver", "ensembler", "kernel")
_CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_RECORD = re.compile(r"\w+(\.\w+)*:\w+", re.ASCII)


def is_record(cls: type) -> bool:
    """Whether a class is a data class or a named tuple: made of its fields, and nothing but these."""
    return dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def requirement_of(obj: Any) -> Requirement | None:
    """Return how a file names a class or a kernel family, None if it may not.

    >>> from sklearn.preprocessing import StandardScaler
    >>> requirement_of(StandardScaler).name
    'sklearn.preprocessing:StandardScaler'
    >>> requirement_of(dict) is None
    True
    """
    for kind in REGISTERED if isinstance(obj, type) else ("kernel",):
        entry = entry_of(kind, obj)
        if entry is not None:
            file = Path(entry.file).name if entry.file else None
            return Requirement(kind, entry.name, entry.distribution, entry.version, file)
    if not isinstance(obj, type):
        return None
    target = f"{obj.__module__}:{obj.__qualname__}"
    for name, known in OWN.items():
        if known == target:
            return Requirement("kernreg", name, "kernreg", version_of("kernreg"))
    if target in SKLEARN_PARTS:
        return Requirement("scikit-learn", target, "scikit-learn", version_of("scikit-learn"))
    if is_record(obj):
        return _record_requirement(obj)
    public = _public_module(obj)
    if public is not None and _is_sklearn_class(obj):
        return Requirement("scikit-learn", f"{public}:{obj.__name__}", "scikit-learn", version_of("scikit-learn"))
    return None


def find(asked: Requirement, path: str) -> Any:
    """Return the class or kernel family that a file names, importing the plugin that has it and nothing else.

    Raises
    ------
    ModelNeedsPlugin
        If it is not here, blocked by KERNREG_PLUGINS, or cannot be imported.
    DamagedModelFile
        If no file written by kernreg could name it.
    """
    if asked.kind in REGISTERED:
        return _registered(asked, path)
    if asked.kind == "record":
        return _record(asked, path)
    if asked.distribution != asked.kind:  # the two that remain are named after what provides them
        raise _tampered(asked, path)
    if asked.kind == "kernreg":
        if asked.name in OWN:
            module, _, name = OWN[asked.name].partition(":")
            return getattr(import_module(module), name)
        raise ModelNeedsPlugin(
            f"{path!r} needs {asked}, which this kernreg {version_of('kernreg')} does not have: {asked.installation}"
        )
    module, _, name = asked.name.partition(":")
    part = asked.name in SKLEARN_PARTS
    if asked.kind != "scikit-learn" or not (part or (module in SKLEARN and _CLASS_NAME.fullmatch(name))):
        raise _tampered(asked, path)
    found = getattr(import_module(module), name, None)
    if not isinstance(found, type) or not (part or _is_sklearn_class(found)):
        raise ModelNeedsPlugin(
            f"{path!r} needs {asked.name}, which is not an estimator of scikit-learn {version_of('scikit-learn')}: "
            f"{asked.installation}"
        )
    return found


def sklearn_module(name: str) -> str | None:
    """Return the public module of the estimator of scikit-learn with that class name, None if there is none.

    >>> sklearn_module("StandardScaler"), sklearn_module("ls-svm")
    ('sklearn.preprocessing', None)
    """
    if not _CLASS_NAME.fullmatch(name):
        return None
    for module in sorted(SKLEARN):
        found = getattr(import_module(module), name, None)
        if isinstance(found, type) and _is_sklearn_class(found) and _public_module(found) == module:
            return module
    return None


def _registered(asked: Requirement, path: str) -> Any:
    registry = get_registry(asked.kind)
    name = asked.name if asked.distribution is None else f"{asked.distribution}:{asked.name}"
    needs = f"{path!r} needs {asked}"
    try:
        return registry.get(name)
    except PluginBlocked as error:
        raise ModelNeedsPlugin(f"{needs}, and it is not allowed here: {error}") from error
    except UnknownPlugin as error:
        if asked.file is not None:
            advice = (
                f"load it first: kernreg.load_plugin({asked.file!r}), or kernreg --plugin {asked.file} … on the "
                "command line, with the path of the file"
            )
        elif asked.distribution is None:
            advice = (
                f"register it before loading: kernreg.register({asked.kind!r}, {asked.name!r}, …), or make it a plugin "
                "(kernreg new-plugin) and save the model again"
            )
        else:
            advice = f"install it: {asked.installation}"
        others = [entry.distribution for entry in registry.entries() if entry.name == asked.name and entry.distribution]
        other = f" ({' and '.join(others)} has another of that name, which is not taken for it)" if others else ""
        raise ModelNeedsPlugin(f"{needs}, which is not there{other}; {advice}") from error
    except PluginError as error:
        raise ModelNeedsPlugin(f"{needs}, which does not work here: {error}") from error


def _record_requirement(cls: type) -> Requirement | None:
    """Return how a file names a data class of a plugin: where it is in the package of something registered."""
    package = cls.__module__.partition(".")[0]
    for entry in _plugins_in(package):
        if entry.distribution is not None and package != "kernreg" and "." not in cls.__qualname__:
            return Requirement("record", f"{cls.__module__}:{cls.__name__}", entry.distribution, entry.version)
    return None


def _record(asked: Requirement, path: str) -> Any:
    """Return a data class of a plugin, which must be there once the plugin is: nothing is imported for its sake."""
    module, _, name = asked.name.partition(":")
    package = module.partition(".")[0]
    if package == "kernreg" or asked.distribution is None or not _RECORD.fullmatch(asked.name):
        raise _tampered(asked, path)
    entries = [entry for entry in _plugins_in(package) if entry.distribution == asked.distribution]
    if not entries:
        raise ModelNeedsPlugin(f"{path!r} needs {asked}, which is not there; install it: {asked.installation}")
    _registered(Requirement(entries[0].kind, entries[0].name, asked.distribution, asked.version), path)
    found = vars(sys.modules[module]).get(name) if module in sys.modules else None
    if not isinstance(found, type) or not is_record(found) or found.__module__ != module:
        raise ModelNeedsPlugin(
            f"{path!r} needs {asked}, and {asked.distribution} {entries[0].version} has no such data class: "
            f"{asked.installation}"
        )
    return found


def _plugins_in(package: str) -> list[Entry]:
    """Return the plugins whose objects are in a package."""
    entries = (entry for kind in REGISTERED for entry in get_registry(kind).entries())
    return [e for e in entries if e.origin == "entry point" and e.target.partition(":")[0].split(".")[0] == package]


def _tampered(asked: Requirement, path: str) -> DamagedModelFile:
    return DamagedModelFile(
        f"{path!r} names {asked.name!r} as a {asked.kind}, which no model file may: it has been tampered with. "
        "Nothing of it was run"
    )


def _public_module(cls: type) -> str | None:
    parts = cls.__module__.split(".")
    for length in range(2, len(parts) + 1):
        module = ".".join(parts[:length])
        if module in SKLEARN and getattr(sys.modules.get(module), cls.__name__, None) is cls:
            return module
    return None


def _is_sklearn_class(cls: type) -> bool:
    """Whether a class is an estimator of scikit-learn, or one of its ways to split samples."""
    from sklearn.base import BaseEstimator

    if not cls.__module__.startswith("sklearn."):
        return False
    return issubclass(cls, BaseEstimator) or (
        cls.__module__ == "sklearn.model_selection._split" and hasattr(cls, "split")
    )
