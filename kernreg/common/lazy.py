"""Properties that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_Value = TypeVar("_Value")


class computed_once(Generic[_Value]):
    """A property whose value is computed at first and kept in the object.

    `functools.cached_property` holds one lock for all objects of a class in Python 3.11 while it computes: threads
    would wait for one another, and a child for ever if another thread of its parent held the lock when it was forked.
    Here threads that ask one object at once compute its value once each, and keep one of them.

    Examples
    --------
    >>> class Circle:
    ...     radius = 2
    ...
    ...     @computed_once
    ...     def area(self):
    ...         print("computed")
    ...         return 3 * self.radius**2
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (12, 12)
    """

    def __init__(self, function: Callable[[Any], _Value]):
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> computed_once[_Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> _Value: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return vars(instance).setdefault(self._name, self._function(instance))
