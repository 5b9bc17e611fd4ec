"""Parts that several docstrings share, written once: `documented_with` puts them where a line says ``{…}``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import cleandoc
from textwrap import dedent
from typing import TypeVar

Machine = TypeVar("Machine", bound=type)


def documented_with(blocks: Mapping[str, str]) -> Callable[[Machine], Machine]:
    r"""Return a decorator that puts blocks of text into the docstring of a class, where a line says ``{name}``.

    Blocks are indented as they like; docstrings get the margin that `inspect.cleandoc` gives.

    >>> @documented_with({"width": "    sigma : float\n        The width.\n"})
    ... class Machine:
    ...     '''A machine.
    ...
    ...     {width}
    ...     gamma : float
    ...     '''
    >>> print(Machine.__doc__)
    A machine.
    <BLANKLINE>
    sigma : float
        The width.
    gamma : float
    """

    def complete(machine: Machine) -> Machine:
        if machine.__doc__ is not None:  # python -OO has none
            lines = cleandoc(machine.__doc__).split("\n")  # from Python 3.13 on the compiler takes the margin, too
            texts = {f"{{{name}}}": dedent(block).rstrip("\n") for name, block in blocks.items()}
            machine.__doc__ = "\n".join(texts.get(line, line) for line in lines)
        return machine

    return complete
