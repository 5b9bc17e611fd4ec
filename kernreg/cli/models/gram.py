"""``kernreg gram``: a kernel matrix for other tools, written in blocks, never held whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import data_argument, target_option
from kernreg.cli.output import console
from kernreg.errors import DataError


@click.command("gram")
@data_argument
@click.option("--kernel", "-k", metavar="SPEC", required=True, help="A kernel, for example 'rbf(sigma=2.0)'.")
@click.option("--against", type=click.Path(path_type=Path), help="A second table: its samples are the columns.")
@target_option
@click.option("--block-rows", type=click.IntRange(1), help="Rows in one block; as many as fit by default.")
@output_option("A .npy file, or a folder for one .npy file per block with an index.json.", required=True)
def command(
    data: Path,
    kernel: str,
    against: Path | None,
    target: str | None,
    block_rows: int | None,
    output: Path,
    force: bool,
) -> None:
    """Write the kernel matrix of the samples in DATA.

    A .npy file can be memory-mapped by numpy; a folder of blocks suits tools that read chunks.
    """
    from kernreg.common.progress import progress
    from kernreg.factory import make_kernel
    from kernreg.io import read_samples

    if output.suffix not in ("", ".npy"):
        raise DataError(
            f"--output {output} has the suffix {output.suffix!r}; give a file that ends in .npy, or a folder"
        )
    check_output(output, [data, against], force, folder=not output.suffix)
    k = make_kernel(kernel)
    first = read_samples(data, target=target)
    X, Z = first.X, None
    if against is not None:
        Z = read_samples(against, columns=first.names).X
    n, m = X.shape[0], (X if Z is None else Z).shape[0]
    dtype = k(X[:1], X[:1] if Z is None else Z[:1]).dtype if n and m else np.dtype(np.float64)
    with progress("gram", n) as report:
        blocks = k.blocks(X, Z, block_rows=block_rows)
        if output.suffix == ".npy":
            _one_file(output, (n, m), dtype, blocks, report)
        else:
            _folder(output, (n, m), dtype, blocks, report, repr(k))
    console().print(f"{n} × {m} {dtype} written to {output}")


def _one_file(path: Path, shape: tuple[int, int], dtype: Any, blocks: Any, report: Any) -> None:
    from numpy.lib import format as npy

    from kernreg.common.atomic import replacing

    with replacing(path) as file:
        header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_2_0(file, header)
        for rows, block in blocks:
            file.write(np.ascontiguousarray(block).data)
            report(rows.stop)


def _folder(folder: Path, shape: tuple[int, int], dtype: Any, blocks: Any, report: Any, kernel: str) -> None:
    from kernreg.common.atomic import replacing

    folder.mkdir(parents=True, exist_ok=True)
    index = folder / "index.json"
    index.unlink(missing_ok=True)  # blocks without an index are not a matrix: it comes back last
    listed = []
    for number, (rows, block) in enumerate(blocks):
        name = f"block-{number:06d}.npy"
        with replacing(folder / name) as file:
            np.lib.format.write_array(file, np.ascontiguousarray(block), allow_pickle=False)
        listed.append({"file": name, "start": rows.start, "stop": rows.stop})
        report(rows.stop)
    text = {"shape": list(shape), "dtype": str(dtype), "kernel": kernel, "blocks": listed}
    with replacing(index) as file:
        file.write(json.dumps(text, indent=2).encode())
