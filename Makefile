# Every target installs what it needs into .venv, and does so again only after a change.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CPP := $(wildcard src/suffice/kernels/cpp/*.?pp src/suffice/kernels/cpp/*/*.?pp)
SOURCES := CMakeLists.txt pyproject.toml src/suffice/__init__.py $(CPP)
MADE := $(VENV)/.made
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo docs test test-browser test-engines check bench instructions mutate sanitize fuzz wheel clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Suffice needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(READY): $(MADE) $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q src/suffice # as for an installed package
	@touch $@

demo: $(READY) ## fit, evaluate, explain, merge, report and compare on bundled data, step by step
	@$(BIN)/suffice demo

docs: $(READY) ## build the documentation site in build/docs; open build/docs/index.html
	$(BIN)/python -m sphinx -q -W --keep-going -E -j 2 docs build/docs # all pages: a part would lose entries of the search

test: $(READY) ## run the tests
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

test-browser: docs ## build the site, and run the tests of pages in Chromium
	tests/browser/setup
	@$(BIN)/python -c 'import selenium' 2>/dev/null || \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(BIN)/python -m pytest -q tests/browser

ENGINES := $(VENV)/.engines

$(ENGINES): $(READY) pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[engines]'
	rm -rf build/ibis
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target build/ibis \
	  ibis-framework atpublic parsy psycopg psycopg-binary pyarrow-hotfix toolz 'duckdb<2' 'sqlglot<29'
	@touch $@

test-engines: $(ENGINES) ## run the tests of databases, query engines and clusters on real ones (installs Java and PostgreSQL)
	tests/engines/setup
	$(BIN)/python -m pytest -q tests/engines
	SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON=$(abspath $(BIN)/python) RAY_USAGE_STATS_ENABLED=0 \
	  $(BIN)/python -m pytest -q --doctest-glob='*.md' docs/engines.md
	PYTHONPATH=build/ibis $(BIN)/python -m pytest -q tests/engines/test_local_engines.py # Ibis needs older versions

check: $(READY) ## run linters, type checks, import rules, doctests and the check of exported names
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/python -m pytest -q --doctest-modules src/suffice --doctest-glob='*.md' --ignore=docs/images --ignore=docs/_extensions --ignore=docs/conf.py --ignore=docs/engines.md README.md docs tests/package/test_exports.py

bench: $(READY) ## time the models against scikit-learn (ARGS=--quick takes a minute)
	$(BIN)/python benchmarks/run.py $(ARGS)

instructions: $(READY) ## count the instructions of the kernels and compare (needs valgrind)
	$(BIN)/python benchmarks/instructions.py $(ARGS)

mutate: $(READY) ## change the source in small ways and see whether tests notice (ARGS=--help)
	$(BIN)/python tests/mutation/run.py $(ARGS)

sanitize: build/sanitize/.built ## run the kernel tests with address and undefined-behaviour sanitizers (gcc)
	tests/kernels/sanitize build/sanitize/bin/python $(ARGS)

fuzz: build/sanitize/.built ## call the library and the kernels with hostile arguments and files (ARGS="--seconds 600 --seed 1")
	tests/kernels/sanitize build/sanitize/bin/python --fuzz $(ARGS)

# A separate environment that borrows all other packages: in .venv, Python would import the editable install.
build/sanitize/.built: $(READY) $(shell find src/suffice -name '*.py')
	$(PYTHON) -m venv --clear build/sanitize
	$(BIN)/python -c 'import site; print(site.getsitepackages()[0])' \
	  > "$$(build/sanitize/bin/python -c 'import site; print(site.getsitepackages()[0])')/borrowed.pth"
	build/sanitize/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --config-settings=build-dir=build/sanitize/cmake --config-settings=cmake.define.SUFFICE_SANITIZE=ON --config-settings=install.strip=false .
	@touch $@

wheel: dist/.built ## build a wheel in dist/

dist/.built: $(MADE) $(SOURCES) $(shell find src/suffice -name '*.py')
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@touch $@

clean: ## remove the files that other targets created
	rm -rf $(VENV) build dist docs/reference/generated
