"""The Python in README.md and docs/ runs as printed, and every command it shows exists."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from kernreg import registry
from kernreg.cli.app import COMMANDS

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])

FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?: {4}|\| `)kernreg ([a-z-]+)", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_python_of_a_document_runs(document):
    text = document.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}  # as a script or notebook
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with registry.isolated():
        for block in FENCE.finditer(text):
            code, line = block[1], text[: block.start(1)].count("\n")
            if ">>>" in code:
                example = doctest.DocTestParser().get_doctest(code, namespace, document.name, str(document), line)
                runner.run(example, clear_globs=False)
                namespace = example.globs
            else:
                # Blank lines first, so that a traceback names the line of the document.
                exec(compile("\n" * line + code, str(document), "exec"), namespace)
    assert runner.failures == 0


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_of_a_document_exist(document):
    assert set(COMMAND.findall(document.read_text(encoding="utf-8"))) <= set(COMMANDS)


def test_every_command_is_documented():
    assert set(COMMAND.findall((ROOT / "docs/cli.md").read_text(encoding="utf-8"))) == set(COMMANDS)
