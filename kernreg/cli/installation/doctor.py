"""``kernreg doctor``: what kernreg runs on, and every plugin that has a problem, with what to do about it."""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Iterable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import kernreg
from kernreg.cli.installation.list import full_name, listing
from kernreg.cli.output import brief, console, json_option, styled, write_json
from kernreg.errors import KernregError, KernregWarning
from kernreg.registry import Entry, discovery_report, get_registry
from kernreg.registry.naming import version_of

#: Distributions whose versions decide how kernreg behaves.
DEPENDENCIES = (
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "scikit-learn",
    "cvxopt",
    "entrypoints",
    "threadpoolctl",
)

#: What to do about a plugin, by its status. Being blocked is the user's own choice, hence no problem.
REMEDIES = {
    "broken": "upgrade or uninstall {distribution}, or report the reason to its authors",
    "conflicting": "ask for it as '{distribution}:{name}', or uninstall one of the distributions",
    "incompatible": "install versions of kernreg and {distribution} that work together",
}


@dataclass(frozen=True)
class Problem:
    """A plugin that cannot be used as it is."""

    entry: Entry
    remedy: str


@dataclass(frozen=True)
class Diagnosis:
    """All that the doctor finds."""

    versions: dict[str, str]
    settings: dict[str, str]
    engine: dict[str, str]
    blas: tuple[str, ...]
    discovery: dict[str, str]
    plugins: dict[str, int]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


def examine() -> Diagnosis:
    """Find out everything. This loads every plugin: one that is broken shows it only then."""
    entries, plugin_notes = load_all()
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.status] = counts.get(entry.status, 0) + 1
    report = discovery_report()
    discovery = {
        "found by": report.backend,
        "distributions with entry points": str(report.distributions),
        "time": f"{1000 * report.seconds:.0f} ms",
        "KERNREG_PLUGINS": report.policy,
    }
    settings, setting_notes = look_at_settings()
    return Diagnosis(
        versions=look_at_versions(),
        settings=settings,
        engine=look_at_engine(),
        blas=look_at_blas(),
        discovery=discovery,
        plugins=counts,
        notes=(*setting_notes, *report.advice(), *plugin_notes),
        problems=tuple(find_problems(entries)),
    )


def load_all() -> tuple[list[Entry], list[str]]:
    """Load every plugin; return the entries as they stand then, and what was warned about."""
    notes = []
    for entry in listing():
        if entry.status not in ("available", "conflicting"):
            continue
        name = full_name(entry)
        # A plugin that prints when imported must not spoil the report, which may be JSON.
        with warnings.catch_warnings(record=True) as caught, redirect_stdout(sys.stderr):
            warnings.simplefilter("always")
            with suppress(KernregError):  # its entry says why from now on
                get_registry(entry.kind).get(name)
        ours = [warning for warning in caught if issubclass(warning.category, KernregWarning)]
        notes += [f"{entry.kind} {name}: {warning.message}" for warning in ours]
    return listing(), list(dict.fromkeys(notes))


def find_problems(entries: Iterable[Entry]) -> Iterable[Problem]:
    """Pick the entries with a problem and say what to do about each."""
    for entry in entries:
        if entry.status in REMEDIES:
            provider = entry.distribution or entry.file or "the program that registered it"
            yield Problem(entry, REMEDIES[entry.status].format(distribution=provider, name=entry.name))


def look_at_versions() -> dict[str, str]:
    """Versions of Python, kernreg and what it builds on, read without importing them."""
    return {
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "kernreg": kernreg.__version__,
        **{name: version_of(name) or "not installed" for name in DEPENDENCIES},
    }


def look_at_settings() -> tuple[dict[str, str], list[str]]:
    """The configuration in words, and what deserves a note."""
    config = kernreg.get_config()
    cache = config.cache_directory()
    writable = is_writable(cache)
    settings = {
        "memory budget": f"{config.memory_budget() / 2**30:.2f} GiB",
        "threads": "all usable cores" if config.threads is None else str(config.threads),
        "engine": config.engine if isinstance(config.engine, str) else type(config.engine).__name__,
        "cache directory": f"{cache} ({'writable' if writable else 'not writable'})",
    }
    if writable:
        return settings, []
    return settings, [
        f"{cache} is not writable, so kernels are compiled again in every process; "
        "set KERNREG_CACHE_DIR to a directory that is"
    ]


def is_writable(directory: Path) -> bool:
    """Whether a directory can be written to, or made where it does not exist yet."""
    while not directory.exists() and directory != directory.parent:
        directory = directory.parent
    return directory.is_dir() and os.access(directory, os.W_OK)


def look_at_engine() -> dict[str, str]:
    """What the engine says about itself: threads and compiled functions."""
    try:
        from kernreg.engine import describe

        described: dict[str, Any] = describe()
    except Exception as error:  # the doctor must be able to speak about a sick engine
        return {"problem": f"{type(error).__name__}: {error}"}
    return {key: str(value) for key, value in described.items() if value is not None}


def look_at_blas() -> tuple[str, ...]:
    """The linear algebra libraries that numpy and scipy have loaded, one line each."""
    import numpy  # noqa: F401  loads its BLAS
    import scipy.linalg  # noqa: F401  loads its own
    from threadpoolctl import threadpool_info

    return tuple(
        f"{library['internal_api']} {library.get('version') or ''}, {library['num_threads']} threads, "
        f"{library.get('architecture') or 'any processor'} ({library['filepath']})"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    )


@click.command("doctor")
@json_option
def command(as_json: bool) -> None:
    """Check the installation: versions, threads, BLAS, cache, and plugins that cannot be used.

    Exits with 1 when a plugin has a problem.
    """
    diagnosis = examine()
    if as_json:
        write_json(diagnosis)
    else:
        show(diagnosis)
    if diagnosis.problems:
        raise SystemExit(1)


def show(diagnosis: Diagnosis) -> None:
    """Print a diagnosis, section by section, problems last."""
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    counts = {status: str(count) for status, count in diagnosis.plugins.items()}
    for title, section in [
        ("versions", diagnosis.versions),
        ("settings", diagnosis.settings),
        ("engine", diagnosis.engine),
        ("BLAS", {str(number): line for number, line in enumerate(diagnosis.blas, start=1)}),
        ("discovery", diagnosis.discovery),
        ("plugins", counts),
    ]:
        grid = Table(box=None, pad_edge=False, show_header=False)
        for key, value in section.items():
            grid.add_row("  " + escape(key), escape(value))
        screen.print(f"[bold]{title}[/]", grid, sep="\n")
    for note in diagnosis.notes:
        screen.print(f"[yellow]note[/]: {escape(brief(note, 2000))}", soft_wrap=True)
    for problem in diagnosis.problems:
        entry = problem.entry
        provider = f"{entry.source} {entry.version or ''}".strip()
        title = f"{entry.kind} {brief(entry.name)} of {provider} is"
        screen.print(f"{escape(title)} {styled(entry.status)}: {escape(brief(entry.reason, 2000))}", soft_wrap=True)
        screen.print(f"  what to do: {escape(brief(problem.remedy, 2000))}", soft_wrap=True)
    if not diagnosis.problems:
        screen.print("[green]no problems with plugins[/]")
