"""Plugins of one Python file: what is registered, whose it is, and what happens when something is wrong."""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import kernreg as kr
from kernreg.errors import (
    ModelNeedsPlugin,
    ModelVersionWarning,
    PluginBlocked,
    PluginExists,
    PluginIncompatible,
    PluginLoadError,
)
from kernreg.registry import get_registry, isolated

KERNEL = '''
from kernreg import kernel

@kernel(of="blocks", symmetric=True)
def file_warmth(X, Z, sigma=1.0):
    """1 / (1 + <x, z> sigma)."""
    return 1.0 / (1.0 + sigma * (X @ Z.T) ** 2)
'''

SEVERAL = (
    KERNEL
    + '''
import numpy as np
import kernreg as kr
from kernreg.ensemblers import Average  # imported, so not the file's
from kernreg.solvers import LSSVC

class FileMachine(LSSVC):
    """Least squares, by another name."""

class _Hidden(LSSVC):
    pass

@kr.register("ensembler", "file-median")
class Median(Average):
    """The mean, under a name of its own."""
'''
)


@pytest.fixture(autouse=True)
def registries():
    before = set(sys.modules)
    with isolated():
        yield
    for name in set(sys.modules) - before:
        if name.startswith("kernreg_file_"):
            del sys.modules[name]


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "mine.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


def test_what_a_file_defines_is_registered_as_the_files(write):
    path = write(SEVERAL)
    entries = kr.load_plugin(path)
    assert {(entry.kind, entry.name) for entry in entries} == {
        ("kernel", "file-warmth"),
        ("solver", "file-machine"),
        ("ensembler", "file-median"),
    }
    assert {(entry.origin, entry.file, entry.source) for entry in entries} == {("file", str(path), str(path))}
    assert all(entry.version.startswith("sha256:") for entry in entries)
    np.testing.assert_allclose(kr.make_kernel("file-warmth(sigma=2.0)")([[1.0, 0.0]], [[3.0, 5.0]]), [[1 / 19]])
    assert not [entry for entry in kr.available() if entry.name == "average" and entry.file]


def test_a_list_of_names_in_the_file_leaves_out_the_rest(write):
    text = SEVERAL.replace('@kr.register("ensembler", "file-median")', "")
    entries = kr.load_plugin(write(text + '\n__all__ = ["Median"]'))
    assert [(entry.kind, entry.name) for entry in entries] == [("ensembler", "median")]


def test_loading_again_does_nothing_until_the_file_is_edited(write):
    path = write(KERNEL)
    first = kr.load_plugin(path)
    family = get_registry("kernel").get("file-warmth")
    assert kr.load_plugin(path) == first
    assert get_registry("kernel").get("file-warmth") is family
    write(KERNEL.replace("1.0 / (1.0 +", "2.0 / (1.0 +").replace("file_warmth", "file_heat"))
    assert [entry.name for entry in kr.load_plugin(path)] == ["file-heat"]
    assert "file-warmth" not in get_registry("kernel")
    assert kr.make_kernel("file-heat")([[0.0]]).tolist() == [[2.0]]


