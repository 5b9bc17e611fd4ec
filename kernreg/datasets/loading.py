"""From a name to a data set: the data folder first, then scikit-learn's own, then OpenML."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernreg.datasets import bundled, files, openml
from kernreg.datasets.catalog import KNOWN, LAYOUT
from kernreg.datasets.dataset import Dataset, treat_missing
from kernreg.errors import MissingDataset, ParameterError, shown

VARIABLE = "KERNREG_DATA"


@dataclass(frozen=True)
class Entry:
    """One line of `available`.

    Attributes
    ----------
    name : str
    kind : {"tabular", "graph", "document-term"}
    size : str
        Samples × features, or nodes and edges; empty for a file that is not of the papers.
    present : bool
        Whether `load` finds it here, without a network.
    origin : str
        Where it comes from.

    Examples
    --------
    >>> from kernreg.datasets import available
    >>> next(entry for entry in available() if entry.name == "iris").present
    True
    """

    name: str
    kind: str
    size: str
    present: bool
    origin: str


def load(
    name: str,
    *,
    missing: str = "keep",
    folder: str | os.PathLike[str] | None = None,
    download: bool = True,
    version: int | str = "active",
    return_X_y: bool = False,
) -> Any:
    """Return a data set by name.

    A name is that of a file in the data folder (``cora`` is ``cora.npz``), else one that comes with scikit-learn, else
    one of OpenML, which scikit-learn fetches and keeps. ``"openml:name"`` goes straight there. Samples come as
    published: not scaled, missing values as NaN.

    Parameters
    ----------
    name : str
        Lower case and underscores; hyphens are read as underscores except on OpenML.
    missing : {"keep", "drop", "raise"}
        What to do about samples with missing values: keep them as NaN, leave those samples out, or raise DataError.
    folder : path, optional
        The data folder; by default the one the environment variable KERNREG_DATA names.
    download : bool
        Whether OpenML may be asked.
    version : int or "active"
        Which version of a data set of OpenML.
    return_X_y : bool
        Whether to return (X, y) only.

    Returns
    -------
    Dataset or (X, y)

    Raises
    ------
    MissingDataset
        If it is not found; the message says how to get it.

    Examples
    --------
    >>> wine = load("wine")
    >>> wine.X.shape, wine.target_names.tolist()
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    found = _find(name, folder, download, version)
    found = treat_missing(found, missing)
    return (found.X, found.y) if return_X_y else found


def available(folder: str | os.PathLike[str] | None = None) -> tuple[Entry, ...]:
    """Return every data set that has a name here, sorted by it; OpenML has more.

    Parameters
    ----------
    folder : path, optional
        The data folder; by default the one KERNREG_DATA names.

    Examples
    --------
    >>> [entry.name for entry in available() if entry.origin == "scikit-learn" and entry.present]
    ['breast_cancer', 'diabetes', 'digits', 'iris', 'linnerud', 'wine']
    """
    place = _folder(folder)
    paths = {} if place is None else {path.stem: path for path in place.glob("*.npz")}
    entries = [Entry(name, known.kind, known.size, known.file in paths, known.origin) for name, known in KNOWN.items()]
    entries += [
        Entry(name, "tabular", size, True, "scikit-learn")
        for name, (_, size) in bundled.BUNDLED.items()
        if name not in paths
    ]
    for name in paths.keys() - KNOWN.keys():
        kind = files.kind_of(files.keys_of(paths[name]))
        if kind:
            entries.append(Entry(name, kind, "", True, str(paths[name])))
    return tuple(sorted(entries, key=lambda entry: entry.name))


def _find(name: str, folder: Any, download: bool, version: int | str) -> Dataset:
    if not isinstance(name, str) or not name:
        raise ParameterError(f"name={shown(name)} is not accepted; give the name of a data set, for example 'iris'")
    if name.startswith(openml.PREFIX):
        if not download:
            raise ParameterError(f"{name!r} has to be fetched, and download=False does not allow that")
        return openml.fetch(name.removeprefix(openml.PREFIX), version, f"{name!r} is requested from OpenML")
    here = name.replace("-", "_")
    if Path(here).name != here:
        raise ParameterError(f"name={shown(name)} is not accepted; give a name, and the folder as folder=")
    place = _folder(folder)
    known = KNOWN.get(here)
    if place is not None:
        path = place / f"{known.file if known else here}.npz"
        if path.is_file():
            return _one_split(files.read(path, here), known.split if known else "")
    if here in bundled.BUNDLED:
        return bundled.read(here)
    looked = _where(place)
    if known:
        raise MissingDataset(
            f"{known.file}.npz is not there: {looked}. The data come from {known.origin}; write them to "
            f"{known.file}.npz with the arrays {LAYOUT[known.kind]}, and set {VARIABLE} to its folder or give folder="
        )
    searched = f"there is no data set {name!r}: {looked}, and scikit-learn has none of that name"
    near = difflib.get_close_matches(here, [*KNOWN, *bundled.BUNDLED], 3)
    if near:
        searched += f" (similar names: {', '.join(near)})"
    if not download:
        raise MissingDataset(f"{searched}; download=False does not allow asking OpenML")
    return openml.fetch(name, version, searched)


def _folder(folder: Any) -> Path | None:
    given = os.environ.get(VARIABLE) if folder is None else folder
    return Path(given) if given else None


def _where(place: Path | None) -> str:
    if place is None:
        return f"no data folder is set (environment variable {VARIABLE}, or folder=)"
    return f"the data folder {place} has no such file" if place.is_dir() else f"the data folder {place} does not exist"


def _one_split(dataset: Dataset, split: str) -> Dataset:
    if split:
        dataset["splits"] = {split: dataset.splits[split]}
    return dataset
