"""``kernreg show``: what is in a model file."""

from __future__ import annotations

from pathlib import Path

import click

from kernreg.cli.options import json_option
from kernreg.cli.output import console, write_json


@click.command("show")
@click.argument("model", type=click.Path(path_type=Path))
@json_option
def command(model: Path, as_json: bool) -> None:
    """Tell what MODEL holds, what wrote it and which plugins it needs; nothing of it is run."""
    from kernreg.persistence import describe

    described = describe(model)
    if as_json:
        write_json(described)
        return
    import dataclasses

    from rich.markup import escape  # what a file says is not ours to format

    out = console()
    for field in dataclasses.fields(described):
        value = getattr(described, field.name)
        if isinstance(value, list | tuple) and value:
            out.print(f"[bold]{field.name}[/]")
            for item in value:
                out.print(f"  {item}", markup=False)
        else:
            out.print(f"[bold]{field.name}[/] {escape(str(value))}")
