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


FIRST_USE = """
    import os, signal, sys, threading, warnings
    import kernreg as kr

    warnings.simplefilter("ignore", DeprecationWarning)
    entered, go = threading.Event(), threading.Event()

    class Slow:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "kernreg.factory":
                entered.set()
                go.wait()

    sys.meta_path.insert(0, Slow)
    thread = threading.Thread(target=lambda: kr.make_kernel("rbf"))
    thread.start()
    entered.wait()
    threading.Timer(0.5, go.set).start()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        go.set()
        os._exit(0 if repr(kr.make_kernel("linear")) == "linear()" else 3)
    go.set()
    thread.join()
    print(os.waitpid(child, 0)[1])
"""
LATE_LOCK = """
    import os, signal, threading, warnings
    from kernreg.common.forking import forks_wait_for, held_while_forking

    warnings.simplefilter("ignore", DeprecationWarning)
    late, entered, go, held, done = threading.RLock(), *(threading.Event() for _ in range(4))

    def load():
        entered.set()
        go.wait()
        held_while_forking(late)
        threading.Thread(target=hold).start()
        held.wait()

    def hold():
        with late:
            held.set()
            done.wait()

    threading.Thread(target=forks_wait_for, args=(load,)).start()
    entered.wait()
    threading.Timer(0.3, go.set).start()
    threading.Timer(1.0, done.set).start()
    child = os.fork()
    if child == 0:
        os._exit(0 if late.acquire(timeout=10) else 3)
    print(os.waitpid(child, 0)[1])
"""
INSIDE_A_FORK = """
    import os, signal, threading, time, warnings
    from kernreg.common.forking import held_while_forking

    warnings.simplefilter("ignore", DeprecationWarning)
    first, second = threading.RLock(), threading.RLock()
    held_while_forking(first, second)
    held, done, children = threading.Event(), threading.Event(), []

    def hold():
        with second:
            held.set()
            done.wait()

    def are_free():
        return all(lock.acquire(timeout=10) and (lock.release() or True) for lock in (first, second))

    def fork():
        child = os.fork()
        if child == 0:
            os._exit(0 if are_free() else 3)
        children.append(child)

    signal.signal(signal.SIGALRM, lambda *_: fork())
    threading.Thread(target=hold).start()
    held.wait()
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    threading.Timer(1.0, done.set).start()
    fork()
    free = []
    thread = threading.Thread(target=lambda: free.append(are_free()))
    thread.start()
    thread.join()
    print([os.waitpid(child, 0)[1] for child in children], free)
"""


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        pytest.param(FIRST_USE, "0", id="first use"),
        pytest.param(LATE_LOCK, "0", id="late lock"),
        pytest.param(INSIDE_A_FORK, "[0, 0] [True]", id="inside a fork"),
    ],
)
def test_forks_wait_for_first_uses_late_locks_and_one_another(program, printed):
    """An import that nothing of kernreg preceded, locks that an import brings, a handler that forks in a fork."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == (printed, "")
