"""Files to write: nothing is overwritten that kernreg did not write, and nothing at all that it reads."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from kernreg.common.atomic import require_ordinary
from kernreg.errors import DataError, KernregError


def output_option(what: str, required: bool = False) -> Callable[[Any], Any]:
    """The file to write, and whether one that is there may be replaced."""
    output = click.option("--output", "-o", type=click.Path(path_type=Path), required=required, help=what)
    force = click.option("--force", is_flag=True, help="Overwrite an existing file, whoever wrote it.")
    return lambda command: output(force(command))


def check_output(output: Path | None, inputs: Iterable[Path | None], force: bool, *, folder: bool = False) -> None:
    """Refuse, before any work is done, an output that cannot be written or would destroy something.

    Parameters
    ----------
    output : Path or None
        None is standard output.
    inputs : iterable of Path or None
        The files that the command reads: none of them is ever written to, by whatever name or link.
    force : bool
        Whether a file that kernreg did not write may be replaced.
    folder : bool
        Whether the output is a folder of files.
    """
    if output is None:
        return
    for given in inputs:
        if given is not None and _same(output, given, folder):
            raise DataError(f"--output {output} is the same file as the input {given}; give another name")
    parent = output.absolute().parent
    if folder:  # made where it is missing, with all above it
        while not parent.exists():
            parent = parent.parent
    if not parent.is_dir():
        raise DataError(f"--output {output}: there is no folder {parent}; create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise DataError(f"--output {output}: the folder {parent} is not writable")
    if not folder and output.exists() and not output.is_dir():
        try:
            require_ordinary(output)
        except OSError as error:
            raise DataError(f"--output {output} {error.strerror}") from None
    if output.is_dir() != folder and output.exists():
        raise DataError(f"--output {output} is a {'file' if folder else 'folder'}; give another name")
    if not force and (_foreign_folder(output) if folder else _foreign_file(output)):
        raise DataError(
            f"--output {output} exists, and it does not look like a file that kernreg wrote; give another "
            "name, or --force to replace it"
        )


def _same(output: Path, given: Path, folder: bool) -> bool:
    if not (output.exists() and given.exists()):
        return False
    inside = [*output.glob("*")] if folder and output.is_dir() else []
    return any(os.path.samefile(path, given) for path in (output, *inside) if path.exists())


def _foreign_file(path: Path) -> bool:
    """Whether a file is there that is not a model file: tables, arrays and pictures do not say who wrote them."""
    if not path.is_file():  # nothing is there
        return False
    from kernreg.persistence import describe

    try:
        describe(path)
    except KernregError:
        return True
    return False


def _foreign_folder(path: Path) -> bool:
    """Whether a folder holds anything but the blocks that its index lists."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    try:
        listed = {block["file"] for block in json.loads((path / "index.json").read_text())["blocks"]}
    except (OSError, ValueError, KeyError, TypeError):
        listed = set()
    return bool(names - listed - ({"index.json"} if listed else set()))
