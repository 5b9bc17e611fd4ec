"""Threads that compile at once, and processes that fork meanwhile: the children compile and compute."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from kernreg.engine.compiler import numba_locks
from kernreg.engine.compiler.compile import _known_to_numba
from kernreg.engine.compiler.fingerprint import fingerprint

CODE = """
    import os, signal, threading, time
    import numpy as np
    from kernreg.engine import memory

    SOURCE = '''
    from kernreg import kernel
    @kernel(of="sqeuclidean", symmetric=True)
    def made(d2, sigma=1.0):
        return d2 / sigma + {number}.0
    '''

    def value(number):
        names = {{}}
        exec("\\n".join(line.strip() if "return" not in line else "    " + line.strip()
                       for line in SOURCE.format(number=number).splitlines()), names)
        return names["made"]()(np.eye(3))[0, 0]

    assert value(7) == 7.0
    stop, compiled = threading.Event(), []

    def work():
        while not stop.is_set():
            compiled.append(value(len(compiled)))

    thread = threading.Thread(target=work)
    thread.start()
    for attempt in range(4):
        seen = len(compiled)
        while len(compiled) == seen:  # somewhere inside of the next compilation
            time.sleep(0.01)
        time.sleep(0.02 * attempt)
        child = os.fork()
        if child == 0:
            signal.alarm(90)  # a child that hangs is ended, and counted
            large = memory.empty((1024, 1024), float)
            os._exit(0 if value(10**6 + attempt) == 10**6 + attempt else 3)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status == 0, f"child {{attempt}} ended with {{status}}"
    stop.set()
    thread.join()
    assert compiled == [float(number) for number in range(len(compiled))]
    print("all children computed")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_while_a_thread_compiles_does_not_hang(tmp_path):
    environment = {**os.environ, "KERNREG_CACHE_DIR": str(tmp_path)}
    code = textwrap.dedent(CODE).replace("{{", "{").replace("}}", "}")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout.strip()) == (0, "all children computed"), done.stderr[-2000:]


def test_numbas_contexts_are_brought_up_to_date_by_one_thread_at_a_time():
    """They take what is new from generators, which two threads must not run at once."""

    def plain(x):
        return abs(x)

    for work in (lambda: fingerprint(plain), lambda: _known_to_numba(plain)):
        done = threading.Event()

        def call(work=work, done=done):
            work()
            done.set()

        thread = threading.Thread(target=call)
        with global_compiler_lock:
            thread.start()
            assert not done.wait(0.3)
        thread.join(60)
        assert done.is_set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_finds_the_locks_of_numbas_properties_open():
    held, done = threading.Event(), threading.Event()
    locks = list(numba_locks._locks())
    assert len(locks) >= 2  # of the two contexts, in every version of Python

    def hold():
        for lock in locks:
            lock.acquire()
        held.set()
        done.wait()
        for lock in locks:
            lock.release()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if njit(lambda x: x + 1)(2) == 3 else 3)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
