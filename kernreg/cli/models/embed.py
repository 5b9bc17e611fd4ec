"""``kernreg embed``: kernel PCA or SVD of a table, as coordinates or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import data_argument, kernel_option, target_option, without_name_warnings, write_table
from kernreg.cli.output import console
from kernreg.cli.tables import Table, table_options
from kernreg.errors import ParameterError

_PICTURES = {".png", ".svg", ".pdf"}


@click.command("embed")
@data_argument
@target_option
@click.option(
    "--solver", "-s", metavar="SPEC", default="kpca(n_components=2)", show_default=True, help="kpca, ksvd, nystrom."
)
@kernel_option
@output_option("A CSV file, or a picture (.png, .svg, .pdf); CSV on standard output by default.")
@table_options
def command(
    data: Path, target: str | None, solver: str, kernel: str | None, output: Path | None, force: bool, table: Table
) -> None:
    """Write the coordinates of the samples in DATA, or draw them.

    The target, if there is one, is left out of the features; it colours the picture.

    \b
    kernreg embed iris.csv -t species -s "ksvd(n_components=2)" -k "sne(sigma=2)" -o iris.png
    """
    from kernreg.factory import make_solver

    check_output(output, [data], force)
    if output is not None and output.suffix.lower() in _PICTURES:
        from kernreg.plotting.base import pyplot

        pyplot()  # says what to install before anything is computed
    estimator: Any = make_solver(solver)
    if not hasattr(estimator, "transform"):
        raise ParameterError(f"{solver!r} gives no coordinates; use 'kpca', 'ksvd' or 'nystrom'")
    if kernel is not None:
        estimator.set_params(kernel=kernel)
    X, y, names = table.read(data, target, streamed=True, supervised=False)
    model = table.chain(estimator, X, names)
    with without_name_warnings():
        both = np.asarray(model.fit(X).transform(X))
    sides = {"left": both}
    if model is not estimator and hasattr(estimator, "transform_right"):  # a chain puts them side by side
        sides["left"], sides["right"] = np.hsplit(both, 2)
    elif hasattr(estimator, "transform_right"):
        sides["right"] = np.asarray(estimator.transform_right(X))
    for line in table.story:  # beside the result, which may be on standard output
        click.echo(line, err=True)
    if output is not None and output.suffix.lower() in _PICTURES:
        _draw(sides, y, output)
        console().print(f"written to {output}")
        return
    header = [
        f"{name if len(sides) > 1 else 'component'}{number}"
        for name, side in sides.items()
        for number in range(side.shape[1])
    ]
    columns = np.hstack(list(sides.values()))
    rows: Any = columns.tolist()
    if y is not None:
        header, rows = [*header, str(target)], [[*row, label] for row, label in zip(rows, y.tolist(), strict=True)]
    write_table(header, rows, output)


def _draw(sides: dict[str, np.ndarray], y: Any, output: Path) -> None:
    from kernreg.common.atomic import replacing
    from kernreg.plotting import EmbeddingDisplay
    from kernreg.plotting.base import pyplot

    if next(iter(sides.values())).shape[1] < 2:
        raise ParameterError("a picture needs at least two components; use n_components=2")
    plt = pyplot()
    right = sides.get("right")
    display = EmbeddingDisplay(sides["left"], right, left_labels=y, right_labels=None if right is None else y).plot()
    with replacing(output) as file:
        display.figure_.savefig(file, format=output.suffix[1:].lower(), dpi=150)
    plt.close(display.figure_)
