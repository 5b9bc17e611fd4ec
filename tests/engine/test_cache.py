"""The disk cache, seen from fresh processes: nothing is compiled twice, and nothing stale is ever used."""

from __future__ import annotations

import os
import textwrap

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

from kernreg.engine.compiler.fingerprint import fingerprint

PLUGIN = """
    from kernreg import kernel
    from kernreg.jit import exp
    from my_helpers import halved
    import my_package.inner

    FACTOR = 1.0

    def scaled(d2, sigma):
        return halved(d2) * FACTOR / sigma

    def weighted(x, z):
        return my_package.inner.weight(x) * abs(x - z)

    @kernel(of="sqeuclidean", symmetric=True)
    def mine(d2, sigma=1.0):
        return exp(-scaled(d2, sigma))

    @kernel(of=weighted)
    def other(total):
        return total
"""
HELPERS = """
    def halved(value):
        return value / 2.0
"""
INNER = """
    from numba import njit

    @njit
    def weight(x):
        return x + 1.0
"""
RUN = """
    import json
    import numpy as np
    import kernreg as kr
    from kernreg.engine.compiler import cache
    import my_plugin
    X = np.array([[0.0], [1.0], [3.0]])
    values = [my_plugin.mine(sigma=2.0)(X).tolist(), my_plugin.other()(X).tolist()]
    values.append(kr.make_kernel("rbf(sigma=2.0)")(X).tolist())
    values.append(kr.make_kernel("sne(sigma=2.0)")(X).tolist())
    print(json.dumps({"values": values, **cache.statistics()}))
"""
X = np.array([[0.0], [1.0], [3.0]])
D2 = (X - X.T) ** 2


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with a plugin, its helpers and a cache of their own; write(name, text) edits one."""
    folder = tmp_path_factory.mktemp("project")

    def write(name, text):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))

    write("my_plugin.py", PLUGIN)
    write("my_helpers.py", HELPERS)
    write("my_package/__init__.py", "")
    write("my_package/inner.py", INNER)
    return folder, write


def test_second_process_compiles_nothing_edits_are_seen_at_any_depth_and_damage_is_repaired(
    fresh_python, project, tmp_path
):
    folder, write = project

    def run():
        # Editing within one second and to the same length would fool the time stamps of .pyc files.
        return fresh_python(RUN, cwd=folder, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE=1, KERNREG_CACHE_DIR=tmp_path)

    first = run()
    assert first["misses"] > 0
    np.testing.assert_allclose(first["values"][0], np.exp(-D2 / 4), rtol=1e-14)
    np.testing.assert_allclose(first["values"][1], (X + 1) * abs(X - X.T), rtol=1e-14)

    second = run()
    assert second["misses"] == 0
    assert second["hits"] > 0
    assert second["values"] == first["values"]

    write("my_helpers.py", HELPERS.replace("2.0", "4.0"))  # a function of another module
    write("my_plugin.py", PLUGIN.replace("FACTOR = 1.0", "FACTOR = 3.0"))  # a number of the module
    write("my_package/inner.py", INNER.replace("x + 1.0", "x + 2.0"))  # a jitted function two attributes away
    edited = run()
    assert edited["misses"] > 0
    np.testing.assert_allclose(edited["values"][0], np.exp(-3 * D2 / 8), rtol=1e-14)
    np.testing.assert_allclose(edited["values"][1], (X + 2) * abs(X - X.T), rtol=1e-14)
    assert edited["values"][2:] == first["values"][2:]

    again = run()
    assert again["misses"] == 0
    assert again["values"] == edited["values"]

    # A process that died while writing: what cannot be read is compiled anew.
    damaged = max(tmp_path.rglob("*.code"), key=lambda file: file.stat().st_mtime)
    damaged.write_bytes(damaged.read_bytes()[:50])
    repaired = run()
    assert repaired["misses"] > 0
    assert repaired["values"] == edited["values"]


def test_machine_code_of_one_cpu_is_not_used_on_another(fresh_python, tmp_path):
    code = """
        import json
        import numpy as np
        import kernreg as kr
        from kernreg.engine.compiler import cache
        kr.make_kernel("rbf(sigma=2.0)")(np.eye(3))
        print(json.dumps(cache.statistics()))
    """

    def run(**cpu):
        return fresh_python(code, KERNREG_CACHE_DIR=tmp_path, **cpu)

    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    own = {"NUMBA_CPU_NAME": get_host_cpu_name(), "NUMBA_CPU_FEATURES": get_host_cpu_features().flatten()}
    assert run(**generic)["misses"] > 0
    other = run(**own)
    assert (other["hits"], other["misses"] > 0) == (0, True)
    again = run(**generic)
    assert (again["hits"] > 0, again["misses"]) == (True, 0)


def test_a_script_run_twice_compiles_once(fresh_python, tmp_path):
    script = tmp_path / "script.py"
    text = """
        import json
        import numpy as np
        from kernreg import kernel
        from kernreg.engine.compiler import cache
        from kernreg.jit import exp

        def steepness():
            return 2.0

        @kernel(of="l1", symmetric=True)
        def mine(l1, sigma=1.0):
            return exp(-l1 * steepness() / sigma)

        if __name__ == "__main__":
            import pickle
            X = np.array([[0.0], [1.0], [3.0]])
            k = pickle.loads(pickle.dumps(mine(sigma=4.0)))
            print(json.dumps({"K": k(X).tolist(), "same": k == mine(sigma=4.0), **cache.statistics()}))
    """
    script.write_text(textwrap.dedent(text))
    first, second = (fresh_python(script, KERNREG_CACHE_DIR=tmp_path / "cache") for _ in range(2))
    np.testing.assert_allclose(first["K"], np.exp(-abs(X - X.T) / 2), rtol=1e-14)
    assert first["same"]
    assert first["misses"] > 0
    assert (second["misses"], second["hits"] > 0) == (0, True)
    assert second["K"] == first["K"]


# Called from several places and too long to be inlined by LLVM: it keeps a name in machine code.
LONG = "".join(f"    for i in range(n): s += math.sin(x * {k} + i) * math.cos(s - {k})\n" for k in range(60))
TWICE = f"""
import math
from kernreg import kernel
from kernreg.engine import compiled_loop
from numba import njit

