"""Make things by name: the functions behind ``kr.make_kernel("sne(sigma=2.0)")``."""

from __future__ import annotations

import atexit
import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kernreg.common.hints import not_a_kernel_hint, solver_hint
from kernreg.errors import ParameterError, SpecError, shown
from kernreg.registry import KINDS, Entry, Spec, get_registry, parse_spec
from kernreg.registry.checks import problem_with

_ABSENT: Any = object()
_engines: dict[str, tuple[str, Any]] = {}  # by spec: the name in it, and the engine
_sound_engines: set[type] = set()  # classes of engines that were given as objects, and have the methods of one


def make_kernel(spec: Any, **params: Any) -> Any:
    """A kernel by name, with parameters.

    Parameters
    ----------
    spec : str, kernel family or kernel
        ``"sne"``, ``"sne(sigma=2.0)"`` or ``"distribution:sne"``; or what the `kernreg.kernel` decorator
        returned; or a kernel, which is given back with `params` changed.
    **params
        Parameters of the kernel beside those in the spec.

    Returns
    -------
    Kernel

    Raises
    ------
    SpecError
        If the spec cannot be read, or gives a parameter that is also in `params`.
    ParameterError
        If the kernel has no such parameter, or not with such a value.
    UnknownPlugin, PluginConflict, PluginLoadError
        If there is no such kernel, or it cannot be loaded.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("rbf(sigma=2.0)") == kr.make_kernel("rbf", sigma=2.0)
    True
    """
    if isinstance(spec, str):
        read = _read("kernel", spec)
        family = get_registry("kernel").get(read.name)
        return _call(family, read, params, [parameter.name for parameter in getattr(family, "parameters", ())])
    if hasattr(spec, "family") and hasattr(spec, "set_params"):
        return spec.set_params(**params) if params else spec
    if getattr(spec, "__kernreg_kernel__", None) is True:
        return spec(**params)
    raise SpecError(
        f"{shown(spec)} is not a kernel; give a spec such as 'sne(sigma=2.0)', a kernel, or what the "
        f"kernreg.kernel decorator returned{not_a_kernel_hint(spec)}"
    )


def make_solver(spec: Any, **params: Any) -> Any:
    """A solver by name, with parameters, not fitted.

    Parameters
    ----------
    spec : str, class or instance
        ``"ls-svm"``, ``"ask-ls(kernel='sne(sigma=2.0)', gamma=1)"`` or ``"distribution:ls-svm"``; or a solver
        class; or a solver, of which an unfitted copy with `params` changed is made.
    **params
        Parameters of the solver beside those in the spec.

    Returns
    -------
    estimator
        An unfitted instance of the registered class.

    Raises
    ------
    SpecError
        If the spec cannot be read, or gives a parameter that is also in `params`.
    ParameterError
        If the solver has no such parameter.
    UnknownPlugin, PluginConflict, PluginLoadError
        If there is no such solver, or it cannot be loaded.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_solver("ls-svm", kernel="rbf(sigma=2.0)", gamma=10.0)
    LSSVC(gamma=10.0, kernel='rbf(sigma=2.0)')
    """
    return _make_instance("solver", spec, params)


def make_ensembler(spec: Any, **params: Any) -> Any:
    """An ensembler by name, with parameters, not fitted.

    Takes a spec such as ``"average"``, a class or an instance, and raises, as `make_solver` does.

    Examples
    --------
    >>> import kernreg as kr
    >>> views = {"source": [1.0], "target": [3.0]}
    >>> kr.make_ensembler("average").fit(views, [1]).merge({"source": [2.0], "target": [4.0]})
    array([3.])
    """
    return _make_instance("ensembler", spec, params)


def make_engine(spec: Any, **params: Any) -> Any:
    """An engine by name, with parameters: the form of the setting ``engine``.

    It is made once: who asks for the same spec again gets the same object, until it is closed. What is still open when
    the process ends is closed then.

    Parameters
    ----------
    spec : str, class or engine
        ``"local"``, ``"dask(address='tcp://…')"`` or ``"distribution:dask"``; or a class of engines, of which a new one
        is made; or an engine, which is given back.
    **params
        Parameters of the engine beside those in the spec; the engine is then a new one.

    Returns
    -------
    Engine
        Also a context manager that closes it.

    Raises
    ------
    SpecError
        If the spec cannot be read, or gives a parameter that is also in `params`.
    ParameterError
        If the engine has no such parameter.
    UnknownPlugin, PluginConflict, PluginLoadError
        If there is no such engine, or it cannot be loaded; also if a method cannot be called as the contract says.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_engine("local()") is kr.make_engine("local()")
    True
    >>> with kr.make_engine("local") as engine, kr.config_context(engine=engine):
    ...     kr.make_kernel("linear")([[2.0]]).tolist()
    [[4.0]]
    """
    if not isinstance(spec, str):
        if isinstance(spec, type):
            return _make_instance("engine", spec, params)
        return _checked_engine(spec, params)
    if params:
        return _make_instance("engine", spec, params)
    name, engine = _engines.get(spec) or (parse_spec(spec).name, None)
    # What has the name, and may be used, now.
    if type(engine) is not get_registry("engine").get(name) or getattr(engine, "closed", False):
        engine = _make_instance("engine", spec, {})
        _engines[spec] = name, engine
    return engine


