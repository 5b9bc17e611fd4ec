"""The Python in README.md and docs/ runs as printed, and every command it shows exists."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris

from kernreg import registry
from kernreg.cli.app import COMMANDS, application

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("**/*.md")])

CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOML = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?: {4}|\| `)kernreg (?:--plugin \S+ )*([a-z-]+)", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_python_of_a_document_runs(document, monkeypatch):
    text = document.read_text(encoding="utf-8")
    main = ModuleType("__main__")  # as a script or notebook, in which pickle finds classes
    monkeypatch.setitem(sys.modules, "__main__", main)
    namespace = vars(main)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    with registry.isolated():
        for block in FENCE.finditer(text):
            code, line = block[1], text[: block.start(1)].count("\n")
            if ">>>" in code:
                example = doctest.DocTestParser().get_doctest(code, namespace, document.name, str(document), line)
                runner.run(example, clear_globs=False)
                namespace.update(example.globs)
            else:
                # Blank lines first, so that a traceback names the line of the document.
                exec(compile("\n" * line + code, str(document), "exec"), namespace)
    assert runner.failures == 0
    if "matplotlib.pyplot" in sys.modules:  # what a page draws is not for later pages
        sys.modules["matplotlib.pyplot"].close("all")


def test_the_session_of_the_command_line_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = load_iris()
    rows = zip(found.data.tolist(), found.target_names[found.target].tolist(), strict=True)
    lines = ["sepal length,sepal width,petal length,petal width,species"]
    lines += [",".join([*map(str, values), species]) for values, species in rows]
    (tmp_path / "iris.csv").write_text("\n".join(lines) + "\n")
    text = (ROOT / "docs/guide/cli.md").read_text(encoding="utf-8")
    (tmp_path / "chain.toml").write_text(TOML.findall(text)[0])
    commands = 0
    for session in CONSOLE.findall(text):
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            result = CliRunner().invoke(application, shlex.split(command)[1:], prog_name="kernreg")
            assert result.exit_code == 0, (command, result.output)
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            assert doctest.OutputChecker().check_output(expected, result.stdout, flags), (command, result.stdout)
            commands += 1
    assert commands >= 8


def test_the_readme_makes_the_table_of_its_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^ {4}(python -c .*)$", text, re.MULTILINE)
    exec(shlex.split(line)[2], {})
    assert (tmp_path / "iris.csv").read_text().startswith("a,b,c,d,species\n5.1,3.5,1.4,0.2,0\n")
    commands = re.findall(r"^ {4}kernreg (.*iris\.csv.*)$", text, re.MULTILINE)
    assert [shlex.split(command)[0] for command in commands] == ["evaluate", "fit", "predict"]
    for command in commands:
        result = CliRunner().invoke(application, shlex.split(command), prog_name="kernreg")
        assert result.exit_code == 0, (command, result.output)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_document_exist(document):
    installed = {entry.name for entry in registry.get_registry("command").entries()}  # plugins have some, too
    assert set(COMMAND.findall(document.read_text(encoding="utf-8"))) <= set(COMMANDS) | installed


def test_every_command_is_documented():
    assert set(COMMAND.findall((ROOT / "docs/guide/cli.md").read_text(encoding="utf-8"))) == set(COMMANDS)
