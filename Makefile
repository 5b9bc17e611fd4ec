# The commands for contributors. Each sets up what it needs: a virtual environment in .venv, an
# editable install with the extra of the same name, and the plugins of plugins/.

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2
PROFILE ?= quick

BIN     := $(VENV)/bin
PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
SOURCES := $(wildcard plugins/*/src)

.PHONY: demo picture test test-cpus test-oldest test-bounds torture mutation lint format docs plugin-index bench bench-publish bench-compare time-to-accuracy \
        papers-quick clean help
.NOTPARALLEL: # two targets must not run pip in one environment at once
.DEFAULT_GOAL := help

help:
	@echo "make demo     see in half a minute what kernreg does; saves a picture in demo_output"
	@echo "make test     run the tests and doctests of kernreg and its plugins"
	@echo "make test-cpus   repeat the numerical tests as older CPUs compute (CPUS=haswell for one of them)"
	@echo "make test-oldest   all tests with the oldest versions that pyproject.toml allows (PYTHON=python3.11)"
	@echo "make test-bounds   the numerical tests with machine code that checks every index"
	@echo "make torture  attack everything for an hour (PART=ci, BUDGET=20m, ATTACKS=solver-*, SEED=7, REPLAY=file)"
	@echo "make mutation   300 small changes of the numerical code, each of which a test should notice; an hour (COUNT=50)"
	@echo "make lint     check style, types and layers (ruff, mypy, import-linter)"
	@echo "make format   let ruff format the code and fix what it can"
	@echo "make docs     build the documentation, in docs/_build/html"
	@echo "make picture  draw the picture of README.md again"
	@echo "make plugin-index   check every plugin of plugins/ and write docs/extend/plugin_index.md; takes minutes"
	@echo "make bench    run the asv benchmarks and write a page about them, in docs/benchmarks"
	@echo "make bench-publish   plot all measurements by commit, in docs/benchmarks/history.html"
	@echo "make bench-compare BASE=<commit>   see what has become slower since a commit"
	@echo "make time-to-accuracy   test error against time for kernreg and its peers; takes hours (PROBLEMS=kin40k)"
	@echo "make papers-quick   run every table of the papers on small subsets and write a report"
	@echo "make clean    remove everything that the targets above have made"

demo: $(VENV)/.extra-plot
	@$(BIN)/python -m kernreg.demo

# The picture of README.md, as the demo draws it.
picture: $(VENV)/.extra-plot
	$(BIN)/python -m kernreg.demo --picture-only --picture docs/_static/demo.png

# worksteal: a worker starts with neighbouring tests, so that one of them makes what a module shares.
test: $(VENV)/.extra-test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# OpenBLAS and Numba choose their code by the CPU, and last bits differ: nothing that kernreg says may depend on them.
test-cpus: $(VENV)/.extra-test
	$(BIN)/python tests/cpus.py $(CPUS) -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# In an environment of its own. The oldest versions have wheels for the oldest Python.
test-oldest:
	mkdir -p build && $(PYTHON) tests/oldest.py > build/oldest.txt
	PIP_CONSTRAINT=$(abspath build/oldest.txt) $(MAKE) VENV=.venv-oldest test

# Compiled loops check no index; here they do. Their machine code is kept apart: Numba would take one for the other.
test-bounds: $(VENV)/.extra-test
	NUMBA_BOUNDSCHECK=1 KERNREG_CACHE_DIR=$(abspath build/bounds) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS) \
	  tests/kernels tests/linalg tests/solvers/relevance tests/solvers/explanation \
	  $(patsubst %,tests/engine/test_%.py,accuracy determinism normal_products operator single_precision sparse) \
	  plugins/kernreg-krein plugins/kernreg-metric plugins/kernreg-structured

# An hour on two cores; what fails is written to torture_output/failures, and REPLAY=file runs it again. PART=ci are a few
# minutes, the same cases each time; BUDGET=20m ends by the clock; RECORD=yes writes the table of docs/appendix/reliability.md.
torture: $(VENV)/.extra-test
	PYTHONPATH=tests $(BIN)/python -m torture $(ATTACKS) --workers $(WORKERS) $(PART:%=--part %) $(BUDGET:%=--budget %) \
	  $(SEED:%=--seed %) $(REPLAY:%=--replay %) $(RECORD:yes=--record)

# Goes on where it stopped; SEED=2 draws others. MODULES and TESTS are folders: a part only. AGAIN=yes tries survivors with the
# tests of now; RECORD=yes writes the counts into docs/appendix/reliability.md.
mutation: $(VENV)/.extra-test
	PYTHONPATH=tests $(BIN)/python -m mutation $(COUNT:%=--count %) $(SEED:%=--seed %) $(if $(MODULES),--modules $(MODULES)) \
	  $(if $(TESTS),--tests $(TESTS)) --workers $(WORKERS) $(AGAIN:yes=--again) $(RECORD:yes=--record)

lint: $(VENV)/.extra-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy kernreg $(SOURCES)

format: $(VENV)/.extra-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A broken law fails, after all are checked and the page is written.
plugin-index: $(VENV)/.extra-test
	failed=0; for plugin in $(notdir $(PLUGINS)); do \
	    $(BIN)/kernreg check $$plugin --badge docs/extend/check_results/$$plugin.svg || failed=1; done; \
	$(BIN)/kernreg plugin-index docs/extend/plugins.toml -o docs/extend/plugin_index.md && exit $$failed

docs: $(VENV)/.extra-docs
	$(BIN)/python -m sphinx -W --keep-going -q -j $(WORKERS) -b html docs docs/_build/html
	$(BIN)/python docs/_extensions/check_site.py docs/_build/html
	@echo "docs/_build/html/index.html"

# PROFILE is quick (the short claims and the series of the page), claims (the long ones, too) or full (every benchmark,
# as often as asv likes).
bench: $(VENV)/.extra-bench
	$(BIN)/python -m asv_benchmarks.profile $(PROFILE) $(ASV_ARGS); code=$$?; \
	  $(BIN)/python -m asv_benchmarks.page docs/benchmarks && exit $$code

# All commits that were measured: asv's own pages, and one that loads nothing from the internet.
bench-publish: $(VENV)/.extra-bench
	cd asv_benchmarks && $(abspath $(BIN))/python -m asv publish
	$(BIN)/python -m asv_benchmarks.history docs/benchmarks

# BASE is a commit; fails if anything takes more than 1.3 times as long as there, measured twice.
bench-compare: $(VENV)/.extra-bench
	@test -n "$(BASE)" || { echo "which commit to compare with? make bench-compare BASE=main~1" >&2; exit 2; }
	$(BIN)/python -m asv_benchmarks.compare $(BASE)

# Needs KERNREG_DATA; LightGBM and XGBoost take part if the extra `peers` is installed.
time-to-accuracy: $(VENV)/.extra-bench
	$(BIN)/python -m asv_benchmarks.time_to_accuracy $(PROBLEMS)
	$(BIN)/python -m asv_benchmarks.time_to_accuracy --draw docs/_build/pictures/time_to_accuracy.png

# A command of plugins/kernreg-papers. Data come from the folder that KERNREG_DATA names; results that
# exist already are kept.
papers-quick: $(VENV)/.extra-plot
	$(BIN)/kernreg papers run all --quick --jobs $(WORKERS)
	$(BIN)/kernreg papers report --quick

clean:
	rm -rf $(VENV) .venv-oldest build dist demo_output torture_output papers-results docs/_build docs/gallery docs/reference/api docs/reference/kernels .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf asv_benchmarks/results asv_benchmarks/html asv_benchmarks/env
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per extra: a repeated make installs nothing until a pyproject.toml changes.
# On a terminal pip shows its progress; a log gets a line per step.
$(VENV)/.extra-%: pyproject.toml $(addsuffix /pyproject.toml,$(PLUGINS)) | $(BIN)/python
	@echo "[2/2] Installing kernreg[$*] and $(words $(PLUGINS)) plugins into $(VENV). The first time this downloads numpy, scipy, numba, scikit-learn …"
	@test -t 1 || quiet=--quiet; \
	  $(BIN)/python -m pip install $$quiet --disable-pip-version-check -e '.[$*]' $(PLUGINS:%=-e ./%)
	@touch $@
	@echo "Done. To use it in your shell: source $(VENV)/bin/activate"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kernreg needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@echo "[1/2] Creating the environment $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
