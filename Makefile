# Every target sets up what it needs in .venv, and does not redo it when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(wildcard src/suffice/kernels/cpp/*)
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check bench wheel clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(READY): $(BIN)/python $(NATIVE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY) ## fit and score the models on bundled data
	@$(BIN)/python -m suffice.demo

test: $(READY) ## run the tests
	$(BIN)/python -m pytest -q

check: $(READY) ## lint, types, import direction, doctests, exported names
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q --doctest-modules src/suffice --doctest-glob='*.md' README.md docs tests/test_exports.py

bench: $(READY) ## time the models beside scikit-learn (ARGS=--quick for a minute's run)
	$(BIN)/python benchmarks/run.py $(ARGS)

wheel: $(BIN)/python ## build a wheel into dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist
