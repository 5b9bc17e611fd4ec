"""Loops of plugins: nothing is compiled twice, nothing stale is used, and nothing of Numba's own cache is read."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from collections import namedtuple

import numpy as np
import pytest

from kernreg.config import config_context
from kernreg.engine import compiled_loop
from kernreg.engine.compiler import cache
from kernreg.errors import EngineError, ParameterError

LOOPS = """
    from typing import NamedTuple
    import numpy as np
    from kernreg.engine import compiled_loop
    from my_helpers import halved

    FACTOR = 2.0

    class Pair(NamedTuple):
        first: np.ndarray
        second: np.ndarray

    @compiled_loop
    def total(values):
        result = 0.0
        for value in values:
            result += scaled(value)
        return result

    @compiled_loop(fastmath={"reassoc", "contract", "nsz"})
    def scaled(value):  # below the loop that calls it
        return halved(value) * FACTOR

    @compiled_loop
    def first_of(pair):
        return pair.first[0]
"""
HELPERS = """
    from numba import njit
    @njit(fastmath={"reassoc", "contract", "nsz", "arcp"})
    def halved(value):
        return value / 2.0
"""
RUN = """
    import json
    import numpy as np
    from kernreg.engine.compiler import cache
    import my_loops
    values = [my_loops.total(np.arange(4.0)), float(my_loops.total(np.arange(5, dtype="float32")))]
    values.append(my_loops.first_of(my_loops.Pair(second=np.array([1.0]), first=np.array([2.0]))))
    print(json.dumps({"values": values, **cache.statistics(), "problem": cache.describe()["cache problem"]}))
