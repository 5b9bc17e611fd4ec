"""Fits that happen whole or not at all, and answers that come from one fit.

`fit` works on a twin of the estimator. Only when it is done does the estimator take over the twin's attributes, in one
step: a fit that fails or is interrupted leaves the estimator as it was. Every other public method and property works on
what the estimator held when it was called, so an answer is that of the old fit or of the new one, never of a mixture,
whatever another thread is fitting. Masked samples, targets and weights are refused at this door, which all fits go
through: a mask is lost as soon as NumPy makes an ordinary array of them. So are a ``random_state`` that is none,
whether or not this fit would draw from it, and parameters whose own code raises, wherever they would be looked at.

    fit            twin.__dict__ = copy of self.__dict__      self.__dict__ = twin.__dict__ at the end
    any other      view.__dict__ = self.__dict__ itself       what it keeps (leave-one-out values) stays with that fit
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from kernreg.common.checks import check_sound
from kernreg.engine.arrays import require_unmasked
from kernreg.linalg.randomness import check_random_state

#: Methods that end in new attributes.
FITTING = frozenset({"fit", "fit_transform", "fit_predict", "partial_fit"})


class AtomicFit:
    """Base of estimators whose `fit` stores all or nothing. A subclass writes `fit` as usual.

    Methods and properties without an underscore in front are covered, also those of plugins' subclasses and of mixins;
    ``set_params`` and its like, which change the estimator itself, are not.

    Examples
    --------
    >>> class Mean(AtomicFit):
    ...     def fit(self, X):
    ...         self.size_ = len(X)
    ...         self.mean_ = sum(X) / len(X)
    ...         return self
    >>> model = Mean().fit([1.0, 3.0])
    >>> model.fit([])
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    >>> model.size_, model.mean_
    (2, 2.0)
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in [*_of_mixins(cls), *vars(cls).items()]:
            if name.startswith(("_", "set_")) or name in ("get_params", "get_metadata_routing"):
                continue
            wrap = _whole if name in FITTING else _from_one_fit
            if inspect.isfunction(member):
                setattr(cls, name, wrap(member))
            elif isinstance(member, property) and member.fget is not None:
                setattr(cls, name, property(wrap(member.fget), member.fset, member.fdel, member.__doc__))
            elif inspect.isfunction(getattr(member, "fn", None)):  # scikit-learn's available_if
                member.fn = wrap(member.fn)


def _of_mixins(cls: type) -> list[tuple[str, Any]]:
    """Return the methods and properties that a class has from others, which are no estimators of this kind."""
    found = []
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), AtomicFit)
        member = vars(owner).get(name)
        if not issubclass(owner, AtomicFit) and (inspect.isfunction(member) or isinstance(member, property)):
            found.append((name, member))
    return found


def _whole(method: Callable[..., Any]) -> Callable[..., Any]:
    names = list(inspect.signature(method).parameters)[1:]

    @functools.wraps(method)
    def fit(self: Any, *args: Any, **options: Any) -> Any:
        for name, value in (*zip(names, args, strict=False), *options.items()):
            require_unmasked(value, name)
        for name, value in self.__dict__.items():
            if not name.endswith("_") and not name.startswith("_"):
                check_sound(name, value)
        check_random_state(self.__dict__.get("random_state"))
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        result = method(twin, *args, **options)
        self.__dict__ = twin.__dict__  # one step, which no signal or thread comes between
        return self if result is twin else result

    return fit


def _from_one_fit(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def answer(self: Any, *args: Any, **options: Any) -> Any:
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__
        result = method(view, *args, **options)
        return self if result is view else result

    return answer
