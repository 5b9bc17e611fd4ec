"""``kernreg list``: what is there, without importing any of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kernreg import registry
from kernreg.cli.output import brief, console, json_option, styled, write_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


KINDS = tuple(registry.KINDS)
HEADINGS = ("kind", "name", "distribution", "version", "status", "what it is")
ROOM = 60  # characters that the last column needs to be readable: below, it takes the room of others
WORKING = ("available", "loaded")
UNLIMITED = 1_000_000  # characters in a line of a pipe


def listing(kind: str | None = None) -> list[registry.Entry]:
    """Return the entries of one kind, or of all, ordered by kind and name."""
    from kernreg import available

    return sorted(available(kind), key=lambda entry: (KINDS.index(entry.kind), entry.name, entry.distribution or ""))


def full_name(entry: registry.Entry) -> str:
    """Return the name by which an entry is found, whoever else claims its short one."""
    return f"{entry.distribution}:{entry.name}" if entry.distribution else entry.name


def table(entries: Sequence[registry.Entry], width: int | None = None) -> Table:
    """Lay entries out as a table: the last column says what each is, or what is wrong with it.

    Where `width` leaves too little room for that, there are three columns: the last one then also says where an entry
    of others comes from, and its status where it does not work.
    """
    from rich.markup import escape
    from rich.table import Table

    rows = [
        (e.kind, brief(e.name), brief(e.source), brief(e.version or ""), e.status, brief(e.reason or summary(e), 600))
        for e in entries
    ]
    taken = sum(max(map(len, column)) + 1 for column in list(zip(HEADINGS, *rows, strict=True))[:-1])
    narrow = width is not None and width - taken < ROOM
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS[:2] + HEADINGS[-1:] if narrow else HEADINGS:
        grid.add_column(heading, overflow="fold")
    for kind, name, origin, version, status, told in rows:
        if narrow:
            state = "" if status in WORKING else f"{styled(status)}: "
            place = "" if origin == "kernreg" else f" ({escape(origin)})"
            grid.add_row(kind, escape(name), f"{state}{escape(told)}{place}")
        else:
            grid.add_row(kind, escape(name), escape(origin), escape(version), styled(status), escape(told))
    return grid


def summary(entry: registry.Entry) -> str:
    """Return the line about an entry."""
    from kernreg.cli.app import COMMANDS
    from kernreg.cli.installation.summaries import summary_of

    own = COMMANDS.get(entry.name) if entry.kind == "command" and entry.distribution == "kernreg" else None
    return own.rstrip(".") if own else summary_of(entry)


@click.command("list")
@click.option("--kind", type=click.Choice(KINDS), help="List only this kind.")
@json_option
def command(kind: str | None, as_json: bool) -> None:
    """List kernels, solvers, ensemblers, engines and commands, and where each comes from."""
    entries = listing(kind)
    if as_json:
        write_json(entries)
    else:
        show(entries, console())


def show(entries: Sequence[registry.Entry], out: Console) -> None:
    """Print the table: as wide as a terminal is; elsewhere, a line for each entry, however long."""
    if out.is_terminal:
        out.print(table(entries, out.width))
    else:
        grid = table(entries)
        out.width = max(out.width, out.measure(grid, options=out.options.update(width=UNLIMITED)).maximum)
        out.print(grid)
