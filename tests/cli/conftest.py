"""Running commands in this process, on plugins that exist for one test only."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kernreg import registry
from kernreg.cli.app import application


@pytest.fixture
def run():
    """Run ``kernreg`` with these arguments; the result has ``exit_code``, ``stdout`` and ``stderr``."""

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(application, list(arguments), prog_name="kernreg")

    return invoke


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a distribution on the path: metadata and one module, as an installer would.

    Other plugins that happen to be installed are blocked meanwhile: whether they work is no concern of the test.
    """
    monkeypatch.setenv("KERNREG_PLUGINS", "none")
    installed: list[str] = []
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    modules_before = set(sys.modules)

    def install(
        distribution: str, source: str, *, version: str = "1.0", summary: str = "", **groups: dict[str, str]
    ) -> Path:
        module = distribution.replace("-", "_")
        (place / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        metadata = place / f"{module}-{version}.dist-info"
        metadata.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {distribution}", f"Version: {version}"]
        lines += [f"Summary: {summary}"] if summary else []
        (metadata / "METADATA").write_text("\n".join(lines) + "\n")
        lines = []
        for group, entries in groups.items():
            lines += [
                f"[kernreg.{group}]",
                *(f"{name} = {module}:{target}" for name, target in entries.items()),
            ]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
        installed.append(distribution)
        monkeypatch.setenv("KERNREG_PLUGINS", ",".join(installed))
        registry.refresh()
        return place

    with registry.isolated():
        yield install
    for name in set(sys.modules) - modules_before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(place)):
            del sys.modules[name]
    monkeypatch.undo()  # takes the place off the path, so that the next walk does not see it
    registry.refresh()