"""
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of this kind are those of POSIX")


@pytest.fixture
def project(tmp_path, fresh_python):
    """write(name, text) edits a module; run() is what a fresh process finds."""

    def write(name, text):
        (tmp_path / name).write_text(textwrap.dedent(text))

    def run(**variables):
        found = {"PYTHONPATH": tmp_path, "KERNREG_CACHE_DIR": tmp_path / "cache", **variables}
        return fresh_python(RUN, PYTHONDONTWRITEBYTECODE=1, NUMBA_CACHE_DIR=tmp_path / "numba", **found)

    write("my_loops.py", LOOPS)
    write("my_helpers.py", HELPERS)
    return tmp_path, write, run


def test_the_next_process_compiles_nothing_and_sees_edits_at_any_depth(project):
    folder, write, run = project
    first = run()
    assert first == {"values": [6.0, 10.0, 2.0], "hits": 0, "misses": first["misses"], "problem": None}
    # Flags are a set, whose order differs between processes.
    second = [run(PYTHONHASHSEED=seed) for seed in (1, 2)]
    assert [(found["values"], found["misses"]) for found in second] == [([6.0, 10.0, 2.0], 0)] * 2
    assert second[0]["hits"] == 3

    edits = [
        ("my_helpers.py", HELPERS.replace("/ 2.0", "/ 4.0"), [3.0, 5.0, 2.0]),
        ("my_loops.py", LOOPS.replace("FACTOR = 2.0", "FACTOR = 8.0"), [12.0, 20.0, 2.0]),
    ]
    for name, text, expected in edits:
        write(name, text)
        found = run()
        assert (found["values"], found["misses"] > 0) == (expected, True)
        assert run()["misses"] == 0
    write("my_loops.py", LOOPS)
    write("my_helpers.py", HELPERS)
    assert run() == {"values": [6.0, 10.0, 2.0], "hits": 3, "misses": 0, "problem": None}
    assert not (folder / "numba").exists()
    assert list(folder.rglob("*.nbi")) == []


def test_named_tuples_with_their_fields_exchanged_are_compiled_anew(project):
    """Numba names a type by its class and the types of its fields, not by their names."""
    _, write, run = project
    run()
    first, second = "        first: np.ndarray\n", "        second: np.ndarray\n"
    write("my_loops.py", LOOPS.replace(first + second, second + first))
    assert run()["values"] == [6.0, 10.0, 2.0]


def test_flipped_bits_are_mended(project):
    folder, _, run = project
    run()
    for file in (folder / "cache").rglob("*.code"):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 4
        file.write_bytes(content)
    assert (run()["hits"], run()["misses"]) == (0, 0)


@posix
def test_folders_are_private_and_others_are_not_read(project):
    folder, _, run = project
    first = run()
    folders = [path for path in (folder / "cache" / "compiled").rglob("*") if path.is_dir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    assert any(path.name.startswith("my_loops.total-") for path in folders)
    for path in folders:
        path.chmod(0o777)
    unsafe = run()
    assert (unsafe["values"], unsafe["misses"]) == (first["values"], first["misses"])
    assert "can be written to by other users" in unsafe["problem"]


def test_without_a_place_on_disk_and_without_compiling_loops_work(project):
    folder, _, run = project
    (folder / "file").write_text("")
    first = run(KERNREG_CACHE_DIR=folder / "file")
    assert (first["values"], "file" in first["problem"]) == ([6.0, 10.0, 2.0], True)
    assert run(NUMBA_DISABLE_JIT=1)["values"] == [6.0, 10.0, 2.0]


def test_the_cache_directory_of_the_moment_counts(tmp_path):
    @compiled_loop
    def doubled(x):
        return 2 * x

    for name, value in (("a", 1), ("b", 1.5)):
        with config_context(cache_dir=tmp_path / name):
            assert doubled(value) == 2 * value
            assert len(cache.entries()) == 1


def test_code_of_before_an_edit_is_not_kept_for_the_edited_function(tmp_path):
    names = {"compiled_loop": compiled_loop, "OFFSET": 1}
    exec("@compiled_loop\ndef moved(x): return x + OFFSET", names)
    with config_context(cache_dir=tmp_path):
        assert names["moved"](1) == 2
        names["OFFSET"] = 5
        with pytest.raises(EngineError, match="the loop 'moved' was compiled, and then 'OFFSET' changed"):
            names["moved"](1.0)  # another signature, which would be compiled now
        again = {"compiled_loop": compiled_loop, "OFFSET": 1}
        exec("@compiled_loop\ndef moved(x): return x + OFFSET", again)
        assert (again["moved"](1), again["moved"](1.0)) == (2, 2.0)


def test_code_that_cannot_be_pickled_is_compiled_all_the_same(tmp_path, monkeypatch):
    def refused(data):
        raise TypeError("cannot pickle 'PyCapsule' object")  # as of functions without a module, with Numba 0.62

    monkeypatch.setattr("kernreg.engine.compiler.entry_files.dumps", refused)
    monkeypatch.setattr(cache, "_reason_without_disk", None)

    @compiled_loop
    def halved(x):
        return x / 2

    with config_context(cache_dir=tmp_path):
        assert halved(3.0) == 1.5
        assert halved(3) == 1.5
        assert sum(size for _, size in cache.entries()) == 0
        assert "cannot be kept (cannot pickle 'PyCapsule' object)" in cache.describe()["cache problem"]


def test_types_that_are_not_kept_are_compiled_all_the_same(tmp_path):
    @compiled_loop
    def applied(function, x):
        return function(x)

    @compiled_loop
    def squared(x):
        return x * x

    with config_context(cache_dir=tmp_path):
        assert applied(squared, 3.0) == 9.0
        kept = [name for name, size in cache.entries() if size]
        assert [name for name in kept if ".applied-" in name] == []
        assert [name for name in kept if ".squared-" in name] != []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, 2.0, np.arange(3.0)), True),
        ((namedtuple("P", "a b")(1, namedtuple("Q", "c")(2.0)),), True),
        (("text", None, [1.0, 2.0]), True),
        ((np.zeros(2, dtype=[("a", float)]),), True),
        ((print,), False),
    ],
)
def test_which_signatures_are_kept(values, expected):
    from numba import typeof, types

    from kernreg.engine.compiler.loops import _layout

    kinds = tuple(types.pyobject if value is print else typeof(value) for value in values)
    assert (_layout(kinds) is not None) is expected


def test_a_division_by_zero_is_what_was_asked_for():
    @compiled_loop
    def number(x):
        return 1.0 / x

    @compiled_loop(error_model="python")
    def error(x):
        return 1.0 / x

    assert number(0.0) == np.inf
    with pytest.raises(ZeroDivisionError):
        error(0.0)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"error_model": "c"}, "error_model='c' is not accepted"),
        ({"fastmath": {"quick"}}, "fastmath='quick' is not accepted"),
        ({"fastmath": "fast"}, "fastmath='fast' is not accepted"),
        ({"fastmath": True}, "fastmath=True is not accepted"),
    ],
)
def test_options_that_are_not_there_are_refused(arguments, text):
    with pytest.raises(ParameterError, match=text):
        compiled_loop(**arguments)


def test_what_is_compiled_already_is_refused():
    loop = compiled_loop(lambda x: x)
    for given in (loop, 3, float):
        with pytest.raises(ParameterError, match="give a function as `def` makes it"):
            compiled_loop(given)


def test_importing_kernreg_imports_no_numba():
    code = "import sys, kernreg; print([name for name in ('numba', 'sklearn', 'numpy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
