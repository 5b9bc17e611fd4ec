# The commands of a contributor. Each makes what it needs: a virtual environment in .venv, an
# editable install with the extra of the same name, and the plugins of plugins/.

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2
PROFILE ?= quick

BIN     := $(VENV)/bin
PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
SOURCES := $(wildcard plugins/*/src)

.PHONY: demo test test-cpus torture mutation lint format docs bench bench-publish bench-compare time-to-accuracy papers-quick clean help
.NOTPARALLEL: # two targets must not run pip in one environment at once
.DEFAULT_GOAL := help

help:
	@echo "make demo     a short tour, on the terminal"
	@echo "make test     tests and doctests of kernreg and of the plugins"
	@echo "make test-cpus   its numerical part as older CPUs compute, all that this one can be or CPUS=haswell"
	@echo "make torture  attacks on everything, an hour (PART=ci, BUDGET=20m, ATTACKS=solver-*, SEED=7, REPLAY=file)"
	@echo "make mutation   300 small changes of the numerical code, each of which a test should notice; hours (COUNT=50)"
	@echo "make lint     ruff, mypy and the layers"
	@echo "make format   let ruff rewrite the layout and the fixable findings"
	@echo "make docs     the documentation as HTML, in docs/_build/html"
	@echo "make bench    the asv benchmarks, and a page of them in docs/benchmarks"
	@echo "make bench-publish   what was measured from commit to commit, in docs/benchmarks/history.html"
	@echo "make bench-compare BASE=<commit>   what has become slower since"
	@echo "make time-to-accuracy   test error against seconds, kernreg and its peers; hours (PROBLEMS=kin40k)"
	@echo "make papers-quick   every table of the papers, few trials on small subsets, and a report"
	@echo "make clean    remove everything the targets above have made"

demo: $(VENV)/.extra-plot
	$(BIN)/python -m kernreg.demo

# worksteal: a worker starts with neighbouring tests, so that one of them makes what a module shares.
test: $(VENV)/.extra-test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# OpenBLAS and Numba choose their code by the CPU, and last bits differ: nothing that kernreg says may depend on them.
test-cpus: $(VENV)/.extra-test
	$(BIN)/python tests/cpus.py $(CPUS) -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# An hour on two cores; what fails is written to torture_output/failures, and REPLAY=file runs it again. PART=ci are a few
# minutes, the same cases each time; BUDGET=20m ends by the clock; RECORD=yes writes the table of docs/appendix/reliability.md.
torture: $(VENV)/.extra-test
	PYTHONPATH=tests $(BIN)/python -m torture $(ATTACKS) --workers $(WORKERS) $(PART:%=--part %) $(BUDGET:%=--budget %) \
	  $(SEED:%=--seed %) $(REPLAY:%=--replay %) $(RECORD:yes=--record)

# Goes on where it stopped; SEED=2 draws others.
mutation: $(VENV)/.extra-test
	PYTHONPATH=tests $(BIN)/python -m mutation $(COUNT:%=--count %) $(SEED:%=--seed %)

lint: $(VENV)/.extra-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy kernreg $(SOURCES)

format: $(VENV)/.extra-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.extra-docs
	$(BIN)/python -m sphinx -W --keep-going -q -j $(WORKERS) -b html docs docs/_build/html
	$(BIN)/python docs/_extensions/check_site.py docs/_build/html
	@echo "docs/_build/html/index.html"

# PROFILE is quick (the short claims and the series of the page), claims (the long ones, too) or full (every benchmark,
# as often as asv likes).
bench: $(VENV)/.extra-bench
	$(BIN)/python -m asv_benchmarks.profile $(PROFILE) $(ASV_ARGS); code=$$?; \
	  $(BIN)/python -m asv_benchmarks.page docs/benchmarks && exit $$code

# Every commit there are results of: asv's own pages, and one that loads nothing from the internet.
bench-publish: $(VENV)/.extra-bench
	cd asv_benchmarks && $(abspath $(BIN))/python -m asv publish
	$(BIN)/python -m asv_benchmarks.history docs/benchmarks

# BASE is a commit; fails if anything in what is checked out is slower than 1.3 times what it was there, measured twice.
bench-compare: $(VENV)/.extra-bench
	@test -n "$(BASE)" || { echo "which commit to compare with? make bench-compare BASE=main~1" >&2; exit 2; }
	$(BIN)/python -m asv_benchmarks.compare $(BASE)

# Needs KERNREG_DATA; with the extra peers, LightGBM and XGBoost take part, too.
time-to-accuracy: $(VENV)/.extra-bench
	$(BIN)/python -m asv_benchmarks.time_to_accuracy $(PROBLEMS)
	$(BIN)/python -m asv_benchmarks.time_to_accuracy --draw docs/_build/pictures/time_to_accuracy.png

# A command of plugins/kernreg-papers. Data come from the folder that KERNREG_DATA names; what is there already is not run
# again.
papers-quick: $(VENV)/.extra-plot
	$(BIN)/kernreg papers run all --quick --jobs $(WORKERS)
	$(BIN)/kernreg papers report --quick

clean:
	rm -rf $(VENV) build dist demo_output torture_output papers-results docs/_build docs/gallery docs/reference/api docs/reference/kernels .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf asv_benchmarks/results asv_benchmarks/html asv_benchmarks/env
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per extra: a repeated make installs nothing until a pyproject.toml changes.
$(VENV)/.extra-%: pyproject.toml $(addsuffix /pyproject.toml,$(PLUGINS)) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]' $(PLUGINS:%=-e ./%)
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kernreg needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