def test_an_edit_that_fails_leaves_what_was_there(write):
    path = write(KERNEL)
    kr.load_plugin(path)
    write("raise ValueError('half typed')")
    with pytest.raises(PluginLoadError, match=r"mine\.py, line 1: ValueError: half typed"):
        kr.load_plugin(path)
    assert kr.make_kernel("file-warmth")([[0.0]]).tolist() == [[1.0]]
    pickle.dumps(kr.make_kernel("file-warmth"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_module", r"line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("def f(:\n  pass", "SyntaxError"),
        ("import sys; sys.exit(3)", r"it called sys\.exit\(3\)"),
        ("x = 1", "it defines no kernel"),
        ("__kernreg_api__ = 1.0\n" + KERNEL, "__kernreg_api__ = 1.0; write a string"),
        ("__all__ = 3\n" + KERNEL, "TypeError: argument of type 'int' is not iterable"),
        ("globals()[3] = 4\n" + KERNEL, "AttributeError: 'int' object has no attribute 'startswith'"),
        (KERNEL + "\ndel __name__", "AttributeError"),
        ("raise SystemExit(10**5000)", "it called sys.exit"),
        ("class Bare:\n    def fit(self, views): ...\n    def merge(self, views): ...", "'bare' is no ensembler"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(write, text, told):
    with pytest.raises(PluginLoadError, match=told) as caught:
        kr.load_plugin(write(text))
    assert "mine.py" in str(caught.value)
    assert not [entry for entry in kr.available() if entry.file]
    assert "kernreg_file_mine" not in sys.modules


def test_another_major_version_of_the_interface_is_refused(write):
    with pytest.raises(PluginIncompatible, match=r"written for plugin API 9\.0"):
        kr.load_plugin(write('__kernreg_api__ = "9.0"\n' + KERNEL))


@pytest.mark.parametrize("path", ["nowhere.py", "data.csv", ".", "a\0b.py", "x" * 300 + ".py", "loop.py", "pipe.py"])
def test_what_is_no_python_file_is_refused(path, tmp_path):
    (tmp_path / "loop.py").symlink_to("loop.py")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(PluginLoadError, match=r"cannot read the plugin file|is not a plugin file"):
        kr.load_plugin(tmp_path / path)


def test_a_file_of_a_user_whom_nobody_knows_is_refused():
    with pytest.raises(PluginLoadError, match="cannot read the plugin file ~nobody-of-that-name"):
        kr.load_plugin("~nobody-of-that-name/mine.py")


@pytest.mark.parametrize(
    "text",
    [
        "class Far:\n    def __getattribute__(self, name): raise RuntimeError('not connected')\nfar = Far()\n",
        "class Meta(type):\n    def __getattribute__(cls, name): raise RuntimeError\nclass Odd(metaclass=Meta): pass\n",
        "import sys\ndel sys.modules[__name__]\n",
    ],
)
def test_odd_neighbours_of_a_kernel_do_not_hinder_it(write, text):
    assert [entry.name for entry in kr.load_plugin(write(text + KERNEL))] == ["file-warmth"]
    assert "kernreg_file_mine" in sys.modules


def test_a_name_that_is_taken_is_an_error_and_nothing_of_the_file_stays(write):
    taken = KERNEL + KERNEL.replace("file_warmth", "rbf").replace("from kernreg", "from kernreg")
    with pytest.raises(PluginExists, match=r"mine\.py: there is a kernel named 'rbf' already, from kernreg"):
        kr.load_plugin(write(taken))
    assert "file-warmth" not in get_registry("kernel")
    with pytest.raises(PluginExists, match="named 'rbf' already"):
        kr.load_plugin(write(KERNEL + '\nimport kernreg\nkernreg.register("kernel", "rbf", file_warmth)'))


def test_two_files_cannot_have_one_name_of_a_kernel_or_of_a_file(write, tmp_path):
    kr.load_plugin(write(KERNEL))
    with pytest.raises(PluginExists, match=r"other\.py: there is a kernel named 'file-warmth' already, from .*mine"):
        kr.load_plugin(write(KERNEL, "other.py"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(PluginExists, match="a file of that name is loaded already"):
        kr.load_plugin(write(KERNEL.replace("warmth", "cold"), "folder/mine.py"))


@pytest.mark.parametrize("policy", ["none", "kernreg-graph"])
def test_a_file_is_not_executed_where_plugins_are_not_allowed(write, monkeypatch, tmp_path, policy):
    path = write(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n" + KERNEL)
    monkeypatch.setenv("KERNREG_PLUGINS", policy)
    with pytest.raises(PluginBlocked, match="set KERNREG_PLUGINS=all"):
        kr.load_plugin(path)
    assert not (tmp_path / "ran").exists()
    monkeypatch.delenv("KERNREG_PLUGINS")
    kr.load_plugin(path)
    monkeypatch.setenv("KERNREG_PLUGINS", policy)  # read each time it matters
    with pytest.raises(PluginBlocked, match=r"mine\.py is a file"):
        kr.make_kernel("file-warmth")


def test_a_saved_model_says_which_file_it_needs(write, tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 3))
    path = write(SEVERAL)
    kr.load_plugin(path)
    model = kr.make_solver("file-machine", kernel="file-warmth(sigma=0.5)").fit(X, X[:, 0] > 0)
    kr.save(model, tmp_path / "model.kern")
    with isolated():
        for kind in ("kernel", "solver", "ensembler"):
            get_registry(kind).withdraw_file(str(path))
        with pytest.raises(
            ModelNeedsPlugin, match=r"the file mine\.py, .*load_plugin\('mine\.py'\).*--plugin mine\.py"
        ):
            kr.load(tmp_path / "model.kern")
    loaded = kr.load(tmp_path / "model.kern")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    write(SEVERAL.replace("1.0 / (1.0", "2.0 / (1.0"))
    kr.load_plugin(path)
    with pytest.warns(ModelVersionWarning, match=r"another version of the file mine\.py"):
        kr.load(tmp_path / "model.kern")


def test_kernels_and_machines_of_a_file_travel_to_another_process(write):
    import cloudpickle

    kr.load_plugin(write(SEVERAL))
    X = np.random.default_rng(0).standard_normal((12, 3))
    model = kr.make_solver("file-machine", kernel="file-warmth(sigma=0.5)").fit(X, X[:, 0] > 0)
    code = "import sys, pickle; m, X = pickle.load(sys.stdin.buffer); print(repr(m.decision_function(X).tolist()))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=cloudpickle.dumps((model, X)), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().strip() == repr(model.decision_function(X).tolist())


def test_compiled_kernels_of_a_file_are_found_again_and_follow_edits(write, tmp_path):
    text = """
    from kernreg import kernel

    @kernel(of="rows", symmetric=True)
    def file_first(x, z):
        "x_1 z_1."
        return FACTOR * x[0] * z[0]

    FACTOR = 1.0
    """
    path = write(text)
    code = (
        "import sys, kernreg as kr; kr.load_plugin(sys.argv[1]); print(kr.make_kernel('file-first')([[2.0]])[0, 0]);"
        "from kernreg.engine.compiler import cache; print(cache.statistics())"
    )

    def run() -> tuple[float, dict[str, int]]:
        environment = {**os.environ, "KERNREG_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, done.stderr
        value, statistics = done.stdout.splitlines()
        return float(value), ast.literal_eval(statistics)

    value, first = run()
    assert (value, first["hits"]) == (4.0, 0)
    assert run() == (4.0, {"hits": first["misses"], "misses": 0})
    write(text.replace("FACTOR = 1.0", "FACTOR = 3.0"))  # in a value that the function refers to
    value, edited = run()
    assert (value, edited["misses"]) == (12.0, 1)
    assert not (path.parent / "__pycache__").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_while_another_thread_executes_a_file_can_load_it(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import threading\nfrom kernreg import kernel\nfor hook in getattr(threading, 'hooks', ()):\n    hook()\n"
        "@kernel(of='blocks', symmetric=True)\ndef slow(X, Z):\n    return X @ Z.T\n"
    )
    program = f"""
        import os, signal, threading
        import kernreg as kr
        from kernreg.common import forking
        forking._PATIENCE = 0.2  # of a fork, for an import that waits for it
        started, forked = threading.Event(), threading.Event()
        threading.hooks = [started.set, forked.wait]
        thread = threading.Thread(target=kr.load_plugin, args=({str(tmp_path / "slow.py")!r},))
        thread.start()
        started.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            threading.hooks = []
            os._exit([entry.name for entry in kr.load_plugin({str(tmp_path / "slow.py")!r})] != ["slow"])
        forked.set()
        thread.join()
        print(os.waitpid(child, 0)[1])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert done.stdout.split() == ["0"], done.stderr
