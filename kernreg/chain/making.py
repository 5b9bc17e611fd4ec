"""Chains from specs, classes and objects; names for their steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernreg.chain.branches import Parallel
from kernreg.chain.estimator import Chain
from kernreg.errors import ChainError, UnknownPlugin
from kernreg.factory import make_ensembler, make_solver
from kernreg.registry import entry_of, get_registry, parse_spec
from kernreg.registry.companions import advice_on
from kernreg.registry.messages import close_matches, synonym


def make_chain(*steps: Any, kernel: Any = None, learn_from: str = "auto", cv: Any = 5) -> Chain:
    """A chain of steps by name, not fitted.

    Parameters
    ----------
    *steps
        Each is a spec of a solver or ensembler (``"kpca(n_components=20)"``), a pair of a spec and a dict of further
        parameters, an object (a solver, an ensembler, an estimator of scikit-learn, another chain, what `parallel`
        returns), a class of these, or a pair of a name and any of these.
    kernel : str, KernelFamily or Kernel, optional
        The kernel of every kernel method that has none of its own, up to the first decomposer.
    learn_from, cv
        As for `Chain`.

    Returns
    -------
    Chain
        Its steps are named after the specs without hyphens: the γ of ``"ls-svm"`` is set as ``lssvm__gamma``.

    Raises
    ------
    ChainError
        If a step cannot use what the one before it gives; both are named.

    Examples
    --------
    >>> chain = make_chain("ls-svm(gamma=10.0)", "average", kernel="rbf(sigma=1.5)")
    >>> [name for name, _ in chain.steps]
    ['lssvm', 'average']
    >>> make_chain("ls-svm", "ask-ls")
    Traceback (most recent call last):
    kernreg.errors.ChainError: 'askls', a predictor, cannot follow 'lssvm', a predictor: ...
    """
    return Chain(named(steps), kernel=kernel, learn_from=learn_from, cv=cv)


def parallel(*branches: Any, **named_branches: Any) -> Parallel:
    """Branches of a chain that see the same samples.

    Parameters
    ----------
    *branches, **named_branches
        Each as a step of `make_chain`. Predictors give their views to the ensembler that follows; decomposers and
        transformers put their features side by side.

    Examples
    --------
    >>> both = parallel(narrow="ls-svm(kernel='rbf(sigma=0.5)')", wide="ls-svm(kernel='rbf(sigma=5.0)')")
    >>> chain = make_chain(both, "stack")
    >>> sorted(name for name in chain.get_params() if name.endswith("sigma"))
    ['parallel__narrow__kernel__sigma', 'parallel__wide__kernel__sigma']
    """
    made = Parallel(named((*branches, *named_branches.items())))
    made._role()  # refuses branches that do not go together
    return made


def named(steps: Any) -> list[tuple[str, Any]]:
    """Return the steps as objects with names of their own."""
    found: list[tuple[str, Any]] = []
    for given in steps:
        name, step = as_step(given)
        taken = {other for other, _ in found}
        unique, number = name, 2
        while unique in taken:
            unique, number = f"{name}{number}", number + 1
        found.append((unique, step))
    return found


def as_step(given: Any) -> tuple[str, Any]:
    """Return the name and the object of one step."""
    if isinstance(given, tuple):
        if len(given) != 2 or not isinstance(given[0], str):
            raise ChainError(f"the step {given!r} is neither (spec, parameters) nor (name, step)")
        if isinstance(given[1], Mapping):
            return as_step(_from_spec(given[0], dict(given[1])))
        return given[0], as_step(given[1])[1]
    if isinstance(given, str):
        return as_step(_from_spec(given, {}))
    if isinstance(given, type):
        return as_step(given())
    if not hasattr(given, "fit"):
        raise ChainError(
            f"the step {given!r} is not an estimator; give a spec such as 'kpca(n_components=20)', a solver, an "
            "ensembler, an estimator of scikit-learn, or what parallel(...) returns"
        )
    return _name_of(type(given)), given


def _from_spec(spec: str, params: dict[str, Any]) -> Any:
    name = parse_spec(spec).name
    if name in get_registry("solver"):
        return make_solver(spec, **params)
    if name in get_registry("ensembler"):
        return make_ensembler(spec, **params)
    if name in get_registry("kernel"):
        raise ChainError(
            f"the step {spec!r} is a kernel, and steps are solvers, ensemblers and transformers; give it as "
            f"make_chain(…, kernel={spec!r})"
        )
    known = [*get_registry("solver").names(), *get_registry("ensembler").names()]
    meant = [*synonym(name, "solver", known), *close_matches(name, known)][:1]
    not_installed = advice_on("solver", name)
    advice = f" {not_installed}" if not_installed else f" Did you mean {meant[0]!r}?" if meant else ""
    raise UnknownPlugin(f"there is no solver or ensembler {name!r}.{advice} There are {', '.join(known)}")


def _name_of(cls: type) -> str:
    for kind in ("solver", "ensembler"):
        entry = entry_of(kind, cls)
        if entry is not None:
            return entry.name.replace("-", "").replace("_", "")
    return cls.__name__.lower()