@njit
def long(x, n):
    s = 0.0
{LONG}    return FACTOR * (s - s) + FACTOR * x

@compiled_loop
def loop(x):
    return long(x, 3) + long(2 * x, 2) + long(3 * x, 4)

@kernel(of="rows", symmetric=True)
def mine(x, z):
    return long(x[0] * z[0], 2) + long(2 * x[0] * z[0], 3) + long(3 * x[0] * z[0], 3)
"""
RUN_TWICE = """
    import importlib
    import json
    import sys
    import numpy as np
    found = []
    for folder in {folders}:
        sys.path.insert(0, folder)
        sys.modules.pop("twice", None)
        importlib.invalidate_caches()
        import twice
        found += [float(twice.loop(2.0)), float(twice.mine()(np.array([[2.0]]))[0, 0])]
        sys.path.pop(0)
    print(json.dumps(found))
"""
RECURSIVE = """
    import json
    from kernreg.engine import compiled_loop
    from kernreg.engine.compiler import cache
    from numba import njit

    @njit(fastmath={"contract"}, error_model="numpy")
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    @compiled_loop
    def loop(x):
        return power(x, 3)

    @compiled_loop
    def even(n):
        return True if n == 0 else odd(n - 1)

    @compiled_loop
    def odd(n):
        return False if n == 0 else even(n - 1)

    print(json.dumps([loop(2.0), even(10), odd(10)]))
