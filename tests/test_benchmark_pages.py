"""Claims, the page made of asv's results, and the verdicts of the comparison; nothing here depends on a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(not (ROOT / "asv_benchmarks").is_dir(), reason="not part of a source distribution")


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("KERNREG_BENCH_TINY", "1")

    def find(name):
        import importlib

        return importlib.import_module(f"asv_benchmarks.{name}")

    yield find
    for name in [name for name in sys.modules if name.split(".")[0] == "asv_benchmarks"]:
        del sys.modules[name]


#: A driver that takes 50 ms where exponentials alone take 20: at 40 % of its limit.
ROOFLINE = {
    "fraction": 0.4,
    "milliseconds": 50.0,
    "write_limit": 10.0,
    "arithmetic_limit": 5.0,
    "exponential_limit": 20.0,
}


def test_every_claim_is_a_benchmark_with_these_parameters(module):
    claims = module("claims").CLAIMS
    assert len(claims) > 20
    for claim in claims:
        file, cls, function = claim.benchmark.split(".")
        benchmark = getattr(module(f"benchmarks.{file}"), cls)
        assert hasattr(benchmark, function), claim
        assert function.startswith("track_")
        params = getattr(benchmark, "params", ())
        lists = [params] if params and not isinstance(params[0], list | tuple) else params
        assert len(claim.parameters) == len(lists), claim
        for chosen, accepted in zip(claim.parameters, lists, strict=True):
            assert chosen in map(repr, accepted), claim


@pytest.fixture
def results(tmp_path, module):
    """A result file as asv writes it: one claim met, one not, one series."""
    works = [repr(work) for work in module("benchmarks.bars").Bars.params]
    series = repr(next(iter(module("benchmarks.scaling").SERIES)))
    values = [100.0, 0.5, *[None] * (len(works) - 2)]
    known = {
        "bars.Bars.track_ratio": {"unit": "times faster", "param_names": ["work"]},
        "kernels.Growth.track_nanoseconds_per_value": {"unit": "ns", "param_names": ["name", "n"]},
        **{f"roofline.Roofline.track_{track}": {"unit": "ms", "param_names": ["driver"]} for track in ROOFLINE},
        "scaling.Points.track_seconds": {"unit": "seconds", "param_names": ["series", "point"]},
        "scaling.Exponents.track_time": {"unit": "exponent", "param_names": ["series"]},
    }
    (tmp_path / "machine").mkdir()
    (tmp_path / "benchmarks.json").write_text(json.dumps(known))
    found = {
        "commit_hash": "0123456789abcdef",
        "params": {"cpu": "a <fast> machine", "num_cpu": "2"},
        "result_columns": ["result", "params"],
        "results": {
            "bars.Bars.track_ratio": [values, [works]],
            "kernels.Growth.track_nanoseconds_per_value": [[2.0, 1.8, 1.7], [["'rbf'"], ["2000", "4000", "8000"]]],
            **{f"roofline.Roofline.track_{t}": [[v], [["'rbf k(X), d = 4'"]]] for t, v in ROOFLINE.items()},
            "scaling.Points.track_seconds": [[1.0, 4.0], [[series], ["0", "1"]]],
            "scaling.Exponents.track_time": [[2.0], [[series]]],
        },
    }
    (tmp_path / "machine" / "0123-existing.json").write_text(json.dumps(found))
    return tmp_path


def test_the_page_holds_claims_series_and_limits_and_loads_nothing(module, results):
    page = module("page")
    run = page.newest(results)
    about, measured = run.about(), run.measured
    rows = page.claim_rows(measured)
    assert [row["verdict"] for row in rows[:3]] == ["met", "not met", "not measured"]
    text = page.render(about, measured)
    assert "1 of 2 measured claims hold" in text
    assert text.count("<polyline") == 2  # a growth series, and the cost of a value
    assert "grows like size^2.00" in text
    assert "40 %" in text
    assert "<td class='number binding'>20</td>" in text
    assert "a &lt;fast&gt; machine" in text
    assert "{{" not in text
    assert "http" not in text
    assert "<script" not in text


def test_the_page_is_written_with_its_numbers(results, tmp_path):
    folder = tmp_path / "out"
    command = [sys.executable, "-m", "asv_benchmarks.page", str(folder), "--results", str(results)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    numbers = json.loads((folder / "benchmarks.json").read_text())
    assert numbers["claims"][0]["value"] == 100.0
    assert (folder / "index.html").read_text().startswith("<!doctype html>")


def test_the_history_has_a_line_over_the_commits(module, results):
    history = module("history")
    older = json.loads((results / "machine" / "0123-existing.json").read_text())
    older["commit_hash"], older["date"] = "fedcba9876543210", -5
    (results / "machine" / "fedc-existing.json").write_text(json.dumps(older))
    runs = history.history(results)
    assert [run.commit[:4] for run in runs] == ["fedc", "0123"]
    assert history.lines_by_benchmark(runs)["scaling.Exponents.track_time", "exponent"].popitem()[1] == [(1, 2), (2, 2)]
    text = history.render(runs)
    assert "http" not in text
    assert "<script" not in text
    assert "{{" not in text
    assert text.count("<polyline") > 5


@pytest.mark.parametrize(
    ("rounds", "confirming", "code"),
    [
        ([(1.0, 1.02)] * 3, None, 0),
        ([(1.0, 2.0)] * 3, [(1.0, 2.1)] * 6, 1),
        ([(1.0, 2.0)] * 3, [(1.0, 1.1)] * 6, 0),  # not confirmed
        ([(1.0, 3.0), (1.0, 1.0), (1.0, 1.0)], None, 0),  # one disturbed round
        ([(1.0, None)] * 3, None, 1),  # it does not run any more
        ([(None, 1.0)] * 3, None, 2),  # it is new, and there is nothing else
    ],
)
def test_a_slow_down_counts_when_it_is_measured_twice(module, monkeypatch, capsys, rounds, confirming, code):
    compare = module("compare")
    plan = [*rounds, *(confirming or [])]
    taken = {"base": iter(first for first, _ in plan), "head": iter(second for _, second in plan)}
    monkeypatch.setattr(compare, "in_process", lambda tree, names, seconds: {"slow": next(taken[tree.name])})
    found = compare.compare(Path("base"), Path("head"), ["slow"], rounds=3)
    assert ("measuring again" in capsys.readouterr().out) == (confirming is not None)
    assert compare.verdict(found, 1.3) == code


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # random targets
def test_workloads_run(module):
    for name, setup in module("workloads").WORKLOADS.items():
        if any(word in name for word in ("m = 600", "available", "sparse", "two rows", "predict", "columns")):
            setup()()


def test_asv_accepts_the_suite(tmp_path):
    pytest.importorskip("asv")
    command = [sys.executable, "-m", "asv", "check", "-E", f"existing:{sys.executable}"]
    done = subprocess.run(command, cwd=ROOT / "asv_benchmarks", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
