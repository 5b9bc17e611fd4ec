"""``kernreg bicluster``: groups of rows and of columns of a data matrix at once."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import (
    data_argument,
    json_option,
    kernel_option,
    seed_option,
    target_option,
    write_table,
)
from kernreg.cli.output import console, write_json
from kernreg.cli.tables import Table, column_options


@click.command("bicluster")
@data_argument
@click.option("--clusters", "-n", type=click.IntRange(2), required=True, help="Number of row groups.")
@click.option(
    "--column-clusters", "-m", type=click.IntRange(2), help="Number of column groups; by default as many as row groups."
)
@target_option
@kernel_option
@seed_option
@output_option("A CSV file with one line for each row and column; standard output by default.")
@column_options
@json_option
def command(
    data: Path,
    clusters: int,
    column_clusters: int | None,
    target: str | None,
    kernel: str | None,
    seed: int,
    output: Path | None,
    force: bool,
    table: Table,
    as_json: bool,
) -> None:
    """Group the rows and the columns of the matrix in DATA by kernel SVD.

    With --target, a column of known row groups, the agreement (NMI) is reported; the fit does not use it.
    """
    from sklearn.metrics import normalized_mutual_info_score

    from kernreg.factory import make_solver
    from kernreg.io import read_samples

    check_output(output, [data], force)
    samples = read_samples(data, target=target, columns=table.columns(data, target))
    estimator = make_solver("bicluster", n_clusters=(clusters, column_clusters or clusters), random_state=seed)
    if kernel is not None:
        estimator.set_params(kernel=kernel)
    estimator.fit(samples.X)
    rows, columns = estimator.row_labels_, estimator.column_labels_
    names = samples.names or [str(number) for number in range(samples.X.shape[1])]
    told = {
        "rows": np.bincount(rows, minlength=clusters).tolist(),
        "columns": np.bincount(columns, minlength=column_clusters or clusters).tolist(),
    }
    if samples.y is not None:
        told["nmi"] = float(normalized_mutual_info_score(samples.y, rows))
    if as_json:
        write_json(
            {**told, "row_labels": rows.tolist(), "column_labels": dict(zip(names, columns.tolist(), strict=True))}
        )
        return
    lines = [("row", str(number), int(label)) for number, label in enumerate(rows)]
    lines += [("column", name, int(label)) for name, label in zip(names, columns, strict=True)]
    write_table(("side", "name", "cluster"), lines, output)
    if output is not None:
        out = console()
        out.print(f"rows per group {told['rows']}, columns per group {told['columns']}")
        if "nmi" in told:
            out.print(f"agreement with {target!r} (NMI) {told['nmi']:.4f}")
        out.print(f"written to {output}")
