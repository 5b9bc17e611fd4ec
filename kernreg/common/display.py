"""Records as short text and as tables in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from html import escape
from textwrap import wrap
from typing import Any

_LONG = 100  # characters of one value, and of a line


class Display:
    """What data classes inherit: ``print`` shows what differs from the defaults in a few lines, notebooks a table.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Report(Display):
    ...     method: str
    ...     residual: float
    ...     note: str = ""
    >>> print(Report("eigh", 1.23456e-15))
    Report: method eigh, residual 1.235e-15
    """

    def __str__(self) -> str:
        told = [field for field in fields(self) if not _is_default(getattr(self, field.name), field.default)]  # type: ignore[arg-type]  # of data classes
        text = f"{type(self).__name__}: " + ", ".join(f"{f.name} {brief(getattr(self, f.name))}" for f in told)
        return "\n".join(wrap(text, _LONG, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, {f.name: getattr(self, f.name) for f in fields(self)})  # type: ignore[arg-type]  # of data classes


def listed(names: Iterable[str], most: int = 30) -> str:
    """Return names as a message shows them: so many of them at most, and the beginning of long ones.

    >>> listed(["a", "b"]), listed("abcd", most=2)
    ('a, b', 'a, b, … (4 in all)')
    """
    every = list(names)
    text = ", ".join(name if len(name) <= _LONG // 2 else name[: _LONG // 2] + "…" for name in every[:most])
    return text if len(every) <= most else f"{text}, … ({len(every)} in all)"


def brief(value: Any) -> str:
    """Return a value in few characters.

    >>> brief(2 / 3), brief([1, 2]), brief("word")
    ('0.6667', '[1, 2]', 'word')
    """
    if isinstance(value, bool | str | int):
        text = str(value)
    elif is_dataclass(value):
        return type(value).__name__
    elif getattr(value, "shape", ()):
        return f"{type(value).__name__} of shape {value.shape}"
    elif isinstance(value, tuple | list):
        text = f"{len(value)} values" if len(value) > 6 else f"[{', '.join(map(brief, value))}]"
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}={brief(item)}" for key, item in value.items())
    else:
        try:
            text = f"{float(value):.4g}"
        except (TypeError, ValueError):
            text = " ".join(repr(value).split())
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def html_table(title: str, rows: Mapping[str, Any]) -> str:
    """Return a table of names and values for notebooks."""
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(brief(value))}</td></tr>" for name, value in rows.items())
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def _is_default(value: Any, default: Any) -> bool:
    return default is not MISSING and (value is default or (isinstance(value, bool | str | int) and value == default))
