"""``kernreg demo``: tell the story, print the table, time one line, draw the picture."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kernreg.demo.contest import Result
    from kernreg.demo.food_web import FoodWeb
    from kernreg.demo.speed import Timing

OUTPUT = Path("demo_output/demo.png")


@click.command("demo")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    default=OUTPUT,
    show_default=True,
    help="Where to save the picture.",
)
@click.option("--picture-only", is_flag=True, help="Draw the picture and print nothing else.")
def command(picture: Path, picture_only: bool) -> None:
    """See in half a minute what an asymmetric kernel can do.

    Compares scikit-learn and kernreg on data where direction is the information, times one kernel function in both, and
    saves a picture.
    """
    from rich.console import Console

    console = Console(highlight=False, quiet=picture_only)
    started = time.perf_counter()
    console.print("Loading numpy, scipy, numba and scikit-learn …", style="dim")
    from kernreg.demo.contest import compare
    from kernreg.demo.food_web import make_food_web

    web = make_food_web()
    introduce(console, web)
    results = compare(web)
    show_results(console, results)
    if not picture_only:
        from kernreg.demo.speed import measure

        show_speed(console, measure())
    saved = save_picture(web, results, picture)
    if picture_only and not saved:
        raise click.ClickException(
            "pictures need matplotlib: pip install matplotlib, or pip install '.[plot]' from a clone"
        )
    show_ending(console, picture if saved else None, time.perf_counter() - started)
    if picture_only:
        click.echo(str(picture))


def introduce(console: Any, web: FoodWeb) -> None:
    """Say what the data are and which kernel is on them."""
    console.rule("[bold]When direction is the information")
    console.print(
        f"A made-up food web of {len(web.roles)} species. Matter flows in a circle:\n"
        "    plants → grazers → hunters → decomposers → plants\n"
        "The kernel K(i, j) is the share of species j in what species i gives away. It is not K(j, i). "
        "We know the role of every second species. What are the others?"
    )
    if web.problem:
        console.print(f"The kernel is the built-in adjacency: {web.problem}.", style="yellow", markup=False)
    else:
        console.print("The kernel is graph-adjacency, from the plugin kernreg-graph.", style="dim")


def show_results(console: Any, results: list[Result]) -> None:
    """Print the table and what it means."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table("", "method", "accuracy", "", box=SIMPLE)
    for result, previous in zip(results, [None, *results], strict=False):
        library = "" if previous is not None and previous.library == result.library else result.library
        accuracy = "–" if result.accuracy is None else f"{result.accuracy:.2f}"
        if library and previous is not None:
            table.add_section()
        table.add_row(library, result.method, accuracy, result.remark)
    console.print(table)
    console.print(
        "Given a kernel function, scikit-learn's pairwise_kernels evaluates one half of the matrix and copies it to "
        "the other, without a warning. Symmetrising uses both halves but loses the direction: the SVC, with C and the "
        "correction of the spectrum tuned, can only guess between two roles. Rows of K as plain features keep the "
        "direction; it is a fair way out, but no longer a kernel method. AsK-LS is a kernel machine that takes K as it "
        "is, with its regularisation chosen by exact leave-one-out.\n"
    )


def show_speed(console: Any, timing: Timing) -> None:
    """Print the line about speed, and what it compares."""
    console.rule("[bold]Your own kernel is a Python function")
    console.print(
        "    @kernel(of='rows')\n    def containment(x, y):\n        return np.minimum(x, y).sum() / x.sum()\n",
        markup=False,
    )
    threads = f"{timing.threads} threads" if timing.threads > 1 else "one thread"
    console.print(
        f"The same function on {timing.n_samples} images of digits, timed just now: scikit-learn "
        f"{readable(timing.sklearn)}, kernreg {readable(timing.kernreg)}, "
        f"[bold]{timing.sklearn / timing.kernreg:.0f} times faster[/bold]. "
        f"scikit-learn evaluated half of the matrix, and {timing.wrong:.0%} of the entries are wrong; kernreg "
        f"evaluated all of it, on {threads}. Its first call took {readable(timing.kernreg_first)}: the function is "
        "compiled once and kept on disk.\n"
    )


def readable(seconds: float) -> str:
    """Return a duration for people.

    >>> readable(0.0123), readable(2.34)
    ('12 ms', '2.3 s')
    """
    return f"{seconds:.1f} s" if seconds >= 1.0 else f"{seconds * 1e3:.0f} ms"


def save_picture(web: FoodWeb, results: list[Result], path: Path) -> bool:
    """Draw the picture; return False where matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    from kernreg.demo.picture import draw

    accuracy = {result.method: result.accuracy for result in results}
    draw(
        web,
        path,
        without_direction=accuracy["SVC on (K + Kᵀ)/2"] or 0.0,
        with_direction=accuracy["ask-ls, average"] or 0.0,
    )
    return True


def show_ending(console: Any, picture: Path | None, seconds: float) -> None:
    """Say where the picture is, and what to do next."""
    console.rule("[bold]Now try")
    if picture is None:
        console.print("No picture: it needs matplotlib (pip install matplotlib).\n", style="yellow")
    else:
        console.print(f"The picture is in [bold]{picture}[/bold]. All this took {seconds:.0f} s.\n")
    lines = []
    prefix = Path(sys.prefix)
    if prefix != Path(sys.base_prefix) and not on_path(prefix):
        lines.append((f"source {shown(prefix)}/bin/activate", "so that your shell finds kernreg"))
    lines += [
        ("kernreg list", "see what is installed"),
        ("kernreg evaluate data.csv --target column", "cross-validate solvers on a table of yours"),
        ("kernreg new-plugin mykernel", "make a kernel of your own, as a package"),
    ]
    width = max(len(line) for line, _ in lines)
    for line, comment in lines:
        console.print(f"    {line:<{width}}  # {comment}", markup=False, soft_wrap=True)
    console.print("\nThe tutorial is in docs/tutorial.md.")


def on_path(prefix: Path) -> bool:
    """Tell whether the commands of an environment can be called by name."""
    return str(prefix / "bin") in os.environ.get("PATH", "").split(os.pathsep)


def shown(path: Path) -> Path:
    """Return a path as one would type it here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
