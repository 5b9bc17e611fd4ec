"""The oldest versions that the projects of this tree allow, as constraints for pip: `make test-oldest` installs them.

A bound `numpy>=2.0` of kernreg, of one of its plugins or of what their tests need becomes `numpy==2.0`; of several
bounds the highest counts. What has no bound is left to pip.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXTRA = "test"
_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?>=(?P<version>[0-9.]+)$")


def requirements(project: Path) -> Iterator[str]:
    """Yield what a project needs, and what its tests do."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    yield from table.get("dependencies", [])
    yield from table.get("optional-dependencies", {}).get(EXTRA, [])


def oldest(lines: Iterable[str]) -> dict[str, str]:
    """Return the oldest version of each package that all lines allow.

    >>> oldest(["numpy>=2.0", "dask[array]>=2025.7", "numpy>=2.1", "scipy-stubs"])
    {'numpy': '2.1', 'dask': '2025.7'}
    """
    found: dict[str, str] = {}
    for line in lines:
        if match := _BOUND.match(line.replace(" ", "")):
            name, version = match["name"], match["version"]
            found[name] = max(found.get(name, version), version, key=_key)
        elif ">" in line or "=" in line:
            raise ValueError(f"{line!r} is no bound of the form name>=1.2")
    return found


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def main() -> None:
    """Print a constraint for every package, but for kernreg and its plugins, which are those of this tree."""
    projects = [ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml"))]
    own = {tomllib.loads(path.read_text(encoding="utf-8"))["project"]["name"] for path in projects}
    versions = oldest(line for path in projects for line in requirements(path))
    lines = [f"{name}=={version}\n" for name, version in sorted(versions.items()) if name not in own]
    sys.stdout.writelines(lines)


if __name__ == "__main__":
    main()
