PYTHON ?= python3
ENVIRONMENT := .venv
BIN := $(ENVIRONMENT)/bin
READY := $(ENVIRONMENT)/.ready
# The tests of a file run one after the other, in one of as many processes as there are processors.
PARALLEL := --numprocesses auto --dist loadfile

RESOLUTION_lowest := lowest-direct
RESOLUTION_newest := highest

.DEFAULT_GOAL := help
.PHONY: help run test test-slow compatibility lowest newest lint format benchmark plots clean

help:  ## Show what there is to make.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(ENVIRONMENT)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

run: $(READY)  ## Count the shapes of the snake of length 17, or go on counting.
	$(BIN)/pipeline run --n 17 --resume

test: $(READY)  ## Run the tests that take less than a minute each.
	$(BIN)/python -m pytest $(PARALLEL)

test-slow: $(READY)  ## Run the long tests as well.
	$(BIN)/python -m pytest $(PARALLEL) -m 'slow or not slow'

compatibility: lowest newest  ## Run the tests with the lowest and with the newest versions of the dependencies.

lowest newest: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(ENVIRONMENT)-$@
	$(BIN)/uv pip install --quiet --python $(ENVIRONMENT)-$@ --resolution $(RESOLUTION_$@) --editable '.[dev]'
	$(ENVIRONMENT)-$@/bin/python -m pytest $(PARALLEL)

lint: $(READY)  ## Check style, types, who imports whom, and that nothing is called by nobody.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@# Fields are read by name; functions that nobody calls are not wanted.
	! $(BIN)/vulture | grep -E 'unused (function|method|property|class|import)'

format: $(READY)  ## Format the code.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: $(READY)  ## Measure the speed on this machine; see benchmarks/README.md.
	$(BIN)/pipeline bench

plots: $(READY)  ## Draw the plots of the docs from the results in benchmarks/results.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[plots]'
	$(BIN)/python benchmarks/plots.py

clean:  ## Remove the environment and caches (jobs stay).
	rm -rf $(ENVIRONMENT) $(ENVIRONMENT)-lowest $(ENVIRONMENT)-newest .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
