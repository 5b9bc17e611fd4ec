"""``kernreg list``: what is there, without importing any of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kernreg import registry
from kernreg.cli.output import console, json_option, styled, write_json

if TYPE_CHECKING:
    from rich.table import Table


KINDS = tuple(registry.KINDS)
SUMMARY_WIDTH = 90  # characters of the line about an entry


def listing(kind: str | None = None) -> list[registry.Entry]:
    """Return the entries of one kind, or of all, ordered by kind and name."""
    from kernreg import available

    return sorted(available(kind), key=lambda entry: (KINDS.index(entry.kind), entry.name, entry.distribution or ""))


def full_name(entry: registry.Entry) -> str:
    """Return the name by which an entry is found, whoever else claims its short one."""
    return f"{entry.distribution}:{entry.name}" if entry.distribution else entry.name


def table(entries: Sequence[registry.Entry]) -> Table:
    """Lay entries out as a table: the last column says what each is, or what is wrong with it."""
    from rich.markup import escape
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("kind", "name", "distribution", "version", "status", "what it is"):
        grid.add_column(heading, overflow="fold")
    for entry in entries:
        origin, told = escape(entry.source), escape(entry.reason or summary(entry))
        grid.add_row(entry.kind, escape(entry.name), origin, entry.version or "", styled(entry.status), told)
    return grid


def summary(entry: registry.Entry) -> str:
    """Return the line about an entry, of a length that fits beside the rest."""
    from kernreg.cli.app import COMMANDS
    from kernreg.cli.installation.summaries import summary_of

    own = COMMANDS.get(entry.name) if entry.kind == "command" and entry.distribution == "kernreg" else None
    text = own.rstrip(".") if own else summary_of(entry)
    return text if len(text) <= SUMMARY_WIDTH else f"{text[: SUMMARY_WIDTH - 1]}…"


@click.command("list")
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind.")
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """List kernels, solvers, ensemblers, engines and commands, and where each comes from."""
    entries = listing(kind)
    if as_json:
        write_json(entries)
    else:
        console().print(table(entries))
