"""``kernreg run``: a chain described in a TOML or JSON file."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import click

from kernreg.cli.files import check_output, output_option
from kernreg.cli.options import (
    check_task,
    json_option,
    save_model,
    seed_option,
    without_name_warnings,
)
from kernreg.cli.output import console, write_json
from kernreg.common.bounded import require_readable
from kernreg.common.sizes import readable
from kernreg.errors import DataError, SpecError

_LARGEST = 1 << 24  # bytes of a chain file
_RUN: dict[str, type] = {"data": str, "target": str, "output": str, "cv": int}


@click.command("run")
@click.argument("chain", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="The table; [run] data in the file by default.")
@click.option("--target", "-t", metavar="COLUMN", help="The column of targets; [run] target by default.")
@click.option("--cv", type=click.IntRange(2), help="Cross-validate with this many folds first; [run] cv by default.")
@output_option("The model file to write; [run] output by default.")
@seed_option
@json_option
def command(
    chain: Path,
    data: Path | None,
    target: str | None,
    cv: int | None,
    output: Path | None,
    force: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Fit the chain in a file to a table.

    \b
    The file is what chain.spec() returns, as TOML or JSON, and may have a table [run]:
      kernreg_chain = 1
      kernel = "rbf(sigma=1.5)"
      [run]
      data = "iris.csv"
      target = "species"
      output = "iris.kern"
      [[steps]]
      name = "kpca"
      solver = "kpca"
      params = { n_components = 3 }
      [[steps]]
      name = "lssvm"
      solver = "ls-svm"
    """
    from kernreg.chain import Chain
    from kernreg.io import read_samples

    spec = read_spec(chain)
    settings = run_settings(spec.pop("run", {}), chain)
    made = Chain.from_spec(spec)
    table, output = data or settings.get("data"), output or settings.get("output")
    check_output(output, [chain, table], force)
    folds = cv or settings.get("cv")
    if table is None:
        raise SpecError(f'{chain} names no data; add --data table.csv, or data = "table.csv" under [run]')
    samples = read_samples(table, target=target or settings.get("target"))
    told: dict[str, Any] = {"chain": [name for name, _ in made.steps], "samples": int(samples.X.shape[0])}
    if samples.y is not None:
        check_task(made, samples.y)
    if folds is not None and samples.y is not None:
        from kernreg.cli.models.evaluate import cross_validated

        told.update(cross_validated(made, samples.X, samples.y, int(folds), 1, seed))
    with without_name_warnings():
        made.fit(samples.X, samples.y)
    if output is not None:
        save_model(made, samples.names, output)
        told["model"] = str(output)
    if as_json:
        write_json(told)
        return
    out = console()
    out.print(f"{' → '.join(told['chain'])} fitted to {told['samples']} samples")
    for name, value in told.items():
        if isinstance(value, float):
            out.print(f"  {name} {value:.4f}")
    if output is not None:
        out.print(f"written to {output}")


def run_settings(found: Any, path: Path) -> dict[str, Any]:
    """Return what the table [run] of a file says; files that it names are in the folder of that file.

    Somebody else may have written the file: it chooses no place to write to but beside itself.
    """
    if not isinstance(found, dict):
        raise SpecError(f"{path}: run is {found!r}; a table is expected, [run]")
    table: dict[str, Any] = found
    unknown = set(table) - set(_RUN)
    if unknown:
        raise SpecError(f"{path}: [run] has {sorted(unknown)[0]!r}; accepted are {', '.join(sorted(_RUN))}")
    for name, value in table.items():
        wrong_type = type(value) is not _RUN[name] or (isinstance(value, str) and "\0" in value)
        if wrong_type or (name == "cv" and value < 2):
            wanted = "a whole number of at least 2" if name == "cv" else "text"
            raise SpecError(f"{path}: [run] {name} = {value!r}; give {wanted}")
    settings = {name: path.parent / value if name in ("data", "output") else value for name, value in table.items()}
    output = settings.get("output")
    if output is not None and output.resolve().parent != path.resolve().parent:
        raise SpecError(
            f"{path}: [run] output = {table['output']!r} is not next to the chain file; to write anywhere else, "
            "give --output on the command line"
        )
    return settings


def read_spec(path: Path) -> dict[str, Any]:
    """Return the dict in a TOML or JSON file; an error names the file, the line and the column."""
    try:
        require_readable(path)
        if os.path.getsize(path) > _LARGEST:
            raise SpecError(f"{path} has more than {readable(_LARGEST)}; the spec of a chain is short")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, DataError) as error:
        raise SpecError(f"{path} cannot be read: {error}") from error
    try:
        found = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except json.JSONDecodeError as error:
        raise SpecError(f"{path}, line {error.lineno}, column {error.colno}: {error.msg}") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path}: {error}") from error
    except (RecursionError, ValueError) as error:  # a number of thousands of digits is the second
        raise SpecError(f"{path} is nested too deeply, or holds a number that is too long ({error})") from error
    if not isinstance(found, dict):
        raise SpecError(f"{path} holds a {type(found).__name__}; the spec of a chain is a table")
    return found
