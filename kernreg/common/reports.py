"""Reports for people: what a solver did, in a few lines."""

from __future__ import annotations

import textwrap
from dataclasses import fields
from typing import Any, ClassVar

_WIDTH = 110  # of a line
_LINES = 3  # beside the note


class Report:
    """A dataclass whose ``str`` is a short text: names and values, the note on a line of its own.

    Fields that hold more than one value (arrays, other reports) are left out, and so is what has its default value.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __str__(self) -> str:
        facts = []
        for field in fields(self):
            value = getattr(self, field.name)
            usual = type(value) is type(field.default) and value == field.default
            if field.name != "note" and not usual and (said := _said(value)):
                facts.append(f"{field.name.replace('_', ' ')} {said}")
        lines = textwrap.wrap(", ".join(facts), _WIDTH, max_lines=_LINES, placeholder=" …")
        note = textwrap.shorten(getattr(self, "note", ""), _WIDTH, placeholder=" …")
        return "\n".join([*lines, note] if note else lines)


def _said(value: Any) -> str:
    """Return a value in words, nothing for what is not one word or number."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, float):
        return "" if value != value else f"{value:.3g}"
    if isinstance(value, tuple) and value and all(isinstance(side, int) for side in value):
        return " × ".join(map(str, value))
    return ""
