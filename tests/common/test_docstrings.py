"""What several docstrings say alike, with the margin that Python 3.13 takes away and without."""

from __future__ import annotations

import inspect
import re

import pytest

import kernreg as kr
from kernreg.common.docstrings import documented_with

BLOCKS = {"width": "    sigma : float\n        The width.\n", "seed": "random_state : int\n"}
WANTED = "A machine.\n\nsigma : float\n    The width.\ngamma : float\n    Not {width} here.\nrandom_state : int"


@pytest.mark.parametrize(
    "text",
    [
        "A machine.\n\n    {width}\n    gamma : float\n        Not {width} here.\n    {seed}\n    ",
        "A machine.\n\n{width}\ngamma : float\n    Not {width} here.\n{seed}\n",
        "A machine.\n\n{width}\ngamma : float\n    Not {width} here.\n{seed}",
    ],
)
def test_blocks_take_the_place_of_their_lines(text):
    machine = documented_with(BLOCKS)(type("Machine", (), {"__doc__": text}))
    assert machine.__doc__ == WANTED


def test_without_docstrings_there_is_nothing_to_complete():
    assert documented_with(BLOCKS)(type("Machine", (), {"__doc__": None})).__doc__ is None


@pytest.mark.parametrize("name", [plugin.name for plugin in kr.available("solver")])
def test_help_of_a_solver_describes_every_parameter(name):
    machine = kr.make_solver(name)
    lines = inspect.getdoc(type(machine)).splitlines()
    described = {word for line in lines if " : " in line for word in line.partition(" : ")[0].strip().split(", ")}
    assert set(machine.get_params(deep=False)) <= described
    assert not [line for line in lines if re.fullmatch(r"\s*\{\w+\}", line)]
