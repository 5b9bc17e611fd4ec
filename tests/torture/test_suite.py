"""The torture suite itself: it finds what is wrong, says how, makes it smaller, and replays it."""

from __future__ import annotations

import json
from itertools import count

import pytest

from torture import __main__ as command
from torture import record, runner
from torture.attack import Attack, attacks
from torture.runner import Limit, cases_of
from torture.shrinking import shorter


@pytest.fixture
def torture(tmp_path, monkeypatch, capsys):
    """Run the command line on attacks that fail on purpose; returns exit code, output and failures."""
    monkeypatch.setenv("TORTURE_ATTACKS", "torture.sham")
    monkeypatch.setattr(command, "OUTPUT", tmp_path)

    def run(*arguments):
        code = command.main([str(argument) for argument in arguments])
        files = sorted((tmp_path / "failures").glob("*.json"))
        return code, capsys.readouterr().out, [json.loads(path.read_text()) for path in files]

    return run


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("crashing", "crash: SIGSEGV"),
        ("waiting", "hang: no answer within 3 s"),
        ("computing", "hang: SIGXCPU"),
        ("greedy", "MemoryError: "),
        ("raising", "KeyError: 'missing'"),
    ],
)
def test_whatever_goes_wrong_is_a_violation(torture, name, message):
    code, output, failures = torture(name, "--part", "ci", "--workers", 1)
    assert code == 1
    assert "seed 0" in output
    *_, again, last = output.splitlines()  # the end of a log tells what was wrong
    assert again == f"  {name}: {message}"
    assert last.endswith(f"{len(failures)} violations")
    assert failures
    assert {failure["message"] for failure in failures} == {message}


def test_failures_are_made_smaller_and_replay(torture, tmp_path):
    code, output, failures = torture("large", "--seed", 3)
    assert code == 1
    assert failures
    for failure in failures:
        assert len(failure["case"]["values"]) == 1
        assert failure["case"]["values"] == [91]
        assert len(failure["found_as"]["values"]) == 20
    path = next((tmp_path / "failures").glob("large-3-*.json"))
    code, output, _ = torture("--replay", path)
    assert code == 1
    assert "large: 91" in output
    path.write_text(path.read_text().replace("91", "90"))
    code, output, _ = torture("--replay", path)
    assert (code, output) == (0, "large: all well\n")


def test_cases_depend_on_seed_and_attack_alone(monkeypatch):
    monkeypatch.setenv("TORTURE_ATTACKS", "torture.sham")
    there = attacks()
    first = [case for _, case in zip(range(5), cases_of(there["large"], 1), strict=False)]
    assert first == [case for _, case in zip(range(5), cases_of(there["large"], 1), strict=False)]
    assert first != [case for _, case in zip(range(5), cases_of(there["large"], 2), strict=False)]
    assert first != [case for _, case in zip(range(5), cases_of(there["crashing"], 1), strict=False)]


def test_a_budget_ends_by_the_clock(torture):
    code, output, _ = torture("greedy", "raising", "--budget", "1s", "--seed", 1)
    assert code == 1
    assert "greedy" in output


class Agreeable:
    """A worker that finds nothing wrong and takes one second for each case, of a clock of its own."""

    clock = 0.0

    def ask(self, attack, case):
        self.clock += 1.0
        return {"outcome": None}

    def stop(self):
        pass


@pytest.mark.parametrize(
    ("limit", "cases"), [(Limit(6), 6), (Limit(6, lasts=4.0), 6), (Limit(6, lasts=9.0), 9), (Limit(6, until=3.0), 4)]
)
def test_a_whole_run_lasts_as_long_as_it_says(limit, cases, monkeypatch, tmp_path):
    worker = Agreeable()
    monkeypatch.setattr(runner.time, "monotonic", lambda: worker.clock)
    attack = Attack("any", "nothing", lambda rng: ({} for _ in count()), len, 6, 3)
    assert runner.run_attack(attack, limit, runner.Setting(0, [worker], tmp_path)).cases == cases


def test_smaller_cases():
    assert list(shorter({"a": 2, "b": "text", "c": [True]})) == [
        {"a": 0, "b": "text", "c": [True]},
        {"a": 1, "b": "text", "c": [True]},
        {"a": 2, "b": "text", "c": []},
    ]


def test_unknown_attacks_are_named():
    with pytest.raises(ValueError, match="no attack is named nonsense; there are "):
        command.main(["nonsense"])


def test_the_page_holds_the_counts():
    text = record.page().read_text(encoding="utf-8")
    assert f"{record.BEGIN}\n\n{record.table(record.read())}\n{record.END}" in text
    assert {row["attack"] for row in record.read()} <= set(attacks())


def test_counts_are_written_into_the_page(tmp_path, monkeypatch, torture):
    (tmp_path / "folder").mkdir()
    page = tmp_path / "folder/reliability.md"
    page.write_text(f"# Page\n\n{record.BEGIN}\nold\n{record.END}\n\nend\n")
    monkeypatch.setattr(record, "DOCS", tmp_path)
    monkeypatch.setattr(record, "NUMBERS", tmp_path / "measurements/torture.json")
    torture("raising", "--part", "ci", "--record")
    torture("large", "--part", "ci", "--record", "--seed", 9)
    rows = {row["attack"]: row for row in record.read()}
    assert rows.keys() == {"large", "raising"}
    assert (rows["raising"]["cases"], rows["raising"]["violations"], rows["raising"]["seed"]) == (3, 3, 0)
    assert rows["large"]["seed"] == 9
    assert "| `raising` | nothing | 3 | 3 |" in page.read_text()
    assert page.read_text().startswith("# Page")
    assert page.read_text().endswith("\nend\n")


#: Kernels of other kernels, of indices and of structured samples: attacked by `kernel-trees` and `kernel-inputs`, and
#: compared with formulas in the tests beside them.
WITHOUT_FORMULA = {
    *("add", "multiply", "scale", "power", "transpose", "symmetrize", "compose", "centered", "spectrum", "corrected"),
    *(
        "projected",
        "neighbour-spectrum",
        "conformal",
        "precomputed",
        "adjacency",
        "graph-adjacency",
        "katz",
        "pagerank",
    ),
    *("shortest-path", "gak", "gmm-kl", "gower", "local-rbf"),
}


def test_every_kernel_and_every_solver_is_attacked():
    from kernreg.registry import get_registry
    from torture.attacks.kernel_trees import kernel_names
    from torture.oracles import ORACLES
    from torture.solvers import subjects

    ours = {
        entry.name for entry in get_registry("kernel").entries() if (entry.distribution or "").startswith("kernreg")
    }
    assert ours - ORACLES.keys() <= WITHOUT_FORMULA
    assert ORACLES.keys() <= set(kernel_names())
    assert {name for name, _ in subjects()} >= {entry.name for entry in get_registry("solver").entries()}
