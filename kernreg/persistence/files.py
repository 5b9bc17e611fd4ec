"""`save` and `load`: a model to a file and back."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.common.atomic import replacing
from kernreg.errors import ModelFileError, ModelNeedsPlugin, NewerModelFile, UnsavableModel
from kernreg.kernels import Kernel
from kernreg.persistence.arrays import Window, as_bytes, open_windows, read_windows
from kernreg.persistence.container import MAX_MEMBERS, Member, Reader, Writer, write_json
from kernreg.persistence.decode import Decoder
from kernreg.persistence.encode import Encoder
from kernreg.persistence.layout import member_names
from kernreg.persistence.versions import SCHEMA, warn_of_other_versions, written_with
from kernreg.registry.naming import Requirement, as_json, find, read_requirement, requirement_of, version_of

_FORMAT = "kernreg model"
_MAX_REQUIREMENTS = 10_000
_ENOUGH = 10  # missing plugins that a message names
_WORTH_MAPPING = 1 << 20  # of an array that is apart from its equal, less than this is copied


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that `load` reads, by convention with the suffix ``.kern``.

    The file is a zip of JSON and raw arrays, and holds no code: kernels, solvers and ensemblers are named as the
    registry knows them. It is replaced in one step, so that ``path`` is at any time the old file or the complete new
    one, whatever happens to the process.

    Parameters
    ----------
    model : estimator, ensembler or kernel
        Fitted or not, with whatever estimators of kernreg, of its plugins and of scikit-learn are inside.
    path : str or path-like

    Raises
    ------
    UnsavableModel
        If the model holds something that has no place in such a file; the message names the attribute. Nothing is
        written then.

    Examples
    --------
    >>> import tempfile, os
    >>> import kernreg as kr
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = kr.make_solver("ask-ls", kernel="sne(sigma=1.0)").fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.kern")
    >>> kr.save(model, path)
    >>> bool((kr.load(path).decision_function(X) == model.decision_function(X)).all())
    True
    """
    if isinstance(model, type) or not (isinstance(model, Kernel) or callable(getattr(model, "fit", None))):
        raise UnsavableModel(
            f"{type(model).__name__} is not a model; save takes an estimator, an ensembler or a kernel, as objects"
        )
    encoder = Encoder()
    try:
        root = encoder.encode(model, type(model).__name__)
    except RecursionError:
        raise UnsavableModel(f"{type(model).__name__} is nested too deeply to be saved") from None
    windows, memories = encoder.arrays.windows()
    if len(memories) + 2 > MAX_MEMBERS:
        raise UnsavableModel(f"the model holds {len(memories)} arrays, and {MAX_MEMBERS - 2} is the limit")
    content = write_json({"arrays": [window.as_json() for window in windows], "root": root})
    manifest: dict[str, Any] = {
        "format": _FORMAT,
        "schema": SCHEMA,
        "written_with": written_with(),
        "model": _summary(model),
        "requirements": [as_json(asked) for asked in encoder.requirements],
    }
    write_json(manifest)  # a summary that is too long is found before anything is written
    names = member_names(len(memories) + 2)
    with replacing(path) as file:
        writer = Writer(file)
        for name, memory in zip(names, memories, strict=False):
            writer.add(name, as_bytes(memory))
        writer.add(names[-2], content)
        manifest["members"] = [member._asdict() for member in writer.members]
        writer.add(names[-1], write_json(manifest))
        writer.finish()


def load(path: str | os.PathLike[str], *, mmap: bool = True, verify: bool = True) -> Any:
    """Return the model that `save` wrote.

    Nothing of the file is run. Classes are found by name, among the registered plugins, the classes of kernreg and the
    estimators of scikit-learn, and a file that names anything else is refused. So is one of which a single bit has
    changed.

    Parameters
    ----------
    path : str or path-like
    mmap : bool
        Map the arrays into memory instead of reading them: pages are read when they are used, shared with other
        processes that load the file, and copied when they are written to, so that the file never changes. The file must
        stay as it is while the model is in use; `save` to the same path does no harm, copying over it does.
    verify : bool
        Compare the arrays with their checksums, which reads the file once. Without it a changed bit in an array goes
        unnoticed; all else is checked regardless.

    Returns
    -------
    estimator, ensembler or kernel
        Its predictions are those of the saved one to the last bit, on the same machine and versions.

    Raises
    ------
    DamagedModelFile
        If the file is corrupted, cut short, tampered with or no model file.
    NewerModelFile
        If a later version of kernreg wrote it in a form this one does not know.
    ModelNeedsPlugin
        If a plugin that the model uses is missing, blocked by KERNREG_PLUGINS or broken; the message says which
        distribution and version it was saved with.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernreg as kr
    >>> model = kr.make_solver("ls-svr", kernel="rbf(sigma=1.0)").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kr.save(model, Path(folder) / "model.kern")
    ...     again = kr.load(Path(folder) / "model.kern", mmap=False)
    >>> bool((again.predict([[1.5]]) == model.predict([[1.5]])).all())
    True
    """
    with _opened(path) as reader:
        manifest = _read_manifest(reader)
        content = reader.read_model(manifest.members[-1].sha256)
        found = _find_all(manifest.requirements, reader.path)
        if not isinstance(content, dict) or set(content) != {"arrays", "root"}:
            raise reader.damaged("model.json does not have the right parts")
        sizes = [member.size for member in manifest.members[:-1]]
        windows = read_windows(content["arrays"], sizes)
        if {window.member for window in windows} != set(range(len(sizes))):
            raise reader.damaged("it has members that no array is in")
        arrays = _arrays(reader, manifest, windows, mmap, verify)
        model = Decoder(arrays, list(zip(manifest.requirements, found, strict=True))).decode(content["root"])
    warn_of_other_versions(os.fspath(path), manifest.requirements)
    return model


@dataclass(frozen=True)
class ModelDescription:
    """What a model file says of itself.

    Attributes
    ----------
    schema : int
        The form of the file.
    written_with : dict of str to str
        Versions of Python, kernreg, numpy, scipy and scikit-learn.
    model : dict
        ``class``, ``name`` (as registered, or None) and ``spec``: what `spec()` of a chain gives, or the parameters, as
        text.
    requirements : tuple of Requirement
        The kernels, solvers, ensemblers and estimators in it, with distribution and version.
    members : tuple of Member
        Name, size, CRC-32 and SHA-256 of everything in the zip but the manifest.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernreg as kr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kr.save(kr.make_solver("ls-svm"), Path(folder) / "model.kern")
    ...     found = describe(Path(folder) / "model.kern")
    >>> found.model["name"], found.schema
    ('ls-svm', 1)
    """

    schema: int
    written_with: dict[str, str]
    model: dict[str, Any]
    requirements: tuple[Requirement, ...]
    members: tuple[Member, ...]


def describe(path: str | os.PathLike[str]) -> ModelDescription:
    """Return what a model file says of itself, without loading the model or importing any plugin.

    Examples
    --------
    >>> import tempfile, os
    >>> import kernreg as kr
    >>> path = os.path.join(tempfile.mkdtemp(), "kernel.kern")
    >>> kr.save(kr.make_kernel("rbf(sigma=2.0)"), path)
    >>> describe(path).model["spec"], [asked.name for asked in describe(path).requirements]
    ({'sigma': '2.0'}, ['rbf'])
    """
    with _opened(path) as reader:
        return _read_manifest(reader)


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[Reader]:
    """Yield the reader of a file; whatever is wrong with the content becomes one error."""
    name = os.fspath(path)
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, "is a folder; a model is a single file", name)
    if not stat.S_ISREG(os.stat(name).st_mode):  # opening a pipe would wait for its writer
        raise ModelFileError(f"{name!r} is not an ordinary file; model files are mapped and read out of order")
    with open(name, "rb") as file:
        reader = Reader(file, name)
        try:
            yield reader
        except (ModelFileError, OSError, MemoryError):
            raise
        except Exception as cause:
            raise reader.damaged(f"what it holds does not fit together ({type(cause).__name__}: {cause})") from cause


