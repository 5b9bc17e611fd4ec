"""Code by name: what a model file or a chain spec may name, and how it is found again.

requirement.py      Requirement: a kind, a name, and the distribution that provides it
allowed_classes.py  plugins by registered name, kernreg's own classes, estimators of scikit-learn; nothing else
"""

from kernreg.registry.naming.allowed_classes import find, is_record, requirement_of, sklearn_module
from kernreg.registry.naming.requirement import Requirement, as_json, read_requirement, version_of

__all__ = [
    "Requirement",
    "as_json",
    "find",
    "is_record",
    "read_requirement",
    "requirement_of",
    "sklearn_module",
    "version_of",
]
