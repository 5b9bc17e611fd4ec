"""``kernreg gram``: a kernel matrix for other tools, written in blocks, never held whole."""

from __future__ import annotations

from pathlib import Path

import click

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import data_argument, target_option
from kernreg.cli.output import console
from kernreg.cli.tables import Table, column_options, open_or_read
from kernreg.errors import DataError


@click.command("gram")
@data_argument
@click.option("--kernel", "-k", metavar="SPEC", required=True, help="A kernel, for example 'rbf(sigma=2.0)'.")
@click.option("--against", type=click.Path(path_type=Path), help="A second table: its samples are the columns.")
@target_option
@click.option("--block-rows", type=click.IntRange(1), help="Rows per block; by default as many as fit.")
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
@output_option("A .npy file, a .zarr array, or a folder for one .npy file per block with an index.json.", required=True)
@column_options
def command(
    data: Path,
    kernel: str,
    against: Path | None,
    target: str | None,
    block_rows: int | None,
    resume: bool,
    output: Path,
    force: bool,
    table: Table,
) -> None:
    """Write the kernel matrix of the samples in DATA.

    A .npy file can be memory-mapped by numpy; zarr arrays and folders of blocks suit tools that read chunks. An
    interrupted run leaves a file that says so (OUTPUT.partial, or a record inside), and --resume continues it.
    """
    from kernreg.factory import make_kernel
    from kernreg.io.gram import write_gram
    from kernreg.io.matrix_files import matrix_file

    if output.suffix not in ("", ".npy", ".zarr"):
        raise DataError(
            f"--output {output} has the suffix {output.suffix!r}; give a file that ends in .npy or .zarr, or a folder"
        )
    ours = output.suffix == ".zarr" and matrix_file(output).found() is not None
    check_output(output, [data, against], force or ours, folder=output.suffix != ".npy")
    k = make_kernel(kernel)
    first = open_or_read(data, target=target, columns=table.columns(data, target))
    Z = None if against is None else open_or_read(against, columns=first.names).X
    try:
        (n, m), dtype = write_gram(
            k, first.X, output, Z, block_rows=block_rows, resume=resume, overwrite=force and not resume
        )
    except KeyboardInterrupt:
        record = matrix_file(output).found() or {}
        click.echo(
            f"stopped after {record.get('rows', 0)} of {first.X.shape[0]} rows; continue with --resume", err=True
        )
        raise
    console().print(f"{n} × {m} {dtype} written to {output}")
