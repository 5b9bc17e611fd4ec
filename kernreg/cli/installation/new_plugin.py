"""``kernreg new-plugin``: a package with one kernel, its test and its entry point, ready to install."""

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

#: Template file -> path in the package; both may hold ${...}.
FILES = {
    "pyproject.toml.txt": "pyproject.toml",
    "README.md.txt": "README.md",
    "init.py.txt": "src/${package}/__init__.py",
    "test_kernel.py.txt": "tests/test_${function}.py",
}

#: Names the template itself uses; a kernel function of such a name would hide them.
RESERVED = {"kernel", "positive", "kernreg"}


@dataclass(frozen=True)
class PluginNames:
    """The names of a new plugin, all derived from one.

    Examples
    --------
    >>> PluginNames.of("heat-flow")
    PluginNames(kernel='heat-flow', distribution='kernreg-heat-flow',
                package='kernreg_heat_flow', function='heat_flow')
    >>> PluginNames.of("kernreg-heat").kernel
    'heat'
    """

    kernel: str
    distribution: str
    package: str
    function: str

    @classmethod
    def of(cls, name: str) -> PluginNames:
        """Derive the names; raise `ParameterError` where no good Python names come out."""
        kernel = name.removeprefix("kernreg-")
        function = kernel.replace("-", "_")
        if (
            not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", kernel)
            or function in RESERVED
            or keyword.iskeyword(function)
        ):
            raise ParameterError(
                f"{name!r} cannot name a plugin. Accepted: lower-case letters, digits and single hyphens, "
                f"starting with a letter, and not a word of Python nor one of {', '.join(sorted(RESERVED))}; "
                "for example: kernreg new-plugin heat-flow"
            )
        return cls(kernel, f"kernreg-{kernel}", f"kernreg_{function}", function)


def contents(names: PluginNames) -> dict[str, str]:
    """Return the text of every file of the package, by path.

    Examples
    --------
    >>> sorted(contents(PluginNames.of("demo")))
    ['README.md', 'pyproject.toml', 'src/kernreg_demo/__init__.py', 'tests/test_demo.py']
    """
    from kernreg.registry import API_VERSION

    values = {**vars(names), "api_version": API_VERSION, "directory": names.kernel}
    folder = resources.files("kernreg.cli.installation") / "plugin_template"
    return {
        Template(path).substitute(values): Template((folder / file).read_text(encoding="utf-8")).substitute(values)
        for file, path in FILES.items()
    }


def write_plugin(name: str, parent: Path) -> Path:
    """Write the package into a new directory of that name, all of it or nothing.

    Parameters
    ----------
    name : str
        Name of the kernel; the directory is named the same.
    parent : Path
        Existing directory to write into.

    Returns
    -------
    Path
        The new directory.
    """
    names = PluginNames.of(name)
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
    """Raise `ParameterError` when the kernel's name is installed already, from another distribution."""
    from kernreg.registry import get_registry

    for entry in get_registry("kernel").entries():
        if entry.name == names.kernel and entry.distribution != names.distribution:
            raise ParameterError(
                f"the kernel {names.kernel!r} is provided by {entry.distribution or 'this program'} already, "
                "and two of one name conflict. Choose another name"
            )


@click.command("new-plugin")
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Directory to write into (default: the current one).",
)
def command(name: str, into: Path) -> None:
    """Write a ready plugin package into the new directory NAME: one kernel, its test, its entry point."""
    target = write_plugin(name, into)
    names = PluginNames.of(name)
    shown = target if target.is_absolute() else Path(".") / target
    click.echo(f"{shown}: the distribution {names.distribution} with the kernel {names.kernel}")
    for path in sorted(contents(names)):
        click.echo(f"  {path}")
    prefix = "" if target.is_absolute() else "./"
    click.echo(f"next:\n  pip install {prefix}{target}\n  kernreg check {names.kernel}")
