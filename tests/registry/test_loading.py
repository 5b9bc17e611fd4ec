from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from kernreg.errors import PluginConflict, PluginLoadError
from kernreg.registry import get_registry, refresh

JOIN = 20  # seconds after which a thread counts as stuck


#: Objects that refuse everything, by an exception that nobody expects.
ANGRY = """
class Refusal(BaseException): pass
class Angry:
    def __getattribute__(self, name): raise Refusal("no")
    def __repr__(self): raise Refusal("no")
"""


def in_threads(*functions):
    """Run at once, each in a thread; what each returned or raised."""
    results = [None] * len(functions)

    def run(index):
        try:
            results[index] = functions[index]()
        except BaseException as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN)
    assert not any(thread.is_alive() for thread in threads), "stuck"
    return results


def counting(site, body):
    """Source of a module that leaves a mark each time it is executed, and a function to count the marks."""
    marks = site.root / "marks"
    source = f"with open({str(marks)!r}, 'a') as marks: marks.write('x')\n{body}"
    return source, lambda: len(marks.read_text()) if marks.exists() else 0


def test_listing_imports_nothing_and_getting_imports_once(site):
    source, count = counting(site, "OBJECTS")
    site.install("lazy", kernels={"lazy": "lazy_module:kernel"}, modules={"lazy_module.py": source})
    kernels = get_registry("kernel")
    assert "lazy" in kernels
    assert "lazy" in kernels.names()
    assert len(kernels) >= 1
    assert repr(kernels).startswith("<Registry of kind 'kernel'")
    assert kernels.entry("lazy").status == "available"
    assert list(kernels) == list(kernels.names())
    assert "lazy_module" not in sys.modules
    assert kernels.get("lazy") is kernels.get("lazy")
    assert kernels.entry("lazy").status == "loaded"
    assert count() == 1


def test_plugin_that_raises_at_import_is_broken_alone(site):
    source, count = counting(site, "raise ValueError('no such device')")
    site.install("kernreg_Bad", "1.2", kernels={"bad": "bad_module:kernel"}, modules={"bad_module.py": source})
    site.install("good", kernels={"good": "good_module:kernel"}, modules={"good_module.py": "OBJECTS"})
    kernels = get_registry("kernel")
    messages = set()
    for _ in range(3):
        with pytest.raises(PluginLoadError) as caught:
            kernels.get("bad")
        messages.add(str(caught.value))
        assert isinstance(caught.value.__cause__, ValueError)
    (message,) = messages
    for part in ("kernreg-bad", "1.2", "bad_module:kernel", "ValueError: no such device", "refresh()"):
        assert part in message
    assert count() == 1
    entry = kernels.entry("bad")
    assert (entry.status, entry.reason) == ("broken", "ValueError: no such device")
    assert kernels.get("good").name == "good_module"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import sys; sys.exit(3)", "sys.exit(3)"),
        ("import sys; sys.exit('bye')", "sys.exit('bye')"),
        ("class Strange(BaseException): pass\nraise Strange('odd')", "Strange: odd"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("kernel = (", "SyntaxError"),
        ("pass", "AttributeError"),
        ("kernel = 3", "decorator"),
        ("class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", "E"),
        ("class E(Exception):\n    def __str__(self): raise SystemExit\nraise E", "E"),
        ("import sys; sys.exit(10**5000)", "sys.exit((an integer of more than 20 digits))"),
        (f"{ANGRY}import sys; sys.exit(Angry())", "it called sys.exit while it was being imported"),
        (f"{ANGRY}kernel = Angry()", "it cannot be looked at: Refusal: no"),
        (f"{ANGRY}import sys; sys.modules[__name__] = Angry()", "Refusal: no"),
        (f"{ANGRY}__kernreg_api__ = Angry()\nOBJECTS", "what it declares as __kernreg_api__ cannot be read"),
        ("__kernreg_api__ = '9' * 5000 + '.0'\nOBJECTS", "it declares __kernreg_api__ = '999"),
        ("raise ValueError('x' * 1_000_000)", "ValueError: xxx"),
    ],
)
def test_every_way_of_failing_is_a_load_error_with_its_reason(site, body, reason):
    site.install("fails", kernels={"fails": "failing_module:kernel"}, modules={"failing_module.py": body})
    with pytest.raises(PluginLoadError, match=r"fails 1\.0"):
        get_registry("kernel").get("fails")
    entry = get_registry("kernel").entry("fails")
    assert entry.status == "broken"
    assert reason in entry.reason
    assert len(entry.reason) < 1000


