"""Chains: solvers, ensemblers and estimators of scikit-learn, one after the other, as one estimator.

    making.py     make_chain, parallel: steps from specs, classes and objects
    estimator.py  Chain
    branches.py   Parallel: several steps side by side
    steps.py      what a step takes and gives, and which may follow which
    passing.py    what goes from step to step
    views.py      decision values of any predictor
    spec.py       a chain as a plain dict, for JSON and TOML
    toml.py       such a dict as TOML

May import: the layers below it in docs/extend/architecture.md.
"""

from kernreg.chain.branches import Parallel
from kernreg.chain.estimator import Chain
from kernreg.chain.making import make_chain, parallel

__all__ = ["Chain", "Parallel", "make_chain", "parallel"]
