"""The engine keeps every law of engines: on a cluster it does what the engine of this machine does."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernreg_dask import DaskEngine

from kernreg.errors import EngineError, ParameterError
from kernreg.testing import private_imports
from kernreg.testing.engines import ENGINE_LAWS, EngineCase


@pytest.mark.parametrize("law", ENGINE_LAWS.laws[:-1], ids=lambda law: law.name)
def test_laws_hold(engine, law):
    law(EngineCase(engine))


def test_it_closes_and_can_be_made_again():
    ENGINE_LAWS.laws[-1](EngineCase(DaskEngine))


def test_only_public_names_of_kernreg_are_imported():
    assert private_imports(Path(__file__).parents[1] / "src") == []


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"address": "tcp://127.0.0.1:1", "workers": 2}, "give one or the other"),
        ({"workers": 0}, "positive integer"),
        ({"threads": 1.5}, "positive integer"),
        ({"timeout": 0}, "above 0"),
    ],
)
def test_parameters_that_say_nothing_are_refused(parameters, words):
    with pytest.raises(ParameterError, match=words):
        DaskEngine(**parameters)


def test_a_scheduler_that_does_not_answer_is_named():
    engine = DaskEngine("tcp://127.0.0.1:9", timeout=0.5)
    with pytest.raises(EngineError, match=r"tcp://127\.0\.0\.1:9.*dask scheduler"):
        engine.describe()


def test_a_closed_engine_says_so(client):
    engine = DaskEngine(client.scheduler.address)
    assert engine.describe()["workers"] == 2
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.describe()
    assert client.status == "running"


def test_the_current_client_is_used_and_not_closed(client):
    with client.as_current(), DaskEngine() as engine:
        assert engine.client is client
    assert client.status == "running"