def test_sys_exit_in_a_plugin_does_not_end_the_process(site):
    site.install("quits", kernels={"quits": "quits_module:kernel"}, modules={"quits_module.py": "raise SystemExit(9)"})
    printed = site.run("""
        from kernreg.registry import get_registry
        try:
            get_registry("kernel").get("quits")
        except ImportError as error:
            print(type(error).__name__)
    """)
    assert printed.strip() == "PluginLoadError"


def test_missing_module_and_missing_attribute_of_a_class(site):
    modules = {"nested_module.py": "class Outer:\n    OBJECTS = 1\n"}
    kernels = {"absent": "no_such_plugin_module:kernel", "inner": "nested_module:Outer.absent"}
    site.install("absent", kernels=kernels, modules=modules)
    for name in kernels:
        with pytest.raises(PluginLoadError):
            get_registry("kernel").get(name)


def test_nested_attributes_are_resolved(site):
    modules = {"nested_module.py": "OBJECTS\nclass Outer:\n    inner = kernel\n"}
    site.install("nested", kernels={"inner": "nested_module:Outer.inner"}, modules=modules)
    assert get_registry("kernel").get("inner").name == "nested_module"


def test_failure_is_retried_after_refresh(site):
    site.install("mended", kernels={"m": "mended_module:kernel"}, modules={"mended_module.py": "1 / 0"})
    with pytest.raises(PluginLoadError, match="ZeroDivisionError"):
        get_registry("kernel").get("m")
    path = site.root / "mended_module.py"
    path.write_text("class Family:\n    __kernreg_kernel__ = True\n    def __call__(self): ...\nkernel = Family()\n")
    with pytest.raises(PluginLoadError, match="ZeroDivisionError"):
        get_registry("kernel").get("m")
    refresh()
    assert get_registry("kernel").entry("m").status == "available"
    assert callable(get_registry("kernel").get("m"))


def test_keyboard_interrupt_passes_and_is_not_remembered(site):
    source = f"""
        import pathlib
        mark = pathlib.Path({str(site.root / "mark")!r})
        if not mark.exists():
            mark.touch()
            raise KeyboardInterrupt
        OBJECTS
    """.replace("\n        ", "\n")
    site.install("interrupted", kernels={"i": "interrupted_module:kernel"}, modules={"interrupted_module.py": source})
    with pytest.raises(KeyboardInterrupt):
        get_registry("kernel").get("i")
    assert get_registry("kernel").entry("i").status == "available"
    assert get_registry("kernel").get("i").name == "interrupted_module"


def test_sixteen_threads_load_one_object_once(site):
    source, count = counting(site, "import time; time.sleep(0.05)\nOBJECTS")
    site.install("slow", kernels={"slow": "slow_module:kernel"}, modules={"slow_module.py": source})
    refresh()
    barrier = threading.Barrier(16)

    def load():
        barrier.wait()
        return get_registry("kernel").get("slow")

    results = in_threads(*[load] * 16)
    assert results[0].name == "slow_module"
    assert all(result is results[0] for result in results)
    assert count() == 1


def test_sixteen_threads_share_one_failure(site):
    source, count = counting(site, "import time; time.sleep(0.05)\nraise ValueError('once')")
    site.install("slow", kernels={"slow": "slow_module:kernel"}, modules={"slow_module.py": source})
    barrier = threading.Barrier(16)

    def load():
        barrier.wait()
        return get_registry("kernel").get("slow")

    results = in_threads(*[load] * 16)
    assert all(isinstance(result, PluginLoadError) for result in results)
    assert len(set(map(id, results))) == 16  # a shared exception would gather the tracebacks of all threads
    assert count() == 1


def test_threads_loading_different_plugins_at_once(site):
    for number in range(16):
        module = f"plugin_{number}_module"
        site.install(f"p{number}", kernels={f"k{number}": f"{module}:kernel"}, modules={f"{module}.py": "OBJECTS"})
    loads = [lambda n=n: get_registry("kernel").get(f"k{n}").name for n in range(16)]
    assert in_threads(*loads) == [f"plugin_{n}_module" for n in range(16)]


def test_a_plugin_may_ask_for_another_while_it_is_imported(site):
    outer = "from kernreg.registry import get_registry\ninner = get_registry('kernel').get('inner')\nOBJECTS"
    modules = {"outer_module.py": outer, "inner_module.py": "OBJECTS"}
    site.install("nested", kernels={"outer": "outer_module:kernel", "inner": "inner_module:kernel"}, modules=modules)
    get_registry("kernel").get("outer")
    assert sys.modules["outer_module"].inner is get_registry("kernel").get("inner")


def test_a_cycle_of_plugins_is_an_error_that_shows_it(site):
    template = "from kernreg.registry import get_registry\nget_registry('kernel').get('{}')\nOBJECTS"
    modules = {"one_module.py": template.format("two"), "two_module.py": template.format("one")}
    site.install("cycle", kernels={"one": "one_module:kernel", "two": "two_module:kernel"}, modules=modules)
    with pytest.raises(PluginLoadError, match=r"'one' -> 'two' -> 'one'"):
        get_registry("kernel").get("one")
    assert get_registry("kernel").entry("one").status == "broken"


