"""A real cluster of processes, on the loopback device, which all tests of this process share."""

from __future__ import annotations

import logging

import pytest
from distributed import Client, LocalCluster

import kernreg as kr


@pytest.fixture(scope="session")
def cluster():
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what it says of workers that tests end
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as made:
        yield made


@pytest.fixture(scope="session")
def client(cluster):
    with Client(cluster, set_as_default=False) as made:
        made.wait_for_workers(2, timeout=120)
        yield made


@pytest.fixture(scope="session")
def engine(client):
    with kr.make_engine("dask", address=client.scheduler.address) as made:
        yield made
