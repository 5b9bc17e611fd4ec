"""``kernreg check``: the conformance kit, law by law, on what a distribution provides."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import click

from kernreg.cli.installation.list import KINDS, full_name, listing
from kernreg.cli.output import console, json_option, styled, write_json
from kernreg.errors import KernregError, UnknownPlugin
from kernreg.registry import Entry, get_registry, normalize_distribution


@dataclass(frozen=True)
class Finding:
    """What became of one law for one entry."""

    kind: str
    name: str
    distribution: str
    law: str
    outcome: str
    detail: str = ""


def matching(what: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries meant by a distribution, a plugin name, or ``distribution:name``.

    ``demo`` means the distribution ``demo``; failing that ``kernreg-demo``; failing that entries named so. ``demo.py``
    means what that file registered, which ``--plugin`` loads.
    """
    distribution, colon, name = what.partition(":")
    if colon:
        wanted = normalize_distribution(distribution)
        return [
            entry
            for entry in entries
            if normalize_distribution(entry.distribution or "") == wanted and entry.name == name
        ]
    for wanted in (normalize_distribution(what), f"kernreg-{normalize_distribution(what)}"):
        found = [entry for entry in entries if normalize_distribution(entry.distribution or "") == wanted]
        if found:
            return found
    of_file = [entry for entry in entries if entry.file and what in (entry.file, Path(entry.file).name)]
    return of_file or [entry for entry in entries if entry.name == what]


def findings(entry: Entry) -> Iterator[Finding]:
    """Load an entry and check every law of its kind. The first law is that it loads."""

    def finding(law: str, outcome: str, detail: str = "") -> Finding:
        return Finding(entry.kind, entry.name, entry.distribution or entry.file, law, outcome, detail)

    try:
        obj = get_registry(entry.kind).get(full_name(entry))
    except KernregError as error:
        yield finding("loads", "broken", str(error))
        return
    yield finding("loads", "held")
    from kernreg.testing import verdicts

    for verdict in verdicts(obj):
        yield finding(verdict.law, verdict.outcome, verdict.detail)


def select(what: str, kind: str | None = None) -> list[Entry]:
    """Return the entries meant by `what`; raise `UnknownPlugin` when there is none."""
    entries = listing(kind)
    found = matching(what, entries)
    if not found:
        distributions = sorted({entry.distribution for entry in entries if entry.distribution})
        raise UnknownPlugin(
            f"nothing to check: {what!r} is neither an installed distribution with kernreg entry points "
            f"({', '.join(distributions) or 'none'}) nor the name of an entry. See `kernreg list`; "
            "a package that is not installed yet needs `pip install` first"
        )
    return found


@click.command("check")
@click.argument("what", metavar="DISTRIBUTION_OR_NAME")
@click.option("--kind", type=click.Choice(KINDS), help="Only entries of this kind.")
@click.option(
    "--badge",
    is_flag=False,
    flag_value="",
    metavar="[FILE.svg]",
    help="Also write the result as an SVG and a JSON file [default name: NAME-badge.svg].",
)
@json_option
def command(what: str, kind: str | None, badge: str | None, as_json: bool) -> None:
    """Run the conformance kit on every entry of a distribution, or on one entry.

    The argument is a distribution, the name of an entry, or a file that --plugin has loaded. Exits with 1 when a law is
    broken; a badge is written all the same.
    """
    from kernreg.cli.installation.badge import badge_files, result_of, write_badge

    entries = select(what, kind)
    files = None if badge is None else badge_files(badge, what)
    if as_json:
        with redirect_stdout(sys.stderr):  # whatever a plugin prints is no part of the JSON
            found = [finding for entry in entries for finding in findings(entry)]
        write_json(found)
    else:
        found = report(entries)
    if files is not None:
        write_badge(result_of(what, entries, found), files)
        click.echo(f"wrote {files[0]} and {files[1]}", err=as_json)
    if any(finding.outcome == "broken" for finding in found):
        raise SystemExit(1)


def report(entries: Sequence[Entry]) -> list[Finding]:
    """Print findings as they come, and a last line that counts them."""
    from rich.markup import escape

    screen = console()
    found: list[Finding] = []
    for entry in entries:
        screen.print(f"[bold]{entry.kind} {escape(entry.name)}[/] ({escape(entry.source)})")
        for finding in findings(entry):
            found.append(finding)
            detail = f": {escape(finding.detail)}" if finding.detail else ""
            screen.print(f"  {escape(finding.law)}: {styled(finding.outcome)}{detail}", soft_wrap=True)
    counts = {outcome: sum(f.outcome == outcome for f in found) for outcome in ("held", "broken", "not applicable")}
    screen.print(", ".join(f"{count} {styled(outcome)}" for outcome, count in counts.items()))
    return found
