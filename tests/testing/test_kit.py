"""The kit itself: verdicts, violations, checks as pytest parameters."""

from __future__ import annotations

import pickle
import textwrap

import pytest

from kernreg.testing import Check, LawViolation, kernel_checks, parametrize_with_checks, verdicts
from kernreg.testing.kit import KERNEL_LAWS, SOLVER_LAWS, kind_of
from kernreg.testing.laws import LawBook, fail

pytest_plugins = ["pytester"]


class Subject:
    subject = "subject thing"


def test_a_violation_names_law_subject_and_detail():
    violation = LawViolation("a law", "kernel k", "1 is not 2")
    assert isinstance(violation, AssertionError)
    assert str(violation) == 'kernel k breaks the law "a law": 1 is not 2'
    again = pickle.loads(pickle.dumps(violation))
    assert (again.law, again.subject, again.detail) == ("a law", "kernel k", "1 is not 2")


def test_verdicts_tell_held_broken_and_not_applicable_apart():
    book = LawBook("thing")

    @book.law("kept")
    def kept(case):
        """It does nothing."""

    @book.law("broken")
    def broken(case):
        fail("it does not")

    @book.law("crashing")
    def crashing(case):
        raise KeyError("missing")

    @book.law("excused", excuse=lambda case: "not its matter")
    def excused(case):
        fail("never called")

    @book.law("unaskable", excuse=lambda case: case.no_such_attribute)
    def unaskable(case):
        fail("too broken to be asked")

    outcomes = [(verdict.law, verdict.outcome, verdict.detail) for verdict in book.verdicts(Subject())]
    assert outcomes == [
        ("kept", "held", ""),
        ("broken", "broken", "it does not"),
        ("crashing", "broken", "it raised KeyError: 'missing'"),
        ("excused", "not applicable", "not its matter"),
        ("unaskable", "broken", "too broken to be asked"),
    ]
    assert kept.statement == "It does nothing."


@pytest.mark.parametrize("book", [KERNEL_LAWS, SOLVER_LAWS])
def test_every_law_has_a_name_of_its_own_and_a_statement(book):
    names = [law.name for law in book.laws]
    assert len(set(names)) == len(names)
    for law in book.laws:
        assert law.statement.endswith("."), law.name


def test_checks_have_readable_ids():
    ids = [check.id for check in kernel_checks("rbf(sigma=2.0)")]
    assert "kernel-rbf(sigma=2.0)-declared-symmetry" in ids
    assert len(set(ids)) == len(ids)


def test_an_object_of_no_kind_is_refused():
    with pytest.raises(TypeError, match="accepts kernels and kernel families, solvers"):
        kind_of(3)
    with pytest.raises(TypeError, match="no laws for"):
        parametrize_with_checks([object()])


def test_spec_strings_are_kernels():
    assert {verdict.subject for verdict in verdicts("rbf(sigma=2.0)")} == {"kernel rbf(sigma=2.0)"}


def test_under_pytest_each_law_is_one_test(pytester):
    pytester.makepyfile(
        textwrap.dedent(
            """
            from kernreg.testing import parametrize_with_checks

            @parametrize_with_checks(["rbf(sigma=2.0)"])
            def test_laws(check):
                check()
            """
        )
    )
    result = pytester.runpytest_inprocess("-v")
    expected = len(list(kernel_checks("rbf(sigma=2.0)")))
    result.assert_outcomes(passed=expected)
    result.stdout.fnmatch_lines(["*test_laws?kernel-rbf(sigma=2.0)-operator? PASSED*"])
    assert all(isinstance(check, Check) for check in kernel_checks("rbf"))
