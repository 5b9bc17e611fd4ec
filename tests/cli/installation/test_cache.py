"""Each case that compiles is a fresh interpreter with a cache of its own: machine code in memory is no test of disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from kernreg import config_context

EVALUATE = """
import json, sys
import numpy as np, scipy.sparse as sp
import kernreg
from kernreg.engine.compiler import cache

rng = np.random.default_rng(1)
for name, dtype in json.loads(sys.argv[1]):
    k = kernreg.make_kernel(name)
    for features in (3, 17, 200):
        X = rng.random((300, features)).astype(dtype)
        Z = rng.random((270, features)).astype(dtype)
        bound = k.bind(Z)
        k(X), k(X, Z), bound(Z), bound(X, Z), bound(Z, X)
        k(X, out=np.empty((300, 300), dtype=dtype))
        for op in (k.operator(X), k.operator(X, Z), bound.operator(Z), bound.operator(Z, X)):
            op @ np.ones((op.shape[1], 2)), op.T @ np.ones(op.shape[0])
        for rows, block in k.blocks(X, Z, block_rows=100):
            pass
    for density in (0.3, 0.001):
        S = sp.random_array((300, 2000), density=density, format="csr", rng=rng).astype(dtype)
        k(S), k(S[:40], S)
        k.operator(S) @ np.ones(300), k.bind(S).operator(S[:40], S).T @ np.ones(40)
print(json.dumps(cache.statistics()))
"""


@pytest.fixture
def fresh(tmp_path):
    """Run Python in a new process with an empty cache and no plugins."""
    environment = {**os.environ, "KERNREG_CACHE_DIR": str(tmp_path / "cache"), "KERNREG_PLUGINS": "none"}

    def run(*arguments: str) -> str:
        completed = subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return completed.stdout

    return run


def test_what_is_warm_is_not_compiled_again(fresh):
    cases = [("rbf", "float64"), ("rbf", "float32"), ("sne", "float64"), ("sne", "float32"), ("chi2", "float64")]
    both = json.loads(fresh("-m", "kernreg.cli", "cache", "warm", "rbf", "sne", "--dtype", "both", "--json"))
    assert [(warmed["kernel"], warmed["problem"]) for warmed in both] == [("rbf", ""), ("sne", "")]
    assert all(warmed["compiled"] > 0 for warmed in both)
    fresh("-m", "kernreg.cli", "cache", "warm", "chi2")
    again = json.loads(fresh("-m", "kernreg.cli", "cache", "warm", "rbf", "chi2", "--json"))
    assert all(warmed["compiled"] == 0 and warmed["found"] > 0 for warmed in again)

    statistics = json.loads(fresh("-c", EVALUATE, json.dumps(cases)))
    assert statistics["misses"] == 0
    assert statistics["hits"] > 0

    info = json.loads(fresh("-m", "kernreg.cli", "cache", "info", "--json"))
    assert info["functions"] == len(info["entries"]) > 10
    assert info["bytes"] == sum(entry["bytes"] for entry in info["entries"]) > 100_000
    assert {"rbf-epilogue", "sne-epilogue", "chi2-accumulator"} <= {entry["function"] for entry in info["entries"]}
    text = fresh("-m", "kernreg.cli", "cache", "info")
    assert info["directory"] in text
    assert "rbf-epilogue" in text

    assert "deleted" in fresh("-m", "kernreg.cli", "cache", "clear")
    assert json.loads(fresh("-m", "kernreg.cli", "cache", "info", "--json"))["functions"] == 0
    assert "nothing to delete" in fresh("-m", "kernreg.cli", "cache", "clear")


def test_an_empty_cache_is_shown(run, tmp_path):
    with config_context(cache_dir=str(tmp_path / "none")):
        result = run("cache", "info")
    assert result.exit_code == 0
    assert str(tmp_path / "none") in result.stdout
    assert "functions  0" in result.stdout


def test_clear_deletes_only_compiled_kernels(run, tmp_path):
    other, version = tmp_path / "mine.txt", tmp_path / "compiled" / "v0-py10-numba0" / "rbf-epilogue-0"
    other.write_text("keep")
    version.mkdir(parents=True)
    (version / "code.nbc").write_bytes(b"0" * 2000)
    with config_context(cache_dir=str(tmp_path)):
        result = run("cache", "clear")
    assert "2.0 kB deleted" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("arguments", [(), ("rbf", "--all")])
def test_warm_wants_names_or_all(run, arguments):
    result = run("cache", "warm", *arguments)
    assert result.exit_code == 2
    assert "kernreg cache warm rbf sne" in result.stderr


def test_an_unknown_kernel_is_refused_before_anything_is_compiled(run):
    result = run("cache", "warm", "rbf", "no-such-kernel")
    assert result.exit_code == 2
    assert "no-such-kernel" in result.stderr
    assert result.stdout == ""


def test_a_kernel_that_cannot_be_compiled_is_told_and_the_others_are_warmed(run, install):
    source = '''
        from kernreg import kernel

        @kernel(of="dot", symmetric=True)
        def wrong(s):
            """No such thing."""
            return undefined_name * s

        @kernel(of="dot", symmetric=True)
        def right(s):
            """⟨x, z⟩."""
            return 1.5 * s
    '''
    install("half-plugin", source, kernels={"wrong": "wrong", "right": "right"})
    result = run("cache", "warm", "wrong", "right")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("wrong: ")
    assert any("undefined_name" in line for line in lines)
    assert lines[-1].startswith("right: ")
    assert "compiled" in lines[-1]
