from __future__ import annotations

import pytest

import kernreg
from kernreg.ensemblers import Average, Best, Source, Stack, Target
from kernreg.registry import get_registry
from kernreg.testing import parametrize_with_checks

EVERY = [
    Source,
    Target,
    Average,
    Average(weights={"source": 1, "target": 3}),
    Best,
    Stack,
    Stack(alpha=100.0),
    Stack(method="logistic"),
]


@parametrize_with_checks(EVERY)
def test_laws(check):
    check()


@pytest.mark.parametrize(
    ("name", "cls"), [("source", Source), ("target", Target), ("average", Average), ("best", Best), ("stack", Stack)]
)
def test_every_ensembler_is_found_by_name(name, cls):
    assert get_registry("ensembler").get(name) is cls
    assert isinstance(kernreg.make_ensembler(name), cls)


def test_parameters_in_a_spec():
    assert kernreg.make_ensembler("stack(method='logistic', alpha=2.0)").get_params() == {
        "method": "logistic",
        "alpha": 2.0,
    }
    assert kernreg.make_ensembler("average(weights={'a': 1, 'b': 2})").weights == {"a": 1, "b": 2}


@pytest.mark.parametrize("cls", [Source, Target, Average, Best])
def test_choices_and_means_declare_that_they_are_idempotent(cls):
    assert cls.idempotent


def test_what_learns_from_targets_says_so():
    assert [cls.uses_targets for cls in (Source, Target, Average, Best, Stack)] == [False, False, False, True, True]