"""


def test_functions_that_call_themselves_work_in_the_next_process(fresh_python, tmp_path):
    """Numba cannot read their code again, and does not say so: it would crash."""
    (tmp_path / "recursive.py").write_text(textwrap.dedent(RECURSIVE))
    for _ in range(2):
        assert fresh_python(tmp_path / "recursive.py", KERNREG_CACHE_DIR=tmp_path / "cache") == [8.0, True, False]


def test_modules_of_one_name_that_other_processes_compiled_are_not_mixed(fresh_python, tmp_path):
    """Two versions of a module in one process: both call their own function, not that of the first of this name."""
    for folder, factor in (("old", "1.0"), ("new", "5.0")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "twice.py").write_text(TWICE.replace("FACTOR", factor))

    def run(*names):
        code = textwrap.dedent(RUN_TWICE).format(folders=[str(tmp_path / name) for name in names])
        return fresh_python(code, KERNREG_CACHE_DIR=tmp_path / "cache", PYTHONDONTWRITEBYTECODE=1)

    old, new = [12.0, 24.0], [60.0, 120.0]
    assert run("old") == old
    assert run("new") == new
    assert run("old", "new") == old + new
    assert run("new", "old") == new + old


def test_forked_children_name_their_functions_otherwise_than_their_parent():
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    from numba.core.bytecode import FunctionIdentity

    import kernreg.engine.compiler.compile  # noqa: F401  which numbers them

    def next_number():
        return next(FunctionIdentity._unique_ids)

    reading, writing = os.pipe()
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os.write(writing, b"%d " % next_number())
            os._exit(0)
        os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as file:
        numbers = {*map(int, file.read().split()), next_number()}
    assert len({number >> 20 for number in numbers}) == 3


# fingerprints --------------------------------------------------------------------------------------------------


def variants(source, *edits):
    """The function f of the source, and of the source after each edit."""
    made = []
    for edit in (None, *edits):
        names = {"__name__": "made_here"}
        exec(textwrap.dedent(source if edit is None else source.replace(*edit)), names)
        made.append(names["f"])
    return made


@pytest.mark.parametrize(
    ("source", "edit"),
    [
        ("def f(x): return x + 1.0", ("1.0", "2.0")),
        ("def f(x): return x + 1.0", ("+", "-")),
        ("def f(x, a=1.0): return x + a", ("1.0", "2.0")),
        ("def f(x, *, a=1.0): return x + a", ("1.0", "2.0")),
        ("A = 1.0\ndef f(x): return x + A", ("1.0", "2.0")),
        ("A = (1.0, 2)\ndef f(x): return x + A[0]", ("1.0", "2.0")),
        ("import numpy as np\nA = np.array([1.0])\ndef f(x): return x + A[0]", ("[1.0]", "[2.0]")),
        ("def g(x): return x\ndef f(x): return g(x)", ("return x\n", "return -x\n")),
        ("def h(x): return x\ndef g(x): return h(x)\ndef f(x): return g(x)", ("return x\n", "return -x\n")),
        ("def make(a):\n    def f(x): return x + a\n    return f\nf = make(1.0)", ("1.0", "2.0")),
        ("def f(x):\n    g = lambda y: y + 1.0\n    return g(x)", ("1.0", "2.0")),
        ("import math\ndef f(x): return math.sin(x)", ("sin", "cos")),
        ("from math import sin as s\ndef f(x): return s(x)", ("import sin", "import cos")),
        ("from kernreg.jit import exp as e\ndef f(x): return e(x)", ("import exp", "import log")),
        ("def f(x): return 1 if x in (1, 2) else 0", ("(1, 2)", "(1, 3)")),
        ("def f(x): return 1 if x in {1, 2} else 0", ("{1, 2}", "{1, 3}")),
        ("import numpy as np\nD = np.float32\ndef f(x): return D(x)", ("float32", "float64")),
        ("from numba import njit\n@njit\ndef g(x): return x + 1.0\ndef f(x): return g(x)", ("1.0", "2.0")),
        ("from numba import vectorize\n@vectorize\ndef g(x): return x + 1.0\ndef f(x): return g(x)", ("1.0", "2.0")),
        ("from numba import cfunc\n@cfunc('f8(f8)')\ndef g(x): return x + 1.0\ndef f(x): return g(x)", ("1.0", "2.0")),
        ("import enum\nclass E(enum.IntEnum):\n    A = 1\ndef f(x): return x + E.A", ("A = 1", "A = 2")),
        ("class C:\n    A = 1.0\ndef f(x): return x + C.A", ("1.0", "2.0")),
        ("def g(x): return x + 1.0\nT = (g,)\ndef f(x): return T[0](x)", ("1.0", "2.0")),
        ("def g(x): return x + 1.0\ndef f(x, h=g): return h(x)", ("1.0", "2.0")),
        (
            "import types\nm = types.ModuleType('m')\nm.a = 1.0\n"
            "def make(module):\n    def f(x): return x + module.a\n    return f\nf = make(m)",
            ("1.0", "2.0"),
        ),
        (
            "import types\nm = types.ModuleType('m')\nm.inner = types.ModuleType('inner')\n"
            "m.inner.g = lambda x: x + 1.0\n"
            "def make(module):\n    def f(x): return module.inner.g(x)\n    return f\nf = make(m)",
            ("1.0", "2.0"),
        ),
        (
            "from numba.extending import overload\ndef g(x): raise NotImplementedError\n"
            "@overload(g)\ndef compiled_g(x):\n    def body(x): return x + 1.0\n    return body\n"
            "def f(x): return g(x)",
            ("1.0", "2.0"),
        ),
        (
            "from numba.extending import overload\nA = 1.0\ndef g(x): raise NotImplementedError\n"
            "def helper(x): return x + A\n"
            "@overload(g)\ndef compiled_g(x): return lambda x: helper(x)\n"
            "def f(x): return g(x)",
            ("1.0", "2.0"),
        ),
        (  # what is met again, by another name
            "def a(x): return x\ndef b(x): return 2.0 * x\nz = a\ndef f(x): return a(x) + b(x) + z(x)",
            ("z = a", "z = b"),
        ),
        ("A = (1.0,)\nB = A\ndef f(x): return x + len(A) + len(B)", ("B = A", "B = ()")),
        (
            "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\nW = E.A\ndef f(x): return W == E.A",
            ("W = E.A", "W = E.B"),
        ),
        ("A = ((1.0, 2.0), 3.0)\ndef f(x): return x + len(A[0])", ("(1.0, 2.0), 3.0", "(1.0,), 2.0, 3.0")),
        (
            "from collections import namedtuple\nP = namedtuple('P', 'a b')(1.0, 2.0)\ndef f(x): return x + P.a",
            ("'a b'", "'b a'"),
        ),
        ("import numba\nT = numba.float32\ndef f(x): return T(x)", ("float32", "float64")),
        ("import numpy as np\nD = np.dtype([('a', 'f4')])\ndef f(x): return np.ones(1, D)", ("'f4'", "'i4'")),
        ("from numba import njit\n@njit(fastmath=True)\ndef g(x): return x\ndef f(x): return g(x)", ("True", "False")),
        ("from numba import njit\n@njit('f8(f8)')\ndef g(x): return x\ndef f(x): return g(x)", ("f8(f8)", "f4(f4)")),
        (
            "from numba import vectorize\n@vectorize(['f8(f8)'])\ndef g(x): return x / 3\ndef f(x): return g(x)",
            ("f8(f8)", "f4(f4)"),
        ),
        (
            "from numba.extending import intrinsic\nfrom numba import types\n@intrinsic\ndef g(typing, x):\n"
            "    def code(context, builder, signature, args):\n"
            "        return context.get_constant(types.float64, 1.0)\n"
            "    return types.float64(x), code\ndef f(x): return g(x)",
            ("1.0", "2.0"),
        ),
    ],
)
def test_fingerprints_change_with_what_a_function_computes(source, edit):
    check_edit(source, edit)


@pytest.mark.parametrize(
    ("setting", "expression", "edit"),
    [
        ("class B:\n    A = 1.0\nclass C(B): pass", "C.A", ("1.0", "2.0")),
        ("class C:\n    @staticmethod\n    def m(): return 1.0", "C.m()", ("1.0", "2.0")),
        ("class C:\n    @classmethod\n    def m(cls): return 1.0", "C.m()", ("1.0", "2.0")),
        ("class C:\n    m = property(lambda self: 1.0)\nc = C()", "c.m", ("1.0", "2.0")),
        ("class C:\n    def __float__(self): return 1.0\nc = C()", "float(c)", ("1.0", "2.0")),
        ("class C:\n    def __init__(self, a): self.a = a\nc = C(1.0)", "c.a", ("1.0", "2.0")),
        ("class C:\n    __slots__ = ('a',)\nc = C()\nc.a = 1.0", "c.a", ("1.0", "2.0")),
        ("import dataclasses\nc = dataclasses.make_dataclass('C', ['a'])(1.0)", "c.a", ("1.0", "2.0")),
        ("class C:\n    def __init__(self): self.a, self.u = 1.0, lambda: 0\nc = C()", "c.a", ("1.0", "2.0")),
        ("import types\nc = types.SimpleNamespace(a=1.0)", "c.a", ("1.0", "2.0")),
        ("from functools import partial\nc = partial(max, 1.0)", "c(0.0)", ("1.0", "2.0")),
        ("from functools import partial\nc = partial(lambda x: x + 1.0, 5)", "c()", ("1.0", "2.0")),
        ("from functools import lru_cache\n@lru_cache\ndef c(): return 1.0", "c()", ("1.0", "2.0")),
        ("class C:\n    def m(self): return 1.0\nc = C().m", "c()", ("1.0", "2.0")),
        ("c = {'a': lambda: 1.0}", "c['a']()", ("1.0", "2.0")),
        ("c = {(1.0, 3): 1}", "next(iter(c))[0]", ("1.0", "2.0")),
        ("c = [1.0, 3.0].index", "c(3.0)", ("1.0", "2.0")),
        ("from collections import deque\nc = deque([1.0])", "c[0]", ("1.0", "2.0")),
        ("from fractions import Fraction\nc = Fraction(1, 7)", "float(c)", ("(1,", "(2,")),
        ("from decimal import Decimal\nc = Decimal('1.0')", "float(c)", ("1.0", "2.0")),
        ("import numpy as np\nc = np.random.RandomState(1)", "c.rand()", ("(1)", "(2)")),
        (
            "import numpy as np\nfrom scipy.interpolate import CubicSpline\nc = CubicSpline([0, 1, 2], [1.0, 5, 7])",
            "float(c(0.1))",
            ("1.0", "2.0"),
        ),
    ],
)
def test_fingerprints_follow_objects_that_code_looks_at_while_numba_compiles(setting, expression, edit):
    source = (
        f"{setting}\nfrom numba.extending import overload\ndef g(x): raise NotImplementedError\n@overload(g)\n"
        f"def compiled_g(x):\n    a = {expression}\n    return lambda x: x + a\ndef f(x): return g(x)"
    )
    check_edit(source, edit)


@pytest.mark.parametrize(
    ("source", "edit"),
    [
        (
            "from numba.extending import overload\ndef g(x): raise NotImplementedError\n"
            "@overload(g, jit_options={'fastmath': True})\ndef compiled_g(x): return lambda x: x\n"
            "def f(x): return g(x)",
            ("True", "False"),
        ),
        (
            "from numba.extending import register_jitable\n@register_jitable(fastmath=True)\ndef g(x): return x / 3\n"
            "def f(x): return g(x)",
            ("True", "False"),
        ),
        ("from numba import stencil\n@stencil\ndef g(a): return 1.0 * a[0]\ndef f(x): return g(x)", ("1.0", "2.0")),
        (
            "from numba import stencil\n@stencil(cval=1.0)\ndef g(a): return a[-1]\ndef f(x): return g(x)",
            ("1.0", "2.0"),
        ),
    ],
)
def test_fingerprints_follow_options_and_stencils(source, edit):
    check_edit(source, edit)


def test_what_cannot_be_followed_to_its_end_is_compiled_in_every_process():
    deep = "A = (1.0,)\nfor _ in range(3000): A = (A,)\ndef f(x): return x + len(A)"
    (f,) = variants(deep)
    assert fingerprint(f) != fingerprint(f)


def test_loggers_and_locks_do_not_change_fingerprints():
    source = "import logging, threading\nL = logging.getLogger('a')\nK = threading.RLock()\ndef f(x): return L, K, x"
    (f,) = variants(source)
    before = fingerprint(f)
    with f.__globals__["K"]:
        f.__globals__["L"].setLevel("ERROR")
        assert fingerprint(f) == before


def check_edit(source, edit):
    before, same, after = variants(source, ("", ""), edit)
    assert fingerprint(before) == fingerprint(same)
    assert fingerprint(before) != fingerprint(after)


@pytest.mark.parametrize("name", ["np.apply_over_axes", "math.comb", "ascii"])
def test_fingerprints_follow_what_others_compile_for_functions_of_libraries(name):
    from numba.extending import overload

    names = {}
    exec(f"import math, numpy as np\nlibrary = {name}\ndef f(x): return {name}(x)", names)
    digests = [fingerprint(names["f"])]
    for number in (1.0, 2.0):  # registered for good: functions that Numba does not know otherwise
        (body,) = variants(f"def f(x): return lambda x: x + {number}")
        overload(names["library"])(body)
        digests.append(fingerprint(names["f"]))
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    ("decorator", "expression"),
    [
        ("overload_method(types.Array, 'kernreg_twice')", "x.kernreg_twice()"),
        ("overload_attribute(types.Array, 'kernreg_half')", "x.kernreg_half"),
        ("overload_classmethod(types.Array, 'kernreg_new')", "type(x).kernreg_new()"),
        ("overload(operator.matmul)", "x @ x"),
    ],
)
def test_fingerprints_follow_what_others_compile_for_methods_attributes_and_operators(decorator, expression):
    (f,) = variants(f"def f(x): return {expression}")
    digests = [fingerprint(f)]
    for number in (1.0, 2.0):  # registered for good; what returns None is left out by Numba
        variants(
            f"""
            import operator
            from numba import types
            from numba.extending import overload, overload_attribute, overload_classmethod, overload_method
            @{decorator}
            def compiled_for_it(x, z=None): x = {number}
            f = compiled_for_it
            """
        )
        digests.append(fingerprint(f))
    assert len(set(digests)) == 3


def test_fingerprints_do_not_change_with_the_place_of_a_function():
    here, moved = variants("def f(x): return x + 1.0", ("def", "\n\n\ndef"))
    assert fingerprint(here) == fingerprint(moved)


def test_fingerprints_are_the_same_in_every_process(fresh_python):
    code = """
        import json
        from kernreg.engine.compiler.fingerprint import fingerprint
        def f(x): return 1 if x in {"a", "b", "cc", "ddd"} else 0
        print(json.dumps(fingerprint(f)))
    """
    assert fresh_python(code, PYTHONHASHSEED=1) == fresh_python(code, PYTHONHASHSEED=2)


def test_functions_that_call_themselves_have_a_fingerprint():
    (f,) = variants("def f(n): return 1 if n < 2 else n * f(n - 1)")
    assert len(fingerprint(f)) == 64
