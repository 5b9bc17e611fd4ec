"""Merge views, the decision functions that solvers produce, into one.

    views.py           what views and targets are: checks, ±1 targets, errors of a view
    base.py            Ensembler: what all below share; a convenience for third parties, not a requirement
    weighted.py        Source, Target, Average, Best: a view or a weighted mean of views
    stacking.py        Stack: a ridge or logistic regression on the views
    folds.py           out-of-fold views, for the next and for chains
    view_ensemble.py   ViewEnsemble: a classifier made of several solvers and an ensembler

An ensembler is any class with ``fit(views, y)``, ``merge(views)``, ``get_params`` and ``set_params``; see the page on
ensemblers for the protocol.

May import: the layers below it in docs/extend/architecture.md.
"""

from __future__ import annotations

from kernreg.ensemblers.base import Ensembler
from kernreg.ensemblers.stacking import Stack
from kernreg.ensemblers.view_ensemble import ViewEnsemble
from kernreg.ensemblers.weighted import Average, Best, Source, Target

__all__ = ["Average", "Best", "Ensembler", "Source", "Stack", "Target", "ViewEnsemble"]
