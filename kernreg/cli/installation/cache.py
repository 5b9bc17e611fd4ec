"""``kernreg cache``: the compiled kernels on disk. Look at them, delete them, or make them before they are needed."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import click

from kernreg.cli.output import console, json_option, write_json
from kernreg.errors import KernregError, UnknownPlugin
from kernreg.registry import get_registry

DTYPES = ("float64", "float32", "both")

#: Samples of a warm-up: machine code knows no sizes, so few will do (but not so few that nothing is sparse).
SAMPLES = 40


@dataclass(frozen=True)
class CachedFunction:
    """One compiled function on disk."""

    function: str
    fingerprint: str
    bytes: int


@dataclass(frozen=True)
class CacheInfo:
    """The state of the cache of this version of Python and Numba."""

    directory: str
    functions: int
    bytes: int
    problem: str | None
    entries: tuple[CachedFunction, ...]


@dataclass(frozen=True)
class Warmed:
    """What warming one kernel took: functions compiled now, functions found on disk, or why it failed."""

    kernel: str
    compiled: int
    found: int
    seconds: float
    problem: str = ""


def look() -> CacheInfo:
    """Return what is in the cache."""
    from kernreg.engine.compiler import cache

    state = cache.describe()
    entries = []
    for folder, size in cache.entries():
        function, _, fingerprint = folder.rpartition("-")
        entries.append(CachedFunction(function, fingerprint, size))
    problem = state["cache problem"]
    return CacheInfo(
        str(state["cache directory"]),
        len(entries),
        sum(entry.bytes for entry in entries),
        None if problem is None else str(problem),
        tuple(entries),
    )


def warm(names: Sequence[str], dtypes: Sequence[str] = ("float64",)) -> Iterator[Warmed]:
    """Compile kernels into the cache, one after the other, and yield what each took.

    Every way to evaluate a kernel has its own machine code: few features and many, dense and sparse samples, square
    and rectangular matrices, products, and for row-normalised kernels the bound form. All are run once on samples
    from ``family.example``.
    """
    from kernreg.engine.compiler import cache

    for name in names:
        before, start, problem = cache.statistics(), time.perf_counter(), ""
        try:
            # A plugin that prints must not spoil the JSON; what it warns about concerns those who evaluate it.
            with redirect_stdout(sys.stderr), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run_once(get_registry("kernel").get(name), dtypes)
        except KernregError as error:
            problem = str(error)
        except Exception as error:  # the other kernels can still be warmed, whatever a plugin does
            problem = f"{type(error).__name__}: {error}"
        after = cache.statistics()
        yield Warmed(
            name,
            after["misses"] - before["misses"],
            after["hits"] - before["hits"],
            round(time.perf_counter() - start, 2),
            problem,
        )


def run_once(family: Any, dtypes: Sequence[str]) -> None:
    """Evaluate a kernel in every form that has machine code of its own."""
    import numpy as np

    kernel, samples = family.example(np.random.default_rng(0), SAMPLES)
    samples = np.asarray(samples)
    if samples.ndim != 2 or samples.dtype.kind != "f":  # indices, or what only a feature map understands
        evaluate(kernel, samples)
        return
    for dtype in dtypes:
        for variant in variants(family, samples):
            evaluate(kernel, variant.astype(dtype))
            for name in family.widths:  # from pairs of samples, by the statistic alone
                kernel.set_params(**{name: "median"}).bind(variant.astype(dtype))


def variants(family: Any, samples: Any) -> Iterator[Any]:
    """Yield the samples as they are and, where that takes other machine code, with many features and sparse."""
    import numpy as np
    import scipy.sparse as sp

    yield samples
    if family.of in ("rows", "blocks", "kernels"):
        return  # rows of another length are the same code; combinations are the code of their parts
    from kernreg.engine.tiles.statistics import GEMM_FROM

    repeats = -(-max(GEMM_FROM.values()) // samples.shape[1])
    many = np.tile(samples, (1, repeats))
    yield many / repeats if family.inputs == "distribution" else many
    yield sp.csr_array(samples)
    # No two rows share a feature: sparse enough for the separable form of products.
    yield sp.eye_array(len(samples), format="csr")


def evaluate(kernel: Any, X: Any) -> None:
    """Evaluate matrices and products of one kernel on one sample set, unbound and bound."""
    import numpy as np

    half = X[: X.shape[0] // 2]
    for form in dict.fromkeys([kernel, kernel.bind(X)]):
        form(X)
        form(half, X)
        form(X, half)
        for left, right in ((X, None), (half, X)):
            operator = form.operator(left, right)
            operator @ np.ones(operator.shape[1], dtype=operator.dtype)
            operator.T @ np.ones(operator.shape[0], dtype=operator.dtype)


def chosen(names: Sequence[str], everything: bool) -> list[str]:
    """Return the names of the kernels to warm; raise when there is no such kernel, or no choice was made."""
    if bool(names) == everything:
        raise click.UsageError("name the kernels to compile, or use --all; for example: kernreg cache warm rbf sne")
    registry = get_registry("kernel")
    if everything:
        return [entry.name for entry in registry.entries() if entry.status in ("available", "loaded")]
    for name in names:
        try:
            registry.entry(name)
        except UnknownPlugin:
            raise
        except KernregError:
            continue  # warming it tells what is wrong with it
    return list(dict.fromkeys(names))


@click.group("cache")
def command() -> None:
    """Show the compiled kernels on disk, delete them, or compile kernels ahead of time."""


@command.command("info")
@json_option
def info(as_json: bool) -> None:
    """Show where compiled kernels are kept, how many there are, and how large each one is."""
    found = look()
    if as_json:
        write_json(found)
        return

    from rich.markup import escape
    from rich.table import Table

    from kernreg.common.sizes import readable

    screen = console()
    screen.print(f"directory  {escape(found.directory)}", soft_wrap=True)
    screen.print(f"functions  {found.functions}")
    screen.print(f"size       {readable(found.bytes)}")
    if found.problem:
        screen.print(f"[bold red]problem[/]    {escape(found.problem)}", soft_wrap=True)
    if found.entries:
        grid = Table(box=None, pad_edge=False, header_style="bold")
        grid.add_column("function", overflow="fold")
        grid.add_column("fingerprint", overflow="fold")
        grid.add_column("size", justify="right")
        for entry in found.entries:
            grid.add_row(escape(entry.function), entry.fingerprint, readable(entry.bytes))
        screen.print("", grid, sep="\n")


@command.command("clear")
def clear() -> None:
    """Delete all compiled kernels, for every version of Python and Numba; they are compiled again when needed."""
    from kernreg.common.sizes import readable
    from kernreg.engine.compiler import cache

    place, freed = cache.directory().parent, cache.clear()
    if place.exists():
        raise click.ClickException(f"{place} could not be deleted completely; do its files belong to you?")
    click.echo(f"{place}: {readable(freed)} deleted" if freed else f"{place}: nothing to delete")


@command.command("warm")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All installed kernels.")
@click.option(
    "--dtype", type=click.Choice(DTYPES), default="float64", show_default=True, help="Precision of the samples."
)
@json_option
def warm_command(names: tuple[str, ...], everything: bool, dtype: str, as_json: bool) -> None:
    """Compile the kernels NAMES now, so that later processes need not.

    Exits with 1 when a kernel could not be compiled.
    """
    found = []
    for warmed in warm(chosen(names, everything), DTYPES[:2] if dtype == "both" else (dtype,)):
        found.append(warmed)
        if not as_json:
            outcome = (
                warmed.problem or f"{warmed.compiled} compiled, {warmed.found} already on disk, {warmed.seconds:.1f} s"
            )
            click.echo(f"{warmed.kernel}: {outcome}")
    if as_json:
        write_json(found)
    from kernreg.engine.compiler import cache

    unkept = cache.describe()["cache problem"]
    if unkept:
        click.echo(f"nothing could be saved to disk: {unkept}", err=True)
    if unkept or any(warmed.problem for warmed in found):
        raise SystemExit(1)
