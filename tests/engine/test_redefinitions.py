"""Functions that are defined again in one process, as in a notebook: never values from before, without a word."""

from __future__ import annotations

import textwrap
import types

import numpy as np
import pytest

from kernreg.errors import EngineError

X = np.array([[1.0], [3.0]])
CELLS = {
    "imports": "import numpy as np\nfrom numba import njit\nfrom kernreg import kernel",
    "loops": "from kernreg.engine import compiled_loop",
    "inner": "def inner(x): return x + 1.0",
    "helper": "def helper(x): return inner(x)",
    "term": "def term(x, z): return helper(abs(x - z))",
    "kernel": "@kernel(of=term, symmetric=True)\ndef mine(total): return total",
}


class Notebook:
    """Names, and the cells that define them; those of CELLS are run at once."""

    def __init__(self, **cells):
        self.names = {"__name__": "__main__"}
        self.cells = {**CELLS, **cells}
        self.run(*self.cells)

    def run(self, *names, edit=("", "")):
        for name in names:
            self.cells[name] = self.cells[name].replace(*edit)
            exec(self.cells[name], self.names)

    def value(self, X=X):
        return float(self.names["mine"]()(X)[0, 1])


def test_a_helper_that_is_defined_again_is_told_until_its_callers_are_too():
    notebook = Notebook()
    assert notebook.value() == 3.0
    kept = notebook.names["mine"]()
    notebook.run("inner", edit=("1.0", "100.0"))
    with pytest.raises(
        EngineError, match=r"the kernel 'mine' was compiled, and then 'inner' changed, which helper had"
    ):
        notebook.value()
    notebook.run("kernel")
    with pytest.raises(EngineError, match="'inner' changed"):
        notebook.value()
    notebook.run(
        "term", "kernel"
    )  # helper was compiled with the old one, and must not get into machine code of the new
    with pytest.raises(EngineError, match="'inner' changed"):
        notebook.value()
    notebook.run("helper", "kernel")  # but not term
    with pytest.raises(EngineError, match="changed"):
        notebook.value()
    notebook.run("helper", "term", "kernel")
    assert notebook.value() == 102.0
    with pytest.raises(EngineError, match="changed"):
        kept(X)


def test_the_same_again_is_no_change():
    notebook = Notebook()
    assert notebook.value() == 3.0
    for cell in ("inner", "helper", "term"):
        notebook.run(cell)
        assert notebook.value() == 3.0
    notebook.run("inner", edit=("def", "\n\n# moved\ndef"))
    assert notebook.value() == 3.0


@pytest.mark.parametrize(
    ("inner", "change"),
    [
        ("A = 1.0\ndef inner(x): return x + A", "A = 2.0"),
        ("A = np.array([1.0])\ndef inner(x): return x + A[0]", "A[0] = 2.0"),
        ("A = (np.array([1.0]), 3)\ndef inner(x): return x + A[0][0]", "A[0][0] = 2.0"),
        ("@njit\ndef more(x): return x + 1.0\n@njit\ndef inner(x): return more(x)", "@njit\ndef more(x): return x + 2"),
        ("@compiled_loop\ndef inner(x): return x + 1.0", "@compiled_loop\ndef inner(x): return x + 2.0"),
        ("import types\nm = types.ModuleType('m')\nm.a = 1.0\ndef inner(x): return x + m.a", "m.a = 2.0"),
        (
            "import types\nm = types.ModuleType('m')\nm.n = types.ModuleType('n')\nm.n.g = lambda x: x + 1.0\n"
            "def inner(x): return m.n.g(x)",
            "m.n.g = lambda x: x + 2.0",
        ),
        (
            "def make():\n    a = 1.0\n    def inner(x): return x + a\n"
            "    def change():\n        nonlocal a\n        a = 2.0\n    return inner, change\ninner, change = make()",
            "change()",
        ),
        ("def inner(x): return x + 1.0", "def other(x): return x + 2.0\ninner.__code__ = other.__code__"),  # autoreload
    ],
)
def test_whatever_changes_is_told_in_every_precision(inner, change):
    notebook = Notebook(inner=inner)
    assert notebook.value() == 3.0
    exec(change, notebook.names)
    for samples in (X, X.astype(np.float32)):
        with pytest.raises(EngineError, match="changed"):
            notebook.value(samples)


def test_names_that_only_look_alike_are_no_change():
    notebook = Notebook(inner="shape = 1.0\ndef inner(x): return x + 1.0 + 0 * np.ones(3).shape[0]")
    assert notebook.value() == 3.0
    notebook.names["shape"] = 2.0
    assert notebook.value() == 3.0


def test_modules_that_are_loaded_again(tmp_path, monkeypatch):
    from importlib import invalidate_caches, reload

    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "loaded_again.py").write_text("\n".join(CELLS.values()))
    invalidate_caches()
    module = __import__("loaded_again")
    old = module.mine()
    assert float(old(X)[0, 1]) == 3.0
    (tmp_path / "loaded_again.py").write_text("\n".join(CELLS.values()).replace("1.0", "100.0"))
    reload(module)
    assert float(module.mine()(X)[0, 1]) == 102.0
    with pytest.raises(EngineError, match="changed"):
        old(X)


def test_loops_do_not_mix_what_was_and_what_is(tmp_path):
    source = """
        from kernreg.engine import compiled_loop
        A = 1.0
        @compiled_loop
        def inner(x): return x + A
        @compiled_loop
        def outer(x): return inner(x)
    """
    names = types.ModuleType("loops_again").__dict__
    exec(textwrap.dedent(source), names)
    assert names["outer"](1.0) == 2.0
    names["A"] = 5.0
    with pytest.raises(EngineError, match="the loop 'outer' was compiled, and then 'A' changed, which inner had"):
        names["outer"](1)


def test_what_was_compiled_before_an_edit_is_not_kept_for_what_is_now(fresh_python, tmp_path):
    """A dispatcher keeps the old function: code that calls it must not get into the cache under the new one."""
    code = """
        import json, sys
        import numpy as np
        from kernreg import kernel
        from kernreg.errors import EngineError
        sys.path.insert(0, {folder!r})
        import poisoned
        X = np.array([[1.0], [3.0]])
        found = [float(poisoned.mine()(X)[0, 1])]
        if {edit}:
            old = poisoned.outer
            exec(open(poisoned.__file__).read().replace("1.0", "100.0"), poisoned.__dict__)
            poisoned.outer = old
            try:
                poisoned.mine()(X)
            except EngineError:
                found.append("told")
        print(json.dumps(found))
    """
    text = """
        from kernreg import kernel
        from numba import njit
        @njit
        def inner(x): return x + 1.0
        @njit
        def outer(x): return inner(x)
        def term(x, z): return outer(abs(x - z))
        @kernel(of=term, symmetric=True)
        def mine(total): return total
    """
    module = tmp_path / "poisoned.py"
    settings = {"KERNREG_CACHE_DIR": tmp_path / "cache", "PYTHONDONTWRITEBYTECODE": 1}
    module.write_text(textwrap.dedent(text))
    assert fresh_python(textwrap.dedent(code).format(folder=str(tmp_path), edit=True), **settings) == [3.0, "told"]
    module.write_text(textwrap.dedent(text).replace("1.0", "100.0"))
    assert fresh_python(textwrap.dedent(code).format(folder=str(tmp_path), edit=False), **settings) == [102.0]
