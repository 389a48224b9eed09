# Every target sets up what it needs in .venv, and does not redo it when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := CMakeLists.txt pyproject.toml src/suffice/__init__.py $(wildcard src/suffice/kernels/cpp/*.* src/suffice/kernels/cpp/*/*)
MADE := $(VENV)/.made
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check bench instructions sanitize wheel clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Suffice needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(READY): $(MADE) $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q src/suffice # as an installed package would be
	@touch $@

demo: $(READY) ## fit, evaluate, explain, merge and compare on bundled data, step by step
	@$(BIN)/suffice demo

test: $(READY) ## run the tests
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

check: $(READY) ## lint, types, import direction, doctests, exported names
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q --doctest-modules src/suffice --doctest-glob='*.md' README.md docs tests/package/test_exports.py

bench: $(READY) ## time the models beside scikit-learn (ARGS=--quick for a minute's run)
	$(BIN)/python benchmarks/run.py $(ARGS)

instructions: $(READY) ## count the kernels' instructions, and compare (needs valgrind)
	$(BIN)/python benchmarks/instructions.py $(ARGS)

sanitize: build/sanitize/.built ## run the kernel tests with memory and undefined behaviour watched (gcc)
	tests/kernels/sanitize build/sanitize/bin/python $(ARGS)

# An environment of its own that borrows every other package: the editable install of .venv would be found first.
build/sanitize/.built: $(READY) $(shell find src/suffice -name '*.py')
	$(PYTHON) -m venv --clear build/sanitize
	$(BIN)/python -c 'import site; print(site.getsitepackages()[0])' \
	  > "$$(build/sanitize/bin/python -c 'import site; print(site.getsitepackages()[0])')/borrowed.pth"
	build/sanitize/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --config-settings=build-dir=build/sanitize/cmake --config-settings=cmake.define.SUFFICE_SANITIZE=ON --config-settings=install.strip=false .
	@touch $@

wheel: dist/.built ## build a wheel into dist/

dist/.built: $(MADE) $(SOURCES) $(shell find src/suffice -name '*.py')
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@touch $@

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist
