"""Spec strings: ``"ask-ls(kernel='sne(sigma=2.0)', gamma=1)"`` to a name and arguments, and back.

A spec looks like a call, but nothing is evaluated: the arguments are literals. A spec inside a spec is a
string like any other; whoever takes it parses it.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernreg.errors import SpecError
from kernreg.registry.messages import SYNONYMS, synonym

_HEAD = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*:)?\w[\w.-]*")
_ACCEPTED = (
    "Arguments are literals: numbers, strings, True, False, None, inf, nan, tuples, lists and dicts of them; "
    'for example "sne(sigma=2.0)" or "ask-ls(kernel=\'sne(sigma=2.0)\', gamma=1)"'
)
_LONGEST_NAME = 200
WIDEST_INTEGER = 4096  # bits; Python writes no integers of more than 4300 digits, not into a message either
_NAMED = {"inf": math.inf, "nan": math.nan}


@dataclass(frozen=True)
class Spec:
    """A name with arguments, as read from a spec string; ``str`` gives the string back.

    Examples
    --------
    >>> str(Spec("rbf", kwargs={"sigma": 2.0}))
    'rbf(sigma=2.0)'
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return format_spec(self.name, self.args, self.kwargs)


def parse_spec(text: str) -> Spec:
    """Read a spec string.

    Parameters
    ----------
    text : str
        ``"name"``, ``"name(arguments)"`` or ``"distribution:name(arguments)"``. Arguments are Python
        literals, by position or by keyword; ``inf`` and ``nan`` are the only bare words.

    Returns
    -------
    Spec
        Its `name`, `args` and `kwargs`.

    Raises
    ------
    SpecError
        Naming the position at which the text stops making sense.

    Examples
    --------
    >>> parse_spec("ask-ls(kernel='sne(sigma=2.0)', gamma=1)")
    Spec(name='ask-ls', args=(), kwargs={'kernel': 'sne(sigma=2.0)', 'gamma': 1})
    >>> parse_spec("kernreg-graph:katz([1, -2.5], weight=inf)").args
    ([1, -2.5],)
    """
    if not isinstance(text, str):
        raise SpecError(f"a spec is a string such as 'sne(sigma=2.0)', not {text!r}")
    try:
        return _Reader(text.strip()).spec()
    except RecursionError:
        raise SpecError(f"the spec {text[:50]!r}… is nested too deeply") from None


def format_spec(name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> str:
    """Write a spec string; `parse_spec` reads it back.

    NumPy scalars are written as the numbers they hold. Anything that is not a literal is refused: give the
    spec string of a kernel, not the kernel.

    >>> format_spec("matern", (), {"nu": 2.5, "sigma": float("inf")})
    'matern(nu=2.5, sigma=inf)'
    >>> format_spec("linear")
    'linear'
    """
    if not isinstance(name, str) or _HEAD.fullmatch(name) is None:
        raise SpecError(f"{name!r} is not a name; names look like 'ask-ls' or 'distribution:ask-ls'")
    kwargs = kwargs or {}
    for key in kwargs:
        if not isinstance(key, str) or not key.isidentifier() or keyword.iskeyword(key):
            raise SpecError(f"{key!r} cannot be the name of a parameter of {name!r} in a spec; use an identifier")
    parts = [_literal(value) for value in args]
    parts += [f"{key}={_literal(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(parts)})" if parts else name


def _literal(value: Any) -> str:
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a NumPy scalar, whose repr names its type
    if value is None or isinstance(value, bool | str):
        return repr(value) if not isinstance(value, str) else repr(str(value))
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):  # repr writes inf and nan as the bare words we read
        return float.__repr__(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    raise SpecError(f"{value!r} of type {type(value).__name__!r} cannot be written in a spec. {_ACCEPTED}")


def _parsed(source: str) -> ast.Expression:
    if "\\" not in source:
        return ast.parse(source, mode="eval")
    with warnings.catch_warnings():  # what Python warns of in strings, depending on its version, is an error here
        warnings.filterwarnings("error", message=r"['\"]?\\?.*invalid (octal )?escape sequence")
        return ast.parse(source, mode="eval")


class _Reader:
    """Reads one text; knows where it is, so that errors can point."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")  # a file of Windows

    def spec(self) -> Spec:
        if "\r" in self.text:  # Python ends a line there, and would read a line feed
            raise self.error(self.text.index("\r"), "a carriage return is not accepted; in a string it is written \\r")
        head = _HEAD.match(self.text)
        if head is None:
            raise self.error(0, "a name is expected here" if self.text else "it is empty")
        name, rest = head.group(), self.text[head.end() :]
        if len(name) > _LONGEST_NAME:
            raise self.error(0, f"the name has {len(name)} characters, and {_LONGEST_NAME} is the most")
        start = len(self.text) - len(rest.lstrip())
        if not rest.strip():
            return Spec(name)
        if self.text[start] != "(":
            words = self.text.partition("(")[0]
            meant = [name for kind, names in SYNONYMS.items() for name in synonym(words, kind, names)]
            advice = f" (Did you mean {' or '.join(map(repr, meant))}?)" if meant else ""
            raise self.error(start, f"'(' is expected after the name{advice}")
        call = self.parse(head.end(), start)
        kwargs: dict[str, Any] = {}
        for pair in call.keywords:
            if pair.arg is None:
                raise self.error(self.offset(pair.value), "** is not accepted")
            if len(pair.arg) > _LONGEST_NAME:
                raise self.error(self.offset(pair), f"a parameter's name has at most {_LONGEST_NAME} characters")
            if pair.arg in kwargs:
                raise self.error(self.offset(pair), f"{pair.arg!r} is given twice")
            kwargs[pair.arg] = self.value(pair.value)
        return Spec(name, tuple(self.value(argument) for argument in call.args), kwargs)

    def parse(self, end: int, start: int) -> ast.Call:
        # A head Python can read, of the same length, keeps every position as it is in the text.
        source = "_" * end + self.text[end:]
        try:
            node = _parsed(source).body
        except SyntaxError as error:
            place = start  # a null character has none
            if error.lineno and error.offset:
                place = self.absolute(error.lineno, error.offset - 1)
            raise self.error(place, error.msg) from None
        except (ValueError, MemoryError, RecursionError) as error:
            raise self.error(start, f"it is too long, too deep or holds a null character ({error})") from None
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise self.error(start, "it goes on after the closing ')'")
        return node

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() as value) if value.bit_length() > WIDEST_INTEGER:  # 0xfff…, say
                raise self.error(self.offset(node), f"an integer of more than {WIDEST_INTEGER} bits is not accepted")
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.Name(id=name) if name in _NAMED:
                return _NAMED[name]
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                number = self.value(operand)
                if isinstance(number, bool) or not isinstance(number, int | float):
                    raise self.error(self.offset(node), "a sign is only accepted before a number")
                return -number if isinstance(sign, ast.USub) else number
            case ast.Tuple(elts=items):
                return tuple(self.value(item) for item in items)
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.Dict(keys=keys, values=items):
                return {self.key(key, item): self.value(item) for key, item in zip(keys, items, strict=True)}
            case ast.Name(id=name):
                raise self.error(self.offset(node), f"{name} is not a literal; a string needs quotes: {name!r}")
            case _:
                raise self.error(self.offset(node), f"{ast.unparse(node)} is not a literal")

    def key(self, node: ast.expr | None, item: ast.expr) -> Any:
        if node is None:
            raise self.error(self.offset(item), "** is not accepted")
        key = self.value(node)
        try:
            hash(key)
        except TypeError:
            raise self.error(self.offset(node), f"{key!r} cannot be the key of a dict") from None
        return key

    def offset(self, node: ast.expr | ast.keyword) -> int:
        line = self.text.split("\n")[node.lineno - 1]
        # Columns count bytes of UTF-8; people count characters.
        return self.absolute(node.lineno, len(line.encode()[: node.col_offset].decode(errors="ignore")))

    def absolute(self, line: int, column: int) -> int:
        return sum(len(before) + 1 for before in self.text.split("\n")[: line - 1]) + column

    def error(self, offset: int, reason: str) -> SpecError:
        # A caret helps only where text and caret fall under one another.
        short = self.text.isprintable() and 0 < len(self.text) <= 100
        caret = f"\n    {self.text}\n    {' ' * min(offset, len(self.text))}^\n" if short else " "
        shown = self.text if len(self.text) <= 100 else self.text[:100] + "…"
        return SpecError(f"cannot read the spec {shown!r}: at position {offset}, {reason}.{caret}{_ACCEPTED}.")
