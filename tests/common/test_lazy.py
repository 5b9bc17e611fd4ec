"""Properties that are computed once, without a lock."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from kernreg.common.lazy import computed_once


class Slow:
    """Computes when it is told to."""

    def __init__(self):
        self.started, self.go, self.count = threading.Event(), threading.Event(), 0

    @computed_once
    def value(self):
        """What is computed."""
        self.count += 1
        self.started.set()
        self.go.wait()
        return object()


def test_a_value_is_computed_once_and_belongs_to_its_object():
    one, other = Slow(), Slow()
    one.go.set()
    other.go.set()
    assert one.value is one.value
    assert one.count == 1
    assert other.value is not one.value
    assert vars(one)["value"] is one.value
    assert Slow.value.__doc__ == "What is computed."


def test_threads_that_ask_at_once_all_get_the_value_that_is_kept():
    slow, found = Slow(), []
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(3)]
    for thread in threads:
        thread.start()
    while slow.count < len(threads):
        slow.started.wait(0.01)
    slow.go.set()
    for thread in threads:
        thread.join()
    assert set(found) == {slow.value}


def test_another_object_does_not_wait():
    slow, quick = Slow(), Slow()
    quick.go.set()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    slow.started.wait()
    try:
        assert quick.value is quick.value
    finally:
        slow.go.set()
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_that_is_forked_while_another_thread_computes_does_not_wait():
    slow, quick = Slow(), Slow()
    quick.go.set()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    slow.started.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if quick.value is quick.value else 3)
    slow.go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
