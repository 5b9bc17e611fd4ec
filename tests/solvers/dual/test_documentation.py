"""What the docstrings of all dual machines say alike is written once, and help() shows it of each."""

from __future__ import annotations

import inspect
import re

import pytest

from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor


@pytest.mark.parametrize("machine", [LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor])
def test_help_describes_every_parameter_and_no_placeholder_is_left(machine):
    text = inspect.getdoc(machine)
    parameters = text.split("Attributes\n")[0]
    described = {name for line in re.findall(r"^(\w[\w, ]*?)(?: :|$)", parameters, re.M) for name in line.split(", ")}
    assert set(machine().get_params(deep=False)) <= described
    assert not re.search(r"^\s*\{\w+\}$", text, re.M)
    for attribute in ("kernel_", "gamma_", "solver_report_", "loo_path_", "loo_views_"):
        assert attribute in text


def test_shared_text_stands_once():
    blocks = [inspect.getsource(machine) for machine in (LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor)]
    assert not any("How they are chosen" in source for source in blocks)