def _read_manifest(reader: Reader) -> ModelDescription:
    found = reader.read_manifest()
    if not isinstance(found, dict) or found.get("format") != _FORMAT or type(found.get("schema")) is not int:
        raise reader.damaged("its manifest is not that of a model file")
    if found["schema"] > SCHEMA:
        writer = _printable(dict(found.get("written_with", {})).get("kernreg", "of a later version"))
        raise NewerModelFile(
            f"{reader.path!r} was written by kernreg {writer} in form {found['schema']}, and this kernreg "
            f"{version_of('kernreg')} reads up to form {SCHEMA}. Install a later one: pip install --upgrade kernreg"
        )
    if found["schema"] < 1 or set(found) != _MANIFEST or len(found["requirements"]) > _MAX_REQUIREMENTS:
        raise reader.damaged("its manifest does not have the right parts")
    requirements = tuple(map(read_requirement, found["requirements"]))
    members = tuple(Member(**member) for member in found["members"])
    if [(m.name, m.size, m.crc) for m in members] != [(p.name, p.size, p.crc) for p in reader.placed[:-1]]:
        raise reader.damaged("its manifest does not name the members that are there")
    texts = _printable({"written_with": dict(found["written_with"]), "model": dict(found["model"])})
    return ModelDescription(found["schema"], **texts, requirements=requirements, members=members)


_MANIFEST = {"format", "schema", "written_with", "model", "requirements", "members"}


def _printable(value: Any) -> Any:
    """Return JSON values as they are, but for characters that would do something to a terminal: those are escaped."""
    if isinstance(value, dict):
        return {_printable(name): _printable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, str) and not value.isprintable():
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in value)
    return value


def _find_all(requirements: tuple[Requirement, ...], path: str) -> list[Any]:
    found, missing = [], []
    for asked in requirements:
        try:
            found.append(find(asked, path))
        except ModelNeedsPlugin as error:
            missing.append(error)
            if len(missing) == _ENOUGH:
                break
    if len(missing) > 1:
        raise ModelNeedsPlugin("\n".join(str(error) for error in missing)) from missing[0]
    if missing:
        raise missing[0]
    return found


def _arrays(
    reader: Reader, manifest: ModelDescription, windows: list[Window], mapped: bool, verify: bool
) -> list[np.ndarray]:
    known: dict[int, memoryview] = {}

    def give(number: int, apart: bool) -> memoryview:
        size = manifest.members[number].size
        if number not in known:
            known[number] = reader.map_array(number, anew=False) if mapped and size else reader.read_array(number)
            if verify:
                reader.verify(number, known[number], manifest.members[number].sha256)
        if not apart:
            return known[number]
        if mapped and size >= _WORTH_MAPPING:
            return reader.map_array(number, anew=True)
        return np.array(known[number]).data

    return open_windows(windows, give)


def _summary(model: Any) -> dict[str, Any]:
    """Return what a person reads of a model: its class, its registered name, its spec or parameters."""
    asked = requirement_of(model.family if isinstance(model, Kernel) else type(model))
    spec = model.spec() if callable(getattr(model, "spec", None)) else None
    try:
        json.dumps(spec, allow_nan=False)
    except (TypeError, ValueError):
        spec = None
    if spec is None and hasattr(model, "get_params"):
        spec = {name: _shortened(" ".join(repr(value).split())) for name, value in model.get_params(deep=False).items()}
    return {"class": type(model).__name__, "name": None if asked is None else asked.name, "spec": spec}


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"