def _checked_engine(engine: Any, params: dict[str, Any]) -> Any:
    cls = type(engine)
    if cls not in _sound_engines:
        _check_kind("engine", cls)
        _sound_engines.add(cls)
    if params:
        raise SpecError(
            f"{', '.join(params)} given beside an engine that is made already; give the name of the engine and its "
            "parameters"
        )
    if getattr(engine, "closed", False):
        raise SpecError(f"{engine!r} is closed; make another one, kernreg.make_engine(…)")
    return engine


@atexit.register
def _close_engines() -> None:
    for _, engine in _engines.values():
        with suppress(Exception):  # the process ends: nobody is left to tell
            engine.close()


def available(kind: str | None = None) -> tuple[Entry, ...]:
    """Every plugin there is, usable or not, without importing any.

    Parameters
    ----------
    kind : str, optional
        ``"kernel"``, ``"solver"``, ``"ensembler"``, ``"engine"`` or ``"command"``; all of them by default.

    Returns
    -------
    tuple of Entry
        With kind, name, target, distribution, version, origin, status and reason.

    Examples
    --------
    >>> all(entry.kind == "solver" for entry in available("solver"))
    True
    """
    kinds = KINDS if kind is None else [kind]
    return tuple(entry for one in kinds for entry in get_registry(one).entries())


def register(kind: str, name: str, obj: Any = _ABSENT, *, replace: bool = False) -> Any:
    """Register an object for the life of the process; also a decorator.

    Parameters
    ----------
    kind : str
        ``"kernel"``, ``"solver"``, ``"ensembler"``, ``"engine"`` or ``"command"``.
    name : str
        The name to find it by.
    obj : object, optional
        What to register; without it a decorator is returned.
    replace : bool
        Whether to prefer the object to one that has the name already.

    Returns
    -------
    object
        The object itself.

    Raises
    ------
    PluginExists
        If the name is taken and `replace` is False.
    PluginLoadError
        If the object is not what the kind requires.

    Examples
    --------
    >>> from kernreg.registry import isolated
    >>> with isolated():
    ...     @register("ensembler", "first")
    ...     class First:
    ...         def fit(self, views, y):
    ...             return self
    ...         def merge(self, views):
    ...             return next(iter(views.values()))
    ...     make_ensembler("first").merge({"source": 1.5, "target": 2.5})
    1.5
    """
    registry = get_registry(kind)
    if obj is not _ABSENT:
        return registry.register(name, obj, replace=replace)

    def decorate(decorated: Any) -> Any:
        return registry.register(name, decorated, replace=replace)

    return decorate


def _make_instance(kind: str, spec: Any, params: dict[str, Any]) -> Any:
    if isinstance(spec, str):
        read = _read(kind, spec)
        cls = get_registry(kind).get(read.name)
        return _call(cls, read, params, _parameters(cls))
    if isinstance(spec, type):
        _check_kind(kind, spec)
        return _call(spec, Spec(spec.__name__), params, _parameters(spec))
    if hasattr(spec, "get_params") and hasattr(spec, "fit"):
        cls = type(spec)
        _check_kind(kind, cls)
        if not params:
            return spec
        return _call(cls, Spec(cls.__name__), {**spec.get_params(deep=False), **params}, _parameters(cls))
    raise SpecError(
        f"{shown(spec)} is not a {kind}; give a spec such as 'name(parameter=value)', a class or an instance"
    )


def _read(kind: str, spec: str) -> Spec:
    """Read a spec; an error says what it was to be, since it may have been given as a parameter among others."""
    try:
        return parse_spec(spec)
    except SpecError as error:
        raise SpecError(f"{kind}: {error}") from None


def _check_kind(kind: str, cls: type) -> None:
    problem = problem_with(kind, cls)
    if problem:
        raise SpecError(f"{cls.__name__} cannot serve as {kind}: {problem}")


def _call(maker: Callable[..., Any], spec: Spec, params: dict[str, Any], accepted: list[str]) -> Any:
    """Call with the arguments of a spec and more, saying which parameters there are if that fails."""
    twice = [name for name in params if name in spec.kwargs or name in accepted[: len(spec.args)]]
    if twice:
        raise SpecError(
            f"{', '.join(map(repr, twice))} of {spec.name!r} is given both in the spec {str(spec)!r} and "
            "beside it; give it once"
        )
    keywords = {**spec.kwargs, **params}
    try:
        inspect.signature(maker).bind(*spec.args, **keywords)
    except TypeError as error:
        names = ", ".join(accepted) or "none"
        hint = solver_hint(keywords, accepted, has_probabilities=hasattr(maker, "predict_proba"))
        raise ParameterError(f"{spec.name!r}: {error}. Its parameters are: {names}{hint}") from None
    except ValueError:  # no signature to ask; the call will tell
        pass
    return maker(*spec.args, **keywords)


def _parameters(cls: type) -> list[str]:
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return []
    return [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
