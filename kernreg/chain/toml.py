"""The dict of a chain as TOML text. Python reads TOML and does not write it."""

from __future__ import annotations

import json
import re
from typing import Any

from kernreg.errors import SpecError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(spec: dict[str, Any]) -> str:
    """Return TOML that ``tomllib.loads`` reads back to the same dict.

    >>> step = {"name": "kpca", "solver": "kpca", "params": {"n_components": 2}}
    >>> print(to_toml({"kernreg_chain": 1, "steps": [step]}))
    kernreg_chain = 1
    <BLANKLINE>
    [[steps]]
    name = "kpca"
    solver = "kpca"
    params = { n_components = 2 }
    <BLANKLINE>
    """
    lines = [f"{_key(key)} = {_value(value)}" for key, value in spec.items() if key != "steps"]
    for step in spec.get("steps", ()):
        lines += ["", "[[steps]]", *(f"{_key(key)} = {_value(value)}" for key, value in step.items())]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON strings are TOML strings, but for the one control character that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }" if value else "{}"
        )
    raise SpecError(f"{value!r} cannot be written in TOML")
