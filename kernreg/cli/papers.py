"""``kernreg papers``: the papers' tables and figures, listed, run again, and reported beside the papers' numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kernreg.cli.options import json_option
from kernreg.cli.output import console, write_json
from kernreg.errors import KernregError

out_option = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("papers-results"),
    show_default=True,
    help="Folder of results.",
)
data_option = click.option(
    "--data", type=click.Path(file_okay=False, path_type=Path), help="Data folder; by default that of KERNREG_DATA."
)
quick_option = click.option("--quick", is_flag=True, help="Few trials on small subsets, kept apart from full results.")


@click.group("papers")
def command() -> None:
    """Run the tables and figures of the papers again."""


@command.command("list")
@data_option
@json_option
def list_tables(data: Path | None, as_json: bool) -> None:
    """List the tables and figures, and how many of their rows (or parts) have data here."""
    from kernreg.papers import Table, find, names
    from kernreg.papers.splitting import is_available

    rows: list[dict[str, Any]] = []
    for name in names():
        entry = find(name)
        is_table = isinstance(entry, Table)
        needed = entry.rows if isinstance(entry, Table) else [part.row for part in entry.parts]
        rows.append(
            {
                "name": name,
                "title": entry.title,
                "kind": "table" if is_table else "figure",
                "rows": len(needed),
                "with_data": sum(row is None or is_available(row, data) for row in needed),
                "methods": len(entry.methods) if isinstance(entry, Table) else None,
                "trials": entry.wanted_trials if isinstance(entry, Table) else None,
            }
        )
    if as_json:
        write_json(rows)
        return
    from rich.table import Table as Printed

    from kernreg.papers.report import counted

    printed = Printed("name", "what", "rows", "with data", "methods", "trials", box=None, pad_edge=False)
    for row in rows:
        shown = (row[key] for key in ("name", "title", "rows", "with_data", "methods"))
        trials = counted(row["trials"]) if row["trials"] else ""
        printed.add_row(*("" if value is None else str(value) for value in shown), trials)
    console().print(printed)


@command.command("run")
@click.argument("chosen", metavar="NAME...", nargs=-1, required=True)
@click.option("--trials", type=click.IntRange(1), help="Trials of each row; by default as the table says.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@data_option
@out_option
@quick_option
@click.option("--row", "rows", multiple=True, help="Only this row (of a figure, part); may be given several times.")
@click.option("--method", "methods", multiple=True, help="Only this method; may be given several times.")
@click.option("--download", is_flag=True, help="Fetch from OpenML what is not in the data folder.")
def run_tables(
    chosen: tuple[str, ...],
    trials: int | None,
    jobs: int,
    data: Path | None,
    out: Path,
    quick: bool,
    rows: tuple[str, ...],
    methods: tuple[str, ...],
    download: bool,
) -> None:
    """Run tables and figures ("all" for every one); what is in the folder of results already is not run again."""
    from kernreg.papers import find, names, run

    tables = [find(name) for name in (names() if chosen == ("all",) else chosen)]
    selected = [(table, rows, methods) for table in tables] if len(tables) == 1 else _having(tables, rows, methods)
    if not selected:
        raise KernregError("none of these tables has the rows and methods that are asked for")
    failed = there = lacking = 0
    for table, its_rows, its_methods in selected:
        click.echo(f"{table.name}: {table.title}")
        done = run(
            table,
            out,
            trials=trials,
            jobs=jobs,
            data=data,
            quick=quick,
            download=download,
            rows=its_rows,
            methods=its_methods,
            tell=lambda line: click.echo(f"  {line}"),
        )
        failed += done.failed
        there += done.made + done.kept + done.failed
        lacking += len(done.missing)
        click.echo(
            f"{table.name}: cells run: {done.made}, kept: {done.kept}, failed: {done.failed}; "
            f"rows without data: {len(done.missing)}; {done.seconds:.1f} s"
        )
        for line in done.missing:
            click.echo(f"  data not available: {line}")
    if not there:
        why = "no row has data; name their folder by --data or KERNREG_DATA" if lacking else "see the lines above"
        raise KernregError(f"nothing was run: {why}")
    if failed:
        raise SystemExit(1)


def _having(
    tables: list[Any], rows: tuple[str, ...], methods: tuple[str, ...]
) -> list[tuple[Any, tuple[str, ...], tuple[str, ...]]]:
    """Return those of several tables that have a row and a method of these names, with the names they have."""
    found = []
    for table in tables:
        has_rows = [each.name for each in (table.rows if hasattr(table, "rows") else table.parts)]
        has_methods = [each.name for each in getattr(table, "methods", ())]
        its_rows = tuple(name for name in rows if name in has_rows)
        its_methods = tuple(name for name in methods if name in has_methods)
        if (its_rows or not rows) and (its_methods or not methods):
            found.append((table, its_rows, its_methods))
    return found


@command.command("report")
@click.argument("chosen", metavar="[NAME]...", nargs=-1)
@data_option
@out_option
@quick_option
def report_tables(chosen: tuple[str, ...], data: Path | None, out: Path, quick: bool) -> None:
    """Write report.md and report.html: ours beside the papers'."""
    from kernreg.papers import find, names, write_report

    if not out.is_dir():
        raise KernregError(f"there is no folder {out}; `kernreg papers run` makes one, --out names it")
    for path in write_report([find(name) for name in chosen or names()], out, quick=quick, data=data):
        click.echo(f"written to {path}")
