"""``kernreg papers``: the papers' tables and figures, listed, run again, and reported beside the papers' numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernreg.errors import KernregError

if TYPE_CHECKING:
    from kernreg_papers import Figure, RunReport, Selection, Table

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
    """Reproduce the tables and figures of the papers."""


@command.command("list")
@data_option
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of text.")
def list_tables(data: Path | None, as_json: bool) -> None:
    """List the tables and figures, and how many of their rows (or parts) have data here."""
    from kernreg_papers import Table, find, names
    from kernreg_papers.data.splits import is_available

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
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    from kernreg_papers.report.words import counted

    lines: list[tuple[str, ...]] = [("name", "what", "rows", "with data", "methods", "trials")]
    for row in rows:
        values = (row[key] for key in ("name", "title", "rows", "with_data", "methods"))
        trials = counted(row["trials"]) if row["trials"] else ""
        lines.append((*("" if value is None else str(value) for value in values), trials))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


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
    """Run tables and figures ("all" for every one); results that exist already are kept."""
    from kernreg_papers import Selection, find, names, run

    tables = [find(name) for name in (names() if chosen == ("all",) else chosen)]
    only = Selection(rows, methods, trials)
    selected = [(table, only) for table in tables] if len(tables) == 1 else _having(tables, only)
    if not selected:
        raise KernregError("none of these tables has the rows and methods that were asked for")
    reports = []
    for table, part in selected:
        click.echo(f"{table.name}: {table.title}")
        done = run(
            table,
            out,
            part,
            jobs=jobs,
            data=data,
            quick=quick,
            download=download,
            tell=lambda line: click.echo(f"  {line}"),
        )
        _tell(table.name, done)
        reports.append(done)
    if not any(done.made + done.kept + done.failed for done in reports):
        lacking = any(done.missing for done in reports)
        why = "no row has data; name their folder with --data or KERNREG_DATA" if lacking else "see the lines above"
        raise KernregError(f"nothing was run: {why}")
    if any(done.failed for done in reports):
        raise SystemExit(1)


def _tell(name: str, done: RunReport) -> None:
    click.echo(
        f"{name}: cells run: {done.made}, kept: {done.kept}, failed: {done.failed}; "
        f"rows without data: {len(done.missing)}; {done.seconds:.1f} s"
    )
    for line in done.missing:
        click.echo(f"  data not available: {line}")


def _having(tables: list[Table | Figure], only: Selection) -> list[tuple[Table | Figure, Selection]]:
    """Return those of several tables that have a row and a method of these names, with the names they have."""
    from kernreg_papers import Selection, Table

    found = []
    for table in tables:
        has_rows = [each.name for each in (table.rows if isinstance(table, Table) else table.parts)]
        has_methods = [each.name for each in table.methods] if isinstance(table, Table) else []
        rows = tuple(name for name in only.rows if name in has_rows)
        methods = tuple(name for name in only.methods if name in has_methods)
        if (rows or not only.rows) and (methods or not only.methods):
            found.append((table, Selection(rows, methods, only.trials)))
    return found


@command.command("report")
@click.argument("chosen", metavar="[NAME]...", nargs=-1)
@data_option
@out_option
@quick_option
def report_tables(chosen: tuple[str, ...], data: Path | None, out: Path, quick: bool) -> None:
    """Write report.md and report.html, with our numbers next to the papers'."""
    from kernreg_papers import find, names, write_report

    if not out.is_dir():
        raise KernregError(f"there is no folder {out}; `kernreg papers run` makes one, --out names it")
    for path in write_report([find(name) for name in chosen or names()], out, quick=quick, data=data):
        click.echo(f"written to {path}")