def test_a_module_that_asks_for_itself_while_a_user_imports_it_is_not_marked_broken(site):
    source = """
from kernreg.registry import get_registry
try:
    get_registry("kernel").get("early")
except ImportError as error:
    early = error
OBJECTS
"""
    site.install("early", kernels={"early": "early_module:kernel"}, modules={"early_module.py": source})
    module = __import__("early_module")
    assert isinstance(module.early, PluginLoadError)
    assert get_registry("kernel").get("early") is module.kernel


def test_two_threads_loading_plugins_that_ask_for_each_other_do_not_deadlock(site):
    template = """
import sys
from kernreg.registry import get_registry
sys.modules["meeting_point"].barrier.wait(5)
try:
    other = get_registry("kernel").get("{}")
except ImportError as error:
    other = error
OBJECTS
"""
    modules = {"a_module.py": template.format("b"), "b_module.py": template.format("a")}
    site.install("mutual", kernels={"a": "a_module:kernel", "b": "b_module:kernel"}, modules=modules)
    meeting = type(sys)("meeting_point")
    meeting.barrier = threading.Barrier(2)
    sys.modules["meeting_point"] = meeting
    try:
        kernels = get_registry("kernel")
        results = in_threads(lambda: kernels.get("a"), lambda: kernels.get("b"))
    finally:
        del sys.modules["meeting_point"]
    assert [kernels.get(name).name for name in "ab"] == ["a_module", "b_module"]
    assert results == [kernels.get("a"), kernels.get("b")]


def test_import_lock_and_registry_do_not_deadlock(site):
    # One thread loads the plugin, whose module imports `shared`; another imports `shared`, which asks for it.
    loader = """
import sys
sys.modules["meeting_point"].barrier.wait(5)
import shared_module
OBJECTS
"""
    shared = """
import sys
from kernreg.registry import get_registry
sys.modules["meeting_point"].barrier.wait(5)
try:
    get_registry("kernel").get("loader")
except ImportError:
    pass
"""
    modules = {"loader_module.py": loader, "shared_module.py": shared}
    site.install("mixed", kernels={"loader": "loader_module:kernel"}, modules=modules)
    meeting = type(sys)("meeting_point")
    meeting.barrier = threading.Barrier(2)
    sys.modules["meeting_point"] = meeting
    try:
        kernels = get_registry("kernel")
        results = in_threads(lambda: kernels.get("loader"), lambda: __import__("shared_module"))
    finally:
        del sys.modules["meeting_point"]
    # Python breaks the circle of import locks in whichever thread closed it; nothing of that is remembered.
    assert kernels.get("loader").name == "loader_module"
    assert results[1].__name__ == "shared_module"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_a_fork_while_another_thread_holds_the_lock_leaves_the_child_able_to_load(site):
    site.install("forked", kernels={"f": "forked_module:kernel"}, modules={"forked_module.py": "OBJECTS"})
    printed = site.run("""
        import os, signal, sys, threading
        from kernreg.registry import get_registry
        from kernreg.registry.locks import shared
        held, done = threading.Event(), threading.Event()
        def hold():
            with shared.changed:
                held.set()
                done.wait()
        threading.Thread(target=hold, daemon=True).start()
        held.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(10)  # a deadlock then kills the child
            os._exit(get_registry("kernel").get("f").name != "forked_module")
        done.set()
        print(os.waitpid(child, 0)[1])
    """)
    assert printed.strip() == "0"


def test_conflict_in_one_name_does_not_hinder_loading_another(site):
    site.install(
        "one",
        kernels={"same": "m1:kernel", "good": "good_module:kernel"},
        modules={"good_module.py": "OBJECTS"},
    )
    site.install("two", kernels={"same": "m2:kernel"})
    with pytest.raises(PluginConflict):
        get_registry("kernel").get("same")
    assert get_registry("kernel").get("good").name == "good_module"


def test_threads_that_load_modules_of_one_package_do_not_wait_for_each_other():
    """The package imports both modules; in a process that has imported neither."""
    program = """
import threading, sys
import kernreg
sys.setswitchinterval(1e-5)
barrier, failures = threading.Barrier(6), []
def load(name):
    barrier.wait()
    try:
        kernreg.make_solver(name)
    except BaseException as failure:
        failures.append(failure)
names = ["ls-svm", "kpca", "ksvd", "scg-ldk", "cells", "ask-ls"]
threads = [threading.Thread(target=load, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failures)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[]"
