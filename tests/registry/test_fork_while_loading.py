"""Forks while another thread imports a plugin: Python's locks of modules stay locked in a child."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

MODULE = """
import builtins, concurrent.futures, logging
builtins.entered.set()
builtins.go.wait()
logging.getLogger("slow").setLevel("INFO")  # both take locks of their own, which forks hold, too
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    pool.submit(int).result()
from kernreg import kernel

@kernel(of="sqeuclidean")
def slow(d2):
    return d2
"""
FILE = """
import slow_module
from kernreg import kernel

@kernel(of="sqeuclidean")
def quick(d2):
    return d2
"""
PROGRAM = """
    import builtins, os, signal, sys, threading, time, warnings
    import kernreg as kr
    from kernreg.common import forking
    from kernreg.registry import get_registry

    warnings.simplefilter("ignore", DeprecationWarning)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    forking._PATIENCE = {patience}
    entered, go, forked = [threading.Event() for _ in range(3)]
    builtins.entered, builtins.go = entered, go
    late = dict(__name__="kernreg.late")
    exec("def load(): import slow_module", late)  # a function of kernreg that imports something

    def load():
        {load}

    def let_go():
        while not forked.is_set() and not waits(threading.main_thread().ident):
            time.sleep(0.01)
        {meanwhile}

    def waits(thread):
        frame = sys._current_frames().get(thread)
        while frame is not None and getattr(forking, "_hold", waits).__code__ is not frame.f_code:
            frame = frame.f_back
        return frame is not None

    other = threading.Thread(target=load)
    other.start()
    entered.wait()
    threading.Thread(target=let_go, daemon=True).start()
    child, interrupted = 0, False
    try:
        child = os.fork()
        if child == 0:
            signal.alarm(40)  # one that hangs is ended, and counted
            {child}
            os._exit(0)
        {afterwards}
    except KeyboardInterrupt:
        interrupted = True
    forked.set()
    go.set()
    other.join()
    print(os.waitpid(child, 0)[1], interrupted)
"""
LOADS = {
    "plugin": "get_registry('kernel').get('slow')",
    "file": "kr.load_plugin({file!r})",
    "import": "late['load']()",
}


def found(site, load, **named):
    """Return how the child ended, and whether the thread that forked was interrupted."""
    modules = {"slow_module.py": MODULE, "quick.py": FILE}
    site.install("slow", kernels={"slow": "slow_module:slow"}, modules=modules)
    parts = {"meanwhile": "go.set()", "child": "load()", "afterwards": "pass", "patience": "float('inf')", **named}
    load = LOADS[load].format(file=str(site.root / "quick.py"))
    return site.run(PROGRAM.format(load=load, **parts)).split()


@pytest.mark.parametrize("load", LOADS)
def test_a_child_forked_while_a_thread_imports_for_kernreg_can_import_it_too(site, load):
    assert found(site, load) == ["0", "False"]


def test_an_interrupt_while_a_fork_waits_for_an_import_comes_afterwards(site):
    meanwhile = "os.kill(os.getpid(), signal.SIGINT); time.sleep(0.2); go.set()"
    assert found(site, "plugin", meanwhile=meanwhile, afterwards="time.sleep(30)") == ["0", "True"]


def test_a_fork_does_not_wait_for_ever_for_an_import_that_waits_for_it(site):
    """The import goes on when the fork is done: what comes of the child is then Python's."""
    assert found(site, "plugin", meanwhile="pass", child="pass", patience=0.2) == ["0", "False"]


def test_a_thread_in_the_middle_of_an_import_forks_at_once(site):
    """The other thread waits for what this one imports."""
    site.install(
        "slow",
        kernels={"slow": "slow_module:slow", "forking": "forking_module:slow"},
        modules={
            "slow_module.py": MODULE.replace("builtins.go.wait()", "import forking_module"),
            "forking_module.py": """
import builtins, os
from kernreg import kernel
builtins.other.start()
builtins.entered.wait()
child = os.fork()
if child == 0:
    os._exit(0)
print(os.waitpid(child, 0)[1])

@kernel(of="sqeuclidean")
def slow(d2):
    return d2
""",
        },
    )
    printed = site.run("""
        import builtins, threading, warnings
        from kernreg.common import forking
        from kernreg.registry import get_registry
        warnings.simplefilter("ignore", DeprecationWarning)
        forking._PATIENCE = float("inf")
        builtins.entered = threading.Event()
        builtins.other = threading.Thread(target=get_registry("kernel").get, args=("slow",), daemon=True)
        get_registry("kernel").get("forking")
        builtins.other.join()
        print("done")
    """)
    assert printed.split() == ["0", "done"]
