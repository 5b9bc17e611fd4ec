"""``kernreg show``: what is in a model file."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import click

from kernreg.cli.output import console, json_option, write_json

#: By what a spec says which class an object is of.
_KINDS = ("solver", "ensembler", "scikit-learn", "sklearn")


@click.command("show")
@click.argument("model", type=click.Path(path_type=Path))
@json_option
def command(model: Path, as_json: bool) -> None:
    """Show what MODEL holds, what wrote it and which plugins it needs; nothing in it is run."""
    from kernreg.persistence import describe

    described = describe(model)
    if as_json:
        write_json(described)
        return
    held = described.model
    _line("model", f"{held.get('class')} ({held.get('name')})")
    for line in _spec(held.get("spec")):
        _line("", line)
    needed: defaultdict[str, list[str]] = defaultdict(list)
    for asked in described.requirements:
        needed[asked.provider].append(asked.name)
    for provider, names in needed.items():
        _line("needs", f"{provider}: {', '.join(names)}")
    _line("written with", ", ".join(f"{name} {number}" for name, number in described.written_with.items()))
    size = sum(member.size for member in described.members)
    _line("holds", f"{len(described.members)} members, {size} bytes, each with its checksum (--json lists them)")
    _line("schema", str(described.schema))


def _line(label: str, text: str) -> None:
    from rich.text import Text  # what a file says is not ours to format

    console().print(Text.assemble((f"{label:14}", "bold"), text))


def _spec(spec: Any) -> list[str]:
    """Return the parameters of a model one by one, and those of a chain step by step."""
    if not isinstance(spec, dict):
        return [] if spec is None else [str(spec)]
    steps = spec.get("steps")
    if not isinstance(steps, list):
        return [f"{name} = {value if isinstance(value, str) else _text(value)}" for name, value in spec.items()]
    others = [f"{name} = {_text(value)}" for name, value in spec.items() if name not in ("steps", "kernreg_chain")]
    return [*others, *(f"{_name(step)}: {_text(step)}" for step in steps)]


def _name(step: Any) -> str:
    return str(step.get("name", "?")) if isinstance(step, dict) else "?"


def _text(value: Any) -> str:
    """Return a value of a spec in one line: objects as the calls that make them.

    >>> _text({"name": "kpca", "solver": "kpca", "params": {"n_components": 3, "scale": {"$tuple": [1, 2]}}})
    'kpca(n_components=3, scale=(1, 2))'
    >>> _text([{"$object": {"scikit-learn": "sklearn.preprocessing:StandardScaler"}}, {"a": None}])
    '[StandardScaler(), {"a": null}]'
    >>> _text({"name": "both", "parallel": [{"name": "soft", "solver": "ls-svm", "params": {"gamma": 0.1}}]})
    'parallel(soft=ls-svm(gamma=0.1))'
    """
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if not isinstance(value, dict):
        return repr(value)
    if isinstance(value.get("$tuple"), list):
        return f"({', '.join(map(_text, value['$tuple']))})"
    if isinstance(value.get("$object"), dict):
        return _text(value["$object"])
    if isinstance(value.get("$kernel"), str):
        return repr(value["$kernel"])
    if isinstance(value.get("parallel"), list):
        return f"parallel({', '.join(f'{_name(each)}={_text(each)}' for each in value['parallel'])})"
    made = next((value[kind] for kind in _KINDS if isinstance(value.get(kind), str)), None)
    if made is None:
        return json.dumps(value, ensure_ascii=False)
    params = value.get("params")
    given = [f"{name}={_text(each)}" for name, each in params.items()] if isinstance(params, dict) else []
    return f"{made.rpartition(':')[2]}({', '.join(given)})"
