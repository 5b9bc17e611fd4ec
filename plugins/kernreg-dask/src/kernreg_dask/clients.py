"""Which cluster: the current client, the one at an address, or processes of this machine."""

from __future__ import annotations

from typing import Any

from distributed import Client, LocalCluster, default_client

import kernreg
from kernreg.errors import EngineError, ParameterError, shown


class ClusterSettings:
    """Where an engine finds workers.

    Parameters
    ----------
    address : str or None
        Of a scheduler.
    workers : int or None
        Processes to start on this machine.
    threads : int or None
        Of each of them.
    memory_limit : str or None
        Of each of them.
    timeout : float
        Seconds to wait for a scheduler.
    """

    def __init__(
        self, address: str | None, workers: int | None, threads: int | None, memory_limit: Any, timeout: float
    ):
        started = {"workers": workers, "threads": threads, "memory_limit": memory_limit}
        given = [name for name, value in started.items() if value is not None]
        if address is not None and given:
            raise ParameterError(
                f"address={shown(address)} and {', '.join(given)} are given: the first is a cluster that runs, the "
                "others are for one to be started on this machine; give one or the other"
            )
        for name in ("workers", "threads"):
            value = started[name]
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ParameterError(f"{name}={shown(value)} is not accepted; give a positive integer")
        if not isinstance(timeout, int | float) or not timeout > 0:
            raise ParameterError(f"timeout={shown(timeout)} is not accepted; give seconds, a number above 0")
        self.address, self.timeout = address, float(timeout)
        self._started, self._asked_for = started, bool(given)

    def connect(self) -> tuple[Client, list[Any]]:
        """Return a client, and what is to be closed with the engine: the client and the cluster, where it made them."""
        if self.address is not None:
            client = _client(self.address, self.timeout)
            return client, [client]
        current = None if self._asked_for else current_client()
        if current is not None:
            return current, []
        cluster = LocalCluster(
            n_workers=self._started["workers"] or kernreg.get_config().thread_count(),
            threads_per_worker=self._started["threads"] or 1,
            memory_limit=self._started["memory_limit"] or "auto",
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        )
        client = _client(cluster, self.timeout)
        return client, [client, cluster]


def current_client() -> Client | None:
    """Return the client that is current in this process, None where there is none."""
    try:
        client = default_client()
    except ValueError:
        return None
    return client if client.status == "running" else None


def _client(where: Any, timeout: float) -> Client:
    try:
        return Client(where, timeout=timeout, set_as_default=False, direct_to_workers=True)
    except (OSError, ValueError, TypeError) as error:  # TimeoutError is the first
        raise EngineError(
            f"no Dask scheduler answers at {where!r} within {timeout:g} s: {error}. Start one with `dask scheduler`, "
            "and give its address, such as tcp://127.0.0.1:8786"
        ) from error
