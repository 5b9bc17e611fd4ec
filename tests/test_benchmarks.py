"""Every benchmark runs: once, with its first parameters, on tiny samples, as asv would import and call it."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "asv_benchmarks"
MODULES = sorted(path.stem for path in (FOLDER / "benchmarks").glob("*.py") if path.stem != "__init__")
BENCHMARK = re.compile(r"(time|track|peakmem|mem)_")

#: Modules that are used by benchmarks and hold none.
HELPERS = {"peers"}
#: A growth exponent of memory that is too small to be measured, as it is on tiny samples.
WITHOUT_A_NUMBER = {("scaling", "track_memory")}

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the benchmarks are not part of a source distribution")


@pytest.fixture
def suite(monkeypatch, tmp_path):
    """Import a module of the suite in tiny mode, and forget it afterwards."""
    monkeypatch.setenv("KERNREG_BENCH_TINY", "1")
    monkeypatch.syspath_prepend(str(FOLDER))
    yield lambda module: importlib.import_module(f"benchmarks.{module}")
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def first_parameters(benchmark: object) -> list[object]:
    """The first value of each parameter; asv takes a flat list as the values of a single one."""
    params = list(getattr(benchmark, "params", ()))
    if params and not isinstance(params[0], list | tuple):
        params = [params]
    return [values[0] for values in params]


def benchmarks_of(module: object) -> list[type]:
    classes = [c for _, c in inspect.getmembers(module, inspect.isclass) if c.__module__ == module.__name__]
    return [c for c in classes if any(BENCHMARK.match(name) for name in dir(c))]


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the peers
@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # of targets that are random
@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")  # of very few samples
def test_every_benchmark_runs(suite, module):
    found = benchmarks_of(suite(module))
    assert bool(found) != (module in HELPERS)
    made: dict[object, object] = {}

    def shared(benchmark):
        """What `setup_cache` returns; classes that inherit it share it."""
        make = type(benchmark).setup_cache
        if make not in made:
            made[make] = benchmark.setup_cache()
        return made[make]

    for cls in found:
        benchmark = cls()
        parameters = first_parameters(benchmark)
        assert len(parameters) == len(getattr(benchmark, "param_names", ())), cls
        try:
            if hasattr(benchmark, "setup_cache"):
                parameters.insert(0, shared(benchmark))
            getattr(benchmark, "setup", lambda *_: None)(*parameters)
            for name in filter(BENCHMARK.match, dir(cls)):
                result = getattr(benchmark, name)(*parameters)
                if (module, name) in WITHOUT_A_NUMBER and math.isnan(result):
                    continue
                assert not name.startswith("track_") or float(result) >= 0
        except NotImplementedError:
            continue  # asv skips it here too
        finally:
            getattr(benchmark, "teardown", lambda *_: None)(*parameters)


def test_every_bar_compares_equal_results(suite):
    bars = suite("bars")
    for bar in bars.BARS:
        benchmark = bars.Bars()
        benchmark.setup(bar.work)  # compares ours with the peer's
        assert benchmark.track_ratio(bar.work) > 0


def test_the_program_that_kills_saves_is_where_its_benchmark_looks(suite):
    assert suite("model_files").KILLING.is_file()


def test_asv_finds_the_suite():
    settings = json.loads((FOLDER / "asv.conf.json").read_text(encoding="utf-8"))
    assert (FOLDER / settings["benchmark_dir"] / "__init__.py").is_file()
    assert settings["project"] == "kernreg"
