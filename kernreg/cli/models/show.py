"""``kernreg show``: what is in a model file."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import click

from kernreg.cli.output import console, json_option, write_json


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
    """Return the parameters of a model one by one; a chain as it would be written down."""
    if not isinstance(spec, dict):
        return [] if spec is None else [str(spec)]
    if all(isinstance(value, str) for value in spec.values()):
        return [f"{name} = {value}" for name, value in spec.items()]
    return json.dumps(spec, indent=2, ensure_ascii=False).splitlines()
