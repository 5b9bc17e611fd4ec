"""The kit as its users see it: check one object, iterate over its checks, or hand them to pytest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from kernreg.testing.commands import COMMAND_LAWS, CommandCase
from kernreg.testing.engines import ENGINE_LAWS, EngineCase
from kernreg.testing.ensemblers import ENSEMBLER_LAWS, EnsemblerCase
from kernreg.testing.kernel_case import KernelCase
from kernreg.testing.kernel_objects import OBJECT_LAWS
from kernreg.testing.kernel_search import SEARCH_LAWS
from kernreg.testing.kernel_values import VALUE_LAWS
from kernreg.testing.laws import Check, LawBook, LawViolation, Verdict
from kernreg.testing.solver_state import STATE_LAWS
from kernreg.testing.solvers import RESULT_LAWS, SolverCase

KERNEL_LAWS = LawBook("kernel", [*VALUE_LAWS.laws, *OBJECT_LAWS.laws])
SOLVER_LAWS = LawBook("solver", [*RESULT_LAWS.laws, *STATE_LAWS.laws, *SEARCH_LAWS.laws])

#: The laws of each kind, and what is made of an object to apply them to.
BOOKS: dict[str, tuple[LawBook, Callable[..., Any]]] = {
    "kernel": (KERNEL_LAWS, KernelCase),
    "solver": (SOLVER_LAWS, SolverCase),
    "ensembler": (ENSEMBLER_LAWS, EnsemblerCase),
    "engine": (ENGINE_LAWS, EngineCase),
    "command": (COMMAND_LAWS, CommandCase),
}

#: What makes data of so many samples (and classes): samples, samples with targets, views with targets.
Samples = Callable[[np.random.Generator, int], Any]
Problem = Callable[[np.random.Generator, int], tuple[Any, Any]]
ViewProblem = Callable[[np.random.Generator, int, int], tuple[dict[str, np.ndarray], Any]]


def kind_of(obj: Any) -> str:
    """Tell a kernel, a solver, an ensembler, an engine and a command apart by what they can do.

    Examples
    --------
    >>> class Mean:
    ...     def fit(self, views, y): ...
    ...     def merge(self, views): ...
    >>> kind_of(Mean)
    'ensembler'
    """
    if getattr(obj, "__kernreg_kernel__", False) is True or (callable(obj) and hasattr(obj, "symmetric")):
        return "kernel"
    if hasattr(obj, "fit") and hasattr(obj, "merge"):
        return "ensembler"
    if hasattr(obj, "fit") and hasattr(obj, "get_params"):
        return "solver"
    if hasattr(obj, "map_rows") and hasattr(obj, "place"):
        return "engine"
    if hasattr(obj, "make_context") and not isinstance(obj, type):
        return "command"
    raise TypeError(
        f"the kit has no laws for {obj!r}; it accepts kernels and kernel families, solvers (fit, get_params) "
        "and ensemblers (fit, merge), engines (place, map_rows), as classes or objects, and click commands"
    )


def law_book(obj: Any, **options: Any) -> tuple[LawBook, Any]:
    """Return the laws that apply to an object of its kind, and the case to apply them to."""
    if isinstance(obj, str):
        from kernreg import make_kernel

        obj = make_kernel(obj)
    book, case = BOOKS[kind_of(obj)]
    return book, case(obj, **options)


def verdicts(obj: Any, **options: Any) -> Iterator[Verdict]:
    """Check every law of an object's kind and say what became of each; never raises for a broken law.

    Examples
    --------
    >>> {verdict.outcome for verdict in verdicts("linear")} <= {"held", "not applicable"}
    True
    """
    book, case = law_book(obj, **options)
    return book.verdicts(case)


def kernel_checks(kernel: Any, *, samples: Samples | None = None, seed: int = 0) -> Iterator[Check]:
    """Iterate over the checks of a kernel, a kernel family or a kernel spec; call each to run it.

    Parameters
    ----------
    kernel : KernelFamily, Kernel or str
    samples : callable, optional
        ``samples(rng, n)`` returns n valid samples. Needed only where the family's ``example`` does not fit.
    seed : int
        Seed of the random data.

    Examples
    --------
    >>> checks = list(kernel_checks("rbf(sigma=2.0)"))
    >>> checks[0]()  # raises LawViolation where the law does not hold
    >>> len(checks) > 10
    True
    """
    book, case = law_book(kernel, samples=samples, seed=seed)
    return book.checks(case)


def solver_checks(solver: Any, *, data: Problem | None = None, seed: int = 0) -> Iterator[Check]:
    """Iterate over the checks of a solver class or a solver; call each to run it.

    Examples
    --------
    >>> from kernreg.solvers import LSSVC
    >>> all(callable(check) for check in solver_checks(LSSVC))
    True
    """
    return SOLVER_LAWS.checks(SolverCase(solver, data, seed))


def ensembler_checks(ensembler: Any, *, data: ViewProblem | None = None, seed: int = 0) -> Iterator[Check]:
    """Iterate over the checks of an ensembler class or an ensembler; call each to run it.

    Examples
    --------
    >>> from kernreg.ensemblers import Average
    >>> for check in ensembler_checks(Average):
    ...     check()
    """
    return ENSEMBLER_LAWS.checks(EnsemblerCase(ensembler, data, seed))


def engine_checks(engine: Any, *, seed: int = 0) -> Iterator[Check]:
    """Iterate over the checks of an engine, a class of engines or the spec of one; call each to run it.

    Examples
    --------
    >>> all(callable(check) for check in engine_checks("local"))
    True
    """
    return ENGINE_LAWS.checks(EngineCase(engine, seed))


def command_checks(command: Any) -> Iterator[Check]:
    """Iterate over the checks of a click command; call each to run it.

    Examples
    --------
    >>> from kernreg.cli.installation.info import command
    >>> all(callable(check) for check in command_checks(command))
    True
    """
    return COMMAND_LAWS.checks(CommandCase(command))


def check_kernel(kernel: Any, *, samples: Samples | None = None, seed: int = 0) -> None:
    """Check a kernel, a kernel family or a kernel spec against every law of kernels.

    Parameters
    ----------
    kernel : KernelFamily, Kernel or str
    samples : callable, optional
        ``samples(rng, n)`` returns n valid samples. Needed only where the family's ``example`` does not fit.
    seed : int
        Seed of the random data.

    Raises
    ------
    LawViolation
        Names the law, the kernel and a counter-example.

    Examples
    --------
    >>> from kernreg.testing import check_kernel
    >>> check_kernel("rbf(sigma=2.0)")
    """
    for check in kernel_checks(kernel, samples=samples, seed=seed):
        check()


def check_solver(solver: Any, *, data: Problem | None = None, seed: int = 0, sklearn: bool = False) -> None:
    """Check a solver class, or a solver with its parameters, against every law of solvers.

    Parameters
    ----------
    solver : class or estimator
    data : callable, optional
        ``data(rng, n)`` returns ``(X, y)``. Default: Gaussian samples, two classes or a real target.
    seed : int
        Seed of the random data.
    sklearn : bool
        Also run scikit-learn's own ``check_estimator``, which takes several seconds.

    Raises
    ------
    LawViolation
        Names the law, the solver and a counter-example.

    Examples
    --------
    >>> from kernreg.solvers import KernelPCA
    >>> check_solver(KernelPCA(n_components=2))
    """
    for check in solver_checks(solver, data=data, seed=seed):
        check()
    if sklearn:
        from sklearn.utils.estimator_checks import check_estimator

        case = SolverCase(solver)
        try:
            check_estimator(case.make(), on_skip=None)
        except Exception as error:
            raise LawViolation("scikit-learn", case.subject, f"check_estimator says: {error}") from error


def check_ensembler(ensembler: Any, *, data: ViewProblem | None = None, seed: int = 0) -> None:
    """Check an ensembler class, or an ensembler with its parameters, against every law of ensemblers.

    Parameters
    ----------
    ensembler : class or object
    data : callable, optional
        ``data(rng, n, classes)`` returns ``(views, y)``. Default: two views named source and target.
    seed : int
        Seed of the random data.

    Raises
    ------
    LawViolation
        Names the law, the ensembler and a counter-example.

    Examples
    --------
    >>> from kernreg.ensemblers import Average
    >>> check_ensembler(Average)
    """
    for check in ensembler_checks(ensembler, data=data, seed=seed):
        check()


def check_engine(engine: Any, *, seed: int = 0) -> None:
    """Check an engine, a class of engines or the spec of one against every law of engines.

    Parameters
    ----------
    engine : class, str or Engine
        A class is made with its defaults, a spec such as ``"cluster(workers=2)"`` by `kernreg.make_engine`; both are
        closed in the end. An engine is not closed.
    seed : int
        Seed of the random samples.

    Raises
    ------
    LawViolation
        Names the law, the engine and what it gave instead.

    Examples
    --------
    >>> check_engine("local")
    """
    case = EngineCase(engine, seed)
    try:
        for check in ENGINE_LAWS.checks(case):
            check()
    finally:
        case.close()


def check_command(command: Any) -> None:
    """Check a click command, and every command below it, against every law of commands.

    Parameters
    ----------
    command : click.Command

    Raises
    ------
    LawViolation
        Names the law, the command and what it did.

    Examples
    --------
    >>> import click
    >>> @click.command("greet")
    ... def greet():
    ...     '''Say hello.'''
    >>> check_command(greet)
    """
    for check in command_checks(command):
        check()


def parametrize_with_checks(objects: Iterable[Any]) -> Any:
    """Decorate a pytest function so that it runs once for every law of every object.

    Parameters
    ----------
    objects : iterable
        Kernels, kernel families, kernel specs, solvers, ensemblers, engines and commands, in any mixture. Where an
        object needs its own samples, give the checks themselves: ``*kernel_checks(k, samples=...)``.

    Returns
    -------
    pytest.MarkDecorator
        The function takes one argument named ``check`` and calls it.

    Examples
    --------
    >>> from kernreg.testing import parametrize_with_checks
    >>> @parametrize_with_checks(["rbf", "rbf(sigma=3.0)"])
    ... def test_laws(check):
    ...     check()
    """
    import pytest  # only test suites call this, and only they need pytest

    checks: list[Check] = []
    for obj in objects:
        if isinstance(obj, Check):
            checks.append(obj)
        else:
            book, case = law_book(obj)
            checks.extend(book.checks(case))
    return pytest.mark.parametrize("check", [pytest.param(check, id=check.id) for check in checks])
