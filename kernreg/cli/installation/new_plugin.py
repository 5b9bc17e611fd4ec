"""``kernreg new-plugin``: a package with one plugin of any kind, its test and its entry point, ready to install."""

from __future__ import annotations

import keyword
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template

import click

from kernreg.errors import ParameterError
from kernreg.registry import KINDS

#: Template file -> path in the package; both may hold ${...}. ``KIND`` is the folder of the kind.
FILES = {
    "common/pyproject.toml.txt": "pyproject.toml",
    "common/README.md.txt": "README.md",
    "common/index.md.txt": "docs/index.md",
    "common/test.yml.txt": ".github/workflows/test.yml",
    "KIND/init.py.txt": "src/${package}/__init__.py",
    "KIND/test.py.txt": "tests/test_${function}.py",
}

#: How the plugin is used, as a part of the README and of the page.
USAGE = "KIND/usage.md.txt"

#: Kinds whose plugin is a class; the others are functions.
CLASSES = ("solver", "ensembler", "engine")

#: Names the templates themselves use; a plugin of such a name would hide them.
RESERVED = {
    "kernel": {"kernel", "positive", "kernreg"},
    "solver": {"ClassTargets", "ClassifierMixin", "KernelParameters", "NearestCentroid", "GridSearchCV"},
    "ensembler": {"Ensembler"},
    "engine": {"Engine", "Handle", "HeldSamples", "RowTask", "ThreadPoolExecutor", "ParameterError"},
    "command": {"click", "run", "kernreg", "kr", "np"},
}


@dataclass(frozen=True)
class PluginNames:
    """The names of a new plugin, all derived from one.

    Examples
    --------
    >>> PluginNames.of("heat-flow")
    PluginNames(name='heat-flow', kind='kernel', distribution='kernreg-heat-flow',
                package='kernreg_heat_flow', function='heat_flow', object='heat_flow')
    >>> PluginNames.of("kernreg-heat", "solver").object
    'Heat'
    """

    name: str
    kind: str
    distribution: str
    package: str
    function: str
    object: str

    @classmethod
    def of(cls, given: str, kind: str = "kernel") -> PluginNames:
        """Derive the names; raise `ParameterError` where no good Python names come out."""
        name = given.removeprefix("kernreg-")
        function = name.replace("-", "_")
        obj = "".join(part.capitalize() for part in name.split("-")) if kind in CLASSES else function
        if (
            not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)
            or obj in RESERVED[kind]
            or keyword.iskeyword(function)
            or keyword.iskeyword(obj)
        ):
            reserved = sorted(_with_hyphens(word) for word in RESERVED[kind])
            raise ParameterError(
                f"{given!r} cannot name a plugin. Accepted: lower-case letters, digits and single hyphens, "
                f"starting with a letter, and not a word of Python nor one of {', '.join(reserved)}; "
                f"for example: kernreg new-plugin heat-flow --kind {kind}"
            )
        return cls(name, kind, f"kernreg-{name}", f"kernreg_{function}", function, obj)


def _with_hyphens(word: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", word).lower()


def contents(names: PluginNames) -> dict[str, str]:
    """Return the text of every file of the package, by path.

    Examples
    --------
    >>> for path in sorted(contents(PluginNames.of("demo"))):
    ...     print(path)
    .github/workflows/test.yml
    README.md
    docs/index.md
    pyproject.toml
    src/kernreg_demo/__init__.py
    tests/test_demo.py
    """
    from kernreg import __version__
    from kernreg.registry import API_VERSION

    minor = ".".join(__version__.split(".")[:2])
    values = {**vars(names), "api_version": API_VERSION, "group": KINDS[names.kind], "kernreg_version": minor}
    folder = resources.files("kernreg.cli.installation") / "plugin_template"

    def filled(file: str) -> str:
        text = (folder / file.replace("KIND", names.kind)).read_text(encoding="utf-8")
        return Template(text).substitute(values)

    values["usage"] = filled(USAGE).rstrip("\n")
    return {Template(path).substitute(values): filled(file) for file, path in FILES.items()}


def write_plugin(name: str, parent: Path, kind: str = "kernel") -> Path:
    """Write the package into a new directory of that name, all of it or nothing.

    Parameters
    ----------
    name : str
        Name of the plugin; the directory is named the same.
    parent : Path
        Existing directory to write into.
    kind : str
        ``"kernel"``, ``"solver"``, ``"ensembler"``, ``"engine"`` or ``"command"``.

    Returns
    -------
    Path
        The new directory.
    """
    names = PluginNames.of(name, kind)
    target = parent / name
    if os.path.lexists(target):
        raise ParameterError(f"{target} exists and is not overwritten. Choose another name, or remove it first")
    refuse_taken(names)
    files = contents(names)
    staging: Path | None = None
    try:
        # Written beside its destination and renamed at the end: an interrupted run leaves no half a package.
        staging = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=parent))
        for path, text in files.items():
            file = staging / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        staging.chmod(0o755)  # mkdtemp makes it private
        staging.rename(target)
    except OSError as error:
        raise ParameterError(
            f"cannot write {target}: {error.strerror or error}. Choose another place with --into"
        ) from error
    finally:
        if staging is not None and staging.exists():
            shutil.rmtree(staging)
    return target


def refuse_taken(names: PluginNames) -> None:
    """Raise `ParameterError` when the name is installed already, from another distribution."""
    from kernreg.registry import get_registry

    for entry in get_registry(names.kind).entries():
        if entry.name == names.name and entry.distribution != names.distribution:
            raise ParameterError(
                f"the {names.kind} {names.name!r} is provided by {entry.distribution or 'this program'} already, "
                "and two of one name conflict. Choose another name"
            )


@click.command("new-plugin")
@click.argument("name")
@click.option(
    "--kind", type=click.Choice(list(KINDS)), default="kernel", show_default=True, help="What the plugin provides."
)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Directory to write into (default: the current one).",
)
def command(name: str, kind: str, into: Path) -> None:
    """Write a ready plugin package into the new directory NAME.

    It holds one kernel, solver, ensembler, engine or command that works, its test, its entry point, a CI workflow, a
    README and a page of documentation.
    """
    target = write_plugin(name, into, kind)
    names = PluginNames.of(name, kind)
    shown = target if target.is_absolute() else Path(".") / target
    click.echo(f"{shown}: the distribution {names.distribution} with the {kind} {names.name}")
    for path in sorted(contents(names)):
        click.echo(f"  {path}")
    place = str(target) if target.is_absolute() else f"./{target}"
    click.echo(f'next:\n  pip install -e "{place}[test]"\n  kernreg check {names.name}\n  pytest "{place}"')
