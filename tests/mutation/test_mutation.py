"""The machinery of mutation testing: what is changed, how imported functions follow, and what is written down."""

import importlib.util

import pytest

from mutation import page
from mutation.mutants import mutants_of
from mutation.patch import functions_below, replace, replacements
from mutation.reach import Reach

SOURCE = """
_ROWS = 256

def power(x, n=2):
    return x**n

def above(x):
    return x > 1e-3, x < _ROWS, x <= 3

def refuse(x):
    raise ValueError(f"not {x + 1}")

class Counter:
    start = 5

    def twice(self):
        return [y * 2 for y in (lambda: [self.start])()]

def adder(n):
    def add(x):
        return x + n
    return add

add_three = adder(3)
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "changed_module.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("changed_module", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def mutant(before, kind):
    return next(m for m in mutants_of("changed_module.py", SOURCE) if (m.before, m.kind) == (before, kind))


def test_limits_and_messages_are_not_changed_and_comparisons_with_limits_are_turned_round():
    shown = {m.before: m.after for m in mutants_of("changed_module.py", SOURCE)}
    assert (shown["x > 0.001"], shown["x < _ROWS"], shown["x <= 3"]) == ("x <= 0.001", "x >= _ROWS", "x < 3")
    assert not {"256", "0.001", "x + 1"} & shown.keys()
    assert shown["raise ValueError(f'not {x + 1}')"] == "pass"


def test_flags_of_blas_are_turned_and_what_no_test_can_notice_is_left_out():
    source = """
class Base:
    def solve(self):
        raise NotImplementedError
    def refuse(self):
        raise ValueError
def f(x):
    return dtrsm(1.0, x, lower=1, diag=0, overwrite_b=1, overwrite_c=0, n=1)
"""
    found = [(m.kind, m.before, m.after) for m in mutants_of("m.py", source)]
    constants = [change for kind, *change in found if kind == "constant"]
    assert constants == [["1.0", "2.0"], ["1", "0"], ["0", "1"], ["0", "1"], ["1", "2"]]
    assert [before for kind, before, _ in found if kind == "dropped statement"] == ["raise ValueError"]


@pytest.mark.parametrize(
    ("before", "call", "changed"),
    [
        ("x ** n", lambda module: module.power(5), 10),
        ("x <= 3", lambda module: module.above(3), (True, True, False)),
        ("y * 2", lambda module: module.Counter().twice(), [2.5]),
        ("x + n", lambda module: module.add_three(1), -2),  # a closure that exists already
    ],
)
def test_imported_functions_follow_a_change(tmp_path, module, before, call, changed):
    unchanged = call(module)
    kind = "comparison" if "<" in before else "arithmetic"
    assert replace(replacements(tmp_path, mutant(before, kind)), functions_below(tmp_path))
    assert call(module) == changed != unchanged


@pytest.mark.parametrize(("number", "place"), [("2", 0), ("5", 0), ("3", -1)])  # a default, a class attribute, a call
def test_a_change_of_what_an_import_does_needs_a_new_import(tmp_path, module, number, place):
    places = [m for m in mutants_of("changed_module.py", SOURCE) if m.before == number]
    assert replacements(tmp_path, places[place]) is None


def test_tests_that_run_the_line_come_first_and_cases_of_one_test_one_after_the_other():
    place = mutant("x ** n", "arithmetic")
    lines = {"changed_module.py": [place.line]}
    tests = ["a.py::slow", "a.py::test[1]", "a.py::test[2]", "a.py::quick"]
    recorded = {name: {"seconds": s, "lines": lines} for name, s in zip(tests, (5.0, 0.1, 0.1, 0.2), strict=True)}
    recorded["a.py::elsewhere"] = {"seconds": 0.0, "lines": {"changed_module.py": [place.line + 3]}}
    reach = Reach(recorded)
    assert reach.tests(place) == ["a.py::test[1]", "a.py::quick", "a.py::slow", "a.py::test[2]"]
    assert [group for group, _ in reach.stages(place)] == [
        ["a.py::test[1]", "a.py::quick", "a.py::slow"],
        ["a.py::test[2]"],
    ]


def test_the_page_holds_the_counts():
    text = (page.DOCS / "appendix/reliability.md").read_text(encoding="utf-8")
    assert f"{page.BEGIN}\n\n{page.section(page.read())}\n{page.END}" in text


def test_counts_of_the_first_run_and_explanations_stay(tmp_path, monkeypatch):
    for name in ("appendix", "measurements"):
        (tmp_path / name).mkdir()
    (tmp_path / "appendix/reliability.md").write_text(f"# Page\n\n{page.BEGIN}\nold\n{page.END}\n\nend\n")
    monkeypatch.setattr(page, "DOCS", tmp_path)
    outcomes = {"folder/a.py:1:1 constant: 1  →  2": "survived", "folder/a.py:2:1 constant: 1  →  2": "survived"}
    page.record(7, 50, [{"mutant": name, "outcome": word} for name, word in outcomes.items()], ["folder"])
    text = page.numbers().read_text().replace('"why": ""', '"why": "a tuning constant"')
    text = text.replace('"equivalent": false', '"equivalent": true').replace('"note": ""', '"note": "a remark."')
    page.numbers().write_text(text)
    outcomes["folder/a.py:2:1 constant: 1  →  2"] = "killed"
    page.record(7, 50, [{"mutant": name, "outcome": word} for name, word in outcomes.items()], ["folder"])
    written = (tmp_path / "appendix/reliability.md").read_text()
    assert "| 7, at first | `folder` | 2 | 0 | 0 | 2 | 0 | 1 | 0.0 % | 0.0 % |" in written
    assert "| 7, now | `folder` | 2 | 1 | 0 | 1 | 0 | 1 | 50.0 % | 100.0 % |" in written
    assert written.count("a tuning constant") == 1
    assert "Seed 7: a remark." in written
    assert written.endswith("\nend\n")
