"""The conformance kit: laws that every kernel, solver, ensembler, engine and command keeps, built in or not.

    laws.py             a law, a book of laws, LawViolation
    arrays.py           comparing arrays, showing the entry where they differ
    kernel_case.py      a kernel under test, with random samples
    kernel_values.py      laws about its numbers
    kernel_objects.py     laws about the object
    estimators.py       laws about parameters, shared by
    solvers.py            laws of solvers about results (tried with asymmetric.py),
    solver_state.py       about what a fit holds,
    kernel_search.py      about kernel__sigma in a grid search, and
    ensemblers.py         the laws of ensemblers
    engines.py          the laws of engines
    commands.py         the laws of commands
    imports.py          what a plugin imports of kernreg that is not public
    kit.py              the functions below

In a plugin's test suite::

    from kernreg.testing import parametrize_with_checks
    from my_plugin import my_kernel

    @parametrize_with_checks([my_kernel, my_kernel(sigma=0.1)])
    def test_laws(check):
        check()

and from the command line: ``kernreg check my-plugin``.

May import: the layers below it in docs/extend/architecture.md.
"""

from __future__ import annotations

from kernreg.testing.imports import private_imports
from kernreg.testing.kit import (
    check_command,
    check_engine,
    check_ensembler,
    check_kernel,
    check_solver,
    command_checks,
    engine_checks,
    ensembler_checks,
    kernel_checks,
    parametrize_with_checks,
    solver_checks,
    verdicts,
)
from kernreg.testing.laws import Check, LawViolation, Verdict

__all__ = [
    "Check",
    "LawViolation",
    "Verdict",
    "check_command",
    "check_engine",
    "check_ensembler",
    "check_kernel",
    "check_solver",
    "command_checks",
    "engine_checks",
    "ensembler_checks",
    "kernel_checks",
    "parametrize_with_checks",
    "private_imports",
    "solver_checks",
    "verdicts",
]
