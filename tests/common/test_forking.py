"""Locks in forked children, and interrupts while a fork waits for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from kernreg.common.forking import open_in_children

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]

INTERRUPTED = """
    import os, signal, threading, time
    from kernreg.common.forking import held_while_forking

    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have switched off
    first, second = threading.RLock(), threading.RLock()
    held_while_forking(first, second)
    held, done, interrupted = threading.Event(), threading.Event(), False

    def hold():
        with second:
            held.set()
            done.wait()

    def both_are_free():
        found = []
        def take():
            with first, second:
                found.append(True)
        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        thread.join(20)
        return bool(found)

    threading.Thread(target=hold).start()
    held.wait()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    threading.Timer(1.0, done.set).start()
    child = 0
    try:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if both_are_free() else 3)
        time.sleep(30)
    except KeyboardInterrupt:
        interrupted = True
    print(os.waitpid(child, 0)[1], both_are_free(), interrupted)
"""


def test_an_interrupt_while_a_fork_waits_leaves_no_lock_held_and_comes_afterwards():
    quiet = ["-W", "ignore:This process:DeprecationWarning"]  # of Python 3.12 about forks of what has threads
    done = subprocess.run(
        [sys.executable, *quiet, "-c", textwrap.dedent(INTERRUPTED)], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout.split(), done.stderr) == (["0", "True", "True"], "")


@pytest.mark.parametrize("make", [threading.Lock, threading.RLock])
def test_a_lock_that_another_thread_holds_is_open_in_a_child(make):
    lock, held, done = open_in_children(make()), threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if lock.acquire(timeout=10) else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not lock.acquire(blocking=False)  # here it is held as before
    done.set()
    thread.join()


def test_a_thread_that_forks_lets_go_of_its_own_lock_in_the_child():
    lock = open_in_children(threading.RLock())
    with lock:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                lock.release()
                os._exit(0)
            except BaseException:
                os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
